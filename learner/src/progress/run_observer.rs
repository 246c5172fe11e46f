//! Looks at everything that is counted, whenever someone asks how the run is doing.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use inference::best::{BestNetwork, CurrentBest};
use inference::{AnswerFault, InferenceCounters, InferenceCounts, QueueView, WaitingLeaves};
use prometheus::Histogram;
use registry::{GameProgress, HeldCounts, HeldGames};
use runtime::server_auth::ServerAuth;
use shared::ids::{NetworkId, NetworkRef};
use store::StoreProblem;

use super::alarm_board::Alarm;
use super::disk_trend::DiskTrend;
use super::recent_workers::RecentWorkers;
use super::run_status::RunStatus;
use super::snapshot::ProgressSnapshot;
use super::worker_list::JoinedWorker;

/// What does not change while the learner runs.
#[derive(Debug, Clone)]
pub struct RunIdentity {
    /// Name of the run.
    pub run_id: String,
    /// What is played, as people name it.
    pub game: String,
    /// Price of an hour of the learner's machine; 0: unknown.
    pub hourly_price: f64,
    /// The run directory.
    pub dir: PathBuf,
    /// The network that was never trained: it answers nearly alike whatever it is asked.
    pub untrained: Option<NetworkId>,
}

/// Looks at everything that is counted.
pub struct RunObserver {
    /// The run.
    pub identity: RunIdentity,
    /// What pipeline and services put in.
    pub status: Arc<RunStatus>,
    /// Who holds games.
    pub games: Arc<dyn HeldGames>,
    /// The best network.
    pub best: Arc<BestNetwork>,
    /// The leaves that were answered.
    pub inference: Arc<InferenceCounters>,
    /// The leaves that wait.
    pub queue: QueueView,
    /// Who may call the services, and the calls that were refused.
    pub auth: ServerAuth,
    /// Who may ask for the metrics, likewise.
    pub reader_auth: ServerAuth,
    /// Why nothing can be stored: the run then waits for that alone, and cannot say so itself.
    pub problem: StoreProblem,
    /// The workers as they were a moment ago.
    pub recent_workers: RecentWorkers,
    /// How fast the disk of the run directory fills.
    pub disk: DiskTrend,
}

/// How the run is doing at one moment.
pub(crate) struct RunObservation {
    pub(super) identity: RunIdentity,
    /// `None` before the pipeline has said anything.
    pub(super) progress: Option<Arc<ProgressSnapshot>>,
    /// How far the games are now: the pipeline's word is old while it waits for the disk.
    pub(super) games: GameProgress,
    pub(super) best: CurrentBest,
    pub(super) inference: InferenceCounts,
    pub(super) batch_times: Histogram,
    pub(super) waiting_leaves: WaitingLeaves,
    pub(super) actor_count: u32,
    pub(super) evaluator_count: u32,
    /// Those that hold most games first.
    pub(super) workers: Arc<[ObservedWorker]>,
    pub(super) alarms: Vec<Alarm>,
    pub(super) counters: BTreeMap<String, u64>,
    /// Age of the last backup of this process, `None` before there is one.
    pub(super) backup_age: Option<Duration>,
    /// Why nothing can be stored at the moment.
    pub(super) problem: Option<String>,
    pub(super) refused_call_count: u64,
    /// `None` if the system does not say.
    pub(super) disk_free_bytes: Option<u64>,
    /// When it will be full at the rate of the last day; `None` if that is not known, or never.
    pub(super) disk_full_in: Option<Duration>,
    /// Networks that are asked and whose answers say nothing.
    pub(super) answer_faults: Vec<AnswerFault>,
}

/// A worker at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ObservedWorker {
    pub(super) worker_id: String,
    /// What it told when it joined, and how long it has been silent; `None` if it has not joined since the learner started.
    pub(super) joined: Option<(JoinedWorker, Duration)>,
    pub(super) held: HeldCounts,
}

impl RunObserver {
    /// Looks. Takes the locks of games and workers for a moment, and asks the disk: not for async tasks.
    pub(crate) fn observe(&self, now: Instant) -> RunObservation {
        let status = &self.status;
        let disk_free_bytes = disk_free_bytes(&self.identity.dir);
        RunObservation {
            identity: self.identity.clone(),
            progress: status.progress(),
            games: self.games.game_progress(),
            best: self.best.get(),
            inference: self.inference.counts(),
            batch_times: self.inference.batch_times.histogram(),
            waiting_leaves: self.queue.waiting_leaves(),
            actor_count: status.worker_count(proto::WorkerKind::Actor, now),
            evaluator_count: status.worker_count(proto::WorkerKind::Evaluator, now),
            workers: self.recent_workers.get(now, || self.workers(now)),
            alarms: status.alarms().on(),
            counters: status.counters(),
            backup_age: status.backups().age(),
            problem: self.problem.get(),
            refused_call_count: self.auth.refused_count() + self.reader_auth.refused_count(),
            disk_free_bytes,
            disk_full_in: disk_free_bytes.and_then(|free_bytes| self.disk.note(free_bytes, now)),
            answer_faults: self.answer_faults(),
        }
    }

    fn answer_faults(&self) -> Vec<AnswerFault> {
        let mut faults = self.inference.answers.faults();
        faults.retain(|fault| {
            let is_trained = Some(fault.network_id) != self.identity.untrained;
            is_trained && self.best.is_in_play(NetworkRef::Id(fault.network_id))
        });
        faults
    }

    /// Logs calls without the token that are not logged yet.
    pub(super) fn log_refusals(&self, now: Instant) {
        self.auth.log_refusals(now);
        self.reader_auth.log_refusals(now);
    }

    fn workers(&self, now: Instant) -> Vec<ObservedWorker> {
        let mut held = self.games.held_games();
        let seen = self.status.workers(now).into_iter();
        let mut workers: Vec<ObservedWorker> = seen
            .map(|(worker_id, seen)| ObservedWorker {
                held: held.remove(&worker_id).unwrap_or_default(),
                joined: Some((seen.joined, now.saturating_duration_since(seen.at))),
                worker_id,
            })
            .collect();
        workers.extend(held.into_iter().map(|(worker_id, held)| ObservedWorker { worker_id, joined: None, held }));
        workers.sort_by(|a, b| {
            let held_count = |worker: &ObservedWorker| worker.held.self_play + worker.held.gate;
            held_count(b).cmp(&held_count(a)).then_with(|| a.worker_id.cmp(&b.worker_id))
        });
        workers
    }
}

impl RunObservation {
    /// Returns what is awaited, in words; empty if nothing is. While nothing can be stored, all else waits for that.
    pub(super) fn waiting_for(&self) -> String {
        words_for_wait(self.problem.as_deref(), self.progress.as_deref())
    }

    /// Returns the workers that gave a sign of life lately.
    pub(crate) fn joined_workers(&self) -> impl Iterator<Item = proto::WorkerStatus> {
        self.workers.iter().filter(|worker| worker.joined.is_some()).map(ObservedWorker::to_message)
    }

    /// Returns what the run cost in the currency of the price; `None` without one.
    pub(super) fn money(&self) -> Option<f64> {
        let price = self.identity.hourly_price;
        let hours = self.progress.as_ref()?.totals.work_time.as_secs_f64() / 3600.0;
        (price > 0.0).then_some(price * hours)
    }
}

/// Returns what a run waits for, in words: why nothing can be stored if that is so, or what its pipeline waits for.
pub(crate) fn words_for_wait(problem: Option<&str>, progress: Option<&ProgressSnapshot>) -> String {
    match (problem, progress) {
        (Some(problem), _) => format!("the disk: {problem}"),
        (None, Some(progress)) => progress.waiting_for.to_owned(),
        (None, None) => String::new(),
    }
}

/// Returns the bytes that are free to this user on the disk of a folder; `None` if the system does not say.
fn disk_free_bytes(dir: &std::path::Path) -> Option<u64> {
    let disk = rustix::fs::statvfs(dir).ok()?;
    Some(disk.f_bavail.saturating_mul(disk.f_frsize))
}

#[cfg(test)]
pub(super) mod tests {
    use std::time::SystemTime;

    use net::StepLosses;
    use registry::{FinishedCounters, GateReport};
    use shared::gate::{GateScore, GateSettings, PairCounts};
    use shared::ids::Generation;
    use store::IterationCost;

    use super::super::alarm_board::AlarmKind;
    use super::super::snapshot::{InferenceRates, PhaseProgress, RunEffort};
    use super::*;
    use crate::config::LearnerConfig;
    use crate::trainer::MeanLosses;

    /// An observation in which everything is known.
    pub(crate) fn observation() -> RunObservation {
        let worker = |name: &str, kind, held| ObservedWorker {
            worker_id: name.to_owned(),
            joined: Some((JoinedWorker { kind, thread_count: 4, program_version: "9".into() }, Duration::from_secs(3))),
            held,
        };
        let gone =
            ObservedWorker { worker_id: "gone".into(), joined: None, held: HeldCounts { self_play: 1, gate: 0 } };
        let identity = RunIdentity {
            run_id: "r1".into(),
            game: "Hive".into(),
            hourly_price: 0.5,
            dir: std::env::temp_dir(),
            untrained: Some(NetworkId::FIRST),
        };
        let alarm = Alarm { kind: AlarmKind::Disk, since: SystemTime::UNIX_EPOCH, text: "nearly full".into() };
        let inference = InferenceCounters::default();
        RunObservation {
            identity,
            progress: Some(Arc::new(snapshot())),
            games: snapshot().games,
            best: CurrentBest { network_id: NetworkId::FIRST, generation: Generation::new(2) },
            inference: InferenceCounts {
                evaluation_count: 1000,
                batch_count: 10,
                computed_leaf_count: 1100,
                ..inference.counts()
            },
            batch_times: inference.batch_times.histogram(),
            waiting_leaves: WaitingLeaves { gate: 8, self_play: 64 },
            actor_count: 1,
            evaluator_count: 1,
            workers: vec![
                worker("a", proto::WorkerKind::Actor, HeldCounts { self_play: 12, gate: 0 }),
                worker("e", proto::WorkerKind::Evaluator, HeldCounts { self_play: 0, gate: 4 }),
                gone,
            ]
            .into(),
            alarms: vec![alarm],
            counters: BTreeMap::from([("unreadable_ply_count".to_owned(), 2), ("backup_count".to_owned(), 3)]),
            backup_age: Some(Duration::from_secs(40)),
            problem: None,
            refused_call_count: 6,
            disk_free_bytes: Some(5 << 30),
            disk_full_in: Some(Duration::from_secs(12 * 86_400)),
            answer_faults: Vec::new(),
        }
    }

    /// A gate after ten of at most 40 games.
    pub(crate) fn snapshot() -> ProgressSnapshot {
        let gate = GateReport {
            candidate_id: NetworkId::FIRST.next(),
            settings: GateSettings { game_count: 40, ..LearnerConfig::default().gate.settings() },
            score: GateScore { wins: 5, draws: 2, losses: 3 },
            tested_pairs: PairCounts::default(),
            verdict: None,
            pair_count: 20,
            distinct_opening_count: 20,
            distinct_game_count: 10,
        };
        let means = StepLosses {
            policy_loss: 2.5,
            value_loss: 0.75,
            outlook_loss: 0.0,
            total: 3.25,
            gradient_norm: 1.5,
            policy_accuracy: 0.25,
        };
        let mut games = GameProgress { finished_self_play_count: 100, ..GameProgress::default() };
        games.counters.self_play = FinishedCounters {
            game_count: 90,
            ply_count: 4500,
            draw_count: 9,
            cut_off_count: 3,
            resigned_count: 40,
            played_on_count: 5,
            false_resignation_count: 1,
        };
        let cost = IterationCost { evaluation_count: 9000, training_sample_count: 4000, flop: 5e15 };
        ProgressSnapshot {
            iteration: 3,
            phase: PhaseProgress::Gate(gate),
            time_to_go: Some(Duration::from_secs(90)),
            waiting_for: "gate games",
            rates: InferenceRates {
                evaluations_per_second: 1234.0,
                batch_fill: 0.5,
                device_busy: 0.75,
                device_fill: 0.9,
            },
            position_count: 1000,
            games,
            training_step: 600,
            losses: Some(MeanLosses { training_step: 600, means, learning_rate: 0.01 }),
            gate: Some(gate),
            totals: RunEffort { cost: Some(cost), position_count: 1000, work_time: Duration::from_secs(7200) },
            yardstick: Some(GateScore { wins: 3, draws: 0, losses: 1 }),
        }
    }

    #[test]
    fn the_disk_says_how_much_is_free() {
        assert!(disk_free_bytes(&std::env::temp_dir()).is_some_and(|bytes| bytes > 0));
        assert_eq!(disk_free_bytes(std::path::Path::new("/no/such/folder")), None);
    }
}

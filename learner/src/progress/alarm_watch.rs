//! Alarms that follow from the passing of time: games that do not come, an evaluator that is missing, a disk that fills,
//! workers of another version. They are looked at even while the pipeline waits for a disk.

use std::sync::Arc;
use std::time::{Duration, Instant};

use inference::{AnswerFault, InferenceCounts};
use tokio_util::sync::CancellationToken;
use tracing::{info, warn};

use super::alarm_board::{AlarmBoard, AlarmChange, AlarmKind};
use super::run_observer::{RunObservation, RunObserver};
use super::run_summary::RunSummaries;
use super::snapshot::PhaseProgress;
use crate::config::AlarmConfig;
use crate::numbers::rough_time;

/// Time between two looks.
const INTERVAL: Duration = Duration::from_secs(10);

/// Leaves that are judged together, at least: of fewer, one in a hundred says nothing.
const UNUSABLE_JUDGED_LEAVES: u64 = 100;
/// More policies than one in so many that are no numbers are too many.
const UNUSABLE_PRIORS_ONE_IN: u64 = 100;

/// Looks at the run now and then until the stop: for alarms, and for a summary that is due.
pub(crate) async fn watch_run(
    observer: Arc<RunObserver>,
    config: AlarmConfig,
    mut summaries: RunSummaries,
    stop: CancellationToken,
) {
    let mut watch = AlarmWatch::new(config);
    while stop.run_until_cancelled(tokio::time::sleep(INTERVAL)).await.is_some() {
        let observer = Arc::clone(&observer);
        let looked = tokio::task::spawn_blocking(move || {
            let (now, observation) = (Instant::now(), observer.observe(Instant::now()));
            watch.look(&observation, observer.status.alarms(), now);
            summaries.look(&observation, now);
            observer.log_refusals(now);
            (watch, summaries)
        });
        match looked.await {
            Ok(back) => (watch, summaries) = back,
            Err(error) => return warn!(%error, "the alarm watch has stopped"),
        }
    }
}

/// What was seen at the looks before. Time is passed in.
#[derive(Debug)]
pub struct AlarmWatch {
    config: AlarmConfig,
    /// Phase and last finished game, and since when it is these.
    games: Option<(&'static str, u64, Instant)>,
    /// Since when a gate waits without an evaluator.
    gate_alone_since: Option<Instant>,
    /// What had been answered at the last look.
    answered: InferenceCounts,
    /// What was wrong with the answers then.
    unusable_answers: Option<String>,
}

impl AlarmWatch {
    /// Begins to watch.
    #[must_use]
    pub fn new(config: AlarmConfig) -> Self {
        let (answered, unusable_answers) = (InferenceCounts::default(), None);
        Self { config, games: None, gate_alone_since: None, answered, unusable_answers }
    }

    /// Turns alarms on and off, and logs each change.
    pub(crate) fn look(&mut self, observation: &RunObservation, board: &AlarmBoard, now: Instant) {
        let alarms = [
            (AlarmKind::NoGames, self.no_games(observation, now)),
            (AlarmKind::NoEvaluator, self.no_evaluator(observation, now)),
            (AlarmKind::Disk, self.disk(observation)),
            (AlarmKind::WorkerVersion, worker_version(observation)),
            (AlarmKind::Answers, self.unusable_answers(observation).or_else(|| answers(observation))),
        ];
        for (kind, text) in alarms {
            let alarm = kind.name();
            match board.set(kind, text.clone()) {
                AlarmChange::On => warn!(alarm, advice = text, "alarm"),
                AlarmChange::Off => info!(alarm, "alarm over"),
                AlarmChange::None => {}
            }
        }
    }

    fn no_games(&mut self, observation: &RunObservation, now: Instant) -> Option<String> {
        let progress = observation.progress.as_deref()?;
        let (phase, finished) = (progress.phase.name(), progress.games.last_finish_number);
        let since = match self.games {
            Some((seen_phase, seen, since)) if (seen_phase, seen) == (phase, finished) => since,
            _ => now,
        };
        self.games = Some((phase, finished, since));
        // While a network trains, nobody waits for games.
        let is_awaited = !matches!(progress.phase, PhaseProgress::Training { .. });
        let silence = now.saturating_duration_since(since);
        let is_due = is_awaited && is_longer(silence, self.config.no_games_max);
        is_due.then(|| {
            let (minutes, waiting_for) = (silence.as_secs() / 60, observation.waiting_for());
            format!("no game has finished for {minutes} min; waiting for {waiting_for}; `learner status` says who holds games")
        })
    }

    fn no_evaluator(&mut self, observation: &RunObservation, now: Instant) -> Option<String> {
        let is_gate = observation.progress.as_deref().is_some_and(|it| matches!(it.phase, PhaseProgress::Gate(_)));
        let is_alone = is_gate && observation.evaluator_count == 0;
        self.gate_alone_since = is_alone.then(|| self.gate_alone_since.unwrap_or(now));
        let silence = now.saturating_duration_since(self.gate_alone_since?);
        is_longer(silence, self.config.no_evaluator_max).then(|| {
            let minutes = silence.as_secs() / 60;
            format!("a gate has waited {minutes} min for an evaluator: start `evaluator --learner ADDRESS`")
        })
    }

    /// Says whether answers since the last look were not numbers; what was wrong stays so until others are given.
    fn unusable_answers(&mut self, observation: &RunObservation) -> Option<String> {
        let (before, now) = (self.answered, observation.inference);
        let leaf_count = now.evaluation_count.saturating_sub(before.evaluation_count);
        if leaf_count < UNUSABLE_JUDGED_LEAVES {
            return self.unusable_answers.clone();
        }
        self.answered = now;
        let value_count = now.zeroed_value_count.saturating_sub(before.zeroed_value_count);
        let prior_count = now.uniform_prior_count.saturating_sub(before.uniform_prior_count);
        let is_unusable = value_count > 0 || prior_count * UNUSABLE_PRIORS_ONE_IN > leaf_count;
        self.unusable_answers = is_unusable.then(|| {
            format!(
                "of the last {leaf_count} leaves {value_count} got a value that was no number and {prior_count} policies that \
                 were none: the network is broken, or the device; lower the learning rate, and begin again from an earlier \
                 network (--resume)"
            )
        });
        self.unusable_answers.clone()
    }

    fn disk(&self, observation: &RunObservation) -> Option<String> {
        let free_mib = observation.disk_free_bytes? >> 20;
        let (dir, limit) = (observation.identity.dir.display(), self.config.disk_free_mib_min);
        if free_mib < u64::from(limit) {
            return Some(format!("{dir}: {free_mib} MiB free, fewer than {limit}: make room"));
        }
        let (full_in, limit) = (observation.disk_full_in?, self.config.disk_full_in_min);
        (full_in < limit).then(|| {
            let (full_in, limit) = (rough_time(full_in), rough_time(limit));
            format!(
                "{dir}: {free_mib} MiB free, full in {full_in} at the rate of the last day, less than {limit}: make room, or \
                 set store.keep_games"
            )
        })
    }
}

/// Returns whether a time is above its limit; a limit of 0 is none.
fn is_longer(time: Duration, max: Duration) -> bool {
    !max.is_zero() && time >= max
}

fn worker_version(observation: &RunObservation) -> Option<String> {
    let own = env!("CARGO_PKG_VERSION");
    let mut others = observation.workers.iter().filter_map(|worker| {
        let (joined, _) = worker.joined.as_ref()?;
        (joined.program_version != own).then_some((&worker.worker_id, &joined.program_version))
    });
    let (worker_id, version) = others.next()?;
    let more = match others.count() {
        0 => String::new(),
        count => format!(" and {count} more"),
    };
    Some(format!("worker {worker_id}{more}: version {version} beside the learner's {own}: run the same release"))
}

/// Says which networks answer alike whatever they are asked.
fn answers(observation: &RunObservation) -> Option<String> {
    let description = |fault: &AnswerFault| {
        let what = match (fault.has_uniform_policy, fault.has_constant_value) {
            (true, true) => "its policy is uniform and its value the same on nearly all positions",
            (true, false) => "its policy is uniform on nearly all positions",
            (false, _) => "its value is the same on all positions",
        };
        format!("network {}: {what}", fault.network_id)
    };
    let faults: Vec<String> = observation.answer_faults.iter().map(description).collect();
    let advice = "its training has died: lower the learning rate, and begin again from an earlier network (--resume)";
    (!faults.is_empty()).then(|| format!("{}: {advice}", faults.join("; ")))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use shared::ids::NetworkId;

    use super::super::run_observer::tests::{observation, snapshot};
    use super::*;
    use crate::config::LearnerConfig;

    const MINUTE: Duration = Duration::from_secs(60);

    fn watch() -> AlarmWatch {
        let (no_games_max, no_evaluator_max) = (30 * MINUTE, 10 * MINUTE);
        let alarms = LearnerConfig::default().alarms;
        AlarmWatch::new(AlarmConfig { no_games_max, no_evaluator_max, disk_free_mib_min: 1024, ..alarms })
    }

    /// An observation with nothing to complain about.
    fn quiet() -> RunObservation {
        let mut observation = observation();
        for worker in Arc::get_mut(&mut observation.workers).expect("nobody else has it") {
            if let Some((joined, _)) = &mut worker.joined {
                joined.program_version = env!("CARGO_PKG_VERSION").to_owned();
            }
        }
        observation
    }

    fn on(board: &AlarmBoard) -> Vec<AlarmKind> {
        board.on().iter().map(|alarm| alarm.kind).collect()
    }

    #[test]
    fn games_that_do_not_come_are_noticed_after_their_time_and_forgotten_when_one_comes() {
        let (mut watch, board, start) = (watch(), AlarmBoard::default(), Instant::now());
        for minute in [0, 15, 29] {
            watch.look(&quiet(), &board, start + minute * MINUTE);
            assert_eq!(on(&board), [], "after {minute} minutes");
        }
        watch.look(&quiet(), &board, start + 30 * MINUTE);
        assert_eq!(on(&board), [AlarmKind::NoGames]);
        assert!(board.on()[0].text.contains("for 30 min; waiting for gate games"), "{:?}", board.on());
        let (mut finished, mut progress) = (quiet(), snapshot());
        progress.games.last_finish_number += 1;
        finished.progress = Some(Arc::new(progress));
        watch.look(&finished, &board, start + 31 * MINUTE);
        assert_eq!(on(&board), []);
    }

    #[test]
    fn nobody_waits_for_games_while_a_network_trains() {
        let (mut watch, board, start) = (watch(), AlarmBoard::default(), Instant::now());
        let (mut training, mut progress) = (quiet(), snapshot());
        progress.phase = PhaseProgress::Training { training_step: 1, step_start: 0, step_end: 9 };
        training.progress = Some(Arc::new(progress));
        watch.look(&training, &board, start);
        watch.look(&training, &board, start + 300 * MINUTE);
        assert_eq!(on(&board), []);
    }

    #[test]
    fn a_gate_without_an_evaluator_is_noticed() {
        let (mut watch, board, start) = (watch(), AlarmBoard::default(), Instant::now());
        let alone = RunObservation { evaluator_count: 0, ..quiet() };
        watch.look(&alone, &board, start);
        watch.look(&alone, &board, start + 9 * MINUTE);
        assert_eq!(on(&board), []);
        watch.look(&alone, &board, start + 10 * MINUTE);
        assert_eq!(on(&board), [AlarmKind::NoEvaluator]);
        watch.look(&quiet(), &board, start + 11 * MINUTE);
        assert_eq!(on(&board), []);
    }

    #[test]
    fn a_disk_that_fills_and_other_versions_are_noticed() {
        let (mut watch, board, now) = (watch(), AlarmBoard::default(), Instant::now());
        watch.look(&RunObservation { disk_free_bytes: Some(100 << 20), ..quiet() }, &board, now);
        assert_eq!(on(&board), [AlarmKind::Disk]);
        assert!(board.on()[0].text.contains("100 MiB free, fewer than 1024"), "{:?}", board.on());
        let full_in = |seconds| RunObservation { disk_full_in: Some(Duration::from_secs(seconds)), ..quiet() };
        watch.look(&full_in(2 * 86_400 - 1), &board, now);
        assert!(
            board.on()[0].text.contains("full in 47 hours at the rate of the last day, less than 2 days"),
            "{:?}",
            board.on()
        );
        watch.look(&full_in(2 * 86_400), &board, now);
        assert_eq!(on(&board), []);
        watch.look(&observation(), &board, now);
        assert_eq!(on(&board), [AlarmKind::WorkerVersion]);
        assert!(board.on()[0].text.contains("worker a and 1 more: version 9"), "{:?}", board.on());
    }

    #[test]
    fn a_network_that_says_nothing_is_noticed() {
        let (mut watch, board, now) = (watch(), AlarmBoard::default(), Instant::now());
        let fault = |has_uniform_policy, has_constant_value| AnswerFault {
            network_id: NetworkId::FIRST.next(),
            has_uniform_policy,
            has_constant_value,
        };
        watch.look(&RunObservation { answer_faults: vec![fault(true, false)], ..quiet() }, &board, now);
        assert_eq!(on(&board), [AlarmKind::Answers]);
        assert!(board.on()[0].text.starts_with("network 2: its policy is uniform on nearly all positions: "));
        watch.look(&RunObservation { answer_faults: vec![fault(false, true)], ..quiet() }, &board, now);
        assert!(board.on()[0].text.starts_with("network 2: its value is the same on all positions: "));
        watch.look(&quiet(), &board, now);
        assert_eq!(on(&board), []);
    }

    #[test]
    fn answers_that_are_no_numbers_are_noticed_until_others_come() {
        let (mut watch, board, now) = (watch(), AlarmBoard::default(), Instant::now());
        let answered = |evaluation_count, uniform_prior_count, zeroed_value_count| RunObservation {
            inference: InferenceCounts {
                evaluation_count,
                uniform_prior_count,
                zeroed_value_count,
                ..InferenceCounts::default()
            },
            ..quiet()
        };
        let none = [].as_slice();
        for (evaluations, priors, values, alarms) in [
            (1000, 10, 0, none),
            (2000, 21, 0, &[AlarmKind::Answers]),
            (2000, 21, 0, &[AlarmKind::Answers]),
            (3000, 21, 0, none),
            (4000, 21, 1, &[AlarmKind::Answers]),
            (5000, 21, 1, none),
        ] {
            watch.look(&answered(evaluations, priors, values), &board, now);
            assert_eq!(on(&board), alarms, "{evaluations} {priors} {values}");
        }
    }

    #[test]
    fn a_limit_of_zero_is_none() {
        let (board, start) = (AlarmBoard::default(), Instant::now());
        let alarms = LearnerConfig::default().alarms;
        let zero = Duration::ZERO;
        let mut watch = AlarmWatch::new(AlarmConfig {
            no_games_max: zero,
            no_evaluator_max: zero,
            disk_free_mib_min: 0,
            disk_full_in_min: zero,
            ..alarms
        });
        let alone =
            RunObservation { evaluator_count: 0, disk_free_bytes: Some(0), disk_full_in: Some(zero), ..quiet() };
        watch.look(&alone, &board, start);
        watch.look(&alone, &board, start + 3000 * MINUTE);
        assert_eq!(on(&board), []);
    }
}

//! The observation as the message that `alveare.v1.Status` answers with.

use std::collections::HashMap;
use std::time::SystemTime;

use registry::{GameProgress, GateReport};
use shared::gate::Verdict;
use shared::wire::worker_kind_word;
use store::files::RunFiles;

use super::alarm_board::Alarm;
use super::run_observer::{ObservedWorker, RunObservation};
use super::snapshot::ProgressSnapshot;
use crate::trainer::MeanLosses;

/// Workers in a message at most.
const WORKER_COUNT_MAX: usize = 100;

impl RunObservation {
    /// Returns the message.
    pub(crate) fn to_message(&self) -> proto::GetStatusReply {
        let listed = &self.workers[..self.workers.len().min(WORKER_COUNT_MAX)];
        let reply = proto::GetStatusReply {
            run_id: self.identity.run_id.clone(),
            game: self.identity.game.clone(),
            program_version: env!("CARGO_PKG_VERSION").to_owned(),
            generation: self.best.generation.get(),
            best_network_id: self.best.network_id.get(),
            best_network_file: RunFiles::network_path(self.best.network_id),
            actor_count: self.actor_count,
            evaluator_count: self.evaluator_count,
            waiting_for: self.waiting_for(),
            waiting_leaf_count: self.waiting_leaves.gate + self.waiting_leaves.self_play,
            workers: listed.iter().map(ObservedWorker::to_message).collect(),
            workers_left_out: (self.workers.len() - listed.len()) as u32,
            alarms: self.alarms.iter().map(alarm_message).collect(),
            disk_free_bytes: self.disk_free_bytes,
            disk_full_seconds: self.disk_full_in.map(|time| time.as_secs()),
            counters: self.counter_map(),
            ..Default::default()
        };
        match self.progress.as_deref() {
            Some(progress) => {
                let finished_game_count = self.games.finished_self_play_count;
                let cost = Some(self.cost_message(progress));
                proto::GetStatusReply { cost, finished_game_count, ..with(progress, reply) }
            }
            None => reply,
        }
    }

    fn cost_message(&self, progress: &ProgressSnapshot) -> proto::RunCostStatus {
        proto::RunCostStatus {
            work_seconds: progress.totals.work_time.as_secs_f64(),
            flop: progress.totals.cost.map(|cost| cost.flop),
            money: self.money(),
            uses_per_position: progress.totals.uses_per_position(),
        }
    }

    fn counter_map(&self) -> HashMap<String, u64> {
        let mut counters = vec![
            ("refused_call_count", self.refused_call_count),
            ("evaluation_count", self.inference.evaluation_count),
            ("remote_evaluation_count", self.inference.remote_evaluation_count),
            ("remote_server_count", self.inference.remote_server_count),
            ("batch_count", self.inference.batch_count),
            ("uniform_prior_count", self.inference.uniform_prior_count),
            ("zeroed_value_count", self.inference.zeroed_value_count),
            ("refused_batch_count", self.inference.refused_batch_count),
            ("computed_leaf_count", self.inference.computed_leaf_count),
            ("device_busy_us", self.inference.device_busy_us),
        ];
        counters.extend(self.backup_age.map(|age| ("backup_age_seconds", age.as_secs())));
        counters.extend(game_counters(&self.games));
        counters.extend(self.progress.as_deref().into_iter().flat_map(counters_of));
        let own = self.counters.iter().map(|(name, count)| (name.clone(), *count));
        counters.into_iter().map(|(name, count)| (name.to_owned(), count)).chain(own).collect()
    }
}

/// Fills in how far the run is.
fn with(progress: &ProgressSnapshot, reply: proto::GetStatusReply) -> proto::GetStatusReply {
    proto::GetStatusReply {
        iteration: progress.iteration,
        phase: progress.phase.name().to_owned(),
        phase_done: progress.phase.done(),
        phase_total: progress.phase.total(),
        phase_remaining_seconds: progress.time_to_go.map(|time| time.as_secs()),
        training_step: progress.training_step,
        replay_position_count: progress.position_count,
        evaluations_per_second: progress.rates.evaluations_per_second,
        batch_fill: progress.rates.batch_fill,
        gate: progress.gate.as_ref().map(gate_message),
        losses: progress.losses.as_ref().map(loss_message),
        ..reply
    }
}

fn game_counters(progress: &GameProgress) -> [(&'static str, u64); 14] {
    let games = &progress.counters;
    [
        ("accepted_ply_count", games.accepted_ply_count),
        ("duplicate_ply_count", games.duplicate_ply_count),
        ("refused_ply_count", games.refused_ply_count),
        ("lease_lost_ply_count", games.lease_lost_ply_count),
        ("expired_lease_count", games.expired_lease_count),
        ("quarantined_game_count", games.quarantined_game_count),
        ("failed_write_count", games.failed_write_count),
        ("resigned_game_count", games.self_play.resigned_count),
        ("played_on_game_count", games.self_play.played_on_count),
        ("false_resignation_count", games.self_play.false_resignation_count),
        ("open_self_play_count", progress.open_self_play_count),
        ("held_self_play_count", progress.held_self_play_count),
        ("allowed_self_play_count", progress.allowed_self_play_count),
        ("open_gate_count", progress.open_gate_count),
    ]
}

fn counters_of(snapshot: &ProgressSnapshot) -> Vec<(&'static str, u64)> {
    let mut counters = vec![
        ("device_busy_percent", (snapshot.rates.device_busy * 100.0).round() as u64),
        ("device_fill_percent", (snapshot.rates.device_fill * 100.0).round() as u64),
    ];
    if let Some(cost) = snapshot.totals.cost {
        counters.extend([
            ("run_evaluation_count", cost.evaluation_count),
            ("run_training_sample_count", cost.training_sample_count),
            ("run_gflop", (cost.flop / 1e9) as u64),
        ]);
    }
    if let Some(score) = snapshot.yardstick {
        counters.extend([
            ("yardstick_win_count", u64::from(score.wins)),
            ("yardstick_draw_count", u64::from(score.draws)),
            ("yardstick_loss_count", u64::from(score.losses)),
        ]);
    }
    counters
}

fn gate_message(report: &GateReport) -> proto::GateStatus {
    let verdict = match report.verdict {
        Some(Verdict::Promoted) => "promoted",
        Some(Verdict::Rejected) => "rejected",
        None => "",
    };
    proto::GateStatus {
        candidate_id: report.candidate_id.get(),
        win_count: report.score.wins,
        draw_count: report.score.draws,
        loss_count: report.score.losses,
        game_count_max: report.settings.game_count,
        score: report.score.score(),
        verdict: verdict.to_owned(),
    }
}

fn loss_message(losses: &MeanLosses) -> proto::LossStatus {
    proto::LossStatus {
        training_step: losses.training_step,
        policy_loss: losses.means.policy_loss,
        value_loss: losses.means.value_loss,
        policy_accuracy: losses.means.policy_accuracy,
        gradient_norm: losses.means.gradient_norm,
        learning_rate: losses.learning_rate,
    }
}

impl ObservedWorker {
    /// Returns the worker as the status and the page show it.
    pub(crate) fn to_message(&self) -> proto::WorkerStatus {
        let held = proto::WorkerStatus {
            worker_id: self.worker_id.clone(),
            held_self_play_count: self.held.self_play,
            held_gate_count: self.held.gate,
            ..Default::default()
        };
        let Some((joined, silence)) = &self.joined else { return held };
        proto::WorkerStatus {
            kind: worker_kind_word(joined.kind).to_owned(),
            thread_count: joined.thread_count,
            program_version: joined.program_version.clone(),
            silent_seconds: silence.as_secs(),
            ..held
        }
    }
}

fn alarm_message(alarm: &Alarm) -> proto::AlarmStatus {
    let since = alarm.since.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    proto::AlarmStatus {
        name: alarm.kind.name().to_owned(),
        since_unix_seconds: since.as_secs(),
        text: alarm.text.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::run_observer::tests::observation;
    use super::*;

    #[test]
    fn the_message_says_how_far_the_run_is_and_who_holds_games() {
        let reply = observation().to_message();
        assert_eq!((reply.iteration, reply.phase.as_str(), reply.phase_done, reply.phase_total), (3, "gate", 10, 40));
        assert_eq!(reply.phase_remaining_seconds, Some(90));
        let gate = reply.gate.expect("a gate");
        assert_eq!((gate.win_count, gate.draw_count, gate.loss_count, gate.score), (5, 2, 3, 0.6));
        let held = |worker: &proto::WorkerStatus| {
            (worker.worker_id.clone(), worker.kind.clone(), worker.held_self_play_count, worker.held_gate_count)
        };
        let expected = [
            ("a".to_owned(), "actor".to_owned(), 12, 0),
            ("e".into(), "evaluator".into(), 0, 4),
            ("gone".into(), String::new(), 1, 0),
        ];
        assert_eq!(reply.workers.iter().map(held).collect::<Vec<_>>(), expected);
        assert_eq!(reply.alarms[0].name, "disk");
        let cost = reply.cost.expect("a cost");
        assert_eq!((cost.work_seconds, cost.money, cost.uses_per_position), (7200.0, Some(1.0), Some(4.0)));
        assert_eq!(reply.counters["run_gflop"], 5_000_000);
        let counters = ["unreadable_ply_count", "backup_count", "backup_age_seconds", "computed_leaf_count"];
        assert_eq!(counters.map(|name| reply.counters[name]), [2, 3, 40, 1100]);
        assert_eq!((reply.counters["device_busy_percent"], reply.counters["device_fill_percent"]), (75, 90));
        assert_eq!(reply.waiting_for, "gate games");
        assert_eq!((reply.disk_free_bytes, reply.disk_full_seconds), (Some(5 << 30), Some(12 * 86_400)));
    }

    #[test]
    fn games_are_counted_while_the_pipeline_waits() {
        let mut observation = observation();
        observation.games.finished_self_play_count += 1;
        observation.games.counters.refused_ply_count = 7;
        let reply = observation.to_message();
        assert_eq!((reply.finished_game_count, reply.counters["refused_ply_count"]), (101, 7));
    }

    #[test]
    fn while_nothing_can_be_stored_the_disk_is_what_is_awaited() {
        for progress in [observation().progress, None] {
            let problem = Some("no space left".to_owned());
            let reply = RunObservation { progress, problem, ..observation() }.to_message();
            assert_eq!(reply.waiting_for, "the disk: no space left");
        }
    }

    #[test]
    fn a_message_has_so_many_workers_and_no_more() {
        let mut observation = observation();
        let worker = observation.workers[0].clone();
        observation.workers = vec![worker; WORKER_COUNT_MAX + 7].into();
        let reply = observation.to_message();
        assert_eq!((reply.workers.len(), reply.workers_left_out), (WORKER_COUNT_MAX, 7));
    }
}

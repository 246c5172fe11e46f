//! How a run is doing, as a table for people.

use std::time::{Duration, SystemTime};

use learner::numbers::disk_words;

/// Width of the names.
const NAME_WIDTH: usize = 16;
/// Workers in the table at most; `--json` has more.
const WORKER_LINES_MAX: usize = 30;

/// Returns the table, as of `now`.
pub(super) fn status_table(reply: &proto::GetStatusReply, now: SystemTime) -> String {
    let mut table = Table(String::new());
    add_run(&mut table, reply);
    add_inference(&mut table, reply);
    add_games(&mut table, reply);
    add_workers(&mut table, reply);
    add_learning(&mut table, reply);
    add_cost(&mut table, reply);
    add_alarms(&mut table, reply, now);
    table.0
}

/// A table that grows line by line.
struct Table(String);

impl Table {
    /// Begins a section.
    fn section(&mut self, name: &str) {
        if !self.0.is_empty() {
            self.0.push('\n');
        }
        self.0 += &format!("{name}\n");
    }

    fn line(&mut self, name: &str, value: impl AsRef<str>) {
        self.0 += &format!("  {name:<NAME_WIDTH$}{}\n", value.as_ref());
    }
}

fn add_run(table: &mut Table, reply: &proto::GetStatusReply) {
    table.section(&format!("run {} of {}", reply.run_id, or_unknown(&reply.game)));
    if reply.phase.is_empty() {
        table.line("iteration", "starting");
    } else {
        let (done, total) = (reply.phase_done, reply.phase_total);
        let eta = reply.phase_remaining_seconds.map_or("unknown time".to_owned(), format_seconds);
        let what = if reply.phase == "training" { "steps" } else { "games" };
        let value = format!("{}, {}: {done} of {total} {what}, {eta} to go", reply.iteration, reply.phase);
        table.line("iteration", value);
    }
    table.line("waiting for", or_unknown(&reply.waiting_for));
    table.line("generation", reply.generation.to_string());
    table.line("best network", format!("{} ({})", reply.best_network_id, or_unknown(&reply.best_network_file)));
    if let Some(gate) = &reply.gate {
        let proto::GateStatus { win_count, draw_count, loss_count, score, .. } = gate;
        let verdict = if gate.verdict.is_empty() { "so far" } else { &gate.verdict };
        let games = win_count + draw_count + loss_count;
        table.line(
            "gate",
            format!(
                "network {} {verdict}: {score:.3} of {games} games (+{win_count} ={draw_count} -{loss_count}), at most {}",
                gate.candidate_id, gate.game_count_max
            ),
        );
    }
}

fn add_inference(table: &mut Table, reply: &proto::GetStatusReply) {
    table.section("inference");
    table.line("evaluations/s", format!("{:.0}", reply.evaluations_per_second));
    table.line("batch fill", format!("{:.0} %", 100.0 * reply.batch_fill));
    table.line("leaves waiting", reply.waiting_leaf_count.to_string());
    let count = |name: &str| reply.counters.get(name).copied().unwrap_or_default();
    let (servers, remote) = (count("remote_server_count"), count("remote_evaluation_count"));
    if servers > 0 || remote > 0 {
        let share = 100.0 * remote as f64 / count("evaluation_count").max(1) as f64;
        table.line("servers", format!("{servers} connected; all together answered {share:.0} % since the start"));
    }
}

fn add_games(table: &mut Table, reply: &proto::GetStatusReply) {
    let count = |name: &str| reply.counters.get(name).copied().unwrap_or_default();
    table.section("games");
    table.line("finished", format!("{} of self-play", reply.finished_game_count));
    let (open, held, allowed) =
        (count("open_self_play_count"), count("held_self_play_count"), count("allowed_self_play_count"));
    table.line("self-play", format!("{open} open, {held} held, {allowed} allowed"));
    table.line("gate", format!("{} open", count("open_gate_count")));
    let refused = [
        ("refused_ply_count", "plies"),
        ("refused_batch_count", "batches"),
        ("refused_call_count", "calls without the token"),
        ("quarantined_game_count", "games in quarantine"),
    ];
    let refused = refused.into_iter().filter(|(name, _)| count(name) > 0);
    let refused: Vec<String> = refused.map(|(name, what)| format!("{} {what}", count(name))).collect();
    if !refused.is_empty() {
        table.line("refused", refused.join(", "));
    }
}

fn add_workers(table: &mut Table, reply: &proto::GetStatusReply) {
    let count = |count: u32, what: &str| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
    let (actors, evaluators) = (count(reply.actor_count, "actor"), count(reply.evaluator_count, "evaluator"));
    table.section(&format!("workers: {actors}, {evaluators}"));
    if reply.workers.is_empty() {
        table.line("none", "start `actor --learner ADDRESS` and `evaluator --learner ADDRESS`");
        return;
    }
    let listed = &reply.workers[..reply.workers.len().min(WORKER_LINES_MAX)];
    let width = listed.iter().map(|worker| worker.worker_id.chars().count()).max().unwrap_or_default();
    table.0 += &format!("  {:<width$}  {:<9}  {:>7}  {:>10}  seen\n", "name", "kind", "threads", "holds");
    for worker in listed {
        let threads = match worker.thread_count {
            0 => "?".to_owned(),
            count => count.to_string(),
        };
        let (kind, seen) = if worker.kind.is_empty() {
            ("?", "not since the learner started".to_owned())
        } else {
            (&*worker.kind, format!("{} ago", format_seconds(worker.silent_seconds)))
        };
        let holds = format!("{} games", worker.held_self_play_count + worker.held_gate_count);
        table.0 += &format!("  {:<width$}  {kind:<9}  {threads:>7}  {holds:>10}  {seen}\n", worker.worker_id);
    }
    let left_out = reply.workers.len() - listed.len() + reply.workers_left_out as usize;
    if left_out > 0 {
        table.0 += &format!("  and {left_out} more\n");
    }
}

fn add_learning(table: &mut Table, reply: &proto::GetStatusReply) {
    table.section("learning");
    table.line("training step", reply.training_step.to_string());
    table.line("replay", format!("{} positions", reply.replay_position_count));
    if let Some(losses) = &reply.losses {
        let (policy, value) = (losses.policy_loss, losses.value_loss);
        table.line("losses", format!("policy {policy:.4}, value {value:.4} at step {}", losses.training_step));
        table.line("learning rate", format!("{:.3e}", losses.learning_rate));
    }
    if let Some(uses) = reply.cost.as_ref().and_then(|cost| cost.uses_per_position) {
        table.line("uses a position", format!("{uses:.2}"));
    }
}

fn add_cost(table: &mut Table, reply: &proto::GetStatusReply) {
    table.section("cost so far");
    if let Some(cost) = &reply.cost {
        table.line("time", format_seconds(cost.work_seconds as u64));
        table.line("arithmetic", cost.flop.map_or("unknown".to_owned(), format_flop));
        if let Some(money) = cost.money {
            let each = match reply.generation {
                0 => String::new(),
                generation => format!(", {:.2} a promotion", money / f64::from(generation)),
            };
            table.line("money", format!("{money:.2}{each}"));
        }
    }
    if let Some(bytes) = reply.disk_free_bytes {
        table.line("disk", disk_words(bytes, reply.disk_full_seconds.map(Duration::from_secs)));
    }
}

fn add_alarms(table: &mut Table, reply: &proto::GetStatusReply, now: SystemTime) {
    if reply.alarms.is_empty() {
        return table.section("alarms: none");
    }
    table.section("alarms");
    for alarm in &reply.alarms {
        let since = SystemTime::UNIX_EPOCH + Duration::from_secs(alarm.since_unix_seconds);
        let age = now.duration_since(since).unwrap_or_default();
        table.line(&alarm.name, format!("for {}: {}", format_seconds(age.as_secs()), alarm.text));
    }
}

fn or_unknown(text: &str) -> &str {
    if text.is_empty() { "unknown" } else { text }
}

/// Writes a number of floating-point operations with three digits after the point.
fn format_flop(flop: f64) -> String {
    let units = [(1e18, "EFLOP"), (1e15, "PFLOP"), (1e12, "TFLOP")];
    let (scale, unit) = units.into_iter().find(|(scale, _)| flop >= *scale).unwrap_or((1e9, "GFLOP"));
    format!("{:.3} {unit}", flop / scale)
}

/// Writes seconds with two units at most: `30s`, `1m40s`, `2h30m`, `3d04h`.
fn format_seconds(seconds: u64) -> String {
    match seconds {
        0..60 => format!("{seconds}s"),
        60..3600 => format!("{}m{:02}s", seconds / 60, seconds % 60),
        3600..86_400 => format!("{}h{:02}m", seconds / 3600, seconds / 60 % 60),
        _ => format!("{}d{:02}h", seconds / 86_400, seconds / 3600 % 24),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reply() -> proto::GetStatusReply {
        let worker = |name: &str, kind: &str, held| proto::WorkerStatus {
            worker_id: name.to_owned(),
            kind: kind.to_owned(),
            thread_count: 2,
            silent_seconds: 3,
            held_self_play_count: held,
            ..Default::default()
        };
        proto::GetStatusReply {
            run_id: "abc".into(),
            game: "hive".into(),
            iteration: 3,
            phase: "gate".into(),
            phase_done: 10,
            phase_total: 40,
            phase_remaining_seconds: Some(100),
            waiting_for: "gate games".into(),
            generation: 2,
            best_network_id: 5,
            best_network_file: "networks/network-000005.safetensors".into(),
            gate: Some(proto::GateStatus {
                candidate_id: 6,
                win_count: 5,
                draw_count: 2,
                loss_count: 3,
                game_count_max: 40,
                score: 0.6,
                verdict: String::new(),
            }),
            evaluations_per_second: 1234.4,
            batch_fill: 0.5,
            workers: vec![worker("old-laptop", "actor", 64), worker("x", "", 1)],
            actor_count: 1,
            alarms: vec![proto::AlarmStatus {
                name: "disk".into(),
                since_unix_seconds: 1000,
                text: "nearly full".into(),
            }],
            cost: Some(proto::RunCostStatus {
                work_seconds: 9000.0,
                flop: Some(2.5e15),
                money: Some(5.0),
                uses_per_position: Some(3.5),
            }),
            disk_free_bytes: Some(41 << 30),
            disk_full_seconds: Some(12 * 86_400),
            counters: [("held_self_play_count".to_owned(), 64), ("refused_ply_count".to_owned(), 7)].into(),
            ..Default::default()
        }
    }

    #[test]
    fn the_table_says_how_the_run_is_doing() {
        let table = status_table(&reply(), SystemTime::UNIX_EPOCH + Duration::from_secs(1090));
        for line in [
            "run abc of hive",
            "  iteration       3, gate: 10 of 40 games, 1m40s to go",
            "  waiting for     gate games",
            "  gate            network 6 so far: 0.600 of 10 games (+5 =2 -3), at most 40",
            "  evaluations/s   1234",
            "  batch fill      50 %",
            "  self-play       0 open, 64 held, 0 allowed",
            "  refused         7 plies",
            "workers: 1 actor, 0 evaluators",
            "  old-laptop  actor            2    64 games  3s ago",
            "  x           ?                2     1 games  not since the learner started",
            "  uses a position 3.50",
            "  time            2h30m",
            "  arithmetic      2.500 PFLOP",
            "  money           5.00, 2.50 a promotion",
            "  disk            41.0 GiB free, full in 12 days",
            "  disk            for 1m30s: nearly full",
        ] {
            assert!(table.lines().any(|found| found == line), "{line:?} is not in\n{table}");
        }
    }

    #[test]
    fn a_learner_that_is_starting_or_of_before_is_shown_too() {
        let table = status_table(&proto::GetStatusReply::default(), SystemTime::now());
        assert!(table.contains("iteration       starting"), "{table}");
        assert!(table.contains("alarms: none"), "{table}");
    }

    #[test]
    fn many_workers_are_summed_up() {
        let mut reply = reply();
        reply.workers = vec![reply.workers[0].clone(); 100];
        reply.workers_left_out = 11;
        assert!(status_table(&reply, SystemTime::now()).contains("\n  and 81 more\n"));
    }

    #[test]
    fn json_has_every_field_by_its_name() {
        let value = serde_json::to_value(reply()).expect("plain values");
        assert_eq!(value["workers"][0]["worker_id"], "old-laptop");
        assert_eq!(value["gate"]["score"], 0.6);
        assert_eq!(value["cost"]["money"], 5.0);
        assert_eq!(value["losses"], serde_json::Value::Null);
        assert_eq!(value["counters"]["refused_ply_count"], 7);
    }
}

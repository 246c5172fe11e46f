//! Learner, actor and evaluator, each killed with `kill -9` at three random moments: the run goes on, and its store is
//! as if nothing had happened. The seed of the moments is printed; `KILL_SEED` repeats it.

mod common;

use std::collections::BTreeMap;

use common::system::{Look, Process, System};
use fixtures::{check_finished_games, encoding};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

const STEPS: i64 = 60;
const GATE_GAMES: i64 = 40;

#[test]
fn a_run_that_is_killed_everywhere_goes_on_and_loses_nothing() {
    let seed = std::env::var("KILL_SEED").map_or_else(|_| rand::random(), |text| text.parse().expect("a number"));
    println!("KILL_SEED={seed}");
    let mut killed = Killed::start(seed);
    for phase in ["self_play", "training", "gate"] {
        killed.kill_actor();
        killed.kill_learner(phase);
        killed.kill_evaluator();
    }
    killed.finish_iteration();
    check_store(killed);
}

/// A run under attack.
struct Killed {
    system: System,
    random: Pcg64,
    learner: Process,
    actor: Process,
    evaluator: Process,
    look: Look,
    seen: Seen,
}

/// What has been seen in the store, and must be there at the end.
#[derive(Default)]
struct Seen {
    plies: BTreeMap<(i64, i64), String>,
    finished: BTreeMap<i64, (i64, String)>,
    generation: i64,
    step: i64,
}

impl Killed {
    fn start(seed: u64) -> Self {
        let mut system = System::new(&[
            "server.lease=2s",
            "self_play.games_per_iteration=60",
            "training.steps_per_iteration=60",
            "training.checkpoint_steps=10",
        ]);
        let learner = system.start_learner(&[]);
        let (actor, evaluator) = (system.start_worker("actor"), system.start_worker("evaluator"));
        let look = system.look();
        Self { system, random: Pcg64::seed_from_u64(seed), learner, actor, evaluator, look, seen: Seen::default() }
    }

    fn kill_actor(&mut self) {
        let plies = self.look.number("SELECT count(*) FROM plies") + self.random.random_range(1..150);
        self.learner.wait_until("plies of the actor", || {
            (self.look.number("SELECT count(*) FROM plies") >= plies).then_some(())
        });
        self.seen.see(&self.look);
        self.actor.kill_hard();
        self.actor = self.system.start_worker("actor");
    }

    fn kill_evaluator(&mut self) {
        let count = self.random.random_range(1..20);
        self.wait_for_gate_games(count);
        self.seen.see(&self.look);
        self.evaluator.kill_hard();
        self.evaluator = self.system.start_worker("evaluator");
    }

    fn kill_learner(&mut self, phase: &str) {
        let count = self.random.random_range(1..15);
        match phase {
            "gate" => self.wait_for_gate_games(count),
            "training" => self.wait_for_training_steps(count * 3),
            // A phase as short as this one is met by looking all the time.
            _ => self.learner.wait_until("self-play", || (self.look.iteration().1 == phase).then_some(())),
        }
        self.seen.see(&self.look);
        self.learner.kill_hard();
        self.learner = self.system.start_learner(&[]);
    }

    /// Waits until so many games of a gate that is not decided are finished.
    fn wait_for_gate_games(&mut self, count: i64) {
        let sql = "SELECT count(*) FROM games WHERE kind = 'gate' AND state = 'finished' AND candidate_id =
                   (SELECT network_id FROM networks WHERE state = 'candidate')";
        self.learner.wait_until("gate games", || (self.look.number(sql) >= count).then_some(()));
    }

    /// Waits until so many steps of an iteration that trains are on disk.
    fn wait_for_training_steps(&mut self, count: i64) {
        let sql = "SELECT (SELECT max(training_step) FROM checkpoints) - training_step_start FROM iterations
                   WHERE state = 'training'";
        self.learner.wait_until("training steps", || {
            self.look.rows(sql, |row| row.get::<_, i64>(0)).pop().filter(|steps| *steps >= count)
        });
    }

    /// Waits until an iteration that begins from now on is finished.
    fn finish_iteration(&mut self) {
        let next = self.look.iteration().0 + 1;
        let sql = format!("SELECT count(*) FROM iterations WHERE number >= {next} AND finished_at IS NOT NULL");
        self.learner.wait_until("an iteration", || (self.look.number(&sql) > 0).then_some(()));
    }
}

impl Seen {
    /// Notes everything that is committed: all that was acknowledged, and perhaps more.
    fn see(&mut self, look: &Look) {
        let plies =
            look.rows("SELECT game_id, ply, move_text FROM plies", |row| Ok(((row.get(0)?, row.get(1)?), row.get(2)?)));
        self.plies.extend(plies);
        let sql = "SELECT game_id, finish_number, result FROM games WHERE state = 'finished'";
        self.finished.extend(look.rows(sql, |row| Ok((row.get(0)?, (row.get(1)?, row.get(2)?)))));
        let generation = look.number("SELECT max(generation) FROM networks");
        let step = look.number("SELECT max(training_step) FROM checkpoints");
        assert!(generation >= self.generation, "the generation fell to {generation}");
        assert!(step >= self.step, "the checkpoint fell back to step {step}");
        (self.generation, self.step) = (generation, step);
    }
}

fn check_store(killed: Killed) {
    let Killed { system, seen, learner, actor, evaluator, .. } = killed;
    drop((learner, actor, evaluator));
    let look = system.look();
    let mut last = Seen { generation: seen.generation, step: seen.step, ..Seen::default() };
    last.see(&look);
    for (key, move_text) in &seen.plies {
        assert_eq!(last.plies.get(key), Some(move_text), "game and ply {key:?}");
    }
    for (game_id, result) in &seen.finished {
        assert_eq!(last.finished.get(game_id), Some(result), "game {game_id}");
    }
    assert_eq!(look.number("SELECT count(*) FROM games WHERE state = 'quarantined'"), 0);
    let finished = check_finished_games(&encoding(), &system.run_dir());
    assert_eq!(finished.len(), last.finished.len());
    check_training(&look);
    check_gates(&look);
}

/// Each training step is counted once, and each iteration begins where the last ended.
fn check_training(look: &Look) {
    let sql = "SELECT step, value FROM metrics WHERE name = 'loss_step_count' ORDER BY step";
    let mut done = 0;
    for (step, count) in look.rows(sql, |row| Ok((row.get::<_, i64>(0)?, row.get::<_, f64>(1)?))) {
        done += count as i64;
        assert_eq!(done, step, "a step is missing or counted twice");
    }
    assert_eq!(look.number("SELECT max(training_step) FROM checkpoints"), done);
    let twice =
        "SELECT count(*) - count(DISTINCT name || step) FROM metrics WHERE name IN ('policy_loss', 'value_loss')";
    assert_eq!(look.number(twice), 0);
    let sql = "SELECT training_step_start, training_step_end FROM iterations ORDER BY number";
    let mut start = 0;
    for (from, to) in look.rows(sql, |row| Ok((row.get::<_, i64>(0)?, row.get::<_, Option<i64>>(1)?))) {
        assert_eq!(from, start, "an iteration begins where the last one ended");
        start = to.unwrap_or(from);
        assert!(start - from == STEPS || to.is_none(), "{from}..{start}");
    }
}

/// Each gate has its games once, in pairs; each network that was decided had enough of them.
fn check_gates(look: &Look) {
    let sql = "SELECT candidate_id, count(*), count(DISTINCT pair_index), sum(white_network_id = candidate_id),
                   sum(state = 'open') FROM games WHERE kind = 'gate' GROUP BY candidate_id";
    let read = |row: &rusqlite::Row<'_>| Ok([row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?]);
    let gates: Vec<[i64; 5]> = look.rows(sql, read);
    assert!(gates.len() >= 2, "{gates:?}");
    for [candidate_id, games, pairs, as_white, open] in gates {
        assert_eq!([games, pairs, as_white], [GATE_GAMES, GATE_GAMES / 2, GATE_GAMES / 2], "gate of {candidate_id}");
        let decided = format!("SELECT state <> 'candidate' FROM networks WHERE network_id = {candidate_id}");
        assert!(look.number(&decided) == 0 || open == 0, "gate of {candidate_id} is decided, {open} games are open");
    }
    let generations = look
        .rows("SELECT generation FROM networks WHERE generation IS NOT NULL ORDER BY network_id", |row| {
            row.get::<_, i64>(0)
        });
    assert_eq!(generations, (0..generations.len() as i64).collect::<Vec<_>>(), "generations rise one by one");
}

//! What a seed stands for: a small run, some workers, and what goes wrong. Each seed has some kinds of faults and not others,
//! since all of them together would hide what a few of them do (swarm testing, Groce et al. 2012).

use std::time::Duration;

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use registry::ResignationRule;
use shared::catalog::GameSpec;

use super::ledger::Rules;
use super::resigned::rule_of;
use crate::config::{LearnerConfig, LearnerSettings, PipelineMode};

/// A run and what happens to it.
pub(super) struct Plan {
    pub(super) seed: u64,
    pub(super) settings: LearnerSettings,
    /// At least one actor and one evaluator that mean no harm.
    pub(super) workers: Vec<Character>,
    /// Whether actors and evaluators have tokens of their own; else one allows everything.
    pub(super) has_roles: bool,
    /// How long evaluators wait whose plies were refuted together.
    pub(super) pause: Duration,
    /// Self-play games that may go on at once.
    pub(super) open_games_max: usize,
    /// How long faults happen.
    pub(super) chaos: Duration,
    pub(super) faults: Faults,
    /// The fault that is to be found: replies leave before what they promise is on disk.
    pub(super) replies_early: bool,
}

/// How often something goes wrong, each from 0 to 1.
#[derive(Debug, Clone, Default)]
pub(super) struct Faults {
    /// Of messages: lost.
    pub(super) loss: f64,
    /// Delivered twice.
    pub(super) duplicate: f64,
    /// Late, and so out of order.
    pub(super) late: f64,
    /// Of events: the learner is killed before it.
    pub(super) kill: f64,
    /// Of writes: the learner is killed before, within or after it.
    pub(super) kill_at_write: f64,
    /// Of kills: the machine goes down, and the disk had not synced what it said it had.
    pub(super) lie: f64,
    /// Of events: the learner is asked to stop.
    pub(super) stop: f64,
    /// Of writes: an error.
    pub(super) write_error: f64,
    /// Of seconds: a worker is cut off for a while.
    pub(super) partition: f64,
    /// The disk is full for a while, for the store or for files.
    pub(super) full: f64,
    /// A worker dies, and another takes its place.
    pub(super) worker_death: f64,
    /// Of plies: the worker sends nonsense.
    pub(super) nonsense: f64,
    /// Of batches of a gate check: no answer.
    pub(super) no_answer: f64,
}

/// What a worker is like, as long as anything goes wrong.
#[derive(Debug, Clone, Copy)]
pub(super) struct Character {
    pub(super) is_actor: bool,
    /// How it makes up gate games; `None`: it searches.
    pub(super) forgery: Option<Forgery>,
    /// Whether calls of it show any token, and it asks for networks that are none of its business.
    pub(super) mixes_tokens: bool,
}

/// How an evaluator makes up gate games: it plays moves that no search would play.
#[derive(Debug, Clone, Copy)]
pub(super) struct Forgery {
    /// Whether for one of the two networks alone, the older one.
    pub(super) is_one_sided: bool,
    /// Whether each game is played under another name.
    pub(super) renames: bool,
    /// Plies that are made up under a name at most: of two alone, none is refuted.
    pub(super) plies_max: u32,
}

impl Plan {
    /// Makes the plan of a seed.
    pub(super) fn new(seed: u64) -> Self {
        let mut random = Pcg64::seed_from_u64(seed ^ 0x706c_616e);
        let settings = settings(seed, &mut random);
        let mut fault = |most: f64| if random.random_bool(0.5) { random.random_range(0.1..=1.0) * most } else { 0.0 };
        let faults = Faults {
            loss: fault(0.2),
            duplicate: fault(0.2),
            late: fault(0.2),
            kill: fault(0.01),
            kill_at_write: fault(0.04),
            lie: fault(1.0),
            stop: fault(0.004),
            write_error: fault(0.1),
            partition: fault(0.2),
            full: fault(0.1),
            worker_death: fault(0.1),
            nonsense: fault(0.02),
            no_answer: fault(0.05),
        };
        Self {
            seed,
            settings,
            workers: workers(&mut random),
            has_roles: random.random_bool(0.5),
            pause: Duration::from_secs(random.random_range(2..=20)),
            open_games_max: random.random_range(2..=12),
            chaos: Duration::from_secs(random.random_range(10..=25)),
            faults,
            replies_early: false,
        }
    }

    /// Returns what the run goes by.
    pub(super) fn rules(&self) -> Rules {
        let is_lockstep = self.settings.run.pipeline == PipelineMode::Lockstep;
        let games = u64::from(self.settings.self_play.games_per_iteration);
        let resignation = self.settings.self_play.resignation();
        Rules { gate: self.settings.gate.settings(), lockstep_games: is_lockstep.then_some(games), resignation }
    }
}

fn workers(random: &mut Pcg64) -> Vec<Character> {
    let honest = |is_actor| Character { is_actor, forgery: None, mixes_tokens: false };
    let mut workers = vec![honest(true); random.random_range(1..=3)];
    workers.extend(vec![honest(false); random.random_range(1..=2)]);
    for is_actor in [true, false] {
        if random.random_bool(0.25) {
            workers.push(Character { mixes_tokens: true, ..honest(is_actor) });
        }
    }
    let forger_count = if random.random_bool(0.4) { random.random_range(1..=2) } else { 0 };
    for _ in 0..forger_count {
        let (is_one_sided, renames) = (random.random_bool(0.5), random.random_bool(0.5));
        let plies_max = if random.random_bool(0.5) { 2 } else { u32::MAX };
        let forgery = Forgery { is_one_sided, renames, plies_max };
        workers.push(Character { forgery: Some(forgery), ..honest(false) });
    }
    workers
}

fn settings(seed: u64, random: &mut Pcg64) -> LearnerSettings {
    let mut config = LearnerConfig { game: GameSpec::TicTacToe {}, ..LearnerConfig::default() };
    config.run.seed = random.random();
    config.run.pipeline = if random.random_bool(0.5) { PipelineMode::Lockstep } else { PipelineMode::Overlapped };
    config.run.iterations = if random.random_bool(0.2) { 1 } else { 0 };
    config.server.lease = Duration::from_secs(random.random_range(2..=5));
    config.server.idle_leases_max = random.random_range(2..=4);
    config.server.worker_games_first = random.random_range(1..=6);
    config.self_play.games_per_iteration = random.random_range(1..=4);
    config.self_play.earlier_start_share = if random.random_bool(0.3) { 0.5 } else { 0.0 };
    config.gate.game_count = 2 * random.random_range(1..=3);
    config.gate.opening_plies = random.random_range(0..=2);
    config.gate.promotion_score = random.random_range(0.3..=0.6);
    // All plies of a worker, so that what the check finds is known.
    config.gate.checked_plies = 10_000;
    config.gate.search.leaves_per_game = random.random_range(1..=3);
    config.gate.search = config.gate.search.clone().for_match(random.random_range(12..=24));
    config.yardstick.games = if random.random_bool(0.3) { 2 } else { 0 };
    config.inference.networks_max = 6;
    config.training.steps_per_iteration = random.random_range(1..=6);
    config.training.checkpoint_steps = random.random_range(1..=4);
    config.training.batch_size = 4;
    config.replay.position_count_min = random.random_range(1..=20);
    config.replay.position_count_max = if random.random_bool(0.2) { 40 } else { 100_000 };
    config.replay.held_out_share = if random.random_bool(0.3) { 0.25 } else { 0.0 };
    // Every other seed, and not drawn: what the others stand for stays. A large buffer needs all games.
    if seed.is_multiple_of(2) {
        config.store.keep_games = 1 + (seed / 2 % 8) as u32;
    }
    if seed.is_multiple_of(4) {
        config.replay.position_count_max = 40;
    }
    let ResignationRule { value, plies, played_on_share } = rule_of(seed);
    let self_play = &mut config.self_play;
    (self_play.resign_value, self_play.resign_plies, self_play.resign_played_on_share) =
        (value, plies, played_on_share);
    LearnerSettings::try_from(config).expect("possible settings")
}

//! The formulas. Each is explained with its symbols in `docs/performance.md`.

use shared::ids::Generation;

use super::{Assumptions, Hardware, Limit, Plan, Rates, RunStart, Workload};

/// Share of the batches that leaves of a gate may take beside self-play.
const GATE_SHARE: f64 = 0.75;
/// A gate's leaf waits for half of the batch under way, and for its own.
const GATE_BATCHES: f64 = 1.5;
/// A gate ends with its last game, which has more plies than the mean of them.
const LAST_GAME: f64 = 1.25;
/// Training and evaluation that share a device are taken to get half of it each while both want it.
const SHARED_TRAINING: f64 = 0.5;
/// Calls a second of an actor that waits for games.
const WAITING_CALLS: f64 = 4.0;

/// Returns what an iteration comes to.
#[must_use]
pub fn plan(hardware: &Hardware, workload: &Workload, assumptions: &Assumptions) -> Plan {
    let rates = rates(hardware, workload, assumptions);
    let (evaluations_per_second, limit) = rates.least();
    let self_play = self_play_evaluations(workload, assumptions);
    let gate = workload.gate_games * gate_game_evaluations(workload, assumptions);
    let gate_seconds = gate_seconds(hardware, workload, assumptions, evaluations_per_second);
    let work_seconds = workload.samples / hardware.training_rate;
    let is_contended = hardware.is_training_shared && workload.is_overlapped;
    let training_seconds = if is_contended { work_seconds / SHARED_TRAINING } else { work_seconds };
    let iteration_seconds = if workload.is_overlapped {
        // Self-play goes on beside training and gate, in whatever time the devices have.
        let taken_by_training = if hardware.is_training_shared { work_seconds } else { 0.0 };
        let evaluating = (self_play + gate) / evaluations_per_second + taken_by_training;
        evaluating.max(training_seconds + gate_seconds)
    } else {
        self_play / evaluations_per_second + training_seconds + gate_seconds
    };
    let games_in_flight = games_in_flight(hardware, workload, evaluations_per_second);
    let self_play_rate = if workload.is_overlapped { self_play / iteration_seconds } else { evaluations_per_second };
    let game_evaluations = self_play / workload.self_play_games;
    let waiting_actors = f64::from(hardware.actor_count) - games_in_flight.min(f64::from(hardware.actor_count));
    Plan {
        rates,
        evaluations_per_second,
        limit,
        actor_cores_needed: evaluations_per_second * assumptions.actor_us / 1e6,
        games_in_flight,
        game_seconds: game_evaluations * games_in_flight / self_play_rate,
        gate_seconds,
        training_seconds,
        iteration_seconds,
        iteration_evaluations: self_play + gate,
        upload_bits: evaluations_per_second * assumptions.leaf_bytes * 8.0,
        download_bits: evaluations_per_second * assumptions.answer_bytes * 8.0,
        iteration_disk_bytes: disk_bytes(workload, assumptions),
        calls_per_second: waiting_actors * WAITING_CALLS,
    }
}

/// Returns what the first iterations come to, given an iteration at each generation.
#[must_use]
pub(super) fn run_start(
    iterations: u32,
    hardware: &Hardware,
    assumptions: &Assumptions,
    workload_at: impl Fn(Generation, u32) -> Workload,
) -> RunStart {
    let (mut seconds, mut disk_bytes) = (0.0, 0.0);
    for iteration in 0..iterations {
        let generation = Generation::new((f64::from(iteration) * assumptions.promotions) as u32);
        let plan = plan(hardware, &workload_at(generation, iteration + 1), assumptions);
        seconds += plan.iteration_seconds;
        disk_bytes += plan.iteration_disk_bytes;
    }
    let hours = seconds / 3600.0;
    RunStart { iterations, hours, price: hours * hardware.price_per_hour, disk_bytes }
}

fn rates(hardware: &Hardware, workload: &Workload, assumptions: &Assumptions) -> Rates {
    let cores = f64::from(hardware.actor_count) * hardware.actor_cores;
    let bytes = assumptions.leaf_bytes.max(assumptions.answer_bytes);
    let mut rates = Rates {
        devices: hardware.gpu_rate * f64::from(hardware.device_count),
        actor_cores: cores * 1e6 / assumptions.actor_us,
        games_in_flight: f64::INFINITY,
        bandwidth: hardware.bandwidth / (8.0 * bytes),
        learner_cores: hardware.learner_cores * 1e6 / assumptions.learner_us,
    };
    // Little's law: so many leaves are under way, each for the way and for its batch.
    let leaves = cores * f64::from(hardware.games_per_core) * workload.leaves_per_game;
    let batch = batch_leaves(workload, rates.least().0).min(leaves);
    let seconds = hardware.round_trip.as_secs_f64() + batch / rates.least().0;
    rates.games_in_flight = leaves / seconds;
    rates
}

impl Rates {
    /// Returns the least, and what it is.
    fn least(&self) -> (f64, Limit) {
        let all = [
            (self.devices, Limit::Devices),
            (self.actor_cores, Limit::ActorCores),
            (self.games_in_flight, Limit::GamesInFlight),
            (self.bandwidth, Limit::Bandwidth),
            (self.learner_cores, Limit::LearnerCores),
        ];
        all.into_iter().fold((f64::INFINITY, Limit::Devices), |least, rate| if rate.0 < least.0 { rate } else { least })
    }
}

/// Leaves of a batch: no more than fit, or than are evaluated in the time allowed.
fn batch_leaves(workload: &Workload, rate: f64) -> f64 {
    workload.batch_leaves_max.min((rate * workload.batch_time_max.as_secs_f64()).max(1.0))
}

/// Games that keep the batches waiting, and the leaves under way; no more than actors play.
fn games_in_flight(hardware: &Hardware, workload: &Workload, rate: f64) -> f64 {
    let waiting = workload.batches_waiting * batch_leaves(workload, rate);
    let under_way = rate * hardware.round_trip.as_secs_f64();
    let cores = f64::from(hardware.actor_count) * hardware.actor_cores;
    let most = (cores * f64::from(hardware.games_per_core)).max(1.0);
    ((waiting + under_way) / workload.leaves_per_game).clamp(1.0, most)
}

fn self_play_evaluations(workload: &Workload, assumptions: &Assumptions) -> f64 {
    let per_ply = workload.self_play_simulations * assumptions.evaluations_per_simulation;
    workload.self_play_games * workload.plies * per_ply
}

fn gate_game_evaluations(workload: &Workload, assumptions: &Assumptions) -> f64 {
    workload.plies * workload.gate_simulations * assumptions.evaluations_per_simulation
}

/// A gate takes as long as its evaluations, or as one of its games, which cannot be hurried: whichever is longer.
fn gate_seconds(hardware: &Hardware, workload: &Workload, assumptions: &Assumptions, rate: f64) -> f64 {
    let game = gate_game_evaluations(workload, assumptions);
    let share = if workload.is_overlapped { GATE_SHARE } else { 1.0 };
    // A batch takes what waits: beside the gate's leaves those of self-play, if that goes on.
    let of_self_play = games_in_flight(hardware, workload, rate) * workload.leaves_per_game;
    let beside = if workload.is_overlapped { of_self_play } else { 0.0 };
    let waiting = beside + workload.gate_games * workload.gate_leaves_per_game;
    let batch = batch_leaves(workload, rate).min(waiting);
    let answer_seconds = hardware.round_trip.as_secs_f64() + GATE_BATCHES * batch / rate;
    let last_game = LAST_GAME * game / workload.gate_leaves_per_game * answer_seconds;
    (workload.gate_games * game / (share * rate)).max(last_game)
}

fn disk_bytes(workload: &Workload, assumptions: &Assumptions) -> f64 {
    let games = workload.self_play_games + workload.gate_games;
    games * workload.plies * assumptions.ply_bytes + workload.network_bytes
}

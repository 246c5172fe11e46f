//! The model beside what was measured, and beside what must be so.

use shared::ids::Generation;

use super::*;
use crate::config::LearnerConfig;

const SETTINGS_OF_DAMA: Workload = Workload {
    is_overlapped: true,
    self_play_games: 120.0,
    gate_games: 36.4,
    plies: 96.0,
    self_play_simulations: 82.2,
    gate_simulations: 55.8,
    leaves_per_game: 2.0,
    gate_leaves_per_game: 2.0,
    batch_leaves_max: 128.0,
    batch_time_max: Duration::from_millis(50),
    batches_waiting: 3.0,
    samples: 76_800.0,
    network_bytes: 2e5,
    connections_max: 500,
};

/// One machine: inference and training on a thread each, one actor of 64 games.
const ONE_MACHINE: Hardware = Hardware {
    gpu_rate: 22_800.0,
    device_count: 1,
    training_rate: 6_280.0,
    is_training_shared: false,
    actor_count: 1,
    actor_cores: 1.0,
    games_per_core: 64,
    round_trip: Duration::from_micros(300),
    bandwidth: 1e10,
    learner_cores: 1.0,
    price_per_hour: 0.0,
};

fn assumptions() -> Assumptions {
    Assumptions::of(&LearnerConfig::default())
}

fn assert_near(what: &str, planned: f64, measured: f64) {
    let ratio = planned / measured;
    assert!((0.75..1.25).contains(&ratio), "{what}: planned {planned:.1}, measured {measured:.1}");
}

/// What was measured of a run on two busy cores, beside the plan from its rates.
struct Measured {
    name: &'static str,
    hardware: Hardware,
    workload: Workload,
    iteration_seconds: f64,
    /// `None` where training and gate took longer, and self-play made more games than it had to.
    iteration_evaluations: Option<f64>,
    gate_seconds: f64,
}

/// Four runs on two cores that they shared: `docs/performance.md`.
fn measured_runs() -> [Measured; 4] {
    let lockstep = Workload {
        is_overlapped: false,
        self_play_games: 200.0,
        gate_games: 52.3,
        plies: 108.5,
        self_play_simulations: 31.5,
        gate_simulations: 35.8,
        samples: 83_484.0,
        ..SETTINGS_OF_DAMA
    };
    let hive = Workload {
        self_play_games: 192.0,
        gate_games: 64.0,
        plies: 49.3,
        self_play_simulations: 47.2,
        gate_simulations: 55.4,
        samples: 36_864.0,
        ..lockstep
    };
    let small = Workload {
        self_play_games: 40.0,
        gate_games: 8.6,
        plies: 101.0,
        self_play_simulations: 29.3,
        gate_simulations: 27.8,
        samples: 10_240.0,
        ..SETTINGS_OF_DAMA
    };
    let at = |gpu_rate, training_rate| Hardware { gpu_rate, training_rate, games_per_core: 96, ..ONE_MACHINE };
    let few_games = Hardware { games_per_core: 32, ..at(4_734.0, 1_200.0) };
    let run = |name, hardware, workload, [iteration_seconds, gate_seconds]: [f64; 2], iteration_evaluations| Measured {
        name,
        hardware,
        workload,
        iteration_seconds,
        iteration_evaluations,
        gate_seconds,
    };
    [
        run("draughts, overlapped", ONE_MACHINE, SETTINGS_OF_DAMA, [32.8, 17.6], Some(747_000.0)),
        run("draughts, lockstep", at(19_480.0, 5_470.0), lockstep, [47.8, 11.4], Some(607_000.0)),
        run("Hive, lockstep", at(2_315.0, 544.0), hive, [249.7, 77.0], Some(441_000.0)),
        run("draughts, small", few_games, small, [33.5, 23.3], None),
    ]
}

#[test]
fn the_plan_is_within_a_quarter_of_what_was_measured() {
    for run in measured_runs() {
        let plan = plan(&run.hardware, &run.workload, &assumptions());
        if let Some(measured) = run.iteration_evaluations {
            assert_near(&format!("{}, evaluations", run.name), plan.iteration_evaluations, measured);
        }
        assert_near(&format!("{}, gate", run.name), plan.gate_seconds, run.gate_seconds);
        assert_near(&format!("{}, iteration", run.name), plan.iteration_seconds, run.iteration_seconds);
    }
}

#[test]
fn the_least_rate_is_the_limit() {
    let rented = Hardware { actor_count: 64, gpu_rate: 60_000.0, learner_cores: 4.0, ..ONE_MACHINE };
    let workload = SETTINGS_OF_DAMA;
    let limit = |hardware| plan(&hardware, &workload, &assumptions()).limit;
    assert_eq!(limit(rented), Limit::Devices);
    assert_eq!(limit(Hardware { device_count: 100, ..rented }), Limit::LearnerCores);
    assert_eq!(limit(Hardware { bandwidth: 20e6, ..rented }), Limit::Bandwidth);
    assert_eq!(limit(Hardware { round_trip: Duration::from_millis(200), ..rented }), Limit::GamesInFlight);
    let one_core = Hardware { actor_count: 1, actor_cores: 0.1, games_per_core: 4096, ..rented };
    assert_eq!(limit(one_core), Limit::ActorCores);
}

#[test]
fn more_of_what_limits_helps_and_more_of_the_rest_does_not() {
    let rate = |hardware| plan(&hardware, &SETTINGS_OF_DAMA, &assumptions()).evaluations_per_second;
    let rented = Hardware { actor_count: 64, gpu_rate: 20_000.0, learner_cores: 4.0, ..ONE_MACHINE };
    assert_eq!(rate(Hardware { device_count: 2, ..rented }), 2.0 * rate(rented));
    assert_eq!(rate(Hardware { actor_count: 128, ..rented }), rate(rented));
    let slow = Hardware { actor_count: 100_000, ..rented };
    assert_eq!(rate(slow), rate(rented));
}

#[test]
fn training_on_the_same_device_takes_its_time() {
    let workload = SETTINGS_OF_DAMA;
    let seconds = |is_training_shared| {
        let hardware = Hardware { is_training_shared, ..ONE_MACHINE };
        plan(&hardware, &workload, &assumptions())
    };
    let (apart, shared) = (seconds(false), seconds(true));
    assert!(shared.iteration_seconds > apart.iteration_seconds);
    assert!((shared.training_seconds - 2.0 * workload.samples / 6_280.0).abs() < 1e-9);
}

#[test]
fn the_settings_become_a_workload() {
    let mut config = LearnerConfig::default();
    config.self_play.search.full_search_share = 0.25;
    config.self_play.search.simulation_count = 800;
    config.self_play.search.fast_simulation_count = 160;
    let workload = Workload::of(&config, &assumptions(), (Generation::new(u32::MAX), u32::MAX), 1_000_000);
    assert_eq!(workload.self_play_simulations, 320.0);
    assert_eq!((workload.gate_games, workload.network_bytes), (360.0, 4e6));
    assert_eq!(workload.samples, 1000.0 * 512.0);
}

#[test]
fn a_run_costs_its_hours_and_its_searches_grow() {
    let config = LearnerConfig::default();
    let hardware = Hardware { gpu_rate: 20_000.0, actor_count: 8, price_per_hour: 2.0, ..ONE_MACHINE };
    let report = PlanReport::new(&config, hardware, assumptions()).expect("the default can be");
    assert!((report.start.price - 2.0 * report.start.hours).abs() < 1e-9);
    assert!(report.start.hours * 3600.0 <= 50.0 * report.plan.iteration_seconds + 1e-6);
    let crowd = Hardware { actor_count: 100_000, ..hardware };
    let notes = PlanReport::new(&config, crowd, assumptions()).expect("the default can be").notes.join("\n");
    for part in ["server.connections_max is 500", "core(s) of actors are enough", "calls a second"] {
        assert!(notes.contains(part), "{notes}");
    }
}

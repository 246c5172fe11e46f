//! The registry with Hive: openings of a gate, and random games played to their end.

use std::collections::HashSet;
use std::time::Instant;

use fixtures::{network_id, random_game, start_with};
use registry::{GatePlan, PlyStatus, SelfPlayPlan, StartPlan, rebuild};
use samples::buffer::SampleBuffer;
use samples::sampler::{BatchSampler, seed_of_step};
use shared::encoding::TrainingBatch;
use shared::encoding::hive::HiveEncoding;
use shared::game::hive::{Hive, HiveRules};
use shared::gate::GateSettings;
use shared::opening::random_openings;
use shared::search::SearchSettings;
use store::{Change, GameKind, NewNetwork};

fn encoding(game_type: &str) -> HiveEncoding {
    let rules = HiveRules { game_type: game_type.parse().expect("a game type"), ..HiveRules::default() };
    HiveEncoding::new(Hive::new(rules), 16)
}

#[test]
fn no_two_pairs_of_a_gate_start_alike() {
    for (game_type, opening_plies) in [("Base+MLP", 4), ("Base", 4), ("Base+MLP", 8)] {
        let (openings, distinct) = random_openings(&encoding(game_type), 200, opening_plies, 5);
        assert_eq!((openings.len(), distinct), (200, 200), "{game_type}");
        let different: HashSet<&Vec<String>> = openings.iter().collect();
        assert_eq!(different.len(), 200);
    }
}

#[test]
fn a_gate_of_hive_has_200_distinct_openings_and_goes_on_after_a_restart() {
    let run_dir = tempfile::tempdir().expect("a directory");
    let plan = GatePlan {
        candidate_id: network_id(2),
        best_id: network_id(1),
        iteration: 1,
        settings: GateSettings::default(),
        opening_plies: 4,
        search: SearchSettings::default().for_match(400),
    };
    let learner = start_with(encoding("Base+MLP"), run_dir.path());
    let network =
        |number| NewNetwork { network_id: network_id(number), file: "f".into(), sha256: "s".into(), training_step: 0 };
    let networks = vec![Change::AddNetwork(network(1)), Change::AddNetwork(network(2))];
    learner.store.write(networks).expect("stored");
    let report = learner.registry.begin_gate(&plan).expect("begun");
    assert_eq!((report.pair_count, report.distinct_opening_count), (200, 200));
    assert_eq!(learner.registry.progress().open_gate_count, 400);
    drop(learner);
    let learner = start_with(encoding("Base+MLP"), run_dir.path());
    assert_eq!(learner.registry.begin_gate(&plan).expect("resumed"), report);
    assert_eq!(learner.registry.progress().open_gate_count, 400);
    let leases = learner.registry.lease("e", GameKind::Gate, 400, Instant::now()).expect("leases").leases;
    let starts: HashSet<&Vec<String>> = leases.iter().map(|lease| &lease.moves).collect();
    assert_eq!((leases.len(), starts.len()), (400, 200));
}

#[test]
fn games_of_hive_are_learned_from_and_are_there_after_a_restart() {
    let run_dir = tempfile::tempdir().expect("a directory");
    let (learner, now) = (start_with(encoding("Base+MLP"), run_dir.path()), Instant::now());
    let plan = SelfPlayPlan {
        iteration: 1,
        search: SearchSettings::default(),
        starts: StartPlan::default(),
        game_count_max: None,
    };
    learner.registry.plan_self_play(Some(plan)).expect("planned");
    let leases = learner.registry.lease("a", GameKind::SelfPlay, 4, now).expect("leases").leases;
    for lease in &leases {
        let plies = random_game(&encoding("Base+MLP"), lease);
        let statuses = learner.registry.report("a", &plies, now).expect("stored");
        assert!(statuses.iter().all(|status| *status == PlyStatus::Accepted), "{statuses:?}");
    }
    assert_eq!(learner.registry.progress().finished_self_play_count, 4);
    let sample = |replay: &samples::buffer::SharedReplay| {
        let mut batch = TrainingBatch::default();
        let window = replay.fix_window(u64::MAX, u64::MAX);
        let mut sampler = BatchSampler::new(encoding("Base+MLP"));
        sampler.sample(replay, window, 64, seed_of_step(1, 9), &mut batch).expect("a batch");
        assert_eq!(batch.input.len(), 64);
        let sums = (0..64).map(|index| batch.policy_targets[batch.input.move_range(index)].iter().sum::<f32>());
        sums.for_each(|sum| assert!((sum - 1.0).abs() < 1e-4, "shares sum to {sum}"));
        (batch.input.planes, batch.input.policy_indices, batch.policy_targets, batch.value_targets)
    };
    let before = sample(&learner.replay);
    let (buffer, report) =
        rebuild(&encoding("Base+MLP"), &learner.store, SampleBuffer::new(1000), u64::MAX).expect("rebuilt");
    assert_eq!((report.game_count, report.quarantined_count), (4, 0));
    assert_eq!(sample(&samples::buffer::SharedReplay::new(buffer)), before);
}

//! Messages: round trips, sizes, and rubbish that must give an error and never a panic.

use proptest::prelude::*;
use prost::Message;
use shared::catalog::GameSpec;
use shared::encoding::dama::PolicyCoding;
use shared::game::dama::DamaRules;
use shared::game::hive::HiveRules;
use shared::ids::{GameId, Generation, NetworkId, NetworkRef};
use shared::record::{PlyRecord, PolicyTarget};
use shared::search::{FirstPlayUrgency, RootSelection, SearchSettings};
use shared::wire::{
    EvaluationHeader, LeafBatchBuilder, ReportedPly, WireError, game_spec_from_proto, game_spec_to_proto,
    network_ref_from_wire, network_ref_to_wire, ply_from_proto, ply_to_proto, read_evaluations, read_leaf_batch,
    search_settings_from_proto, search_settings_to_proto, write_evaluations,
};

/// The header of an answer whose header is of no interest.
const HEADER: EvaluationHeader = EvaluationHeader {
    batch_id: 1,
    network_id: NetworkId::FIRST,
    generation: Generation::new(0),
    uniform_prior_count: 0,
};

type Leaves = Vec<(Vec<u8>, Vec<u16>)>;

fn batch_of(leaves: &Leaves, builder: &mut LeafBatchBuilder) -> proto::LeafBatch {
    for (packed, indices) in leaves {
        builder.push(packed, indices).expect("leaves of a test are within the limits");
    }
    builder.finish(7, network_ref_from_wire(3))
}

fn leaves_of(batch: &proto::LeafBatch) -> Result<Leaves, WireError> {
    let leaf = |leaf: shared::wire::Leaf<'_>| (leaf.packed.to_vec(), leaf.policy_indices().collect());
    Ok(read_leaf_batch(batch)?.leaves().map(leaf).collect())
}

/// A position of a full Hive game (see `docs/wire.md`) with 60 legal moves.
fn hive_sized_leaves(leaf_count: usize) -> Leaves {
    let leaf = |seed: usize| {
        let packed = (0..80).map(|byte| (byte * 31 + seed) as u8).collect();
        (packed, (0..60).map(|index| (index * 89 + seed as u16) % 5488).collect())
    };
    (0..leaf_count).map(leaf).collect()
}

#[test]
fn a_leaf_with_60_moves_takes_at_most_400_bytes_both_ways() {
    for leaf_count in [16, 256] {
        let batch = batch_of(&hive_sized_leaves(leaf_count), &mut LeafBatchBuilder::default());
        let priors = vec![1.0 / 60.0; 60 * leaf_count];
        let answer = write_evaluations(HEADER, &priors, &vec![0.5; leaf_count]);
        let byte_count = batch.encoded_len() + answer.encoded_len();
        assert!(byte_count <= 400 * leaf_count, "{byte_count} bytes for {leaf_count} leaves");
        println!("{leaf_count} leaves: {:.1} bytes a leaf", byte_count as f64 / leaf_count as f64);
    }
}

#[test]
fn the_builder_starts_afresh_after_each_message() {
    let mut builder = LeafBatchBuilder::default();
    let leaves = hive_sized_leaves(5);
    for _ in 0..3 {
        let batch = batch_of(&leaves, &mut builder);
        assert!(builder.is_empty());
        assert_eq!(leaves_of(&batch).as_ref(), Ok(&leaves));
    }
    builder.push(&[1], &[1]).expect("a small leaf");
    builder.clear();
    assert_eq!(leaves_of(&builder.finish(1, NetworkRef::Best)), Ok(vec![]));
}

#[test]
fn oversized_leaves_are_refused_where_they_are_made() {
    let mut builder = LeafBatchBuilder::default();
    builder.push(&[0; 1025], &[1]).expect_err("too many bytes");
    builder.push(&[], &[1]).expect_err("no bytes");
    builder.push(&[0; 80], &[]).expect_err("no moves");
    builder.push(&[0; 80], &[0; 4097]).expect_err("too many moves");
    assert!(builder.is_empty());
}

#[test]
fn batches_that_contradict_themselves_are_refused() {
    let good = batch_of(&hive_sized_leaves(3), &mut LeafBatchBuilder::default());
    let refused = |change: &dyn Fn(&mut proto::LeafBatch), field: &str| {
        let mut batch = good.clone();
        change(&mut batch);
        let error = read_leaf_batch(&batch).expect_err("the batch is broken").to_string();
        assert!(error.contains(field), "{error}");
    };
    refused(&|batch| batch.position_lengths[1] += 1, "positions");
    refused(&|batch| batch.position_lengths[1] = u32::MAX, "position_lengths");
    refused(&|batch| batch.position_lengths[1] = 0, "position_lengths");
    refused(&|batch| batch.move_counts[1] -= 1, "policy_indices");
    refused(&|batch| batch.move_counts[1] = u32::MAX, "move_counts");
    refused(&|batch| batch.move_counts[1] = 0, "move_counts");
    refused(&|batch| batch.move_counts.truncate(2), "move_counts");
    refused(&|batch| batch.positions.truncate(10), "positions");
    refused(&|batch| batch.policy_indices.truncate(11), "policy_indices");
    refused(
        &|batch| {
            batch.position_lengths = vec![1; 20_000];
            batch.move_counts = vec![1; 20_000];
        },
        "position_lengths",
    );
}

#[test]
fn evaluations_come_back_as_sent() {
    let header = EvaluationHeader {
        batch_id: 9,
        network_id: NetworkId::new(4).expect("not 0"),
        generation: Generation::new(2),
        uniform_prior_count: 1,
    };
    let message = write_evaluations(header, &[0.25, 0.5, 1.0], &[-1.0, 0.125]);
    let (mut priors, mut values) = (vec![9.0], vec![9.0]);
    assert_eq!(read_evaluations(&message, 3, 2, &mut priors, &mut values), Ok(header));
    assert_eq!((priors, values), (vec![0.25, 0.5, 1.0], vec![-1.0, 0.125]));
}

#[test]
fn evaluations_that_do_not_fit_or_are_no_numbers_are_refused() {
    let read = |message: &proto::EvaluationBatch| {
        let (mut priors, mut values) = (vec![9.0], vec![9.0]);
        let error = read_evaluations(message, 2, 1, &mut priors, &mut values).expect_err("a broken answer");
        assert!(priors.is_empty() && values.is_empty());
        error
    };
    let write = |priors: &[f32], values: &[f32]| write_evaluations(HEADER, priors, values);
    assert!(matches!(read(&write(&[0.5], &[0.0])), WireError::Length { field: "priors", .. }));
    assert!(matches!(read(&write(&[0.5; 2], &[0.0; 2])), WireError::Length { field: "values", .. }));
    for prior in [f32::NAN, f32::INFINITY, -0.5, 2.0] {
        assert!(matches!(read(&write(&[0.5, prior], &[0.0])), WireError::Invalid { field: "priors", .. }), "{prior}");
    }
    for value in [f32::NAN, f32::NEG_INFINITY, 1.5] {
        assert!(matches!(read(&write(&[0.5; 2], &[value])), WireError::Invalid { field: "values", .. }), "{value}");
    }
    let refused = proto::EvaluationBatch { error: "no such network".into(), ..write(&[0.5; 2], &[0.0]) };
    assert_eq!(read(&refused), WireError::Refused("no such network".into()));
}

#[test]
fn tic_tac_toe_is_named_and_nothing_is_not() {
    let spec = GameSpec::TicTacToe {};
    assert_eq!(game_spec_from_proto(&game_spec_to_proto(&spec)), Ok(spec));
    assert_eq!(game_spec_from_proto(&proto::GameSpec { game: None }), Err(WireError::Missing("game")));
}

#[test]
fn dama_survives_the_wire_and_is_checked() {
    for policy in [PolicyCoding::Lossless, PolicyCoding::From4] {
        let spec = GameSpec::Dama { rules: DamaRules { ply_limit: 120 }, policy };
        assert_eq!(game_spec_from_proto(&game_spec_to_proto(&spec)), Ok(spec));
    }
    let error_of = |ply_limit, policy| {
        let dama = proto::DamaSpec { ply_limit, policy };
        let spec = proto::GameSpec { game: Some(proto::game_spec::Game::Dama(dama)) };
        game_spec_from_proto(&spec).expect_err("impossible").to_string()
    };
    assert_eq!(error_of(300, 7), "policy: there is no coding 7");
    assert_eq!(error_of(0, 1), "game.ply_limit: 0 is below 1");
}

#[test]
fn hive_survives_the_wire_and_is_checked() {
    for game_type in ["Base", "Base+M", "Base+LP", "Base+MLP"] {
        let rules = HiveRules {
            game_type: game_type.parse().expect("a game type"),
            ply_limit: 120,
            repetition_draw: false,
            queen_first_allowed: true,
            rest_counts: false,
        };
        let spec = GameSpec::Hive { rules, frame: 26 };
        assert_eq!(game_spec_from_proto(&game_spec_to_proto(&spec)), Ok(spec));
    }
    let hive = proto::HiveSpec { game_type: "Base+MLP".into(), ply_limit: 200, frame: 16, ..Default::default() };
    let error_of = |hive: proto::HiveSpec| {
        let spec = proto::GameSpec { game: Some(proto::game_spec::Game::Hive(hive)) };
        game_spec_from_proto(&spec).expect_err("impossible").to_string()
    };
    assert!(error_of(proto::HiveSpec { game_type: "Base+X".into(), ..hive.clone() }).contains("Base+X"));
    assert_eq!(error_of(proto::HiveSpec { frame: 272, ..hive.clone() }), "frame: 272 is not in 8..=32");
    assert_eq!(error_of(proto::HiveSpec { frame: 7, ..hive.clone() }), "game.frame: 7 is not in 8..=32");
    assert_eq!(error_of(proto::HiveSpec { ply_limit: 0, ..hive }), "game.ply_limit: 0 is below 1");
}

#[test]
fn search_settings_survive_the_wire_and_are_checked() {
    let settings = SearchSettings {
        simulation_count: 400,
        temperature_after: 0.25,
        first_play_urgency: FirstPlayUrgency::Zero,
        root: RootSelection::Gumbel,
        considered_move_count: 8,
        gumbel_visit_scale: 25.0,
        gumbel_value_scale: 0.5,
        full_search_share: 0.25,
        fast_simulation_count: 50,
        ..SearchSettings::default()
    };
    let message = search_settings_to_proto(&settings);
    assert_eq!(search_settings_from_proto(&message), Ok(settings));
    let broken = proto::SearchSettings { exploration: f32::NAN, ..message };
    let error = search_settings_from_proto(&broken).expect_err("no number");
    assert!(error.to_string().starts_with("search.exploration: NaN"), "{error}");
    let error = search_settings_from_proto(&proto::SearchSettings { root: 0, ..message }).expect_err("no root");
    assert_eq!(error.to_string(), "search.root: 0 is no way to search a root");
    let urgency = proto::SearchSettings { first_play_urgency: 7, ..message };
    let error = search_settings_from_proto(&urgency).expect_err("no urgency");
    assert_eq!(error.to_string(), "search.first_play_urgency: 7 is no value of an unvisited move");
}

fn reported_ply() -> impl Strategy<Value = ReportedPly> {
    let target = prop::collection::btree_map(any::<u16>(), 1u32..70_000, 0..80)
        .prop_map(|visits| PolicyTarget::from_visits(visits).ok());
    (
        any::<u64>(),
        any::<u32>(),
        "[ -~]{0,40}",
        target,
        -1.0f32..=1.0,
        any::<u32>(),
        any::<u32>().prop_map(NetworkId::new),
    )
        .prop_map(|(game_id, ply, move_text, policy_target, root_value, simulation_count, network_id)| {
            ReportedPly {
                game_id: GameId::new(game_id),
                ply,
                record: PlyRecord { move_text, policy_target, root_value, simulation_count, network_id },
            }
        })
}

/// Flips bytes, cuts off or inserts.
fn mutate(mut bytes: Vec<u8>, mutations: &[(u8, u16, u8)]) -> Vec<u8> {
    for (kind, place, byte) in mutations {
        let place = usize::from(*place) % (bytes.len() + 1);
        match kind % 3 {
            0 if place < bytes.len() => bytes[place] ^= byte,
            1 => bytes.truncate(place),
            _ => bytes.insert(place, *byte),
        }
    }
    bytes
}

fn mutations() -> impl Strategy<Value = Vec<(u8, u16, u8)>> {
    prop::collection::vec(any::<(u8, u16, u8)>(), 1..6)
}

fn leaves() -> impl Strategy<Value = Leaves> {
    let leaf = (prop::collection::vec(any::<u8>(), 1..100), prop::collection::vec(any::<u16>(), 1..100));
    prop::collection::vec(leaf, 0..12)
}

#[test]
fn the_number_0_asks_for_the_best_network_and_answers_for_none() {
    assert_eq!(network_ref_from_wire(0), NetworkRef::Best);
    let four = NetworkId::new(4).expect("not 0");
    assert_eq!([NetworkRef::Best, four.into()].map(network_ref_to_wire), [0, 4]);
    assert_eq!([NetworkRef::Best, four.into()].map(|network| network.resolve(NetworkId::FIRST).get()), [1, 4]);
    let nobody = proto::EvaluationBatch { network_id: 0, ..write_evaluations(HEADER, &[1.0], &[0.0]) };
    let error = read_evaluations(&nobody, 1, 1, &mut vec![], &mut vec![]).expect_err("no network answered");
    assert_eq!(error.to_string(), "network_id: 0 is no network");
}

proptest! {
    #[test]
    fn plies_survive_the_wire(reported in reported_ply()) {
        let bytes = ply_to_proto(&reported).encode_to_vec();
        let message = proto::Ply::decode(&bytes[..]).expect("just encoded");
        prop_assert_eq!(ply_from_proto(&message), Ok(reported));
    }

    #[test]
    fn broken_plies_never_panic(reported in reported_ply(), mutations in mutations()) {
        let bytes = mutate(ply_to_proto(&reported).encode_to_vec(), &mutations);
        if let Ok(read) = proto::Ply::decode(&bytes[..]).map_err(drop).and_then(|ply| ply_from_proto(&ply).map_err(drop)) {
            prop_assert!(read.record.root_value.abs() <= 1.0);
        }
    }

    #[test]
    fn leaves_survive_the_wire(leaves in leaves()) {
        let bytes = batch_of(&leaves, &mut LeafBatchBuilder::default()).encode_to_vec();
        let batch = proto::LeafBatch::decode(&bytes[..]).expect("just encoded");
        prop_assert_eq!((batch.batch_id, batch.network_id), (7, 3));
        let view = read_leaf_batch(&batch).expect("a good batch");
        prop_assert_eq!(view.len(), leaves.len());
        prop_assert_eq!(view.move_count(), leaves.iter().map(|(_, indices)| indices.len()).sum::<usize>());
        prop_assert_eq!(leaves_of(&batch), Ok(leaves));
    }

    #[test]
    fn broken_batches_never_panic(leaves in leaves(), mutations in mutations()) {
        let bytes = mutate(batch_of(&leaves, &mut LeafBatchBuilder::default()).encode_to_vec(), &mutations);
        let Ok(batch) = proto::LeafBatch::decode(&bytes[..]) else { return Ok(()) };
        let Ok(leaves) = leaves_of(&batch) else { return Ok(()) };
        let byte_count: usize = leaves.iter().map(|(packed, _)| packed.len()).sum();
        prop_assert_eq!(byte_count, batch.positions.len());
    }

    #[test]
    fn broken_evaluations_never_panic(
        priors in prop::collection::vec(0.0f32..=1.0, 1..40),
        values in prop::collection::vec(-1.0f32..=1.0, 1..10),
        mutations in mutations(),
    ) {
        let message = write_evaluations(HEADER, &priors, &values);
        let bytes = mutate(message.encode_to_vec(), &mutations);
        let Ok(message) = proto::EvaluationBatch::decode(&bytes[..]) else { return Ok(()) };
        let (mut read_priors, mut read_values) = (vec![], vec![]);
        if read_evaluations(&message, priors.len(), values.len(), &mut read_priors, &mut read_values).is_ok() {
            prop_assert_eq!((read_priors.len(), read_values.len()), (priors.len(), values.len()));
            prop_assert!(read_values.iter().all(|value| value.abs() <= 1.0));
        }
    }
}

//! Messages of learners and workers.

use prost::Message;
use shared::catalog::GameSpec;
use shared::encoding::dama::PolicyCoding;
use shared::game::dama::DamaRules;
use shared::game::hive::HiveRules;
use shared::ids::{Generation, NetworkId};
use shared::record::PolicyTarget;
use shared::search::{RootSelection, SearchSettings};
use shared::wire::{EvaluationHeader, game_spec_to_proto, search_settings_to_proto, write_evaluations};

use super::positions::{dama, hive, midgame};
use super::{Input, cut_off};

fn hive_spec() -> GameSpec {
    GameSpec::Hive { rules: HiveRules::default(), frame: 16 }
}

/// Leaves of two games, and batches whose parts do not belong together.
fn leaf_batches() -> Vec<Input> {
    let (hive, hive_indices) = midgame(&hive(), 24);
    let (dama, dama_indices) = midgame(&dama(), 24);
    let indices = [&hive_indices[..], &dama_indices].concat();
    let leaves = proto::LeafBatch {
        batch_id: 7,
        positions: [&hive[..], &dama].concat().into(),
        position_lengths: vec![hive.len() as u32, dama.len() as u32],
        policy_indices: indices.iter().flat_map(|index| index.to_le_bytes()).collect::<Vec<u8>>().into(),
        move_counts: vec![hive_indices.len() as u32, dama_indices.len() as u32],
        ..proto::LeafBatch::default()
    };
    let longer = proto::LeafBatch { position_lengths: vec![u32::MAX, dama.len() as u32], ..leaves.clone() };
    let fewer_moves = proto::LeafBatch { move_counts: vec![1], ..leaves.clone() };
    vec![
        ("leaf_batch/cut_off", cut_off(&leaves.encode_to_vec(), 9)),
        ("leaf_batch/two_games", leaves.encode_to_vec()),
        ("leaf_batch/longer_than_it_is", longer.encode_to_vec()),
        ("leaf_batch/fewer_moves", fewer_moves.encode_to_vec()),
    ]
}

/// Answers to three legal moves of two leaves.
fn evaluations() -> Vec<Input> {
    // Priors 0.5, 0.25, 0.25 in half precision, values 0.5 and -1.
    let answer = proto::EvaluationBatch {
        batch_id: 7,
        network_id: 3,
        generation: 2,
        priors: vec![0, 0x38, 0, 0x34, 0, 0x34].into(),
        values: [0.5_f32, -1.0].iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>().into(),
        ..proto::EvaluationBatch::default()
    };
    let not_a_number = proto::EvaluationBatch { priors: vec![0, 0x7e, 0, 0xfc, 0, 0x34].into(), ..answer.clone() };
    let asked = |moves: u8, leaves: u8, answer: &proto::EvaluationBatch| {
        [&[moves, leaves][..], &answer.encode_to_vec()].concat()
    };
    vec![
        ("evaluations/two_leaves", asked(3, 2, &answer)),
        ("evaluations/another_number", asked(9, 4, &answer)),
        ("evaluations/not_a_number", asked(3, 2, &not_a_number)),
    ]
}

fn plies() -> Vec<Input> {
    let target = PolicyTarget::from_visits([(17, 40), (4000, 60)]).expect("visits");
    let ply = proto::Ply {
        game_id: 9,
        move_text: "wS1".to_owned(),
        policy_target: target.to_bytes(),
        root_value: 0.25,
        simulation_count: 100,
        network_id: 3,
        ..proto::Ply::default()
    };
    let no_value = proto::Ply { root_value: f32::NAN, ..ply.clone() };
    let no_target = proto::Ply { policy_target: vec![], move_text: "pass".to_owned(), ..ply.clone() };
    vec![
        ("ply/first", ply.encode_to_vec()),
        ("ply/not_a_number", no_value.encode_to_vec()),
        ("ply/no_target", no_target.encode_to_vec()),
    ]
}

fn settings() -> Vec<Input> {
    let dama = GameSpec::Dama { rules: DamaRules::default(), policy: PolicyCoding::Lossless };
    let too_large = GameSpec::Hive { rules: HiveRules::default(), frame: 255 };
    let spec = |spec: &GameSpec| game_spec_to_proto(spec).encode_to_vec();
    let usual = SearchSettings::default();
    let search = |settings: &SearchSettings| search_settings_to_proto(settings).encode_to_vec();
    vec![
        ("game_spec/hive", spec(&hive_spec())),
        ("game_spec/dama", spec(&dama)),
        ("game_spec/tictactoe", spec(&GameSpec::TicTacToe {})),
        ("game_spec/large_frame", spec(&too_large)),
        ("search_settings/default", search(&usual)),
        ("search_settings/gumbel", search(&SearchSettings { root: RootSelection::Gumbel, ..usual.clone() })),
        ("search_settings/one_simulation", search(&SearchSettings { simulation_count: 1, ..usual.clone() })),
        ("search_settings/not_a_number", search(&SearchSettings { exploration: f32::NAN, ..usual })),
    ]
}

/// What a learner answers to a worker that joins and that asks for games.
fn answers() -> Vec<Input> {
    let join = proto::JoinReply {
        game: Some(game_spec_to_proto(&hive_spec())),
        lease_ms: 60_000,
        batches_in_flight_max: 32,
        batch_leaves_max: 128,
        best_network_id: 3,
        generation: 2,
    };
    let no_leaves = proto::JoinReply { batch_leaves_max: 0, ..join.clone() };
    let many_batches = proto::JoinReply { batches_in_flight_max: u32::MAX, ..join.clone() };
    let lease = proto::Lease {
        game_id: 9,
        kind: proto::GameKind::SelfPlay.into(),
        seed: 1,
        search: Some(search_settings_to_proto(&SearchSettings::default())),
        moves: ["wS1", "bS1 wS1-"].map(str::to_owned).to_vec(),
        opening_ply_count: 1,
        ..proto::Lease::default()
    };
    let gate = proto::Lease {
        kind: proto::GameKind::Gate.into(),
        white_network_id: 3,
        black_network_id: 4,
        start_position: "W:W21,K30:BK3".to_owned(),
        moves: vec!["21-17".to_owned()],
        ..lease.clone()
    };
    let illegal = proto::Lease { moves: vec!["wS1".to_owned(), "wS1".to_owned()], ..lease.clone() };
    let no_search = proto::Lease { search: None, ..lease.clone() };
    vec![
        ("join_reply/hive", join.encode_to_vec()),
        ("join_reply/no_leaves", no_leaves.encode_to_vec()),
        ("join_reply/many_batches", many_batches.encode_to_vec()),
        ("lease/hive", lease.encode_to_vec()),
        ("lease/gate_of_dama", gate.encode_to_vec()),
        ("lease/illegal_move", illegal.encode_to_vec()),
        ("lease/no_search", no_search.encode_to_vec()),
    ]
}

/// What an inference server says to a learner that lends it batches 1, 2, 3 of one, two, one leaves with two moves each.
fn inference_offers() -> Vec<Input> {
    let ask = |leaves_in_flight_max: u32| proto::InferenceOffer { leaves_in_flight_max, ..Default::default() };
    let answer = |batch_id: u64, values: &[f32]| {
        let header = EvaluationHeader {
            batch_id,
            network_id: NetworkId::FIRST,
            generation: Generation::default(),
            uniform_prior_count: 0,
        };
        let answer = Some(write_evaluations(header, &[0.25, 0.75].repeat(values.len()), values));
        proto::InferenceOffer { answer, active_cell_count: 9, ..ask(4) }
    };
    let first = proto::InferenceOffer { server: "gpu-2".to_owned(), ..ask(4) };
    let refused = proto::EvaluationBatch { batch_id: 2, error: "not here".to_owned(), ..Default::default() };
    let give_back = proto::InferenceOffer { answer: Some(refused), ..ask(u32::MAX) };
    let lie = proto::InferenceOffer { active_cell_count: u64::MAX, ..answer(3, &[1.0]) };
    let session = |offers: &[&proto::InferenceOffer]| {
        offers.iter().flat_map(|offer| offer.encode_length_delimited_to_vec()).collect::<Vec<u8>>()
    };
    let answers = session(&[&first, &answer(2, &[0.5, -0.5]), &answer(1, &[0.0]), &lie]);
    vec![
        ("inference_offers/cut_off", cut_off(&answers, 5)),
        ("inference_offers/answers", answers),
        ("inference_offers/gives_back", session(&[&first, &give_back, &ask(0), &answer(1, &[0.0])])),
        ("inference_offers/answers_twice", session(&[&first, &answer(1, &[0.0]), &answer(1, &[0.0])])),
        ("inference_offers/other_length", session(&[&first, &answer(1, &[0.0, 1.0])])),
        ("inference_offers/nothing_lent", session(&[&ask(0), &answer(1, &[0.0])])),
    ]
}

pub fn inputs() -> Vec<Input> {
    [leaf_batches(), evaluations(), inference_offers(), plies(), settings(), answers()].concat()
}

//! Messages of peers: what is accepted is within its bounds, and comes out of a round trip unchanged.

use prost::Message;
use shared::encoding::Encoding;
use shared::encoding::dama::{DamaEncoding, PolicyCoding};
use shared::encoding::hive::HiveEncoding;
use shared::game::Game;
use shared::game::dama::Dama;
use shared::game::hive::{Hive, HiveRules};
use shared::game::tictactoe::TicTacToe;
use shared::record::PolicyTarget;
use shared::wire::{
    BATCH_LEAF_COUNT_MAX, game_spec_from_proto, game_spec_to_proto, ply_from_proto, ply_to_proto, read_evaluations,
    read_leaf_batch, search_settings_from_proto, search_settings_to_proto,
};
use worker::{LearnerTerms, LeaseTerms};

/// Leaves of a batch, as the learner reads and encodes them.
pub fn leaf_batch(bytes: &[u8]) {
    let Ok(message) = proto::LeafBatch::decode(bytes) else { return };
    let Ok(batch) = read_leaf_batch(&message) else { return };
    let mut move_count = 0;
    for leaf in batch.leaves() {
        let policy_indices: Vec<u16> = leaf.policy_indices().collect();
        move_count += policy_indices.len();
        encode_leaf(&HiveEncoding::new(Hive::new(HiveRules::default()), 16), leaf.packed, &policy_indices);
        encode_leaf(&DamaEncoding::new(Dama::default(), PolicyCoding::Lossless), leaf.packed, &policy_indices);
    }
    assert_eq!((batch.leaves().count(), move_count), (batch.len(), batch.move_count()), "the counts of a batch");
}

fn encode_leaf<E: Encoding>(encoding: &E, packed: &[u8], policy_indices: &[u16]) {
    let mut position = encoding.game().initial_position();
    if encoding.unpack(packed, &mut position).is_err() {
        return;
    }
    let mut cells = Vec::new();
    if encoding.move_cells(&position, policy_indices, &mut cells).is_ok() {
        assert_eq!(cells.len(), policy_indices.len(), "cells of each policy index");
    }
}

/// An answer to a batch. The first two bytes say how many legal moves and leaves were asked for.
pub fn evaluations(bytes: &[u8]) {
    let [move_count, leaf_count, rest @ ..] = bytes else { return };
    let Ok(message) = proto::EvaluationBatch::decode(rest) else { return };
    let (mut priors, mut values) = (Vec::new(), Vec::new());
    let (move_count, leaf_count) = (usize::from(*move_count), usize::from(*leaf_count));
    let answer = read_evaluations(&message, move_count, leaf_count, &mut priors, &mut values);
    let expected = if answer.is_ok() { (move_count, leaf_count) } else { (0, 0) };
    assert_eq!((priors.len(), values.len()), expected, "numbers of an answer");
    assert!(priors.iter().all(|prior| (0.0..=1.001).contains(prior)), "priors {priors:?}");
    assert!(values.iter().all(|value| (-1.0..=1.0).contains(value)), "values {values:?}");
}

/// A reported ply.
pub fn ply(bytes: &[u8]) {
    let Ok(message) = proto::Ply::decode(bytes) else { return };
    let Ok(reported) = ply_from_proto(&message) else { return };
    let again = ply_from_proto(&ply_to_proto(&reported));
    assert_eq!(again.as_ref(), Ok(&reported), "a ply after a round trip");
}

/// The game that a learner names to its workers.
pub fn game_spec(bytes: &[u8]) {
    let Ok(message) = proto::GameSpec::decode(bytes) else { return };
    let Ok(spec) = game_spec_from_proto(&message) else { return };
    assert!(spec.check().is_ok(), "an accepted game can be played: {spec:?}");
    assert_eq!(game_spec_from_proto(&game_spec_to_proto(&spec)).as_ref(), Ok(&spec), "a game after a round trip");
    let json = serde_json::to_string(&spec).unwrap_or_else(|error| panic!("{spec:?}: {error}"));
    assert_eq!(serde_json::from_str(&json).ok(), Some(spec), "a game after a round trip as JSON");
}

/// The learner's answer to a worker that joins.
pub fn join_reply(bytes: &[u8]) {
    let Ok(message) = proto::JoinReply::decode(bytes) else { return };
    let Ok(terms) = LearnerTerms::from_proto(&message) else { return };
    assert!(terms.game.check().is_ok(), "an accepted game can be played: {:?}", terms.game);
    assert!((1..=BATCH_LEAF_COUNT_MAX).contains(&terms.batch_leaves_max), "leaves of a batch");
    assert!(terms.batches_in_flight_max > 0, "a worker that may send nothing");
}

/// A lease of each game, as a worker reads it.
pub fn lease(bytes: &[u8]) {
    let Ok(message) = proto::Lease::decode(bytes) else { return };
    lease_of(&Hive::new(HiveRules::default()), &message);
    lease_of(&Dama::default(), &message);
    lease_of(&TicTacToe, &message);
}

fn lease_of<G: Game>(game: &G, lease: &proto::Lease) {
    let Ok(terms) = LeaseTerms::from_proto(game, lease) else { return };
    assert!(terms.settings.check().is_ok(), "accepted settings can be searched with");
    assert_eq!(terms.ply_count as usize, lease.moves.len(), "plies of a lease");
    let mut moves = Vec::new();
    game.legal_moves(&terms.position, &mut moves);
    assert!(game.outcome(&terms.position).is_some() || !moves.is_empty(), "a game that goes on has moves");
}

/// Settings of a search that a learner sends.
pub fn search_settings(bytes: &[u8]) {
    let Ok(message) = proto::SearchSettings::decode(bytes) else { return };
    let Ok(settings) = search_settings_from_proto(&message) else { return };
    let again = search_settings_from_proto(&search_settings_to_proto(&settings));
    assert_eq!(again.as_ref(), Ok(&settings), "settings after a round trip");
}

/// A policy target, as plies and data sets carry it.
pub fn policy_target(bytes: &[u8]) {
    let Ok(target) = PolicyTarget::from_bytes(bytes) else { return };
    assert_eq!(target.to_bytes(), bytes, "a policy target after a round trip");
    assert!(target.weight_sum() > 0, "a policy target without weights");
}

//! Packed positions and records of games: what is accepted has legal moves that can be encoded and played.

use shared::encoding::Encoding;
use shared::encoding::dama::{DamaEncoding, PolicyCoding};
use shared::encoding::hive::HiveEncoding;
use shared::encoding::tictactoe::TicTacToeEncoding;
use shared::game::Game;
use shared::game::dama::Dama;
use shared::game::hive::{Hive, HiveRules};
use shared::game::tictactoe::TicTacToe;
use shared::record::{GameRecord, PlyRecord, replay};

/// Most plies of a record that are replayed.
const PLY_COUNT_MAX: usize = 200;

/// A packed position of Hive.
pub fn packed_hive(bytes: &[u8]) {
    packed(&hive(), bytes);
}

/// A packed position of draughts.
pub fn packed_dama(bytes: &[u8]) {
    packed(&dama(), bytes);
}

/// A packed position of tic-tac-toe.
pub fn packed_tictactoe(bytes: &[u8]) {
    packed(&TicTacToeEncoding::new(TicTacToe), bytes);
}

/// A record of Hive: an empty line, then a move a line.
pub fn record_hive(bytes: &[u8]) {
    record(&hive(), bytes);
}

/// A record of draughts: the start position in the first line (empty for the usual one), then a move a line.
pub fn record_dama(bytes: &[u8]) {
    record(&dama(), bytes);
}

fn hive() -> HiveEncoding {
    HiveEncoding::new(Hive::new(HiveRules::default()), 16)
}

fn dama() -> DamaEncoding {
    DamaEncoding::new(Dama::default(), PolicyCoding::Lossless)
}

fn packed<E: Encoding>(encoding: &E, bytes: &[u8]) {
    let game = encoding.game();
    let mut position = game.initial_position();
    if encoding.unpack(bytes, &mut position).is_err() {
        return;
    }
    let mut planes = vec![f32::NAN; encoding.plane_shape().len()];
    encoding.encode(&position, &mut planes);
    assert!(planes.iter().all(|number| number.is_finite()), "planes of a position");
    let (mut moves, mut policy_indices, mut cells) = (Vec::new(), Vec::new(), Vec::new());
    game.legal_moves(&position, &mut moves);
    encoding.policy_indices(&position, &moves, &mut policy_indices);
    assert!(policy_indices.iter().all(|index| usize::from(*index) < encoding.policy_size()), "policy indices");
    assert!(encoding.move_cells(&position, &policy_indices, &mut cells).is_ok(), "cells of legal moves");
    for mv in moves {
        let text = game.format_move(&position, mv);
        assert!(game.parse_move(&position, &text).is_ok(), "the text of a legal move: {text}");
        game.play(&mut position.clone(), mv);
    }
}

fn record<E: Encoding>(encoding: &E, bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let mut lines = text.lines();
    let start = lines.next().filter(|line| !line.is_empty()).map(str::to_owned);
    let ply = |line: &str| PlyRecord { move_text: line.to_owned(), ..PlyRecord::default() };
    let plies: Vec<PlyRecord> = lines.take(PLY_COUNT_MAX).map(ply).collect();
    let record = GameRecord { start, plies, ..GameRecord::default() };
    if let Ok(game) = replay(encoding, &record) {
        assert_eq!(game.ply_count as usize, record.plies.len(), "plies of a game");
    }
}

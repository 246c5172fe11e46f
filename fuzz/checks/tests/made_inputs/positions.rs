//! Packed positions, policy targets, and data sets.

use std::fs;

use samples::dataset::{DataSetGame, DataSetWriter};
use shared::catalog::GameSpec;
use shared::encoding::Encoding;
use shared::encoding::dama::{DamaEncoding, PolicyCoding};
use shared::encoding::hive::HiveEncoding;
use shared::encoding::tictactoe::TicTacToeEncoding;
use shared::game::Game;
use shared::game::dama::Dama;
use shared::game::hive::{GameType, Hive, HiveRules};
use shared::game::tictactoe::TicTacToe;
use shared::record::{GameRecord, PlyRecord, PolicyTarget, replay};

use super::{Input, cut_off};

/// The packed form of a position after so many plies, or of the last one of its game, and the indices of its legal moves.
pub fn midgame<E: Encoding>(encoding: &E, ply_count: usize) -> (Vec<u8>, Vec<u16>) {
    let game = encoding.game();
    let mut position = game.initial_position();
    let mut moves = Vec::new();
    for ply in 0..ply_count {
        moves.clear();
        game.legal_moves(&position, &mut moves);
        if moves.is_empty() {
            break;
        }
        game.play(&mut position, moves[ply * 7 % moves.len()]);
    }
    moves.clear();
    game.legal_moves(&position, &mut moves);
    let (mut packed, mut policy_indices) = (Vec::new(), Vec::new());
    encoding.pack(&position, &mut packed);
    encoding.policy_indices(&position, &moves, &mut policy_indices);
    (packed, policy_indices)
}

pub fn hive() -> HiveEncoding {
    HiveEncoding::new(Hive::new(HiveRules::default()), 16)
}

pub fn dama() -> DamaEncoding {
    DamaEncoding::new(Dama::default(), PolicyCoding::Lossless)
}

/// A data set of one game of tic-tac-toe.
fn data_set() -> Vec<u8> {
    let moves = ["b2", "a1", "b3", "a2", "b1"];
    let ply = |text: &str| PlyRecord { move_text: text.to_owned(), ..PlyRecord::default() };
    let record = GameRecord { plies: moves.map(ply).to_vec(), ..GameRecord::default() };
    let game = replay(&TicTacToeEncoding::new(TicTacToe), &record).expect("a legal game");
    let folder = tempfile::tempdir().expect("a directory");
    let path = folder.path().join("set");
    let mut writer = DataSetWriter::create(&path, &GameSpec::TicTacToe {}).expect("a data set");
    let (outcome, ply_count, samples) = (game.outcome.expect("a finished game"), game.ply_count, game.samples);
    let game = DataSetGame { outcome, is_from_endgame: false, is_cut_off: false, ply_count, samples };
    writer.push(&game).expect("a written game");
    writer.finish().expect("a written data set");
    fs::read(&path).expect("the data set")
}

/// A position of Base, packed for Base+MLP.
fn base_position() -> Vec<u8> {
    let base = Hive::new(HiveRules { game_type: GameType::default(), ..HiveRules::default() });
    let mut packed = Vec::new();
    hive().pack(&base.initial_position(), &mut packed);
    packed
}

pub fn inputs() -> Vec<Input> {
    let tictactoe = TicTacToeEncoding::new(TicTacToe);
    let (hive_midgame, dama_midgame) = (midgame(&hive(), 24).0, midgame(&dama(), 24).0);
    let set = data_set();
    let mut damaged_set = set.clone();
    let last = damaged_set.len() - 1;
    damaged_set[last] ^= 1;
    let target = PolicyTarget::from_visits([(17, 40), (4000, 60)]).expect("visits").to_bytes();
    vec![
        ("packed_hive/base", base_position()),
        ("packed_hive/start", midgame(&hive(), 0).0),
        ("packed_hive/finished", midgame(&hive(), 200).0),
        ("packed_hive/cut_off", cut_off(&hive_midgame, 1)),
        ("packed_hive/midgame", hive_midgame),
        ("packed_dama/start", midgame(&dama(), 0).0),
        ("packed_dama/cut_off", cut_off(&dama_midgame, 1)),
        ("packed_dama/midgame", dama_midgame),
        ("packed_tictactoe/start", midgame(&tictactoe, 0).0),
        ("packed_tictactoe/midgame", midgame(&tictactoe, 4).0),
        ("packed_tictactoe/one_square_of_both", vec![1, 0, 1, 0]),
        ("packed_tictactoe/no_square", vec![0, 2, 0, 0]),
        ("data_set/cut_off", cut_off(&set, set.len() / 4)),
        ("data_set/damaged", damaged_set),
        ("data_set/one_game", set),
        ("policy_target/falling", [&target[4..], &target[..4]].concat()),
        ("policy_target/cut_off", cut_off(&target, 1)),
        ("policy_target/two_moves", target),
    ]
}

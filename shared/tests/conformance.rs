//! The laws of games and encodings, on every game there is.

use shared::encoding::dama::{DamaEncoding, PolicyCoding};
use shared::encoding::tictactoe::TicTacToeEncoding;
use shared::game::conformance::{check_encoding, check_game};
use shared::game::dama::{Dama, DamaRules};
use shared::game::hive::{GameType, Hive, HiveRules};
use shared::game::tictactoe::TicTacToe;

#[test]
fn tictactoe_keeps_the_laws_of_a_game() {
    check_game(&TicTacToe, 1, 500);
}

#[test]
fn hive_keeps_the_laws_of_a_game() {
    for (seed, text) in ["Base", "Base+M", "Base+L", "Base+P", "Base+MLP"].into_iter().enumerate() {
        let game_type: GameType = text.parse().expect("a game type");
        check_game(&Hive::new(HiveRules { game_type, ..HiveRules::default() }), seed as u64 * 100, 2);
    }
}

#[test]
fn dama_keeps_the_laws_of_a_game() {
    check_game(&Dama::default(), 1, 100);
    check_game(&Dama::new(DamaRules { ply_limit: 60 }), 1000, 50);
}

#[test]
fn the_encoding_of_tictactoe_keeps_the_laws() {
    check_encoding(&TicTacToeEncoding::new(TicTacToe), 1, 100);
}

#[test]
fn the_encodings_of_dama_keep_the_laws() {
    for coding in [PolicyCoding::Lossless, PolicyCoding::From4] {
        check_encoding(&DamaEncoding::new(Dama::default(), coding), 1, 20);
    }
}

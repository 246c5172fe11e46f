//! The laws of games and encodings, on every game there is.

use shared::conformance::{check_encoding, check_endgames, check_game};
use shared::encoding::dama::{DamaEncoding, PolicyCoding};
use shared::encoding::tictactoe::TicTacToeEncoding;
use shared::game::Game;
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
fn dama_has_endgames_to_begin_from_and_other_games_say_that_they_have_none() {
    check_endgames(&Dama::default(), 1, 300);
    let error = |text| Dama::default().parse_start(text).expect_err("no start").to_string();
    assert_eq!(error("B:W21:B"), "start position \"B:W21:B\": the game is over there");
    assert_eq!(error("W:W21:B21"), "start position \"W:W21:B21\": two pieces on square 21");
    assert!(error(&"9".repeat(10_000)).len() < 300, "a long text is cut");
    assert_eq!(TicTacToe.random_endgame(1), None);
    let error = TicTacToe.parse_start("W:W21:B1").expect_err("no start").to_string();
    assert!(error.ends_with("this game begins from its initial position alone"), "{error}");
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

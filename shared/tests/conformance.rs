//! The laws of games and encodings, on tic-tac-toe.

use shared::encoding::tictactoe::TicTacToeEncoding;
use shared::game::conformance::{check_encoding, check_game};
use shared::game::tictactoe::TicTacToe;

#[test]
fn tictactoe_keeps_the_laws_of_a_game() {
    check_game(&TicTacToe, 1, 500);
}

#[test]
fn the_encoding_of_tictactoe_keeps_the_laws() {
    check_encoding(&TicTacToeEncoding::new(TicTacToe), 1, 100);
}

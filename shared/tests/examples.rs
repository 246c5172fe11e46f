//! The examples run, and what they assert holds.

#[path = "../examples/encoding.rs"]
mod encoding;
#[path = "../examples/nim.rs"]
mod nim;
#[path = "../examples/tictactoe.rs"]
mod tictactoe;

#[test]
fn a_position_is_shown_to_a_network() {
    encoding::main().expect("the example runs");
}

#[test]
fn nim_is_solved() {
    nim::main().expect("the example runs");
}

#[test]
fn tictactoe_is_drawn() {
    tictactoe::main().expect("the example runs");
}

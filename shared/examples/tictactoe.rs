//! Tic-tac-toe played by search: rollouts evaluate the leaves, so no network is needed.
//!
//! `cargo run -p shared --example tictactoe`

use std::error::Error;

use shared::game::tictactoe::{Position, Square, TicTacToe};
use shared::game::{Game, Outcome, Side};
use shared::search::{RolloutEvaluator, Search, SearchSettings, simulate};

/// Plays a game of the search against itself.
pub fn main() -> Result<(), Box<dyn Error>> {
    let game = TicTacToe;
    let mut position = game.initial_position();
    while game.outcome(&position).is_none() {
        let mv = best_move(game, position)?;
        println!("{:?} plays {}", game.side_to_move(&position), game.format_move(&position, mv));
        game.play(&mut position, mv);
        println!("{}", drawn(&position));
    }
    println!("{:?}", game.outcome(&position));
    assert_eq!(game.outcome(&position), Some(Outcome::Draw), "neither side makes a mistake");
    Ok(())
}

/// Searches a position with 2,000 simulations and returns the most visited move.
fn best_move(game: TicTacToe, position: Position) -> Result<Square, Box<dyn Error>> {
    // No noise, always the best move: as in a match.
    let settings = SearchSettings::default().for_match(2_000);
    let mut search = Search::new(game, position, settings, 1)?;
    let mut evaluator = RolloutEvaluator::new(1);
    // The search hands out a leaf, the evaluator answers it, the search backs the value up. It also ends early: once the
    // result of the position is proven.
    while !search.is_done() {
        simulate(&mut search, &mut evaluator)?;
    }
    println!("{} simulations, value {:+.2}", search.simulation_count(), search.root_value().get());
    Ok(search.choose_move())
}

fn drawn(position: &Position) -> String {
    let mark = |index: u16| match 1 << index {
        bit if position.marks(Side::White) & bit != 0 => 'X',
        bit if position.marks(Side::Black) & bit != 0 => 'O',
        _ => '.',
    };
    (0..3).map(|row| (0..3).map(|column| mark(3 * row + column)).collect::<String>() + "\n").collect()
}

//! What the tests of the search share: boards as text and a fake network.

#![allow(dead_code, reason = "each test binary uses its part")]

use shared::game::tictactoe::{Position, Square, TicTacToe};
use shared::game::{Game, Value};
use shared::search::{LeafId, LeafSource, Request, Search, SearchSettings};
use xxhash_rust::xxh3::xxh3_64_with_seed;

pub const GAME: TicTacToe = TicTacToe;

/// Reads a board like `XX./OO./...`.
pub fn board(text: &str) -> Position {
    let squares: Vec<char> = text.chars().filter(|c| *c != '/').collect();
    let marks = |mark| (0..9).fold(0, |bits, i| bits | u16::from(squares[i] == mark) << i);
    Position::from_marks(marks('X'), marks('O')).expect("a possible board")
}

/// An opinion about each position, drawn from its hash: always the same, otherwise without sense.
pub fn fake_network(position: &Position, moves: &[Square], priors: &mut [f32]) -> Value {
    let draw = |seed| (xxh3_64_with_seed(&GAME.hash(position).to_le_bytes(), seed) % 1000) as f32 / 1000.0;
    for (prior, mv) in priors.iter_mut().zip(moves) {
        *prior = draw(mv.index() as u64 + 1).powi(2) + 0.01;
    }
    Value::new(draw(0) - 0.5)
}

/// Answers a leaf with the fake network.
pub fn answer(source: &mut impl LeafSource<TicTacToe>, leaf: LeafId) -> Value {
    let mut priors = vec![0.0; source.leaf_moves(leaf).len()];
    let value = fake_network(source.leaf_position(leaf), source.leaf_moves(leaf), &mut priors);
    source.expand(leaf, &priors, value);
    value
}

/// Makes a search and runs `count` simulations one after the other.
pub fn searched(position: Position, settings: SearchSettings, seed: u64, count: u32) -> Search<TicTacToe> {
    let mut search = Search::new(GAME, position, settings, seed).expect("a game that goes on");
    simulate(&mut search, count);
    search
}

/// Runs `count` more simulations one after the other, or fewer if the search is done.
pub fn simulate(search: &mut Search<TicTacToe>, count: u32) {
    for _ in 0..count {
        if let Request::Evaluate(leaf) = search.select_leaf() {
            answer(search, leaf);
        }
    }
}

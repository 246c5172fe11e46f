//! A game of one's own in one file: Nim with one heap, of which each side takes one to three sticks in turn. Whoever takes
//! the last stick wins.
//!
//! The rules are a type that implements [`Game`]. The laws of the trait are checked on random games, and the search plays
//! it at once. A game that networks learn also needs an `Encoding`: `encoding.rs` beside this file shows one.
//!
//! `cargo run -p shared --example nim`

use std::error::Error;

use shared::conformance::check_game;
use shared::game::{Game, MoveError, MoveNumber, Outcome, Side};
use shared::search::{Proof, RolloutEvaluator, Search, SearchSettings, simulate};

/// The rules, with the number of sticks at the start.
#[derive(Debug, Clone, Copy)]
struct Nim {
    stick_count: u8,
}

/// The sticks that are left, and the plies played.
#[derive(Debug, Clone, Copy)]
struct Heap {
    stick_count: u8,
    ply: u32,
}

/// How many sticks are taken, 1 to 3.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Take(u8);

impl MoveNumber for Take {
    fn number(self) -> u16 {
        self.0.into()
    }

    fn of_number(number: u16) -> Self {
        Self((number % 4) as u8)
    }
}

impl Game for Nim {
    type Position = Heap;
    type Move = Take;

    fn initial_position(&self) -> Heap {
        Heap { stick_count: self.stick_count, ply: 0 }
    }

    fn legal_moves(&self, position: &Heap, moves: &mut Vec<Take>) {
        moves.extend((1..=position.stick_count.min(3)).map(Take));
    }

    fn play(&self, position: &mut Heap, mv: Take) {
        position.stick_count -= mv.0;
        position.ply += 1;
    }

    fn outcome(&self, position: &Heap) -> Option<Outcome> {
        let last = self.side_to_move(position).opponent();
        (position.stick_count == 0).then_some(Outcome::Win(last))
    }

    fn side_to_move(&self, position: &Heap) -> Side {
        if position.ply.is_multiple_of(2) { Side::White } else { Side::Black }
    }

    fn ply(&self, position: &Heap) -> u32 {
        position.ply
    }

    fn hash(&self, position: &Heap) -> u64 {
        // The side to move is part of a position: it follows from the ply.
        u64::from(position.stick_count) << 1 | u64::from(position.ply % 2)
    }

    fn is_cut_off(&self, _position: &Heap) -> bool {
        false
    }

    fn format_move(&self, _position: &Heap, mv: Take) -> String {
        mv.0.to_string()
    }

    fn parse_move(&self, position: &Heap, text: &str) -> Result<Take, MoveError> {
        let (owned, ply) = (text.to_owned(), position.ply);
        if self.outcome(position).is_some() {
            return Err(MoveError::GameOver { text: owned, ply });
        }
        match text.parse() {
            Ok(count @ 1..=3) if count <= position.stick_count => Ok(Take(count)),
            Ok(1..=3) => Err(MoveError::Illegal { text: owned, ply }),
            _ => Err(MoveError::Unreadable { text: owned, reason: "take 1, 2 or 3 sticks".to_owned() }),
        }
    }
}

/// Solves heaps of up to 21 sticks.
pub fn main() -> Result<(), Box<dyn Error>> {
    check_game(&Nim { stick_count: 21 }, 1, 100);
    for stick_count in 1..=21 {
        let (proof, mv) = solve(Nim { stick_count })?;
        // Known since Bouton (1901): a heap of a multiple of four is lost, from any other one is left to the opponent.
        let expected = if stick_count.is_multiple_of(4) { Proof::Loss } else { Proof::Win };
        assert_eq!(proof, expected, "{stick_count} sticks");
        println!("{stick_count:2} sticks: {proof:?}, take {}", mv.0);
    }
    Ok(())
}

/// Searches until the result of the first position is proven.
fn solve(game: Nim) -> Result<(Proof, Take), Box<dyn Error>> {
    let settings = SearchSettings::default().for_match(100_000);
    let mut search = Search::new(game, game.initial_position(), settings, 1)?;
    let mut evaluator = RolloutEvaluator::new(1);
    while !search.is_done() {
        simulate(&mut search, &mut evaluator)?;
    }
    let mv = search.choose_move();
    assert!(search.proof() != Proof::Win || (game.stick_count - mv.0).is_multiple_of(4), "the winning move is chosen");
    Ok((search.proof(), mv))
}

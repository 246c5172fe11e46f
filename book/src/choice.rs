//! Which moves of a book can be played, and which one is.

use shared::catalog::NetworkGame;
use shared::game::{Game, Outcome};

use crate::contents::{Book, Results};
use crate::key::{moves_with_keys, position_key};

/// A legal move with what the book knows of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BookMove<M> {
    /// The move; of several that a symmetry makes equal, the first.
    pub mv: M,
    /// The games in which it, or one equal to it, was played.
    pub results: Results,
}

impl Book {
    /// Returns the legal moves of `position` that the book holds, the most played first. The book must be of `game`.
    #[must_use]
    pub fn moves<G: NetworkGame>(&self, game: &G, position: &G::Position) -> Vec<BookMove<G::Move>> {
        let encoding = game.encoding(G::USUAL_VIEW);
        let entries = self.entries_of(position_key(&encoding, position));
        if entries.is_empty() {
            return Vec::new();
        }
        let legal = moves_with_keys(&encoding, position);
        let with_move = |entry: &crate::BookEntry| {
            let (_, mv) = legal.iter().find(|(after, _)| *after == entry.after)?;
            Some(BookMove { mv: *mv, results: entry.results })
        };
        let mut moves: Vec<_> = entries.iter().filter_map(with_move).collect();
        moves.sort_by_key(|found| std::cmp::Reverse((found.results.game_count(), found.results.weight())));
        moves
    }

    /// Chooses a move for `position`; `share` / 2^32 is a random number. The chance of a move is its part of the points that
    /// all of them scored. A move is left out that never scored, that ends the game in a loss or a draw, as a third
    /// occurrence does, or that the opponent can answer by winning at once. `None` if no move is left.
    #[must_use]
    pub fn choose<G: NetworkGame>(&self, game: &G, position: &G::Position, share: u32) -> Option<BookMove<G::Move>> {
        let mut moves = self.moves(game, position);
        moves.retain(|found| found.results.weight() > 0 && is_safe(game, position, found.mv));
        let total: u128 = moves.iter().map(|found| u128::from(found.results.weight())).sum();
        let mut rest = (total * u128::from(share)) >> 32;
        moves.into_iter().find(|found| {
            let weight = u128::from(found.results.weight());
            let is_it = rest < weight;
            rest = rest.saturating_sub(weight);
            is_it
        })
    }
}

/// Returns whether the game goes on after `mv`, or is won, and the opponent has no reply that wins.
fn is_safe<G: Game>(game: &G, position: &G::Position, mv: G::Move) -> bool {
    let opponents = Outcome::Win(game.side_to_move(position).opponent());
    let after = |before: &G::Position, mv: G::Move| {
        let mut after = before.clone();
        game.play(&mut after, mv);
        after
    };
    let position = after(position, mv);
    match game.outcome(&position) {
        Some(outcome) => outcome != opponents && outcome != Outcome::Draw,
        None => {
            let mut replies = Vec::new();
            game.legal_moves(&position, &mut replies);
            !replies.into_iter().any(|reply| game.outcome(&after(&position, reply)) == Some(opponents))
        }
    }
}

//! Counting games: a game as the steps that count, and all of them together.

use std::collections::HashMap;

use shared::catalog::NetworkGame;
use shared::encoding::{Encoding, Mv, Pos};
use shared::game::{Game, Outcome, Side};

use crate::contents::{Book, BookEntry, BookHeader, InconsistentBook, Results};
use crate::key::position_key;

/// A move of a game, as a book knows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    /// Key of the position.
    pub position: u64,
    /// Key of the position after the move.
    pub after: u64,
    /// Who played it.
    pub side: Side,
}

/// A game that is played through from the start, as far as its moves count.
pub struct OpeningWalk<'a, E: Encoding> {
    encoding: &'a E,
    plies: u32,
    position: Pos<E>,
    key: u64,
    steps: Vec<Step>,
}

impl<'a, E: Encoding> OpeningWalk<'a, E> {
    /// Begins at the start of a game, of which so many plies count.
    pub fn new(encoding: &'a E, plies: u32) -> Self {
        let position = encoding.game().initial_position();
        Self { encoding, plies, key: position_key(encoding, &position), position, steps: Vec::new() }
    }

    /// Returns the position that the game has come to.
    pub const fn position(&self) -> &Pos<E> {
        &self.position
    }

    /// Returns whether nothing more counts: all plies were played, or the game is over.
    pub fn is_over(&self) -> bool {
        let game = self.encoding.game();
        game.ply(&self.position) >= self.plies || game.outcome(&self.position).is_some()
    }

    /// Plays a move, which must be legal. One that nobody chose, as of a random opening, does not count.
    pub fn play(&mut self, mv: Mv<E>, is_chosen: bool) {
        let game = self.encoding.game();
        let (before, side) = (self.key, game.side_to_move(&self.position));
        game.play(&mut self.position, mv);
        self.key = position_key(self.encoding, &self.position);
        let step = Step { position: before, after: self.key, side };
        // Moves that are repeated in one game are still of one game.
        if is_chosen && !self.steps.contains(&step) {
            self.steps.push(step);
        }
    }

    /// Returns the moves that count.
    pub fn into_steps(self) -> Vec<Step> {
        self.steps
    }
}

/// Games that are counted.
#[derive(Debug, Default)]
pub struct BookBuilder {
    counts: HashMap<(u64, u64), Results>,
    game_count: u64,
}

impl BookBuilder {
    /// Counts a game.
    pub fn add(&mut self, steps: &[Step], outcome: Outcome) {
        self.game_count += 1;
        for step in steps {
            let results = self.counts.entry((step.position, step.after)).or_default();
            let count = match outcome {
                Outcome::Draw => &mut results.draws,
                Outcome::Win(side) if side == step.side => &mut results.wins,
                Outcome::Win(_) => &mut results.losses,
            };
            *count = count.saturating_add(1);
        }
    }

    /// Returns the number of games so far.
    #[must_use]
    pub const fn game_count(&self) -> u64 {
        self.game_count
    }

    /// Returns the book: the moves of `game` that were played in at least `games_min` games, of which `plies` were counted.
    ///
    /// # Errors
    /// [`InconsistentBook`] if the game has a name that does not fit into a book.
    pub fn finish<G: NetworkGame>(self, game: &G, plies: u32, games_min: u32) -> Result<Book, InconsistentBook> {
        let entry = |((position, after), results)| BookEntry { position, after, results };
        let is_frequent = |entry: &BookEntry| entry.results.game_count() >= games_min.max(1).into();
        let mut entries: Vec<BookEntry> = self.counts.into_iter().map(entry).filter(is_frequent).collect();
        entries.sort_unstable_by_key(|entry| (entry.position, entry.after));
        Book::new(BookHeader { game_count: self.game_count, ..BookHeader::of(game, plies, games_min) }, entries)
    }
}

//! What a book holds: for each position and move how the games ended in which it was played.

use shared::catalog::NetworkGame;

use crate::key::rules_key;

/// Longest name of a type of game, in bytes.
pub const TYPE_NAME_BYTES_MAX: usize = 16;

/// Games by their result for whoever played the move.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Results {
    /// Games won.
    pub wins: u32,
    /// Games drawn.
    pub draws: u32,
    /// Games lost.
    pub losses: u32,
}

impl Results {
    /// Returns the number of games.
    #[must_use]
    pub const fn game_count(self) -> u64 {
        self.wins as u64 + self.draws as u64 + self.losses as u64
    }

    /// Returns what was scored a game, 0 to 1; a draw is half. Without games it is 0.
    #[must_use]
    pub fn score(self) -> f64 {
        self.weight() as f64 / (2 * self.game_count()).max(1) as f64
    }

    /// Returns how likely the move is, beside others: twice the points that it scored, as in Polyglot.
    #[must_use]
    pub const fn weight(self) -> u64 {
        2 * self.wins as u64 + self.draws as u64
    }
}

/// A move of a position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BookEntry {
    /// Key of the position.
    pub position: u64,
    /// Key of the position after the move.
    pub after: u64,
    /// The games in which it was played.
    pub results: Results,
}

/// What a book is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BookHeader {
    /// The game, as settings write it: `hive` or `dama`.
    pub game: String,
    /// Its type: the UHP game type of Hive, `dama`.
    pub type_name: String,
    /// [`rules_key`] of the game.
    pub rules: u64,
    /// Plies of each game that were counted.
    pub plies: u32,
    /// Fewest games of a move that is in the book.
    pub games_min: u32,
    /// Games that were counted.
    pub game_count: u64,
}

impl BookHeader {
    /// Returns the header of a book of `game` that nothing was counted for.
    #[must_use]
    pub fn of<G: NetworkGame>(game: &G, plies: u32, games_min: u32) -> Self {
        let spec = game.spec(G::USUAL_VIEW);
        let (name, type_name, rules) = (spec.name().to_owned(), spec.type_name(), rules_of::<G>());
        Self { game: name, type_name, rules, plies, games_min, game_count: 0 }
    }
}

/// Returns the key of the rules: of the usual type, which is the same whatever a match or a viewer sets.
pub fn rules_of<G: NetworkGame>() -> u64 {
    rules_key(&G::default().encoding(G::USUAL_VIEW))
}

/// An opening book.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Book {
    header: BookHeader,
    /// Rising by position, then by the position after the move.
    entries: Vec<BookEntry>,
}

/// Why header and moves are no book.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InconsistentBook {
    /// A name is empty, too long, or not plain text.
    #[error("its names")]
    Names,
    /// Moves are doubled, or do not rise.
    #[error("its order")]
    Order,
    /// A move was played in no game, or in more than there are.
    #[error("its games")]
    Games,
}

impl Book {
    /// Makes a book; the moves rise by position, then by the position after the move.
    ///
    /// # Errors
    /// [`InconsistentBook`] saying what contradicts what.
    pub fn new(header: BookHeader, entries: Vec<BookEntry>) -> Result<Self, InconsistentBook> {
        let is_plain = |name: &str| {
            (1..=TYPE_NAME_BYTES_MAX).contains(&name.len()) && name.bytes().all(|byte| byte.is_ascii_graphic())
        };
        if !is_plain(&header.game) || !is_plain(&header.type_name) {
            return Err(InconsistentBook::Names);
        }
        if !entries.is_sorted_by_key(|entry| (entry.position, entry.after)) || has_twins(&entries) {
            return Err(InconsistentBook::Order);
        }
        let is_possible = |count: u64| (1..=header.game_count).contains(&count);
        if !entries.iter().all(|entry| is_possible(entry.results.game_count())) {
            return Err(InconsistentBook::Games);
        }
        Ok(Self { header, entries })
    }

    /// Returns what the book is about.
    #[must_use]
    pub const fn header(&self) -> &BookHeader {
        &self.header
    }

    /// Returns all moves, rising by position.
    #[must_use]
    pub fn entries(&self) -> &[BookEntry] {
        &self.entries
    }

    /// Returns the moves of the position with this key.
    #[must_use]
    pub fn entries_of(&self, position: u64) -> &[BookEntry] {
        let first = self.entries.partition_point(|entry| entry.position < position);
        let rest = &self.entries[first..];
        &rest[..rest.partition_point(|entry| entry.position == position)]
    }

    /// Returns how many positions have a move in the book.
    #[must_use]
    pub fn position_count(&self) -> usize {
        self.entries.chunk_by(|one, next| one.position == next.position).count()
    }

    /// Returns whether the book is of this type of game.
    #[must_use]
    pub fn is_of<G: NetworkGame>(&self, game: &G) -> bool {
        let spec = game.spec(G::USUAL_VIEW);
        self.header.game == spec.name() && self.header.type_name == spec.type_name()
    }
}

/// Returns whether a move is there twice, in moves that rise.
fn has_twins(entries: &[BookEntry]) -> bool {
    entries.windows(2).any(|pair| pair[0].position == pair[1].position && pair[0].after == pair[1].after)
}

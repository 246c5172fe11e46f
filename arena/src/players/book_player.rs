//! A player that plays by an opening book as long as it can, and thinks for itself after that.

use std::sync::Arc;

use book::Book;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use shared::catalog::NetworkGame;
use shared::game::Value;
use shared::seed::mix_seed;

use super::{MatchPlayer, Opening, PlayerFailure};

/// Keeps what the book draws apart from what the player itself draws by the same seed.
const BOOK_STREAM: u64 = 0xb00c;

/// Another player, with a book.
pub struct BookPlayer<G: NetworkGame> {
    game: G,
    book: Arc<Book>,
    player: Box<dyn MatchPlayer<G>>,
    random: Pcg64Mcg,
    /// Whether the last move is from the book.
    is_from_book: bool,
}

impl<G: NetworkGame> BookPlayer<G> {
    /// Gives `player` a book, which is of this game.
    pub fn new(game: G, book: Arc<Book>, player: Box<dyn MatchPlayer<G>>) -> Self {
        Self { game, book, player, random: Pcg64Mcg::seed_from_u64(0), is_from_book: false }
    }
}

impl<G: NetworkGame> MatchPlayer<G> for BookPlayer<G> {
    fn start(&mut self) -> Result<(), PlayerFailure> {
        self.player.start()
    }

    fn begin(&mut self, opening: &Opening<'_, G>, seed: u64) -> Result<(), PlayerFailure> {
        self.random = Pcg64Mcg::seed_from_u64(mix_seed(seed, BOOK_STREAM));
        self.player.begin(opening, seed)
    }

    fn choose(&mut self, position: &G::Position) -> Result<G::Move, PlayerFailure> {
        let found = self.book.choose(&self.game, position, self.random.random());
        self.is_from_book = found.is_some();
        found.map_or_else(|| self.player.choose(position), |found| Ok(found.mv))
    }

    fn observe(&mut self, before: &G::Position, mv: G::Move) -> Result<(), PlayerFailure> {
        self.player.observe(before, mv)
    }

    fn value(&self) -> Option<Value> {
        if self.is_from_book { None } else { self.player.value() }
    }
}

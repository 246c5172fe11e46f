//! Who chooses the moves of one game: options, what evaluates, and the tree that is kept from move to move. Knows no
//! protocol.

use std::time::{Duration, Instant};

use arena::levels::{LevelPlay, StrengthLevel, draw_by_prior};
use arena::matches::MatchGame;
use book::{Book, BookMove};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use shared::search::{EvaluationError, ParallelSearch, SearchError, SearchPreset};

use crate::options::{EngineOptions, OptionError};
use crate::player::Player;
use crate::search_pool::SearchPool;
use crate::think::{Limits, think};

/// Chooses the moves of a game.
pub struct Thinker<G: MatchGame> {
    player: Player<G>,
    options: EngineOptions,
    /// The tree below the position of the game.
    search: Option<ParallelSearch<G>>,
    random: Pcg64Mcg,
    pool: SearchPool,
}

/// What came of a search.
#[derive(Debug, Clone, Copy)]
pub struct Thought<M> {
    /// The move chosen.
    pub mv: M,
    /// Simulations that the tree had before.
    pub kept_count: u32,
    /// How long it took.
    pub time: Duration,
}

/// Why there is no move.
#[derive(Debug, thiserror::Error)]
pub enum ThinkError {
    /// The search cannot begin.
    #[error(transparent)]
    Search(#[from] SearchError),
    /// The leaves were not evaluated.
    #[error(transparent)]
    Evaluation(#[from] EvaluationError),
    /// There was no simulation.
    #[error("no move was tried")]
    NoMove,
}

impl<G: MatchGame> Thinker<G> {
    /// Makes a thinker without a tree. What it draws at random follows from `seed`.
    pub fn new(player: Player<G>, preset: SearchPreset, seed: u64) -> Self {
        let options = EngineOptions::new::<G>(preset);
        let options = if player.has_network() { options } else { options.without_network() };
        Self { player, options, search: None, random: Pcg64Mcg::seed_from_u64(seed), pool: SearchPool::new() }
    }

    /// Returns the options.
    pub const fn options(&self) -> &EngineOptions {
        &self.options
    }

    /// Sets an option, by any of its names. The tree is dropped if it must be searched in another way.
    ///
    /// # Errors
    /// [`OptionError`]; nothing has changed then.
    pub fn set(&mut self, name: &str, value: &str) -> Result<(), OptionError> {
        let before = self.options.tree_key();
        self.options.set(name, value)?;
        if self.options.tree_key() != before {
            self.forget();
        }
        Ok(())
    }

    /// Sets the level; `None` = as strong as it can.
    pub fn set_level(&mut self, level: Option<StrengthLevel>) {
        self.options.set_level(level);
        self.forget();
    }

    /// Drops the tree: the next position is another game's.
    pub fn forget(&mut self) {
        self.search = None;
    }

    /// Plays a move on the tree.
    pub fn play(&mut self, mv: G::Move) {
        if let Some(search) = &mut self.search {
            search.play(mv);
        }
    }

    /// Returns the tree, if there is one.
    pub const fn search(&self) -> Option<&ParallelSearch<G>> {
        self.search.as_ref()
    }

    /// Returns the opening book, if there is one, whatever type of game it is of.
    pub fn book(&self) -> Option<&Book> {
        self.player.book()
    }

    /// Returns what the opening book holds of a position, the most played move first.
    pub fn book_moves(&self, game: &G, position: &G::Position) -> Vec<BookMove<G::Move>> {
        self.player.book_moves(game, position)
    }

    /// Draws a move for `position` from the opening book; `None` if there is no book of this type of game, it is switched
    /// off, or it has no move that can be played.
    pub fn draw_from_book(&mut self, game: &G, position: &G::Position) -> Option<BookMove<G::Move>> {
        let book = self.player.book_of(game).filter(|_| self.options.book.value)?;
        book.choose(game, position, self.random.random())
    }

    /// Searches `position`, which is that of the tree if one is kept, until a limit is reached or `goes_on` says no.
    ///
    /// # Errors
    /// [`ThinkError`]: a position without moves, a network that fails; the tree is dropped then.
    pub fn think(
        &mut self,
        game: &G,
        position: &G::Position,
        limits: &Limits,
        goes_on: &mut dyn FnMut(&ParallelSearch<G>) -> bool,
    ) -> Result<Thought<G::Move>, ThinkError> {
        let started = Instant::now();
        let kept = self.search.take().filter(|search| search.byte_count() <= limits.byte_count_max / 2);
        let begin = || {
            let search = self.options.new_search(game, position, self.random.random());
            search.map(|search| search.with_oracle(self.player.oracle()))
        };
        let search = kept.map_or_else(begin, Ok)?;
        let kept_count = search.simulation_count();
        self.player.set_threads(self.options.threads.value, limits.thread_count)?;
        let (player, preset) = (&self.player, self.options.preset());
        let make_evaluator = |seed| player.evaluator(preset, seed);
        let mut search = think(&mut self.pool, search, &make_evaluator, limits, goes_on)?;
        let mv = self.choose(&mut search).ok_or(ThinkError::NoMove)?;
        self.search = Some(search);
        Ok(Thought { mv, kept_count, time: started.elapsed() })
    }

    /// Searches at full strength, whatever the level, with a tree of its own that is given back.
    ///
    /// # Errors
    /// [`ThinkError`]: a game that is over, a network that fails.
    pub fn advise(
        &mut self,
        game: &G,
        position: &G::Position,
        simulation_count: u32,
    ) -> Result<ParallelSearch<G>, ThinkError> {
        let mut options = self.options.clone();
        options.set_level(None);
        let search = options.new_search(game, position, 0)?.with_oracle(self.player.oracle());
        let limits = Limits { thread_count: 1, ..options.limits(Some(simulation_count), None) };
        self.player.set_threads(options.threads.value, limits.thread_count)?;
        let (player, preset) = (&self.player, options.preset());
        let make_evaluator = |seed| player.evaluator(preset, seed);
        Ok(think(&mut self.pool, search, &make_evaluator, &limits, &mut |_| true)?)
    }

    /// Chooses a move: a level without a search by the priors alone.
    fn choose(&mut self, search: &mut ParallelSearch<G>) -> Option<G::Move> {
        let Some(LevelPlay::Policy { temperature }) = self.options.level() else { return search.choose_move() };
        let reports = search.move_reports();
        let priors: Vec<f32> = reports.iter().map(|report| report.prior).collect();
        draw_by_prior(&priors, temperature, self.random.random()).map(|at| reports[at].mv)
    }
}

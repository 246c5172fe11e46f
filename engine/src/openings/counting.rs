//! Counting the games of a book, whatever they come from; here those of runs.

use anyhow::Context;
use book::{Book, BookBuilder, OpeningWalk, Step};
use indicatif::ProgressBar;
use rayon::ThreadPool;
use rayon::prelude::*;
use runtime::counted::counted;
use runtime::exit::UsageError;
use runtime::logging;
use shared::catalog::NetworkGame;
use shared::game::Outcome;
use store::{GameKind, StoreError, StoredGame};

use super::sources::RunSource;

/// Games of a run that are read together.
const CHUNK_GAMES: usize = 256;
/// Games that are named on stderr when they are left out; the others are counted.
const NAMED_COUNT_MAX: u64 = 10;

/// Games that are in no book, by the reason.
#[derive(Debug, Default)]
pub struct LeftOut {
    /// They cannot be read.
    pub unreadable: u64,
    /// Nobody knows how they ended.
    pub without_result: u64,
    /// They are of another type of game.
    pub other_type: u64,
    /// They did not begin at the start of a game.
    pub other_start: u64,
}

/// A book on its way.
pub struct Counting<G: NetworkGame> {
    /// The game, by the rules of the book.
    pub game: G,
    /// How it is shown.
    pub encoding: G::Encoding,
    /// Plies that count.
    pub plies: u32,
    /// What was left out so far.
    pub left_out: LeftOut,
    /// How far the source is that is being read.
    pub bar: ProgressBar,
    builder: BookBuilder,
}

impl<G: NetworkGame> Counting<G> {
    /// Begins a book of `game`, of whose games `plies` count.
    pub fn new(game: G, plies: u32) -> Self {
        let (encoding, bar) = (game.encoding(G::USUAL_VIEW), logging::bar());
        Self { game, encoding, plies, left_out: LeftOut::default(), bar, builder: BookBuilder::default() }
    }

    /// Counts games of which the steps are known.
    pub fn add(&mut self, games: impl IntoIterator<Item = (Vec<Step>, Outcome)>) {
        games.into_iter().for_each(|(steps, outcome)| self.builder.add(&steps, outcome));
        self.bar.set_message(counted(self.builder.game_count(), "game", "games"));
    }

    /// Leaves a game out that cannot be read; the first of them are named.
    pub fn leave_out(&mut self, what: &str) {
        self.left_out.unreadable += 1;
        if self.left_out.unreadable <= NAMED_COUNT_MAX {
            logging::print_line(&format!("left out: {what}"));
        }
    }

    /// Returns the book of the moves that were played in at least so many games, and what is not in it.
    ///
    /// # Errors
    /// [`book::InconsistentBook`] if the game has a name that does not fit into a book.
    pub fn finish(self, games_min: u32) -> anyhow::Result<(Book, LeftOut)> {
        self.bar.finish_and_clear();
        Ok((self.builder.finish(&self.game, self.plies, games_min)?, self.left_out))
    }

    /// Counts the finished games of a run.
    ///
    /// # Errors
    /// A run of another game or type ([`UsageError`]), or whose store cannot be read.
    pub fn add_run(&mut self, run: &RunSource, pool: &ThreadPool) -> anyhow::Result<()> {
        let wanted = self.game.spec(G::USUAL_VIEW).type_name();
        let found = run.spec.type_name();
        if found != wanted {
            let what = format!("{}: plays {found}, and the book is of {wanted}", run.dir.display());
            return Err(UsageError(what).into());
        }
        self.bar.set_prefix("games");
        for kind in [GameKind::SelfPlay, GameKind::Gate] {
            let ids = run.reader.finished_game_ids(kind).with_context(|| run.dir.display().to_string())?;
            self.bar.set_length(ids.len() as u64);
            self.bar.set_position(0);
            for chunk in ids.chunks(CHUNK_GAMES) {
                let mut games = Vec::with_capacity(chunk.len());
                for id in chunk {
                    match run.reader.game(*id) {
                        Ok(game) => games.extend(game),
                        Err(StoreError::Damaged { what }) => self.leave_out(&what),
                        Err(error) => return Err(error).with_context(|| run.dir.display().to_string()),
                    }
                }
                self.add_stored(&games, pool);
                self.bar.inc(chunk.len() as u64);
            }
        }
        Ok(())
    }

    fn add_stored(&mut self, games: &[StoredGame], pool: &ThreadPool) {
        let from_start = games.iter().filter(|game| game.record.start.is_none());
        let ended: Vec<_> = from_start.filter_map(|game| Some((game, game.result?.outcome))).collect();
        self.left_out.other_start += games.iter().filter(|game| game.record.start.is_some()).count() as u64;
        let steps = |(game, outcome): &(&StoredGame, Outcome)| (self.steps_of(game), *outcome);
        let counted: Vec<_> = pool.install(|| ended.par_iter().map(steps).collect());
        self.add(counted);
    }

    /// Returns the steps of a game of a run: not those of its opening, which was given to the players.
    fn steps_of(&self, game: &StoredGame) -> Vec<Step> {
        let mut walk = OpeningWalk::new(&self.encoding, self.plies);
        for (ply, record) in (0..).zip(&game.record.plies) {
            if walk.is_over() {
                break;
            }
            // A run may have other rules, such as a queen that comes first.
            let Ok(mv) = self.game.parse_move(walk.position(), &record.move_text) else { break };
            walk.play(mv, ply >= game.record.opening_ply_count);
        }
        walk.into_steps()
    }
}

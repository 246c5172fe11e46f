//! How a player is asked for moves, and the players that need nobody else.

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use shared::game::{Game, Value};
use shared::search::{RolloutSearch, RolloutSettings};

/// One side of one game at a time.
pub trait Mover<G: Game> {
    /// Starts whatever the player needs, if it does not run yet.
    ///
    /// # Errors
    /// [`Stop`].
    fn start(&mut self) -> Result<(), Stop> {
        Ok(())
    }
    /// Begins a game. What is drawn at random follows from `seed`.
    ///
    /// # Errors
    /// [`Stop`].
    fn begin(&mut self, opening: &Opening<'_, G>, seed: u64) -> Result<(), Stop>;
    /// Chooses a move in `position`, which goes on.
    ///
    /// # Errors
    /// [`Stop`].
    fn choose(&mut self, position: &G::Position) -> Result<G::Move, Stop>;
    /// Hears of a move, its own or the opponent's; `before` is the position in which it was made.
    ///
    /// # Errors
    /// [`Stop`].
    fn observe(&mut self, before: &G::Position, mv: G::Move) -> Result<(), Stop>;
    /// Returns what it expected of the game when it last chose a move, if it thinks in numbers.
    fn value(&self) -> Option<Value> {
        None
    }
}

/// The plies before the players begin, and where they lead to.
pub struct Opening<'a, G: Game> {
    /// The moves as people write them.
    pub texts: &'a [String],
    /// The position after them.
    pub position: G::Position,
}

/// Why a player has no move.
#[derive(Debug)]
pub enum Stop {
    /// It loses the game, for this reason.
    Forfeit(String),
    /// The match cannot go on: the fault is not the player's.
    Failed(anyhow::Error),
    /// The match is being stopped.
    Cancelled,
}

/// Plays any legal move.
pub struct RandomMover<G: Game> {
    game: G,
    random: Pcg64Mcg,
    moves: Vec<G::Move>,
}

impl<G: Game> RandomMover<G> {
    /// Makes the player.
    pub fn new(game: G) -> Self {
        Self { game, random: Pcg64Mcg::seed_from_u64(0), moves: vec![] }
    }
}

impl<G: Game> Mover<G> for RandomMover<G> {
    fn begin(&mut self, _: &Opening<'_, G>, seed: u64) -> Result<(), Stop> {
        self.random = Pcg64Mcg::seed_from_u64(seed);
        Ok(())
    }

    fn choose(&mut self, position: &G::Position) -> Result<G::Move, Stop> {
        self.moves.clear();
        self.game.legal_moves(position, &mut self.moves);
        Ok(self.moves[self.random.random_range(0..self.moves.len())])
    }

    fn observe(&mut self, _: &G::Position, _: G::Move) -> Result<(), Stop> {
        Ok(())
    }
}

/// UCB1 with random rollouts.
pub struct RolloutMover<G: Game> {
    game: G,
    settings: RolloutSettings,
    search: RolloutSearch<G>,
}

impl<G: Game> RolloutMover<G> {
    /// Makes the player.
    pub fn new(game: G, simulation_count: u32) -> Self {
        let settings = RolloutSettings { simulation_count, ..RolloutSettings::default() };
        let search = RolloutSearch::new(game.clone(), settings, 0);
        Self { game, settings, search }
    }
}

impl<G: Game> Mover<G> for RolloutMover<G> {
    fn begin(&mut self, _: &Opening<'_, G>, seed: u64) -> Result<(), Stop> {
        self.search = RolloutSearch::new(self.game.clone(), self.settings, seed);
        Ok(())
    }

    fn choose(&mut self, position: &G::Position) -> Result<G::Move, Stop> {
        let chosen = self.search.choose_move(position);
        chosen.ok_or_else(|| Stop::Failed(anyhow::anyhow!("asked for a move after the end of the game")))
    }

    fn observe(&mut self, _: &G::Position, _: G::Move) -> Result<(), Stop> {
        Ok(())
    }
}

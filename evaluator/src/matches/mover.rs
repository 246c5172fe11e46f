//! How a player is asked for moves, and the players that need nobody else.

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use shared::game::hive::{Hive, Move, Position};
use shared::game::{Game, Value};
use shared::search::{RolloutSearch, RolloutSettings};

/// One side of one game at a time.
pub trait Mover {
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
    fn begin(&mut self, opening: &Opening<'_>, seed: u64) -> Result<(), Stop>;
    /// Chooses a move in `position`, which goes on.
    ///
    /// # Errors
    /// [`Stop`].
    fn choose(&mut self, position: &Position) -> Result<Move, Stop>;
    /// Hears of a move, its own or the opponent's; `before` is the position in which it was made.
    ///
    /// # Errors
    /// [`Stop`].
    fn observe(&mut self, before: &Position, mv: Move) -> Result<(), Stop>;
    /// Returns what it expected of the game when it last chose a move, if it thinks in numbers.
    fn value(&self) -> Option<Value> {
        None
    }
}

/// The plies before the players begin, and where they lead to.
#[derive(Debug)]
pub struct Opening<'a> {
    /// The moves as people write them.
    pub texts: &'a [String],
    /// The position after them.
    pub position: Position,
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
pub struct RandomMover {
    hive: Hive,
    random: Pcg64Mcg,
    moves: Vec<Move>,
}

impl RandomMover {
    /// Makes the player.
    pub fn new(hive: Hive) -> Self {
        Self { hive, random: Pcg64Mcg::seed_from_u64(0), moves: vec![] }
    }
}

impl Mover for RandomMover {
    fn begin(&mut self, _: &Opening<'_>, seed: u64) -> Result<(), Stop> {
        self.random = Pcg64Mcg::seed_from_u64(seed);
        Ok(())
    }

    fn choose(&mut self, position: &Position) -> Result<Move, Stop> {
        self.moves.clear();
        self.hive.legal_moves(position, &mut self.moves);
        Ok(self.moves[self.random.random_range(0..self.moves.len())])
    }

    fn observe(&mut self, _: &Position, _: Move) -> Result<(), Stop> {
        Ok(())
    }
}

/// UCB1 with random rollouts.
pub struct RolloutMover {
    hive: Hive,
    settings: RolloutSettings,
    search: RolloutSearch<Hive>,
}

impl RolloutMover {
    /// Makes the player.
    pub fn new(hive: Hive, simulation_count: u32) -> Self {
        let settings = RolloutSettings { simulation_count, ..RolloutSettings::default() };
        Self { hive, settings, search: RolloutSearch::new(hive, settings, 0) }
    }
}

impl Mover for RolloutMover {
    fn begin(&mut self, _: &Opening<'_>, seed: u64) -> Result<(), Stop> {
        self.search = RolloutSearch::new(self.hive, self.settings, seed);
        Ok(())
    }

    fn choose(&mut self, position: &Position) -> Result<Move, Stop> {
        let chosen = self.search.choose_move(position);
        chosen.ok_or_else(|| Stop::Failed(anyhow::anyhow!("asked for a move after the end of the game")))
    }

    fn observe(&mut self, _: &Position, _: Move) -> Result<(), Stop> {
        Ok(())
    }
}

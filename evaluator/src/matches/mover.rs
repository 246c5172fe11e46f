//! How a player is asked for moves, and the players that need nobody else.

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use shared::game::{Appraise, Game, Value};
use shared::search::{Preset, TeamSearch};

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

/// Searches each move from nothing, without a network.
pub struct PresetMover<G: Game> {
    game: G,
    preset: Preset,
    simulation_count: u32,
    random: Pcg64Mcg,
    value: Option<Value>,
}

impl<G: Appraise> PresetMover<G> {
    /// Makes the player.
    pub fn new(game: G, preset: Preset, simulation_count: u32) -> Self {
        Self { game, preset, simulation_count, random: Pcg64Mcg::seed_from_u64(0), value: None }
    }
}

impl<G: Appraise> Mover<G> for PresetMover<G> {
    fn begin(&mut self, _: &Opening<'_, G>, seed: u64) -> Result<(), Stop> {
        self.random = Pcg64Mcg::seed_from_u64(seed);
        Ok(())
    }

    fn choose(&mut self, position: &G::Position) -> Result<G::Move, Stop> {
        let settings = self.preset.settings(self.simulation_count);
        let seed = self.random.random();
        let search = TeamSearch::new(self.game.clone(), position.clone(), self.preset.rule(), settings, seed);
        let mut search = search.map_err(|error| Stop::Failed(error.into()))?;
        let mut valuer = self.preset.valuer(seed);
        let mut member = search.member(0);
        // One thread alone never waits.
        while member.simulate(&mut *valuer) {}
        drop(member);
        self.value = Some(search.root_value());
        search.choose_move().ok_or_else(|| Stop::Failed(anyhow::anyhow!("the search has no move")))
    }

    fn observe(&mut self, _: &G::Position, _: G::Move) -> Result<(), Stop> {
        Ok(())
    }

    fn value(&self) -> Option<Value> {
        self.value
    }
}

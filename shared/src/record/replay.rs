//! Playing a record through the rules: what comes out may be counted and learned from.

use super::{GameCourse, GameRecord, PlyRecord, PolicyTarget};
use crate::encoding::{Encoding, Mv, Outlook, Pos};
use crate::game::{Game, MoveError, Outcome, Side, StartError};

/// Why a record is not a game, naming the ply.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ReplayError {
    /// The game does not begin from a position of its rules.
    #[error(transparent)]
    Start(#[from] StartError),
    /// The move cannot be read or is not legal.
    #[error("ply {ply}")]
    Move {
        /// The ply, 0 for the first.
        ply: u32,
        /// What is wrong with the move.
        #[source]
        source: MoveError,
    },
    /// The policy target names a move that is not legal.
    #[error("ply {ply}: policy target names index {policy_index}, which is no legal move")]
    PolicyIndex {
        /// The ply, 0 for the first.
        ply: u32,
        /// The index.
        policy_index: u16,
    },
    /// The value of the root is not a value.
    #[error("ply {ply}: root value {root_value} is not in -1..=1")]
    RootValue {
        /// The ply, 0 for the first.
        ply: u32,
        /// The number found.
        root_value: f32,
    },
    /// A side resigned a game that was over.
    #[error("resigned after ply {ply_count}, where the rules had ended the game")]
    Resigned {
        /// Plies of the game.
        ply_count: u32,
    },
    /// The opening is longer than the game.
    #[error("an opening of {opening_ply_count} plies in a game of {ply_count}")]
    Opening {
        /// Plies of the opening.
        opening_ply_count: u32,
        /// Plies of the game.
        ply_count: u32,
    },
}

/// One position to learn from.
#[derive(Debug, Clone, PartialEq)]
pub struct Sample {
    /// The position as [`Encoding::pack`] writes it.
    pub packed: Vec<u8>,
    /// The side to move.
    pub side: Side,
    /// Weights of its legal moves.
    pub policy_target: PolicyTarget,
    /// How the game ended for the side to move, -1, 0 or 1.
    pub outcome_value: f32,
    /// Value of the root after the search, for the side to move, -1..=1; `None` where nobody searched.
    pub search_value: Option<f32>,
    /// What the rest of the game brought; `None` if that is not known.
    pub outlook: Option<Outlook>,
}

/// A record that agrees with the rules.
#[derive(Debug, Clone, PartialEq)]
pub struct ReplayedGame {
    /// How the game ended, by the rules or as somebody resigned; `None` if it did not.
    pub outcome: Option<Outcome>,
    /// Whether it ended at the ply limit.
    pub is_cut_off: bool,
    /// Number of plies.
    pub ply_count: u32,
    /// The positions that have a policy target, first to last; none of an unfinished game.
    pub samples: Vec<Sample>,
}

/// A game that is replayed ply by ply, as the plies come in.
#[derive(Clone)]
pub struct ReplayState<E: Encoding> {
    encoding: E,
    position: Pos<E>,
    opening_ply_count: u32,
    ply_count: u32,
    pending: Vec<PendingSample>,
    course: GameCourse,
    moves: Vec<Mv<E>>,
    policy_indices: Vec<u16>,
}

/// A sample whose game has no outcome yet.
#[derive(Debug, Clone)]
struct PendingSample {
    ply: u32,
    packed: Vec<u8>,
    policy_target: PolicyTarget,
    side: Side,
    search_value: f32,
}

impl<E: Encoding> ReplayState<E> {
    /// Starts at the beginning of a game: the initial position, unless `start` tells another. Plies of the opening give
    /// no samples.
    ///
    /// # Errors
    /// [`StartError`] if no game may begin from `start`.
    pub fn new(encoding: E, start: Option<&str>, opening_ply_count: u32) -> Result<Self, StartError> {
        let position = encoding.game().start_position(start)?;
        Ok(Self::at(encoding, position, opening_ply_count))
    }

    /// Starts at the initial position, without an opening.
    #[must_use]
    pub fn of_whole_game(encoding: E) -> Self {
        let position = encoding.game().initial_position();
        Self::at(encoding, position, 0)
    }

    fn at(encoding: E, position: Pos<E>, opening_ply_count: u32) -> Self {
        let (pending, moves, policy_indices) = (Vec::new(), Vec::new(), Vec::new());
        let course = GameCourse::default();
        Self { encoding, position, opening_ply_count, ply_count: 0, pending, course, moves, policy_indices }
    }

    /// Plays one ply.
    ///
    /// # Errors
    /// [`ReplayError`] if the ply does not agree with the rules; the game is then as it was before.
    pub fn play(&mut self, ply: &PlyRecord) -> Result<(), ReplayError> {
        let number = self.ply_count;
        let game = self.encoding.game();
        let mv = game
            .parse_move(&self.position, &ply.move_text)
            .map_err(|source| ReplayError::Move { ply: number, source })?;
        if !(-1.0..=1.0).contains(&ply.root_value) {
            return Err(ReplayError::RootValue { ply: number, root_value: ply.root_value });
        }
        if let Some(target) = &ply.policy_target {
            self.check_target(target)?;
            if number >= self.opening_ply_count {
                self.push_pending(target, ply.root_value);
            }
        }
        self.course.note(&self.encoding, &self.position, mv);
        self.encoding.game().play(&mut self.position, mv);
        self.ply_count += 1;
        Ok(())
    }

    /// Returns the position after the plies played so far.
    #[must_use]
    pub fn position(&self) -> &Pos<E> {
        &self.position
    }

    /// Returns the number of plies played so far.
    #[must_use]
    pub fn ply_count(&self) -> u32 {
        self.ply_count
    }

    /// Returns how the game ended, `None` while it goes on.
    #[must_use]
    pub fn outcome(&self) -> Option<Outcome> {
        self.encoding.game().outcome(&self.position)
    }

    /// Returns the game as it stands, with samples if it has ended.
    #[must_use]
    pub fn finish(self) -> ReplayedGame {
        let outcome = self.outcome();
        self.end_as(outcome)
    }

    /// Returns the game as one that `side` has lost, since it resigned.
    ///
    /// # Errors
    /// [`ReplayError::Resigned`] if the rules had ended the game.
    pub fn resign(self, side: Side) -> Result<ReplayedGame, ReplayError> {
        match self.outcome() {
            None => Ok(self.end_as(Some(Outcome::Win(side.opponent())))),
            Some(_) => Err(ReplayError::Resigned { ply_count: self.ply_count }),
        }
    }

    /// Returns the game with this outcome. What is predicted of its end follows from the last position alone: a board that
    /// was left before the end says nothing of it.
    fn end_as(self, outcome: Option<Outcome>) -> ReplayedGame {
        let is_cut_off = self.encoding.game().is_cut_off(&self.position);
        let samples = outcome.map_or_else(Vec::new, |outcome| {
            let positions: Vec<_> = self.pending.iter().map(|pending| (pending.ply, pending.side)).collect();
            let outlooks = self.course.outlooks(&self.encoding, &self.position, &positions);
            let sample = |(PendingSample { packed, policy_target, side, search_value, .. }, outlook)| Sample {
                packed,
                side,
                policy_target,
                outcome_value: outcome.value_for(side).get(),
                search_value: Some(search_value),
                // The pieces of a game that was cut off might have moved on.
                outlook: (!is_cut_off).then_some(outlook),
            };
            self.pending.into_iter().zip(outlooks).map(sample).collect()
        });
        ReplayedGame { outcome, is_cut_off, ply_count: self.ply_count, samples }
    }

    fn check_target(&mut self, target: &PolicyTarget) -> Result<(), ReplayError> {
        self.moves.clear();
        self.policy_indices.clear();
        self.encoding.game().legal_moves(&self.position, &mut self.moves);
        self.encoding.policy_indices(&self.position, &self.moves, &mut self.policy_indices);
        self.policy_indices.sort_unstable();
        let is_illegal = |index: &u16| self.policy_indices.binary_search(index).is_err();
        match target.pairs().iter().map(|(index, _)| *index).find(is_illegal) {
            Some(policy_index) => Err(ReplayError::PolicyIndex { ply: self.ply_count, policy_index }),
            None => Ok(()),
        }
    }

    fn push_pending(&mut self, target: &PolicyTarget, search_value: f32) {
        let mut packed = Vec::new();
        self.encoding.pack(&self.position, &mut packed);
        let side = self.encoding.game().side_to_move(&self.position);
        let (ply, policy_target) = (self.ply_count, target.clone());
        self.pending.push(PendingSample { ply, packed, policy_target, side, search_value });
    }
}

/// Plays a whole record through the rules.
///
/// # Errors
/// [`ReplayError`] naming the first ply that does not agree with the rules.
pub fn replay<E: Encoding>(encoding: &E, record: &GameRecord) -> Result<ReplayedGame, ReplayError> {
    let ply_count = u32::try_from(record.plies.len()).unwrap_or(u32::MAX);
    if record.opening_ply_count > ply_count {
        return Err(ReplayError::Opening { opening_ply_count: record.opening_ply_count, ply_count });
    }
    let mut state = ReplayState::new(encoding.clone(), record.start.as_deref(), record.opening_ply_count)?;
    for ply in &record.plies {
        state.play(ply)?;
    }
    match record.resigned_by {
        Some(side) => state.resign(side),
        None => Ok(state.finish()),
    }
}

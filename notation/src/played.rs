//! A game of Hive that people or other programs played, and why a text is not one.
//!
//! What the readers share: [`Replay`] checks each move against the rules and watches for repetitions. People often
//! play on after the third occurrence of a position, so a repetition ends a game only if nothing comes after it.

use std::fmt;

use super::uhp::{self, GameState, GameStringError};
use shared::game::hive::text::lowest_in_hand;
use shared::game::hive::{Cell, GameType, Hive, HiveRules, Move, PieceKind, Position};
use shared::game::{Game, Outcome};

/// Most plies that a game may have; the longest known human game has fewer than 400.
pub const PLY_COUNT_MAX: u32 = 5_000;

/// How strictly games are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ReadOptions {
    /// Games are read that open with a queen, which the tournament rule forbids.
    pub queen_first_allowed: bool,
}

/// A game as it was played, every move legal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlayedGame {
    /// Rules by which every move is legal: no draw by repetition, no limit, and the queen first as it was asked for.
    pub rules: HiveRules,
    /// The moves, passes included, first to last. The first piece lies on [`Cell::ORIGIN`].
    pub moves: Vec<Move>,
    /// Who won; `None` if nobody can tell.
    pub outcome: Option<Outcome>,
    /// What ended the game.
    pub ending: Ending,
    /// What the source itself says of the outcome. The outcome follows from the moves where they decide it.
    pub stated_outcome: Option<Outcome>,
    /// What is odd about the game.
    pub remarks: Vec<Remark>,
}

/// What ended a game.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Ending {
    /// A queen or both are surrounded.
    QueenSurrounded,
    /// A player gave up.
    Resignation,
    /// The players agreed on a draw.
    DrawAgreed,
    /// The last position occurred for at least the third time.
    Repetition,
    /// The source says who won, the moves do not say why: a resignation, the clock, an agreement.
    Stated,
    /// Nothing: the moves stop.
    Unfinished,
}

/// Something odd that does not stop a game from being read. Plies count from 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Remark {
    /// A position occurred for the third time, and the players went on.
    ThirdRepetition {
        /// The first ply after which it was so.
        ply: u32,
    },
    /// A player without a legal move was skipped; the pass was put in.
    PassInserted {
        /// The pass.
        ply: u32,
    },
    /// The source states another outcome than the surrounded queens.
    StatedOtherwise {
        /// What it states.
        stated: Outcome,
    },
}

/// Why a text is not a game. Plies count from 1, nodes of a game tree from 0, the header.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    /// The game has extra pieces, or is not known.
    #[error("unsupported variant {0}")]
    Variant(String),
    /// A GameString does not start as one.
    #[error(transparent)]
    GameString(#[from] GameStringError),
    /// The text is not a game tree.
    #[error("node {node}: {reason}")]
    Tree {
        /// The node.
        node: u32,
        /// What is wrong with it.
        reason: String,
    },
    /// A move cannot be read.
    #[error("ply {ply} unreadable: {reason}")]
    Unreadable {
        /// The ply.
        ply: u32,
        /// What is wrong with it.
        reason: String,
    },
    /// A move is not legal.
    #[error("ply {ply} illegal: {reason}")]
    Illegal {
        /// The ply.
        ply: u32,
        /// What is wrong with it.
        reason: String,
    },
    /// A file of PGN does not say what is played.
    #[error("no tag GameType")]
    NoGameType,
    /// A tag or a comment has no end.
    #[error("{0} without an end")]
    Unclosed(&'static str),
    /// Two results contradict each other.
    #[error("the tag Result says {tag}, the game ends with {found}")]
    OtherResult {
        /// The result in the tag.
        tag: GameState,
        /// The result at the end.
        found: GameState,
    },
    /// A column of a table contradicts its game.
    #[error("the column winner says {winner}, the game {found}")]
    OtherWinner {
        /// The result in the column.
        winner: GameState,
        /// The result in the game.
        found: GameState,
    },
    /// The game has more plies than are read.
    #[error("more than {PLY_COUNT_MAX} plies")]
    TooLong,
}

impl PlayedGame {
    /// Returns the number of plies.
    #[must_use]
    pub fn ply_count(&self) -> u32 {
        self.moves.len() as u32
    }

    /// Returns the game by whose rules every move is legal.
    #[must_use]
    pub const fn hive(&self) -> Hive {
        Hive::new(self.rules)
    }

    /// Returns the moves as UHP MoveStrings.
    #[must_use]
    pub fn move_texts(&self) -> Vec<String> {
        uhp::format_moves(&self.hive(), &self.moves).0
    }

    /// Returns the game as a UHP GameString with its outcome as the state.
    #[must_use]
    pub fn to_game_string(&self) -> String {
        let state = match self.outcome {
            None if self.moves.is_empty() => GameState::NotStarted,
            outcome => GameState::from(outcome),
        };
        uhp::join_game(self.rules.game_type, state, self.ply_count(), &self.move_texts())
    }
}

impl fmt::Display for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::QueenSurrounded => "queen-surrounded",
            Self::Resignation => "resign",
            Self::DrawAgreed => "draw-agreed",
            Self::Repetition => "repetition",
            Self::Stated => "stated",
            Self::Unfinished => "none",
        })
    }
}

impl fmt::Display for Remark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ThirdRepetition { ply } => write!(f, "third repetition at ply {ply}, play goes on"),
            Self::PassInserted { ply } => write!(f, "pass at ply {ply} was not written"),
            Self::StatedOtherwise { stated } => write!(f, "stated as {}", GameState::from(Some(*stated))),
        }
    }
}

/// A game that is being read, ply by ply.
pub(super) struct Replay {
    /// The rules by which moves are judged.
    judge: Hive,
    /// The rules that count repetitions.
    counter: Hive,
    position: Position,
    moves: Vec<Move>,
    legal: Vec<Move>,
    third_repetition: Option<u32>,
    remarks: Vec<Remark>,
}

/// What a source states of the end of a game beyond its moves.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct StatedEnd {
    /// An end that the moves themselves do not show.
    pub(super) end: Option<(Outcome, Ending)>,
    /// The outcome in words.
    pub(super) stated: Option<Outcome>,
}

impl Replay {
    pub(super) fn new(game_type: GameType, options: ReadOptions) -> Self {
        let rules = HiveRules {
            game_type,
            ply_limit: u32::MAX,
            repetition_draw: false,
            queen_first_allowed: options.queen_first_allowed,
            rest_counts: false,
        };
        let judge = Hive::new(rules);
        Self {
            judge,
            counter: Hive::new(HiveRules { repetition_draw: true, ..rules }),
            position: judge.initial_position(),
            moves: Vec::new(),
            legal: Vec::new(),
            third_repetition: None,
            remarks: Vec::new(),
        }
    }

    pub(super) const fn position(&self) -> &Position {
        &self.position
    }

    /// Returns the number of the ply that comes next, from 1.
    pub(super) fn next_ply(&self) -> u32 {
        self.moves.len() as u32 + 1
    }

    /// Returns whether the side to move has nothing but a pass.
    pub(super) fn must_pass(&mut self) -> bool {
        self.list_legal();
        self.legal == [Move::PASS]
    }

    /// Plays a pass that the source left out.
    pub(super) fn insert_pass(&mut self) -> Result<(), ReadError> {
        self.remarks.push(Remark::PassInserted { ply: self.next_ply() });
        self.play(Move::PASS)
    }

    /// Plays a move if it is legal.
    pub(super) fn play(&mut self, mv: Move) -> Result<(), ReadError> {
        let ply = self.next_ply();
        if ply > PLY_COUNT_MAX {
            return Err(ReadError::TooLong);
        }
        self.list_legal();
        if !self.legal.contains(&lowest_in_hand(&self.position, mv)) {
            return Err(ReadError::Illegal { ply, reason: self.why_illegal(mv) });
        }
        self.counter.play(&mut self.position, mv);
        self.moves.push(mv);
        if self.is_repeated() {
            self.third_repetition.get_or_insert(ply);
        }
        Ok(())
    }

    /// Ends the reading. Surrounded queens count most, then what the source states, then a repetition in the last position.
    pub(super) fn finish(mut self, stated_end: StatedEnd) -> PlayedGame {
        let decided = self.judge.outcome(&self.position);
        let (outcome, ending) = if let Some(outcome) = decided {
            (Some(outcome), Ending::QueenSurrounded)
        } else if let Some((outcome, ending)) = stated_end.end {
            (Some(outcome), ending)
        } else if self.is_repeated() {
            (Some(Outcome::Draw), Ending::Repetition)
        } else {
            (None, Ending::Unfinished)
        };
        self.add_remarks(decided, stated_end);
        PlayedGame {
            rules: *self.judge.rules(),
            moves: self.moves,
            outcome,
            ending,
            stated_outcome: stated_end.stated,
            remarks: self.remarks,
        }
    }

    fn add_remarks(&mut self, decided: Option<Outcome>, stated_end: StatedEnd) {
        if let Some(ply) = self.third_repetition.filter(|ply| (*ply as usize) < self.moves.len()) {
            self.remarks.push(Remark::ThirdRepetition { ply });
        }
        if let Some(stated) = stated_end.stated.filter(|stated| decided.is_some_and(|decided| decided != *stated)) {
            self.remarks.push(Remark::StatedOtherwise { stated });
        }
    }

    /// Returns whether the position occurred for at least the third time, and no queen is surrounded.
    pub(super) fn is_repeated(&self) -> bool {
        self.judge.outcome(&self.position).is_none() && self.counter.outcome(&self.position).is_some()
    }

    fn list_legal(&mut self) {
        self.legal.clear();
        self.judge.legal_moves(&self.position, &mut self.legal);
    }

    fn why_illegal(&self, mv: Move) -> String {
        if self.judge.outcome(&self.position).is_some() {
            return "the game is over".to_owned();
        }
        let Some(piece) = mv.piece() else { return "pass while there is a legal move".to_owned() };
        if piece.kind() == PieceKind::Queen && self.position.ply() < 2 {
            return "queen placed as first piece".to_owned();
        }
        let (q, r) = (i32::from(mv.target().q()), i32::from(mv.target().r()));
        let origin = (i32::from(Cell::ORIGIN.q()), i32::from(Cell::ORIGIN.r()));
        format!("{piece} may not come to ({}, {}) from the first piece", q - origin.0, r - origin.1)
    }
}

//! What is in the tables, as plain values, and the changes that can be made to them.

use rusqlite::types::{FromSql, FromSqlResult, ToSql, ToSqlOutput, ValueRef};
use shared::game::{Outcome, Side};
use shared::ids::{GameId, Generation, NetworkId, NetworkRef};
use shared::record::{GameRecord, PlyRecord};

use super::columns::UnknownValue;

/// The run: what is played, and by which config.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunRow {
    /// Name of the run, unique among all runs of a user.
    pub run_id: String,
    /// When the run began, RFC 3339.
    pub created_at: String,
    /// The game specification, JSON.
    pub game: String,
    /// The config of the last start, JSON.
    pub config: String,
    /// From this seed every game's seed is made.
    pub seed: u64,
    /// File that the weights of generation 0 were read from; `None`: they were random, or an older program made them.
    pub start_network: Option<String>,
}

/// Makes an enum that lies in the database as a word.
macro_rules! word_enum {
    ($(#[$docs:meta])* $name:ident, $what:literal { $($(#[$variant_docs:meta])* $variant:ident = $word:literal,)+ }) => {
        $(#[$docs])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum $name { $($(#[$variant_docs])* $variant,)+ }

        impl $name {
            /// Returns the word that stands for it in the database.
            #[must_use]
            pub const fn word(self) -> &'static str {
                match self { $(Self::$variant => $word,)+ }
            }
        }

        impl ToSql for $name {
            fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
                Ok(self.word().into())
            }
        }

        impl FromSql for $name {
            fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
                match value.as_str()? {
                    $($word => Ok(Self::$variant),)+
                    word => Err(UnknownValue::error($what, word)),
                }
            }
        }
    };
}

word_enum! {
    /// What a game is played for.
    GameKind, "kind of game" {
        /// To learn from.
        SelfPlay = "self_play",
        /// To compare a candidate with the best network.
        Gate = "gate",
    }
}

word_enum! {
    /// How far a game is.
    GameState, "state of a game" {
        /// It goes on.
        Open = "open",
        /// It ended and counts.
        Finished = "finished",
        /// It did not replay and does not count.
        Quarantined = "quarantined",
        /// It is not needed any more: the gate was decided without it.
        Abandoned = "abandoned",
    }
}

word_enum! {
    /// What resignation had to do with the end of a game.
    Resignation, "resignation" {
        /// A side resigned: the game ended there, and that side lost.
        Resigned = "resigned",
        /// A side would have resigned, but the game was played on to see who wins, and that side lost.
        Right = "right",
        /// A side would have resigned, but the game was played on to see who wins, and that side did not lose.
        False = "false",
    }
}

word_enum! {
    /// What became of a network.
    NetworkState, "state of a network" {
        /// Not yet decided.
        Candidate = "candidate",
        /// The best network; there is at most one.
        Best = "best",
        /// It was the best network once.
        FormerBest = "former_best",
        /// The gate refused it.
        Rejected = "rejected",
    }
}

word_enum! {
    /// How far an iteration is.
    IterationState, "state of an iteration" {
        /// Its games are awaited.
        SelfPlay = "self_play",
        /// The candidate trains.
        Training = "training",
        /// The candidate plays the best network.
        Gate = "gate",
        /// It is over, and its candidate is the best network.
        Promoted = "promoted",
        /// It is over, and its candidate was rejected.
        Rejected = "rejected",
    }
}

impl IterationState {
    /// Returns whether the iteration is over.
    #[must_use]
    pub const fn is_finished(self) -> bool {
        matches!(self, Self::Promoted | Self::Rejected)
    }
}

/// A network that joins the run as a candidate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewNetwork {
    /// Its id.
    pub network_id: NetworkId,
    /// File of the weights, relative to the run directory.
    pub file: String,
    /// SHA-256 of the file, hexadecimal.
    pub sha256: String,
    /// Training steps behind it.
    pub training_step: u64,
}

/// A network of the run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NetworkRow {
    /// Number, file, checksum and step.
    pub network: NewNetwork,
    /// Its generation, if it is or was the best network.
    pub generation: Option<Generation>,
    /// What became of it.
    pub state: NetworkState,
    /// When it joined.
    pub created_at: String,
}

/// What an iteration cost.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct IterationCost {
    /// Leaves that the learner answered, of self-play and of gates.
    pub evaluation_count: u64,
    /// Samples learned from: training steps times the size of a batch.
    pub training_sample_count: u64,
    /// Floating-point operations of both.
    pub flop: f64,
}

/// How far an iteration is.
#[derive(Debug, Clone, PartialEq)]
pub struct IterationRow {
    /// Number of the iteration, from 1.
    pub number: u32,
    /// What it is at.
    pub state: IterationState,
    /// Training samples only games up to this finish number.
    pub window_finish_number: Option<u64>,
    /// Training steps before it.
    pub training_step_start: u64,
    /// Training steps after it, known before the first of them.
    pub training_step_end: Option<u64>,
    /// The network it made.
    pub candidate_id: Option<NetworkId>,
    /// Self-play games finished for it.
    pub game_count: u64,
    /// Positions of these games.
    pub position_count: u64,
    /// What it cost so far; `None` if it began before costs were counted (schema 3).
    pub cost: Option<IterationCost>,
}

impl IterationRow {
    /// Returns an iteration whose games are awaited.
    #[must_use]
    pub fn new(number: u32, training_step_start: u64) -> Self {
        Self {
            number,
            state: IterationState::SelfPlay,
            window_finish_number: None,
            training_step_start,
            training_step_end: None,
            candidate_id: None,
            game_count: 0,
            position_count: 0,
            cost: Some(IterationCost::default()),
        }
    }
}

/// A game that begins.
#[derive(Debug, Clone, PartialEq)]
pub struct NewGame {
    /// Its id, never used twice.
    pub game_id: GameId,
    /// What it is played for.
    pub kind: GameKind,
    /// The iteration at its beginning.
    pub iteration: u32,
    /// Number of its pair in the gate.
    pub pair_index: Option<u32>,
    /// The candidate of the gate; of a yardstick game, the network that is measured.
    pub candidate_id: Option<NetworkId>,
    /// Of a yardstick game, whom the network meets; `None`: it is no yardstick game.
    pub opponent_id: Option<NetworkId>,
    /// Network of White.
    pub white_network: NetworkRef,
    /// Network of Black.
    pub black_network: NetworkRef,
    /// Seed of the search.
    pub seed: u64,
    /// Settings of the search, JSON.
    pub settings: String,
    /// The position that the game begins from, as text; `None`: the initial one.
    pub start: Option<String>,
    /// Moves given before the players begin.
    pub opening: Vec<String>,
}

impl NewGame {
    /// Returns a self-play game of the best network against itself, from the initial position; `settings` is JSON.
    #[must_use]
    pub fn self_play(game_id: GameId, iteration: u32, seed: u64, settings: String) -> Self {
        Self {
            game_id,
            kind: GameKind::SelfPlay,
            iteration,
            pair_index: None,
            candidate_id: None,
            opponent_id: None,
            white_network: NetworkRef::Best,
            black_network: NetworkRef::Best,
            seed,
            settings,
            start: None,
            opening: Vec::new(),
        }
    }

    /// Returns the candidate of the gate that the game belongs to.
    #[must_use]
    pub fn gate_candidate(&self) -> Option<NetworkId> {
        self.candidate_id.filter(|_| !self.is_yardstick())
    }

    /// Returns whether the game measures the best network against an earlier one.
    #[must_use]
    pub const fn is_yardstick(&self) -> bool {
        self.opponent_id.is_some()
    }
}

/// How a game ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StoredResult {
    /// Who won.
    pub outcome: Outcome,
    /// Whether it ended at the ply limit.
    pub is_cut_off: bool,
    /// Whether a side resigned, or would have; `None`: no side.
    pub resignation: Option<Resignation>,
}

impl StoredResult {
    /// Returns the side that resigned, if that ended the game.
    #[must_use]
    pub fn resigned_by(&self) -> Option<Side> {
        match (self.resignation, self.outcome) {
            (Some(Resignation::Resigned), Outcome::Win(side)) => Some(side.opponent()),
            _ => None,
        }
    }
}

/// A game that ends and counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FinishedGame {
    /// The game.
    pub game_id: GameId,
    /// Its place in the order in which games finished.
    pub finish_number: u64,
    /// How it ended.
    pub result: StoredResult,
    /// Plies, the opening included.
    pub ply_count: u32,
    /// Positions to learn from.
    pub sample_count: u32,
    /// Hash of the position after the first plies.
    pub opening_hash: u64,
    /// Hash of the last position.
    pub final_hash: u64,
    /// Hash of all moves.
    pub moves_hash: u64,
    /// Checksum of the record ([`super::record_checksum`]); `None`: its damage is not found.
    pub checksum: Option<u64>,
}

/// A game with its plies.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredGame {
    /// How it began.
    pub game: NewGame,
    /// How far it is.
    pub state: GameState,
    /// How it ended, if it did.
    pub result: Option<StoredResult>,
    /// Its place in the order in which games finished.
    pub finish_number: Option<u64>,
    /// Hash of all moves, of a finished game.
    pub moves_hash: Option<u64>,
    /// Checksum of its record when it finished, if it was made then.
    pub checksum: Option<u64>,
    /// Whether its plies were removed ([`Change::ThinGame`]): then opening and settings are gone too.
    pub is_thinned: bool,
    /// Opening and plies; not read for lists of games.
    pub record: GameRecord,
}

/// One number of the run at one time.
#[derive(Debug, Clone, PartialEq)]
pub struct MetricRow {
    /// Name of the metric.
    pub name: String,
    /// Its value; what is not finite is stored as NULL.
    pub value: f64,
    /// Training step it belongs to.
    pub step: u64,
}

/// A checkpoint of the training.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckpointRow {
    /// Training steps behind it.
    pub training_step: u64,
    /// File, relative to the run directory.
    pub file: String,
    /// SHA-256 of the file, hexadecimal.
    pub sha256: String,
    /// The iteration it was made in.
    pub iteration: u32,
}

/// A finished self-play game by its numbers alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FinishedSpan {
    /// The game.
    pub game_id: GameId,
    /// Its place in the order in which games finished.
    pub finish_number: u64,
    /// Positions with a policy target.
    pub sample_count: u32,
    /// Hash of its start and moves.
    pub moves_hash: u64,
    /// Whether it was cut off at the ply limit.
    pub is_cut_off: bool,
}

/// A worker that joined.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkerRow {
    /// Its name.
    pub worker_id: String,
    /// What it plays.
    pub kind: GameKind,
    /// SHA-256 of its key, hexadecimal.
    pub key_sha256: String,
}

/// One change of the store. Several can be made together, see [`super::Store::submit`].
#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    /// A game begins; its opening becomes its first plies.
    CreateGame(NewGame),
    /// A ply is added to a game.
    AddPly {
        /// The game.
        game_id: GameId,
        /// Number of the ply, 0 for the first.
        ply: u32,
        /// The ply.
        record: PlyRecord,
    },
    /// An open game ends and counts.
    FinishGame(FinishedGame),
    /// A game is put aside for this reason and does not count.
    QuarantineGame {
        /// The game.
        game_id: GameId,
        /// Why.
        reason: String,
    },
    /// The plies of a game that is over are removed; its row stays, for all that is counted. Of no effect on a game that
    /// goes on, is in quarantine, or belongs to a gate that is not decided.
    ThinGame {
        /// The game.
        game_id: GameId,
    },
    /// A worker is about to get its first game.
    AddWorker(WorkerRow),
    /// A worker has a game from a ply on.
    LeaseGame {
        /// The game.
        game_id: GameId,
        /// The worker's name.
        worker_id: String,
        /// Plies before it.
        ply: u32,
    },
    /// All games that a worker had are taken out of the run.
    SetAside {
        /// The worker's name.
        worker_id: String,
    },
    /// The games of a worker that were taken out come back.
    PutBack {
        /// The worker's name.
        worker_id: String,
    },
    /// A candidate joins.
    AddNetwork(NewNetwork),
    /// The run's first network was read from this file.
    SetStartNetwork {
        /// The file.
        file: String,
    },
    /// The candidate becomes the best network, the best a former one, and what is left of its gate is abandoned.
    Promote {
        /// The candidate.
        network_id: NetworkId,
    },
    /// The candidate is refused, and what is left of its gate is abandoned.
    Reject {
        /// The candidate.
        network_id: NetworkId,
    },
    /// An iteration begins or goes on.
    PutIteration(IterationRow),
    /// A number of the run.
    AddMetric(MetricRow),
    /// A number of the run of which only the newest value is kept.
    ReplaceMetric(MetricRow),
    /// A checkpoint is complete on disk.
    PutCheckpoint(CheckpointRow),
    /// A checkpoint is about to be deleted.
    RemoveCheckpoint {
        /// Its training step.
        training_step: u64,
    },
}

/// Returns the word for an outcome in the database.
pub(super) const fn outcome_word(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Win(Side::White) => "white",
        Outcome::Win(Side::Black) => "black",
        Outcome::Draw => "draw",
    }
}

/// Returns the outcome for a word in the database.
pub(super) fn outcome_of(word: &str) -> Option<Outcome> {
    [Outcome::Win(Side::White), Outcome::Win(Side::Black), Outcome::Draw]
        .into_iter()
        .find(|outcome| outcome_word(*outcome) == word)
}

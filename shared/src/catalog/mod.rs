//! Where the learner, the workers and the networks choose a game: everything else there is generic over [`Encoding`].

mod network_game;

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::encoding::Encoding;
use crate::encoding::dama::{DamaEncoding, PolicyCoding};
use crate::encoding::hive::HiveEncoding;
use crate::encoding::tictactoe::TicTacToeEncoding;
use crate::game::dama::{Dama, DamaRules};
use crate::game::hive::{GameType, Hive, HiveRules};
use crate::game::tictactoe::TicTacToe;
use crate::setting::{SettingError, check_range};

pub use network_game::NetworkGame;

/// Which game is played, by which rules, and how it is shown to the network. The learner sends it to its workers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "WrittenSpec", into = "WrittenSpec")]
pub enum GameSpec {
    /// Hive with its expansions.
    Hive {
        /// Which Hive.
        rules: HiveRules,
        /// Side of the square of cells that the network sees, 8..=32.
        frame: u8,
    },
    /// Italian draughts.
    Dama {
        /// Which draughts.
        rules: DamaRules,
        /// How moves are numbered.
        policy: PolicyCoding,
    },
    /// Tic-tac-toe, the smallest example.
    TicTacToe {},
}

/// The specification as it stands in a config: the rules' keys beside the others, unknown ones refused.
#[derive(Serialize, Deserialize)]
#[serde(tag = "name", rename_all = "lowercase", deny_unknown_fields)]
enum WrittenSpec {
    Hive {
        #[serde(default = "default_game_type")]
        game_type: GameType,
        #[serde(default = "default_ply_limit")]
        ply_limit: u32,
        #[serde(default = "default_repetition_draw")]
        repetition_draw: bool,
        #[serde(default = "default_queen_first_allowed")]
        queen_first_allowed: bool,
        #[serde(default = "default_frame")]
        frame: u8,
    },
    Dama {
        #[serde(default = "default_dama_ply_limit")]
        ply_limit: u32,
        #[serde(default)]
        policy: PolicyCoding,
    },
    TicTacToe {},
}

fn default_game_type() -> GameType {
    HiveRules::default().game_type
}

fn default_ply_limit() -> u32 {
    HiveRules::default().ply_limit
}

fn default_repetition_draw() -> bool {
    HiveRules::default().repetition_draw
}

fn default_queen_first_allowed() -> bool {
    HiveRules::default().queen_first_allowed
}

fn default_frame() -> u8 {
    HiveEncoding::FRAME_DEFAULT
}

fn default_dama_ply_limit() -> u32 {
    DamaRules::default().ply_limit
}

impl From<WrittenSpec> for GameSpec {
    fn from(written: WrittenSpec) -> Self {
        match written {
            WrittenSpec::Hive { game_type, ply_limit, repetition_draw, queen_first_allowed, frame } => {
                let rest_counts = false;
                let rules = HiveRules { game_type, ply_limit, repetition_draw, queen_first_allowed, rest_counts };
                Self::Hive { rules, frame }
            }
            WrittenSpec::Dama { ply_limit, policy } => Self::Dama { rules: DamaRules { ply_limit }, policy },
            WrittenSpec::TicTacToe {} => Self::TicTacToe {},
        }
    }
}

impl From<GameSpec> for WrittenSpec {
    fn from(spec: GameSpec) -> Self {
        match spec {
            GameSpec::Hive {
                rules: HiveRules { game_type, ply_limit, repetition_draw, queen_first_allowed, rest_counts: _ },
                frame,
            } => Self::Hive { game_type, ply_limit, repetition_draw, queen_first_allowed, frame },
            GameSpec::Dama { rules: DamaRules { ply_limit }, policy } => Self::Dama { ply_limit, policy },
            GameSpec::TicTacToe {} => Self::TicTacToe {},
        }
    }
}

/// Work to be done for whichever game is chosen.
pub trait GameVisitor {
    /// What the work returns.
    type Output;
    /// Does the work for the game that `encoding` shows.
    fn visit<E: Encoding>(self, encoding: E) -> Self::Output;
}

/// How games are written for other programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GameFormat {
    /// UHP GameStrings, one a line.
    Uhp,
    /// PDN, an empty line after each game.
    Pdn,
}

impl GameSpec {
    /// Checks the numbers of the specification.
    ///
    /// # Errors
    /// [`SettingError`] with the first key that is out of range.
    pub fn check(&self) -> Result<(), SettingError> {
        match *self {
            Self::Hive { rules, frame } => {
                check_range("frame", frame, HiveEncoding::FRAMES)?;
                check_range("ply_limit", rules.ply_limit, 1..)
            }
            Self::Dama { rules, .. } => check_range("ply_limit", rules.ply_limit, 1..),
            Self::TicTacToe {} => Ok(()),
        }
    }

    /// Returns the name of the game, as settings write it: `hive`, `dama` or `tictactoe`.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Hive { .. } => "hive",
            Self::Dama { .. } => "dama",
            Self::TicTacToe {} => "tictactoe",
        }
    }

    /// Returns what this kind of game is called: the UHP game type of Hive, the name of any other game.
    #[must_use]
    pub fn type_name(&self) -> String {
        match self {
            Self::Hive { rules, .. } => rules.game_type.to_string(),
            Self::Dama { .. } => "dama".to_owned(),
            Self::TicTacToe {} => "tictactoe".to_owned(),
        }
    }

    /// Returns how games are written for other programs; `None` if other programs do not play it.
    #[must_use]
    pub const fn format(&self) -> Option<GameFormat> {
        match self {
            Self::Hive { .. } => Some(GameFormat::Uhp),
            Self::Dama { .. } => Some(GameFormat::Pdn),
            Self::TicTacToe {} => None,
        }
    }

    /// Returns whether samples of one are samples of the other: packed positions, legal moves and policy indices are the
    /// same, whatever part of the board the network sees.
    #[must_use]
    pub fn has_samples_of(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Hive { rules, .. }, Self::Hive { rules: others, .. }) => rules == others,
            _ => self == other,
        }
    }

    /// Returns whether a network of one can play the other: the game is the same, and positions and moves are encoded
    /// alike. Rules may differ: in another type of Hive the pieces that are not in play are never in hand.
    #[must_use]
    pub fn has_networks_of(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Hive { frame, .. }, Self::Hive { frame: others, .. }) => frame == others,
            (Self::Dama { policy, .. }, Self::Dama { policy: others, .. }) => policy == others,
            (Self::TicTacToe {}, Self::TicTacToe {}) => true,
            // By name, so that the compiler asks what a new game's networks fit.
            (Self::Hive { .. } | Self::Dama { .. } | Self::TicTacToe {}, _) => false,
        }
    }

    /// Returns the type of Hive of a packed position, which may have fewer expansions than the specification; `None` for
    /// a game without types. The bytes are not checked.
    #[must_use]
    pub fn packed_game_type(&self, packed: &[u8]) -> Option<GameType> {
        match *self {
            Self::Hive { rules, frame } => Some(HiveEncoding::new(Hive::new(rules), frame).packed_game_type(packed)),
            Self::Dama { .. } | Self::TicTacToe {} => None,
        }
    }

    /// Returns the same with another type of Hive; other games have no types.
    #[must_use]
    pub fn with_game_type(self, game_type: GameType) -> Self {
        match self {
            Self::Hive { rules, frame } => Self::Hive { rules: HiveRules { game_type, ..rules }, frame },
            other => other,
        }
    }

    /// Does the visitor's work for this game.
    ///
    /// # Errors
    /// [`SettingError`] if the specification is impossible; its key begins with `game`.
    pub fn visit<V: GameVisitor>(&self, visitor: V) -> Result<V::Output, SettingError> {
        self.check().map_err(|error| error.under("game"))?;
        Ok(match *self {
            Self::Hive { rules, frame } => visitor.visit(HiveEncoding::new(Hive::new(rules), frame)),
            Self::Dama { rules, policy } => visitor.visit(DamaEncoding::new(Dama::new(rules), policy)),
            Self::TicTacToe {} => visitor.visit(TicTacToeEncoding::new(TicTacToe)),
        })
    }
}

impl fmt::Display for GameSpec {
    /// The game as errors name it: with what a network must have in common with it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Hive { rules, frame } => write!(f, "Hive {} (frame {frame})", rules.game_type),
            Self::Dama { policy, .. } => write!(f, "Italian draughts ({policy})"),
            Self::TicTacToe {} => f.write_str("tic-tac-toe"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> GameSpec {
        serde_json::from_str(json).expect(json)
    }

    #[test]
    fn what_is_left_out_is_the_default() {
        let spec = GameSpec::Hive { rules: HiveRules::default(), frame: 16 };
        assert_eq!(read(r#"{"name":"hive"}"#), spec);
        assert_eq!(read(r#"{"name":"tictactoe"}"#), GameSpec::TicTacToe {});
        let spec = GameSpec::Dama { rules: DamaRules::default(), policy: PolicyCoding::Lossless };
        assert_eq!(read(r#"{"name":"dama"}"#), spec);
    }

    #[test]
    fn specifications_survive_json() {
        let rules = HiveRules { game_type: GameType::default(), ply_limit: 90, ..HiveRules::default() };
        let spec = GameSpec::Hive { rules, frame: 12 };
        let json = serde_json::to_string(&spec).expect("plain numbers and text");
        assert!(json.starts_with(r#"{"name":"hive","game_type":"Base","ply_limit":90"#), "{json}");
        assert_eq!(read(&json), spec);
        let spec = GameSpec::Dama { rules: DamaRules { ply_limit: 90 }, policy: PolicyCoding::From4 };
        let json = serde_json::to_string(&spec).expect("plain numbers and text");
        assert_eq!(json, r#"{"name":"dama","ply_limit":90,"policy":"from4"}"#);
        assert_eq!(read(&json), spec);
    }

    #[test]
    fn samples_go_with_rules_and_numbers_of_moves() {
        let hive = |ply_limit, frame| GameSpec::Hive { rules: HiveRules { ply_limit, ..HiveRules::default() }, frame };
        assert!(hive(90, 12).has_samples_of(&hive(90, 26)));
        assert!(!hive(90, 12).has_samples_of(&hive(80, 12)));
        assert!(!hive(90, 12).has_samples_of(&GameSpec::TicTacToe {}));
        let dama = |policy| GameSpec::Dama { rules: DamaRules::default(), policy };
        assert!(!dama(PolicyCoding::From4).has_samples_of(&dama(PolicyCoding::Lossless)));
    }

    #[test]
    fn networks_go_with_encodings() {
        let hive = |game_type, frame| {
            let rules = HiveRules { game_type, ..HiveRules::default() };
            GameSpec::Hive { rules, frame }
        };
        assert!(hive(GameType::MLP, 16).has_networks_of(&hive(GameType::default(), 16)));
        assert_eq!(hive(GameType::default(), 16).with_game_type(GameType::MLP), hive(GameType::MLP, 16));
        assert!(!hive(GameType::MLP, 16).has_networks_of(&hive(GameType::MLP, 26)));
        let dama = |ply_limit, policy| GameSpec::Dama { rules: DamaRules { ply_limit }, policy };
        assert!(dama(90, PolicyCoding::From4).has_networks_of(&dama(200, PolicyCoding::From4)));
        assert!(!dama(90, PolicyCoding::From4).has_networks_of(&dama(90, PolicyCoding::Lossless)));
        assert!(!dama(90, PolicyCoding::From4).has_networks_of(&GameSpec::TicTacToe {}));
        let names = [hive(GameType::MLP, 12), dama(90, PolicyCoding::Lossless), GameSpec::TicTacToe {}];
        let names = names.map(|spec| spec.to_string());
        assert_eq!(names, ["Hive Base+MLP (frame 12)", "Italian draughts (lossless)", "tic-tac-toe"]);
    }

    #[test]
    fn what_is_wrong_is_named() {
        let wrong = |json: &str| serde_json::from_str::<GameSpec>(json).expect_err(json).to_string();
        assert!(wrong(r#"{"name":"hive","frames":16}"#).contains("unknown field `frames`"));
        assert!(wrong(r#"{"name":"hive","game_type":"Base+Z"}"#).contains("Base+Z"));
        assert!(wrong(r#"{"name":"chess"}"#).contains("chess"));
        assert!(wrong(r#"{"name":"dama","policy":"from5"}"#).contains("from5"));
        let spec = GameSpec::Dama { rules: DamaRules { ply_limit: 0 }, policy: PolicyCoding::Lossless };
        let message = |spec: &GameSpec| spec.check().expect_err("impossible").to_string();
        assert_eq!(message(&spec), "ply_limit: 0 is below 1");
        let spec = |frame| GameSpec::Hive { rules: HiveRules::default(), frame };
        assert_eq!(message(&spec(7)), "frame: 7 is not in 8..=32");
        assert_eq!(message(&spec(33)), "frame: 33 is not in 8..=32");
        let rules = HiveRules { ply_limit: 0, ..HiveRules::default() };
        assert_eq!(message(&GameSpec::Hive { rules, frame: 16 }), "ply_limit: 0 is below 1");
    }
}

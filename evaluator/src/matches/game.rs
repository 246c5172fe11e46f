//! What a match must know of its game beside the rules. Of matches, here alone a game is chosen.

use clap::ValueEnum;
use runtime::exit::UsageError;
use shared::encoding::Shown;
use shared::game::dama::{self, Dama, DamaRules};
use shared::game::hive::{self, GameType, Hive, HiveRules};
use shared::game::{Game, Outcome, Side};
use shared::notation::dama::pdn::{self, PdnGame};
use shared::notation::{self, PlayedGame};
use tokio_util::sync::CancellationToken;

use super::engine::{EngineBounds, EngineMover};
use super::mover::Mover;
use super::play::{Ending, FinishedGame};
use super::player::EngineLimit;

/// Which game is played.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum GameName {
    /// Hive, with or without expansions.
    Hive,
    /// Italian draughts.
    Dama,
}

/// The game of a match, by its rules.
#[derive(Debug, Clone, Copy)]
pub enum ChosenGame {
    /// Hive.
    Hive(Hive),
    /// Italian draughts.
    Dama(Dama),
}

impl ChosenGame {
    /// Returns the game that is cut off after so many plies; Hive of this type, Base+MLP if none is named.
    ///
    /// # Errors
    /// [`UsageError`] for a type of another game.
    pub fn new(name: GameName, game_type: Option<GameType>, ply_limit: u32) -> Result<Self, UsageError> {
        match (name, game_type) {
            (GameName::Hive, game_type) => {
                let game_type = game_type.unwrap_or(GameType::MLP);
                Ok(Self::Hive(Hive::new(HiveRules { game_type, ply_limit, ..HiveRules::default() })))
            }
            (GameName::Dama, None) => Ok(Self::Dama(Dama::new(DamaRules { ply_limit }))),
            (GameName::Dama, Some(_)) => Err(UsageError("--type is for --game hive".to_owned())),
        }
    }

    /// Returns what this kind of game is called where results are kept.
    pub fn type_name(&self) -> String {
        match self {
            Self::Hive(hive) => hive.spec(Hive::USUAL_VIEW).type_name(),
            Self::Dama(dama) => dama.spec(Dama::USUAL_VIEW).type_name(),
        }
    }
}

/// A game that can be played in matches.
pub trait MatchGame: Shown {
    /// How games end by the rules, the ply limit aside.
    const ENDINGS: &'static [&'static str];

    /// Returns which of [`Self::ENDINGS`] it was, in a position where the game is over and not cut off.
    fn ending(&self, position: &Self::Position) -> &'static str;
    /// Returns the text of a game between these players, White first, with the result of the match.
    fn game_text(&self, names: [&str; 2], game: &FinishedGame<Self>) -> String;
    /// Returns what `learner serve` must be told to answer for this game.
    fn serve_arguments(&self) -> Vec<String> {
        vec![]
    }
    /// Returns the player that the shell runs as `command`.
    ///
    /// # Errors
    /// [`UsageError`] if no outside engine plays this game here.
    fn engine(
        self,
        command: &str,
        _limit: EngineLimit,
        _bounds: EngineBounds,
        _stop: CancellationToken,
    ) -> anyhow::Result<Box<dyn Mover<Self> + Send>> {
        Err(UsageError(format!("player uhp:{command}: UHP engines play Hive alone, not {}", Self::NAME)).into())
    }
}

impl MatchGame for Hive {
    const ENDINGS: &'static [&'static str] = &["queen surrounded", "repetition"];

    fn ending(&self, position: &hive::Position) -> &'static str {
        let is_surrounded = [Side::White, Side::Black].iter().any(|side| position.queen_neighbour_count(*side) == 6);
        Self::ENDINGS[usize::from(!is_surrounded)]
    }

    /// A UHP GameString.
    fn game_text(&self, _names: [&str; 2], game: &FinishedGame<Self>) -> String {
        let ending = match game.ending {
            Ending::Rules("queen surrounded") => notation::Ending::QueenSurrounded,
            Ending::Rules(_) => notation::Ending::Repetition,
            Ending::PlyLimit | Ending::Forfeit(..) => notation::Ending::Stated,
        };
        let played = PlayedGame {
            rules: HiveRules { ply_limit: u32::MAX, repetition_draw: false, ..*self.rules() },
            moves: game.moves.clone(),
            outcome: Some(game.outcome),
            ending,
            stated_outcome: None,
            remarks: vec![],
        };
        played.to_game_string() + "\n"
    }

    fn serve_arguments(&self) -> Vec<String> {
        vec!["--type".to_owned(), self.rules().game_type.to_string()]
    }

    fn engine(
        self,
        command: &str,
        limit: EngineLimit,
        bounds: EngineBounds,
        stop: CancellationToken,
    ) -> anyhow::Result<Box<dyn Mover<Self> + Send>> {
        Ok(Box::new(EngineMover::new(self, command, limit, bounds, stop)))
    }
}

impl MatchGame for Dama {
    const ENDINGS: &'static [&'static str] = &["no move left", "repetition", "80 quiet plies"];

    fn ending(&self, position: &dama::Position) -> &'static str {
        let is_won = matches!(self.outcome(position), Some(Outcome::Win(_)));
        let is_quiet = position.quiet_ply_count() >= Self::QUIET_PLY_LIMIT;
        Self::ENDINGS[if is_won { 0 } else { 1 + usize::from(is_quiet) }]
    }

    /// PDN, and an empty line.
    fn game_text(&self, [white, black]: [&str; 2], game: &FinishedGame<Self>) -> String {
        let round = (game.planned.index + 1).to_string();
        let tags = [("Event", "match"), ("Round", &round), ("White", white), ("Black", black)];
        let game = PdnGame {
            tags: tags.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec(),
            start: self.initial_position(),
            moves: game.moves.clone(),
            result: Some(game.outcome),
        };
        pdn::write(&game) + "\n"
    }
}

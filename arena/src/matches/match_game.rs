//! What a match must know of its game beside the rules. Of this crate, here alone a game is chosen.

use notation::dama::pdn::{self, PdnGame};
use notation::uhp::GameString;
use notation::{self, PlayedGame};
use runtime::replaced_file::FileKind;
use shared::catalog::NetworkGame;
use shared::game::dama::{self, Dama};
use shared::game::hive::{self, Hive, HiveRules};
use shared::game::{Game, Outcome, Side};
use tokio_util::sync::CancellationToken;

use super::error::MatchError;
use super::finished::{Ending, FinishedGame};
use crate::levels::{DAMA_LEVELS, HIVE_LEVELS, LevelTable};
use crate::players::{EngineBounds, EngineSpec, HubPlayer, MatchPlayer, Protocol, UhpPlayer};

/// A game that can be played in matches.
pub trait MatchGame: NetworkGame {
    /// How games end by the rules, the ply limit aside.
    const ENDINGS: &'static [&'static str];
    /// How its named strengths play.
    const LEVELS: &'static LevelTable;
    /// What [`Self::game_text`] fills files with.
    const GAMES_FILE: FileKind;

    /// Returns the name under which results of this kind of game are kept.
    fn type_name(&self) -> String {
        self.spec(Self::USUAL_VIEW).type_name()
    }
    /// Returns which of [`Self::ENDINGS`] it was, in a position where the game is over and not cut off.
    fn ending(&self, position: &Self::Position) -> &'static str;
    /// Returns the text of a game between these players, White first, with the result of the match.
    fn game_text(&self, names: [&str; 2], game: &FinishedGame<Self>) -> String;
    /// Returns the player that is another program.
    ///
    /// # Errors
    /// [`MatchError::Protocol`] if no engine with its protocol plays this game.
    fn engine(
        &self,
        spec: &EngineSpec,
        bounds: EngineBounds,
        stop: &CancellationToken,
    ) -> Result<Box<dyn MatchPlayer<Self>>, MatchError>;
}

impl MatchGame for Hive {
    const ENDINGS: &'static [&'static str] = &["queen surrounded", "repetition"];
    const LEVELS: &'static LevelTable = &HIVE_LEVELS;
    const GAMES_FILE: FileKind = FileKind { name: "a file of UHP GameStrings", is_start: is_game_string };

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

    fn engine(
        &self,
        spec: &EngineSpec,
        bounds: EngineBounds,
        stop: &CancellationToken,
    ) -> Result<Box<dyn MatchPlayer<Self>>, MatchError> {
        match spec.protocol {
            Protocol::Uhp => Ok(Box::new(UhpPlayer::new(*self, spec, bounds, stop.clone()))),
            Protocol::Hub => Err(other_protocol::<Self>(spec)),
        }
    }
}

impl MatchGame for Dama {
    const ENDINGS: &'static [&'static str] = &["no move left", "repetition", "80 quiet plies"];
    const LEVELS: &'static LevelTable = &DAMA_LEVELS;
    const GAMES_FILE: FileKind = FileKind { name: "a file of PDN games", is_start: is_pdn };

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

    fn engine(
        &self,
        spec: &EngineSpec,
        bounds: EngineBounds,
        stop: &CancellationToken,
    ) -> Result<Box<dyn MatchPlayer<Self>>, MatchError> {
        match spec.protocol {
            Protocol::Hub => Ok(Box::new(HubPlayer::new(*self, spec, bounds, stop.clone()))),
            Protocol::Uhp => Err(other_protocol::<Self>(spec)),
        }
    }
}

/// Returns whether the first line is a GameString. A name of a type alone might be a heading.
fn is_game_string(start: &[u8]) -> bool {
    let text = notation::decode(start.to_vec());
    let line = text.lines().next().unwrap_or_default();
    line.contains(';') && line.parse::<GameString>().is_ok()
}

/// Returns whether the first game is one of Italian draughts.
fn is_pdn(start: &[u8]) -> bool {
    pdn::read(&notation::decode(start.to_vec())).next().is_some_and(|game| game.is_ok())
}

fn other_protocol<G: NetworkGame>(spec: &EngineSpec) -> MatchError {
    MatchError::Protocol { protocol: spec.protocol, command: spec.command.clone(), game: G::NAME }
}

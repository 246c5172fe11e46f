//! What a notebook must know of a game beside its rules: how a position is written and drawn.

use net::NetworkEvaluator;
use notation::board::{self, View};
use notation::uhp::{GameString, GameStringError, format_game};
use shared::catalog::NetworkGame;
use shared::game::Game;
use shared::game::dama::fen::{self, FenError};
use shared::game::dama::{self, Dama};
use shared::game::hive::{self, Hive};

use super::{AnyGame, AnyNetwork, AnyPosition, ByGame, TypedGame, TypedPosition};

/// A game whose positions Python can read, write and see.
pub trait NotebookGame: NetworkGame {
    /// Reads a position: where its game began, and the moves since.
    ///
    /// # Errors
    /// [`PositionTextError`]. Never panics.
    fn read(&self, text: &str) -> Result<(Self::Position, Vec<Self::Move>), PositionTextError>;
    /// Returns the text that [`Self::read`] reads; `moves` are those since the initial position, if they are known.
    ///
    /// # Errors
    /// [`NoHistoryError`] if the text is made of moves that are not known.
    fn write(&self, position: &Self::Position, moves: Option<&[Self::Move]>) -> Result<String, NoHistoryError>;
    /// Returns the board as people see it.
    fn draw(&self, position: &Self::Position) -> String;

    /// Returns the game as one of either.
    fn any_game(game: TypedGame<Self>) -> AnyGame;
    /// Returns the position as one of either game.
    fn any_position(position: TypedPosition<Self>) -> AnyPosition;
    /// Returns the position, if it is of this game.
    fn position_of(position: &AnyPosition) -> Option<&TypedPosition<Self>>;
    /// Returns the network as one of either game.
    fn any_network(network: NetworkEvaluator<Self>) -> AnyNetwork;
    /// Returns the network, if it is of this game.
    fn network_of(network: &AnyNetwork) -> Option<&NetworkEvaluator<Self>>;
}

/// Why a text is not a position.
#[derive(Debug, thiserror::Error)]
pub enum PositionTextError {
    /// It is not a UHP GameString, or not of this game.
    #[error(transparent)]
    GameString(#[from] GameStringError),
    /// It is not a FEN.
    #[error(transparent)]
    Fen(#[from] FenError),
}

/// The moves that led to the position are not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the moves that led to this position are not known: it comes from a sample or from inside a search")]
pub struct NoHistoryError;

impl NotebookGame for Hive {
    /// A GameString, whose game began at the initial position.
    fn read(&self, text: &str) -> Result<(hive::Position, Vec<hive::Move>), PositionTextError> {
        let (_, moves) = text.parse::<GameString>()?.replay(self)?;
        Ok((self.initial_position(), moves))
    }

    fn write(&self, _: &hive::Position, moves: Option<&[hive::Move]>) -> Result<String, NoHistoryError> {
        moves.map(|moves| format_game(self, moves)).ok_or(NoHistoryError)
    }

    fn draw(&self, position: &hive::Position) -> String {
        board::draw_hive(position, View::plain())
    }

    fn any_game(game: TypedGame<Self>) -> AnyGame {
        ByGame::Hive(game)
    }

    fn any_position(position: TypedPosition<Self>) -> AnyPosition {
        ByGame::Hive(position)
    }

    fn position_of(position: &AnyPosition) -> Option<&TypedPosition<Self>> {
        if let ByGame::Hive(position) = position { Some(position) } else { None }
    }

    fn any_network(network: NetworkEvaluator<Self>) -> AnyNetwork {
        ByGame::Hive(network)
    }

    fn network_of(network: &AnyNetwork) -> Option<&NetworkEvaluator<Self>> {
        if let ByGame::Hive(network) = network { Some(network) } else { None }
    }
}

impl NotebookGame for Dama {
    /// A FEN: the game begins there.
    fn read(&self, text: &str) -> Result<(dama::Position, Vec<dama::Move>), PositionTextError> {
        Ok((fen::read(text)?, vec![]))
    }

    fn write(&self, position: &dama::Position, _: Option<&[dama::Move]>) -> Result<String, NoHistoryError> {
        Ok(fen::write(position.board(), position.side_to_move()))
    }

    fn draw(&self, position: &dama::Position) -> String {
        board::draw_dama(position, View::plain())
    }

    fn any_game(game: TypedGame<Self>) -> AnyGame {
        ByGame::Dama(game)
    }

    fn any_position(position: TypedPosition<Self>) -> AnyPosition {
        ByGame::Dama(position)
    }

    fn position_of(position: &AnyPosition) -> Option<&TypedPosition<Self>> {
        if let ByGame::Dama(position) = position { Some(position) } else { None }
    }

    fn any_network(network: NetworkEvaluator<Self>) -> AnyNetwork {
        ByGame::Dama(network)
    }

    fn network_of(network: &AnyNetwork) -> Option<&NetworkEvaluator<Self>> {
        if let ByGame::Dama(network) = network { Some(network) } else { None }
    }
}

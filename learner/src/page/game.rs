//! One game, ply by ply: boards, moves, what the search thought, and how it shared its visits out.

use std::collections::HashMap;

use serde::Serialize;
use shared::catalog::GameSpec;
use shared::encoding::{Encoding, Mv, Pos};
use shared::game::{Game, MoveError, Side, StartError};
use shared::ids::GameId;
use shared::record::{PlyRecord, PolicyTarget};
use store::{Reader, StoredGame};

use super::answer::PageError;
use super::board::{Board, BoardGame, BoardVisitor, Frame, MovePlaces, visit};
use super::games::{kind_word, network_number, outcome_word, side_word};
use super::iterations::rounded;

/// Moves of a position that are shown with their share of the visits; the others are summed up.
const SHARE_COUNT_MAX: usize = 12;

/// A game.
#[derive(Debug, Serialize)]
pub(super) struct GameAnswer {
    game_id: u64,
    kind: &'static str,
    iteration: u32,
    state: &'static str,
    result: Option<&'static str>,
    is_cut_off: bool,
    /// Whether the side that did not win resigned.
    is_resigned: bool,
    white_network: u32,
    black_network: u32,
    candidate_id: Option<u32>,
    opponent_id: Option<u32>,
    /// The position that the game began from; none: the initial one.
    start: Option<String>,
    opening_ply_count: u32,
    /// `hive`, `dama` or `tictactoe`.
    game_name: &'static str,
    /// All pieces of the game, of Hive.
    pieces: Vec<String>,
    /// The board before each ply, and after the last one.
    boards: Vec<Board>,
    plies: Vec<PlyLine>,
    /// Whether its plies were removed (`store.keep_games`).
    is_thinned: bool,
    /// Why the game is not told to its end.
    problem: Option<String>,
}

/// A ply.
#[derive(Debug, Serialize)]
struct PlyLine {
    side: &'static str,
    #[serde(rename = "move")]
    text: String,
    #[serde(flatten)]
    places: MovePlaces,
    /// Expected outcome for White, -1 to 1; none where nobody searched.
    value: Option<f64>,
    simulation_count: u32,
    network_id: Option<u32>,
    /// Moves with their share of the visits, the largest first; none where there is nothing to learn from.
    shares: Vec<ShareLine>,
    /// Sum of the shares that are not shown.
    other_share: f64,
}

/// A move with its share of the visits.
#[derive(Debug, Serialize)]
struct ShareLine {
    #[serde(rename = "move")]
    text: String,
    #[serde(flatten)]
    places: MovePlaces,
    share: f64,
}

/// Reads a game.
pub(super) fn read_game(reader: &Reader, game: &GameSpec, game_id: GameId) -> Result<GameAnswer, PageError> {
    let stored = stored_game(reader, game_id)?;
    Ok(visit(game, ReadGame { stored, game_name: game.name() }))
}

/// Reads a game from the store.
pub(super) fn stored_game(reader: &Reader, game_id: GameId) -> Result<StoredGame, PageError> {
    reader.game(game_id)?.ok_or_else(|| PageError::NotFound(format!("there is no game {game_id}")))
}

struct ReadGame {
    stored: StoredGame,
    game_name: &'static str,
}

impl BoardVisitor for ReadGame {
    type Output = GameAnswer;

    fn visit<E: Encoding<Game: BoardGame>>(self, encoding: E) -> GameAnswer {
        let StoredGame { game, state, result, is_thinned, record, .. } = self.stored;
        let mut replayed =
            ReplayedGame { encoding: &encoding, frame: Frame::default(), boards: Vec::new(), plies: Vec::new() };
        let problem = replayed.tell(record.start.as_deref(), &record.plies).err().map(|problem| problem.to_string());
        GameAnswer {
            game_id: game.game_id.get(),
            kind: kind_word(game.kind, game.is_yardstick()),
            iteration: game.iteration,
            state: state.word(),
            result: result.map(|result| outcome_word(result.outcome)),
            is_cut_off: result.is_some_and(|result| result.is_cut_off),
            is_resigned: result.is_some_and(|result| result.resigned_by().is_some()),
            white_network: network_number(game.white_network),
            black_network: network_number(game.black_network),
            candidate_id: game.candidate_id.map(|network_id| network_id.get()),
            opponent_id: game.opponent_id.map(|network_id| network_id.get()),
            start: record.start,
            opening_ply_count: record.opening_ply_count,
            game_name: self.game_name,
            pieces: encoding.game().pieces(),
            boards: replayed.boards,
            plies: replayed.plies,
            is_thinned,
            problem,
        }
    }
}

/// Where the rules disagree with a stored game.
#[derive(Debug, thiserror::Error)]
enum OtherRules {
    #[error(transparent)]
    Start(#[from] StartError),
    #[error("ply {ply}: {error}")]
    Move { ply: usize, error: MoveError },
}

/// A game as far as its plies could be replayed.
struct ReplayedGame<'a, E> {
    encoding: &'a E,
    frame: Frame,
    boards: Vec<Board>,
    plies: Vec<PlyLine>,
}

impl<E: Encoding<Game: BoardGame>> ReplayedGame<'_, E> {
    /// Plays all plies; the error says where the rules disagree.
    fn tell(&mut self, start: Option<&str>, plies: &[PlyRecord]) -> Result<(), OtherRules> {
        let game = self.encoding.game();
        let mut position = game.start_position(start)?;
        self.boards.push(game.board(&position, &mut self.frame));
        for (ply, record) in plies.iter().enumerate() {
            let mv = game.parse_move(&position, &record.move_text);
            let mv = mv.map_err(|error| OtherRules::Move { ply, error })?;
            let line = self.line_of(&position, mv, record);
            self.plies.push(line);
            game.play(&mut position, mv);
            self.boards.push(game.board(&position, &mut self.frame));
        }
        Ok(())
    }

    fn line_of(&self, position: &Pos<E>, mv: Mv<E>, record: &PlyRecord) -> PlyLine {
        let (game, side) = (self.encoding.game(), self.encoding.game().side_to_move(position));
        let mut shares = record.policy_target.as_ref().map_or_else(Vec::new, |target| self.shares(position, target));
        let other_share = shares.iter().skip(SHARE_COUNT_MAX).map(|line| line.share).sum();
        shares.truncate(SHARE_COUNT_MAX);
        PlyLine {
            side: side_word(side),
            text: game.format_move(position, mv),
            places: game.places(position, mv, &self.frame),
            value: (record.simulation_count > 0).then(|| value_for_white(record.root_value, side)),
            simulation_count: record.simulation_count,
            network_id: record.network_id.map(|network_id| network_id.get()),
            shares,
            other_share: rounded(other_share),
        }
    }

    /// Returns the moves of the target, the largest share first. Moves that have one index share its weight.
    fn shares(&self, position: &Pos<E>, target: &PolicyTarget) -> Vec<ShareLine> {
        let game = self.encoding.game();
        let (mut moves, mut indices) = (Vec::new(), Vec::new());
        game.legal_moves(position, &mut moves);
        self.encoding.policy_indices(position, &moves, &mut indices);
        let weights: HashMap<u16, u16> = target.pairs().iter().copied().collect();
        let mut counts = HashMap::<u16, u32>::new();
        indices.iter().for_each(|index| *counts.entry(*index).or_default() += 1);
        let share = |index: &u16| {
            let weight = f64::from(weights.get(index).copied().unwrap_or(0));
            weight / f64::from(target.weight_sum()) / f64::from(counts[index])
        };
        let mut shares: Vec<_> = moves.iter().zip(&indices).map(|(mv, index)| (*mv, share(index))).collect();
        shares.retain(|(_, share)| *share > 0.0);
        shares.sort_by(|a, b| b.1.total_cmp(&a.1));
        let line = |(mv, share): (Mv<E>, f64)| ShareLine {
            text: game.format_move(position, mv),
            places: game.places(position, mv, &self.frame),
            share: rounded(share),
        };
        shares.into_iter().map(line).collect()
    }
}

/// Turns a value for the side to move into one for White.
pub(super) fn value_for_white(value: f32, side: Side) -> f64 {
    let value = if side == Side::White { value } else { -value };
    rounded(f64::from(value))
}

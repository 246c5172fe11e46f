//! A position to try moves from: a game up to a ply, then moves of one's own, and what the best network thinks of it.

use serde::Serialize;
use shared::encoding::Encoding;
use shared::game::Game;
use shared::ids::GameId;

use super::Page;
use super::answer::{Answer, Json, PageError};
use super::board::{Board, BoardGame, BoardVisitor, Frame, MovePlaces, visit};
use super::evaluator::PositionEvaluation;
use super::game::{stored_game, value_for_white};
use super::games::{outcome_word, side_word};
use super::iterations::rounded;
use super::query::{Query, bad};

/// What can be asked for.
pub(super) const KEYS: [&str; 4] = ["game", "ply", "moves", "evaluate"];
/// Moves of one's own at most.
const MOVE_COUNT_MAX: usize = 1000;

/// A position.
#[derive(Debug, Serialize)]
pub(super) struct PositionAnswer {
    game_name: &'static str,
    #[serde(flatten)]
    shown: Shown,
    /// What the best network thinks; none if it was not asked, or the game is over.
    evaluation: Option<Evaluation>,
}

/// What can be seen of a position, and what can be played.
#[derive(Debug, Serialize)]
struct Shown {
    pieces: Vec<String>,
    board: Board,
    /// Plies played.
    ply: u32,
    side: &'static str,
    result: Option<&'static str>,
    is_cut_off: bool,
    /// The move that led here.
    last: Option<MoveLine>,
    /// All legal moves.
    legal: Vec<MoveLine>,
    #[serde(skip)]
    asked: Asked,
}

/// A move.
#[derive(Debug, Clone, Serialize)]
struct MoveLine {
    #[serde(rename = "move")]
    text: String,
    #[serde(flatten)]
    places: MovePlaces,
}

/// A position as a network reads it.
#[derive(Debug, Default)]
struct Asked {
    packed: Vec<u8>,
    policy_indices: Vec<u16>,
    is_white: bool,
}

/// What a network thinks of a position.
#[derive(Debug, Serialize)]
struct Evaluation {
    network_id: u32,
    generation: u32,
    /// Expected outcome for White, -1 to 1.
    value: f64,
    /// Prior of each legal move, in the order of `legal`.
    priors: Vec<f64>,
}

/// Answers `/api/position`.
pub(super) async fn position(page: &Page, query: &Query) -> Answer<PositionAnswer> {
    let moves: Vec<String> =
        query.text("moves").unwrap_or_default().split(';').map(|text| text.trim().to_owned()).collect();
    let moves: Vec<String> = moves.into_iter().filter(|text| !text.is_empty()).collect();
    if moves.len() > MOVE_COUNT_MAX {
        return Err(bad("moves", format!("{} moves, at most {MOVE_COUNT_MAX}", moves.len())));
    }
    let (game_id, ply) = (query.value::<u64>("game")?.map(GameId::new), query.value::<usize>("ply")?);
    let (line, start) = match game_id {
        None if ply.is_some() => return Err(bad("ply", "goes with game")),
        None => (Vec::new(), None),
        Some(game_id) => {
            let stored = page.source.read(move |reader| stored_game(reader, game_id)).await?;
            if stored.is_thinned {
                let what = format!("the plies of game {game_id} were removed (store.keep_games)");
                return Err(PageError::NotFound(what));
            }
            let plies = stored.record.plies;
            let ply = ply.unwrap_or(plies.len());
            if ply > plies.len() {
                return Err(PageError::NotFound(format!("game {game_id} has {} plies", plies.len())));
            }
            (plies.into_iter().take(ply).map(|ply| ply.move_text).collect(), stored.record.start)
        }
    };
    // A thousand moves take a core for a while.
    let (game, asked) = (page.game.clone(), ShowPosition { start, line, moves });
    let shown = page.source.compute(move || visit(&game, asked)).await?;
    let is_asked = query.value::<u8>("evaluate")?.unwrap_or(0) != 0 && !shown.legal.is_empty();
    let evaluation = if is_asked { Some(evaluation_of(page, &shown.asked).await?) } else { None };
    Ok(Json(PositionAnswer { game_name: page.game.name(), shown, evaluation }))
}

async fn evaluation_of(page: &Page, asked: &Asked) -> Result<Evaluation, PageError> {
    let evaluator = page.evaluator.as_ref();
    let evaluator = evaluator.ok_or_else(|| PageError::NoNetwork("this page has no network to ask".to_owned()))?;
    evaluator.follow(&page.source).await?;
    let PositionEvaluation { network_id, generation, value, priors } =
        evaluator.evaluate(&asked.packed, &asked.policy_indices).await?;
    let value = rounded(f64::from(if asked.is_white { value } else { -value }));
    let priors = priors.into_iter().map(|prior| rounded(f64::from(prior))).collect();
    Ok(Evaluation { network_id: network_id.get(), generation: generation.get(), value, priors })
}

/// Moves to be played from a start.
struct ShowPosition {
    start: Option<String>,
    /// Of a stored game.
    line: Vec<String>,
    /// Of the visitor.
    moves: Vec<String>,
}

impl BoardVisitor for ShowPosition {
    type Output = Result<Shown, PageError>;

    fn visit<E: Encoding<Game: BoardGame>>(self, encoding: E) -> Self::Output {
        let game = encoding.game();
        let mut position =
            game.start_position(self.start.as_deref()).map_err(|error| PageError::BadRequest(error.to_string()))?;
        let mut frame = Frame::default();
        let (mut board, mut last) = (game.board(&position, &mut frame), None);
        for text in self.line.iter().chain(&self.moves) {
            let mv = game.parse_move(&position, text).map_err(|error| bad("moves", error))?;
            let (text, places) = (game.format_move(&position, mv), game.places(&position, mv, &frame));
            game.play(&mut position, mv);
            board = game.board(&position, &mut frame);
            last = Some(MoveLine { text, places });
        }
        let (mut moves, mut asked) = (Vec::new(), Asked::default());
        game.legal_moves(&position, &mut moves);
        encoding.policy_indices(&position, &moves, &mut asked.policy_indices);
        encoding.pack(&position, &mut asked.packed);
        let side = game.side_to_move(&position);
        asked.is_white = value_for_white(1.0, side) > 0.0;
        let line = |mv| MoveLine { text: game.format_move(&position, mv), places: game.places(&position, mv, &frame) };
        Ok(Shown {
            pieces: game.pieces(),
            board,
            ply: game.ply(&position),
            side: side_word(side),
            result: game.outcome(&position).map(outcome_word),
            is_cut_off: game.is_cut_off(&position),
            last,
            legal: moves.iter().map(|mv| line(*mv)).collect(),
            asked,
        })
    }
}

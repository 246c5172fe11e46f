//! Whole games as PDN, game type 22: tags, moves with comments and variations around them, a result.
//!
//! Comments, annotations and variations are skipped. A broken game is returned as an error, and reading continues.

mod error;
mod tokens;

use crate::tags;
use shared::game::dama::fen;
use shared::game::dama::text::{find_move, format_move};
use shared::game::dama::{Dama, Move, Position};
use shared::game::{Game, Outcome, Side};

use error::GAME_TYPE;
pub use error::{PdnError, PdnReason};
use tokens::{Token, Tokens};

/// Columns after which a line of moves is broken.
const COLUMN_COUNT_MAX: usize = 79;

/// A game as people record it.
#[derive(Debug, Clone)]
pub struct PdnGame {
    /// Names and values of the tags, in their order.
    pub tags: Vec<(String, String)>,
    /// Where the game starts.
    pub start: Position,
    /// The moves, all legal.
    pub moves: Vec<Move>,
    /// How the game ended, as the record says; `None` if it does not say.
    pub result: Option<Outcome>,
}

impl PdnGame {
    /// Returns the value of a tag.
    #[must_use]
    pub fn tag(&self, name: &str) -> Option<&str> {
        find_tag(&self.tags, name)
    }

    /// Returns the position after all moves.
    #[must_use]
    pub fn end(&self) -> Position {
        let mut position = self.start.clone();
        self.moves.iter().for_each(|mv| Dama::default().play(&mut position, *mv));
        position
    }
}

fn find_tag<'a>(tags: &'a [(String, String)], name: &str) -> Option<&'a str> {
    tags.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
}

/// Reads all games of a text. One whose tags alone have a result is taken by its word.
pub fn read(text: &str) -> impl Iterator<Item = Result<PdnGame, PdnError>> {
    records(text).map(|record| record.and_then(Record::into_game))
}

/// Reads all games of a text, and refuses one whose tag has a result and whose moves end without one: PDN ends every game
/// with a result or an asterisk, so the rest is missing, as where a file was cut off.
pub fn read_whole(text: &str) -> impl Iterator<Item = Result<PdnGame, PdnError>> {
    records(text).map(|record| record.and_then(|record| record.ensure_ended().and_then(Record::into_game)))
}

fn records(text: &str) -> impl Iterator<Item = Result<Record, PdnError>> {
    let mut tokens = Tokens::new(text);
    std::iter::from_fn(move || Record::take(&mut tokens))
}

/// The text of one game, not yet played.
#[derive(Default)]
struct Record {
    line: u32,
    tags: Vec<(String, String)>,
    moves: Vec<(u32, String)>,
    /// Its line, and what it says.
    result: Option<(u32, Option<Outcome>)>,
}

impl Record {
    /// Takes the tokens of the next game; `None` after the last one.
    fn take(tokens: &mut Tokens<'_>) -> Option<Result<Self, PdnError>> {
        let mut record = Self::default();
        let mut failure = None;
        while let Some((line, token)) = tokens.peek() {
            let has_moves = !record.moves.is_empty() || record.result.is_some();
            if has_moves && matches!(token, Ok(Token::Tag { .. })) {
                break;
            }
            tokens.advance();
            if record.line == 0 {
                record.line = line;
            }
            match token {
                Ok(Token::Tag { name, value }) => record.tags.push((name, value)),
                Ok(Token::Move(text)) => record.moves.push((line, text)),
                Ok(Token::Result(result)) => {
                    record.result = Some((line, result));
                    failure = failure.or(other_result(tokens, result));
                    break;
                }
                Err(error) => failure = failure.or(Some(error)),
            }
        }
        let result = failure.map_or(Ok(record), Err);
        if matches!(&result, Ok(record) if record.line == 0) { None } else { Some(result) }
    }

    /// Returns what the tag says of the result.
    fn tagged_result(&self) -> Option<Outcome> {
        find_tag(&self.tags, "Result").and_then(tokens::read_result).flatten()
    }

    fn ensure_ended(self) -> Result<Self, PdnError> {
        match self.tagged_result() {
            Some(tag) if self.result.is_none() => {
                let line = self.moves.last().map_or(self.line, |(line, _)| *line);
                Err(PdnError { line, reason: PdnReason::NoEnd { tag: write_result(Some(tag)) } })
            }
            _ => Ok(self),
        }
    }

    fn into_game(self) -> Result<PdnGame, PdnError> {
        let tag = self.tagged_result();
        let Self { line, tags, moves, result } = self;
        if let Some(game_type) = find_tag(&tags, "GameType")
            && game_type.split(',').next().map(str::trim) != Some(GAME_TYPE)
        {
            let reason = PdnReason::GameType(game_type.chars().take(32).collect());
            return Err(PdnError { line, reason });
        }
        let game = Dama::default();
        let start = match find_tag(&tags, "FEN") {
            Some(text) => fen::read(text).map_err(|error| PdnError { line, reason: PdnReason::Fen(error) })?,
            None => game.initial_position(),
        };
        let mut position = start.clone();
        let mut played = Vec::with_capacity(moves.len());
        for (line, text) in moves {
            let mv = find_move(&game, &position, &text)
                .map_err(|error| PdnError { line, reason: PdnReason::Move(error) })?;
            game.play(&mut position, mv);
            played.push(mv);
        }
        // PDN 3.0 ends every game with an asterisk and leaves the result to the tag.
        let (line, stated) = result.map_or((line, tag), |(line, result)| (line, result.or(tag)));
        check_result(tag, stated, game.outcome(&position)).map_err(|reason| PdnError { line, reason })?;
        Ok(PdnGame { tags, start, moves: played, result: stated })
    }
}

/// Passes over results that follow `result`. Returns the error if one of them is another.
fn other_result(tokens: &mut Tokens<'_>, result: Option<Outcome>) -> Option<PdnError> {
    let mut failure = None;
    while let Some((line, Ok(Token::Result(next)))) = tokens.peek() {
        tokens.advance();
        if next != result {
            let reason = PdnReason::TwoResults(write_result(result), write_result(next));
            failure.get_or_insert(PdnError { line, reason });
        }
    }
    failure
}

/// Compares what is known of a result: by its tag, as it stands at the end of the game, and by the rules, where they
/// name a winner; people stop and go on where the rules see a draw.
fn check_result(tag: Option<Outcome>, stated: Option<Outcome>, decided: Option<Outcome>) -> Result<(), PdnReason> {
    if let (Some(one), Some(other)) = (tag, stated)
        && one != other
    {
        return Err(PdnReason::OtherTag { tag: write_result(tag), found: write_result(stated) });
    }
    match (stated, decided) {
        (Some(recorded), Some(found @ Outcome::Win(_))) if recorded != found => {
            Err(PdnReason::OtherOutcome { stated: write_result(stated), found: write_result(decided) })
        }
        _ => Ok(()),
    }
}

/// Returns the text of a game: its tags, those that it must have added, and its moves.
#[must_use]
pub fn write(game: &PdnGame) -> String {
    let result = write_result(game.result);
    let mut text = String::new();
    for (name, value) in game.tags.iter().filter(|(name, _)| !["GameType", "FEN", "Result"].contains(&name.as_str())) {
        text += &tags::write(name, value);
    }
    text += &tags::write("Result", result);
    text += &tags::write("GameType", GAME_TYPE);
    let dama = Dama::default();
    if *game.start.board() != *dama.initial_position().board() || game.start.side_to_move() == Side::Black {
        text += &tags::write("FEN", &fen::write(game.start.board(), game.start.side_to_move()));
    }
    text.push('\n');
    let mut lines = Lines::default();
    let mut position = game.start.clone();
    for (index, mv) in game.moves.iter().enumerate() {
        let number = position.ply() / 2 + 1;
        match position.side_to_move() {
            Side::White => lines.add(&format!("{number}.")),
            Side::Black if index == 0 => lines.add(&format!("{number}...")),
            Side::Black => {}
        }
        lines.add(&format_move(&dama, &position, *mv));
        dama.play(&mut position, *mv);
    }
    lines.add(result);
    text + &lines.text + "\n"
}

const fn write_result(result: Option<Outcome>) -> &'static str {
    match result {
        Some(Outcome::Win(Side::White)) => "1-0",
        Some(Outcome::Win(Side::Black)) => "0-1",
        Some(Outcome::Draw) => "1/2-1/2",
        None => "*",
    }
}

/// Words, broken into lines.
#[derive(Default)]
struct Lines {
    text: String,
    column: usize,
}

impl Lines {
    fn add(&mut self, word: &str) {
        if self.column > 0 {
            let is_full = self.column + 1 + word.len() > COLUMN_COUNT_MAX;
            self.text.push(if is_full { '\n' } else { ' ' });
            self.column = if is_full { 0 } else { self.column + 1 };
        }
        self.text.push_str(word);
        self.column += word.len();
    }
}

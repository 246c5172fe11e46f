//! Games of Hive as PGN, as MzingaViewer and hivegame.com save them: tags, then the moves with a number each, then the
//! result. The dialect is described in `docs/game-records.md`.

use shared::game::hive::GameType;
use shared::game::{Outcome, Side};

use super::games::{LineError, finish_stated, play_text};
use super::played::Replay;
use super::tags::{self, Bracketed};
use super::uhp::GameState;
use super::{PlayedGame, ReadError, ReadOptions};

/// Tags that every game has, in their order; the result follows them.
const TAGS: [&str; 6] = ["Date", "Event", "Site", "Round", "White", "Black"];

/// A game with its tags.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PgnGame {
    /// Names and values of the tags, in their order.
    pub tags: Vec<(String, String)>,
    /// The game.
    pub game: PlayedGame,
}

/// Returns the texts of the games in a file, each with the number of its first line, from 1. A game begins with tags.
pub fn split(text: &str) -> impl Iterator<Item = (u32, &str)> {
    let mut starts: Vec<(u32, usize)> = Vec::new();
    let (mut offset, mut is_comment, mut has_moves) = (0, false, true);
    for (number, line) in (1..).zip(text.split_inclusive('\n')) {
        let is_tag = !is_comment && line.trim_start().starts_with('[');
        if is_tag && has_moves {
            starts.push((number, offset));
        }
        if is_tag {
            has_moves = !line.trim_end().ends_with(']');
        } else {
            has_moves |= !line.trim().is_empty();
            is_comment = line.chars().fold(is_comment, |is_comment, letter| match letter {
                '{' => true,
                '}' => false,
                _ => is_comment,
            });
        }
        offset += line.len();
    }
    let ends: Vec<usize> = starts.iter().skip(1).map(|(_, start)| *start).chain([text.len()]).collect();
    starts.into_iter().zip(ends).map(move |((line, start), end)| (line, &text[start..end]))
}

/// Reads the game in a text that holds one.
///
/// # Errors
/// [`LineError`] with the line in this text: there is no game type or an unknown one, something has no end, a move is
/// not legal, or two results contradict each other. Never panics.
pub fn read(text: &str, options: ReadOptions) -> Result<PgnGame, LineError> {
    let written = Written::take(text)?;
    let at = |line: u32| move |error: ReadError| LineError { line, error };
    let tag = |name: &str| written.tags.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str());
    let game_type = tag("GameType").ok_or(ReadError::NoGameType).map_err(at(1))?;
    let game_type =
        game_type.trim().parse().map_err(|_| at(1)(ReadError::Variant(game_type.chars().take(64).collect())))?;
    let mut replay = Replay::new(game_type, options);
    for (line, text) in &written.moves {
        play_text(&mut replay, text).map_err(at(*line))?;
    }
    let of_tag = tag("Result").and_then(read_result).flatten();
    let (line, at_end) = written.result.unwrap_or((1, None));
    if let (Some(tag), Some(found)) = (of_tag, at_end)
        && tag != found
    {
        let [tag, found] = [tag, found].map(|outcome| GameState::from(Some(outcome)));
        return Err(at(line)(ReadError::OtherResult { tag, found }));
    }
    let game = finish_stated(replay, at_end.or(of_tag));
    Ok(PgnGame { tags: written.tags, game })
}

/// What stands in a text.
#[derive(Default)]
struct Written {
    tags: Vec<(String, String)>,
    /// The moves with their lines.
    moves: Vec<(u32, String)>,
    /// The result behind the moves, with its line.
    result: Option<(u32, Option<Outcome>)>,
}

impl Written {
    /// Takes a text apart. A move ends with its line, or with the number of the next one.
    fn take(text: &str) -> Result<Self, LineError> {
        let (mut written, mut words) = (Self::default(), Vec::new());
        let (mut rest, mut line) = (text, 1);
        while let Some(letter) = rest.chars().next() {
            let unclosed = |what| LineError { line, error: ReadError::Unclosed(what) };
            let len = match letter {
                '[' => {
                    let (found, len) = tags::read(&rest[1..]);
                    match found {
                        Bracketed::Tag { name, value } => written.tags.push((name, value)),
                        Bracketed::Other => {}
                        Bracketed::Unclosed => return Err(unclosed("a tag")),
                    }
                    1 + len
                }
                '{' => 1 + rest.find('}').ok_or_else(|| unclosed("a comment"))?,
                '\n' => {
                    written.end_move(line, &mut words);
                    1
                }
                letter if letter.is_whitespace() => letter.len_utf8(),
                _ => {
                    let word = &rest[..rest.find(|end: char| end.is_whitespace() || end == '{').unwrap_or(rest.len())];
                    written.add_word(line, word, &mut words);
                    word.len()
                }
            };
            line += rest[..len].matches('\n').count() as u32;
            rest = &rest[len..];
        }
        written.end_move(line, &mut words);
        Ok(written)
    }

    fn add_word<'a>(&mut self, line: u32, word: &'a str, words: &mut Vec<&'a str>) {
        if let Some(result) = read_result(word) {
            self.end_move(line, words);
            self.result = Some((line, result));
            return;
        }
        let after_digits = word.trim_start_matches(|letter: char| letter.is_ascii_digit());
        let is_numbered = after_digits.len() < word.len() && after_digits.starts_with('.');
        let word = if is_numbered { after_digits.trim_start_matches('.') } else { word };
        if is_numbered {
            self.end_move(line, words);
        }
        words.extend(Some(word).filter(|word| !word.is_empty()));
    }

    fn end_move(&mut self, line: u32, words: &mut Vec<&str>) {
        if !words.is_empty() {
            self.moves.push((line, words.join(" ")));
            words.clear();
        }
    }
}

/// Reads a result; the inner `None` is one that says nothing.
fn read_result(word: &str) -> Option<Option<Outcome>> {
    match word {
        "1-0" => Some(Some(Outcome::Win(Side::White))),
        "0-1" => Some(Some(Outcome::Win(Side::Black))),
        "1/2-1/2" => Some(Some(Outcome::Draw)),
        // The second is how hivegame.com spells it.
        "*" | "Unkown" | "Unknown" => Some(None),
        word => word.parse().ok().map(GameState::outcome),
    }
}

/// Returns the text of a game of `move_texts`: `tags` among them those that every game has, empty where they are missing.
#[must_use]
pub fn write(
    tags: &[(String, String)],
    game_type: GameType,
    move_texts: &[String],
    outcome: Option<Outcome>,
) -> String {
    let state = match outcome {
        None if move_texts.is_empty() => GameState::NotStarted,
        outcome => GameState::from(outcome),
    };
    let value = |name: &str| tags.iter().find(|(known, _)| known == name).map_or("", |(_, value)| value.as_str());
    let mut text = tags::write("GameType", &game_type.to_string());
    text.extend(TAGS.map(|name| tags::write(name, value(name))));
    text += &tags::write("Result", &state.to_string());
    let is_other = |name: &str| name != "GameType" && name != "Result" && !TAGS.contains(&name);
    text.extend(tags.iter().filter(|(name, _)| is_other(name)).map(|(name, value)| tags::write(name, value)));
    text.push('\n');
    text.extend((1..).zip(move_texts).map(|(number, text)| format!("{number}. {text}\n")));
    if outcome.is_some() {
        text += &format!("\n{state}\n");
    }
    text
}

//! The parts of a PDN text: tags, moves and results, with the line of each. Everything else is skipped.

use super::error::{PdnError, PdnReason};
use crate::tags::{self, Bracketed};
use shared::game::{Outcome, Side};

/// One part of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Token {
    Tag { name: String, value: String },
    Move(String),
    Result(Option<Outcome>),
}

/// A text that is read part by part.
pub(super) struct Tokens<'a> {
    rest: &'a str,
    line: u32,
    peeked: Option<(u32, Result<Token, PdnError>)>,
}

impl<'a> Tokens<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { rest: text, line: 1, peeked: None }
    }

    /// Returns the next part without going on, and its line.
    pub(super) fn peek(&mut self) -> Option<(u32, Result<Token, PdnError>)> {
        if self.peeked.is_none() {
            self.peeked = self.read();
        }
        self.peeked.clone()
    }

    /// Goes on to the part after the one that was looked at.
    pub(super) fn advance(&mut self) {
        self.peeked = None;
    }

    fn read(&mut self) -> Option<(u32, Result<Token, PdnError>)> {
        loop {
            self.skip_while(char::is_whitespace);
            let line = self.line;
            let unclosed = |what| Some((line, Err(PdnError { line, reason: PdnReason::Unclosed(what) })));
            match self.rest.chars().next()? {
                '[' => match self.take_bracketed() {
                    Bracketed::Tag { name, value } => return Some((line, Ok(Token::Tag { name, value }))),
                    Bracketed::Other => {}
                    Bracketed::Unclosed => return unclosed("a tag"),
                },
                '{' => {
                    if self.take_past('}').is_none() {
                        return unclosed("a comment");
                    }
                }
                ';' | '%' => self.skip_while(|letter| letter != '\n'),
                '(' => {
                    if !self.skip_variation() {
                        return unclosed("a variation");
                    }
                }
                ')' | '}' | ']' => self.take(1),
                _ => {
                    if let Some(token) = read_word(self.take_word()) {
                        return Some((line, Ok(token)));
                    }
                }
            }
        }
    }

    /// Passes over `count` bytes.
    fn take(&mut self, count: usize) {
        self.line += self.rest[..count].matches('\n').count() as u32;
        self.rest = &self.rest[count..];
    }

    fn skip_while(&mut self, is_passed: impl Fn(char) -> bool) {
        let end = self.rest.find(|letter| !is_passed(letter)).unwrap_or(self.rest.len());
        self.take(end);
    }

    /// Passes over the text up to and with the next `end`; without one over everything.
    fn take_past(&mut self, end: char) -> Option<&'a str> {
        let (text, found) = match self.rest.find(end) {
            Some(at) => (&self.rest[..=at], true),
            None => (self.rest, false),
        };
        self.take(text.len());
        found.then_some(text)
    }

    /// Passes over a bracket and what stands in it; without a closing one over the line.
    fn take_bracketed(&mut self) -> Bracketed {
        let (found, len) = tags::read(&self.rest[1..]);
        self.take(1 + len);
        found
    }

    /// Passes over a variation and those in it.
    fn skip_variation(&mut self) -> bool {
        let mut depth = 0_u32;
        while let Some(letter) = self.rest.chars().next() {
            match letter {
                '{' => {
                    self.take_past('}');
                    continue;
                }
                '(' => depth += 1,
                ')' => depth -= 1,
                _ => {}
            }
            self.take(letter.len_utf8());
            if depth == 0 {
                return true;
            }
        }
        false
    }

    fn take_word(&mut self) -> &'a str {
        let is_end = |letter: char| letter.is_whitespace() || "[]{}();".contains(letter);
        let end = self.rest.find(is_end).unwrap_or(self.rest.len());
        let word = &self.rest[..end];
        self.take(end);
        word
    }
}

/// Reads a move or a result; `None` for a number or an annotation.
fn read_word(word: &str) -> Option<Token> {
    if let Some(result) = read_result(word) {
        return Some(Token::Result(result));
    }
    let after_digits = word.trim_start_matches(|letter: char| letter.is_ascii_digit());
    let word = if after_digits.starts_with('.') { after_digits.trim_start_matches('.') } else { word };
    let word = word.trim_end_matches(['!', '?']);
    let is_annotation = word.is_empty() || word.starts_with('$');
    (!is_annotation).then(|| Token::Move(word.to_owned()))
}

/// Reads a result; the inner `None` is one that is not known.
pub(super) fn read_result(word: &str) -> Option<Option<Outcome>> {
    match word {
        "1-0" | "2-0" => Some(Some(Outcome::Win(Side::White))),
        "0-1" | "0-2" => Some(Some(Outcome::Win(Side::Black))),
        "1/2-1/2" | "1-1" => Some(Some(Outcome::Draw)),
        "*" | "0-0" => Some(None),
        _ => None,
    }
}

//! What a person types, as a command.

use std::path::PathBuf;

/// One line, read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    /// Nothing.
    Nothing,
    /// Lists the commands.
    Help,
    /// Draws the board.
    Board,
    /// Lists the legal moves with their numbers.
    ListMoves,
    /// Plays the move with this number in the list.
    PlayNumber(usize),
    /// Plays a move as it is written.
    Play(String),
    /// Takes back the last own move and the answer.
    Undo,
    /// Asks what the computer would play.
    Hint,
    /// Offers a draw.
    OfferDraw,
    /// Gives the game up.
    Resign,
    /// Writes the game to a file, if one is named.
    Save(Option<PathBuf>),
    /// Ends the program.
    Quit,
}

/// The commands, for `help`.
pub const USAGES: [(&str, &str); 9] = [
    ("?, moves", "list the legal moves; type a number of the list to play it"),
    ("undo", "take back your last move, or the result that was agreed on"),
    ("hint", "what would the computer play?"),
    ("board", "draw the board again"),
    ("draw", "offer a draw"),
    ("resign", "give the game up"),
    ("save FILE", "write the game to a file"),
    ("help", "this list"),
    ("quit", "end the program"),
];

impl Command {
    /// Reads a line. What is no command is a move.
    pub fn parse(line: &str) -> Self {
        let line = line.trim();
        let (first, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        match (first.to_ascii_lowercase().as_str(), rest.trim()) {
            ("", _) => Self::Nothing,
            ("help" | "h", "") => Self::Help,
            ("board", "") => Self::Board,
            ("?" | "moves", "") => Self::ListMoves,
            ("undo", "") => Self::Undo,
            ("hint", "") => Self::Hint,
            ("draw", "") => Self::OfferDraw,
            ("resign", "") => Self::Resign,
            ("save", "") => Self::Save(None),
            ("save", file) => Self::Save(Some(file.into())),
            ("quit" | "exit" | "q", "") => Self::Quit,
            (number, "") if number.bytes().all(|byte| byte.is_ascii_digit()) => {
                number.parse().map_or_else(|_| Self::Play(line.to_owned()), Self::PlayNumber)
            }
            ("play", mv) if !mv.is_empty() => Self::Play(mv.to_owned()),
            _ => Self::Play(line.to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read() {
        for (line, command) in [
            ("  ", Command::Nothing),
            (" HINT ", Command::Hint),
            ("?", Command::ListMoves),
            ("12", Command::PlayNumber(12)),
            ("save a game.pgn", Command::Save(Some("a game.pgn".into()))),
            ("save ", Command::Save(None)),
            ("wA1 -bQ", Command::Play("wA1 -bQ".into())),
            ("play 22-18", Command::Play("22-18".into())),
            ("99999999999999999999999", Command::Play("99999999999999999999999".into())),
            ("q", Command::Quit),
        ] {
            assert_eq!(Command::parse(line), command, "{line}");
        }
    }
}

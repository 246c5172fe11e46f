//! Hive in a terminal: moves as people type them, and games as they are saved.

use std::path::Path;

use arena::matches::MatchGame;
use notation::board::{self, View};
use notation::pgn;
use notation::uhp::{GameState, format_moves, join_game};
use runtime::replaced_file::FileKind;
use shared::game::hive::text::{lowest_in_hand, read_move, read_recorded_move};
use shared::game::hive::{GameType, Hive, Move, PieceKind, Position};
use shared::game::{Game, MoveError, Side};

use super::board_game::{BoardGame, GameToSave};

const PGN: FileKind = FileKind { name: "a PGN game of Hive", is_start: is_pgn };
/// What stands before or behind the piece that a move goes beside.
const MARKS: [char; 3] = ['-', '/', '\\'];

impl BoardGame for Hive {
    const MOVES_ARE: &'static str = "A move is a piece and where it goes: wS1 first, then wA1 -bQ (left of bQ), wA1 bQ/ (upper right of it), wB1 bQ (onto \
         it); your pieces need no w or b.";

    fn draw(&self, position: &Position, view: View<Move>) -> String {
        board::draw_hive(position, view)
    }

    /// Reads a move without the colours of own pieces too, and a climb told by the cell beside another piece.
    fn read(&self, position: &Position, text: &str) -> Result<Move, MoveError> {
        let shown = match self.parse_move(position, text.trim()) {
            Err(MoveError::Unreadable { text, .. }) => text,
            read => return read,
        };
        let unreadable = |reason: String| MoveError::Unreadable { text: shown.clone(), reason };
        let coloured = with_colours(position, text).map_err(|reason| unreadable(reason.to_string()))?;
        let mut legal = vec![];
        self.legal_moves(position, &mut legal);
        match read_recorded_move(position, &coloured) {
            Ok(mv) if legal.contains(&lowest_in_hand(position, mv)) => Ok(mv),
            // Read strictly: that the place is occupied says more than that the move is illegal.
            _ => Err(match read_move(position, &coloured) {
                Ok(_) => MoveError::Illegal { text: shown, ply: position.ply() },
                Err(error) => unreadable(error.to_string()),
            }),
        }
    }

    fn saved_file(file: &Path) -> FileKind {
        if is_pgn_name(file) { PGN } else { Self::GAMES_FILE }
    }

    fn saved_count(file: &Path, text: &str) -> usize {
        let is_game = |line: &&str| !line.trim().is_empty();
        if is_pgn_name(file) { pgn::split(text).count() } else { text.lines().filter(is_game).count() }
    }

    /// PGN for `.pgn`, otherwise a GameString.
    fn save(&self, file: &Path, game: &GameToSave<'_, Self>) -> String {
        let (texts, _) = format_moves(self, game.moves);
        let game_type = self.rules().game_type;
        if is_pgn_name(file) {
            let [white, black] = game.names;
            let tags = [("White", white), ("Black", black)].map(|(name, value)| (name.to_owned(), value.to_owned()));
            return pgn::write(&tags, game_type, &texts, game.outcome);
        }
        let state = match game.outcome {
            None if texts.is_empty() => GameState::NotStarted,
            outcome => GameState::from(outcome),
        };
        join_game(game_type, state, texts.len() as u32, &texts) + "\n"
    }
}

fn is_pgn_name(file: &Path) -> bool {
    file.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("pgn"))
}

/// Returns whether a text begins with the tag of a type of Hive, as PGN of Hive does.
fn is_pgn(start: &[u8]) -> bool {
    let text = notation::decode(start.to_vec());
    let value = text.trim_start().strip_prefix("[GameType \"").and_then(|rest| rest.split('"').next());
    value.is_some_and(|value| value.parse::<GameType>().is_ok())
}

/// Why words are no move.
#[derive(Debug, thiserror::Error)]
enum NotAMove {
    #[error("there is no such piece or command")]
    NoSuchPiece,
    #[error("it does not say where the piece goes")]
    NoPlace,
    #[error("its second word names no piece")]
    NoPieceBeside,
    #[error("more than two words")]
    TooManyWords,
}

/// Returns a move with a colour before each piece that has none, that of the side to move; or why it is no move.
fn with_colours(position: &Position, text: &str) -> Result<String, NotAMove> {
    let own = if position.side_to_move() == Side::White { 'w' } else { 'b' };
    let words: Vec<&str> = text.split_whitespace().collect();
    let piece = words.first().and_then(|word| with_colour(word, own)).ok_or(NotAMove::NoSuchPiece)?;
    match words[1..] {
        [] if position.ply() == 0 => Ok(piece),
        [] => Err(NotAMove::NoPlace),
        [place] => {
            let place = with_colour(place, own).ok_or(NotAMove::NoPieceBeside)?;
            Ok(format!("{piece} {place}"))
        }
        _ => Err(NotAMove::TooManyWords),
    }
}

/// Returns a word with the colour `own` before its piece, unless that has one; `None` if there is no piece in it.
fn with_colour(word: &str, own: char) -> Option<String> {
    let is_piece = |name: &str| {
        let mut letters = name.chars();
        let first = letters.next().map(|letter| letter.to_ascii_uppercase());
        let is_kind = PieceKind::ALL.iter().any(|kind| Some(kind.letter()) == first);
        is_kind && letters.all(|letter| letter.is_ascii_digit())
    };
    let name = word.trim_matches(MARKS);
    if name.strip_prefix(['w', 'b', 'W', 'B']).is_some_and(is_piece) {
        return Some(word.to_owned());
    }
    is_piece(name).then(|| word.replacen(name, &format!("{own}{name}"), 1))
}

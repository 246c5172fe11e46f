//! The first node: which variant it is, who plays, and what the client wrote of the result, in its own language.

use super::tree::Property;
use crate::ReadError;
use shared::game::hive::GameType;
use shared::game::{Outcome, Side};

/// Words that only stand in the results of draws: English, French, Spanish, German, Dutch.
const DRAW_WORDS: [&str; 5] = ["draw", "nulle", "empate", "unentschieden", "gelijkspel"];
/// Names under which guests win; a number follows.
const GUEST_WORDS: [&str; 2] = ["guest", "invitado"];
/// Players whose id may have a digit behind that the result leaves out.
const ROBOTS: [&str; 3] = ["Dumbot", "SmartBot", "WeakBot"];
/// Longest part of a text that is shown in an error.
const SHOWN_LEN_MAX: usize = 64;

/// What the first node tells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) game_type: GameType,
    /// Ids of the players, the first player's first.
    ids: [String; 2],
    /// The result in words.
    result: String,
}

impl Header {
    /// Reads the properties of the first node.
    pub(super) fn read(properties: &[Property]) -> Result<Self, ReadError> {
        let value =
            |key| properties.iter().find(|property| property.key == key).map(|property| property.value.as_str());
        if value("GM").is_some_and(|game| game.trim() != "27") {
            return Err(ReadError::Tree { node: 0, reason: "GM is not 27: the game is not Hive".to_owned() });
        }
        let variant = value("SU").ok_or(ReadError::Tree { node: 0, reason: "no variant (SU)".to_owned() })?;
        let id = |key| {
            let mut values = properties.iter().filter(|property| property.key == key);
            let id = values.find_map(|property| property.value.trim().strip_prefix("id "));
            id.unwrap_or_default().trim().trim_matches('"').to_owned()
        };
        Ok(Self {
            game_type: read_variant(variant)?,
            ids: [id("P0"), id("P1")],
            result: value("RE").unwrap_or_default().to_owned(),
        })
    }

    /// Returns what the result says, if it can be understood.
    pub(super) fn stated_outcome(&self) -> Option<Outcome> {
        let words = self.result.split_whitespace().map(|word| word.trim_end_matches(['.', '!', ',']));
        if words.clone().any(|word| DRAW_WORDS.contains(&word.to_lowercase().as_str())) {
            return Some(Outcome::Draw);
        }
        let [white, black] = [0, 1].map(|player| words.clone().any(|word| is_name_of(word, &self.ids[player])));
        let winner = match (white, black) {
            (true, false) => Some(Side::White),
            (false, true) => Some(Side::Black),
            _ => None,
        };
        winner.map(Outcome::Win)
    }
}

/// Returns whether a word of a result means the player with this id.
fn is_name_of(word: &str, id: &str) -> bool {
    let without_digits = |name: &str| name.trim_end_matches(|letter: char| letter.is_ascii_digit()).to_owned();
    let is_robot = ROBOTS.contains(&without_digits(id).as_str());
    let is_guest = id == "guest" && GUEST_WORDS.contains(&without_digits(word).as_str());
    !id.is_empty() && (word == id || is_guest || is_robot && without_digits(word) == without_digits(id))
}

/// Reads `Hive-PLM`, `hive-lm 2 0 101`: the expansions stand in any order, what follows a space says nothing here.
fn read_variant(text: &str) -> Result<GameType, ReadError> {
    let error = || ReadError::Variant(text.chars().take(SHOWN_LEN_MAX).collect());
    let name = text.split_whitespace().next().ok_or_else(error)?.to_ascii_uppercase();
    let uhp = match name.split_once('-') {
        Some(("HIVE", letters)) => format!("Base+{letters}"),
        None if name == "HIVE" => "Base".to_owned(),
        _ => return Err(error()),
    };
    uhp.parse().map_err(|_| error())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(result: &str, ids: [&str; 2]) -> Header {
        Header { game_type: GameType::default(), ids: ids.map(str::to_owned), result: result.to_owned() }
    }

    #[test]
    fn variants_are_game_types() {
        for (text, expected) in [
            ("hive", Some("Base")),
            ("Hive-PLM", Some("Base+MLP")),
            ("hive-lm 2 0 101", Some("Base+ML")),
            ("hive-p", Some("Base+P")),
            ("Hive-Ultimate", None),
            ("hive-", None),
            ("hive-mm", None),
            ("", None),
        ] {
            let found = read_variant(text).ok().map(|game_type| game_type.to_string());
            assert_eq!(found.as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn results_are_understood_in_some_languages() {
        let (white, black) = (Some(Outcome::Win(Side::White)), Some(Outcome::Win(Side::Black)));
        for (result, ids, expected) in [
            ("Game won by playerA", ["playerA", "playerB"], white),
            ("Game won by Dumbot", ["playerA", "Dumbot0"], black),
            ("Partida ganada por invitado0001", ["guest", "WeakBot"], white),
            ("Игру выиграл(а) playerB.", ["playerA", "playerB"], black),
            ("La partie est nulle", ["playerA", "playerB"], Some(Outcome::Draw)),
            ("The game is a draw", ["a", "playerB"], Some(Outcome::Draw)),
            ("Game won by playerC", ["playerA", "playerB"], None),
            ("", ["", ""], None),
        ] {
            assert_eq!(header(result, ids).stated_outcome(), expected, "{result}");
        }
    }
}

//! Who won, as a column of a table says it: a side, a result as in chess, a state of UHP, or the name of a player.

use notation::uhp::GameState;
use shared::game::{Outcome, Side};

/// Reads a winner; `None` if it is not understood, or nobody won yet. `names` are those of White and Black.
pub(super) fn read(text: &str, names: [&str; 2]) -> Option<Outcome> {
    let text = text.trim();
    let by_name = || {
        let is_winner = names.map(|name| !name.trim().is_empty() && name.trim() == text);
        match is_winner {
            [true, false] => Some(Outcome::Win(Side::White)),
            [false, true] => Some(Outcome::Win(Side::Black)),
            _ => None,
        }
    };
    let side = match text.to_ascii_lowercase().as_str() {
        "white" | "w" | "1-0" => Some(Outcome::Win(Side::White)),
        "black" | "b" | "0-1" => Some(Outcome::Win(Side::Black)),
        "draw" | "tie" | "1/2-1/2" => Some(Outcome::Draw),
        _ => None,
    };
    // A player may be called "white": a name counts first.
    by_name().or(side).or_else(|| text.parse().ok().and_then(GameState::outcome))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn winners_are_understood_by_side_state_and_name() {
        let (white, black) = (Some(Outcome::Win(Side::White)), Some(Outcome::Win(Side::Black)));
        for (text, names, expected) in [
            ("White", ["", ""], white),
            (" b ", ["", ""], black),
            ("0-1", ["", ""], black),
            ("Draw", ["x", "y"], Some(Outcome::Draw)),
            ("WhiteWins", ["", ""], white),
            ("Ada", ["Ada", "Bob"], white),
            ("Bob", ["Ada", "Bob"], black),
            ("white", ["black", "white"], black),
            ("Ada", ["Ada", "Ada"], None),
            ("InProgress", ["", ""], None),
            ("", ["", ""], None),
            ("nobody", ["Ada", "Bob"], None),
        ] {
            assert_eq!(read(text, names), expected, "{text} {names:?}");
        }
    }
}

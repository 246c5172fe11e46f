//! Numbers as people read them.

use shared::game::Value;
use shared::search::Proof;

/// Returns a count with its noun: `1 ply`, `2 plies`.
pub fn counted(count: impl TryInto<u64>, one: &str, many: &str) -> String {
    let count = count.try_into().unwrap_or(u64::MAX);
    format!("{count} {}", if count == 1 { one } else { many })
}

/// Returns what is known of a position or move, from the view of whoever is to move; `None` if nothing is.
pub fn value_text(proof: Proof, value: Option<Value>) -> Option<String> {
    match proof {
        Proof::Win => Some("win".to_owned()),
        Proof::Loss => Some("loss".to_owned()),
        Proof::Draw => Some("draw".to_owned()),
        Proof::Unknown => value.map(|value| format!("{:+.3}", value.rounded(3))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_of_one_has_its_noun() {
        let counts = [0_u32, 1, 2].map(|count| counted(count, "ply", "plies"));
        assert_eq!(counts, ["0 plies", "1 ply", "2 plies"]);
    }

    #[test]
    fn what_is_even_has_no_sign_of_a_loss() {
        let shown = |value| value_text(Proof::Unknown, Some(Value::new(value))).unwrap();
        assert_eq!([-0.0, -0.0004, 0.0].map(shown), ["+0.000"; 3]);
        assert_eq!([-0.0006, 0.112, 1.0].map(shown), ["-0.001", "+0.112", "+1.000"]);
        assert_eq!((value_text(Proof::Unknown, None), value_text(Proof::Win, None).as_deref()), (None, Some("win")));
    }
}

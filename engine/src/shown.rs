//! Values as people read them.

use shared::game::Value;
use shared::search::Proof;

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
    fn what_is_even_has_no_sign_of_a_loss() {
        let shown = |value| value_text(Proof::Unknown, Some(Value::new(value))).unwrap();
        assert_eq!([-0.0, -0.0004, 0.0].map(shown), ["+0.000"; 3]);
        assert_eq!([-0.0006, 0.112, 1.0].map(shown), ["-0.001", "+0.112", "+1.000"]);
        assert_eq!((value_text(Proof::Unknown, None), value_text(Proof::Win, None).as_deref()), (None, Some("win")));
    }
}

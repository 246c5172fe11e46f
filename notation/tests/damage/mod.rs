//! Texts with damage done to them, for readers that must never panic.

/// Puts each of `changes` in the place of the letter at its share of the text, and cuts the text off at the share `end`.
pub fn damaged(text: &str, changes: Vec<(f64, String)>, end: f64) -> String {
    let mut letters: Vec<char> = text.chars().collect();
    for (at, text) in changes {
        let at = (letters.len() as f64 * at) as usize;
        letters.splice(at..(at + 1).min(letters.len()), text.chars());
    }
    letters.truncate((letters.len() as f64 * end) as usize);
    letters.into_iter().collect()
}

//! Texts as messages show them.

use std::fmt::{self, Write};

/// A text in quotes, on one line. Backslashes are as they were written: names of cells begin and end with them.
///
/// ```
/// use shared::quoted::Quoted;
///
/// assert_eq!(Quoted("wA1 \\wS1").to_string(), "\"wA1 \\wS1\"");
/// assert_eq!(Quoted("a\nb").to_string(), "\"a\\nb\"");
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Quoted<'a>(pub &'a str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_char('"')?;
        for letter in self.0.chars() {
            match letter {
                '\\' | '\'' => f.write_char(letter)?,
                letter => write!(f, "{}", letter.escape_debug())?,
            }
        }
        f.write_char('"')
    }
}

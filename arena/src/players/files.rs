//! The files that a player of ours uses beside its network: they stand behind its text, `,tables=DIR,book=FILE`.

use std::fmt;
use std::path::{Path, PathBuf};

/// What stands before the folder of endgame tables, and before the file of an opening book.
const KEYS: [&str; 2] = [",tables=", ",book="];

/// Endgame tables and opening book.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PlayerFiles {
    /// The folder of the endgame tables.
    pub tables: Option<PathBuf>,
    /// The file of the opening book.
    pub book: Option<PathBuf>,
}

/// Files are named twice, or without a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FilesUnreadable;

impl PlayerFiles {
    /// Splits the text of a player into the player itself and its files, each named once, in any order.
    pub(super) fn split(text: &str) -> Result<(&str, Self), FilesUnreadable> {
        let mut files = Self::default();
        let Some((player, mut rest)) = split_first(text) else { return Ok((text, files)) };
        loop {
            let (index, value) = rest;
            let next = split_first(value);
            let value = next.map_or(value, |(value, _)| value);
            let place = if index == 0 { &mut files.tables } else { &mut files.book };
            if value.is_empty() || place.replace(value.into()).is_some() {
                return Err(FilesUnreadable);
            }
            match next {
                Some((_, next)) => rest = next,
                None => return Ok((player, files)),
            }
        }
    }

    /// Returns whether no file is named.
    pub(super) const fn is_empty(&self) -> bool {
        self.tables.is_none() && self.book.is_none()
    }
}

/// Splits at the first key. Returns what stands before it, the number of the key, and what stands behind it.
fn split_first(text: &str) -> Option<(&str, (usize, &str))> {
    let places = KEYS.iter().enumerate().filter_map(|(index, key)| Some((text.find(key)?, index)));
    let (at, index) = places.min()?;
    Some((&text[..at], (index, &text[at + KEYS[index].len()..])))
}

/// As they stand in a player's name: without the folders that they lie in, and without blanks.
impl fmt::Display for PlayerFiles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named = [&self.tables, &self.book].into_iter().zip(KEYS);
        for (path, key) in named.filter_map(|(path, key)| Some((path.as_deref()?, key))) {
            write!(f, "{key}{}", last_name(path))?;
        }
        Ok(())
    }
}

fn last_name(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().replace(char::is_whitespace, "_")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(text: &str) -> Option<String> {
        let (player, files) = PlayerFiles::split(text).ok()?;
        Some(format!("{player}|{files}"))
    }

    #[test]
    fn files_stand_behind_the_player_in_any_order() {
        assert_eq!(named("ready@100,1.25").as_deref(), Some("ready@100,1.25|"));
        assert_eq!(named("a,tables=/x/my five").as_deref(), Some("a|,tables=my_five"));
        let both = Some("a|,tables=five,book=mlp.book");
        assert_eq!(named("a,tables=five,book=x/mlp.book").as_deref(), both);
        assert_eq!(named("a,book=x/mlp.book,tables=five").as_deref(), both);
        assert_eq!(named("a,book=b,c@d").as_deref(), Some("a|,book=b,c@d"), "a name may have commas");
        for wrong in ["a,book=", "a,tables=,book=b", "a,book=b,book=c"] {
            assert_eq!(named(wrong), None, "{wrong}");
        }
    }
}

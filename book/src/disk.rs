//! Books on disk, read for a game. Nothing else in this crate touches a file.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use shared::catalog::NetworkGame;

use crate::contents::{Book, rules_of};
use crate::file::{BookFileError, decode};

/// Why there is no book to play by.
#[derive(Debug, thiserror::Error)]
pub enum BookError {
    /// The file cannot be read.
    #[error("read opening book {}", .path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The file is not a book.
    #[error("opening book {}: {error}", .path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        error: BookFileError,
    },
    /// It is of another game, or another type of it.
    #[error("opening book {}: it is of {found}, not of {wanted}: name another book", .path.display())]
    OtherGame {
        /// The file.
        path: PathBuf,
        /// What it is of.
        found: String,
        /// What is played.
        wanted: String,
    },
    /// It was made by a program with other rules.
    #[error("opening book {}: made for other rules of {game}: make the book anew", .path.display())]
    OtherRules {
        /// The file.
        path: PathBuf,
        /// The game.
        game: String,
    },
}

impl BookError {
    /// Returns whether the user named what is no book for the game, and must name another; a book that is damaged or
    /// cannot be read is one.
    #[must_use]
    pub fn is_usage(&self) -> bool {
        match self {
            Self::Read { source, .. } => matches!(source.kind(), io::ErrorKind::NotFound | io::ErrorKind::IsADirectory),
            Self::File { error, .. } => *error == BookFileError::Foreign,
            Self::OtherGame { .. } => true,
            Self::OtherRules { .. } => false,
        }
    }

    /// Returns whether the user named a book that is whole and does not go with the game.
    #[must_use]
    pub const fn is_other_game(&self) -> bool {
        matches!(self, Self::OtherGame { .. })
    }
}

/// Reads the book in a file, of whatever game.
///
/// # Errors
/// [`BookError::Read`], [`BookError::File`].
pub fn read(path: &Path) -> Result<Book, BookError> {
    let bytes = fs::read(path).map_err(|source| BookError::Read { path: path.into(), source })?;
    decode(&bytes).map_err(|error| BookError::File { path: path.into(), error })
}

/// Reads the book in a file for a game of this kind, or if one is given, for exactly this type.
///
/// # Errors
/// [`BookError`] naming the file.
pub fn open<G: NetworkGame>(path: &Path, game: Option<&G>) -> Result<Book, BookError> {
    let book = read(path)?;
    check_game(&book, path, game)?;
    Ok(book)
}

/// Checks that the book in this file is one for a game of this kind, or if one is given, for exactly this type.
///
/// # Errors
/// [`BookError::OtherGame`], [`BookError::OtherRules`].
pub fn check_game<G: NetworkGame>(book: &Book, path: &Path, game: Option<&G>) -> Result<(), BookError> {
    let (header, kind) = (book.header(), G::default().spec(G::USUAL_VIEW).name());
    let is_fitting = header.game == kind && game.is_none_or(|game| book.is_of(game));
    if !is_fitting {
        let type_name = |game: &G| game.spec(G::USUAL_VIEW).type_name();
        let wanted = game.filter(|_| header.game == kind).map_or_else(|| kind.to_owned(), type_name);
        return Err(BookError::OtherGame { path: path.into(), found: found_name(book, kind), wanted });
    }
    if header.rules != rules_of::<G>() {
        return Err(BookError::OtherRules { path: path.into(), game: header.type_name.clone() });
    }
    Ok(())
}

/// Returns what a book is of: its type, where the game is the one that was asked for.
fn found_name(book: &Book, kind: &str) -> String {
    let header = book.header();
    if header.game == kind { header.type_name.clone() } else { header.game.clone() }
}

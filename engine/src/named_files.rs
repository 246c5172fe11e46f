//! Why a network, a folder of tables or a book that the command line names is not played, what to do about it, and with
//! which exit code.
//!
//! What is not there, of another kind or for another game is wrong usage (64): something else must be named. What is
//! damaged or cannot be read is a failure (1).

#[cfg(feature = "network")]
use std::path::{Path, PathBuf};

use book::BookError;
use runtime::exit::{UsageError, one_line};
use tables::folder::FolderError;

#[cfg(feature = "network")]
use crate::start::{GameName, failure};

/// Returns why the tables of the folder that `flag` names are not used.
pub fn tables_failure(flag: &'static str, error: FolderError) -> anyhow::Error {
    if !error.is_no_folder() {
        return anyhow::Error::from(error).context(flag);
    }
    let advice = match error {
        FolderError::Empty { .. } => "",
        _ => ": make tables with `alveare tables --out DIR`",
    };
    UsageError(format!("{flag}: {}{advice}", one_line(&error))).into()
}

/// Returns why the book that `--book` names is not used.
pub fn book_failure(error: BookError) -> anyhow::Error {
    if !error.is_usage() {
        return anyhow::Error::from(error).context("--book");
    }
    let advice = if error.is_other_game() { "" } else { ": make a book with `alveare book --out FILE GAMES...`" };
    UsageError(format!("--book: {}{advice}", one_line(&error))).into()
}

/// Refuses a file that is not there, and names what is there instead.
///
/// # Errors
/// [`UsageError`].
#[cfg(feature = "network")]
pub fn ensure_there(file: &Path) -> Result<(), UsageError> {
    if !matches!(file.try_exists(), Ok(false)) {
        return Ok(());
    }
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let beside = std::fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok).map(|entry| entry.path());
    let networks = beside.filter(|path| path.extension().is_some_and(|extension| extension == "safetensors"));
    let written_at = |path: &PathBuf| path.metadata().and_then(|metadata| metadata.modified()).ok();
    let newest = networks.max_by_key(written_at);
    let newest = newest.map_or_else(String::new, |path| format!(" (the newest there is {})", path.display()));
    let advice = "write ready, a file, or a run directory, which means its best network";
    Err(UsageError(format!("network {}: no such file{newest}; {advice}", file.display())))
}

/// Returns why the bytes of a network cannot be had.
#[cfg(feature = "network")]
pub fn source_failure(error: networks::NetworkSourceError) -> anyhow::Error {
    let is_usage = error.is_usage();
    failure(error, is_usage)
}

/// Returns why a network is not played; with one of another game comes what plays it.
#[cfg(feature = "network")]
pub fn network_failure(error: net::NetError, game: Option<GameName>) -> anyhow::Error {
    let other_game = match game {
        Some(GameName::Hive) => "`alveare uhp` plays it, and other commands with --game hive",
        Some(GameName::Dama) => "`alveare dama` plays it, and other commands with --game dama",
        None => "this program plays Hive and Italian draughts: name another network",
    };
    match error {
        net::NetError::OtherGame { .. } => UsageError(format!("{error}: {other_game}")).into(),
        error => {
            let is_usage = matches!(error, net::NetError::Settings(_));
            failure(error, is_usage)
        }
    }
}

//! Ready networks: trained ones that the programs carry with them, and how a user names a network or a run.
//!
//! A copied binary has them too: they are part of it. How each was made and how it plays stands in its model card,
//! `networks/README.md`. This crate knows bytes alone: `net` loads them, and a program without libtorch can still read
//! what the user wants.

mod run_dir;

use std::borrow::Cow;
use std::convert::Infallible;
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use shared::catalog::GameSpec;

pub use run_dir::{BEST_FILE, DATABASE_FILE, NoRunError, database_of};

/// How the network that the program carries is named on command lines.
pub const READY: &str = "ready";

const HIVE: &[u8] = include_bytes!("../hive.safetensors");
const DAMA: &[u8] = include_bytes!("../dama.safetensors");

/// Returns the file of the ready network for this game, whatever its rules and encoding; `None` if there is none.
#[must_use]
pub const fn ready(game: &GameSpec) -> Option<&'static [u8]> {
    match game {
        GameSpec::Hive { .. } => Some(HIVE),
        GameSpec::Dama { .. } => Some(DAMA),
        GameSpec::TicTacToe {} => None,
    }
}

/// Where a network comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NetworkSource {
    /// The network that the program carries for the game.
    Ready,
    /// A file.
    File(PathBuf),
}

/// Why the network's bytes cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum NetworkSourceError {
    /// The file cannot be read.
    #[error("network {}: cannot read it", file.display())]
    Read {
        /// The file.
        file: PathBuf,
        /// Why, from the system.
        source: std::io::Error,
    },
    /// A folder without a network in it.
    #[error(
        "network {}: the folder has no {BEST_FILE}: name a file, or a run directory whose learner has started once",
        folder.display()
    )]
    NoBest {
        /// The folder.
        folder: PathBuf,
    },
    /// The program carries no network for the game.
    #[error("network {READY}: this program carries none for {game}")]
    NotCarried {
        /// The game, as errors name it.
        game: String,
    },
}

impl NetworkSource {
    /// Returns the bytes of the network file, for `game` if it is the ready one.
    ///
    /// # Errors
    /// [`NetworkSourceError`]: a file that cannot be read, a folder without a network, a game without a ready one.
    pub fn read(&self, game: &GameSpec) -> Result<Cow<'static, [u8]>, NetworkSourceError> {
        match self {
            Self::Ready => {
                let bytes = ready(game).ok_or_else(|| NetworkSourceError::NotCarried { game: game.to_string() })?;
                Ok(bytes.into())
            }
            Self::File(folder) if folder.is_dir() => Err(NetworkSourceError::NoBest { folder: folder.clone() }),
            Self::File(file) => {
                let bytes = std::fs::read(file);
                Ok(bytes.map_err(|source| NetworkSourceError::Read { file: file.clone(), source })?.into())
            }
        }
    }

    /// Returns the file, if it is one.
    #[must_use]
    pub fn file(&self) -> Option<&Path> {
        match self {
            Self::Ready => None,
            Self::File(file) => Some(file),
        }
    }
}

impl FromStr for NetworkSource {
    type Err = Infallible;

    /// Reads `ready`, or the path of a file (`./ready`, if it has that name) or of a run directory.
    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(Path::new(text).into())
    }
}

impl From<&Path> for NetworkSource {
    /// A run directory means the best network in it.
    fn from(path: &Path) -> Self {
        if path.as_os_str() == READY {
            return Self::Ready;
        }
        let best = path.join(BEST_FILE);
        Self::File(if best.is_file() { best } else { path.to_owned() })
    }
}

impl fmt::Display for NetworkSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ready => f.write_str(READY),
            Self::File(file) => write!(f, "{}", file.display()),
        }
    }
}

#[cfg(test)]
mod tests {
    use shared::catalog::NetworkGame;
    use shared::game::dama::Dama;
    use shared::game::hive::Hive;

    use super::*;

    #[test]
    fn the_programs_carry_a_small_network_for_each_game() {
        let hive = Hive::default().spec(Hive::USUAL_VIEW);
        let dama = Dama::default().spec(Dama::USUAL_VIEW);
        for game in [&hive, &dama] {
            let bytes = NetworkSource::Ready.read(game).expect("a network");
            assert!((10_000..=4 << 20).contains(&bytes.len()), "{} bytes for {game}", bytes.len());
        }
        let error = NetworkSource::Ready.read(&GameSpec::TicTacToe {}).expect_err("none");
        assert_eq!(error.to_string(), "network ready: this program carries none for tic-tac-toe");
    }

    #[test]
    fn a_network_is_ready_or_a_file() {
        let source = |text: &str| NetworkSource::from(Path::new(text));
        assert_eq!(source("ready"), NetworkSource::Ready);
        assert_eq!(source("./ready"), NetworkSource::File("./ready".into()));
        assert_eq!((source("ready").file(), source("a/b").file()), (None, Some(Path::new("a/b"))));
        assert_eq!((source("ready").to_string(), source("a/b").to_string()), ("ready".into(), "a/b".into()));
        let error = source("/no/such/file").read(&GameSpec::TicTacToe {}).expect_err("no such file");
        assert_eq!(error.to_string(), "network /no/such/file: cannot read it");
    }

    #[test]
    fn a_run_directory_means_its_best_network() {
        let run_dir = std::env::temp_dir().join(format!("alveare-networks-{}", std::process::id()));
        std::fs::create_dir_all(&run_dir).expect("a folder");
        let source = || NetworkSource::from(run_dir.as_path());
        let error = source().read(&GameSpec::TicTacToe {}).expect_err("no network");
        assert!(error.to_string().contains("the folder has no best.safetensors: name a file"), "{error}");
        std::fs::write(run_dir.join(BEST_FILE), "weights").expect("a file");
        assert_eq!(source(), NetworkSource::File(run_dir.join("best.safetensors")));
        assert_eq!(source().read(&GameSpec::TicTacToe {}).expect("the file").as_ref(), b"weights");
        std::fs::remove_dir_all(&run_dir).expect("removed");
    }

    #[test]
    fn a_folder_without_a_database_holds_no_run() {
        let nowhere = Path::new("/no/such/run");
        assert_eq!(database_of(nowhere), Err(NoRunError(nowhere.to_owned())));
        assert_eq!(NoRunError(nowhere.to_owned()).to_string(), "/no/such/run: no run there: it has no alveare.db");
    }
}

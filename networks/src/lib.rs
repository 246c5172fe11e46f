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

use run_dir::NETWORK_FILES;

pub use run_dir::{BEST_FILE, DATABASE_FILE, NoRunError, PRETRAINED_FILE, TRAINED_FILE, database_of};

/// How the network that the program carries is named on command lines.
pub const READY: &str = "ready";

/// Largest header of a network file, in bytes; the format allows no more.
const HEADER_BYTES_MAX: u64 = 100_000_000;

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
        "network {}: the folder has none of {}: name a file, a run directory whose learner has started once, or the folder \
         of a `learner pretrain` or `learner train`",
        folder.display(),
        NETWORK_FILES.join(", ")
    )]
    NoNetwork {
        /// The folder.
        folder: PathBuf,
    },
    /// The file is of another kind.
    #[error("network {}: not a network file; `learner`, `learner pretrain` and `learner train` write them", file.display())]
    OtherFile {
        /// The file.
        file: PathBuf,
    },
    /// The program carries no network for the game.
    #[error("network {READY}: this program carries none for {game}: name a file, or the folder of a run")]
    NotCarried {
        /// The game, as errors name it.
        game: String,
    },
}

impl NetworkSourceError {
    /// Returns whether the user named what is no network, and must name another; one that cannot be read may be one.
    #[must_use]
    pub const fn is_usage(&self) -> bool {
        !matches!(self, Self::Read { .. })
    }
}

impl NetworkSource {
    /// Returns the bytes of the network file, for `game` if it is the ready one.
    ///
    /// # Errors
    /// [`NetworkSourceError`]: a file that cannot be read or is of another kind, a folder without a network, a game without
    /// a ready one.
    pub fn read(&self, game: &GameSpec) -> Result<Cow<'static, [u8]>, NetworkSourceError> {
        self.check_folder()?;
        match self {
            Self::Ready => {
                let bytes = ready(game).ok_or_else(|| NetworkSourceError::NotCarried { game: game.to_string() })?;
                Ok(bytes.into())
            }
            Self::File(file) => {
                let read = std::fs::read(file);
                let bytes = read.map_err(|source| NetworkSourceError::Read { file: file.clone(), source })?;
                if begins_as_network(&bytes) {
                    Ok(bytes.into())
                } else {
                    Err(NetworkSourceError::OtherFile { file: file.clone() })
                }
            }
        }
    }

    /// Checks that it is not a folder in which no network was found.
    ///
    /// # Errors
    /// [`NetworkSourceError::NoNetwork`].
    pub fn check_folder(&self) -> Result<(), NetworkSourceError> {
        match self {
            Self::File(folder) if folder.is_dir() => Err(NetworkSourceError::NoNetwork { folder: folder.clone() }),
            _ => Ok(()),
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

    /// Reads `ready`, or the path of a file (`./ready`, if it has that name), of a run directory or of the folder of a
    /// training.
    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(Path::new(text).into())
    }
}

impl From<&Path> for NetworkSource {
    /// A run directory means the best network in it, the folder of a training the network that came of it.
    fn from(path: &Path) -> Self {
        if path.as_os_str() == READY {
            return Self::Ready;
        }
        let found = NETWORK_FILES.iter().map(|name| path.join(name)).find(|file| file.is_file());
        Self::File(found.unwrap_or_else(|| path.to_owned()))
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

/// Returns whether a file begins as a safetensors file: the length of its header, and JSON. Whether the rest is whole, and
/// which network it is, `net` finds out.
fn begins_as_network(bytes: &[u8]) -> bool {
    let Some((length, header)) = bytes.split_first_chunk() else { return false };
    u64::from_le_bytes(*length) <= HEADER_BYTES_MAX && header.starts_with(b"{")
}

#[cfg(test)]
mod tests {
    use shared::catalog::NetworkGame;
    use shared::game::dama::Dama;
    use shared::game::hive::Hive;

    use super::*;

    /// The beginning of a network file.
    const WEIGHTS: &[u8] = b"\x02\0\0\0\0\0\0\0{}";

    #[test]
    fn the_programs_carry_a_small_network_for_each_game() {
        let hive = Hive::default().spec(Hive::USUAL_VIEW);
        let dama = Dama::default().spec(Dama::USUAL_VIEW);
        for game in [&hive, &dama] {
            let bytes = NetworkSource::Ready.read(game).expect("a network");
            assert!((10_000..=4 << 20).contains(&bytes.len()), "{} bytes for {game}", bytes.len());
        }
        let error = NetworkSource::Ready.read(&GameSpec::TicTacToe {}).expect_err("none");
        assert_eq!(
            error.to_string(),
            "network ready: this program carries none for tic-tac-toe: name a file, or the folder of a run"
        );
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
    fn a_folder_means_the_best_network_of_a_run_or_what_came_of_a_training() {
        let folder = std::env::temp_dir().join(format!("alveare-networks-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        let source = || NetworkSource::from(folder.as_path());
        let error = source().read(&GameSpec::TicTacToe {}).expect_err("no network").to_string();
        let names = "best.safetensors, pretrained.safetensors, trained.safetensors";
        assert!(error.contains(&format!("the folder has none of {names}: name a file")), "{error}");
        for name in ["trained.safetensors", "pretrained.safetensors", "best.safetensors"] {
            std::fs::write(folder.join(name), WEIGHTS).expect("a file");
            assert_eq!(source(), NetworkSource::File(folder.join(name)));
            assert_eq!(source().read(&GameSpec::TicTacToe {}).expect("the file").as_ref(), WEIGHTS);
        }
        std::fs::remove_dir_all(&folder).expect("removed");
    }

    #[test]
    fn a_file_of_another_kind_is_no_network() {
        let file = std::env::temp_dir().join(format!("alveare-networks-{}.txt", std::process::id()));
        for bytes in [&b""[..], b"notes", b"notes {of} a walk", b"\x02\0\0\0\0\0\0\0no"] {
            std::fs::write(&file, bytes).expect("a file");
            let error = NetworkSource::File(file.clone()).read(&GameSpec::TicTacToe {}).expect_err("no network");
            assert!(error.to_string().contains(": not a network file; `learner`, `learner pretrain` and"), "{error}");
        }
        std::fs::remove_file(&file).expect("removed");
    }

    #[test]
    fn a_folder_without_a_database_holds_no_run() {
        let nowhere = Path::new("/no/such/run");
        assert_eq!(database_of(nowhere), Err(NoRunError(nowhere.to_owned())));
        assert_eq!(NoRunError(nowhere.to_owned()).to_string(), "/no/such/run: no run there: it has no alveare.db");
    }
}

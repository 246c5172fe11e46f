//! Where games come from: run directories, and paths with human games.

use std::path::{Path, PathBuf};

use anyhow::Context;
use runtime::exit::UsageError;
use samples::human_games::check_paths;
use shared::catalog::GameSpec;
use store::{DATABASE_FILE, Reader};
use walkdir::WalkDir;

/// How files of draughts games end.
const PDN_EXTENSION: &str = "pdn";

/// A run whose games are counted.
pub struct RunSource {
    /// Its folder.
    pub dir: PathBuf,
    /// What it plays.
    pub spec: GameSpec,
    /// Its store.
    pub reader: Reader,
}

/// All sources of a book.
pub struct Sources {
    /// The runs, in the order in which they were named.
    pub runs: Vec<RunSource>,
    /// Files and folders with human games.
    pub human_games: Vec<PathBuf>,
}

impl Sources {
    /// Opens the sources behind `paths`.
    ///
    /// # Errors
    /// A path that is not there ([`UsageError`]), a run that cannot be read.
    pub fn open(paths: &[PathBuf]) -> anyhow::Result<Self> {
        check_paths(paths).map_err(|error| UsageError(runtime::exit::one_line(&error)))?;
        let (runs, human_games): (Vec<_>, Vec<_>) =
            paths.iter().cloned().partition(|path| path.join(DATABASE_FILE).is_file());
        let open = |dir: PathBuf| {
            let source = open_run(&dir).with_context(|| dir.display().to_string())?;
            let (spec, reader) = source;
            anyhow::Ok(RunSource { dir, spec, reader })
        };
        Ok(Self { runs: runs.into_iter().map(open).collect::<Result<_, _>>()?, human_games })
    }

    /// Returns whether draughts is among the human games.
    pub fn has_pdn(&self) -> bool {
        self.human_games.iter().any(|path| pdn_files(path).iter().any(|file| is_pdn(file)))
    }
}

fn open_run(dir: &Path) -> anyhow::Result<(GameSpec, Reader)> {
    let reader = Reader::of_run(dir)?;
    Ok((reader.run()?.game_spec()?, reader))
}

/// Returns the files of draughts games behind a path, by name: a file itself, or all PDN files below a folder.
pub fn pdn_files(path: &Path) -> Vec<PathBuf> {
    if !path.is_dir() {
        return vec![path.to_owned()];
    }
    let below = WalkDir::new(path).sort_by_file_name().into_iter().filter_map(Result::ok);
    below.map(walkdir::DirEntry::into_path).filter(|file| is_pdn(file) && file.is_file()).collect()
}

fn is_pdn(file: &Path) -> bool {
    file.extension().is_some_and(|extension| extension.eq_ignore_ascii_case(PDN_EXTENSION))
}

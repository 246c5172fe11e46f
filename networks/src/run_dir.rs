//! What every program knows of the folder of a run or of a training: the names of its files, and what it says of a folder
//! without a run.

use std::path::{Path, PathBuf};

/// The database of a run, in its folder.
pub const DATABASE_FILE: &str = "alveare.db";

/// The file in the folder of a run that is always its best network.
pub const BEST_FILE: &str = "best.safetensors";

/// The network that `learner pretrain` leaves in its folder.
pub const PRETRAINED_FILE: &str = "pretrained.safetensors";

/// The network that `learner train` leaves in its folder.
pub const TRAINED_FILE: &str = "trained.safetensors";

/// The files that a folder can mean, the first that is there.
pub(crate) const NETWORK_FILES: [&str; 3] = [BEST_FILE, PRETRAINED_FILE, TRAINED_FILE];

/// A folder without a run was named as that of one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}: no run there: it has no {DATABASE_FILE}", .0.display())]
pub struct NoRunError(pub PathBuf);

/// Returns the database of the run in `run_dir`.
///
/// # Errors
/// [`NoRunError`] if there is none.
pub fn database_of(run_dir: &Path) -> Result<PathBuf, NoRunError> {
    let database = run_dir.join(DATABASE_FILE);
    if database.is_file() { Ok(database) } else { Err(NoRunError(run_dir.to_owned())) }
}

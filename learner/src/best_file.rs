//! The file `best.safetensors` of a run directory: the best network under a name that does not change.
//!
//! It follows the promotion, and a start mends it: the store says which network is the best, never this file.

use std::fs::{self, File};
use std::io;
use std::path::Path;

use shared::ids::NetworkId;
use store::files::RunFiles;
use store::{Reader, StoreError};

/// Why the file of the best network is not in its place.
#[derive(Debug, thiserror::Error)]
pub enum BestFileError {
    /// The store does not say which network is the best.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The file cannot be written.
    #[error("write the best network")]
    Write(#[from] io::Error),
}

/// Puts the file of a network in the place of the best one, as one step: who opens it finds one whole network or the other.
/// Both names are of one file where the disk can do that, else it is copied.
///
/// # Errors
/// [`io::Error`] if the network cannot be read, or the file cannot be written: the one before is still there then.
pub(crate) fn put_best_file(files: &RunFiles, network_id: NetworkId) -> io::Result<()> {
    let (network, best) = (files.network(network_id), files.best());
    let part = best.with_extension("safetensors.part");
    remove_if_there(&part)?;
    if fs::hard_link(&network, &part).is_err() {
        fs::copy(&network, &part)?;
        File::open(&part)?.sync_all()?;
    }
    fs::rename(&part, &best)?;
    // Renaming one name of a file over another name of it does nothing.
    remove_if_there(&part)?;
    File::open(files.dir())?.sync_all()
}

/// Puts the file of the best network in its place in a run directory at which no learner is at work.
///
/// # Errors
/// A store that cannot be read, and as [`io::Error`] a file that cannot be written.
pub fn mend_best_file_of(run_dir: &Path) -> Result<(), BestFileError> {
    let best = Reader::of_run(run_dir)?.best_network()?;
    best.map_or(Ok(()), |best| mend_best_file(&RunFiles::new(run_dir), best.network.network_id))?;
    Ok(())
}

/// Puts the file of the best network in its place unless it is there, as it is after a promotion that was cut short.
///
/// # Errors
/// As [`put_best_file`].
pub(crate) fn mend_best_file(files: &RunFiles, network_id: NetworkId) -> io::Result<()> {
    if is_same_content(&files.best(), &files.network(network_id))? {
        return Ok(());
    }
    put_best_file(files, network_id)
}

fn is_same_content(best: &Path, network: &Path) -> io::Result<bool> {
    match fs::read(best) {
        Ok(bytes) => Ok(bytes == fs::read(network)?),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

fn remove_if_there(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run() -> (tempfile::TempDir, RunFiles) {
        let dir = tempfile::tempdir().expect("a folder");
        let files = RunFiles::new(dir.path());
        files.create().expect("folders");
        for number in [1, 2] {
            fs::write(files.network(id(number)), format!("network {number}")).expect("a file");
        }
        (dir, files)
    }

    fn id(number: u32) -> NetworkId {
        NetworkId::new(number).expect("from 1")
    }

    fn best(files: &RunFiles) -> String {
        fs::read_to_string(files.best()).expect("it is there")
    }

    /// Returns the names in the run directory.
    fn names(dir: &Path) -> Vec<String> {
        let names = fs::read_dir(dir).expect("a folder").map(|entry| entry.expect("a file").file_name());
        let mut names: Vec<String> = names.map(|name| name.to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    #[test]
    fn the_best_file_follows_each_promotion_and_leaves_nothing_else() {
        let (dir, files) = run();
        for number in [1, 2, 2, 1] {
            put_best_file(&files, id(number)).expect("written");
            assert_eq!(best(&files), format!("network {number}"));
            assert_eq!(names(dir.path()), ["best.safetensors", "networks"]);
        }
    }

    #[test]
    fn a_file_that_is_missing_or_of_before_is_mended() {
        let (dir, files) = run();
        mend_best_file(&files, id(1)).expect("made");
        assert_eq!(best(&files), "network 1");
        mend_best_file(&files, id(2)).expect("replaced");
        assert_eq!(best(&files), "network 2");
        // A link that was half made.
        fs::write(dir.path().join("best.safetensors.part"), "half").expect("a file");
        fs::remove_file(files.best()).expect("removed");
        mend_best_file(&files, id(2)).expect("made");
        assert_eq!((best(&files), names(dir.path()).len()), ("network 2".to_owned(), 2));
    }

    #[test]
    fn without_the_network_the_file_of_before_stays() {
        let (_dir, files) = run();
        put_best_file(&files, id(1)).expect("written");
        put_best_file(&files, id(7)).expect_err("no such network");
        assert_eq!(best(&files), "network 1");
    }
}

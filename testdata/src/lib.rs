//! Recorded games and facts about the rules, as tests and benchmarks read them. See `testdata/README.md`.
//!
//! Small files lie in the folder as they are; large ones and many small ones are entries of its `files.zip`. Readers do
//! not need to know which. Only a dev-dependency: no program reads test data.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

/// The archive of a folder.
const ARCHIVE: &str = "files.zip";

/// Returns the text of a file, such as `hive/perft.tsv` or `bga/games.uhp`.
///
/// # Panics
///
/// Panics if there is no such file, or it is not UTF-8: the checkout is damaged, or the test names it wrongly.
#[must_use]
pub fn read(name: &str) -> String {
    let path = root().join(name);
    if path.is_file() {
        return fs::read_to_string(&path).unwrap_or_else(|error| panic!("read {}: {error}", path.display()));
    }
    let (folder, entry) = name.split_once('/').unwrap_or_else(|| panic!("{name} names no folder of testdata"));
    read_packed(&root().join(folder).join(ARCHIVE), entry)
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).to_owned()
}

fn read_packed(path: &Path, entry: &str) -> String {
    let failed = |error: &dyn std::fmt::Display| -> ! { panic!("read {entry} of {}: {error}", path.display()) };
    let file = File::open(path).unwrap_or_else(|error| failed(&error));
    let mut archive = zip::ZipArchive::new(file).unwrap_or_else(|error| failed(&error));
    let mut text = String::new();
    let mut entry = archive.by_name(entry).unwrap_or_else(|error| failed(&error));
    entry.read_to_string(&mut text).unwrap_or_else(|error| failed(&error));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Together with the history of the repository this keeps a clone below 12 MB.
    const BYTE_COUNT_MAX: u64 = 3_000_000;

    fn byte_count(folder: &Path) -> u64 {
        let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
        let size = |path: &Path| if path.is_dir() { byte_count(path) } else { fs::metadata(path).unwrap().len() };
        entries.map(|entry| size(&entry.path())).sum()
    }

    #[test]
    fn packed_and_plain_files_are_read_alike() {
        assert!(read("dama/perft.tsv").starts_with("id\tfen\tdepth"));
        assert_eq!(read("bga/games.uhp").lines().count(), 5_167);
        assert_eq!(read("dama/positions.jsonl").lines().count(), 600);
        assert!(read("boardspace/HV-Dumbot-guest-2018-10-31-1402.sgf").contains("GM[27]"));
    }

    #[test]
    fn every_folder_says_what_is_in_it() {
        for folder in ["hive", "dama", "bga", "boardspace"] {
            assert!(root().join(folder).join("README.md").is_file(), "{folder}");
        }
    }

    #[test]
    fn a_clone_stays_small() {
        let count = byte_count(&root());
        assert!(count < BYTE_COUNT_MAX, "{count} bytes of test data");
    }
}

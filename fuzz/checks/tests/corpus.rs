//! The committed inputs of the fuzz targets pass their checks, and there are some for each.
//!
//! `UPDATE_GOLDEN=1` writes those that are made in `made_inputs`, from messages, positions and files.

mod made_inputs;

use std::fs;
use std::path::{Path, PathBuf};

use fuzz_checks::CHECKS;

/// Fewest inputs of a check: one that is usual, and some that are not.
const INPUT_COUNT_MIN: usize = 3;

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus")
}

#[test]
fn every_committed_input_passes_its_check() {
    for check in CHECKS {
        let folder = corpus().join(check.name);
        let inputs = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
        let mut input_count = 0;
        for input in inputs {
            let path = input.expect("a file of the corpus").path();
            println!("{}", path.display());
            (check.check)(&fs::read(&path).expect("a readable file"));
            input_count += 1;
        }
        assert!(input_count >= INPUT_COUNT_MIN, "{}: {input_count} inputs", folder.display());
    }
}

#[test]
fn every_check_has_a_fuzz_target() {
    for check in CHECKS {
        let target = corpus().join(format!("../fuzz_targets/{}.rs", check.name));
        let text = fs::read_to_string(&target).unwrap_or_else(|error| panic!("{}: {error}", target.display()));
        assert!(text.contains(&format!("fuzz_checks::check(\"{}\", bytes)", check.name)), "{}", target.display());
    }
}

#[test]
fn messages_and_positions_are_made_as_the_inputs_say() {
    for (name, bytes) in made_inputs::all() {
        let path = corpus().join(name);
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            fs::write(&path, &bytes).expect("a file");
        }
        let committed = fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        assert!(committed == bytes, "{name} is made differently now: UPDATE_GOLDEN=1");
    }
}

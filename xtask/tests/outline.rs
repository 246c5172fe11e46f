//! `deploy/outline.sh`: what the images build first is a whole workspace for cargo, without its code.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// Returns the targets of all packages of the workspace in `folder`, as cargo sees them.
fn targets(folder: &Path) -> Vec<String> {
    let cargo = std::env::var_os("CARGO").expect("cargo runs the tests");
    let mut command = Command::new(cargo);
    command.args(["metadata", "--format-version", "1", "--no-deps", "--offline"]).current_dir(folder);
    let output = command.output().expect("cargo starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let packages = metadata["packages"].as_array().expect("packages");
    let mut targets = Vec::new();
    for package in packages {
        let of_package = package["targets"].as_array().expect("targets").iter();
        targets.extend(of_package.map(|target| format!("{} {} {}", package["name"], target["kind"], target["name"])));
    }
    targets.sort();
    targets
}

#[test]
fn the_outline_has_every_target_and_no_code() {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let folder = tempfile::tempdir().expect("a folder");
    let outline = folder.path().join("outline");
    let script = workspace.join("deploy/outline.sh");
    let made = Command::new("sh").arg(script).arg(&outline).current_dir(&workspace).status().expect("sh starts");
    assert!(made.success());
    assert_eq!(targets(&outline), targets(&workspace));
    let library = fs::read_to_string(outline.join("shared/src/lib.rs")).expect("a library");
    assert_eq!((library.as_str(), outline.join("shared/src/search").exists()), ("fn main() {}\n", false));
}

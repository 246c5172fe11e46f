//! `deploy/check.sh` on machines that are made up: each with what the test puts into its PATH.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

/// Answers of a machine that has everything.
const DOCKER: &str = r#"case "$*" in
    info) ;;
    "info --format {{json .Runtimes}}") echo '{"nvidia":{},"runc":{}}' ;;
    "info --format {{.DockerRootDir}}") echo / ;;
    version*) echo 28.2.2 ;;
    "compose version --short") echo 2.40.3 ;;
    "image inspect"*) ;;
    *) exit 1 ;;
esac"#;
const NVIDIA_SMI: &str = "echo 580.65.06";
const DF: &str = "echo Avail; echo 64";

/// A machine with these programs, and those of the system that the script is written with.
struct Machine {
    folder: TempDir,
}

impl Machine {
    fn with(programs: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        for name in ["bash", "sed", "dirname", "sort", "grep", "head", "tail", "tr", "timeout"] {
            let found =
                ["/usr/bin", "/bin"].into_iter().map(|bin| Path::new(bin).join(name)).find(|path| path.exists());
            let found = found.unwrap_or_else(|| panic!("{name} is on every machine"));
            std::os::unix::fs::symlink(found, folder.path().join(name)).expect("linked");
        }
        for (name, body) in programs {
            let path = folder.path().join(name);
            std::fs::write(&path, format!("#!/bin/bash\n{body}\n")).expect("written");
            std::fs::set_permissions(&path, Permissions::from_mode(0o755)).expect("made a program");
        }
        std::fs::write(folder.path().join("token"), "honey").expect("written");
        Self { folder }
    }

    /// Returns whether all is well, and the faults.
    fn check(&self, flags: &[&str]) -> (bool, Vec<String>) {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../deploy/check.sh");
        let output = Command::new("bash")
            .arg(script)
            .args(flags)
            .env_clear()
            .env("PATH", self.folder.path())
            .env("ALVEARE_TOKEN_FILE", self.folder.path().join("token"))
            // Ports that nobody listens on.
            .envs([("ALVEARE_PUBLISH", "127.0.0.1:1"), ("ALVEARE_PUBLISH_PAGE", "127.0.0.1:2")])
            .output()
            .expect("bash starts");
        let text = String::from_utf8(output.stdout).expect("text");
        let faults = text.lines().filter_map(|line| line.strip_prefix("FAULT  ")).map(str::to_owned).collect();
        (output.status.success(), faults)
    }
}

#[test]
fn a_machine_that_has_everything_passes() {
    let machine = Machine::with(&[("docker", DOCKER), ("nvidia-smi", NVIDIA_SMI), ("df", DF)]);
    assert_eq!(machine.check(&[]), (true, Vec::new()));
}

#[test]
fn without_a_gpu_none_is_asked_for() {
    let docker = DOCKER.replace(r#""nvidia":{},"#, "");
    let machine = Machine::with(&[("docker", &docker), ("df", DF)]);
    assert_eq!(machine.check(&["--cpu"]), (true, Vec::new()));
    let (is_well, faults) = machine.check(&[]);
    assert!(!is_well && faults.len() == 2, "{faults:?}");
    assert!(faults[0].starts_with("nvidia-smi finds no GPU"), "{faults:?}");
    assert!(faults[1].contains("unknown runtime specified nvidia") && faults[1].contains("nvidia-ctk"), "{faults:?}");
}

#[test]
fn each_fault_is_one_line_that_says_what_to_do() {
    let change = |from: &str, to: &str| {
        assert!(DOCKER.contains(from), "{from}");
        DOCKER.replace(from, to)
    };
    let no_images = change(r#"    "image inspect"*) ;;"#, "");
    for (docker, smi, df, words) in [
        (DOCKER, "echo 575.57.08", DF, vec!["the NVIDIA driver is 575.57.08, too old"]),
        (DOCKER, NVIDIA_SMI, "echo Avail; echo 3", vec!["3 GiB free in /: the build needs 40"]),
        (&change("echo 2.40.3", "exit 1"), NVIDIA_SMI, DF, vec!["no Docker Compose"]),
        (&change("echo 2.40.3", "echo 1.25.0"), NVIDIA_SMI, DF, vec!["Docker Compose 1.25.0 is too old"]),
        (&no_images, NVIDIA_SMI, DF, vec!["image rust:", "image debian:"]),
        ("exit 1", NVIDIA_SMI, DF, vec!["Docker does not answer"]),
    ] {
        let machine = Machine::with(&[("docker", docker), ("nvidia-smi", smi), ("df", df)]);
        let (is_well, faults) = machine.check(&[]);
        let are_told = faults.iter().zip(&words).all(|(fault, words)| fault.starts_with(words));
        assert!(!is_well && faults.len() == words.len() && are_told, "{words:?}: {faults:?}");
    }
    let machine = Machine::with(&[("nvidia-smi", NVIDIA_SMI), ("df", DF)]);
    std::fs::remove_file(machine.folder.path().join("token")).expect("it was there");
    let (is_well, faults) = machine.check(&[]);
    assert!(!is_well && faults[0].starts_with("no Docker:") && faults[1].starts_with("no token in"), "{faults:?}");
}

//! The devices of a run: a GPU that is asked for by name and is not there ends the program in words, and `auto` warns.

mod common;

use common::system::{System, learner_command};
use net::DeviceChoice;
use proto::status_client::StatusClient;

#[test]
fn a_gpu_that_is_not_there_is_reported_in_one_line_and_leaves_nothing_behind() {
    for key in ["inference.device", "training.device"] {
        // No machine has so many.
        let devices = ["inference.device=cpu", "training.device=cpu"];
        let system = System::new(&[devices[0], devices[1], &format!("{key}=cuda:200")]);
        let output = system.learner_command(&[]).output().expect("the learner starts");
        let log = String::from_utf8_lossy(&output.stderr);
        let last = log.lines().last().unwrap_or_default();
        assert_eq!((output.status.code(), system.run_dir().exists()), (Some(1), false), "{log}");
        let expected = match net::cuda::problem() {
            Some(problem) => format!("learner: {key}: device cuda:200: {problem}"),
            None => format!("learner: {key}: device cuda:200: this machine has "),
        };
        assert!(last.starts_with(&expected), "{last}");
    }
}

#[test]
fn the_preset_for_a_gpu_does_not_fall_to_the_processor() {
    let printed = |preset: &str| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_learner"));
        let output = command.args(["--preset", preset, "--print-config"]).output().expect("the learner starts");
        String::from_utf8(output.stdout).expect("text")
    };
    let devices = |text: &str| text.lines().filter(|line| line.starts_with("device = ")).map(str::to_owned).collect();
    let found: Vec<String> = devices(&printed("hive-4090"));
    assert_eq!(found, ["device = \"cuda:0\""; 4]);
    let found: Vec<String> = devices(&printed("hive-original"));
    assert_eq!(found, ["device = \"auto\""; 4]);
}

#[test]
fn a_training_says_where_its_gpu_is_before_it_reads_a_game() {
    let games = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../samples/tests/human_games/games.uhp");
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_learner"));
    command.args(["pretrain", "--preset", "hive-cpu", "--set", "pretrain.device=cuda:200", "--games"]).arg(games);
    let folder = tempfile::tempdir().expect("a folder");
    let output = command.arg("--checkpoint-dir").arg(folder.path().join("out")).output().expect("the learner starts");
    let log = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{log}");
    assert!(log.lines().count() == 1 && log.starts_with("learner: pretrain.device: device cuda:200: this "), "{log}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn auto_that_falls_to_the_processor_warns_in_log_and_status() {
    let mut system = System::new(&["inference.device=auto", "training.device=auto"]);
    let mut learner = system.start("learner", system.learner_command(&[]));
    let expected = if DeviceChoice::Auto.passed_over().is_some() {
        let warning = learner.wait_for("computing on the processor");
        assert!(warning.contains("WARN") && warning.contains("key=\"inference.device\""), "{warning}");
        Some(2)
    } else {
        None
    };
    drop(learner);
    let _learner = system.start_learner(&[]);
    let mut client = StatusClient::connect(system.url()).await.expect("it listens");
    let status = client.get_status(proto::GetStatusRequest {}).await.expect("a status").into_inner();
    assert_eq!(status.counters.get("processor_fallback_count").copied(), expected);
}

#[test]
fn the_shipped_file_is_read_as_the_preset_is() {
    let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../config/hive-4090.toml");
    let output = learner_command(&file).arg("--print-config").output().expect("the learner starts");
    assert_eq!(String::from_utf8_lossy(&output.stdout).matches("device = \"cuda:0\"").count(), 4);
}

//! `learner data-info` and `learner export`: the real program on runs and on human games.

mod common;

use std::path::Path;
use std::process::{Command, Output};
use std::sync::Arc;
use std::time::Instant;

use fixtures::{BLACK_WINS, DRAW, WHITE_WINS, lease_one, plies, report, run_row, start};
use notation::{ReadOptions, games};
use registry::{GameRegistry, RegistryLimits, SelfPlayPlan, StartPlan};
use safetensors::{Dtype, SafeTensors};
use samples::buffer::{SampleBuffer, SharedReplay};
use serde_json::Value;
use shared::encoding::hive::HiveEncoding;
use shared::game::hive::{Hive, HiveRules};
use shared::record::PlyRecord;
use shared::search::SearchSettings;
use shared::wire::ReportedPly;
use store::{GameKind, RunRow, Store};

/// Human games: resigned, agreed drawn, cut short, and one whose second ply names a piece that is not there.
const HIVE_GAMES: &str = "Base+MLP;WhiteWins;White[3];wS1;bS1 wS1-;wQ -wS1;bQ bS1-\n\
    Base;Draw;Black[2];wG1;bG1 wG1-;wQ -wG1\n\
    Base+MLP;InProgress;White[2];wS1;bS1 wS1-\n\
    Base+MLP;BlackWins;White[2];wS1;bS1 bG1-\n";

fn learner(command: &str, paths: &[&Path], flags: &[&str]) -> Output {
    let mut learner = Command::new(env!("CARGO_BIN_EXE_learner"));
    learner.arg(command).args(paths).args(flags).output().expect("the program starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Runs a command that must succeed, and returns what it printed.
fn output_of(command: &str, paths: &[&Path], flags: &[&str]) -> String {
    let output = learner(command, paths, flags);
    assert!(output.status.success(), "{}", text(&output.stderr));
    text(&output.stdout)
}

/// Runs a command that must fail with this code, and returns what it complained of.
fn complaint(command: &str, paths: &[&Path], flags: &[&str], code: i32) -> String {
    let output = learner(command, paths, flags);
    assert_eq!(output.status.code(), Some(code), "{}", text(&output.stderr));
    text(&output.stderr)
}

/// A run with three finished games of tic-tac-toe and one that is open. The store is let go.
fn tictactoe_run() -> tempfile::TempDir {
    let run_dir = tempfile::tempdir().expect("a directory");
    let (learner, now) = (start(run_dir.path()), Instant::now());
    for moves in [&WHITE_WINS[..], &BLACK_WINS, &DRAW, &DRAW[..3]] {
        let game_id = lease_one(&learner, "a", now);
        report(&learner, "a", &plies(game_id, moves), now);
    }
    run_dir
}

fn floats(tensors: &SafeTensors<'_>, name: &str) -> Vec<f32> {
    let tensor = tensors.tensor(name).expect(name);
    assert_eq!(tensor.dtype(), Dtype::F32, "{name}");
    tensor.data().as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect()
}

fn integers(tensors: &SafeTensors<'_>, name: &str) -> Vec<i32> {
    let tensor = tensors.tensor(name).expect(name);
    assert_eq!(tensor.dtype(), Dtype::I32, "{name}");
    tensor.data().as_chunks().0.iter().map(|bytes| i32::from_le_bytes(*bytes)).collect()
}

#[test]
fn the_statistics_of_a_run_are_those_of_its_games() {
    let run_dir = tictactoe_run();
    let json: Value = serde_json::from_str(&output_of("data-info", &[run_dir.path()], &["--json"])).expect("JSON");
    let of = |key: &str| json["self_play"][key].clone();
    assert_eq!((of("games"), of("positions"), of("different_games")), (3.into(), 20.into(), 3.into()));
    assert_eq!((of("white_wins"), of("black_wins"), of("draws")), (1.into(), 1.into(), 1.into()));
    assert_eq!((of("plies_min"), of("plies_median"), of("plies_max")), (5.into(), 6.into(), 9.into()));
    assert_eq!(of("policy_entropy").as_f64(), Some(0.0), "each target is on one move");
    let text = output_of("data-info", &[run_dir.path()], &[]);
    assert!(text.contains("types           tictactoe 3\n"), "{text}");
    assert!(output_of("data-info", &[run_dir.path()], &["--newest", "1"]).contains("draws           1 (100.0%)"));
}

#[test]
fn samples_are_tensors_that_anyone_reads() {
    let run_dir = tictactoe_run();
    let file = run_dir.path().join("samples.safetensors");
    let file_name = file.to_str().expect("a plain path");
    assert_eq!(output_of("export", &[run_dir.path()], &["--samples", file_name]), "games 3\nsamples 20\n");
    let bytes = std::fs::read(&file).expect("the file is there");
    let (_, metadata) = SafeTensors::read_metadata(&bytes).expect("a header");
    let words = metadata.metadata().clone().expect("words");
    assert_eq!((words["game"].as_str(), words["policy_size"].as_str()), (r#"{"name":"tictactoe"}"#, "9"));
    let tensors = SafeTensors::deserialize(&bytes).expect("tensors");
    let planes = tensors.tensor("planes").expect("planes");
    assert_eq!((planes.shape()[0], &planes.shape()[2..]), (20, &[3, 3][..]));
    assert_eq!(floats(&tensors, "search_values"), [0.25; 20]);
    let values = floats(&tensors, "value_targets");
    assert_eq!(values[..5], [1.0, -1.0, 1.0, -1.0, 1.0], "White won the first game");
    assert_eq!(values[11..], [0.0; 9]);
    assert_eq!(integers(&tensors, "games"), [vec![0; 5], vec![1; 6], vec![2; 9]].concat());
    let starts = integers(&tensors, "move_starts");
    let (indices, shares) = (integers(&tensors, "policy_indices"), floats(&tensors, "policy_targets"));
    assert_eq!((starts.len(), starts[0], starts[20] as usize), (21, 0, indices.len()));
    let moves = |sample: usize| starts[sample] as usize..starts[sample + 1] as usize;
    assert_eq!(indices[moves(0)], [0, 1, 2, 3, 4, 5, 6, 7, 8]);
    assert_eq!(moves(4).len(), 5, "five squares are empty before the fifth ply");
    for sample in 0..20 {
        let played = shares[moves(sample)].iter().filter(|share| **share == 1.0).count();
        assert_eq!((played, shares[moves(sample)].iter().sum::<f32>()), (1, 1.0), "sample {sample}");
    }
    let planes = floats(&tensors, "planes");
    let empty = planes.chunks(planes.len() / 20).map(|planes| !planes.contains(&1.0));
    let starts: Vec<usize> = empty.enumerate().filter(|(_, is_empty)| *is_empty).map(|(sample, _)| sample).collect();
    assert_eq!(starts, [0, 5, 11], "each game starts from the empty board");
}

#[test]
fn the_python_example_reads_samples() {
    let run_dir = tictactoe_run();
    let file = run_dir.path().join("samples.safetensors");
    output_of("export", &[run_dir.path()], &["--samples", file.to_str().expect("a plain path")]);
    let example = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/read_samples.py");
    let output = Command::new("python3").arg(example).arg(&file).arg("4").output().expect("python3 is installed");
    let (found, complaint) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{complaint}");
    let lines: Vec<&str> = found.lines().collect();
    assert_eq!(lines[0], r#"game: {"name":"tictactoe"}"#);
    assert!(
        lines[1].starts_with("20 positions, planes [") && lines[1].ends_with(", 3, 3], 9 policy indices"),
        "{found}"
    );
    assert_eq!(lines[2], "position 4: value target +1.00");
    assert_eq!(lines.iter().filter(|line| line.contains("policy index ")).count(), 5, "{found}");
    assert!(lines[3].ends_with(" 100.0%"), "the move that was played comes first: {found}");
}

#[test]
fn a_data_set_holds_what_the_run_holds() {
    let run_dir = tictactoe_run();
    let (file, other) = (run_dir.path().join("a.samples"), run_dir.path().join("b.samples"));
    let name = |file: &Path| file.to_str().expect("a plain path").to_owned();
    let written = output_of("export", &[run_dir.path()], &["--dataset", &name(&file)]);
    assert_eq!(written, "games 3\ndata set: games 3, samples 20\n");
    let report = |paths: &[&Path], origin: &str| {
        let json: Value = serde_json::from_str(&output_of("data-info", paths, &["--json"])).expect("JSON");
        json[origin].clone()
    };
    assert_eq!(report(&[&file], "data_set"), report(&[run_dir.path()], "self_play"));
    assert_eq!(report(&[&file], "data_set")["searched_positions"], 20);
    // Tensors from the data set are those from the run; a data set of data sets is both.
    let (of_run, of_set) = (run_dir.path().join("run.safetensors"), run_dir.path().join("set.safetensors"));
    output_of("export", &[run_dir.path()], &["--samples", &name(&of_run)]);
    output_of("export", &[&file], &["--samples", &name(&of_set)]);
    // The words of the metadata come in any order; the tensors begin behind their room.
    let tensors = |file: &Path| std::fs::read(file).expect("tensors").split_off(2048);
    assert!(tensors(&of_run) == tensors(&of_set));
    output_of("export", &[&file, &file], &["--dataset", &name(&other)]);
    let both = report(&[&other], "data_set");
    assert_eq!((both["games"].as_u64(), both["different_games"].as_u64()), (Some(6), Some(3)));
    let newest = output_of("data-info", &[&other], &["--newest", "1", "--json"]);
    assert!(newest.contains(r#""games":1,"#) && newest.contains(r#""draws":1,"#), "{newest}");
}

#[test]
fn a_data_set_that_is_cut_off_gives_what_is_whole() {
    let dir = tempfile::tempdir().expect("a directory");
    let file = dir.path().join("a.samples");
    let game_count = common::searched::write_data_set(&fixtures::encoding(), &file, 2000, 4, 1.0) as u64;
    let bytes = std::fs::read(&file).expect("the file is there");
    std::fs::write(&file, &bytes[..bytes.len() * 2 / 3]).expect("a file");
    let output = learner("data-info", &[&file], &["--json"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let json: Value = serde_json::from_str(&text(&output.stdout)).expect("JSON");
    let found = json["data_set"]["games"].as_u64().expect("a count");
    assert!(found > 0 && found < game_count, "{found} of {game_count}");
    let lost = format!("a.samples: {} of {game_count} games and ", game_count - found);
    assert!(text(&output.stderr).contains(&lost), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("the file ends inside a block"), "{}", text(&output.stderr));
    std::fs::write(&file, &bytes[..40]).expect("a file");
    assert!(complaint("data-info", &[&file], &[], 1).contains("cut off inside its header"));
}

#[test]
fn human_games_come_out_as_they_went_in() {
    let dir = tempfile::tempdir().expect("a directory");
    let (given, written) = (dir.path().join("given.uhp"), dir.path().join("written.uhp"));
    std::fs::write(&given, HIVE_GAMES).expect("a file");
    let output = learner("export", &[&given], &["--games", written.to_str().expect("a plain path")]);
    assert_eq!(text(&output.stdout), "games 3\n", "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("line 4: ply 2"), "the broken game is named: {}", text(&output.stderr));
    let read = |text: &str| games::read_lines(text, ReadOptions::default()).flatten().collect::<Vec<_>>();
    let again = std::fs::read_to_string(&written).expect("the file is there");
    assert_eq!(read(&again), read(HIVE_GAMES));
    let json: Value = serde_json::from_str(&output_of("data-info", &[&given], &["--json"])).expect("JSON");
    let human = &json["human_games"];
    assert_eq!((&human["games"], &human["unknown"], &human["positions"]), (&3.into(), &1.into(), &7.into()));
    assert_eq!(human["game_types"], serde_json::json!({"Base": 1, "Base+MLP": 2}));
}

#[test]
fn games_of_a_hive_run_are_uhp_strings() {
    let run_dir = tempfile::tempdir().expect("a directory");
    let rules = HiveRules { ply_limit: 4, ..HiveRules::default() };
    let moves = ["wS1", "bS1 wS1-", "wQ -wS1", "bQ bS1-"];
    {
        let game = r#"{"name":"hive","game_type":"Base+MLP","ply_limit":4}"#.to_owned();
        let store = Arc::new(Store::open(run_dir.path(), &RunRow { game, ..run_row() }).expect("a store"));
        let replay = Arc::new(SharedReplay::new(SampleBuffer::new(9)));
        let encoding = HiveEncoding::new(Hive::new(rules), 16);
        let registry = GameRegistry::open(encoding, store, replay, RegistryLimits::default()).expect("a registry");
        let plan = SelfPlayPlan {
            iteration: 1,
            search: SearchSettings::default(),
            starts: StartPlan::default(),
            game_count_max: None,
        };
        registry.plan_self_play(Some(plan)).expect("planned");
        let now = Instant::now();
        let game_id = registry.lease("a", GameKind::SelfPlay, 1, now).expect("leases").leases[0].game_id;
        let ply = |(ply, text): (u32, &&str)| {
            let record = PlyRecord { move_text: (*text).to_owned(), ..PlyRecord::default() };
            ReportedPly { game_id, ply, record }
        };
        registry.report("a", &(0..).zip(&moves).map(ply).collect::<Vec<_>>(), now).expect("stored");
    }
    let file = run_dir.path().join("games.uhp");
    let file_name = file.to_str().expect("a plain path");
    output_of("export", &[run_dir.path()], &["--games", file_name, "--kind", "all"]);
    let written = std::fs::read_to_string(&file).expect("the file is there");
    assert_eq!(written, "Base+MLP;Draw;White[3];wS1;bS1 wS1-;wQ -wS1;bQ bS1-\n", "cut off at the limit: a draw");
    let text = output_of("data-info", &[run_dir.path()], &[]);
    assert!(text.contains("cut off         1 (100.0%)\n"), "{text}");
    let samples = run_dir.path().join("samples.safetensors");
    let reason = complaint("export", &[run_dir.path()], &["--samples", samples.to_str().expect("a plain path")], 1);
    assert!(reason.contains("there are no positions to learn from"), "{reason}");
    assert_eq!(std::fs::read_dir(run_dir.path()).expect("a folder").flatten().filter(is_sample_file).count(), 0);
}

fn is_sample_file(entry: &std::fs::DirEntry) -> bool {
    entry.file_name().to_string_lossy().starts_with("samples")
}

#[test]
fn wrong_usage_is_explained() {
    let run_dir = tictactoe_run();
    let path = run_dir.path();
    assert!(complaint("export", &[path], &[], 64).contains("name what to write"));
    assert!(complaint("export", &[path], &["--games", "games.uhp"], 64).contains("no other program plays this game"));
    assert!(complaint("data-info", &[path, path], &[], 64).contains("is a run: name it alone"));
    let set = path.join("some.samples");
    output_of("export", &[path], &["--dataset", set.to_str().expect("a plain path")]);
    assert!(complaint("data-info", &[&set, path], &[], 64).contains("is not a data set"));
    assert!(complaint("export", &[&set], &["--games", "games.uhp"], 64).contains("a data set holds positions"));
    let human = path.join("human.uhp");
    std::fs::write(&human, HIVE_GAMES).expect("a file");
    let database = path.join("alveare.db");
    let database_name = database.to_str().expect("a plain path");
    let before = std::fs::read(&database).expect("a database");
    assert!(complaint("export", &[path], &["--dataset", database_name], 64).contains("part of what is read"));
    assert_eq!(std::fs::read(&database).expect("a database"), before, "the run is as it was");
    assert!(complaint("export", &[path], &["--dataset", "x", "--samples", "x"], 64).contains("named twice"));
    assert!(
        complaint("export", &[&human], &["--games", "/dev/null"], 1).contains("it exists and is not a regular file")
    );
    assert!(complaint("data-info", &[Path::new("/dev/null")], &[], 1).contains("neither a file nor a folder"));
    let nowhere = path.join("nowhere");
    assert!(complaint("data-info", &[&nowhere], &[], 64).contains("nowhere: no run there, and no games"));
    let empty = tempfile::tempdir().expect("a directory");
    assert!(complaint("data-info", &[empty.path()], &[], 1).contains(": no finished games there"));
    std::fs::write(empty.path().join("alveare.db"), "no database").expect("a file");
    assert!(complaint("data-info", &[empty.path()], &[], 1).contains("database"));
}

//! `learner train` as a real process, on data sets of games that a search played.

mod common;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use common::searched::{Judged, write_data_set};
use common::system::{Process, System};
use samples::dataset::{DataSet, DataSetWriter};
use shared::encoding::dama::{DamaEncoding, PolicyCoding};
use shared::game::Game;
use shared::game::dama::{Dama, DamaRules};

/// A network and a training small enough for a test.
const SETTINGS: [&str; 9] = [
    "network.blocks=1",
    "network.filters=16",
    "network.value_hidden=16",
    "network.policy_head=spatial",
    "offline.device=cpu",
    "offline.threads=1",
    "offline.learning_rate=0.1",
    "offline.held_out_share=0.2",
    "offline.checkpoint_steps=5",
];

fn dama() -> DamaEncoding {
    DamaEncoding::new(Dama::new(DamaRules::default()), PolicyCoding::Lossless)
}

/// A data set of tic-tac-toe, and the folder it lies in.
fn tictactoe(game_count: u64) -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let data = dir.path().join("games.samples");
    write_data_set(&fixtures::encoding(), &data, game_count, 200, 1.0);
    (dir, data)
}

fn train(data: &[&Path], folder: &Path, settings: &[&str], more: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_learner"));
    command.arg("train").arg("--checkpoint-dir").arg(folder);
    if !data.is_empty() {
        command.arg("--data").args(data);
    }
    for setting in SETTINGS.iter().chain(settings) {
        command.args(["--set", setting]);
    }
    command.args(more);
    command
}

/// The same for tic-tac-toe.
fn train_tictactoe(data: &Path, folder: &Path, epochs: u32, settings: &[&str]) -> Command {
    train(&[data], folder, settings, &["--preset", "tictactoe", "--epochs", &epochs.to_string()])
}

fn log_of(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn run_well(mut command: Command) -> String {
    let output = command.output().expect("the program starts");
    assert!(output.status.success(), "{}", log_of(&output));
    log_of(&output)
}

/// Runs what must fail with this code, and returns its last line.
fn complaint(mut command: Command, code: i32) -> String {
    let output = command.output().expect("the program starts");
    assert_eq!(output.status.code(), Some(code), "{}", log_of(&output));
    log_of(&output).lines().last().unwrap_or_default().to_owned()
}

/// The history of a training, a row an epoch.
struct History(Vec<Vec<String>>);

impl History {
    fn of(folder: &Path) -> Self {
        let table = std::fs::read_to_string(folder.join("epochs.tsv")).expect("a history");
        Self(table.lines().map(|line| line.split('\t').map(str::to_owned).collect()).collect())
    }

    fn column(&self, name: &str) -> Vec<f64> {
        let index = self.0[0].iter().position(|head| head == name).expect("the column");
        self.0[1..].iter().map(|row| row[index].parse().expect("a number")).collect()
    }

    /// Returns this figure of the best epoch.
    fn best(&self, name: &str) -> f64 {
        let best = self.column("is_best").iter().rposition(|is_best| *is_best == 1.0).expect("a best epoch");
        self.column(name)[best]
    }

    /// Shows what was learned, should a test fail.
    fn show(&self) {
        for name in ["policy_loss", "value_error", "held_out_policy_loss", "held_out_value_error", "held_out_top1"] {
            println!("{name}: {:.3?}", self.column(name));
        }
    }

    /// Returns everything but how fast it went.
    fn results(self) -> Vec<Vec<String>> {
        self.0.into_iter().map(|mut row| row.drain(..row.len() - 1).collect()).collect()
    }
}

/// Returns how often a blind guess finds the move, over positions with a choice.
fn chance<E: Judged>(encoding: &E, path: &Path) -> f64 {
    let (mut position, mut moves) = (encoding.game().initial_position(), Vec::new());
    let (mut sum, mut count) = (0.0, 0.0);
    let mut data = DataSet::open(path).expect("a data set");
    while let Some(games) = data.next_games().expect("it is read") {
        for sample in games.iter().flat_map(|game| &game.samples) {
            encoding.unpack(&sample.packed, &mut position).expect("a position");
            moves.clear();
            encoding.game().legal_moves(&position, &mut moves);
            if moves.len() > 1 {
                sum += 1.0 / moves.len() as f64;
                count += 1.0;
            }
        }
    }
    sum / count
}

/// Checks that losses fell, and that the held-out games are predicted better than blindly.
fn check_learned(history: &History, chance: f64) {
    for name in ["policy_loss", "value_error", "held_out_policy_loss"] {
        let column = history.column(name);
        assert!(column[column.len() - 1] < column[0], "{name}: {column:?}");
    }
    assert!(history.best("held_out_loss") < history.column("held_out_loss")[0]);
    let (found, right) = (history.best("held_out_top1"), history.best("held_out_sign_share"));
    assert!(found > 1.5 * chance, "found first {found}, by chance {chance}");
    assert!(right > 0.6, "right sign {right}");
    assert!(history.best("held_out_value_error") < 0.95, "better than to say 0 of a decided game");
}

#[test]
fn tictactoe_is_learned_from_its_games() {
    let (dir, data) = tictactoe(500);
    let folder = dir.path().join("trained");
    let log = run_well(train_tictactoe(&data, &folder, 8, &[]));
    assert!(log.contains("training done") && folder.join("trained.safetensors").exists(), "{log}");
    let history = History::of(&folder);
    history.show();
    check_learned(&history, chance(&fixtures::encoding(), &data));
}

#[test]
fn draughts_is_learned_from_its_games() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let (data, folder) = (dir.path().join("games.samples"), dir.path().join("trained"));
    write_data_set(&dama(), &data, 250, 100, 1.0);
    let settings = ["game.name=dama", "network.trunk=cells", "network.filters=32", "offline.learning_rate=0.03"];
    run_well(train(&[&data], &folder, &settings, &["--epochs", "5"]));
    let history = History::of(&folder);
    history.show();
    check_learned(&history, chance(&dama(), &data));
}

#[test]
fn a_training_that_is_killed_goes_on_as_if_nothing_had_happened() {
    let (dir, data) = tictactoe(120);
    let settings = ["training.value_target=td", "training.value_target_lambda=0.7", "offline.value_rate_scale=0.5"];
    let straight = dir.path().join("straight");
    run_well(train_tictactoe(&data, &straight, 4, &settings));
    let network = std::fs::read(straight.join("trained.safetensors")).expect("a network");

    let killed = dir.path().join("killed");
    let mut system = System::new(&[]);
    let checkpoint = killed.join("checkpoint.safetensors");
    for _ in 0..3 {
        let mut process: Process = system.start("train", train_tictactoe(&data, &killed, 4, &settings));
        let before = std::fs::metadata(&checkpoint).and_then(|file| file.modified()).ok();
        process.wait_until("the next checkpoint", || {
            let now = std::fs::metadata(&checkpoint).and_then(|file| file.modified()).ok();
            (now > before).then_some(())
        });
        process.kill_hard();
    }
    let log = run_well(train_tictactoe(&data, &killed, 4, &settings));
    assert!(log.contains("goes on from its checkpoint"), "{log}");
    assert_eq!(History::of(&killed).results(), History::of(&straight).results());
    assert!(std::fs::read(killed.join("trained.safetensors")).expect("a network") == network, "byte for byte");

    let other = complaint(train_tictactoe(&data, &killed, 4, &settings[..1]), 1);
    assert!(other.contains("was begun with other offline.value_rate_scale"), "{other}");
    let other = complaint(train_tictactoe(&data, &killed, 4, &settings[2..]), 1);
    assert!(other.contains("was begun with other training.value_target"), "{other}");
}

#[test]
fn what_was_learned_is_a_start_for_more() {
    let (dir, data) = tictactoe(200);
    let (first, second) = (dir.path().join("first"), dir.path().join("second"));
    run_well(train_tictactoe(&data, &first, 5, &[]));
    let network = first.join("trained.safetensors");
    let mut command = train_tictactoe(&data, &second, 1, &[]);
    command.arg("--network").arg(&network);
    run_well(command);
    let (before, after) = (History::of(&first).column("held_out_loss"), History::of(&second).column("held_out_loss"));
    assert!(after[0] < before[0], "the second began where the first ended: {before:?}, {after:?}");
    let mut command = train_tictactoe(&data, &dir.path().join("third"), 1, &["network.filters=8"]);
    command.arg("--network").arg(&network);
    assert!(complaint(command, 1).contains("trained.safetensors"));
}

#[test]
fn a_data_set_that_is_cut_off_teaches_what_is_whole() {
    let (dir, data) = tictactoe(200);
    let cut = dir.path().join("cut.samples");
    let whole = std::fs::read(&data).expect("the data set");
    std::fs::write(&cut, &whole[..whole.len() - 1]).expect("a file");
    let folder = dir.path().join("trained");
    let command = train(&[&data, &cut], &folder, &[], &["--preset", "tictactoe", "--epochs", "1"]);
    let log = run_well(command);
    assert!(
        log.contains("not everything can be learned from") && log.contains("cut.samples: 200 of 200 games"),
        "{log}"
    );
}

#[test]
fn what_cannot_be_learned_from_is_explained_in_a_line() {
    let (dir, data) = tictactoe(30);
    let folder = dir.path().join("trained");
    let none = complaint(train(&[], &folder, &[], &[]), 64);
    assert!(none.contains("name the data sets or runs to learn from"), "{none}");
    let other_game = complaint(train(&[&data], &folder, &["game.name=dama"], &[]), 1);
    assert!(other_game.contains(r#"is of {"name":"tictactoe"}, the settings are of {"name":"dama""#), "{other_game}");
    let preset = Path::new(env!("CARGO_MANIFEST_DIR")).join("../config/tictactoe.toml");
    let no_data = complaint(train_tictactoe(&preset, &folder, 1, &[]), 1);
    assert!(no_data.contains("tictactoe.toml: not a data set"), "{no_data}");
    assert!(!folder.exists(), "what cannot begin leaves nothing behind");
    let unsearched = dir.path().join("unsearched.samples");
    let mut games = DataSet::open(&data).and_then(|mut data| data.next_games()).expect("read").expect("a block");
    let mut writer = DataSetWriter::create(&unsearched, &fixtures::encoding().spec()).expect("a file");
    for game in &mut games {
        game.samples.iter_mut().for_each(|sample| sample.search_value = None);
        writer.push(game).expect("written");
    }
    writer.finish().expect("written");
    let no_values = complaint(train_tictactoe(&unsearched, &folder, 1, &["training.value_target=blend"]), 1);
    assert!(no_values.contains("training.value_target: ") && no_values.contains("no search value"), "{no_values}");
    let beyond = complaint(train_tictactoe(&data, &folder, 1, &["training.value_target_lambda=1.5"]), 64);
    assert!(beyond.contains("training.value_target_lambda: 1.5 is not in 0..=1"), "{beyond}");
}

/// A run with three finished games of tic-tac-toe. The store is let go.
fn run_of_tictactoe() -> tempfile::TempDir {
    let run_dir = tempfile::tempdir().expect("a directory");
    let (learner, now) = (fixtures::start(run_dir.path()), std::time::Instant::now());
    for moves in [&fixtures::WHITE_WINS[..], &fixtures::BLACK_WINS, &fixtures::DRAW] {
        let game_id = fixtures::lease_one(&learner, "a", now);
        fixtures::report(&learner, "a", &fixtures::plies(game_id, moves), now);
    }
    run_dir
}

#[test]
fn a_run_teaches_what_its_data_set_does_and_a_network_grows_on_the_way() {
    let (run_dir, dir) = (run_of_tictactoe(), tempfile::tempdir().expect("a directory"));
    let set = dir.path().join("run.samples");
    let mut export = Command::new(env!("CARGO_BIN_EXE_learner"));
    export.arg("export").arg(run_dir.path()).arg("--dataset").arg(&set);
    run_well(export);
    let settings = ["offline.held_out_share=0.4", "offline.seed=1"];
    let learn = |data: &Path, name: &str, more: &[&str]| {
        let folder = dir.path().join(name);
        let flags = [&["--preset", "tictactoe", "--epochs", "2"], more].concat();
        let log = run_well(train(&[data], &folder, &settings, &flags));
        (History::of(&folder).results(), folder, log)
    };
    let (of_run, small, _) = learn(run_dir.path(), "small", &[]);
    assert_eq!(of_run, learn(&set, "of-set", &[]).0, "the same games, the same training");
    let small = small.join("trained.safetensors").display().to_string();
    let larger = ["--network", &small, "--set", "network.filters=20", "--set", "network.outlook_heads=true"];
    let (_, large, log) = learn(run_dir.path(), "large", &larger);
    assert!(log.contains("the start network grows"), "{log}");
    let spec = net::Network::spec_of(&large.join("trained.safetensors")).expect("a network");
    assert_eq!((spec.shape.settings.filters, spec.shape.settings.outlook_heads), (20, true));
    let flags = ["--preset", "tictactoe", "--network", &small, "--set", "network.filters=12"];
    let refused = complaint(train(&[run_dir.path()], &dir.path().join("less"), &settings, &flags), 1);
    assert!(refused.contains("of 16") && refused.contains("of 12"), "{refused}");
}

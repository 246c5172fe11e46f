//! `alveare uhp` as a viewer sees it: the real program, spoken to through pipes.
//!
//! The conversations in `tests/uhp/*.txt` are golden: `> ` marks what the viewer says. `UPDATE_GOLDEN=1` rewrites them.

mod common;

use std::fmt::Write as _;
use std::io::Write;
#[cfg(feature = "network")]
use std::path::Path;
use std::process::{Command, Stdio};

use common::Running;
#[cfg(feature = "network")]
use shared::catalog::GameSpec;
#[cfg(feature = "network")]
use shared::game::hive::HiveRules;

/// The program, running.
struct Engine(Running);

impl Engine {
    /// Starts the program. Returns it with its greeting.
    fn start() -> (Self, Vec<String>) {
        let mut engine = Self(Running::start(program()));
        let greeting = engine.answer();
        (engine, greeting)
    }

    fn say(&mut self, line: &str) -> Vec<String> {
        self.0.say(line);
        self.answer()
    }

    /// Says a line whose answer is one line.
    fn ask(&mut self, line: &str) -> String {
        let answer = self.say(line);
        assert_eq!(answer.len(), 2, "{line}: {answer:?}");
        answer[0].clone()
    }

    fn answer(&mut self) -> Vec<String> {
        self.0.hear(|line| line == "ok")
    }

    /// Ends the input, and reads no more: what is still said finds nobody. Returns the exit code.
    fn end(self) -> Option<i32> {
        let Running { mut child, input, output } = self.0;
        drop((input, output));
        child.wait().expect("the program ends").code()
    }
}

fn program() -> Command {
    common::program("uhp")
}

/// Says again what the golden file says, and compares the answers.
fn check(name: &str) {
    let path = format!("{}/tests/uhp/{name}.txt", env!("CARGO_MANIFEST_DIR"));
    let golden = std::fs::read_to_string(&path).expect("the golden file is there");
    let (mut engine, greeting) = Engine::start();
    let mut text = String::new();
    let mut write = |lines: &[String]| lines.iter().for_each(|line| writeln!(text, "{line}").expect("a String"));
    write(&greeting);
    for line in golden.lines().filter_map(|line| line.strip_prefix("> ")) {
        write(&[format!("> {line}")]);
        write(&engine.say(line));
    }
    assert_eq!(engine.end(), Some(0));
    let text = text.replace(concat!("v", env!("CARGO_PKG_VERSION")), "vVERSION");
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, text).expect("the golden file can be written");
    } else {
        assert_eq!(text, golden, "{path}");
    }
}

#[test]
fn a_game_with_all_commands() {
    check("game");
}

#[test]
fn wrong_commands_and_moves() {
    check("refusals");
}

#[test]
fn options() {
    check("options");
}

#[test]
fn a_game_against_itself() {
    let mut players = [Engine::start().0, Engine::start().0];
    let mut text = String::new();
    for player in &mut players {
        text = player.ask("newgame Base+MLP");
    }
    for ply in 0..20 {
        let best = players[ply % 2].ask("bestmove depth 60");
        let texts = players.each_mut().map(|player| player.ask(&format!("play {best}")));
        assert_eq!(texts[0], texts[1]);
        assert!(texts[0].ends_with(&format!(";{best}")) && texts[0].len() > text.len(), "{best} in {}", texts[0]);
        text = texts[0].clone();
        if !text.contains("InProgress") {
            break;
        }
    }
    assert!(text.contains("White[11]") || !text.contains("InProgress"), "{text}");
    for player in players {
        assert_eq!(player.end(), Some(0));
    }
}

#[test]
fn rubbish_does_not_end_the_program() {
    let (mut engine, _) = Engine::start();
    for rubbish in [vec![0xff, 0xfe, 0], vec![b'x'; 3 << 20], b"play \0\x1b[2J".to_vec(), "newgame ♘;♘".into()] {
        engine.0.input.write_all(&rubbish).expect("the program listens");
        let answer = engine.say("");
        assert!(answer.len() == 2 && answer[0].starts_with("err ") && answer[0].len() < 1000, "{answer:?}");
    }
    assert_eq!(engine.ask("newgame"), "Base;NotStarted;White[1]");
    engine.0.input.write_all(b"validmov").expect("the program listens");
    assert_eq!(engine.end(), Some(0));
}

#[test]
fn exit_ends_the_program() {
    let (mut engine, _) = Engine::start();
    engine.0.say("exit");
    assert_eq!(engine.0.child.wait().expect("the program ends").code(), Some(0));
}

#[test]
fn an_interrupt_ends_a_search_and_never_the_program() {
    let (mut engine, _) = Engine::start();
    Running::interrupt(engine.0.child.id());
    assert_eq!(engine.ask("newgame Base+MLP"), "Base+MLP;NotStarted;White[1]");
    let answer = engine.0.interrupted("bestmove time 10:00:00", |line| line == "ok");
    assert!(answer.len() == 2 && answer[0].starts_with('w'), "{answer:?}");
    assert_eq!(engine.end(), Some(0));
}

#[cfg(feature = "network")]
#[test]
fn a_network_that_cannot_be_played_is_one_line() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("broken.safetensors");
    std::fs::write(&path, [7; 100]).expect("a file");
    let network = path.to_str().expect("UTF-8");
    let output = |arguments: &[&str]| {
        let mut program = common::program_with(network, "uhp");
        let output = program.args(arguments).stderr(Stdio::piped()).output().expect("the program runs");
        (output.status.code(), String::from_utf8(output.stderr).expect("UTF-8"), output.stdout)
    };
    let (code, errors, answer) = output(&["--device", "cpu"]);
    assert_eq!((code, answer), (Some(64), vec![]), "{errors}");
    assert!(errors.starts_with(&format!("alveare: network {network}: ")) && errors.lines().count() == 1, "{errors}");
    assert_eq!(output(&["--device", "gpu"]).0, Some(64));
    std::fs::write(&path, [&b"\x40\0\0\0\0\0\0\0{"[..], &[7; 100]].concat()).expect("a file");
    let (code, errors, answer) = output(&["--device", "cpu"]);
    assert_eq!((code, answer), (Some(1), vec![]), "{errors}");
    assert!(errors.starts_with(&format!("alveare: network {network}: ")) && errors.lines().count() == 1, "{errors}");
}

#[cfg(feature = "network")]
#[test]
fn a_network_that_this_command_does_not_play_is_answered_with_what_does() {
    let other = concat!(env!("CARGO_MANIFEST_DIR"), "/../networks/");
    let error = |network: &str, command: &str| {
        let output = common::program_with(network, command).stderr(Stdio::piped()).output().expect("the program runs");
        assert_eq!(output.status.code(), Some(64));
        String::from_utf8(output.stderr).expect("UTF-8")
    };
    for (command, file, advice) in [
        ("uhp", "dama.safetensors", ": `alveare dama` plays it, and other commands with --game dama\n"),
        ("dama", "hive.safetensors", ": `alveare uhp` plays it, and other commands with --game hive\n"),
    ] {
        let error = error(&format!("{other}{file}"), command);
        assert!(error.ends_with(advice) && error.lines().count() == 1, "{error}");
    }
    let folder = tempfile::tempdir().expect("a folder");
    let other = folder.path().join("best.safetensors");
    save_network(&GameSpec::TicTacToe {}, &other);
    for (command, wanted) in [("uhp", "Hive"), ("dama", "Italian draughts"), ("analyse", "Hive"), ("play", "Hive")] {
        let expected = format!(
            "alveare: network {}: plays tic-tac-toe, this wants {wanted}: this program plays Hive and Italian draughts: \
             name another network\n",
            other.display()
        );
        assert_eq!(error(folder.path().to_str().expect("UTF-8"), command), expected);
    }
    std::fs::remove_file(other).expect("removed");
    assert!(error(folder.path().to_str().expect("UTF-8"), "uhp").contains("the folder has none of "));
    let missing = folder.path().join("gone.safetensors");
    let advice = "write ready, a file, or a run directory, which means its best network\n";
    let expected = format!("alveare: network {}: no such file; {advice}", missing.display());
    assert_eq!(error(missing.to_str().expect("UTF-8"), "uhp"), expected);
    let there = folder.path().join("here.safetensors");
    std::fs::write(&there, "").expect("a file");
    let error = error(missing.to_str().expect("UTF-8"), "dama");
    assert!(error.contains(&format!(": no such file (the newest there is {}); write ", there.display())), "{error}");
}

/// Says all `commands` to `program`, on the processor. Returns what it writes to both outputs.
#[cfg(feature = "network")]
fn talk(mut program: Command, commands: &str) -> (String, String) {
    let mut child = program.args(["--device", "cpu"]).stderr(Stdio::piped()).spawn().expect("the program starts");
    child.stdin.take().expect("stdin is a pipe").write_all(commands.as_bytes()).expect("the program listens");
    let output = child.wait_with_output().expect("the program ends");
    let [text, errors] = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).expect("UTF-8"));
    assert_eq!(output.status.code(), Some(0), "{errors}");
    (text, errors)
}

#[cfg(feature = "network")]
#[test]
fn the_ready_network_is_played_without_a_flag() {
    let mut program = Command::new(env!("CARGO_BIN_EXE_alveare"));
    program.arg("uhp").stdin(Stdio::piped()).stdout(Stdio::piped());
    let (text, errors) = talk(program, "newgame Base\nbestmove depth 40\n");
    assert_eq!(text.lines().filter(|line| *line == "ok").count(), 3, "{text}");
    assert_eq!(errors.lines().next(), Some("network ready, on cpu: Base+MLP"), "{errors}");
}

#[cfg(not(feature = "network"))]
#[test]
fn a_program_without_libtorch_says_so_of_every_network() {
    let output = common::program_with("ready", "uhp").stderr(Stdio::piped()).output().expect("the program runs");
    let errors = String::from_utf8(output.stderr).expect("UTF-8");
    let expected = "alveare: --network ready: this program was built without libtorch: use --network none, or build it \
                    with the feature \"network\"\n";
    assert_eq!((output.status.code(), errors.as_str()), (Some(64), expected));
}

/// Writes a random network for `game`.
#[cfg(feature = "network")]
fn save_network(game: &GameSpec, path: &Path) {
    use net::{Architecture, Device, Network, NetworkSettings, NetworkSpec, PolicyHead, Trunk};

    let (architecture, trunk, policy_head) = (Architecture::Residual, Trunk::Cells, PolicyHead::Spatial);
    let settings = NetworkSettings {
        architecture,
        blocks: 1,
        filters: 8,
        trunk,
        policy_head,
        value_hidden: 8,
        global_pooling_every: 0,
        outlook_heads: false,
    };
    let spec = NetworkSpec::new(game, settings).expect("such a network can be");
    let network = Network::random(&spec, Device::CPU, 3).expect("a network");
    network.save(path).expect("a file");
}

#[cfg(feature = "network")]
#[test]
fn a_network_is_played() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("generation 0.safetensors");
    save_network(&GameSpec::Hive { rules: HiveRules::default(), frame: 12 }, &path);
    let commands = "newgame Base+P;InProgress;White[2];wS1;bS1 wS1-\nbestmove depth 40\nbestmove time 00:00:00.1\n";
    let (text, errors) = talk(common::program_with(path.to_str().expect("UTF-8"), "uhp"), commands);
    assert_eq!(text.lines().filter(|line| *line == "ok").count(), 4, "{text}");
    assert!(!text.contains("err"), "{text}");
    let first = format!("network {}, on cpu: ", path.display());
    assert!(errors.starts_with(&first) && errors.contains(" 40 simulations (0 kept)"), "{errors}");
}

#[test]
fn options_can_be_set_on_the_command_line() {
    let run_with = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_alveare"));
        command.arg("uhp").args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the program starts");
        // A program that has refused its flags listens no more.
        let _ = child.stdin.take().expect("stdin is a pipe").write_all(b"options get Simulations\n");
        child.wait_with_output().expect("the program ends")
    };
    let run = |setting: &str| run_with(&["--set", setting]);
    let text = String::from_utf8(run("simulations=64").stdout).expect("text");
    assert!(text.contains("\nSimulations;int;64;800;"), "{text}");
    for (setting, reason) in
        [("Magic=1", "unknown option"), ("Threads=0", "\"0\" is not in"), ("Threads", "write NAME=VALUE")]
    {
        let output = run(setting);
        let error = String::from_utf8(output.stderr).expect("text");
        assert_eq!(output.status.code(), Some(64), "{error}");
        assert!(error.contains(&format!("alveare: --set {setting}: ")) && error.contains(reason), "{error}");
    }
    for (arguments, told) in [
        (
            ["--set", "Simulations=3", "--set", "simulations=5"],
            "--set simulations=5: --set Simulations=3 sets Simulations too: name it once\n",
        ),
        (
            ["--preset", "vanilla", "--set", "Preset=grandmaster"],
            "--set Preset=grandmaster: --preset vanilla sets Preset too: name it once\n",
        ),
        (["--set", "MemoryMB=64", "--set", "memory-mb=64"], "--set MemoryMB=64 sets MemoryMB too: name it once\n"),
    ] {
        let output = run_with(&[&["--network", "none"], &arguments[..]].concat());
        let error = String::from_utf8(output.stderr).expect("text");
        assert!(output.status.code() == Some(64) && error.ends_with(told), "{arguments:?}: {error}");
    }
}

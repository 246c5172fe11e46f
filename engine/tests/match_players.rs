//! `alveare match` and `alveare ladder` from outside: players that need nobody else, and engines that misbehave.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use notation::games::read_lines;
use notation::{Ending, ReadOptions};
use shared::catalog::{GameSpec, NetworkGame};
use shared::game::dama::Dama;
use shared::game::hive::{Hive, HiveRules};
use store::{RunRow, Store};

fn run(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_alveare")).arg("match").args(arguments).output().expect("run alveare")
}

fn succeed(arguments: &[&str]) -> (String, String) {
    let output = run(arguments);
    let [out, log] = [output.stdout, output.stderr].map(|text| String::from_utf8(text).expect("text"));
    assert!(output.status.success(), "{arguments:?}\n{log}\n{out}");
    (out, log)
}

fn fail(arguments: &[&str]) -> (Option<i32>, String) {
    let output = run(arguments);
    let log = String::from_utf8(output.stderr).expect("text");
    (output.status.code(), log.lines().last().unwrap_or_default().to_owned())
}

fn line<'a>(report: &'a str, name: &str) -> &'a str {
    report.lines().find(|line| line.starts_with(name)).unwrap_or_else(|| panic!("no {name} in\n{report}"))
}

#[test]
fn the_help_lists_every_kind_of_player() {
    let (help, _) = succeed(&["--help"]);
    for player in [
        "ready",
        "RUN_DIR",
        "FILE.safetensors",
        "NETWORK@N",
        "policy:NETWORK",
        "level:N",
        "mcts:N",
        "vanilla:N",
        "grandmaster:N",
        "uniform:N",
        "random",
        "uhp:COMMAND",
        "hub:COMMAND",
        "tables=DIR",
    ] {
        assert!(help.contains(player), "{player}: {help}");
    }
}

#[test]
fn a_match_is_scored_and_its_games_can_be_read_again() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("games.uhp");
    let out = file.to_str().unwrap();
    let (report, _) = succeed(&["random", "mcts:50", "--games", "4", "--ply-limit", "60", "--out", out]);
    assert_eq!((line(&report, "A "), line(&report, "B ")), ("A  random", "B  mcts:50"));
    assert!(line(&report, "score of A").contains(" of 4 ("), "{report}");
    assert!(line(&report, "endings").ends_with("forfeits of A: 0, of B: 0"), "{report}");
    assert_eq!(line(&report, "distinct"), "distinct     4 of 4 games");

    let text = std::fs::read_to_string(&file).unwrap();
    let games: Vec<_> = read_lines(&text, ReadOptions::default()).collect::<Result<_, _>>().expect("legal games");
    let openings: Vec<_> = games.iter().map(|game| game.move_texts()[..4].to_vec()).collect();
    assert_eq!((&openings[0], &openings[2]), (&openings[1], &openings[3]));
    assert_ne!(openings[0], openings[2]);
    assert!(games.iter().all(|game| game.outcome.is_some() && game.ply_count() <= 60));

    let table = std::fs::read_to_string(folder.path().join("games.uhp.tsv")).unwrap();
    let rows: Vec<Vec<&str>> = table.lines().skip(1).map(|row| row.split('\t').collect()).collect();
    assert_eq!(rows.len(), 4);
    for (game, row) in games.iter().zip(&rows) {
        assert_eq!(row[5], game.ply_count().to_string());
        assert_eq!(row[8].split(' ').count(), game.moves.len());
        assert_eq!(row[7] == "queen surrounded", game.ending == Ending::QueenSurrounded, "{row:?}");
    }
    assert_eq!([rows[0][2], rows[1][2], rows[0][3], rows[1][3]], ["random", "mcts:50", "mcts:50", "random"]);
}

#[test]
fn draughts_is_played_and_its_games_can_be_read_again() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("games.pdn");
    let out = file.to_str().unwrap();
    let (report, _) = succeed(&["random", "mcts:20", "--game", "dama", "--games", "4", "--out", out]);
    assert!(line(&report, "score of A").contains(" of 4 ("), "{report}");
    let endings = line(&report, "endings");
    assert!(endings.starts_with("endings      no move left: ") && endings.contains("80 quiet plies: "), "{report}");
    let text = std::fs::read_to_string(&file).unwrap();
    let games: Vec<_> = notation::dama::pdn::read(&text).collect::<Result<_, _>>().expect("legal games");
    assert_eq!(games.len(), 4);
    assert_eq!((&games[0].moves[..4], &games[2].moves[..4]), (&games[1].moves[..4], &games[3].moves[..4]));
    let names: Vec<_> = games.iter().map(|game| game.tag("White").unwrap()).collect();
    assert_eq!(names, ["random", "mcts:20", "random", "mcts:20"]);
    assert!(games.iter().all(|game| game.result.is_some()));
    let table = std::fs::read_to_string(folder.path().join("games.pdn.tsv")).unwrap();
    assert_eq!(table.lines().count(), 5);

    let (code, error) = fail(&["random", "uhp@depth=1:true", "--game", "dama"]);
    let reason = "alveare: player uhp@depth=1:true: plays Hive, and --game dama is Italian draughts: say \
                  --game hive";
    assert_eq!((code, error.as_str()), (Some(64), reason));
    let (code, error) = fail(&["random", "hub@depth=1:true", "--game", "hive"]);
    let reason = "alveare: player hub@depth=1:true: plays Italian draughts, and --game hive is Hive: say \
                  --game dama";
    assert_eq!((code, error.as_str()), (Some(64), reason));
    let (code, error) = fail(&["uhp@depth=1:true", "hub@depth=1:true"]);
    let reason = "alveare: player uhp@depth=1:true plays Hive, player hub@depth=1:true Italian draughts: name two of one \
                  game (--game)";
    assert_eq!((code, error.as_str()), (Some(64), reason));
    assert_eq!(fail(&["random", "random", "--game", "dama", "--type", "Base"]).0, Some(64));
}

#[test]
fn the_same_seed_gives_the_same_games_however_many_are_played_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let play = |seed: &str, at_once: &str| {
        let file = folder.path().join(format!("{seed}-{at_once}"));
        let limits = ["--games", "6", "--ply-limit", "30", "--seed", seed, "--games-at-once", at_once];
        let arguments = [&["uniform:20", "mcts:10", "--out", file.to_str().unwrap()], &limits[..]].concat();
        (succeed(&arguments).0, std::fs::read_to_string(&file).unwrap())
    };
    let alone = play("3", "1");
    assert_eq!(alone, play("3", "5"));
    assert_eq!(line(&alone.0, "distinct"), "distinct     6 of 6 games");
    assert_ne!(alone.1, play("4", "5").1);
}

/// Equal players that draw no lots: the games of a pair differ in nothing, since nothing but the colours is swapped.
#[test]
fn a_game_that_is_played_again_is_counted_once() {
    let arguments = ["uniform:20", "uniform:20", "--games", "6", "--ply-limit", "30", "--seed", "3"];
    let (report, _) = succeed(&arguments);
    assert_eq!(line(&report, "distinct"), "distinct     3 of 6 games");
    let (report, _) = succeed(&[&arguments[..], &["--opening-plies", "0"]].concat());
    assert_eq!(line(&report, "distinct"), "distinct     1 of 6 games");
}

/// An engine that greets and agrees to everything, until it is asked for a move.
fn engine(answer: &str) -> String {
    format!(
        "uhp@time=1ms:echo id Fake; echo ok; while read line; do case \"$line\" in bestmove*) {answer};; *) echo ok;; esac; done"
    )
}

/// Plays two games against an engine, both of which it must lose; returns the report.
fn lose(answer: &str) -> String {
    let limits = ["--games", "2", "--time-margin", "1s", "--games-at-once", "1"];
    let (report, log) = succeed(&[&["random", &engine(answer)], &limits[..]].concat());
    assert!(line(&report, "score of A").ends_with("2 won, 0 drawn, 0 lost"), "{report}");
    assert!(line(&report, "endings").ends_with("forfeits of A: 0, of B: 2"), "{report}");
    assert_eq!(log.matches("game forfeited").count(), 2, "{log}");
    report
}

#[test]
fn an_engine_that_crashes_loses_and_is_started_again() {
    let report = lose("echo 'out of memory' >&2; exit 3");
    let reason = "bestmove time 00:00:00.001: ended (exit status: 3), its last line was \"out of memory\"";
    assert_eq!(line(&report, "  game 1"), format!("  game 1 lost by B: {reason}"));
    assert_eq!(line(&report, "  game 2"), format!("  game 2 lost by B: {reason}"));
}

#[test]
fn an_engine_that_plays_an_illegal_move_loses() {
    let report = lose("echo wQ; echo ok");
    assert!(line(&report, "  game 1").contains("bestmove time 00:00:00.001: "), "{report}");
    let report = lose("echo nonsense; echo ok");
    assert!(line(&report, "  game 1").contains("\"nonsense\""), "{report}");
    let report = lose("echo err no idea; echo ok");
    assert!(line(&report, "  game 1").ends_with("it answers \"err no idea\""), "{report}");
}

#[test]
fn an_engine_that_does_not_answer_loses() {
    let report = lose("echo thinking; sleep 1000");
    let reason = "bestmove time 00:00:00.001: no answer in 1.001 s, its last line was \"thinking\"";
    assert_eq!(line(&report, "  game 2"), format!("  game 2 lost by B: {reason}"));
}

/// A draughts engine that greets with this line and gives this answer to `go`.
fn hub_engine(greeting: &str, answer: &str) -> String {
    format!(
        "hub@time=1ms:while read line; do case \"$line\" in hub) echo '{greeting}'; echo wait;; init) echo ready;; \
         go*) {answer};; esac; done"
    )
}

#[test]
fn a_hub_engine_that_misbehaves_loses() {
    for (answer, reason) in [
        ("exit 3", "level move-time=0.001: ended (exit status: 3)"),
        ("echo done move=1-32", "level move-time=0.001: illegal move \"1-32\" at ply "),
        ("echo done", "level move-time=0.001: cannot read move \"\""),
        ("echo 'error message=\"no idea\"'", "level move-time=0.001: it answers \"error message="),
        ("sleep 1000", "level move-time=0.001: no answer in 1.001 s"),
    ] {
        let engine = hub_engine("id name=Fake", answer);
        // An engine of the hub protocol says which game it is.
        let limits = ["--games", "2", "--time-margin", "1s", "--games-at-once", "1"];
        let (report, log) = succeed(&[&["random", &engine], &limits[..]].concat());
        assert!(line(&report, "endings").ends_with("forfeits of A: 0, of B: 2"), "{answer}: {report}");
        assert!(log.contains("name=\"Fake\""), "{log}");
        for number in [1, 2] {
            let lost = format!("  game {number} lost by B: {reason}");
            assert!(line(&report, &format!("  game {number}")).starts_with(&lost), "{report}");
        }
    }
}

#[test]
fn a_hub_engine_of_another_game_ends_the_match() {
    let greeting = "param name=variant value=normal type=enum values=\"normal frisian\"";
    let (code, error) = fail(&["random", &hub_engine(greeting, "true"), "--game", "dama"]);
    let reason = "its greeting: it plays the variants \"normal frisian\", not italian";
    assert_eq!((code, error.ends_with(reason)), (Some(1), true), "{error}");
}

#[test]
fn what_cannot_be_played_is_reported_in_one_line() {
    let (code, error) = fail(&["random", "nobody"]);
    assert_eq!(code, Some(64));
    assert!(error.starts_with("alveare: player \"nobody\": there is no such file or folder; write ready"), "{error}");
    let (code, error) = fail(&["random", "mcts:9,book=nowhere"]);
    let reason =
        "alveare: player mcts:9,book=nowhere: read opening book nowhere: No such file or directory (os error 2)";
    assert_eq!((code, error.as_str()), (Some(64), reason));

    let (code, error) = fail(&["random", "uhp@depth=1:exit 7"]);
    assert_eq!(
        (code, error.as_str()),
        (Some(1), "alveare: player uhp@depth=1:exit 7: its greeting: ended (exit status: 7)")
    );
}

#[test]
fn a_flag_that_no_player_takes_is_refused() {
    let engine = "is for a uhp: or hub: program that does not say it itself (@depth=N), and neither player is one";
    let network = "is for a network that does not say it itself (NETWORK@N,C), and neither player is one";
    for (flag, value, second, who) in [
        ("--depth", "3", "mcts:2", engine),
        ("--time", "1s", "uhp@depth=1:true", engine),
        ("--simulations", "400", "mcts:2", network),
        ("--exploration", "2", "uniform:2", network),
    ] {
        let expected = format!("alveare: {flag} {who}: leave it away");
        assert_eq!(fail(&["random", second, flag, value]), (Some(64), expected), "{second}");
    }
    let (code, error) = fail(&["random", "uhp:exit 7", "--depth", "1"]);
    assert_eq!((code, error.contains("its greeting: ended")), (Some(1), true), "an engine takes a limit: {error}");
}

#[test]
fn a_match_that_cannot_begin_leaves_the_file_of_games_alone() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("games.uhp");
    let earlier = "Base;InProgress;Black[1];wS1\n".repeat(3);
    std::fs::write(&file, &earlier).unwrap();
    let (code, _) = fail(&["uhp@depth=1:false", "random", "--games", "2", "--out", file.to_str().unwrap()]);
    assert_eq!(code, Some(1));
    assert_eq!(std::fs::read_to_string(&file).unwrap(), earlier);
    assert!(!folder.path().join("games.uhp.tsv").exists(), "nothing new is left");
    succeed(&["random", "random", "--games", "2", "--ply-limit", "6", "--out", file.to_str().unwrap()]);
    let written = std::fs::read_to_string(&file).unwrap();
    assert!(written.starts_with("Base+MLP;") && written.lines().count() == 2, "{written}");
    let device = folder.path().join("device.uhp");
    std::os::unix::fs::symlink("/dev/null", &device).unwrap();
    succeed(&["random", "random", "--games", "2", "--ply-limit", "6", "--out", device.to_str().unwrap()]);
    assert!(!folder.path().join("device.uhp.tsv").exists(), "a device has no table beside it");
}

#[test]
fn a_folder_is_no_file_of_games() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().to_str().unwrap();
    let out = |path: &str| fail(&["random", "random", "--games", "2", "--out", path]);
    assert_eq!(out(dir), (Some(64), format!("alveare: --out: {dir}: it is a folder: name a file")));
    let reason = format!("cannot write it: there is no folder {dir}/nodir: make it or choose another");
    assert_eq!(out(&format!("{dir}/nodir/x")), (Some(64), format!("alveare: --out: {dir}/nodir/x: {reason}")));
    assert_eq!(folder.path().read_dir().unwrap().count(), 0, "nothing is made");
}

#[test]
fn a_match_that_is_killed_keeps_the_games_that_were_finished() {
    let folder = tempfile::tempdir().unwrap();
    // The table is a pipe: reading waits for the games, and nobody can empty it afterwards.
    let [file, pipe] = ["games.uhp", "games.uhp.tsv"].map(|name| folder.path().join(name));
    assert!(Command::new("mkfifo").arg(&pipe).status().expect("run mkfifo").success());
    let mut command = Command::new(env!("CARGO_BIN_EXE_alveare"));
    command.args(["match", "random", "uniform:20", "--games", "2000", "--games-at-once", "2", "--ply-limit", "20"]);
    let mut playing = Killed(command.arg("--out").arg(&file).stdout(Stdio::null()).spawn().expect("start"));
    let mut lines = BufReader::new(File::open(&pipe).unwrap()).lines();
    let table: Vec<String> = lines.by_ref().take(4).map(Result::unwrap).collect();
    assert!(playing.0.try_wait().unwrap().is_none(), "1,997 games are to come");
    drop(playing);
    let numbers: Vec<&str> = table[1..].iter().map(|line| line.split('\t').next().unwrap_or_default()).collect();
    assert_eq!(numbers, ["1", "2", "3"], "in their order, without a gap");
    let games = std::fs::read_to_string(&file).unwrap();
    assert!(games.lines().count() >= 3, "a game is written before it is in the table");
    assert!(read_lines(&games, ReadOptions::default()).all(|game| game.is_ok()), "{games}");
}

#[test]
fn a_pipe_gets_the_games_alone() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("games.uhp");
    assert!(Command::new("mkfifo").arg(&pipe).status().expect("run mkfifo").success());
    let mut command = Command::new(env!("CARGO_BIN_EXE_alveare"));
    command.args(["match", "random", "random", "--games", "4", "--ply-limit", "6"]);
    let mut playing = Killed(command.arg("--out").arg(&pipe).stdout(Stdio::null()).spawn().expect("start"));
    let games: Vec<String> = BufReader::new(File::open(&pipe).unwrap()).lines().map(Result::unwrap).collect();
    assert!(playing.0.wait().unwrap().success());
    assert_eq!(read_lines(&games.join("\n"), ReadOptions::default()).filter(Result::is_ok).count(), 4, "{games:?}");
    assert_eq!(folder.path().read_dir().unwrap().count(), 1, "no table beside a pipe");
}

/// A process that does not outlive its test.
struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_match_does_not_write_over_what_it_needs() {
    let folder = tempfile::tempdir().unwrap();
    let (file, weights) = (folder.path().join("best.safetensors"), b"\x02\0\0\0\0\0\0\0{}");
    std::fs::write(&file, weights).unwrap();
    let (file, run_dir) = (file.to_str().unwrap(), folder.path().to_str().unwrap());
    let database = format!("{run_dir}/ladder.db");
    for arguments in
        [&["random", file, "--out", file][..], &["random", "mcts:2", "--run-dir", run_dir, "--out", &database]]
    {
        let (code, error) = fail(&[arguments, &["--games", "2"]].concat());
        assert_eq!((code, error.contains(" is a file that the match needs")), (Some(64), true), "{error}");
    }
    assert_eq!(std::fs::read(file).unwrap(), weights);
    let games = folder.path().join("games.uhp");
    let other = File::create(&games).unwrap();
    other.lock().unwrap();
    let (code, error) = fail(&["random", "random", "--games", "2", "--out", games.to_str().unwrap()]);
    assert_eq!((code, error.contains("is written by another match")), (Some(64), true), "{error}");
}

#[test]
fn a_full_disk_ends_the_match() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("games.uhp");
    std::os::unix::fs::symlink("/dev/full", &file).unwrap();
    let (code, error) =
        fail(&["random", "random", "--games", "40", "--ply-limit", "6", "--out", file.to_str().unwrap()]);
    let reason = format!("alveare: --out: write {}: No space left", file.display());
    assert_eq!((code, error.starts_with(&reason)), (Some(1), true), "{error}");
    assert!(!folder.path().join("games.uhp.tsv").exists(), "no table of games that were not written");
}

#[test]
fn a_file_that_is_no_file_of_games_is_not_written_over() {
    let folder = tempfile::tempdir().unwrap();
    let [readme, games] = ["README.md", "games.uhp"].map(|name| folder.path().join(name));
    let table = folder.path().join("games.uhp.tsv");
    let play = |file: &Path, game: &str| {
        fail(&["random", "random", "--games", "2", "--ply-limit", "6", "--game", game, "--out", file.to_str().unwrap()])
    };
    let other = |file: &Path, kind: &str| {
        format!("alveare: --out: {}: it exists and is not {kind}: choose another name or delete it", file.display())
    };
    std::fs::write(&readme, "# A read me\n").unwrap();
    assert_eq!(play(&readme, "hive"), (Some(64), other(&readme, "a file of UHP GameStrings")));
    assert_eq!(play(&readme, "dama"), (Some(64), other(&readme, "a file of PDN games")));
    std::fs::write(&table, "name\tage\n").unwrap();
    assert_eq!(play(&games, "hive"), (Some(64), other(&table, "the table of a match")));
    assert!(!games.exists(), "nothing new is left");
    std::fs::remove_file(&table).unwrap();
    for game in ["hive", "dama"] {
        let games = games.with_extension(game);
        assert_eq!((play(&games, game).0, play(&games, game).0), (Some(0), Some(0)), "its own kind, again");
    }
    assert_eq!(play(&games.with_extension("hive"), "dama").0, Some(64), "games of another game");
    assert_eq!(std::fs::read_to_string(&readme).unwrap(), "# A read me\n");
}

#[test]
fn a_match_that_is_interrupted_before_its_first_game_ends_leaves_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let engine =
        "uhp@depth=1:echo ok; while read line; do case \"$line\" in bestmove*) sleep 1000;; *) echo ok;; esac; done";
    let mut command = Command::new(env!("CARGO_BIN_EXE_alveare"));
    command.args(["match", engine, "random", "--out"]).arg(folder.path().join("games.uhp"));
    let mut playing = Killed(command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("start"));
    let mut log = BufReader::new(playing.0.stderr.take().unwrap()).lines().map_while(Result::ok);
    assert!(log.any(|line| line.contains("engine ready")), "it plays");
    assert!(folder.path().join("games.uhp").exists());
    assert!(Command::new("kill").args(["-INT", &playing.0.id().to_string()]).status().expect("run kill").success());
    assert_eq!(playing.0.wait().unwrap().code(), Some(1));
    assert_eq!(log.last().as_deref(), Some("alveare: stopped after 0 of 100 games"));
    assert_eq!(folder.path().read_dir().unwrap().count(), 0);
}

#[test]
fn an_engine_that_does_not_greet_is_named_while_it_is_awaited() {
    let output = run(&["random", "uhp@depth=1:sleep 1000", "--answer-wait-max", "600ms"]);
    let log = String::from_utf8(output.stderr).expect("text");
    let waiting: Vec<&str> = log.lines().filter(|line| line.contains("an engine has not answered yet")).collect();
    assert_eq!((output.status.code(), waiting.len()), (Some(1), 1), "{log}");
    assert!(waiting[0].contains("sleep 1000") && waiting[0].contains("0.6 s"), "{log}");
}

#[test]
fn the_ladder_keeps_matches_in_the_folder_of_a_run() {
    let run = tempfile::tempdir().unwrap();
    let run_dir = run.path().to_str().unwrap();
    let short = ["--games", "4", "--ply-limit", "30", "--run-dir", run_dir];
    succeed(&[&["random", "mcts:20"], &short[..]].concat());
    succeed(&[&["mcts:20", "random"], &short[..]].concat());
    let ladder = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_alveare"));
        let output = command.args(["ladder", "--run-dir", run_dir]).args(arguments).output().expect("run alveare");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("text")
    };
    let games = |table: &str, name: &str| line(table, name).split_whitespace().nth(5).map(str::to_owned);
    let table = ladder(&[]);
    assert_eq!(games(&table, "mcts:20 "), Some("4".to_owned()), "the same match again counts once\n{table}");
    let table = ladder(&["--add", "uniform:10", "random", "--games", "2", "--ply-limit", "30", "--seed", "9"]);
    assert_eq!(games(&table, "random "), Some("6".to_owned()), "{table}");
    assert!(line(&table, "random ").contains("+0          +0 to +0"), "{table}");
    let nowhere = run.path().join("nowhere");
    let mut command = Command::new(env!("CARGO_BIN_EXE_alveare"));
    let output = command.args(["ladder", "--run-dir"]).arg(&nowhere).output().expect("run alveare");
    let error = String::from_utf8(output.stderr).expect("text");
    let no_folder = format!("alveare: {}: there is no such folder\n", nowhere.display());
    assert_eq!((output.status.code(), error), (Some(64), no_folder));
    let (code, error) = fail(&["random", "mcts:20", "--run-dir", nowhere.to_str().unwrap()]);
    assert_eq!((code, error.ends_with("nowhere: there is no such folder")), (Some(64), true), "{error}");
    let none = format!("no matches of Base yet: alveare ladder --run-dir {run_dir} --add A B\n");
    assert_eq!(ladder(&["--type", "Base"]), none);
}

/// Makes the store of a run.
fn make_run(dir: &Path, game: &GameSpec) {
    let run = RunRow {
        run_id: "run".into(),
        created_at: String::new(),
        game: serde_json::to_string(game).expect("JSON"),
        config: "{}".into(),
        seed: 1,
        start_network: None,
    };
    Store::open(dir, &run).expect("a store");
}

fn ladder(run_dir: &str, arguments: &[&str]) -> (Option<i32>, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_alveare"));
    let output = command.args(["ladder", "--run-dir", run_dir]).args(arguments).output().expect("run alveare");
    let text = if output.status.success() { output.stdout } else { output.stderr };
    (output.status.code(), String::from_utf8(text).expect("text"))
}

#[test]
fn a_run_says_which_game_is_played_into_its_ladder() {
    let folder = tempfile::tempdir().unwrap();
    let [dama, base] = ["dama", "base"].map(|name| folder.path().join(name));
    make_run(&dama, &Dama::default().spec(Dama::USUAL_VIEW));
    let hive = Hive::new(HiveRules { game_type: "Base".parse().unwrap(), ..HiveRules::default() });
    make_run(&base, &hive.spec(Hive::USUAL_VIEW));
    let [dama, base] = [&dama, &base].map(|dir| dir.to_str().unwrap());
    let short = ["--games", "2", "--ply-limit", "20"];
    let (report, _) = succeed(&[&["random", "mcts:2", "--run-dir", dama], &short[..]].concat());
    assert!(line(&report, "endings").contains("80 quiet plies"), "{report}");
    let (code, table) = ladder(dama, &[&["--add", "random", "uniform:2"], &short[..]].concat());
    assert!(code == Some(0) && table.contains("80 quiet plies") && table.contains("\nuniform:2 "), "{table}");
    let (_, table) = ladder(dama, &[]);
    assert!(table.contains("\nmcts:2 ") && table.contains("\nuniform:2 "), "{table}");
    for (arguments, game_type) in [(&[][..], "Base"), (&["--type", "Base+M"], "Base+M")] {
        let none = format!("no matches of {game_type} yet: alveare ladder --run-dir {base} --add A B\n");
        assert_eq!(ladder(base, arguments).1, none);
    }

    let other = "leave --game away or name another --run-dir";
    let error = format!("alveare: --game hive: the run {dama} plays Italian draughts: {other}");
    assert_eq!(fail(&["random", "mcts:2", "--run-dir", dama, "--game", "hive"]), (Some(64), error.clone()));
    assert_eq!(ladder(dama, &["--game", "hive"]), (Some(64), error + "\n"));
    let error = format!("alveare: --game dama: the run {base} plays Hive: {other}");
    assert_eq!(fail(&["random", "mcts:2", "--run-dir", base, "--game", "dama"]), (Some(64), error));
    let (code, error) = fail(&["random", "uhp@depth=1:true", "--run-dir", dama]);
    assert_eq!(
        (code, error.contains(&format!("the run {dama} Italian draughts: name another player or --run-dir"))),
        (Some(64), true),
        "{error}"
    );
    assert_eq!(fail(&["random", "mcts:2", "--run-dir", dama, "--type", "Base"]).0, Some(64));
}

#[test]
fn a_folder_without_a_run_has_the_ladder_of_the_only_game_of_its_matches() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().to_str().unwrap();
    let short = ["--games", "2", "--ply-limit", "20"];
    let add = |dir: &str, player: &str| ladder(dir, &[&["--add", "random", player], &short[..]].concat());
    let (code, error) = ladder(dir, &[]);
    let next_step = format!("no matches: play one into it by alveare match A B --run-dir {dir}\n");
    assert_eq!((code, error.ends_with(&next_step)), (Some(64), true), "{error}");
    succeed(&[&["random", "mcts:2", "--game", "dama", "--run-dir", dir], &short[..]].concat());
    assert!(ladder(dir, &[]).1.contains("\nmcts:2 "), "draughts alone");
    let added = add(dir, "mcts:3").1;
    assert!(added.contains("80 quiet plies") && added.contains("\nmcts:2 ") && added.contains("\nmcts:3 "), "{added}");
    succeed(&[&["random", "uniform:2", "--run-dir", dir], &short[..]].concat());
    let several = "alveare: --run-dir: matches of several games are there: say --type Base+MLP or --game dama\n";
    for refused in [ladder(dir, &[]), add(dir, "mcts:3")] {
        assert_eq!(refused, (Some(64), several.to_owned()));
    }
    assert!(ladder(dir, &["--game", "dama"]).1.contains("\nmcts:2 "), "the one that is named");
    assert!(ladder(dir, &["--game", "hive"]).1.contains("\nuniform:2 "), "of one type");
    let base = folder.path().join("base");
    std::fs::create_dir(&base).unwrap();
    let base = base.to_str().unwrap();
    let table = ladder(base, &[&["--add", "random", "mcts:2", "--type", "Base"], &short[..]].concat()).1;
    assert!(table.contains("\nmcts:2 "), "the first match makes the ladder: {table}");
    assert!(ladder(base, &[]).1.contains("\nmcts:2 "), "Base alone");
    assert!(add(base, "mcts:3").1.contains("\nmcts:2 "), "added to those of Base");
    let tic_tac_toe = folder.path().join("tic-tac-toe");
    make_run(&tic_tac_toe, &GameSpec::TicTacToe {});
    let tic_tac_toe = tic_tac_toe.to_str().unwrap();
    let error = format!("alveare: {tic_tac_toe}: there are no matches of tic-tac-toe: name another --run-dir");
    assert_eq!(ladder(tic_tac_toe, &[]), (Some(64), error.clone() + "\n"));
    assert_eq!(fail(&["random", "mcts:2", "--run-dir", tic_tac_toe]), (Some(64), error));
}

#[test]
fn a_ladder_without_a_match_takes_no_flags_of_one() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().to_str().unwrap();
    let short = ["--games", "2", "--ply-limit", "20"];
    assert_eq!(ladder(dir, &[&["--add", "random", "mcts:2", "--seed", "4"], &short[..]].concat()).0, Some(0));
    for arguments in [
        &["--out", "games.pdn"][..],
        &["--games", "100"],
        &["--seed", "4"],
        &["--simulations", "9"],
        &["--log", "info"],
    ] {
        let (code, error) = ladder(dir, arguments);
        assert_eq!((code, error.contains("--add <A> <B>")), (Some(64), true), "{arguments:?}: {error}");
    }
    assert_eq!(ladder(dir, &["--game", "hive", "--type", "Base+MLP"]).0, Some(0), "they choose the table");
}

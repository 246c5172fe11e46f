//! `alveare book`, and playing by what it makes: the real program.

mod common;

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use common::{Running, program};
use shared::game::{Outcome, Side};
use shared::ids::GameId;
use shared::record::PlyRecord;
use store::{Change, FinishedGame, NewGame, RunRow, Store, StoredResult};

/// Three games of one opening of Hive, turned and mirrored, and one that began otherwise.
const HIVE: &str = "\
Base+MLP;WhiteWins;White[3];wS1;bG1 wS1-;wQ -wS1;bQ bG1-
Base+MLP;WhiteWins;White[3];wS1;bG1 wS1/;wQ /wS1;bQ bG1/
Base+MLP;Draw;White[3];wS1;bG1 \\wS1;wQ wS1\\;bQ \\bG1
Base+MLP;BlackWins;Black[1];wB1
Base;BlackWins;Black[1];wA1
Base+MLP;InProgress;Black[1];wS1
nonsense
";
const PDN: &str = "\
[White \"Alice\"]\n[Black \"Bob\"]\n[Result \"1-0\"]\n\n1. 21-17 9-13 2. 22-19 12-16 1-0\n
[White \"Bob\"]\n[Black \"Alice\"]\n[Result \"1-0\"]\n\n1. 21-17 9-13 1-0\n
[Result \"1/2-1/2\"]\n\n1. 21-17 12-16 1/2-1/2\n
[Result \"0-1\"]\n[FEN \"W:W21,22:B3,4\"]\n\n1. 21-17 4-8 0-1\n
[Result \"*\"]\n\n1. 22-19 *\n";

fn alveare(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_alveare")).args(arguments).output().expect("run alveare")
}

/// Returns stdout and stderr.
fn succeed(arguments: &[&str]) -> [String; 2] {
    let output = alveare(arguments);
    let [out, told] = [output.stdout, output.stderr].map(|text| String::from_utf8(text).expect("text"));
    assert!(output.status.success(), "{arguments:?}: {told}");
    [out, told]
}

/// Returns the exit code and all of stderr, one line.
fn fail(arguments: &[&str]) -> (Option<i32>, String) {
    let output = alveare(arguments);
    let told = String::from_utf8(output.stderr).expect("text");
    (output.status.code(), told)
}

/// A folder with games and the books that are made of them.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        let folder = Self(tempfile::tempdir().expect("a temporary directory"));
        std::fs::write(folder.path("games.uhp"), HIVE).expect("written");
        std::fs::write(folder.path("games.pdn"), PDN).expect("written");
        folder
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn text(&self, name: &str) -> String {
        self.path(name).to_str().expect("text").to_owned()
    }

    /// Makes a book of one source. Returns its name.
    fn book(&self, name: &str, source: &str, more: &[&str]) -> String {
        let file = self.text(name);
        succeed(&[&["book", "--out", &file, &self.text(source)], more].concat());
        file
    }
}

#[test]
fn games_of_people_make_a_book_without_their_names() {
    let folder = Folder::new();
    let (hive, dama) = (folder.text("hive.book"), folder.text("dama.book"));
    let [out, told] = succeed(&["book", "--out", &hive, &folder.text("games.uhp")]);
    let totals = "Base+MLP, 4 moves of 4 positions from 4 games: 16 plies, at least 3 games a move";
    let left_out = "games left out: 1 unreadable, 1 without a result, 1 of other types (--type)";
    assert_eq!(out, format!("{hive}: {totals}\n{left_out}\n"));
    assert!(told.starts_with("left out: ") && told.lines().count() == 1, "no bar where nobody watches: {told}");
    let [shown, _] = succeed(&["book", &hive, "--show"]);
    assert!(shown.starts_with(&format!("{hive}: {totals}\nBase+MLP;NotStarted;White[1]\n")), "{shown}");
    assert!(shown.ends_with("       3 100.0 %  83.3 %       2       1       0  wS1\n"), "{shown}");
    let [shown, _] = succeed(&["book", &hive, "--position", "Base+MLP;InProgress;White[2];wS1;bG1 /wS1"]);
    assert!(shown.ends_with("  wQ wS1/\n"), "turned as the position is: {shown}");
    let [shown, _] = succeed(&["book", &hive, "--position", "Base+MLP;InProgress;Black[1];wB1"]);
    assert!(shown.ends_with("book: nothing of this position\n"), "{shown}");

    let [out, told] = succeed(&["book", "--out", &dama, "--games-min", "1", "--plies", "2", &folder.text("games.pdn")]);
    assert!(out.contains(": dama, 3 moves of 2 positions from 3 games: 2 plies, at least 1 game a move\n"), "{out}");
    assert!(
        out.ends_with("games left out: 1 without a result, 1 from other starts\n") && told.is_empty(),
        "{out}{told}"
    );
    let [shown, _] =
        succeed(&["book", &dama, "--position", "B:W17,22,23,24,25,26,27,28,29,30,31,32:B1,2,3,4,5,6,7,8,9,10,11,12"]);
    assert!(shown.contains("       2  66.7 %   0.0 %       0       0       2  9-13\n"), "as Black sees it: {shown}");
    for book in [&hive, &dama] {
        let text = String::from_utf8_lossy(&std::fs::read(book).expect("a book")).into_owned();
        assert!(!text.contains("Alice") && !text.contains("Bob"), "names");
    }
}

/// Makes a run of draughts with so many finished games: the first ply was drawn at random, then 9-13 and 22-19 were played.
fn make_run(dir: &Path, game_count: u64) {
    let run = RunRow {
        run_id: "run".into(),
        created_at: String::new(),
        game: r#"{"name":"dama"}"#.into(),
        config: "{}".into(),
        seed: 1,
        start_network: None,
    };
    let store = Store::open(dir, &run).expect("a store");
    for number in 1..=game_count {
        let game_id = GameId::new(number);
        let mut game = NewGame::self_play(game_id, 1, number, String::new());
        game.opening = vec!["21-17".into()];
        let ply = |ply, text| Change::AddPly { game_id, ply, record: PlyRecord::unsearched(text) };
        let finished = FinishedGame {
            game_id,
            finish_number: number,
            result: StoredResult { outcome: Outcome::Win(Side::Black), is_cut_off: false, resignation: None },
            ply_count: 3,
            sample_count: 0,
            opening_hash: 0,
            final_hash: 0,
            moves_hash: 0,
            checksum: None,
        };
        let changes = vec![Change::CreateGame(game), ply(1, "9-13"), ply(2, "22-19"), Change::FinishGame(finished)];
        store.write(changes).expect("written");
    }
}

#[test]
fn games_of_a_run_count_after_their_opening() {
    let folder = Folder::new();
    make_run(&folder.path("run"), 3);
    let file = folder.text("run.book");
    let [out, _] = succeed(&["book", "--out", &file, &folder.text("run")]);
    assert!(out.contains(": dama, 2 moves of 2 positions from 3 games"), "nobody chose 21-17: {out}");
    let [out, _] = succeed(&["book", "--out", &file, &folder.text("run"), &folder.text("games.pdn")]);
    assert!(out.contains(": dama, 3 moves of 3 positions from 6 games"), "a run and people: {out}");
    let (code, told) = fail(&["book", "--out", &file, "--game", "hive", &folder.text("run")]);
    assert_eq!((code, told.contains("plays dama, and the book is of Base+MLP")), (Some(64), true), "{told}");
}

#[test]
fn a_book_of_nothing_says_what_was_left_out() {
    let folder = Folder::new();
    let (games, file) = (folder.text("games.uhp"), folder.text("none.book"));
    let output = alveare(&["book", "--out", &file, "--type", "Base+P", &games]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(String::from_utf8_lossy(&output.stdout), "games left out: 1 unreadable, 6 of other types (--type)\n");
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(
        told.ends_with("alveare: no move was played in 3 games: there are 0; name more of them, or --games-min\n"),
        "{told}"
    );
    assert!(!folder.path("none.book").exists());
}

#[test]
fn a_viewer_is_answered_from_the_book() {
    let folder = Folder::new();
    let file = folder.book("hive.book", "games.uhp", &[]);
    let mut command = program("uhp");
    command.args(["--book", &file, "--set", "InfoLines=True", "--set", "Simulations=2"]);
    let mut engine = Running::start(command);
    engine.hear(|line| line == "ok");
    let mut ask = |line: &str| {
        engine.say(line);
        engine.hear(|line| line == "ok")
    };
    ask("newgame Base+MLP;InProgress;White[2];wS1;bG1 \\wS1");
    assert_eq!(ask("bestmove depth 9"), ["info book wQ wS1\\ games 3 score 0.833", "wQ wS1\\", "ok"]);
    ask("play wQ wS1\\");
    assert_eq!(ask("bestmove")[1], "bQ \\bG1", "the other side too");
    ask("options set Book False");
    assert!(ask("bestmove")[0].starts_with("info multipv 1 "), "a search");
    ask("options set Book True");
    ask("newgame Base;InProgress;White[2];wS1;bG1 \\wS1");
    assert!(ask("bestmove")[0].starts_with("info multipv 1 "), "another type of game");
    assert_eq!(engine.end(), Some(0));
}

#[test]
fn draughts_are_played_from_the_book_by_the_seed() {
    let folder = Folder::new();
    let file = folder.book("dama.book", "games.pdn", &["--games-min", "1"]);
    let answer = |lines: &[&str]| {
        let mut command = program("dama");
        command.args(["--book", &file]);
        let mut engine = Running::start(command);
        lines.iter().for_each(|line| engine.say(line));
        let told = engine.hear(|line| line.starts_with("done "));
        assert_eq!(engine.end(), Some(0));
        told
    };
    let told = answer(&["init", "level nodes=9", "go think"]);
    assert_eq!(told[told.len() - 2], "info depth=1 score=0.67 nodes=0 time=0.000 pv=\"21-17\" book=3", "{told:?}");
    let off = answer(&["init", "set-param name=book value=false", "level nodes=9", "go think"]);
    assert!(!off.iter().any(|line| line.contains("book=")), "{off:?}");
    let start = "Wbbbbbbbbbbbbeeeeeeeewwwwwwwwwwww";
    let reply = format!("pos pos={start} moves=\"21-17\"");
    let replies: Vec<_> = (0..2).map(|_| answer(&["init", &reply, "level nodes=9", "go think"]).pop()).collect();
    assert_eq!(replies[0].as_deref(), Some("done move=12-16"), "9-13 never scored");
    assert_eq!(replies[0], replies[1]);
}

#[test]
fn analysis_shows_the_book_and_matches_play_by_it() {
    let folder = Folder::new();
    let file = folder.book("dama.book", "games.pdn", &["--games-min", "1"]);
    let analysis = ["analyse", "--game", "dama", "--network", "none", "--simulations", "9"];
    let [shown, _] = succeed(&[&analysis[..], &["--book", &file]].concat());
    assert!(shown.ends_with("       3 100.0 %  83.3 %       2       1       0  21-17\n"), "{shown}");
    let without = succeed(&analysis)[0].lines().count();
    assert_eq!(shown.lines().count(), without + 2, "{shown}");
    let player = format!("uniform:9,book={file}");
    let games = folder.text("played.pdn");
    let arguments =
        ["match", &player, "random", "--game", "dama", "--games", "2", "--opening-plies", "0", "--out", &games];
    let [report, _] = succeed(&arguments);
    assert!(report.contains("A  uniform:9,book=dama.book"), "{report}");
    let played = std::fs::read_to_string(&games).expect("games");
    let first = played.split("[White \"uniform:9,book=dama.book\"]").nth(1).expect("a game with White");
    assert!(first.contains("\n1. 21-17 "), "{played}");
}

#[test]
fn a_person_sees_which_moves_are_from_the_book() {
    let folder = Folder::new();
    let file = folder.book("hive.book", "games.uhp", &[]);
    let arguments = ["play", "--network", "none", "--side", "black", "--simulations", "2", "--book", &file];
    let mut command = Command::new(env!("CARGO_BIN_EXE_alveare"));
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut game = Running::start(command);
    let told = game.hear(|line| line.starts_with("Alveare: "));
    assert_eq!(told.last().map(String::as_str), Some("Alveare: wS1 (book)"));
    assert_eq!(game.end(), Some(0));
}

#[test]
fn what_does_not_go_together_is_refused_in_one_line() {
    let folder = Folder::new();
    let hive = folder.book("hive.book", "games.uhp", &[]);
    let damaged = folder.text("damaged.book");
    let mut bytes = std::fs::read(&hive).expect("a book");
    bytes[150] ^= 1;
    std::fs::write(&damaged, bytes).expect("written");
    let (games, none) = (folder.text("games.uhp"), folder.text("none"));
    let of_type = format!("--book: opening book {hive}: it is of Base+MLP, not of Base: name another book");
    let of_game = format!("opening book {hive}: it is of hive, not of dama: name another book");
    let player = format!("mcts:9,book={hive}");
    for (code, arguments, message) in [
        (64, &["dama", "--network", "none", "--book", &hive][..], &of_game[..]),
        (64, &["analyse", "--network", "none", "--type", "Base", "--book", &hive], &of_type),
        (64, &["play", "--network", "none", "--type", "Base", "--book", &hive], &of_type),
        (64, &["match", &player, "random", "--game", "dama"], &of_game),
        (64, &["match", &player, "random", "--type", "Base"], "not of Base: name another book"),
        (64, &["match", "random,book=x", "random"], "tables=DIR and book=FILE are for a network"),
        (64, &["book", &hive, "--position", "Base;NotStarted;White[1]"], "it is of Base+MLP, not of Base"),
        (1, &["uhp", "--network", "none", "--book", &damaged], "damaged.book: damaged (its moves): make the book anew"),
        (64, &["uhp", "--network", "none", "--book", &none], "read opening book"),
        (64, &["uhp", "--network", "none", "--book", &games], "games.uhp: not an opening book of Alveare: make a book"),
        (
            64,
            &["analyse", "--network", "none", "--book", "nope"],
            "alveare: --book: read opening book nope: No such file or directory (os error 2): make a book with `alveare \
             book --out FILE GAMES...`\n",
        ),
        (64, &["play", "--network", "none", "--book", &folder.text("")], "alveare book --out FILE GAMES..."),
        (
            64,
            &["book", "--out", &games, &games],
            "games.uhp: it exists and is not an opening book: choose another name or delete it",
        ),
        (64, &["book", "--out", &none, "nowhere"], "games: open nowhere"),
        (64, &["book", "--out", "/", &games], "alveare: --out: /: it is a folder: name a file"),
        (64, &["book", "--out", "nodir/x", &games], "--out: nodir/x: cannot write it: there is no folder nodir"),
        (1, &["book", "--out", "/proc/x", &games], "alveare: --out: write /proc/x: "),
        (1, &["book", "--out", &none, "--games-min", "9", &games], "no move was played in 9 games: there are 4"),
        (64, &["book", &hive], "--show"),
        (64, &["book", &hive, &hive, "--show"], "name one book"),
        (64, &["book", &hive, "--show", "--plies", "4"], "cannot be used with"),
    ] {
        let (found, told) = fail(arguments);
        assert!(found == Some(code) && told.contains(message), "{arguments:?}: {found:?}: {told}");
    }
    assert!(!folder.path("none").exists() && !folder.path("none.part").exists(), "nothing is left behind");
}

//! Real games of BoardSpace against the results of two other engines: `testdata/boardspace`, see its README.

mod damage;

use std::sync::LazyLock;

use damage::damaged;
use notation::{PlayedGame, ReadError, ReadOptions, boardspace};
use proptest::prelude::*;
use shared::game::hive::Hive;
use shared::game::{Game, Outcome, Side};

const STRICT: ReadOptions = ReadOptions { queen_first_allowed: false };
const OLD: ReadOptions = ReadOptions { queen_first_allowed: true };

fn read(name: &str) -> String {
    testdata::read(&format!("boardspace/{name}"))
}

/// A line of `expected.tsv`.
struct Row {
    file: String,
    variant: String,
    plies: u32,
    result: String,
    replay_ok: bool,
    reason: String,
    ended_by: String,
    re_says: String,
}

fn rows() -> Vec<Row> {
    let text = read("expected.tsv");
    let row = |line: &str| {
        let fields: Vec<&str> = line.split('\t').collect();
        let [file, variant, _year, plies, result, replay_ok, reason, ended_by, re_says] = fields[..] else {
            panic!("{line:?} has not 9 fields")
        };
        Row {
            file: file.to_owned(),
            variant: variant.to_owned(),
            plies: plies.parse().expect("a number of plies"),
            result: result.to_owned(),
            replay_ok: replay_ok == "yes",
            reason: reason.to_owned(),
            ended_by: ended_by.to_owned(),
            re_says: re_says.to_owned(),
        }
    };
    let rows: Vec<Row> = text.lines().skip(1).map(row).collect();
    assert_eq!(rows.len(), 128);
    rows
}

fn name(outcome: Option<Outcome>, nobody: &str) -> &str {
    match outcome {
        Some(Outcome::Win(Side::White)) => "white",
        Some(Outcome::Win(Side::Black)) => "black",
        Some(Outcome::Draw) => "draw",
        None => nobody,
    }
}

/// The letters of the expansions, sorted.
fn letters(text: &str, separator: char) -> Vec<char> {
    let letters = text.split_once(separator).map_or("", |(_, letters)| letters);
    let mut letters: Vec<char> = letters.to_ascii_lowercase().chars().collect();
    letters.sort_unstable();
    letters
}

fn check_game(row: &Row, game: &PlayedGame) {
    let file = &row.file;
    assert_eq!(game.ply_count(), row.plies, "{file}: plies");
    assert_eq!(name(game.outcome, "unfinished"), row.result, "{file}: result");
    assert_eq!(game.ending.to_string(), row.ended_by, "{file}: ended_by");
    assert_eq!(name(game.stated_outcome, "none"), row.re_says, "{file}: re_says");
    assert_eq!(letters(&game.rules.game_type.to_string(), '+'), letters(&row.variant, '-'), "{file}: variant");
    let mut position = game.hive().initial_position();
    for mv in &game.moves {
        let mut legal = Vec::new();
        game.hive().legal_moves(&position, &mut legal);
        assert!(!legal.is_empty(), "{file}: plies after the end");
        game.hive().play(&mut position, *mv);
    }
}

#[test]
fn every_file_is_as_expected() {
    for row in rows() {
        let game = boardspace::read(&read(&row.file), STRICT);
        assert_eq!(game.is_ok(), row.replay_ok, "{}: {:?}", row.file, game.as_ref().err());
        match &game {
            Ok(game) => {
                check_game(&row, game);
                let remarks: Vec<_> = game.remarks.iter().map(ToString::to_string).collect();
                let reason = if remarks.is_empty() { "-".to_owned() } else { remarks.join("; ") };
                assert_eq!(reason, row.reason, "{}", row.file);
            }
            Err(error) => assert_eq!(error.to_string(), row.reason, "{}", row.file),
        }
    }
}

#[test]
fn old_games_that_open_with_a_queen_are_read_where_that_is_allowed() {
    let is_queen_first = |row: &Row| row.reason == "ply 1 illegal: queen placed as first piece";
    let old: Vec<Row> = rows().into_iter().filter(is_queen_first).collect();
    assert_eq!(old.len(), 1);
    for row in old {
        let game = boardspace::read(&read(&row.file), OLD).unwrap_or_else(|error| panic!("{}: {error}", row.file));
        check_game(&row, &game);
        assert!(game.rules.queen_first_allowed && game.remarks.is_empty());
    }
}

#[test]
fn every_position_is_that_of_the_agreed_moves() {
    let text = read("expected_uhp.tsv");
    let mut game_count = 0;
    for line in text.lines().skip(1) {
        let [file, game_type, texts] = line.split('\t').collect::<Vec<_>>()[..] else { panic!("{line:?}") };
        let game = boardspace::read(&read(file), STRICT).unwrap_or_else(|error| panic!("{file}: {error}"));
        assert_eq!(game.rules.game_type.to_string(), game_type, "{file}");
        let hive: Hive = game.hive();
        let mut position = hive.initial_position();
        let expected: Vec<&str> = texts.split(';').filter(|text| !text.is_empty()).collect();
        assert_eq!(expected.len(), game.moves.len(), "{file}");
        for (text, mv) in expected.iter().zip(&game.moves) {
            let expected = hive.parse_move(&position, text).unwrap_or_else(|error| panic!("{file}: {error}"));
            assert_eq!(*mv, expected, "{file}: ply {}", position.ply() + 1);
            hive.play(&mut position, *mv);
        }
        game_count += 1;
    }
    assert_eq!(game_count, 126, "legal games");
}

/// A base game up to the queens, each ply of the form `move`.
const OPENING: [&str; 6] = [
    "P0[1 move W wS1 N 13 .]",
    "P1[3 move B bS1 O 13 wS1-]",
    r"P0[5 move W wG1 M 13 -wS1]",
    "P1[7 move B bG1 P 13 bS1-]",
    "P0[9 move W wQ L 13 -wG1]",
    "P1[11 move B bQ Q 13 bG1-]",
];

fn tree(commands: &[&str]) -> String {
    let nodes: String = commands.iter().map(|command| format!("; {command}\n")).collect();
    format!("(;\nGM[27]VV[1]\nSU[hive]\nP0[id \"a\"]\nP1[id \"b\"]\n{nodes})\n")
}

/// Reads the opening and more; gives the number of plies and the last, or the error.
fn after_opening(commands: &[&str]) -> String {
    let opening =
        OPENING.iter().zip(["P0[2 done]", "P1[4 done]"].into_iter().cycle()).flat_map(|(mv, done)| [*mv, done]);
    let all: Vec<&str> = opening.chain(commands.iter().copied()).collect();
    match boardspace::read(&tree(&all), STRICT) {
        Ok(game) => {
            let last = game.move_texts().pop().unwrap_or_default();
            format!("{} {last} {} {}", game.ply_count(), game.ending, name(game.outcome, "-"))
        }
        Err(error) => error.to_string(),
    }
}

#[test]
fn only_what_stands_at_the_done_counts() {
    for (commands, expected) in [
        (&["P0[pick W 1 wA1]", "P0[dropb wA1 K 13 .]"][..], "6 bQ bG1- none -"),
        (
            &["P0[Pick W 1 wA1]", "P0[Dropb wA1 K 12 .]", "P0[pick W 3 wB1]", "P0[dropb wB1 K 13 .]", "P0[Done ]"],
            "7 wB1 -wQ none -",
        ),
        (
            &["P0[pick W 1 wA1]", "P0[dropb wA1 K 12 .]", "P0[pickb K 12 wA1]", "P0[dropb wA1 K 13 .]", "P0[done]"],
            "7 wA1 -wQ none -",
        ),
        (
            &["P0[pickb L 13 wQ]", "P0[dropb wQ M 14 .]", "P0[pickb M 14 wQ]", "P0[dropb wQ L 13 .]", "P0[done]"],
            "6 bQ bG1- none -",
        ),
        (&["P0[pick W 1 wA1]", "P0[dropb wA1 K 13 .]", "P0[drop W 1 wA1 .]", "P0[done]"], "6 bQ bG1- none -"),
        (&["P0[resign]", "P0[resign]", "P0[movedone W wQ M 14 .]"], r"7 wQ \wG1 none -"),
        (&["P0[resign]", "P0[done]"], "6 bQ bG1- resign black"),
        (&["P0[offerdraw]", "P0[done]", "P1[acceptdraw]", "P1[done]"], "6 bQ bG1- draw-agreed draw"),
        (&["P0[offerdraw]", "P0[done]", "P1[declinedraw]", "P1[done]", "P0[done]"], "6 bQ bG1- none -"),
    ] {
        assert_eq!(after_opening(commands), expected, "{commands:?}");
    }
}

#[test]
fn what_is_wrong_is_named() {
    for (commands, expected) in [
        (&["P0[pass]", "P0[done]"][..], "ply 7 illegal: pass while there is a legal move"),
        (&["P1[movedone B bA1 R 13 .]"], "ply 7 illegal: it is the other side's turn"),
        (&["P0[movedone W wA1 C 3 .]"], "ply 7 illegal: the cell does not touch the hive"),
        (&["P0[movedone W wS1 K 13 .]"], "ply 7 illegal: wS1 may not come to (-3, 0) from the first piece"),
        (&["P0[resign]", "P0[done]", "P1[movedone B bA1 R 13 .]"], "ply 7 illegal: it is the other side's turn"),
        (&["P0[9 movedone W wX1 K 13 .]"], "node 13: \"9 movedone W wX1 K 13 .\": \"wX1\" is not a piece"),
        (&["P0[move W wA4 K 13 .]"], "node 13: \"move W wA4 K 13 .\": there is no piece \"wA4\""),
        (&["P0[dropb wA1 K 99 .]"], "node 13: \"dropb wA1 K 99 .\": \"K\" \"99\" is not a cell"),
        (&["P0[swap]"], "node 13: \"swap\": unknown command"),
    ] {
        assert_eq!(after_opening(commands), expected, "{commands:?}");
    }
    assert_eq!(
        boardspace::read("(;GM[1])", STRICT).map_err(|error| error.to_string()),
        Err("node 0: GM is not 27: the game is not Hive".to_owned())
    );
    assert!(
        matches!(boardspace::read("(;GM[27]SU[hive-x])", STRICT), Err(ReadError::Variant(variant)) if variant == "hive-x")
    );
    assert_eq!(boardspace::read("(;GM[27]SU[hive];)", STRICT).map(|game| game.ply_count()), Ok(0));
}

/// The board of the client is a torus: a game moved over its edges is the same game.
#[test]
fn a_game_across_the_edge_is_the_same_game() {
    let moved = |text: &str, (columns, rows): (i32, i32)| {
        let mut words: Vec<String> = text.split(' ').map(str::to_owned).collect();
        let at = words.iter().position(|word| word.len() == 1 && word != "W" && word != "B").expect("a column");
        let column = (i32::from(words[at].as_bytes()[0]) - 65 + columns).rem_euclid(26) as u8 + b'A';
        let row = (words[at + 1].parse::<i32>().expect("a row") - 1 + rows).rem_euclid(26) + 1;
        words[at] = char::from(column).to_string();
        words[at + 1] = row.to_string();
        words.join(" ").replacen("move", "movedone", 1)
    };
    let read_moved = |by| {
        let commands: Vec<String> = OPENING.iter().map(|text| moved(text, by)).collect();
        boardspace::read(&tree(&commands.iter().map(String::as_str).collect::<Vec<_>>()), STRICT)
    };
    let expected = read_moved((0, 0)).expect("a legal game");
    assert_eq!(expected.ply_count(), 6);
    for by in [(13, 0), (12, 13), (-13, -12), (10, 14)] {
        assert_eq!(read_moved(by).as_ref(), Ok(&expected), "{by:?}");
    }
}

static FILES: LazyLock<Vec<String>> = LazyLock::new(|| rows().iter().step_by(9).map(|row| read(&row.file)).collect());

/// Whatever is read, it is a game of legal moves.
fn check_any(text: &str) {
    for options in [STRICT, OLD] {
        if let Ok(game) = boardspace::read(text, options) {
            assert_eq!(game.move_texts().len(), game.moves.len());
        }
    }
}

proptest! {
    /// Real files with letters put in place of others, and cut off.
    #[test]
    fn broken_files_never_panic(
        file in 0_usize..15,
        changes in prop::collection::vec((0.0_f64..1.0, "[\\[\\]();\\\\WBPQwbdone0-9 é]{0,3}"), 1..8),
        end in 0.3_f64..3.0,
    ) {
        check_any(&damaged(&FILES[file % FILES.len()], changes, end));
    }

    /// Nodes out of real files in another order, some left out and some twice.
    #[test]
    fn shuffled_nodes_never_panic(file in 0_usize..15, order in prop::collection::vec(0_usize..400, 0..60)) {
        let text = &FILES[file % FILES.len()];
        let nodes: Vec<&str> = text.trim_end_matches([')', ' ', '\r', '\n']).split("\n;").skip(1).collect();
        let header = text.split("\n;").next().unwrap_or_default();
        let shuffled: String = order.iter().map(|index| format!("\n;{}", nodes[index % nodes.len()])).collect();
        check_any(&format!("{header}{shuffled})"));
    }

    /// Random text, alone and as a command.
    #[test]
    fn random_text_never_panics(text in "\\PC{0,80}") {
        check_any(&text);
        check_any(&tree(&[&text, &format!("P0[{text}]"), &format!("P1[dropb {text}]")]));
    }
}

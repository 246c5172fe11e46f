//! Human games as GameStrings, one a line: `testdata/bga`, see its README.

mod damage;

use std::sync::LazyLock;

use damage::damaged;
use notation::games::{self, LineError};
use notation::{Ending, PlayedGame, ReadError, ReadOptions, Remark};
use proptest::prelude::*;
use shared::game::hive::GameType;
use shared::game::{Outcome, Side};

const STRICT: ReadOptions = ReadOptions { queen_first_allowed: false };
const OLD: ReadOptions = ReadOptions { queen_first_allowed: true };

static TEXT: LazyLock<String> = LazyLock::new(|| testdata::read("bga/games.uhp"));

#[test]
fn every_legal_game_loads_and_the_others_are_reported() {
    let (games, errors): (Vec<_>, Vec<_>) = games::read_lines(&TEXT, STRICT).partition(Result::is_ok);
    assert_eq!((games.len(), errors.len()), (5_150, 17));
    for error in errors.into_iter().filter_map(Result::err) {
        assert!(matches!(&error.error, ReadError::Illegal { ply: 1 | 2, .. }), "{error}");
        let text = TEXT.lines().nth(error.line as usize - 1).expect("the line that is named");
        let reason = error.to_string();
        assert!(reason.ends_with(" illegal: queen placed as first piece"), "{reason}: {text}");
        assert!(text.contains(";wQ;") || text.contains(";bQ "), "{text}");
    }
    let games: Vec<PlayedGame> = games.into_iter().flatten().collect();
    assert!(games.iter().all(|game| game.rules.game_type == GameType::MLP && game.outcome.is_some()));
    assert_eq!(games.iter().filter(|game| game.ply_count() == 0).count(), 1, "a draw without a move");
}

#[test]
fn every_game_loads_where_a_queen_may_open() {
    let games: Vec<_> = games::read_lines(&TEXT, OLD).collect();
    assert_eq!(games.len(), 5_167);
    for (game, line) in games.iter().zip(TEXT.lines()) {
        let game = game.as_ref().unwrap_or_else(|error| panic!("{error}"));
        let stated = match line.split(';').nth(1) {
            Some("WhiteWins") => Outcome::Win(Side::White),
            Some("BlackWins") => Outcome::Win(Side::Black),
            Some("Draw") => Outcome::Draw,
            other => panic!("state {other:?}"),
        };
        assert_eq!(game.stated_outcome, Some(stated), "{line}");
        let contradicted = game.remarks.contains(&Remark::StatedOtherwise { stated });
        assert_eq!(game.outcome == Some(stated), !contradicted, "{line}");
        assert!(!contradicted || game.ending == Ending::QueenSurrounded, "{line}");
        let texts: Vec<&str> = line.split(';').skip(3).filter(|text| !text.is_empty()).collect();
        assert_eq!(game.moves.len(), texts.len(), "{line}");
        let again = games::read(&game.to_game_string(), OLD).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!((&again.moves, again.outcome), (&game.moves, game.outcome), "{line}");
    }
}

/// Reads one game; gives the outcome, the ending and the remarks, or the error.
fn told(text: &str) -> String {
    match games::read(text, STRICT) {
        Ok(game) => {
            let remarks: Vec<_> = game.remarks.iter().map(ToString::to_string).collect();
            format!("{:?} {} {}", game.outcome, game.ending, remarks.join(", "))
        }
        Err(error) => error.to_string(),
    }
}

#[test]
fn the_state_is_trusted_unless_a_queen_is_surrounded() {
    for (text, expected) in [
        ("Base", "None none "),
        ("Base;InProgress;Black[1];wS1", "None none "),
        ("Base;WhiteWins;Black[1];wS1", "Some(Win(White)) stated "),
        ("Base;Draw;White[1];wS1", "turn White[1] is claimed after moves that lead to Black[1]"),
    ] {
        assert_eq!(told(text), expected, "{text}");
    }
    let decided = TEXT.lines().find(|line| {
        games::read(line, STRICT)
            .is_ok_and(|game| game.ending == Ending::QueenSurrounded && game.outcome == Some(Outcome::Win(Side::White)))
    });
    let decided = decided.expect("a game won by surrounding the queen").to_owned();
    let lied = decided.replacen("WhiteWins", "BlackWins", 1);
    assert_eq!(told(&lied), "Some(Win(White)) queen-surrounded stated as BlackWins");
    assert_eq!(
        told(&format!("{decided};pass")).split_once(" illegal: ").map(|(_, reason)| reason.to_owned()),
        Some("the game is over".to_owned())
    );
}

#[test]
fn a_repetition_ends_a_game_only_at_its_end() {
    let opening = "wS1;bS1 wS1-;wQ -wS1;bQ bS1-";
    let round = r";wQ \wS1;bQ bS1/;wQ -wS1;bQ bS1-";
    let game = format!("Base;InProgress;White[7];{opening}{round}{round}");
    assert_eq!(told(&game), "Some(Draw) repetition ");
    let on = format!(r"Base;InProgress;White[8];{opening}{round}{round};wA1 -wQ;bA1 bQ-");
    assert_eq!(told(&on), "None none third repetition at ply 12, play goes on");
}

#[test]
fn broken_lines_are_named_and_left_out() {
    let text = "Base;InProgress;Black[1];wS1\n\nChess;Draw;White[1]\nBase;Draw;White[2];wS1;bS1 wS2-\nBase+M;Draw;White[2];wM;bQ wM-\nBase;Draw;White[2];wS1;bM wS1-\n";
    let found: Vec<String> = games::read_lines(text, STRICT)
        .map(|game| game.map_or_else(|error: LineError| error.to_string(), |game| game.to_game_string()))
        .collect();
    assert_eq!(
        found,
        [
            "Base;InProgress;Black[1];wS1",
            "line 3: game type \"Chess\" is not Base, or Base+ and some of M, L, P",
            "line 4: ply 2 unreadable: \"bS1 wS2-\": wS2 is not on the board",
            "line 5: ply 2 illegal: queen placed as first piece",
            "line 6: ply 2 illegal: bM may not come to (1, 0) from the first piece",
        ]
    );
}

fn check_any(text: &str) {
    for game in games::read_lines(text, OLD).flatten() {
        assert_eq!(game.move_texts().len(), game.moves.len());
    }
}

proptest! {
    /// Real lines with letters put in place of others, and cut off.
    #[test]
    fn broken_lines_never_panic(
        line in 0_usize..5_167,
        changes in prop::collection::vec((0.0_f64..1.0, "[;\\[\\]/\\\\wbQABSGMLP123\n -é]{0,3}"), 1..6),
        end in 0.3_f64..2.0,
    ) {
        check_any(&damaged(TEXT.lines().nth(line).unwrap_or_default(), changes, end));
    }

    /// Random text, alone and as a move.
    #[test]
    fn random_text_never_panics(text in "\\PC{0,60}") {
        check_any(&text);
        check_any(&format!("Base+MLP;{text};{text}"));
        check_any(&format!("Base+MLP;InProgress;White[1];wS1;{text}"));
    }
}

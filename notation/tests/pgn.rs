//! Games of Hive as PGN: both dialects read, what is written read again, and rubbish refused.

use notation::pgn::{self, PgnGame};
use notation::{Ending, ReadOptions, games};
use proptest::prelude::*;
use shared::game::hive::GameType;
use shared::game::{Outcome, Side};

const STRICT: ReadOptions = ReadOptions { queen_first_allowed: false };

/// As MzingaViewer saves a game: a comment, and names of pieces that are alone of their kind without a number.
const MZINGA: &str = r#"[GameType "Base+M"]
[Date "2024.02.29"]
[Event ""]
[Site ""]
[Round ""]
[White "Ann"]
[Black "Bob"]
[Result "WhiteWins"]

1. wS1
2. bM wS1-
{a comment
[over] lines 1-0}
3. wQ -wS1
4. bQ bM-

WhiteWins
"#;

/// As hivegame.com saves one: spaces behind the first move, and a climb told by the cell beside another piece.
const HIVEGAME: &str = r#"[GameType "Base+MLP"]
[Date "30-Jan-2024_16:10:56"]
[Site "hivegame.com"]
[White "ann"]
[Black "bob"]
[Result "Unkown"]

1. wS1 
2. bS1 wS1-
3. wQ -wS1
4. bQ bS1-
5. wG1 -wQ
6. bB1 bQ-
7. wG2 \wQ
8. bB1 -bB1
"#;

fn read(text: &str) -> PgnGame {
    pgn::read(text, STRICT).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn both_dialects_are_read() {
    let PgnGame { tags, game } = read(MZINGA);
    assert_eq!((tags.len(), tags[5].1.as_str()), (8, "Ann"));
    assert_eq!((game.outcome, game.ending), (Some(Outcome::Win(Side::White)), Ending::Stated));
    assert_eq!(game.to_game_string(), "Base+M;WhiteWins;White[3];wS1;bM wS1-;wQ -wS1;bQ bM-");
    let PgnGame { game, .. } = read(HIVEGAME);
    assert_eq!((game.ply_count(), game.outcome, game.rules.game_type), (8, None, GameType::MLP));
    assert_eq!(game.move_texts()[7], "bB1 bQ", "a climb");
    let in_line = "[GameType \"Base\"] 1. wS1 2.bS1 wS1- {a comment} 3. wQ -wS1 4. bQ bS1- 1/2-1/2";
    assert_eq!(read(in_line).game.to_game_string(), "Base;Draw;White[3];wS1;bS1 wS1-;wQ -wS1;bQ bS1-");
}

#[test]
fn a_file_may_hold_many_games() {
    let text = format!("\n{MZINGA}\n{HIVEGAME}{MZINGA}");
    let found: Vec<_> = pgn::split(&text).map(|(line, text)| (line, read(text).game.ply_count())).collect();
    assert_eq!(found, [(2, 4), (20, 8), (35, 4)]);
    assert_eq!(pgn::split("no game\n").count(), 0);
}

#[test]
fn what_is_wrong_is_named_by_its_line() {
    for (text, expected) in [
        ("1. wS1", "line 1: no tag GameType"),
        ("[GameType \"Base+X\"]", "line 1: unsupported variant Base+X"),
        ("[GameType \"Base\"]\n[Event \"x\n", "line 2: a tag without an end"),
        ("[GameType \"Base\"]\n1. wS1 {x\n", "line 2: a comment without an end"),
        ("[GameType \"Base\"]\n\n1. wQ\n", "line 3: ply 1 illegal: queen placed as first piece"),
        (
            "[GameType \"Base\"]\n1. wS1\n2. bS1 \\wS2\n",
            "line 3: ply 2 unreadable: \"bS1 \\wS2\": wS2 is not on the board",
        ),
        (
            "[GameType \"Base\"]\n[Result \"Draw\"]\n1. wS1\n\n1-0",
            "line 5: the tag Result says Draw, the game ends with WhiteWins",
        ),
    ] {
        let error = pgn::read(text, STRICT).expect_err(text).to_string();
        assert_eq!(error, expected, "{text}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn what_is_written_is_read(line in 0..5_000_usize, event in ".{0,20}") {
        let text = testdata::read("bga/games.uhp");
        let Ok(game) = games::read(text.lines().nth(line).expect("a line"), STRICT) else { return Ok(()) };
        let tags = [("Event".to_owned(), event.trim().replace(char::is_control, "")), ("Elo".to_owned(), "1".to_owned())];
        let written = pgn::write(&tags, game.rules.game_type, &game.move_texts(), game.outcome);
        prop_assert_eq!(pgn::split(&written).map(|(line, _)| line).collect::<Vec<_>>(), [1]);
        let again = read(&written);
        prop_assert_eq!((&again.game.moves, again.game.outcome), (&game.moves, game.outcome));
        prop_assert!(tags.iter().all(|tag| again.tags.contains(tag)), "{:?}", again.tags);
    }

    #[test]
    fn rubbish_never_panics(text in ".{0,80}", cut in 0..300_usize, letter: char) {
        let damaged: String = MZINGA.chars().take(cut).chain([letter]).chain(MZINGA.chars().skip(cut + 1)).collect();
        for text in [&text, &damaged] {
            let _ = pgn::read(text, STRICT);
            for (_, text) in pgn::split(text) {
                let _ = pgn::read(text, STRICT);
            }
        }
    }
}

//! Properties of the notation of Italian draughts: round trips in random play, and rubbish that is refused.

use notation::dama::hub;
use notation::dama::pdn::{self, PdnError, PdnGame};
use proptest::prelude::*;
use shared::game::dama::fen;
use shared::game::dama::text::{format_move, format_route, format_with_captured, parse_move};
use shared::game::dama::{Dama, Move, Position};
use shared::game::{Game, MOVE_TEXT_BYTES_MAX, MoveError, Outcome, Side};

/// Plays a random game. Returns its positions and moves.
fn play(seed: u64) -> (Vec<Position>, Vec<Move>) {
    let dama = Dama::default();
    let (mut positions, mut played, mut random) = (vec![dama.initial_position()], vec![], seed);
    loop {
        let mut position = positions[played.len()].clone();
        let mut moves = vec![];
        dama.legal_moves(&position, &mut moves);
        if moves.is_empty() {
            return (positions, played);
        }
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let mv = moves[(random >> 33) as usize % moves.len()];
        dama.play(&mut position, mv);
        positions.push(position);
        played.push(mv);
    }
}

fn games(text: &str) -> Vec<Result<PdnGame, PdnError>> {
    pdn::read(text).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn what_is_written_is_read(seed: u64) {
        let (dama, (positions, moves)) = (Dama::default(), play(seed));
        for (position, mv) in positions.iter().zip(&moves) {
            let texts = [format_move(&dama, position, *mv), format_with_captured(*mv)];
            for text in &texts {
                prop_assert_eq!(parse_move(&dama, position, text), Ok(*mv), "{}", text);
            }
            for route in dama.routes(position) {
                prop_assert_eq!(parse_move(&dama, position, &format_route(&route)), Ok(route.mv));
            }
            let (board, side) = (position.board(), position.side_to_move());
            let from_fen = fen::read(&fen::write(board, side)).expect("written by us");
            let from_hub = hub::read(&hub::write(board, side)).expect("written by us");
            for read in [from_fen, from_hub] {
                prop_assert_eq!((read.board(), read.side_to_move()), (board, side));
            }
        }
        let end = positions.last().expect("the start at least");
        for start in [0, moves.len() / 2] {
            let board = positions[start].board();
            let side = positions[start].side_to_move();
            let game = PdnGame {
                tags: vec![("Event".to_owned(), "a \"test\" \\ ]".to_owned())],
                start: Position::new(*board, side, 0),
                moves: moves[start..].to_vec(),
                result: dama.outcome(end),
            };
            let read = games(&pdn::write(&game));
            let [Ok(read)] = &read[..] else { panic!("{read:?}") };
            prop_assert_eq!((&read.moves, read.result), (&game.moves, game.result));
            prop_assert_eq!(read.tag("Event"), game.tag("Event"));
            prop_assert_eq!(*read.end().board(), *end.board());
        }
    }

    #[test]
    fn rubbish_never_panics(text in ".{0,80}", seed: u64, cut in 0..2000_usize, letter: char) {
        let (dama, (positions, moves)) = (Dama::default(), play(seed));
        let _ = (fen::read(&text), hub::read(&text), parse_move(&dama, &positions[0], &text), games(&text));
        let start = positions[0].clone();
        let written = pdn::write(&PdnGame { tags: vec![], start, moves, result: None });
        let damaged: String = written.chars().take(cut).chain([letter]).chain(written.chars().skip(cut + 1)).collect();
        for game in games(&damaged).into_iter().flatten() {
            prop_assert!(game.end().ply() as usize == game.moves.len() + game.start.ply() as usize);
        }
    }
}

#[test]
fn everything_around_the_moves_is_passed_over() {
    let text = "\
% a remark
[Event \"one\"]
[GameType \"22,W,8,8,N2,1\"]
{before} 1. 21-17! $1 12-15 (1... 11-15 (or {)} so) 2. 23-20) 2.23-19?! ; to the end 1-0
11-14 {a comment
over lines} 3. 19x12 8:15 *
[Event \"two\"]
[FEN \"B:WK7:BK3,12\"]
[Result \"1/2-1/2\"]
1... 12-16 2. 7-11
";
    let read = games(text);
    let [Ok(one), Ok(two)] = &read[..] else { panic!("{read:?}") };
    assert_eq!((one.moves.len(), one.result, one.tag("Event")), (6, None, Some("one")));
    assert_eq!((two.moves.len(), two.result), (2, Some(Outcome::Draw)));
    assert_eq!((two.start.side_to_move(), two.end().side_to_move()), (Side::Black, Side::Black));
}

#[test]
fn games_are_read_wherever_lines_end() {
    let read = games("[Event \"x\"] 21-17 * [Event\n\"y\"\n]\n21-17\n12-15 1-0 22-18 0-1");
    let [Ok(one), Ok(two), Ok(three)] = &read[..] else { panic!("{read:?}") };
    assert_eq!((one.moves.len(), one.tag("Event"), one.result), (1, Some("x"), None));
    assert_eq!((two.moves.len(), two.tag("Event"), two.result), (2, Some("y"), Some(Outcome::Win(Side::White))));
    assert_eq!((three.moves.len(), three.tag("Event"), three.result), (1, None, Some(Outcome::Win(Side::Black))));
}

#[test]
fn results_that_contradict_each_other_are_told_of() {
    let text = "\
[Result \"1-0\"]
21-17 0-1
21-17 1-0 0-1
21-17 1-0 1-0
[Result \"*\"]
21-17 1-0
[Result \"0-1\"]
21-17 *
[FEN \"W:W22:B18\"]
22x13
0-1";
    let found: Vec<_> = games(text)
        .into_iter()
        .map(|game| game.map_or_else(|error| error.to_string(), |game| format!("{:?}", game.result)))
        .collect();
    assert_eq!(
        found,
        [
            "line 2: the tag Result says 1-0, the game ends with 0-1",
            "line 3: two results, 1-0 and 0-1",
            "Some(Win(White))",
            "Some(Win(White))",
            "Some(Win(Black))",
            "line 11: the result is 0-1, but the last position is 1-0",
        ]
    );
}

#[test]
fn a_broken_game_is_told_of_and_the_next_one_read() {
    let text = "\
[Event \"1\"]
1. 21-17 12-16 2. 24-19 1-0
[GameType \"20\"]
1. 11-15 *
[FEN \"W:W1:B\"]
*
[Event \"4\"]
1. 21-17 (1. 22-18 0-1";
    let errors: Vec<_> = games(text).into_iter().map(|game| game.expect_err("broken").to_string()).collect();
    assert_eq!(
        errors,
        [
            "line 2: illegal move \"24-19\" at ply 2",
            "line 3: game type \"20\" is not 22, Italian draughts",
            "line 5: tag FEN: a man on square 1, where it would be a king",
            "line 8: a variation without an end",
        ]
    );
}

#[test]
fn moves_that_are_none_are_refused_in_words() {
    let (dama, start) = (Dama::default(), Dama::default().initial_position());
    let error = |text: &str| parse_move(&dama, &start, text).expect_err("refused").to_string();
    assert_eq!(error("22-14"), "illegal move \"22-14\" at ply 0");
    assert_eq!(error("22x18"), "illegal move \"22x18\" at ply 0");
    assert_eq!(error("22"), "cannot read move \"22\": a move names two squares");
    assert_eq!(error("22-18-14"), "cannot read move \"22-18-14\": a step names two squares");
    assert_eq!(
        error("22-33"),
        "cannot read move \"22-33\": a move is written like 22-18 or 31x24, with squares 1 to 32"
    );
    assert_eq!(
        error(&"9".repeat(99)),
        format!("cannot read move {:?}: too long for a move", "9".repeat(MOVE_TEXT_BYTES_MAX))
    );
    // Two ways with different pieces lead from 3 to 26.
    let position = fen::read("B:W6,13,14,18,21,22,25,30,31:B1,2,3,4,7,9").expect("a position");
    let error = parse_move(&dama, &position, "3x26").expect_err("refused").to_string();
    assert_eq!(error, "cannot read move \"3x26\": several captures start and end so; write every square visited");
    let written = dama.routes(&position).into_iter().map(|route| format_move(&dama, &position, route.mv));
    assert_eq!(written.collect::<Vec<_>>(), ["3x10x17x26", "3x10x19x26"]);
    let lost = fen::read("W:W:B3").expect("a position");
    assert!(matches!(parse_move(&dama, &lost, "22-18"), Err(MoveError::GameOver { .. })));
}

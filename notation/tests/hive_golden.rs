//! Hive against facts on which other engines agree: `testdata/hive`, see its README.

use std::collections::{BTreeMap, BTreeSet};

use notation::uhp::{GameState, GameString, Turn, format_game};
use serde::Deserialize;
use shared::game::Game;
use shared::game::hive::{Cell, GameType, Hive, HiveRules, Move, Position};

/// Perft rows above this many leaves are left to a release build: `alveare perft`.
const LEAF_COUNT_MAX: u64 = 3_000_000;

/// The rules of the golden data: no repetitions, no limit.
fn hive(game_type: GameType) -> Hive {
    Hive::new(HiveRules {
        game_type,
        ply_limit: u32::MAX,
        repetition_draw: false,
        queen_first_allowed: false,
        rest_counts: false,
    })
}

fn replay(text: &str) -> (Hive, Position, Vec<Move>) {
    let game: GameString = text.parse().unwrap_or_else(|error| panic!("{text}: {error}"));
    let hive = hive(game.game_type);
    let (position, moves) = game.replay(&hive).unwrap_or_else(|error| panic!("{text}: {error}"));
    (hive, position, moves)
}

/// Cells are counted from the first piece of the game.
fn relative(cell: Cell) -> (i32, i32) {
    (i32::from(cell.q()) - 16, i32::from(cell.r()) - 16)
}

#[derive(Deserialize)]
struct Row {
    id: String,
    game: String,
    state: String,
    ply: u32,
    to_move: String,
    legal: Vec<String>,
    targets: Vec<Option<(String, i32, i32, u8)>>,
    board: BTreeMap<String, (i32, i32, u8)>,
    last_moved: Option<String>,
}

fn check_row(row: &Row) {
    let (hive, position, _) = replay(&row.game);
    let mut moves = Vec::new();
    hive.legal_moves(&position, &mut moves);
    let outcomes: BTreeSet<_> = moves
        .iter()
        .map(|mv| {
            let (q, r) = relative(mv.target());
            mv.piece().map(|piece| (piece.to_string(), q, r, position.height(mv.target())))
        })
        .collect();
    assert_eq!(outcomes, row.targets.iter().cloned().collect(), "{}: moves by outcome", row.id);
    assert_eq!(outcomes.len(), moves.len(), "{}: a move is listed twice", row.id);
    assert_eq!(hive.move_count(&position), moves.len(), "{}: counted", row.id);
    let texts: BTreeSet<_> = moves.iter().map(|mv| hive.format_move(&position, *mv)).collect();
    assert_eq!(texts, row.legal.iter().cloned().collect(), "{}: moves as texts", row.id);
    for mv in &moves {
        assert_eq!(hive.parse_move(&position, &hive.format_move(&position, *mv)), Ok(*mv), "{}: read back", row.id);
    }
    check_board(row, &hive, &position);
}

fn check_board(row: &Row, hive: &Hive, position: &Position) {
    assert_eq!(GameState::of(hive, position).to_string(), row.state, "{}: state", row.id);
    assert_eq!(
        (position.ply(), format!("{:?}", position.side_to_move())),
        (row.ply, row.to_move.clone()),
        "{}",
        row.id
    );
    assert_eq!(position.last_moved().map(|piece| piece.to_string()), row.last_moved, "{}: resting piece", row.id);
    let board = position.pieces().map(|piece| {
        let (q, r) = relative(position.cell_of(piece).expect("pieces() are on the board"));
        (piece.to_string(), (q, r, position.level_of(piece)))
    });
    assert_eq!(board.collect::<BTreeMap<_, _>>(), row.board, "{}: board", row.id);
}

fn check_rows(name: &str, row_count: usize) {
    let rows = testdata::read(name);
    let mut checked_count = 0;
    for line in rows.lines() {
        check_row(&serde_json::from_str(line).expect("a row of golden data"));
        checked_count += 1;
    }
    assert_eq!(checked_count, row_count);
}

#[test]
fn positions_have_the_agreed_moves() {
    check_rows("hive/positions.jsonl", 676);
}

#[test]
fn tricky_positions_have_the_agreed_moves() {
    check_rows("hive/tricky.jsonl", 67);
}

#[test]
fn games_have_the_agreed_number_of_moves_at_every_ply() {
    #[derive(Deserialize)]
    struct Row {
        game: String,
        state: String,
        n_legal: Vec<usize>,
    }
    let mut game_count = 0;
    for line in testdata::read("hive/games.jsonl").lines() {
        let row: Row = serde_json::from_str(line).expect("a row of golden data");
        let (hive, end, moves) = replay(&row.game);
        let mut position = hive.initial_position();
        for (ply, expected) in row.n_legal.iter().enumerate() {
            let mut listed = Vec::new();
            hive.legal_moves(&position, &mut listed);
            assert_eq!(listed.len(), *expected, "after {ply} plies of {}", row.game);
            assert_eq!(hive.move_count(&position), *expected, "counted after {ply} plies of {}", row.game);
            if let Some(mv) = moves.get(ply) {
                hive.play(&mut position, *mv);
            }
        }
        assert_eq!(GameState::of(&hive, &end).to_string(), row.state, "{}", row.game);
        assert_eq!(format_game(&hive, &moves), row.game);
        assert_eq!(row.game.parse::<GameString>().expect("it was replayed").turn, Some(Turn::after(end.ply())));
        game_count += 1;
    }
    assert_eq!(game_count, 96, "games in games.jsonl");
}

#[test]
fn the_third_occurrence_is_a_draw() {
    #[derive(Deserialize)]
    struct Row {
        id: String,
        gametype: String,
        moves: Vec<String>,
        first_threefold_ply: usize,
    }
    let mut row_count = 0;
    for line in testdata::read("hive/repetition.jsonl").lines() {
        let row: Row = serde_json::from_str(line).expect("a row of golden data");
        let game_type = row.gametype.parse().expect("a game type");
        let hive = Hive::new(HiveRules { game_type, ply_limit: u32::MAX, ..HiveRules::default() });
        let mut position = hive.initial_position();
        for (index, text) in row.moves[..row.first_threefold_ply].iter().enumerate() {
            assert_eq!(hive.outcome(&position), None, "{} after {index} plies", row.id);
            let mv = hive.parse_move(&position, text).unwrap_or_else(|error| panic!("{}: {error}", row.id));
            hive.play(&mut position, mv);
        }
        assert_eq!(GameState::of(&hive, &position), GameState::Draw, "{}", row.id);
        assert!(!hive.is_cut_off(&position));
        row_count += 1;
    }
    assert_eq!(row_count, 16);
}

#[test]
fn perft_from_the_start_agrees() {
    let mut row_count = 0;
    for line in testdata::read("hive/perft.tsv").lines().skip(1) {
        let fields: Vec<_> = line.split('\t').collect();
        let (depth, expected): (u32, u64) = (fields[1].parse().expect("depth"), fields[2].parse().expect("nodes"));
        if expected <= LEAF_COUNT_MAX {
            let hive = hive(fields[0].parse().expect("a game type"));
            assert_eq!(hive.perft(&hive.initial_position(), depth), expected, "{} to depth {depth}", fields[0]);
            row_count += 1;
        }
    }
    assert_eq!(row_count, 47, "rows of at most {LEAF_COUNT_MAX} leaves");
}

#[test]
fn perft_from_midgames_agrees() {
    let mut row_count = 0;
    for line in testdata::read("hive/perft_positions.tsv").lines().skip(1) {
        let fields: Vec<_> = line.split('\t').collect();
        let (depth, expected): (u32, u64) = (fields[1].parse().expect("depth"), fields[2].parse().expect("nodes"));
        if expected <= LEAF_COUNT_MAX {
            let (hive, position, _) = replay(fields[4]);
            assert_eq!(hive.perft(&position, depth), expected, "{} to depth {depth}", fields[0]);
            row_count += 1;
        }
    }
    assert_eq!(row_count, 74, "rows of at most {LEAF_COUNT_MAX} leaves");
}

#[test]
fn human_games_replay() {
    let games = testdata::read("bga/games.uhp");
    let mut game_count = 0;
    let mut legal_counts = [0, 0];
    for line in games.lines() {
        let game: GameString = line.parse().unwrap_or_else(|error| panic!("{line}: {error}"));
        for (legal_count, queen_first_allowed) in legal_counts.iter_mut().zip([false, true]) {
            let hive = Hive::new(HiveRules { queen_first_allowed, ..*hive(game.game_type).rules() });
            *legal_count += usize::from(game.replay(&hive).is_ok());
        }
        game_count += 1;
    }
    // The rest open with a queen.
    assert_eq!((game_count, legal_counts), (5_167, [5_150, 5_167]));
}

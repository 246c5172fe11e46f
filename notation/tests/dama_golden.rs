//! Italian draughts against facts on which other programs agree: `testdata/dama`, see its README.

use std::collections::{BTreeMap, BTreeSet};

use notation::dama::{hub, pdn};
use serde::Deserialize;
use shared::game::dama::fen;
use shared::game::dama::text::{format_move, format_route, format_with_captured};
use shared::game::dama::{Counting, Dama, Move, Position, perft};
use shared::game::{Game, Outcome, Side};

/// Perft rows above this many leaves are left to a release build: `alveare perft --game dama`.
const LEAF_COUNT_MAX: u64 = 20_000_000;

fn read(name: &str) -> String {
    testdata::read(&format!("dama/{name}"))
}

fn position(text: &str, quiet: u32) -> Position {
    let read = fen::read(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    Position::new(*read.board(), read.side_to_move(), quiet)
}

fn fen(position: &Position) -> String {
    fen::write(position.board(), position.side_to_move())
}

fn legal(position: &Position) -> Vec<Move> {
    let mut moves = Vec::new();
    Dama::default().legal_moves(position, &mut moves);
    moves
}

fn after(position: &Position, mv: Move) -> Position {
    let mut after = position.clone();
    Dama::default().play(&mut after, mv);
    after
}

fn result(outcome: Option<Outcome>) -> Option<&'static str> {
    outcome.map(|outcome| match outcome {
        Outcome::Win(Side::White) => "1-0",
        Outcome::Win(Side::Black) => "0-1",
        Outcome::Draw => "1/2-1/2",
    })
}

/// Every way to make each legal move, with all squares visited, and the move.
fn ways(position: &Position) -> Vec<(String, Move)> {
    let routes = Dama::default().routes(position);
    if routes.is_empty() {
        let name = |mv: Move| (format_move(&Dama::default(), position, mv), mv);
        return legal(position).into_iter().map(name).collect();
    }
    routes.iter().map(|route| (format_route(route), route.mv)).collect()
}

#[derive(Deserialize)]
struct Row {
    id: String,
    fen: String,
    quiet: u32,
    n_moves: usize,
    n_results: usize,
    over: Option<String>,
    moves: Vec<RowMove>,
}

#[derive(Deserialize)]
struct RowMove {
    #[serde(rename = "move")]
    text: String,
    captured: Vec<u8>,
    promotes: bool,
    after: String,
    after_quiet: u32,
    wins: bool,
}

fn check_row(row: &Row) {
    let (id, position) = (&row.id, position(&row.fen, row.quiet));
    assert_eq!(fen(&position), row.fen, "{id}: written as read");
    let on_wire = hub::read(&hub::write(position.board(), position.side_to_move())).expect("hub position");
    assert_eq!(fen(&on_wire), row.fen, "{id}: as the hub protocol has it");
    let ways: BTreeMap<String, Move> = ways(&position).into_iter().collect();
    let texts: BTreeSet<_> = ways.keys().cloned().collect();
    assert_eq!(texts, row.moves.iter().map(|mv| mv.text.clone()).collect(), "{id}: ways to move");
    assert_eq!(texts.len(), row.n_moves, "{id}");
    let moves = legal(&position);
    assert_eq!(moves.len(), row.n_results, "{id}: moves by result");
    assert_eq!(result(Dama::default().outcome(&position)), row.over.as_deref(), "{id}: outcome");
    for expected in &row.moves {
        let mv = ways[&expected.text];
        assert!(moves.contains(&mv), "{id}: {}", expected.text);
        check_move(row, expected, &position, mv);
    }
    for mv in moves {
        let text = format_move(&Dama::default(), &position, mv);
        for text in [text, format_with_captured(mv)] {
            assert_eq!(Dama::default().parse_move(&position, &text), Ok(mv), "{id}: {text}");
        }
    }
}

fn check_move(row: &Row, expected: &RowMove, position: &Position, mv: Move) {
    let (id, text) = (&row.id, &expected.text);
    assert_eq!(Dama::default().parse_move(position, text), Ok(mv), "{id}: {text} read");
    let captured = expected.captured.iter().fold(0, |set, square| set | 1 << (square - 1));
    assert_eq!(mv.captured(), captured, "{id}: {text}");
    let after = after(position, mv);
    assert_eq!(fen(&after), expected.after, "{id}: after {text}");
    assert_eq!(after.quiet_ply_count(), expected.after_quiet, "{id}: after {text}");
    let kings = |position: &Position| position.board().kings(Side::White) | position.board().kings(Side::Black);
    let is_promoted = kings(position) & mv.source().bit() == 0 && kings(&after) & mv.target().bit() != 0;
    assert_eq!(is_promoted, expected.promotes, "{id}: {text}");
    let is_won = matches!(Dama::default().outcome(&after), Some(Outcome::Win(_)));
    assert_eq!(is_won, expected.wins, "{id}: {text}");
}

#[test]
fn positions_have_the_agreed_moves() {
    let mut row_count = 0;
    for line in read("positions.jsonl").lines() {
        check_row(&serde_json::from_str(line).expect("a row of golden data"));
        row_count += 1;
    }
    assert_eq!(row_count, 600);
}

#[derive(Deserialize)]
struct Tricky {
    id: String,
    kind: String,
    title: String,
    fen: String,
    quiet: u32,
    #[serde(default)]
    legal: Vec<String>,
    #[serde(default)]
    illegal: Vec<String>,
    results: Option<usize>,
    over: Option<String>,
    #[serde(default)]
    after: BTreeMap<String, String>,
    #[serde(default)]
    steps: Vec<Step>,
}

#[derive(Deserialize)]
struct Step {
    #[serde(rename = "move")]
    text: String,
    fen: String,
    quiet: u32,
    occurrence: u32,
    result: Option<String>,
}

fn check_moves(row: &Tricky) {
    let (id, position, dama) = (format!("{}, {}", row.id, row.title), position(&row.fen, row.quiet), Dama::default());
    let ways: BTreeMap<String, Move> = ways(&position).into_iter().collect();
    assert_eq!(
        ways.keys().collect::<Vec<_>>(),
        row.legal.iter().collect::<BTreeSet<_>>().into_iter().collect::<Vec<_>>(),
        "{id}"
    );
    assert_eq!(Some(legal(&position).len()), row.results, "{id}: moves by result");
    assert_eq!(result(dama.outcome(&position)), row.over.as_deref(), "{id}: outcome");
    for text in &row.illegal {
        // Start and end alone may name a longer capture.
        let is_short = |mv: Move| text.matches('x').count() == 1 && mv.captured().count_ones() > 1;
        assert!(dama.parse_move(&position, text).map_or(true, is_short), "{id}: {text} must be refused");
    }
    for (text, expected) in &row.after {
        assert_eq!(fen(&after(&position, ways[text])), *expected, "{id}: after {text}");
    }
}

fn check_line(row: &Tricky) {
    let (id, mut position, dama) =
        (format!("{}, {}", row.id, row.title), position(&row.fen, row.quiet), Dama::default());
    for step in &row.steps {
        let mv = dama.parse_move(&position, &step.text).unwrap_or_else(|error| panic!("{id}: {error}"));
        dama.play(&mut position, mv);
        let counts = (position.quiet_ply_count(), position.occurrence_count());
        assert_eq!((fen(&position), counts), (step.fen.clone(), (step.quiet, step.occurrence)), "{id}: {}", step.text);
        assert_eq!(result(dama.outcome(&position)), step.result.as_deref(), "{id}: {}", step.text);
    }
}

#[test]
fn tricky_positions_have_the_agreed_moves_and_results() {
    let mut kinds = BTreeMap::new();
    for line in read("tricky.jsonl").lines() {
        let row: Tricky = serde_json::from_str(line).expect("a row of golden data");
        match row.kind.as_str() {
            "moves" => check_moves(&row),
            "line" => check_line(&row),
            other => panic!("{}: kind {other}", row.id),
        }
        *kinds.entry(row.kind).or_insert(0) += 1;
    }
    assert_eq!(kinds, BTreeMap::from([("moves".to_owned(), 42), ("line".to_owned(), 6)]));
}

#[test]
fn perft_agrees() {
    let mut row_count = 0;
    for line in read("perft.tsv").lines().skip(1) {
        let fields: Vec<_> = line.split('\t').collect();
        let (depth, expected): (u32, u64) = (fields[2].parse().expect("depth"), fields[4].parse().expect("nodes"));
        let counting = if fields[3] == "paths" { Counting::Paths } else { Counting::Results };
        if expected <= LEAF_COUNT_MAX {
            let start = position(fields[1], 0);
            let found = perft(start.board(), start.side_to_move(), depth, counting);
            assert_eq!(found, expected, "{} to depth {depth}, {}", fields[0], fields[3]);
            row_count += 1;
        }
    }
    assert!(row_count > 200, "{row_count} rows of at most {LEAF_COUNT_MAX} leaves");
}

#[test]
fn championship_games_replay() {
    let text = read("pdn/games.pdn");
    let games: Vec<_> = pdn::read(&text).collect();
    let told = read("pdn/games.tsv");
    let rows: Vec<Vec<&str>> = told.lines().skip(1).map(|line| line.split('\t').collect()).collect();
    assert_eq!((games.len(), rows.len()), (35, 35));
    let mut ply_count = 0;
    for (game, row) in games.into_iter().zip(rows) {
        let game = game.unwrap_or_else(|error| panic!("game {}: {error}", row[0]));
        ply_count += game.moves.len();
        assert_eq!(game.moves.len().to_string(), row[1], "game {}: plies", row[0]);
        assert_eq!(result(game.result), Some(row[2]), "game {}: result", row[0]);
        assert_eq!(
            result(Dama::default().outcome(&game.end())).unwrap_or("-"),
            row[3],
            "game {}: on the board",
            row[0]
        );
        assert_eq!(fen(&game.end()), row[4], "game {}: final position", row[0]);
        let again: Vec<_> = pdn::read(&pdn::write(&game)).collect::<Result<_, _>>().expect("what was written is read");
        assert_eq!((again.len(), &again[0].moves, again[0].result), (1, &game.moves, game.result), "game {}", row[0]);
        assert_eq!(again[0].tag("White"), game.tag("White"));
    }
    assert_eq!(ply_count, 2256);
}

/// Where the golden data leaves out what programs disagree about, these rules follow the one-by-one comparison.
#[test]
fn priority_4_compares_piece_by_piece() {
    let ways_of = |text: &str| ways(&position(text, 0)).into_iter().map(|(way, _)| way).collect::<Vec<_>>();
    assert_eq!(ways_of("W:WK11,K28:B5,K6,7,14,K15,22,23"), ["11x20x27x18x11x2x9"]);
    let ways = ways_of("W:WK1,K19:BK5,K6,7,13,K14,15,K20,K21,K22,K23,K29");
    assert!(ways.iter().all(|way| way.starts_with("19x26x17x10")), "{ways:?}");
}

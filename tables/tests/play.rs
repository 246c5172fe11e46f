//! A search with tables keeps what they hold: it loses no drawn position and wins the won ones.
//!
//! More positions, of all tables in a folder:
//! `PLAY_POSITIONS=200 PLAY_TABLES=DIR cargo test -p tables --test play -- --nocapture`.

use std::path::Path;
use std::sync::Arc;

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use shared::game::dama::{Board, Dama, Move, Position, fen};
use shared::game::{Game, Outcome, Side};
use shared::search::{ParallelSearch, SearchPreset, SharedOracle, simulate};
use tables::{ClassTable, TableOracle, TableSet, TableValue, classes_of, folder, random_position, solve};

/// Simulations of either side.
const SIMULATIONS: u32 = 400;

fn tables() -> TableSet {
    if let Ok(path) = std::env::var("PLAY_TABLES") {
        return folder::open(Path::new(&path)).expect("tables").0;
    }
    let mut tables = TableSet::default();
    for class in (2..=3).flat_map(classes_of) {
        let table = solve(class, &tables, &mut |_| {});
        tables.insert(table);
    }
    tables
}

fn position_count() -> usize {
    std::env::var("PLAY_POSITIONS").ok().and_then(|text| text.parse().ok()).unwrap_or(6)
}

/// Returns random positions whose value `is_wanted`, with no capture to be made: as many of each class as of another.
fn positions(tables: &TableSet, is_wanted: fn(TableValue) -> bool, seed: u64) -> Vec<(Board, Side)> {
    let classes: Vec<&ClassTable> = tables.tables().collect();
    let mut random = Pcg64Mcg::seed_from_u64(seed);
    let draw = || random_position(classes[random.random_range(0..classes.len())], random.random());
    let is_good = |(board, side): &(Board, Side)| {
        let mut moves = vec![];
        board.moves(*side, &mut moves);
        tables.value(board, *side).is_some_and(is_wanted) && moves.first().is_some_and(|mv| !mv.is_capture())
    };
    std::iter::repeat_with(draw).flatten().filter(is_good).take(position_count()).collect()
}

/// Chooses a move by 400 simulations with random rollouts.
fn choose(position: &Position, oracle: Option<SharedOracle<Dama>>, seed: u64) -> Move {
    let preset = SearchPreset::Vanilla;
    let settings = preset.settings(SIMULATIONS);
    let search = ParallelSearch::new(Dama::default(), position.clone(), preset.rule(), settings, seed);
    let mut search = search.expect("a game that goes on").with_oracle(oracle);
    let mut evaluator = preset.evaluator::<Dama>(seed);
    let mut thread = search.thread(0);
    while simulate(&mut thread, &mut *evaluator).expect("rollouts do not fail") {}
    drop(thread);
    search.choose_move().expect("a move was tried")
}

/// Plays to the end; `side` has the tables.
fn play(start: (Board, Side), side: Side, oracle: &SharedOracle<Dama>, seed: u64) -> Outcome {
    let (dama, mut position) = (Dama::default(), Position::new(start.0, start.1, 0));
    loop {
        if let Some(outcome) = dama.outcome(&position) {
            return outcome;
        }
        let oracle = (position.side_to_move() == side).then(|| oracle.clone());
        let mv = choose(&position, oracle, seed + u64::from(position.ply()));
        dama.play(&mut position, mv);
    }
}

#[test]
fn drawn_positions_are_not_lost() {
    let tables = tables();
    let starts = positions(&tables, |value| value == TableValue::Draw, 1);
    let oracle: SharedOracle<Dama> = Arc::new(TableOracle::new(tables));
    let mut won_count = 0;
    for (index, start) in starts.iter().enumerate() {
        let side = [Side::White, Side::Black][index % 2];
        let outcome = play(*start, side, &oracle, index as u64);
        assert_ne!(outcome, Outcome::Win(side.opponent()), "{}", fen::write(&start.0, start.1));
        won_count += usize::from(outcome == Outcome::Win(side));
    }
    println!("{} drawn positions: none lost, {won_count} won", starts.len());
}

#[test]
fn won_positions_are_won() {
    let tables = tables();
    let starts = positions(&tables, |value| matches!(value, TableValue::Win(3..)), 2);
    let oracle: SharedOracle<Dama> = Arc::new(TableOracle::new(tables));
    let is_won = |(index, start): (usize, &(Board, Side))| {
        let outcome = play(*start, start.1, &oracle, index as u64);
        println!("{}: {outcome:?}", fen::write(&start.0, start.1));
        outcome == Outcome::Win(start.1)
    };
    let won_count = starts.iter().enumerate().filter(|it| is_won(*it)).count();
    println!("{won_count} of {} won positions won", starts.len());
    assert_eq!(won_count, starts.len());
}

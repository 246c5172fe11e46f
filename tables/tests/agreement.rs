//! The tables against a search to the end that knows nothing of them: minimax by the rules, over pieces, side to move and
//! quiet plies.
//!
//! A position that comes up for the third time needs no place in it: whoever wins comes closer with each ply and repeats
//! nothing, and a draw that ends sooner is still one. More positions, of more pieces:
//! `AGREEMENT_POSITIONS=10000 AGREEMENT_PIECES=4 cargo test -p tables --test agreement -- --nocapture`.

use std::collections::HashMap;

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use shared::game::dama::{Board, Dama, fen};
use shared::game::{Side, Value};
use tables::{DISTANCE_MAX, TableSet, TableValue, classes_of, random_position, solve};

/// What is known of a position: up to how many quiet plies it is won or lost, and from how many on it is drawn.
#[derive(Clone, Copy)]
struct Known {
    won_to: i8,
    lost_to: i8,
    drawn_from: i8,
}

impl Default for Known {
    fn default() -> Self {
        Self { won_to: -1, lost_to: -1, drawn_from: i8::MAX }
    }
}

/// Minimax with a memory. The later the draw by quiet plies, the more can be won: what holds for some holds for fewer.
#[derive(Default)]
struct Minimax(HashMap<(Board, bool), Known>);

impl Minimax {
    /// Returns what `side`, which is to move, has after so many quiet plies.
    fn value(&mut self, board: &Board, side: Side, quiet: i8) -> i8 {
        let mut moves = vec![];
        board.moves(side, &mut moves);
        if moves.is_empty() {
            return -1;
        }
        if quiet >= Dama::QUIET_PLY_LIMIT as i8 {
            return 0;
        }
        let key = (*board, side == Side::White);
        let known = self.0.get(&key).copied().unwrap_or_default();
        let told = [(quiet <= known.won_to, 1), (quiet <= known.lost_to, -1), (quiet >= known.drawn_from, 0)];
        if let Some((_, value)) = told.into_iter().find(|(is_known, _)| *is_known) {
            return value;
        }
        let mut best = -1;
        for mv in moves {
            let mut after = *board;
            let quiet = if after.play(side, mv) { 0 } else { quiet + 1 };
            best = best.max(-self.value(&after, side.opponent(), quiet));
            if best == 1 {
                break;
            }
        }
        let known = self.0.entry(key).or_default();
        match best {
            1 => known.won_to = known.won_to.max(quiet),
            -1 => known.lost_to = known.lost_to.max(quiet),
            _ => known.drawn_from = known.drawn_from.min(quiet),
        }
        best
    }
}

fn number(name: &str, usual: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}

fn solved(piece_count: u8) -> TableSet {
    let mut tables = TableSet::default();
    for class in (2..=piece_count).flat_map(classes_of) {
        let table = solve(class, &tables, &mut |_| {});
        tables.insert(table);
    }
    tables
}

/// What the tables say of a position after so many quiet plies.
fn of_tables(value: TableValue, quiet: i8) -> i8 {
    let is_in_time = |distance: u8| quiet as u8 + distance <= DISTANCE_MAX;
    match value {
        TableValue::Win(distance) => i8::from(is_in_time(distance)),
        TableValue::Loss(distance) => -i8::from(distance == 0 || is_in_time(distance)),
        TableValue::Draw => 0,
    }
}

#[test]
fn tables_agree_with_minimax() {
    let (count, piece_count) = (number("AGREEMENT_POSITIONS", 300), number("AGREEMENT_PIECES", 3));
    let check = move || {
        let tables = solved(piece_count as u8);
        let classes: Vec<_> = (2..=piece_count as u8).flat_map(classes_of).filter_map(|it| tables.table(it)).collect();
        let mut random = Pcg64Mcg::seed_from_u64(7);
        let (mut minimax, mut results) = (Minimax::default(), [0_u64; 3]);
        for index in 0..count {
            let table = classes[random.random_range(0..classes.len())];
            let (board, side) = random_position(table, random.random()).expect("a position");
            // Every other position is asked about late, when only what is near is still won.
            let quiet = if index % 2 == 0 { 0 } else { random.random_range(0..Dama::QUIET_PLY_LIMIT as i8) };
            let held = of_tables(tables.value(&board, side).expect("it is in a table"), quiet);
            let text = fen::write(&board, side);
            assert_eq!(minimax.value(&board, side, quiet), held, "{text} after {quiet} quiet plies");
            results[(held + 1) as usize] += 1;
        }
        println!("{count} positions of up to {piece_count} pieces agree, lost, drawn and won: {results:?}");
        assert!(results.iter().all(|result| *result > count / 50), "{results:?}");
        assert_eq!(Value::DRAW.get(), 0.0);
    };
    // Some thousand plies down.
    let thread = std::thread::Builder::new().stack_size(2 << 30).spawn(check).expect("a thread");
    thread.join().expect("they agree");
}

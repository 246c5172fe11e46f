//! Moves of Italian draughts in random play, and perft. Every bench asserts its counts.
//!
//! Aim on one core: 60 million leaves a second from the start to depth 11.

use divan::Bencher;
use divan::counter::ItemsCount;
use shared::game::dama::{Board, Counting, Dama, Move, Position, perft};
use shared::game::{Game, Side};

fn main() {
    divan::main();
}

const POSITION_COUNT: usize = 1024;

/// Positions of random games, and their moves.
fn positions() -> Vec<(Position, Vec<Move>)> {
    let (dama, mut random) = (Dama::default(), 1_u64);
    let mut positions = Vec::new();
    while positions.len() < POSITION_COUNT {
        let mut position = dama.initial_position();
        while dama.outcome(&position).is_none() {
            let mut moves = Vec::new();
            dama.legal_moves(&position, &mut moves);
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let mv = moves[(random >> 33) as usize % moves.len()];
            positions.push((position.clone(), moves));
            dama.play(&mut position, mv);
        }
    }
    positions.truncate(POSITION_COUNT);
    positions
}

/// Times `work` on one position after the other.
fn bench_each(bencher: Bencher<'_, '_>, mut work: impl FnMut(&Dama, &Position, &[Move]) -> bool) {
    let (dama, positions, mut next) = (Dama::default(), positions(), 0);
    bencher.bench_local(|| {
        next = (next + 1) % POSITION_COUNT;
        let (position, moves) = &positions[next];
        assert!(work(&dama, position, moves));
    });
}

#[divan::bench(sample_size = 1024)]
fn legal_moves(bencher: Bencher<'_, '_>) {
    let mut list = Vec::new();
    bench_each(bencher, |dama, position, moves| {
        list.clear();
        dama.legal_moves(position, &mut list);
        list.len() == moves.len()
    });
}

#[divan::bench(sample_size = 1024)]
fn clone_play_outcome(bencher: Bencher<'_, '_>) {
    let mut copy = Dama::default().initial_position();
    let mut turn = 0;
    bench_each(bencher, |dama, position, moves| {
        turn += 1;
        copy.clone_from(position);
        dama.play(&mut copy, moves[turn % moves.len()]);
        divan::black_box(dama.outcome(&copy));
        copy.ply() == position.ply() + 1
    });
}

/// A random game from the start to its end; the counter tells plies.
#[divan::bench(sample_size = 16)]
fn random_game(bencher: Bencher<'_, '_>) {
    let (dama, start) = (Dama::default(), Dama::default().initial_position());
    let (mut position, mut moves) = (start.clone(), Vec::new());
    bencher.counter(ItemsCount::new(GAME_PLY_COUNT)).bench_local(|| {
        let mut random = 5_u64;
        position.clone_from(&start);
        loop {
            moves.clear();
            dama.legal_moves(&position, &mut moves);
            if moves.is_empty() {
                break;
            }
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            dama.play(&mut position, moves[(random >> 33) as usize % moves.len()]);
        }
        assert_eq!(position.ply() as usize, GAME_PLY_COUNT);
    });
}

const GAME_PLY_COUNT: usize = 101;

/// 81,647,058 leaves from the start, by ways to capture.
#[divan::bench(sample_count = 5)]
fn perft_11(bencher: Bencher<'_, '_>) {
    bencher.counter(ItemsCount::new(81_647_058_usize)).bench_local(|| {
        assert_eq!(perft(&Board::START, Side::White, 11, Counting::Paths), 81_647_058);
    });
}

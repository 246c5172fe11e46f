//! Moves of Hive in midgames of human games, and perft. Every bench asserts its counts.
//!
//! Aims on one core: a list of moves in 1.1 us, a copy in 150 ns.

mod support;

use divan::Bencher;
use shared::game::Game;
use shared::game::hive::{Cell, GameType, Hive, HiveRules, Move, Piece, Position};
use support::{hive_game, replay};

fn main() {
    divan::main();
}

struct Midgame {
    position: Position,
    moves: Vec<Move>,
    pieces: Vec<(Piece, Cell, u8)>,
}

fn hive() -> Hive {
    Hive::new(HiveRules { game_type: GameType::MLP, ..HiveRules::default() })
}

/// Positions of human games after 20, 30, 40 and 50 plies.
fn midgames() -> Vec<Midgame> {
    let games = testdata::read("bga/games.uhp");
    let hive = hive();
    let mut midgames = Vec::new();
    for line in games.lines().step_by(40) {
        let (game_type, texts) = hive_game(line);
        for ply in [20, 30, 40, 50].into_iter().filter(|ply| *ply < texts.len()) {
            // Games of other types, and those that open with a queen, are left out.
            let is_same_type = hive.rules().game_type == game_type;
            let Some(position) = is_same_type.then(|| replay(&hive, &texts[..ply])).flatten() else { continue };
            let mut moves = Vec::new();
            hive.legal_moves(&position, &mut moves);
            if !moves.is_empty() {
                let at = |piece| Some((piece, position.cell_of(piece)?, position.level_of(piece)));
                midgames.push(Midgame { pieces: position.pieces().filter_map(at).collect(), moves, position });
            }
        }
    }
    assert_eq!(midgames.len(), MIDGAME_COUNT);
    midgames
}

const MIDGAME_COUNT: usize = 380;

/// Times `work` on one midgame after the other.
fn bench_each(bencher: Bencher<'_, '_>, mut work: impl FnMut(&Hive, &Midgame) -> bool) {
    let (hive, midgames) = (hive(), midgames());
    let mut next = 0;
    bencher.bench_local(|| {
        next = (next + 1) % MIDGAME_COUNT;
        assert!(work(&hive, &midgames[next]));
    });
}

#[divan::bench(sample_size = 380)]
fn legal_moves(bencher: Bencher<'_, '_>) {
    let mut moves = Vec::new();
    bench_each(bencher, |hive, midgame| {
        moves.clear();
        hive.legal_moves(&midgame.position, &mut moves);
        moves.len() == midgame.moves.len()
    });
}

#[divan::bench(sample_size = 380)]
fn move_count(bencher: Bencher<'_, '_>) {
    bench_each(bencher, |hive, midgame| hive.move_count(&midgame.position) == midgame.moves.len());
}

#[divan::bench(sample_size = 380)]
fn clone_from(bencher: Bencher<'_, '_>) {
    let mut copy = hive().initial_position();
    bench_each(bencher, |_, midgame| {
        divan::black_box(&mut copy).clone_from(&midgame.position);
        copy.ply() == midgame.position.ply()
    });
}

#[divan::bench(sample_size = 380)]
fn clone_play_outcome(bencher: Bencher<'_, '_>) {
    let mut copy = hive().initial_position();
    let mut turn = 0;
    bench_each(bencher, |hive, midgame| {
        turn += 1;
        copy.clone_from(&midgame.position);
        hive.play(&mut copy, midgame.moves[turn % midgame.moves.len()]);
        divan::black_box(hive.outcome(&copy));
        copy.ply() == midgame.position.ply() + 1
    });
}

#[divan::bench(sample_size = 380)]
fn outcome(bencher: Bencher<'_, '_>) {
    bench_each(bencher, |hive, midgame| hive.outcome(divan::black_box(&midgame.position)).is_none());
}

#[divan::bench(sample_size = 380)]
fn rebuild(bencher: Bencher<'_, '_>) {
    let mut position = hive().initial_position();
    bench_each(bencher, |hive, midgame| {
        let (ply, last_moved) = (midgame.position.ply(), midgame.position.last_moved());
        position.rebuild(hive.rules(), &midgame.pieces, ply, last_moved).is_ok()
    });
}

/// 5,427,108 leaves from the start of Base+MLP.
#[divan::bench(sample_count = 10)]
fn perft_5(bencher: Bencher<'_, '_>) {
    let hive = hive();
    let position = hive.initial_position();
    bencher.bench_local(|| assert_eq!(hive.perft(&position, 5), 5_427_108));
}

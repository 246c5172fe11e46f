//! Encoding of Hive in midgame positions of human games. Every bench asserts its result.
//!
//! Bars: 512 samples turned and encoded in 30 ms; aims: encode 3 us, 60 policy indices 1.5 us, unpack 0.5 us.

use divan::Bencher;
use shared::encoding::hive::HiveEncoding;
use shared::encoding::{Encoding, SparsePlanes, Symmetry, TrainingBatch};
use shared::game::Game;
use shared::game::hive::{Hive, HiveRules, Move, Position};
use shared::record::PolicyTarget;
use shared::record::batch::{SampleScratch, StoredSample, push_sample};

fn main() {
    divan::main();
}

const POSITION_COUNT: usize = 512;

/// A position with its moves, indices, packed form and a policy target.
struct Midgame {
    position: Position,
    moves: Vec<Move>,
    policy_indices: Vec<u16>,
    packed: Vec<u8>,
    policy_target: Vec<u8>,
}

fn encoding() -> HiveEncoding {
    HiveEncoding::new(Hive::new(HiveRules { queen_first_allowed: true, ..HiveRules::default() }), 16)
}

/// One position of each of 512 games, plies 20 to 60.
fn midgames(encoding: &HiveEncoding) -> Vec<Midgame> {
    let games = testdata::read("bga/games.uhp");
    let midgames: Vec<Midgame> = games
        .lines()
        .enumerate()
        .filter_map(|(number, line)| midgame(encoding, line, 20 + number % 41))
        .take(POSITION_COUNT)
        .collect();
    assert_eq!(midgames.len(), POSITION_COUNT);
    midgames
}

fn midgame(encoding: &HiveEncoding, line: &str, ply_count: usize) -> Option<Midgame> {
    let game = encoding.game();
    let mut position = game.initial_position();
    let texts: Vec<&str> = line.split(';').skip(3).collect();
    for text in texts.get(..ply_count)? {
        let mv = game.parse_move(&position, text).ok()?;
        game.play(&mut position, mv);
    }
    let (mut moves, mut policy_indices, mut packed) = (Vec::new(), Vec::new(), Vec::new());
    game.legal_moves(&position, &mut moves);
    encoding.policy_indices(&position, &moves, &mut policy_indices);
    encoding.pack(&position, &mut packed);
    let visits = policy_indices.iter().enumerate().map(|(number, index)| (*index, number as u32 % 7 + 1));
    let policy_target = PolicyTarget::from_visits(visits).ok()?.to_bytes();
    Some(Midgame { position, moves, policy_indices, packed, policy_target })
}

/// Benches `work` on one position after the other; the result of each is a number that must not be 0.
fn bench_each(bencher: Bencher<'_, '_>, mut work: impl FnMut(&HiveEncoding, &Midgame) -> usize) {
    let encoding = encoding();
    let midgames = midgames(&encoding);
    let mut next = 0;
    bencher.bench_local(|| {
        next = (next + 1) % POSITION_COUNT;
        assert_ne!(work(&encoding, &midgames[next]), 0);
    });
}

#[divan::bench]
fn show(bencher: Bencher<'_, '_>) {
    let mut planes = SparsePlanes { uniform_planes: encoding().uniform_planes(), ..SparsePlanes::default() };
    bench_each(bencher, |encoding, midgame| {
        planes.clear();
        encoding.show(&midgame.position, &mut planes);
        usize::from(planes.uniform_numbers[2] > 0.09)
    });
}

#[divan::bench]
fn policy_indices(bencher: Bencher<'_, '_>) {
    let mut indices = Vec::new();
    bench_each(bencher, |encoding, midgame| {
        indices.clear();
        encoding.policy_indices(&midgame.position, &midgame.moves, &mut indices);
        usize::from(indices == midgame.policy_indices)
    });
}

#[divan::bench]
fn move_cells(bencher: Bencher<'_, '_>) {
    let mut cells = Vec::new();
    bench_each(bencher, |encoding, midgame| {
        cells.clear();
        encoding.move_cells(&midgame.position, &midgame.policy_indices, &mut cells).expect("indices of legal moves");
        cells.len()
    });
}

#[divan::bench]
fn pack(bencher: Bencher<'_, '_>) {
    let mut bytes = Vec::new();
    bench_each(bencher, |encoding, midgame| {
        bytes.clear();
        encoding.pack(&midgame.position, &mut bytes);
        usize::from(bytes == midgame.packed)
    });
}

#[divan::bench]
fn unpack(bencher: Bencher<'_, '_>) {
    let mut position = encoding().game().initial_position();
    bench_each(bencher, |encoding, midgame| {
        encoding.unpack(&midgame.packed, &mut position).expect("just packed");
        position.ply() as usize
    });
}

/// 512 samples, each turned by one of the twelve symmetries, into one batch.
#[divan::bench]
fn batch_of_512(bencher: Bencher<'_, '_>) {
    let encoding = encoding();
    let midgames = midgames(&encoding);
    let (mut batch, mut scratch) = (TrainingBatch::default(), SampleScratch::new(&encoding));
    bencher.bench_local(|| {
        batch.clear();
        for (number, midgame) in midgames.iter().enumerate() {
            let sample = StoredSample {
                packed: &midgame.packed,
                policy_target: &midgame.policy_target,
                value_target: 1.0,
                outlook: None,
            };
            push_sample(&encoding, &sample, Symmetry((number % 12) as u8), &mut batch, &mut scratch)
                .expect("a good sample");
        }
        assert_eq!(batch.input.len(), POSITION_COUNT);
        assert_eq!(batch.input.planes.len(), POSITION_COUNT);
    });
}

/// The part of a batch that the rules take: the legal moves of each position.
#[divan::bench]
fn legal_moves(bencher: Bencher<'_, '_>) {
    let mut moves = Vec::new();
    bench_each(bencher, |encoding, midgame| {
        moves.clear();
        encoding.game().legal_moves(&midgame.position, &mut moves);
        usize::from(moves.len() == midgame.moves.len())
    });
}

//! The replay buffer on Hive: a batch sampled, turned and encoded; the buffer rebuilt at start; bytes a position.
//!
//! The games are random ones, and every legal move gets visits: policy targets are as long as they can be.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use divan::{Bencher, black_box};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use rayon::prelude::*;
use registry::rebuild;
use samples::buffer::{SampleBuffer, SampledGame, SharedReplay};
use samples::sampler::BatchSampler;
use shared::catalog::{GameSpec, GameVisitor};
use shared::encoding::{Encoding, TrainingBatch};
use shared::game::{Game, Outcome};
use shared::ids::{GameId, NetworkId};
use shared::record::{GameRecord, PlyRecord, PolicyTarget, replay};
use store::{Change, FinishedGame, NewGame, RunRow, Store, StoredResult};

const GAME: &str = r#"{"name":"hive","game_type":"Base+MLP"}"#;
/// Positions of a batch, as in training.
const BATCH: usize = 512;
/// Different games; larger numbers of positions are made of the same ones again.
const GAME_COUNT: u64 = 400;

fn main() {
    let spec: GameSpec = serde_json::from_str(GAME).expect("Hive is in the catalog");
    spec.visit(Footprint).expect("the rules are possible");
    divan::main();
}

/// Runs `visitor` for Hive.
fn on_hive<V: GameVisitor>(visitor: V) -> V::Output {
    serde_json::from_str::<GameSpec>(GAME).expect("Hive is in the catalog").visit(visitor).expect("possible rules")
}

/// Whether each benchmark only runs once, as CI has it.
fn is_test_mode() -> bool {
    std::env::args().any(|argument| argument == "--test")
}

/// Number of positions of the rebuilt buffer.
fn reload_sizes() -> Vec<u64> {
    if is_test_mode() { vec![5_000] } else { vec![500_000] }
}

#[divan::bench(sample_count = 20)]
fn sample_turn_and_encode_512(bencher: Bencher) {
    on_hive(Sampling(bencher));
}

#[divan::bench(args = reload_sizes(), sample_count = 1, sample_size = 1)]
fn reload(bencher: Bencher, position_count: u64) {
    on_hive(Reload { bencher, position_count });
}

/// Prints the bytes a position takes.
struct Footprint;

impl GameVisitor for Footprint {
    type Output = ();

    fn visit<E: Encoding>(self, encoding: E) {
        let games = random_games(&encoding, if is_test_mode() { 20 } else { GAME_COUNT });
        let buffer = buffer_of(&encoding, &games);
        let target_count: usize = games.iter().flat_map(|game| &game.plies).filter_map(move_count).sum();
        let positions = buffer.position_count();
        let bytes = buffer.mean_position_bytes();
        println!(
            "{positions} positions of random games, {:.1} visited moves a position: {bytes:.0} bytes a position",
            target_count as f64 / positions as f64
        );
        // Blocks are a megabyte each: a small buffer has room left in its last one.
        assert!(is_test_mode() || bytes <= 400.0, "at most 400 bytes a position");
    }
}

fn move_count(ply: &PlyRecord) -> Option<usize> {
    ply.policy_target.as_ref().map(|target| target.pairs().len())
}

/// Samples batches.
struct Sampling<'a, 'b>(Bencher<'a, 'b>);

impl GameVisitor for Sampling<'_, '_> {
    type Output = ();

    fn visit<E: Encoding>(self, encoding: E) {
        let games = random_games(&encoding, 100);
        let replay = SharedReplay::new(buffer_of(&encoding, &games));
        let window = replay.fix_window(u64::MAX, u64::MAX);
        let mut sampler = BatchSampler::new(encoding);
        let mut batch = TrainingBatch::default();
        let mut seed = 0;
        self.0.counter(divan::counter::ItemsCount::new(BATCH)).bench_local(|| {
            seed += 1;
            sampler.sample(&replay, window, BATCH, seed, &mut batch).expect("a batch");
            assert_eq!(black_box(&batch).input.len(), BATCH);
        });
    }
}

/// Rebuilds the buffer from a store.
struct Reload<'a, 'b> {
    bencher: Bencher<'a, 'b>,
    position_count: u64,
}

impl GameVisitor for Reload<'_, '_> {
    type Output = ();

    fn visit<E: Encoding>(self, encoding: E) {
        let run_dir = tempfile::tempdir().expect("a directory");
        let store = Arc::new(Store::open(run_dir.path(), &run_row()).expect("the store opens"));
        let games = random_games(&encoding, if is_test_mode() { 20 } else { GAME_COUNT });
        fill(&encoding, &store, &games, self.position_count, run_dir.path());
        self.bencher.bench_local(|| {
            let (buffer, report) =
                rebuild(&encoding, &store, SampleBuffer::new(self.position_count), u64::MAX).expect("rebuilt");
            assert_eq!((buffer.position_count(), report.quarantined_count), (self.position_count, 0));
        });
    }
}

fn run_row() -> RunRow {
    RunRow {
        run_id: "bench".into(),
        created_at: "2026-01-01T00:00:00Z".into(),
        game: GAME.into(),
        config: "{}".into(),
        seed: 1,
        start_network: None,
    }
}

/// Plays random games to their end, with targets on all legal moves.
fn random_games<E: Encoding>(encoding: &E, count: u64) -> Vec<GameRecord> {
    (0..count).into_par_iter().map(|seed| random_game(encoding, seed)).collect()
}

fn random_game<E: Encoding>(encoding: &E, seed: u64) -> GameRecord {
    let game = encoding.game();
    let mut rng = Pcg64::seed_from_u64(seed);
    let mut position = game.initial_position();
    let (mut moves, mut indices, mut plies) = (Vec::new(), Vec::new(), Vec::new());
    while game.outcome(&position).is_none() {
        moves.clear();
        indices.clear();
        game.legal_moves(&position, &mut moves);
        encoding.policy_indices(&position, &moves, &mut indices);
        let visits = indices.iter().map(|index| (*index, rng.random_range(1..30)));
        let policy_target = Some(PolicyTarget::from_visits(visits).expect("legal moves are visited"));
        let mv = moves[rng.random_range(0..moves.len())];
        let move_text = game.format_move(&position, mv);
        plies.push(PlyRecord {
            move_text,
            policy_target,
            root_value: 0.5,
            simulation_count: 800,
            network_id: Some(NetworkId::FIRST),
        });
        game.play(&mut position, mv);
    }
    GameRecord { plies, ..GameRecord::default() }
}

fn buffer_of<E: Encoding>(encoding: &E, games: &[GameRecord]) -> SampleBuffer {
    let mut buffer = SampleBuffer::new(500_000);
    for (finish_number, game) in (1..).zip(games) {
        let replayed = replay(encoding, game).expect("random play is legal");
        let game = SampledGame { samples: &replayed.samples, is_cut_off: replayed.is_cut_off };
        buffer.push_game(finish_number, game);
    }
    buffer
}

/// Stores games over and over until they have `position_count` positions.
fn fill<E: Encoding>(encoding: &E, store: &Store, games: &[GameRecord], position_count: u64, run_dir: &Path) {
    let start = Instant::now();
    let outcomes: Vec<Option<Outcome>> =
        games.par_iter().map(|game| replay(encoding, game).ok().and_then(|game| game.outcome)).collect();
    let (mut stored, mut game_count) = (0, 0);
    for (game, outcome) in games.iter().zip(outcomes).cycle() {
        if stored >= position_count {
            break;
        }
        game_count += 1;
        stored += game.plies.len() as u64;
        let outcome = outcome.expect("the game ended");
        // One commit a game would sync the disk for each: not what is measured here.
        let ack = store.submit(changes_of(game, game_count, outcome)).expect("queued");
        if game_count % 64 == 0 {
            ack.wait().expect("stored");
        }
    }
    store.write(Vec::new()).expect("all is stored");
    let bytes = std::fs::metadata(run_dir.join("alveare.db")).map_or(0, |file| file.len());
    println!("stored {stored} positions of {game_count} games in {:.1?}, {} MB", start.elapsed(), bytes / 1_000_000);
}

fn changes_of(game: &GameRecord, number: u64, outcome: Outcome) -> Vec<Change> {
    let game_id = GameId::new(number);
    let new_game = NewGame::self_play(game_id, 1, 0, "{}".into());
    let finished = FinishedGame {
        game_id,
        finish_number: number,
        result: StoredResult { outcome, is_cut_off: false, resignation: None },
        ply_count: game.plies.len() as u32,
        sample_count: game.plies.len() as u32,
        opening_hash: 0,
        final_hash: 0,
        moves_hash: 0,
        checksum: None,
    };
    let plies = (0..).zip(&game.plies).map(|(ply, record)| Change::AddPly { game_id, ply, record: record.clone() });
    std::iter::once(Change::CreateGame(new_game)).chain(plies).chain([Change::FinishGame(finished)]).collect()
}

//! The whole path of a leaf on one machine, with a network that answers at once: what gRPC, the stream, the threads
//! and the search carry when no GPU is in the way. Hive with all expansions. Every bench asserts its result.
//!
//! Bar: 400 bytes a leaf both ways together.

mod instant_learner;

use divan::Bencher;
use divan::counter::ItemsCount;
use fixtures::load_generator::{self, LoadSettings};
use instant_learner::{InstantLearner, SIMULATION_COUNT, Transport};
use proto::WorkerKind;
use tokio_util::sync::CancellationToken;
use worker::WorkerConfig;

fn main() {
    divan::main();
}

const LOAD_BATCHES: usize = 200;

/// Batches of midgame positions, as fast as the learner takes them: leaves a second.
#[divan::bench(args = [16, 64, 256, 1024], sample_count = 5, sample_size = 1)]
fn stream(bencher: Bencher, batch_leaves: usize) {
    measure_stream(bencher, batch_leaves, Transport::Clear);
}

/// The same by TLS.
#[divan::bench(args = [16, 64, 256, 1024], sample_count = 5, sample_size = 1)]
fn stream_by_tls(bencher: Bencher, batch_leaves: usize) {
    measure_stream(bencher, batch_leaves, Transport::Tls);
}

fn measure_stream(bencher: Bencher, batch_leaves: usize, transport: Transport) {
    let learner = InstantLearner::start(u64::MAX, transport);
    let target = load_generator::target(learner.address, learner.authority());
    let load = LoadSettings { batch_leaves, warm_up_batches: 10, batches: LOAD_BATCHES, plies: 20, seed: 1 };
    bencher.counter(ItemsCount::new(batch_leaves * LOAD_BATCHES)).bench_local(|| {
        let report = learner.runtime.block_on(load_generator::run(&target, load));
        assert_eq!(report.leaf_count as usize, batch_leaves * LOAD_BATCHES);
        assert!(report.leaves_per_second() > 0.0, "{report:?}");
        assert!(report.bytes_per_leaf <= 400.0 * (report.moves_per_leaf / 60.0).max(1.0), "{report:?}");
        report
    });
}

/// Plies that a worker plays in one measurement.
const PLY_COUNT: u64 = 400;

/// A worker with one search thread plays self-play games: simulations a second, through search, cache and gRPC.
#[divan::bench(args = [0, 64 << 20], sample_count = 3, sample_size = 1)]
fn self_play(bencher: Bencher, cache_bytes: usize) {
    measure_self_play(bencher, cache_bytes, Transport::Clear);
}

/// The same by TLS.
#[divan::bench(args = [0, 64 << 20], sample_count = 3, sample_size = 1)]
fn self_play_by_tls(bencher: Bencher, cache_bytes: usize) {
    measure_self_play(bencher, cache_bytes, Transport::Tls);
}

fn measure_self_play(bencher: Bencher, cache_bytes: usize, transport: Transport) {
    bencher.counter(ItemsCount::new(PLY_COUNT as usize * SIMULATION_COUNT as usize)).bench_local(|| {
        let learner = InstantLearner::start(PLY_COUNT, transport);
        let config = WorkerConfig { threads: 1, cache_bytes, ..learner.config() };
        let shutdown = CancellationToken::new();
        let settings = config.check(None).expect("settings");
        let summary = learner.runtime.block_on(async {
            let stop = async {
                learner.enough.cancelled().await;
                shutdown.cancel();
            };
            tokio::join!(worker::run(settings, WorkerKind::Actor, shutdown.clone()), stop).0
        });
        let summary = summary.expect("the worker ends well");
        assert!(summary.acknowledged_ply_count >= PLY_COUNT, "{summary:?}");
        assert_eq!(summary.dropped_game_count, 0, "{summary:?}");
        summary
    });
}

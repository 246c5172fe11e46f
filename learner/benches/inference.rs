//! What the way through gRPC costs: evaluations/s from a load generator through a whole learner, beside the same
//! network called in a loop; and what the way carries, and costs the learner, when the network answers at once.
//!
//! Bars: through gRPC at least 90 % of the loop, with the network of `hive-cpu` at the same batch size, and by TLS at least
//! 95 % of the evaluations/s in the clear, where the two are measured in turn and the median of the ratios counts, since
//! other programs' noise falls on both; and at most 5 us of the learner's processor time a leaf, from wire to wire, without
//! the network, and 150,000 leaves/s of two cores.

use std::path::{Path, PathBuf};
use std::time::Instant;

use fixtures::load_generator::{self, LoadReport, LoadSettings};
use inference::{InstantBackend, NetworkOutput};
use learner::certificates::FleetCertificates;
use learner::config::{InferenceConfig, LearnerConfig, LearnerSettings};
use learner::run::{run, run_with};
use net::{Device, InferenceNetwork, Network, NetworkSpec, Precision};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use runtime::layers::Sources;
use shared::catalog::GameVisitor;
use shared::encoding::{Encoding, NetworkInput};
use shared::game::Game;
use tokio_util::sync::CancellationToken;

/// Plies of random play before a position is taken: the middle of a game.
const PLIES: u32 = 20;
/// The certificate of the authority, beside that of the learner.
const AUTHORITY_FILE: &str = "authority.pem";

fn main() {
    let is_test = std::env::args().any(|argument| argument == "--test");
    let (round_count, batch_count) = if is_test { (1, 2) } else { (5, 40) };
    let only_path = std::env::args().any(|argument| argument == "path");
    if !only_path {
        compare(round_count, batch_count);
        compare_transports(round_count, batch_count, if is_test { 4 } else { 400 });
    }
    let (round_count, leaf_count) = if is_test { (1, 64) } else { (5, 600_000) };
    measure_path(round_count, leaf_count);
}

/// Prints evaluations/s of both ways, and their ratio.
fn compare(round_count: usize, batch_count: usize) {
    let (dir, config) = run_config();
    let leaf_count = config.inference.batch_leaves_max as usize;
    let mut ratios = Vec::new();
    println!("hive-cpu network, batches of {leaf_count}");
    println!("{:>22} {:>22} {:>8}", "through gRPC, leaves/s", "in a loop, leaves/s", "ratio");
    for _ in 0..round_count {
        let through = load(&config, leaf_count, batch_count, |config, listener, tokio, stop| {
            run(config, listener, tokio, stop).expect("the learner runs");
        });
        let in_loop = in_process(&config, &dir.path().join("networks/network-000001.safetensors"), batch_count);
        ratios.push(through.leaves_per_second() / in_loop);
        let ratio = ratios.last().copied().unwrap_or_default();
        println!("{:>22.0} {in_loop:>22.0} {ratio:>8.3}", through.leaves_per_second());
    }
    ratios.sort_by(f64::total_cmp);
    println!("median ratio {:.3} (bar 0.9)\n", ratios[ratios.len() / 2]);
}

/// Prints what the whole way carries, and what a leaf costs the learner's threads, with a network that answers at once.
fn measure_path(round_count: usize, leaf_count: usize) {
    println!("a network that answers at once");
    println!(
        "{:>8} {:>10} {:>12} {:>14} {:>14} {:>12}",
        "readers", "batch", "leaves/s", "moves a leaf", "bytes a leaf", "us a leaf"
    );
    let cases = [0, 1, 2].into_iter().flat_map(|readers| [16, 128, 1024].map(|batch_leaves| (readers, batch_leaves)));
    for (readers, batch_leaves) in cases {
        let batch_count = (leaf_count / batch_leaves).max(2);
        let reports = (0..round_count).map(|_| load_path(readers, batch_leaves, batch_count));
        let mut reports: Vec<LoadReport> = reports.collect();
        reports.sort_by(|a, b| a.processor_us_per_leaf().total_cmp(&b.processor_us_per_leaf()));
        let report = &reports[reports.len() / 2];
        let (moves, us) = (report.moves_per_leaf, report.processor_us_per_leaf());
        let (speed, bytes) = (report.leaves_per_second(), report.bytes_per_leaf);
        let by_threads = report
            .processor_times
            .iter()
            .filter(|(_, time)| !time.is_zero())
            .map(|(name, time)| format!("{name} {:.2}", time.as_secs_f64() * 1e6 / report.leaf_count as f64));
        let by_threads = by_threads.collect::<Vec<_>>().join(", ");
        println!("{readers:>8} {batch_leaves:>10} {speed:>12.0} {moves:>14.1} {bytes:>14.1} {us:>12.2}  {by_threads}");
    }
}

/// Prints evaluations/s in the clear and by TLS, and their ratio, with a real network and with one that answers at once.
fn compare_transports(round_count: usize, batch_count: usize, path_batch_count: usize) {
    let network = |config: &LearnerConfig| {
        let leaf_count = config.inference.batch_leaves_max as usize;
        load(config, leaf_count, batch_count, |config, listener, tokio, stop| {
            run(config, listener, tokio, stop).expect("the learner runs");
        })
    };
    compare_transport("the network of hive-cpu", round_count, network);
    let at_once = |config: &LearnerConfig| {
        let config = LearnerConfig { inference: at_once_inference(config), ..config.clone() };
        load(&config, 128, path_batch_count, |config, listener, tokio, stop| {
            run_with(config, listener, tokio, stop, |_, _, _| Ok(InstantBackend)).expect("the learner runs");
        })
    };
    compare_transport("a network that answers at once, batches of 128", round_count, at_once);
}

fn at_once_inference(config: &LearnerConfig) -> InferenceConfig {
    InferenceConfig { batch_leaves_max: 1024, ..config.inference.clone() }
}

fn compare_transport(what: &str, round_count: usize, measure: impl Fn(&LearnerConfig) -> LoadReport) {
    let mut ratios = Vec::new();
    println!("\n{what}\n{:>22} {:>22} {:>8}", "in the clear, leaves/s", "by TLS, leaves/s", "ratio");
    for round in 0..round_count {
        let (_clear_dir, clear) = run_config();
        let (tls_dir, mut by_tls) = run_config();
        (by_tls.server.certificate, by_tls.server.key) = write_certificate(tls_dir.path());
        // Each is the first as often as the second: a machine that gets slower falls on both.
        let (clear, by_tls) = if round % 2 == 0 {
            let clear = measure(&clear);
            (clear, measure(&by_tls))
        } else {
            let by_tls = measure(&by_tls);
            (measure(&clear), by_tls)
        };
        let (clear, by_tls) = (clear.leaves_per_second(), by_tls.leaves_per_second());
        ratios.push(by_tls / clear);
        println!("{clear:>22.0} {by_tls:>22.0} {:>8.3}", by_tls / clear);
    }
    ratios.sort_by(f64::total_cmp);
    println!("median ratio {:.3} (bar 0.95)", ratios[ratios.len() / 2]);
}

/// Writes a certificate for this machine, its key, and the authority beside them. Returns certificate and key.
fn write_certificate(dir: &Path) -> (Option<PathBuf>, Option<PathBuf>) {
    let day = std::time::Duration::from_secs(24 * 60 * 60);
    let made = FleetCertificates::make(&["127.0.0.1".to_owned()], day).expect("certificates");
    let write = |name: &str, text: &str| {
        let path = dir.join(name);
        std::fs::write(&path, text).expect("written");
        Some(path)
    };
    write(AUTHORITY_FILE, &made.authority.certificate);
    (write("server.pem", &made.server.certificate), write("server.key", &made.server.key))
}

/// Sends batches through a learner whose network answers at once, and checks what comes back.
fn load_path(encode_threads: u32, batch_leaves: usize, batch_count: usize) -> LoadReport {
    let (_dir, mut config) = run_config();
    config.inference.batch_leaves_max = 1024;
    config.inference.encode_threads = encode_threads;
    let report = load(&config, batch_leaves, batch_count, |config, listener, tokio, stop| {
        run_with(config, listener, tokio, stop, |_, _, _| Ok(InstantBackend)).expect("the learner runs");
    });
    let LoadReport { moves_per_leaf, bytes_per_leaf, .. } = report;
    assert!(bytes_per_leaf <= 400.0 * (moves_per_leaf / 60.0).max(1.0), "at most 400 bytes a leaf of 60 moves");
    let mut priors = report.priors.iter();
    for (move_count, value) in report.move_counts.iter().zip(&report.values) {
        assert_eq!(*value, InstantBackend::value(*move_count as usize), "each leaf gets its own value");
        let is_own = |prior: &f32| (prior * *move_count as f32 - 1.0).abs() < 1e-3;
        assert!(priors.by_ref().take(*move_count as usize).all(is_own), "each leaf gets its own priors");
    }
    assert_eq!(priors.next(), None);
    report
}

/// The preset `hive-cpu` in a new folder.
fn run_config() -> (tempfile::TempDir, LearnerConfig) {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let preset = Path::new(env!("CARGO_MANIFEST_DIR")).join("../config/hive-cpu.toml");
    let sources = Sources { program: "learner", file: Some(preset), ..Sources::default() };
    let mut config = runtime::layers::load::<LearnerConfig>(&sources).expect("the preset is one").raw;
    config.run.dir = dir.path().to_owned();
    (dir, config)
}

/// Starts a learner, sends it load, stops it.
fn load(
    config: &LearnerConfig,
    batch_leaves: usize,
    batches: usize,
    serve: impl FnOnce(LearnerSettings, tokio::net::TcpListener, &tokio::runtime::Runtime, CancellationToken)
    + Send
    + 'static,
) -> LoadReport {
    let tokio = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("tokio starts");
    let listener = tokio.block_on(tokio::net::TcpListener::bind("127.0.0.1:0")).expect("a free port");
    let address = listener.local_addr().expect("a bound listener has an address");
    let stop = CancellationToken::new();
    let authority = config.server.certificate.as_ref().map(|certificate| certificate.with_file_name(AUTHORITY_FILE));
    let config = LearnerSettings::try_from(config.clone()).expect("the settings are possible");
    let learner_stop = stop.clone();
    let learner = std::thread::spawn(move || serve(config, listener, &tokio, learner_stop));
    let client = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("tokio starts");
    let load = LoadSettings { batch_leaves, warm_up_batches: 2, batches, plies: PLIES, seed: 1 };
    let report = client.block_on(load_generator::run(&load_generator::target(address, authority), load));
    drop(client);
    stop.cancel();
    learner.join().expect("the learner ends well");
    report
}

/// Returns leaves/s of the network called in a loop.
fn in_process(config: &LearnerConfig, network: &Path, batch_count: usize) -> f64 {
    let leaf_count = config.inference.batch_leaves_max as usize;
    let input = config.game.visit(Prepare(leaf_count)).expect("the game is possible");
    let spec = NetworkSpec::new(&config.game, config.network).expect("the preset's network is possible");
    net::set_threads(config.inference.threads.max(1));
    let network = Network::load(network, &spec, Device::CPU).expect("the learner wrote it");
    let mut network =
        InferenceNetwork::new(&network, Device::CPU, Precision::for_device(Device::CPU), &[]).expect("it fits");
    let mut output = NetworkOutput::default();
    let mut evaluate = || network.evaluate(&input, &mut output).expect("it answers");
    (0..2).for_each(|_| evaluate());
    let started_at = Instant::now();
    (0..batch_count).for_each(|_| evaluate());
    let seconds = started_at.elapsed().as_secs_f64();
    assert_eq!(output.values.len(), leaf_count);
    (batch_count * leaf_count) as f64 / seconds
}

/// Positions of random games, as a network reads them.
struct Prepare(usize);

impl GameVisitor for Prepare {
    type Output = NetworkInput;

    fn visit<E: Encoding>(self, encoding: E) -> NetworkInput {
        let mut random = Pcg64::seed_from_u64(1);
        let mut input = NetworkInput::default();
        let (mut moves, mut policy_indices) = (Vec::new(), Vec::new());
        while input.len() < self.0 {
            let mut position = encoding.game().initial_position();
            for _ in 0..PLIES {
                if encoding.game().outcome(&position).is_some() {
                    break;
                }
                moves.clear();
                encoding.game().legal_moves(&position, &mut moves);
                encoding.game().play(&mut position, moves[random.random_range(0..moves.len())]);
            }
            if encoding.game().outcome(&position).is_some() {
                continue;
            }
            moves.clear();
            policy_indices.clear();
            encoding.game().legal_moves(&position, &mut moves);
            encoding.policy_indices(&position, &moves, &mut policy_indices);
            input.push(&encoding, &position, &policy_indices).expect("legal moves have cells");
        }
        input
    }
}

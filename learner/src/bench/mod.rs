//! What a device makes of a preset's network: evaluations a second by batch, and where their time goes; training steps.
//!
//! Positions come from random games of the preset's game. Everything runs one after the other on one thread at a time, as
//! `learner bench` prints it; no run, no gRPC, no worker.

mod inference;
mod positions;
mod report;
mod training;

use std::time::Duration;

use net::{Device, DeviceChoice, NetError, Network, NetworkSpec, Precision, matmul_flop_per_second};
use networks::NetworkSource;
use shared::catalog::GameVisitor;
use shared::encoding::{DecodeError, Encoding};
use shared::setting::SettingError;

use crate::config::LearnerConfig;
use crate::start_network::{self, StartNetworkError};
use positions::RandomPositions;

pub use report::{BenchReport, InferenceRow, TrainingRow};

/// What to measure.
#[derive(Debug, Clone)]
pub struct BenchPlan<'a> {
    /// The network, its game, and the threads.
    pub config: &'a LearnerConfig,
    /// The device.
    pub device: DeviceChoice,
    /// The network to measure with; none: a random one of the settings.
    pub network: Option<&'a NetworkSource>,
    /// Leaves evaluated together, one measurement each.
    pub batches: &'a [usize],
    /// How long one measurement takes, at least one batch or step after a first that is not counted.
    pub time: Duration,
    /// Seed of the positions and of a random network.
    pub seed: u64,
    /// Whether training is measured too.
    pub with_training: bool,
}

/// Why nothing was measured.
#[derive(Debug, thiserror::Error)]
pub enum BenchError {
    /// The settings ask for a game or a network that cannot be.
    #[error(transparent)]
    Setting(#[from] SettingError),
    /// The network cannot be used.
    #[error(transparent)]
    Network(#[from] StartNetworkError),
    /// The device is not there, or failed.
    #[error(transparent)]
    Device(#[from] NetError),
    /// A position of a random game is not what its encoding says.
    #[error("a position of a random game")]
    Position(#[from] DecodeError),
    /// The system refuses a thread, or it panicked.
    #[error("the measuring thread ended")]
    Thread,
}

/// Measures. `show` gets what is measured next, in words.
///
/// # Errors
/// [`BenchError`]: a game or network that cannot be used, a device that is missing or fails, a thread that fails.
pub fn bench(plan: &BenchPlan<'_>, show: &(dyn Fn(String) + Sync)) -> Result<BenchReport, BenchError> {
    plan.config.game.visit(Bench { plan, show })?
}

struct Bench<'a> {
    plan: &'a BenchPlan<'a>,
    show: &'a (dyn Fn(String) + Sync),
}

impl GameVisitor for Bench<'_> {
    type Output = Result<BenchReport, BenchError>;

    fn visit<E: Encoding>(self, encoding: E) -> Result<BenchReport, BenchError> {
        let Self { plan, show } = self;
        let spec = NetworkSpec::new(&plan.config.game, plan.config.network)?;
        let device = net::open_device(plan.device)?;
        let network = match plan.network {
            Some(source) => start_network::open_as(source, &spec)?.load_as(&spec, Device::CPU)?,
            None => Network::random(&spec, Device::CPU, plan.seed)?,
        };
        let batch_max = plan.batches.iter().copied().max().unwrap_or(1);
        let sample_max = if plan.with_training { plan.config.training.batch_size as usize } else { 0 };
        show("random games".to_owned());
        let positions = RandomPositions::play(encoding, batch_max.max(sample_max), plan.seed);
        let precision = Precision::chosen(plan.config.inference.precision, device, network.shape())?;
        let parameter_count = network.parameter_count();
        // OpenMP remembers its number of threads by thread: each part has a thread of its own, and tensors of its own.
        let learned_by = plan.with_training.then(|| network.copy_to(Device::CPU)).transpose()?;
        let answering = || answer(plan, show, &{ network }, device, &positions);
        let (matmul, inference, threads) = on_thread(plan.config.inference.threads, answering)?;
        let training = match learned_by {
            Some(network) => {
                let learning = || training::measure(plan, show, &{ network }, device, &positions);
                on_thread(plan.config.training.threads, learning)?
            }
            None => Vec::new(),
        };
        Ok(BenchReport {
            device: device.to_string(),
            device_note: plan.device.passed_over().map(|problem| problem.to_string()),
            threads,
            network: spec.to_string(),
            parameter_count,
            gflop_per_evaluation: positions.flop_per_position(&spec.shape) / 1e9,
            precision,
            matmul_gflop_per_second: matmul / 1e9,
            inference,
            training,
            peak_memory_mib: report::peak_memory_mib(),
        })
    }
}

fn answer<E: Encoding>(
    plan: &BenchPlan<'_>,
    show: &(dyn Fn(String) + Sync),
    network: &Network,
    device: Device,
    positions: &RandomPositions<E>,
) -> Result<(f64, Vec<InferenceRow>, usize), BenchError> {
    show(format!("matrix multiplication on {device}"));
    let matmul = matmul_flop_per_second(device, Precision::for_device(device), plan.time)?;
    let rows = inference::measure(plan, show, network, device, positions, matmul)?;
    Ok((matmul, rows, net::threads()))
}

/// Runs `work` on a thread whose tensor operations have so many threads; 0: all cores.
fn on_thread<T: Send>(threads: usize, work: impl FnOnce() -> Result<T, BenchError> + Send) -> Result<T, BenchError> {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().name("bench".to_owned()).spawn_scoped(scope, move || {
            net::set_threads(threads);
            work()
        });
        thread.map_err(|_| BenchError::Thread)?.join().map_err(|_| BenchError::Thread)?
    })
}

/// Returns what the settings would evaluate together: their padded sizes, or powers of two up to the largest batch.
#[must_use]
pub fn usual_batches(config: &LearnerConfig) -> Vec<usize> {
    let max = config.inference.batch_leaves_max as usize;
    let sizes: Vec<usize> = config.inference.batch_sizes.iter().copied().filter(|size| *size <= max).collect();
    if !sizes.is_empty() {
        return sizes;
    }
    let mut batches: Vec<usize> = (3..).map(|power| 1 << power).take_while(|size| *size < max).collect();
    batches.push(max);
    batches
}

#[cfg(test)]
mod tests {
    use super::*;

    fn small(trunk: net::Trunk) -> LearnerConfig {
        let mut config = LearnerConfig::default();
        config.network = net::NetworkSettings { blocks: 1, filters: 8, trunk, value_hidden: 8, ..config.network };
        (config.inference.threads, config.training.threads, config.training.batch_size) = (1, 1, 8);
        config
    }

    fn plan<'a>(config: &'a LearnerConfig, batches: &'a [usize]) -> BenchPlan<'a> {
        let (device, time) = (DeviceChoice::Cpu, Duration::ZERO);
        BenchPlan { config, device, network: None, batches, time, seed: 1, with_training: true }
    }

    #[test]
    fn every_stage_of_every_batch_is_measured_and_adds_up() {
        for (trunk, outlook_heads) in
            [(net::Trunk::Frame, false), (net::Trunk::Cells, false), (net::Trunk::Cells, true)]
        {
            let mut config = small(trunk);
            config.network.outlook_heads = outlook_heads;
            let report = bench(&plan(&config, &[4, 16]), &|_| {}).expect("it measures");
            assert_eq!(report.inference.iter().map(|row| row.batch).collect::<Vec<_>>(), [4, 16]);
            for row in &report.inference {
                let stages = [row.encode_us, row.upload_us, row.forward_us, row.read_back_us];
                assert!(stages.iter().all(|time| *time > 0.0), "{row:?}");
                let together = 1e6 / stages.iter().sum::<f64>();
                assert!((row.evaluations_per_second / together - 1.0).abs() < 1e-6, "{row:?}");
                assert!(row.matmul_share > 0.0 && row.matmul_share < 1.5, "{row:?}");
            }
            assert!(report.training.iter().all(|row| row.samples_per_second > 0.0) && !report.training.is_empty());
            assert!(report.peak_memory_mib > 1.0);
            assert!(report.gflop_per_evaluation < 1.0 && report.gflop_per_evaluation > 1e-4);
        }
    }

    #[test]
    fn the_same_seed_plays_the_same_games_of_every_game() {
        use shared::catalog::GameSpec;
        for game in [LearnerConfig::default().game, GameSpec::TicTacToe {}] {
            let config = LearnerConfig { game, ..small(net::Trunk::Frame) };
            let report = |seed| {
                let plan = BenchPlan { seed, with_training: false, ..plan(&config, &[32]) };
                bench(&plan, &|_| {}).expect("it measures").gflop_per_evaluation
            };
            assert_eq!(report(3).to_bits(), report(3).to_bits());
        }
    }

    #[test]
    fn the_batches_are_those_that_the_settings_make() {
        let mut config = LearnerConfig::default();
        assert_eq!(usual_batches(&config), [64, 128, 256, 512, 1024]);
        (config.inference.batch_sizes, config.inference.batch_leaves_max) = (Vec::new(), 48);
        assert_eq!(usual_batches(&config), [8, 16, 32, 48]);
    }
}

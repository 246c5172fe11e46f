//! `learner serve`: one network that answers leaves, for a program of this machine that plays games of its own.
//!
//! It speaks the evaluation stream of a learner, but has no games, no store and no training. It ends with its input.

use std::path::PathBuf;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use anyhow::Context;
use net::{Device, DeviceChoice, InferenceNetwork, Network, NetworkOutput, NetworkShape, Precision};
use proto::inference_server::InferenceServer;
use proto::workers_server::WorkersServer;
use runtime::limits::{self, MESSAGE_BYTES_MAX};
use runtime::{exit, logging, shutdown};
use shared::encoding::{Encoding, NetworkInput};
use shared::game::catalog::{GameSpec, GameVisitor};
use shared::game::hive::GameType;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use tracing::info;

use crate::best::BestNetwork;
use crate::inference::{BatchSettings, Evaluator, InferenceHandle};
use crate::known_network::KnownNetwork;
use crate::services::{InferenceService, JoinService};

/// The one network's number.
const NETWORK_ID: u32 = 1;
/// Batches of one stream that may be unanswered: one for each game that its program plays at once.
const BATCHES_IN_FLIGHT_MAX: u32 = 1024;
/// Sizes that batches are padded to on a GPU.
const GPU_BATCH_SIZES: [usize; 6] = [8, 16, 32, 64, 128, 256];
/// How long a stop waits for what is under way.
const DRAIN_DEADLINE: Duration = Duration::from_secs(5);

/// Which network answers, and how.
#[derive(Debug, Clone, clap::Args)]
pub struct ServeOptions {
    /// Network that answers, one for Hive or Italian draughts.
    #[arg(long, value_name = "FILE")]
    network: PathBuf,
    /// UHP game type of the positions, for Hive.
    #[arg(long = "type", value_name = "TYPE", default_value = "Base+MLP")]
    game_type: GameType,
    /// Where the network is computed: auto, cpu, cuda or cuda:N.
    #[arg(long, value_name = "DEVICE", default_value = "auto")]
    device: DeviceChoice,
    /// Threads of one evaluation on the CPU; 0: all cores.
    #[arg(long, value_name = "N", default_value_t = 1)]
    threads: usize,
    /// Leaves evaluated together at most.
    #[arg(long, value_name = "N", default_value_t = 128, value_parser = clap::value_parser!(u32).range(1..=16_384))]
    batch_leaves_max: u32,
}

/// Answers leaves until standard input ends or a signal comes. Says `listening ADDRESS` once it does.
///
/// # Errors
/// A network that is missing, corrupt or one of no game that is known; a device or port that is not there.
pub fn serve(options: &ServeOptions) -> anyhow::Result<()> {
    // Before threads, files and the first torch call: on a machine with a GPU the program starts anew.
    net::cuda::preload(options.device)?;
    logging::init(&logging::LogSettings::default())?;
    let KnownNetwork { shape, spec } = KnownNetwork::describe(&options.network, options.game_type)?;
    let tokio = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    let stop = tokio.block_on(async { shutdown::on_signals() }).context("listen for signals")?;
    let listener = tokio.block_on(TcpListener::bind(("127.0.0.1", 0))).context("open a port")?;
    let settings = BatchSettings {
        leaf_count_max: options.batch_leaves_max as usize,
        wait_max: Duration::from_millis(1),
        queue_length_max: BATCHES_IN_FLIGHT_MAX as usize,
    };
    let (inference, thread) = spec.visit(Start { options, shape, settings })??;
    stop_at_end_of_input(stop.clone())?;
    exit::print(&format!("listening http://{}\n", listener.local_addr()?)).context("write to stdout")?;
    let served = tokio.block_on(answer(spec, inference, listener, options.batch_leaves_max, stop));
    tokio.shutdown_timeout(DRAIN_DEADLINE);
    // Whatever used the inference thread is gone with the services.
    thread.join().map_err(|_| anyhow::anyhow!("the inference thread died"))?;
    served
}

/// Starts the inference thread for whichever game the network plays.
struct Start<'a> {
    options: &'a ServeOptions,
    shape: NetworkShape,
    settings: BatchSettings,
}

impl GameVisitor for Start<'_> {
    type Output = anyhow::Result<(InferenceHandle, JoinHandle<()>)>;

    fn visit<E: Encoding>(self, encoding: E) -> Self::Output {
        let best = Arc::new(BestNetwork::new(NETWORK_ID, 0));
        let (loading, shape) = (self.options.clone(), self.shape);
        InferenceHandle::start(encoding, self.settings, best, move || OneNetwork::open(&loading, &shape))
    }
}

async fn answer(
    spec: GameSpec,
    inference: InferenceHandle,
    listener: TcpListener,
    batch_leaves_max: u32,
    stop: CancellationToken,
) -> anyhow::Result<()> {
    let join = proto::JoinReply {
        game: Some(shared::wire::game_spec_to_proto(&spec)),
        batches_in_flight_max: BATCHES_IN_FLIGHT_MAX,
        batch_leaves_max,
        best_network_id: NETWORK_ID,
        ..proto::JoinReply::default()
    };
    let service = InferenceService::new(inference, BATCHES_IN_FLIGHT_MAX as usize, stop.clone());
    let service = InferenceServer::new(service)
        .max_decoding_message_size(MESSAGE_BYTES_MAX)
        .max_encoding_message_size(MESSAGE_BYTES_MAX);
    let server = limits::server()
        .add_service(WorkersServer::new(JoinService(join)))
        .add_service(service)
        .serve_with_incoming_shutdown(limits::incoming(listener), stop.clone().cancelled_owned());
    tokio::pin!(server);
    tokio::select! {
        ended = &mut server => ended.context("serve"),
        () = stop.cancelled() => match tokio::time::timeout(DRAIN_DEADLINE, server).await {
            Ok(ended) => ended.context("drain"),
            Err(_) => Ok(()),
        },
    }
}

/// Whoever started this process holds its input open, and lets it go when it dies.
fn stop_at_end_of_input(stop: CancellationToken) -> std::io::Result<()> {
    let read = move || {
        let _ = std::io::copy(&mut std::io::stdin().lock(), &mut std::io::sink());
        stop.cancel();
    };
    std::thread::Builder::new().name("input".to_owned()).spawn(read).map(drop)
}

/// A network on its device.
struct OneNetwork(InferenceNetwork);

impl OneNetwork {
    fn open(options: &ServeOptions, shape: &NetworkShape) -> anyhow::Result<Self> {
        let device = net::open_device(options.device)?;
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        net::set_threads(if options.threads == 0 { cores } else { options.threads });
        let network = Network::load(&options.network, shape, device)?;
        let batch_sizes: &[usize] = if device == Device::CPU { &[] } else { &GPU_BATCH_SIZES };
        let ready = InferenceNetwork::new(&network, device, Precision::for_device(device), batch_sizes)?;
        info!(network = %options.network.display(), %device, shape = %ready.shape(), "network ready");
        Ok(Self(ready))
    }
}

impl Evaluator for OneNetwork {
    fn evaluate(&mut self, _: u32, input: &NetworkInput, output: &mut NetworkOutput) -> Result<(), String> {
        self.0.evaluate(input, output).map_err(|error| error.to_string())
    }
}

//! A network as a player: computed by threads of its own, asked by the threads of a match or of one search.

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

use net::{Device, DeviceChoice, InferenceNetwork, NetError, Network, NetworkFile, NetworkOutput, Precision};
use networks::{NetworkSource, NetworkSourceError};
use shared::catalog::NetworkGame;
use shared::encoding::{Encoding, NetworkInput};
use shared::game::Value;
use shared::precision::AnswerPrecision;
use shared::search::{EvaluationError, Evaluator, LeafAnswers, LeafId, LeafSource};
use tracing::info;

use super::network_batches::{Batch, Exchange, Mailbox};

/// Sizes that batches of frames are padded to on a GPU.
const GPU_BATCH_SIZES: [usize; 6] = [8, 16, 32, 64, 128, 256];

/// How long a GPU waits for the leaves of more games: a larger batch takes it hardly longer. A processor takes as much
/// longer as there are more leaves, so it does not wait.
const GPU_WAIT_MAX: Duration = Duration::from_millis(1);

/// Where and how networks are computed.
#[derive(Debug, Clone, Copy)]
pub struct NetworkPlaySettings {
    /// The device.
    pub device: DeviceChoice,
    /// In which numbers they answer.
    pub precision: AnswerPrecision,
    /// Processor threads that compute one batch; 0: one for each core.
    pub thread_count: usize,
    /// Batches computed at the same time, each by a thread of its own; at least 1.
    pub batches_at_once: usize,
}

/// Why a network cannot play.
#[derive(Debug, thiserror::Error)]
pub enum NetworkPlayerError {
    /// The file or the device cannot be used.
    #[error(transparent)]
    Network(#[from] NetError),
    /// The bytes of the network cannot be had.
    #[error(transparent)]
    Source(#[from] NetworkSourceError),
    /// The network plays another game.
    #[error("network {name}: not one for {game} but for {found}: name another network")]
    OtherGame {
        /// The network.
        name: String,
        /// The game that is played.
        game: &'static str,
        /// The game of the network.
        found: String,
    },
    /// The thread that computes it cannot be started.
    #[error("start the thread of network {name}")]
    Thread {
        /// The network.
        name: String,
        /// The cause.
        #[source]
        source: std::io::Error,
    },
    /// The thread that computes it has panicked; the log says why.
    #[error("the thread of the network has ended")]
    Ended,
}

impl NetworkPlayerError {
    /// Returns whether the user asked for what cannot be, and must ask for something else: a network of another game, or
    /// numbers in which this one does not answer.
    #[must_use]
    pub const fn is_usage(&self) -> bool {
        matches!(self, Self::OtherGame { .. } | Self::Network(NetError::Settings(_)))
    }
}

/// Returns the bytes of a network file.
///
/// # Errors
/// [`NetworkPlayerError::Source`].
pub fn network_bytes<G: NetworkGame>(source: &NetworkSource) -> Result<Cow<'static, [u8]>, NetworkPlayerError> {
    Ok(source.read(&G::default().spec(G::USUAL_VIEW))?)
}

/// Returns the network on `device`, and how it sees the board.
fn load<G: NetworkGame>(source: &NetworkSource, device: Device) -> Result<(Network, G::View), NetworkPlayerError> {
    let file = NetworkFile::from_bytes(source.to_string(), network_bytes::<G>(source)?)?;
    let game = file.spec()?.game;
    let other_game =
        || NetworkPlayerError::OtherGame { name: source.to_string(), game: G::NAME, found: game.to_string() };
    let view = G::view_of(&game).ok_or_else(other_game)?;
    Ok((file.load(device)?, view))
}

/// A network that is computed by threads of its own, which end when this is dropped.
pub struct SharedNetwork<G: NetworkGame> {
    game: G,
    view: G::View,
    exchange: Arc<Exchange>,
    threads: Vec<JoinHandle<()>>,
}

impl<G: NetworkGame> SharedNetwork<G> {
    /// Starts the threads and waits until the network is ready.
    ///
    /// # Errors
    /// [`NetworkPlayerError`] if the file, the device or the thread cannot be had, or the network plays another game.
    pub fn open(game: &G, source: &NetworkSource, settings: NetworkPlaySettings) -> Result<Self, NetworkPlayerError> {
        let exchange = Arc::new(Exchange::default());
        let (thread, view) = start::<G>(source, settings, &exchange)?;
        let mut network = Self { game: game.clone(), view, exchange, threads: vec![thread] };
        for _ in 1..settings.batches_at_once {
            let (thread, _) = start::<G>(source, settings, &network.exchange)?;
            network.threads.push(thread);
        }
        Ok(network)
    }

    /// Returns how the network sees the game.
    pub fn encoding(&self) -> G::Encoding {
        self.game.encoding(self.view)
    }

    /// Returns what one thread asks the network with.
    pub fn client(&self) -> NetworkClient<G> {
        NetworkClient {
            encoding: self.game.encoding(self.view),
            exchange: self.exchange.clone(),
            mailbox: self.exchange.add_mailbox(),
            policy_indices: vec![],
        }
    }
}

impl<G: NetworkGame> Drop for SharedNetwork<G> {
    fn drop(&mut self) {
        self.exchange.close();
        for thread in self.threads.drain(..) {
            // A panic has failed all requests already.
            let _ = thread.join();
        }
    }
}

/// Starts a thread that computes the network, and waits until it is ready. Returns how the network sees the board, too.
fn start<G: NetworkGame>(
    source: &NetworkSource,
    settings: NetworkPlaySettings,
    exchange: &Arc<Exchange>,
) -> Result<(JoinHandle<()>, G::View), NetworkPlayerError> {
    let (opened, ready) = sync_channel(1);
    let (own_exchange, own_source) = (exchange.clone(), source.clone());
    let compute = move || {
        let guard = EndGuard(own_exchange);
        compute::<G>(&own_source, settings, &guard.0, &opened);
    };
    let thread = std::thread::Builder::new().name("network".to_owned()).spawn(compute);
    let thread = thread.map_err(|error| NetworkPlayerError::Thread { name: source.to_string(), source: error })?;
    Ok((thread, ready.recv().unwrap_or(Err(NetworkPlayerError::Ended))?))
}

/// However the thread ends, no request waits for it any more.
struct EndGuard(Arc<Exchange>);

impl Drop for EndGuard {
    fn drop(&mut self) {
        self.0.die();
    }
}

/// Opens the network, reports how it sees the board, and computes batches until no requests will come any more.
fn compute<G: NetworkGame>(
    source: &NetworkSource,
    settings: NetworkPlaySettings,
    exchange: &Exchange,
    opened: &SyncSender<Result<G::View, NetworkPlayerError>>,
) {
    let mut network = match open_for_inference::<G>(source, settings) {
        Ok((network, view)) => {
            let _ = opened.send(Ok(view));
            network
        }
        Err(error) => {
            let _ = opened.send(Err(error));
            return;
        }
    };
    let more_wait_max = if network.device().is_cuda() { GPU_WAIT_MAX } else { Duration::ZERO };
    let (mut batch, mut output) = (Batch::default(), NetworkOutput::default());
    while exchange.take(&mut batch, more_wait_max) {
        match network.evaluate(&batch.input, &mut output) {
            Ok(()) => batch.deliver(&output),
            Err(error) => batch.refuse(&error.into()),
        }
    }
}

fn open_for_inference<G: NetworkGame>(
    source: &NetworkSource,
    settings: NetworkPlaySettings,
) -> Result<(InferenceNetwork, G::View), NetworkPlayerError> {
    let device = net::open_device(settings.device)?;
    net::set_threads(settings.thread_count);
    let (network, view) = load::<G>(source, device)?;
    let batch_sizes: &[usize] = if device.is_cuda() { &GPU_BATCH_SIZES } else { &[] };
    let precision = Precision::chosen(settings.precision, device, network.shape())?;
    let network = InferenceNetwork::new(&network, device, precision, batch_sizes)?;
    info!(network = %source, %device, %precision, shape = %network.shape(), "network ready");
    Ok((network, view))
}

/// What one thread asks a [`SharedNetwork`] with.
pub struct NetworkClient<G: NetworkGame> {
    encoding: G::Encoding,
    exchange: Arc<Exchange>,
    mailbox: Arc<Mailbox>,
    policy_indices: Vec<u16>,
}

impl<G: NetworkGame> NetworkClient<G> {
    /// Evaluates one position, and gives priors of `moves` and the value for the side to move to `take`.
    ///
    /// # Errors
    /// As [`Evaluator::evaluate`].
    pub fn evaluate_one(
        &mut self,
        position: &G::Position,
        moves: &[G::Move],
        take: impl FnOnce(&[f32], Value),
    ) -> Result<(), EvaluationError> {
        let Self { encoding, exchange, mailbox, policy_indices } = self;
        exchange.ask(mailbox, |input| {
            push(encoding, position, moves, policy_indices, input)?;
            Ok::<_, EvaluationError>(1)
        })?;
        let answer = mailbox.wait()?;
        if let Some(value) = answer.values.first() {
            take(&answer.priors, Value::new(*value));
        }
        Ok(())
    }
}

impl<G: NetworkGame> Drop for NetworkClient<G> {
    fn drop(&mut self) {
        self.exchange.remove_mailbox(&self.mailbox);
    }
}

impl<G: NetworkGame> Evaluator<G> for NetworkClient<G> {
    fn evaluate(&mut self, source: &mut dyn LeafSource<G>, leaves: &[LeafId]) -> Result<(), EvaluationError> {
        let Self { encoding, exchange, mailbox, policy_indices } = self;
        exchange.ask(mailbox, |input| {
            let (position_count, move_count) = (input.len(), input.policy_indices.len());
            for leaf in leaves {
                let (position, moves) = (source.leaf_position(*leaf), source.leaf_moves(*leaf));
                if let Err(error) = push(encoding, position, moves, policy_indices, input) {
                    input.truncate(position_count, move_count);
                    return Err(error);
                }
            }
            Ok(leaves.len())
        })?;
        let answer = mailbox.wait()?;
        let mut answers = LeafAnswers::new(&answer.priors, &answer.values);
        for leaf in leaves {
            let Some((priors, value)) = answers.next_leaf(source.leaf_moves(*leaf).len()) else { break };
            source.expand(*leaf, priors, value);
        }
        Ok(())
    }
}

fn push<E: Encoding>(
    encoding: &E,
    position: &shared::encoding::Pos<E>,
    moves: &[shared::encoding::Mv<E>],
    policy_indices: &mut Vec<u16>,
    input: &mut NetworkInput,
) -> Result<(), EvaluationError> {
    policy_indices.clear();
    encoding.policy_indices(position, moves, policy_indices);
    let pushed = input.push(encoding, position, policy_indices);
    pushed.map_err(|error| EvaluationError::LeafRefused(error.to_string()))
}

//! One connection of an inference server to its learner: from the first network to the end of the stream.

use std::convert::Infallible;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use inference::best::{BestNetwork, CurrentBest};
use inference::{BatchSettings, InferenceHandle, InferenceStartError, Job, LeafStream};
use net::{NetworkFile, NetworkSpec};
use proto::remote_inference_client::RemoteInferenceClient;
use runtime::auth::ClientAuth;
use runtime::limits::MESSAGE_BYTES_MAX;
use shared::catalog::GameVisitor;
use shared::encoding::Encoding;
use shared::ids::{Generation, NetworkId, NetworkRef};
use shared::wire::network_ref_from_wire;
use store::files::RunFiles;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio_stream::wrappers::ReceiverStream;
use tonic::service::interceptor::InterceptedService;
use tonic::transport::Channel;
use tracing::{info, warn};

use super::fetched::{FetchedNetworks, fetch};
use super::offers::{LeafCredit, send_answers};
use super::{InferencePlan, SessionError};
use crate::config::InferenceConfig;
use crate::devices::network_backend;
use crate::run::await_end;

/// A channel on which each call shows the token.
pub(super) type AuthChannel = InterceptedService<Channel, ClientAuth>;

/// Offers and answers on their way to the learner.
const OFFERS_AHEAD: usize = 64;
/// Leaves of a batch at most: more than any learner sends.
const LEAVES_MAX: usize = 65_536;
/// Batches that are being evaluated, or wait for it, at most.
const BATCHES_MAX: usize = 4096;
/// How long inference threads may take for what they are at when a session ends.
const THREADS_END_MAX: Duration = Duration::from_secs(10);
/// Pause after a batch that could not be evaluated.
const PAUSE_AFTER_ERROR: Duration = Duration::from_secs(1);
/// Why a batch is given back before its network is here.
const NOT_HERE_YET: &str = "the network is not here yet";

/// One connection.
pub(super) struct Session<'a> {
    plan: &'a InferencePlan,
    fetched: FetchedNetworks,
    threads: Vec<JoinHandle<()>>,
}

impl<'a> Session<'a> {
    pub(super) fn new(plan: &'a InferencePlan, folder: &Path) -> Self {
        let fetched = FetchedNetworks::new(folder, plan.config.networks_max);
        Self { plan, fetched, threads: Vec::new() }
    }

    /// Waits until the inference threads have ended.
    pub(super) async fn end(self) {
        let waiting = tokio::task::spawn_blocking(move || await_end(&self.threads, THREADS_END_MAX));
        // It does not panic, and nothing depends on it.
        let _ = waiting.await;
    }

    /// Answers leaves until the connection ends; returns why.
    pub(super) async fn run(&mut self) -> Result<Infallible, SessionError> {
        let channel = self.plan.target.connect().await.map_err(SessionError::Connect)?;
        let auth = ClientAuth::new(self.plan.token.as_ref());
        let mut client = RemoteInferenceClient::with_interceptor(channel, auth)
            .max_decoding_message_size(MESSAGE_BYTES_MAX)
            .max_encoding_message_size(MESSAGE_BYTES_MAX);
        // A place comes first: without one, no network need be sent.
        let (offers, outgoing) = mpsc::channel(OFFERS_AHEAD);
        let first = proto::InferenceOffer { server: self.plan.name.clone(), ..Default::default() };
        let _ = offers.send(first).await;
        let batches = client.offer_inference(ReceiverStream::new(outgoing)).await?.into_inner();
        // The first network says which game is played.
        let best_id = fetch(&mut client, &self.plan.name, NetworkRef::Best, self.fetched.files()).await?;
        self.fetched.add(best_id);
        let file = NetworkFile::read(&self.fetched.files().network(best_id)).map_err(SessionError::Network)?;
        let spec = file.spec().map_err(SessionError::Network)?;
        let handle = self.start_inference(&spec, best_id)?;
        let credit = LeafCredit {
            counters: handle.counters(),
            batch_count: self.plan.config.batch_settings().batch_count as u32,
            pause_after_error: PAUSE_AFTER_ERROR,
            is_fetching: Arc::new(AtomicBool::new(false)),
        };
        offers.send(credit.offer()).await.map_err(|_| SessionError::Closed)?;
        info!(learner = %self.plan.target, game = spec.game.name(), "joined the learner");
        let (answers, receiver) = mpsc::channel(BATCHES_MAX);
        // Ends with the session.
        let mut sending = JoinSet::new();
        sending.spawn(send_answers(credit.clone(), receiver, offers.clone()));
        let stream = handle.open_stream();
        self.answer(client, batches, Answering { stream, answers, offers, credit }).await
    }

    fn start_inference(&mut self, spec: &NetworkSpec, best_id: NetworkId) -> Result<InferenceHandle, SessionError> {
        let best = CurrentBest { network_id: best_id, generation: Generation::default() };
        let start = StartInference {
            config: &self.plan.config,
            files: self.fetched.files(),
            spec,
            best: Arc::new(BestNetwork::new(best)),
        };
        let game = spec.game.clone();
        let started = game.visit(start).map_err(|error| SessionError::Network(error.into()))?;
        let (handle, threads) = started?;
        self.threads = threads;
        Ok(handle)
    }

    async fn answer(
        &mut self,
        client: RemoteInferenceClient<AuthChannel>,
        mut batches: tonic::Streaming<proto::LeafBatches>,
        answering: Answering,
    ) -> Result<Infallible, SessionError> {
        let mut fetching = JoinSet::new();
        loop {
            tokio::select! {
                message = batches.message() => {
                    for batch in message?.ok_or(SessionError::Closed)?.batches {
                        let network = network_ref_from_wire(batch.network_id);
                        let is_here = match network {
                            NetworkRef::Id(network_id) => self.fetched.use_network(network_id),
                            NetworkRef::Best => false,
                        };
                        if !is_here && fetching.is_empty() {
                            let (client, name, files) = (client.clone(), self.plan.name.clone(), self.fetched.files().clone());
                            fetching.spawn(fetch_later(client, name, network, files));
                            answering.credit.is_fetching.store(true, Ordering::Relaxed);
                        }
                        answering.hand_in(batch, is_here).await?;
                    }
                }
                Some(ended) = fetching.join_next() => {
                    match ended.map_err(|_| SessionError::Ended)? {
                        Ok(network_id) => self.fetched.add(network_id),
                        // Its gate may be over: whoever asks for it again makes another attempt.
                        Err(SessionError::Status(status)) => warn!(reason = status.message(), "network not fetched"),
                        Err(error) => return Err(error),
                    }
                    answering.credit.is_fetching.store(false, Ordering::Relaxed);
                    answering.offers.send(answering.credit.offer()).await.map_err(|_| SessionError::Closed)?;
                }
            }
        }
    }
}

async fn fetch_later(
    mut client: RemoteInferenceClient<AuthChannel>,
    name: String,
    network: NetworkRef,
    files: RunFiles,
) -> Result<NetworkId, SessionError> {
    fetch(&mut client, &name, network, &files).await
}

/// Where batches and answers go.
struct Answering {
    stream: LeafStream,
    answers: mpsc::Sender<proto::EvaluationBatch>,
    offers: mpsc::Sender<proto::InferenceOffer>,
    credit: LeafCredit,
}

impl Answering {
    /// Hands a batch in, or gives it back if its network is not here.
    async fn hand_in(&self, batch: proto::LeafBatch, is_here: bool) -> Result<(), SessionError> {
        let answer = self.answers.clone().reserve_owned().await.map_err(|_| SessionError::Closed)?;
        let leaves = self.stream.sender();
        if !is_here {
            leaves.refuse(Job { batch, answer }, &NOT_HERE_YET);
            return Ok(());
        }
        if leaves.submit(Job { batch, answer }).await { Ok(()) } else { Err(SessionError::Ended) }
    }
}

/// Starts the inference threads for a game that is still to be chosen.
struct StartInference<'a> {
    config: &'a InferenceConfig,
    files: &'a RunFiles,
    spec: &'a NetworkSpec,
    best: Arc<BestNetwork>,
}

impl GameVisitor for StartInference<'_> {
    type Output = Result<(InferenceHandle, Vec<JoinHandle<()>>), InferenceStartError>;

    fn visit<E: Encoding>(self, encoding: E) -> Self::Output {
        let (config, files, spec) = (self.config.clone(), self.files.clone(), self.spec.clone());
        // Batches are as large as the learner lets them be; one that is too large for this device is evaluated alone.
        let settings = BatchSettings { batch_leaf_count_max: LEAVES_MAX, ..config.batch_settings() };
        let make_backend = move |number| network_backend(&config, number, files.clone(), spec.clone());
        InferenceHandle::start(&encoding, &settings, &self.best, make_backend)
    }
}

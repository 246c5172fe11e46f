//! Asking the best network about one position: through the learner's own queue, or through one of the page's own where
//! no learner is at work.

use std::path::Path;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use inference::best::{BestNetwork, CurrentBest};
use inference::{BatchSettings, InferenceHandle, InferenceStartError, LocalBatch, LocalEvaluator, NetworkBackend};
use net::{Device, NetError, NetworkFile, Precision};
use shared::catalog::{GameSpec, GameVisitor};
use shared::encoding::Encoding;
use shared::ids::{Generation, NetworkId, NetworkRef};
use shared::precision::AnswerPrecision;
use shared::setting::SettingError;
use store::files::RunFiles;
use store::{Reader, StoreError};
use tokio::time::timeout;
use tracing::warn;

use super::answer::PageError;
use super::run_source::RunSource;

/// How long an answer may take. A busy learner answers leaves within a second; one that loads a network takes longer.
const ANSWER_TIME_MAX: Duration = Duration::from_secs(20);
/// Positions evaluated together by a page that asks its own network: one visitor asks about one.
const OWN_BATCH_LEAVES: usize = 8;

/// Asks the best network of a run.
pub struct PositionEvaluator {
    /// There until it is dropped.
    inference: Option<InferenceHandle>,
    own: Option<OwnInference>,
}

/// What a page without a learner has of its own.
struct OwnInference {
    /// Which network is the best: read from the store each time.
    best: Arc<BestNetwork>,
    threads: Vec<JoinHandle<()>>,
}

impl Drop for PositionEvaluator {
    /// Waits for threads of its own: libtorch does not survive the end of the process in use.
    fn drop(&mut self) {
        self.inference = None;
        for thread in self.own.iter_mut().flat_map(|own| own.threads.drain(..)) {
            if thread.join().is_err() {
                warn!("the page's inference thread died");
            }
        }
    }
}

/// A network's evaluation of a position.
pub(super) struct PositionEvaluation {
    pub(super) network_id: NetworkId,
    pub(super) generation: Generation,
    /// Expected outcome for the side to move, -1..=1.
    pub(super) value: f32,
    /// Prior of each legal move.
    pub(super) priors: Vec<f32>,
}

/// Why a page cannot ask the run's network.
#[derive(Debug, thiserror::Error)]
pub enum EvaluatorError {
    /// The store cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The run has not made a network yet.
    #[error("the run has no network yet")]
    NoNetwork,
    /// The network cannot be loaded.
    #[error(transparent)]
    Network(#[from] NetError),
    /// The game's numbers are out of range.
    #[error(transparent)]
    Setting(#[from] SettingError),
    /// The inference thread does not start.
    #[error(transparent)]
    Start(#[from] InferenceStartError),
}

impl PositionEvaluator {
    /// Asks through the learner's queue. A position waits its turn there among the leaves of self-play, as if one more
    /// worker played one game.
    #[must_use]
    pub(crate) fn of_learner(inference: InferenceHandle) -> Self {
        Self { inference: Some(inference), own: None }
    }

    /// Asks a network of the page's own, on one thread of the CPU: where no learner is at work, or beside one.
    ///
    /// # Errors
    /// [`EvaluatorError`]: a store that cannot be read, a run without a network, a network that cannot be loaded, a thread that
    /// does not start.
    pub fn of_run_dir(run_dir: &Path, game: &GameSpec) -> Result<Self, EvaluatorError> {
        let best = current_best(&Reader::of_run(run_dir)?)?.ok_or(EvaluatorError::NoNetwork)?;
        let files = RunFiles::new(run_dir);
        let spec = NetworkFile::read(&files.network(best.network_id))?.spec()?;
        let best = Arc::new(BestNetwork::new(best));
        let start = StartOwn { best: Arc::clone(&best), files, spec };
        let (inference, threads) = game.visit(start)??;
        Ok(Self { inference: Some(inference), own: Some(OwnInference { best, threads }) })
    }

    /// Looks up which network is the best, unless a learner tells.
    pub(super) async fn follow(&self, source: &RunSource) -> Result<(), PageError> {
        let Some(own) = &self.own else { return Ok(()) };
        if let Some(best) = source.read(|reader| Ok(current_best(reader)?)).await? {
            own.best.set(best);
        }
        Ok(())
    }

    /// Evaluates a position whose legal moves have these policy indices.
    pub(super) async fn evaluate(
        &self,
        packed: &[u8],
        policy_indices: &[u16],
    ) -> Result<PositionEvaluation, PageError> {
        let failed =
            |what: &dyn std::fmt::Display| PageError::NoNetwork(format!("the network does not answer: {what}"));
        let mut batch = LocalBatch::new(NetworkRef::Best);
        batch.push(packed, policy_indices).map_err(|error| failed(&error))?;
        let inference = self.inference.as_ref().ok_or_else(|| failed(&"the page ends"))?;
        let evaluator = LocalEvaluator::new(inference);
        let answers = timeout(ANSWER_TIME_MAX, evaluator.evaluate(vec![batch])).await;
        let answers = answers.map_err(|_| PageError::Busy("the network is busy"))?.map_err(|error| failed(&error))?;
        let answer =
            answers.first().and_then(|answer| Some((answer, answer.leaves().next_leaf(policy_indices.len())?)));
        let (answer, (priors, value)) = answer.ok_or_else(|| failed(&"an answer without evaluations"))?;
        let (network_id, generation) = (answer.network_id, answer.generation);
        Ok(PositionEvaluation { network_id, generation, value: value.get(), priors: priors.to_vec() })
    }
}

fn current_best(reader: &Reader) -> Result<Option<CurrentBest>, StoreError> {
    let best = reader.best_network()?;
    Ok(best.map(|best| CurrentBest {
        network_id: best.network.network_id,
        generation: best.generation.unwrap_or_default(),
    }))
}

/// Starts an inference thread for a game that is still to be chosen.
struct StartOwn {
    best: Arc<BestNetwork>,
    files: RunFiles,
    spec: net::NetworkSpec,
}

impl GameVisitor for StartOwn {
    type Output = Result<(InferenceHandle, Vec<JoinHandle<()>>), EvaluatorError>;

    fn visit<E: Encoding>(self, encoding: E) -> Self::Output {
        let settings = BatchSettings {
            batch_count: 1,
            encode_thread_count: 0,
            leaf_count_max: OWN_BATCH_LEAVES,
            batch_leaf_count_max: OWN_BATCH_LEAVES,
            time_max: ANSWER_TIME_MAX,
            padded_sizes: Vec::new(),
            queue_leaf_count_max: OWN_BATCH_LEAVES,
        };
        let Self { best, files, spec } = self;
        let make_backend = move |_| {
            net::set_threads(1);
            let precision = Precision::chosen(AnswerPrecision::Auto, Device::CPU, &spec.shape)?;
            Ok(NetworkBackend::new(files.clone(), spec.clone(), (Device::CPU, precision), Vec::new(), 2))
        };
        Ok(InferenceHandle::start(&encoding, &settings, &best, make_backend)?)
    }
}

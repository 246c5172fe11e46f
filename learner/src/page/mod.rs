//! The web page of a run: how it is doing, and any of its games on a board (docs/page.md).
//!
//! It reads the store through connections of its own, on blocking threads and few at a time, and what the status shows
//! anyway. It never takes a lock of games, inference or training; of the learner it asks one thing, the evaluation of
//! a single position, through the queue that the workers use.

mod access;
mod answer;
mod assets;
mod board;
mod elo;
mod evaluator;
mod game;
mod games;
mod iterations;
mod overview;
mod position;
mod query;
mod routes;
mod run_source;
mod series;
mod server;

use std::path::Path;
use std::sync::Arc;

use runtime::auth::Token;
use shared::catalog::GameSpec;
use shared::setting::SettingError;
use store::{Reader, StoreError};

use crate::progress::RunObserver;

pub use evaluator::{EvaluatorError, PositionEvaluator};
pub use routes::router;
pub use server::serve;

use access::Access;
use elo::GateScores;
use run_source::RunSource;
use series::MetricValues;

/// Why there is no page for a run.
#[derive(Debug, thiserror::Error)]
pub enum PageStartError {
    /// The store cannot be opened, or names a game that this version does not know.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The game's numbers are out of range.
    #[error(transparent)]
    Setting(#[from] SettingError),
}

/// What the page shows, and to whom.
pub struct Page {
    game: GameSpec,
    source: RunSource,
    access: Access,
    /// Decided gates do not change: each is summed up once.
    gate_scores: Arc<GateScores>,
    metrics: Arc<MetricValues>,
    observer: Option<Arc<RunObserver>>,
    evaluator: Option<PositionEvaluator>,
}

impl Page {
    /// Makes the page of the run in `run_dir`, whether or not a learner is at work there. Who does not show `token` sees
    /// nothing of it.
    ///
    /// # Errors
    /// [`PageStartError`]: a store that cannot be opened, a game that this version does not know or whose numbers are out of
    /// range.
    pub fn new(run_dir: &Path, token: Option<&Token>) -> Result<Self, PageStartError> {
        let game = Reader::of_run(run_dir)?.run()?.game_spec()?;
        game.check().map_err(|error| error.under("game"))?;
        Ok(Self {
            game,
            source: RunSource::new(run_dir),
            access: Access::new(token),
            gate_scores: Arc::default(),
            metrics: Arc::default(),
            observer: None,
            evaluator: None,
        })
    }

    /// Adds what a learner at work knows.
    #[must_use]
    pub(crate) fn with_observer(self, observer: Arc<RunObserver>) -> Self {
        Self { observer: Some(observer), ..self }
    }

    /// Adds the best network's opinion about positions.
    #[must_use]
    pub fn with_evaluator(self, evaluator: PositionEvaluator) -> Self {
        Self { evaluator: Some(evaluator), ..self }
    }

    /// Returns what is played.
    #[must_use]
    pub const fn game(&self) -> &GameSpec {
        &self.game
    }

    /// Tells browsers to send the cookie by TLS alone.
    #[must_use]
    pub(crate) fn behind_tls(mut self) -> Self {
        self.access.keep_cookie_secure();
        self
    }

    /// Lets anyone in who can reach the address, by whatever name they call it.
    #[must_use]
    pub fn open_to_any_host(mut self) -> Self {
        self.access.allow_any_host();
        self
    }
}

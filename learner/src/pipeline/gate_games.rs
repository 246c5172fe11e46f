//! Before a verdict counts: whether the games of the gate were searched. Those of a worker that did not search do not
//! count, and are played again by others.

use registry::Bar;
use runtime::exit::one_line;
use shared::encoding::Encoding;
use shared::ids::NetworkId;
use tracing::{error, info, warn};

use super::{Pipeline, PipelineError, alarms};
use crate::gate_check::{CheckedWorker, GateCheck, GateCheckError, Refuted, sum};

/// Why games of a gate are in quarantine.
const REASON: &str = "gate check: the search contradicts the moves of the worker";

/// What was found of the games of a gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum GateGames {
    /// They count.
    Sound,
    /// Some of them do not: the gate goes on without them.
    Discounted,
    /// The stop came before that was known.
    Unknown,
}

impl<E: Encoding> Pipeline<E> {
    /// Searches a sample of the gate's plies again, and takes out the games of workers that cannot have searched.
    pub(super) fn check_gate_games(
        &mut self,
        iteration: u32,
        candidate_id: NetworkId,
    ) -> Result<GateGames, PipelineError> {
        let Some(check) = &self.gate_check else { return Ok(GateGames::Sound) };
        let Some(checked) = self.search_gate_plies(check, iteration, candidate_id)? else {
            return Ok(GateGames::Unknown);
        };
        let (plies, contradicted) = checked.iter().fold((0, 0), |(plies, contradicted), worker| {
            (plies + worker.ply_count, contradicted + worker.contradicted_count)
        });
        info!(iteration, workers = checked.len(), plies, contradicted, "gate games checked");
        let refuted = Refuted::of(checked);
        if refuted.is_none() {
            return Ok(GateGames::Sound);
        }
        let mut texts = Vec::new();
        for worker in refuted.alone {
            let Some(games) = self.discount(candidate_id, &worker.worker_id, Bar::UntilRestart)? else {
                return Ok(GateGames::Unknown);
            };
            let CheckedWorker { worker_id, ply_count: plies, contradicted_count: contradicted } = worker;
            error!(
                iteration,
                worker_id,
                contradicted,
                plies,
                games,
                "gate games do not count: the search contradicts this worker's moves; others play them again"
            );
            texts.push(format!("{worker_id} ({contradicted} of {plies} plies, {games} games)"));
        }
        if !refuted.together.is_empty() {
            let Some(text) = self.discount_together(iteration, candidate_id, &refuted.together)? else {
                return Ok(GateGames::Unknown);
            };
            texts.push(text);
        }
        alarms::raise_gate_check(&self.alarms, iteration, &texts);
        Ok(GateGames::Discounted)
    }

    /// Takes the games of workers with few plies each out of the gate; some of them may have searched, and may play again
    /// after a pause. Returns what is said of them; `None` if the stop came first.
    fn discount_together(
        &self,
        iteration: u32,
        candidate_id: NetworkId,
        together: &[CheckedWorker],
    ) -> Result<Option<String>, PipelineError> {
        let mut games = 0;
        for worker in together {
            let Some(of_worker) = self.discount(candidate_id, &worker.worker_id, Bar::Pause)? else {
                return Ok(None);
            };
            games += of_worker;
        }
        let CheckedWorker { worker_id, ply_count: plies, contradicted_count: contradicted } = sum(together);
        let workers = together.len();
        error!(
            iteration,
            workers,
            worker_id,
            contradicted,
            plies,
            games,
            "gate games do not count: the search contradicts the moves of workers with few plies; others play them again"
        );
        Ok(Some(format!(
            "{workers} workers with few plies each, {worker_id} first ({contradicted} of {plies} plies, {games} games)"
        )))
    }

    /// Takes the games of a worker out of the gate, again and again while the disk refuses; `None` if the stop came first:
    /// the next start finds it again.
    fn discount(&self, candidate_id: NetworkId, worker_id: &str, bar: Bar) -> Result<Option<usize>, PipelineError> {
        loop {
            match self.registry.discount_gate_games(candidate_id, worker_id, REASON, bar, self.events.now()) {
                Ok(games) => return Ok(Some(games)),
                Err(error) if error.is_retryable() => warn!(%error, "waiting to take games out of the gate"),
                Err(error) => return Err(error.into()),
            }
            if self.events.is_stopped_at_tick() {
                return Ok(None);
            }
        }
    }

    /// Searches again and again until it succeeds; `None` if the stop came first.
    fn search_gate_plies(
        &self,
        check: &GateCheck<E>,
        iteration: u32,
        candidate_id: NetworkId,
    ) -> Result<Option<Vec<CheckedWorker>>, PipelineError> {
        loop {
            let reader = self.store.store().reader()?;
            match check.check(&reader, candidate_id, self.settings.gate.checked_plies) {
                Ok(checked) => return Ok(Some(checked)),
                Err(GateCheckError::Stopping) => return Ok(None),
                Err(GateCheckError::Store(error)) if !error.is_retryable() => return Err(error.into()),
                Err(error) => warn!(iteration, error = one_line(&error), "waiting to check the gate games"),
            }
            if self.events.is_stopped_at_tick() {
                return Ok(None);
            }
        }
    }
}

//! The gate of an iteration: the candidate's file is looked at, its games are awaited, and it is promoted or rejected.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::{Duration, Instant};

use inference::best::CurrentBest;
use net::{Device, NetError, Network};
use registry::{GatePlan, GateReport};
use runtime::exit::one_line;
use shared::encoding::Encoding;
use shared::gate::Verdict;
use shared::ids::NetworkId;
use store::files::check_sha256;
use store::{Change, IterationRow, IterationState};
use tracing::{error, warn};

use super::events::Wake;
use super::gate_games::GateGames;
use super::{Pipeline, PipelineError, alarms};
use crate::best_file::put_best_file;
use crate::progress::PhaseProgress;

/// Time between two counts of the positions that wait for the next training.
const COUNT_INTERVAL: Duration = Duration::from_secs(1);

/// What there is of a candidate.
#[derive(Debug, Clone, PartialEq, Eq)]
enum CandidateFile {
    /// The network that the store names.
    Whole,
    /// Another network or none: there is nothing to test.
    Lost,
    /// The network that the store names, and no network that can be played.
    Unusable(String),
    /// The stop came before that was known.
    Unknown,
}

impl<E: Encoding> Pipeline<E> {
    /// Lets the candidate play the best network, and promotes or rejects it.
    pub(super) fn gate(&mut self, iteration: &mut IterationRow) -> Result<bool, PipelineError> {
        let candidate_id = iteration.candidate_id.ok_or(PipelineError::NoCandidate(iteration.number))?;
        match self.check_candidate(iteration, candidate_id)? {
            CandidateFile::Whole => {}
            CandidateFile::Unknown => return Ok(false),
            CandidateFile::Lost => {
                let reason = "its file is damaged, and the checkpoint makes another network";
                return self.reject_untested(iteration, candidate_id, reason).map(|()| true);
            }
            CandidateFile::Unusable(reason) => {
                return self.reject_untested(iteration, candidate_id, &reason).map(|()| true);
            }
        }
        if !self.begin_gate(iteration, candidate_id)? {
            return Ok(false);
        }
        let (mut counted_at, mut is_discounted) = (None, false);
        loop {
            let finished_count = self.registry.progress().finished_gate_count;
            let report = self.registry.gate_report(candidate_id)?;
            if let Some(verdict) = report.verdict {
                match self.check_gate_games(iteration.number, candidate_id)? {
                    GateGames::Sound => {
                        alarms::settle_gate_check(&self.alarms, is_discounted);
                        self.decide(iteration, &report, verdict)?;
                        return Ok(true);
                    }
                    GateGames::Discounted => {
                        is_discounted = true;
                        continue;
                    }
                    GateGames::Unknown => return Ok(false),
                }
            }
            self.pause_self_play_at_gate(iteration, &mut counted_at)?;
            self.keep_cost(iteration)?;
            self.reporter.report(iteration.number, PhaseProgress::Gate(report));
            if let Wake::Stop = self.events.games(|progress| progress.finished_gate_count > finished_count) {
                return Ok(false);
            }
        }
    }

    /// Looks at the candidate's file; one that is not what the store names is made again from the checkpoint.
    fn check_candidate(
        &mut self,
        iteration: &IterationRow,
        candidate_id: NetworkId,
    ) -> Result<CandidateFile, PipelineError> {
        let row = self.store.store().reader()?.network(candidate_id)?;
        let network = row.ok_or(PipelineError::NoCandidate(iteration.number))?.network;
        let Err(damage) = check_sha256(&self.files.dir().join(&network.file), &network.sha256) else {
            return Ok(self.load_candidate(&self.files.dir().join(&network.file)));
        };
        warn!(
            iteration = iteration.number,
            damage = one_line(&damage),
            "the candidate's file is damaged: making it again from the checkpoint"
        );
        let remade = self.remake_candidate(iteration, candidate_id)?;
        Ok(match remade {
            None => CandidateFile::Unknown,
            Some(sha256) if sha256 == network.sha256 => CandidateFile::Whole,
            Some(_) => CandidateFile::Lost,
        })
    }

    /// Loads the candidate as those who evaluate it will: a file that is whole may still hold no network of this run.
    fn load_candidate(&self, path: &Path) -> CandidateFile {
        let Some(spec) = &self.network else { return CandidateFile::Whole };
        match Network::load(path, spec, Device::CPU) {
            Err(error @ (NetError::Corrupt { .. } | NetError::Mismatch { .. } | NetError::OtherGame { .. })) => {
                CandidateFile::Unusable(one_line(&error))
            }
            // Want of memory or open files says nothing about the network.
            Ok(_) | Err(_) => CandidateFile::Whole,
        }
    }

    /// Rejects a candidate that cannot be tested.
    fn reject_untested(
        &mut self,
        iteration: &mut IterationRow,
        network_id: NetworkId,
        reason: &str,
    ) -> Result<(), PipelineError> {
        error!(iteration = iteration.number, network_id = network_id.get(), "candidate rejected: {reason}");
        iteration.state = IterationState::Rejected;
        self.write(iteration, vec![Change::Reject { network_id }])?;
        self.registry.close_gate(network_id);
        self.best.set_gate_open(false);
        self.add_yardstick_games(iteration.number)
    }

    /// Begins the gate, again and again while the disk refuses its games. Returns false if the stop came first.
    fn begin_gate(&mut self, iteration: &IterationRow, candidate_id: NetworkId) -> Result<bool, PipelineError> {
        let plan = GatePlan {
            candidate_id,
            best_id: self.best.get().network_id,
            iteration: iteration.number,
            settings: self.settings.gate.settings(),
            opening_plies: self.settings.gate.opening_plies,
            search: self.settings.gate.search.clone(),
        };
        // Before anyone can have a game of it.
        self.serve_networks([plan.candidate_id, plan.best_id]);
        self.best.set_gate_open(true);
        loop {
            match self.registry.begin_gate(&plan) {
                Ok(_) => return Ok(true),
                Err(error) if error.is_retryable() => warn!(%error, "waiting to begin the gate"),
                Err(error) => return Err(error.into()),
            }
            if self.events.is_stopped_at_tick() {
                return Ok(false);
            }
        }
    }

    /// Lets leaves be asked of these networks, of the best one, and of those of games that go on.
    pub(super) fn serve_networks(&self, networks: impl IntoIterator<Item = NetworkId>) {
        let in_play: BTreeSet<NetworkId> = self.registry.networks_in_play().into_iter().chain(networks).collect();
        self.best.set_in_play(in_play);
    }

    /// Without evaluators a gate never ends: once all that the buffer can hold waits for the next training, self-play
    /// waits for the gate.
    fn pause_self_play_at_gate(
        &mut self,
        iteration: &IterationRow,
        counted_at: &mut Option<Instant>,
    ) -> Result<(), PipelineError> {
        let now = self.events.now();
        if self.is_self_play_paused || counted_at.is_some_and(|at| now.saturating_duration_since(at) < COUNT_INTERVAL) {
            return Ok(());
        }
        *counted_at = Some(now);
        let window_end = iteration.window_finish_number.unwrap_or(0);
        let games = self.store.store().reader()?.statistics(window_end, u64::MAX)?;
        if games.sample_count >= u64::from(self.settings.replay.position_count_max) {
            let (iteration, positions) = (iteration.number, games.sample_count);
            warn!(
                iteration,
                positions, "self-play waits for the gate: start an evaluator, or wait for those there are"
            );
            self.registry.plan_self_play(None)?;
            self.is_self_play_paused = true;
        }
        Ok(())
    }

    /// Returns the workers that had games of a gate.
    fn gate_players(&self, candidate_id: NetworkId) -> Result<BTreeSet<String>, PipelineError> {
        let leases = self.store.store().reader()?.gate_leases(candidate_id)?;
        Ok(leases.into_iter().map(|lease| lease.worker_id).collect())
    }

    fn decide(
        &mut self,
        iteration: &mut IterationRow,
        report: &GateReport,
        verdict: Verdict,
    ) -> Result<(), PipelineError> {
        let network_id = report.candidate_id;
        let (change, state) = match verdict {
            Verdict::Promoted => (Change::Promote { network_id }, IterationState::Promoted),
            Verdict::Rejected => (Change::Reject { network_id }, IterationState::Rejected),
        };
        let players = self.gate_players(network_id)?;
        alarms::check_gate(&self.alarms, iteration.number, report, &players);
        iteration.state = state;
        self.write(iteration, vec![change])?;
        // The two stay in play until the next gate: workers do not know yet that this one is over.
        self.registry.close_gate(network_id);
        self.best.set_gate_open(false);
        if let Some(best) = self.store.store().reader()?.best_network()? {
            let generation = best.generation.unwrap_or_default();
            self.best.set(CurrentBest { network_id: best.network.network_id, generation });
        }
        if let Err(error) = put_best_file(&self.files, self.best.get().network_id) {
            let file = self.files.best().display().to_string();
            warn!(file, %error, "best.safetensors still holds the previous network; the next start rewrites it");
        }
        self.reporter.report_verdict(iteration, report, verdict, self.best.get());
        self.add_yardstick_games(iteration.number)
    }
}

//! What comes in: each ply is checked, stored, and only then acknowledged; what ends is replayed and counted once.

use std::collections::BTreeSet;
use std::time::Instant;

use runtime::exit::one_line;
use shared::encoding::Encoding;
use shared::game::{Game, Outcome};
use shared::ids::{GameId, NetworkId};
use shared::record::{PlyRecord, PolicyTarget, ReplayError, replay};
use shared::search::{RootSelection, SearchSettings};
use shared::wire::ReportedPly;

use super::lease::{check_worker_id, is_decided};
use super::open_game::{Claim, LeaseState, OpenGame};
use super::open_games::LeaseTerms;
use super::registry::{Delivery, Inner};
use super::{GameRegistry, RegistryError};
use crate::store::{Change, FinishedGame, GameKind, NewGame, StoredResult};

/// What became of a reported ply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlyStatus {
    /// It is on disk, now or already.
    Accepted,
    /// The game is another's by now, or closed: stop playing it.
    LeaseLost {
        /// In words.
        reason: String,
    },
    /// It does not agree with the game, which stays at its last good ply, free for anyone's lease.
    Refused {
        /// In words.
        reason: String,
    },
}

/// What one report does.
struct Intake<'a> {
    worker_id: &'a str,
    now: Instant,
    terms: LeaseTerms,
    changes: Vec<Change>,
    /// Games that have plies among `changes`.
    touched: BTreeSet<GameId>,
    /// Games of which a ply was refused: later plies of this report cannot count either.
    refused: BTreeSet<GameId>,
    /// Games that end with this report.
    closing: Vec<Closing>,
}

/// A game that ends once it is on disk.
struct Closing {
    game_id: GameId,
    /// Its finish number and moves hash; `None` if it goes into quarantine.
    finished: Option<FinishedGame>,
    /// The game that takes its place, for a gate game in quarantine.
    replacement: Option<NewGame>,
}

impl<E: Encoding> GameRegistry<E> {
    /// Takes plies as a worker played them, and returns what became of each, in their order, once the accepted ones
    /// are on disk. Renews the leases of their games. Reporting a ply again is of no effect.
    ///
    /// # Errors
    /// [`RegistryError`] if the report is improper or could not be stored: nothing of it is changed then, and the
    /// worker may report again.
    pub fn report(
        &self,
        worker_id: &str,
        plies: &[ReportedPly],
        now: Instant,
    ) -> Result<Vec<PlyStatus>, RegistryError> {
        check_worker_id(worker_id)?;
        if plies.len() > self.limits.report_plies_max {
            return Err(RegistryError::TooManyPlies { count: plies.len(), max: self.limits.report_plies_max });
        }
        let mut inner = self.wait_until_written(self.lock(), plies.iter().map(|ply| ply.game_id));
        let mut intake = Intake {
            worker_id,
            now,
            terms: self.limits.lease_terms(),
            changes: Vec::new(),
            touched: BTreeSet::new(),
            refused: BTreeSet::new(),
            closing: Vec::new(),
        };
        let mut statuses = Vec::with_capacity(plies.len());
        for ply in plies {
            match self.take_ply(&mut inner, &mut intake, ply) {
                Ok(status) => statuses.push(status),
                Err(error) => {
                    self.end_report(&mut inner, &intake, false);
                    return Err(error);
                }
            }
        }
        if intake.changes.is_empty() {
            self.settle(&mut inner);
            return Ok(statuses);
        }
        // Queued under the lock: the order on disk is the order of the finish numbers.
        let ack = self.store.submit(std::mem::take(&mut intake.changes));
        drop(inner);
        let result = ack.and_then(crate::store::Ack::wait);
        self.end_report(&mut self.lock(), &intake, result.is_ok());
        result?;
        Ok(statuses)
    }

    /// Checks one ply against its game, and notes what is to be stored.
    fn take_ply(
        &self,
        inner: &mut Inner<E>,
        intake: &mut Intake<'_>,
        ply: &ReportedPly,
    ) -> Result<PlyStatus, RegistryError> {
        let Inner { games, gates, progress, reader, last_network_id, .. } = inner;
        let counters = &mut progress.counters;
        if games.get(ply.game_id).is_none_or(|game| is_decided(gates, &game.game)) {
            // Stored already, before the game was closed?
            if reader.move_text(ply.game_id, ply.ply)?.is_some_and(|text| text == ply.record.move_text) {
                counters.duplicate_ply_count += 1;
                return Ok(PlyStatus::Accepted);
            }
            counters.lease_lost_ply_count += 1;
            return Ok(PlyStatus::LeaseLost {
                reason: format!("game {} is not open: it is over, or its gate is decided", ply.game_id),
            });
        }
        let refuse = |reason: String| Ok(PlyStatus::Refused { reason });
        if intake.refused.contains(&ply.game_id) {
            counters.refused_ply_count += 1;
            return refuse("an earlier ply of the game was refused".into());
        }
        let claim = games.claim(ply.game_id, intake.worker_id, intake.now, &intake.terms);
        let Some(game) = games.get_mut(ply.game_id).filter(|_| claim == Claim::Held) else {
            counters.lease_lost_ply_count += 1;
            return Ok(PlyStatus::LeaseLost { reason: format!("the lease of game {} is lost", ply.game_id) });
        };
        match self.play(game, ply, *last_network_id) {
            Ok(Fit::Stored) => counters.duplicate_ply_count += 1,
            Ok(Fit::Next) => {
                counters.accepted_ply_count += 1;
                games.note_ply(ply.game_id, intake.worker_id, intake.now, &intake.terms);
                self.note_ply(inner, intake, ply);
            }
            Err(error) => {
                let reason = one_line(&error);
                counters.refused_ply_count += 1;
                if let Some(count) = self.refused.note(&intake.worker_id.to_owned(), 1, intake.now) {
                    let (worker_id, game_id, ply) = (intake.worker_id, ply.game_id.get(), ply.ply);
                    tracing::warn!(worker_id, count, game_id, ply, reason, "plies refused");
                }
                intake.refused.insert(ply.game_id);
                games.set_lease(ply.game_id, LeaseState::Free);
                return refuse(reason);
            }
        }
        Ok(PlyStatus::Accepted)
    }

    /// Plays a ply, unless it is there already.
    fn play(&self, game: &mut OpenGame<E>, ply: &ReportedPly, last: NetworkId) -> Result<Fit, RefusedPly> {
        let fit = fit(game, ply)?;
        if let Fit::Next = fit {
            check_search(&game.search, &ply.record, last)?;
            game.play(&self.encoding, ply.record.clone())?;
        }
        Ok(fit)
    }

    /// Notes a ply that was played, and the end of the game if it is one.
    fn note_ply(&self, inner: &mut Inner<E>, intake: &mut Intake<'_>, ply: &ReportedPly) {
        intake.touched.insert(ply.game_id);
        intake.changes.push(Change::AddPly { game_id: ply.game_id, ply: ply.ply, record: ply.record.clone() });
        let is_over = inner.games.get(ply.game_id).is_some_and(|game| game.state.outcome().is_some());
        if is_over {
            self.note_end(inner, intake, ply.game_id);
        }
    }

    /// Replays a game that is over as a whole; what replays will count, what does not goes into quarantine.
    fn note_end(&self, inner: &mut Inner<E>, intake: &mut Intake<'_>, game_id: GameId) {
        let Some(game) = inner.games.get(game_id) else { return };
        let replayed = replay(&self.encoding, &game.record()).map_err(RefusedGame::Replay);
        let ended = replayed.and_then(|replayed| Ok((replayed.outcome.ok_or(RefusedGame::NotOver)?, replayed)));
        let closing = match ended {
            Ok((outcome, replayed)) => {
                inner.last_finish_number += 1;
                let finished = FinishedGame {
                    game_id,
                    finish_number: inner.last_finish_number,
                    result: StoredResult { outcome, is_cut_off: replayed.is_cut_off },
                    ply_count: replayed.ply_count,
                    sample_count: replayed.samples.len() as u32,
                    opening_hash: game.opening_hash(),
                    final_hash: self.encoding.game().hash(game.state.position()),
                    moves_hash: game.moves_hash(),
                };
                inner.deliveries.push_back(Delivery {
                    finish_number: finished.finish_number,
                    kind: game.game.kind,
                    is_stored: None,
                    samples: replayed.samples,
                    moves_hash: finished.moves_hash,
                    is_cut_off: replayed.is_cut_off,
                    is_draw: outcome == Outcome::Draw,
                    ply_count: finished.ply_count,
                });
                intake.changes.push(Change::FinishGame(finished.clone()));
                Closing { game_id, finished: Some(finished), replacement: None }
            }
            Err(error) => {
                let reason = one_line(&error);
                tracing::error!(game_id = game_id.get(), reason, "finished game does not replay, quarantined");
                let replaced = (game.game.kind == GameKind::Gate).then(|| game.game.clone());
                let replacement = replaced.map(|game| NewGame { game_id: inner.new_game_id(), ..game });
                intake.changes.push(Change::QuarantineGame { game_id, reason });
                intake.changes.extend(replacement.clone().map(Change::CreateGame));
                Closing { game_id, finished: None, replacement }
            }
        };
        intake.closing.push(closing);
    }

    /// Ends a report: what is on disk counts, what is not is undone.
    fn end_report(&self, inner: &mut Inner<E>, intake: &Intake<'_>, is_stored: bool) {
        for game_id in &intake.touched {
            if let Some(game) = inner.games.get_mut(*game_id) {
                game.end_write(&self.encoding, is_stored);
            }
        }
        if !is_stored {
            inner.progress.counters.failed_write_count += 1;
        }
        for closing in &intake.closing {
            self.end_game(inner, closing, is_stored);
        }
        self.settle(inner);
    }

    /// Closes a game that is on disk, or lets it go on if it is not.
    fn end_game(&self, inner: &mut Inner<E>, closing: &Closing, is_stored: bool) {
        if let Some(finished) = &closing.finished {
            let delivery =
                inner.deliveries.iter_mut().find(|delivery| delivery.finish_number == finished.finish_number);
            if let Some(delivery) = delivery {
                delivery.is_stored = Some(is_stored);
            }
        }
        if !is_stored {
            return;
        }
        let Some(game) = inner.games.remove(closing.game_id) else { return };
        match &closing.finished {
            Some(finished) => {
                let gate = game.game.gate_candidate().and_then(|candidate_id| inner.gates.get_mut(&candidate_id));
                if let Some(gate) = gate {
                    gate.count(&game.game, finished.result.outcome, finished.moves_hash);
                }
            }
            None => inner.progress.counters.quarantined_game_count += 1,
        }
        if let Some(replacement) = &closing.replacement {
            self.insert_paired_game(inner, replacement.clone(), game.search);
        }
    }
}

/// Why a ply is refused.
#[derive(Debug, thiserror::Error)]
enum RefusedPly {
    #[error("ply {ply} is {stored:?} already")]
    Different { ply: u32, stored: String },
    #[error("ply {ply} comes before ply {next}")]
    Gap { ply: u32, next: usize },
    #[error("simulation_count: {count} is more than the {max} that the search of this game makes")]
    Simulations { count: u32, max: u32 },
    #[error("policy_target: {visits} visits of {simulations} simulations")]
    Visits { visits: u32, simulations: u32 },
    #[error("network_id: there is no network {0}")]
    NoNetwork(NetworkId),
    #[error(transparent)]
    Replay(#[from] ReplayError),
}

/// Checks that a search of these settings can have found what the ply says. A root keeps visits of the search before it,
/// and has at most one more for each leaf that was on its way.
fn check_search(search: &SearchSettings, record: &PlyRecord, last: NetworkId) -> Result<(), RefusedPly> {
    let (count, max) = (record.simulation_count, search.simulation_count.saturating_add(search.leaves_per_game));
    if count > max {
        return Err(RefusedPly::Simulations { count, max });
    }
    let visits = record.policy_target.as_ref().map_or(0, PolicyTarget::weight_sum);
    // By Gumbel the weights are shares.
    if search.root == RootSelection::Puct && visits > count.max(1) {
        return Err(RefusedPly::Visits { visits, simulations: count });
    }
    match record.network_id {
        Some(network_id) if network_id > last => Err(RefusedPly::NoNetwork(network_id)),
        _ => Ok(()),
    }
}

/// Why a game that is over does not count.
#[derive(Debug, thiserror::Error)]
enum RefusedGame {
    #[error(transparent)]
    Replay(ReplayError),
    #[error("the replayed game is not over")]
    NotOver,
}

/// How a ply fits its game.
#[derive(Clone, Copy)]
enum Fit {
    /// It is there already, with the same move.
    Stored,
    /// It is the next one.
    Next,
}

/// Compares a ply with the plies of its game.
fn fit<E: Encoding>(game: &OpenGame<E>, ply: &ReportedPly) -> Result<Fit, RefusedPly> {
    match game.plies().get(ply.ply as usize) {
        Some(stored) if stored.move_text == ply.record.move_text => Ok(Fit::Stored),
        Some(stored) => Err(RefusedPly::Different { ply: ply.ply, stored: stored.move_text.clone() }),
        None if ply.ply as usize == game.plies().len() => Ok(Fit::Next),
        None => Err(RefusedPly::Gap { ply: ply.ply, next: game.plies().len() }),
    }
}

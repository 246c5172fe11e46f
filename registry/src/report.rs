//! What comes in: each ply is checked, stored, and only then acknowledged; what ends is replayed and counted once.

use std::collections::BTreeSet;
use std::time::Instant;

use runtime::exit::one_line;
use shared::encoding::Encoding;
use shared::game::{Game, Side};
use shared::ids::{GameId, NetworkId};
use shared::record::{GameRecord, ReplayError, replay};
use shared::wire::ReportedPly;
use store::{
    Ack, Change, FinishedGame, GameKind, NewGame, Resignation, SealedEnd, StoreError, StoredResult, record_checksum,
};

use super::lease::{check_worker_id, is_decided};
use super::open_game::{Claim, LeaseState, OpenGame};
use super::open_games::LeaseTerms;
use super::ply_fit::{Fit, RefusedPly, check_search, fit};
use super::registry::{Delivery, Inner};
use super::{GameRegistry, RegistryError};

/// What became of a reported ply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlyStatus {
    /// It is on disk, now or already.
    Accepted,
    /// It is on disk, and a side resigned with it: the game is over, stop playing it.
    Resigned,
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

/// A report whose plies are on their way to the disk.
#[must_use = "nothing of it counts before it is finished"]
pub struct ReportUnderWay {
    intake: Intake,
    statuses: Vec<PlyStatus>,
    /// `None` if there is nothing to be stored.
    ack: Option<Result<Ack, StoreError>>,
}

#[cfg(feature = "simulation")]
impl ReportUnderWay {
    /// Returns what becomes of each ply if it can be stored.
    pub fn statuses(&self) -> &[PlyStatus] {
        &self.statuses
    }

    /// Returns the games of which a ply was refused.
    pub const fn refused_games(&self) -> &BTreeSet<GameId> {
        &self.intake.refused
    }
}

/// What one report does.
struct Intake {
    worker_id: String,
    now: Instant,
    terms: LeaseTerms,
    changes: Vec<Change>,
    /// Games that have plies among `changes`.
    touched: BTreeSet<GameId>,
    /// Games of which a ply was refused: later plies of this report cannot count either.
    refused: BTreeSet<GameId>,
    /// Games that end with this report.
    closing: Vec<Closing>,
    /// Those of them that a side resigned: later plies of this report were played without knowing it.
    resigned: BTreeSet<GameId>,
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
        self.finish_report(self.begin_report(worker_id, plies, now)?)
    }

    /// Checks plies and queues what is to be stored. Until [`Self::finish_report`] nobody else may change their games.
    ///
    /// # Errors
    /// As [`Self::report`].
    pub fn begin_report(
        &self,
        worker_id: &str,
        plies: &[ReportedPly],
        now: Instant,
    ) -> Result<ReportUnderWay, RegistryError> {
        check_worker_id(worker_id)?;
        if plies.len() > self.limits.report_plies_max {
            return Err(RegistryError::TooManyPlies { count: plies.len(), max: self.limits.report_plies_max });
        }
        let mut inner = self.wait_until_written(self.lock(), plies.iter().map(|ply| ply.game_id));
        let mut intake = Intake {
            worker_id: worker_id.to_owned(),
            now,
            terms: self.limits.lease_terms(),
            changes: Vec::new(),
            touched: BTreeSet::new(),
            refused: BTreeSet::new(),
            closing: Vec::new(),
            resigned: BTreeSet::new(),
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
            return Ok(ReportUnderWay { intake, statuses, ack: None });
        }
        // Queued under the lock: the order on disk is the order of the finish numbers.
        let ack = self.store.submit(std::mem::take(&mut intake.changes));
        Ok(ReportUnderWay { intake, statuses, ack: Some(ack) })
    }

    /// Waits until a report is on disk, and lets it count.
    ///
    /// # Errors
    /// As [`Self::report`].
    pub fn finish_report(&self, report: ReportUnderWay) -> Result<Vec<PlyStatus>, RegistryError> {
        let ReportUnderWay { intake, statuses, ack } = report;
        let Some(ack) = ack else { return Ok(statuses) };
        let result = ack.and_then(Ack::wait);
        self.end_report(&mut self.lock(), &intake, result.is_ok());
        result?;
        Ok(statuses)
    }

    /// Checks one ply against its game, and notes what is to be stored.
    fn take_ply(
        &self,
        inner: &mut Inner<E>,
        intake: &mut Intake,
        ply: &ReportedPly,
    ) -> Result<PlyStatus, RegistryError> {
        let was_made = inner.was_made(ply.game_id);
        let Inner { games, gates, progress, reader, last_network_id, .. } = inner;
        let counters = &mut progress.counters;
        if games.get(ply.game_id).is_none_or(|game| is_decided(gates, &game.game)) {
            // Stored already, before the game was closed? The store is asked under the lock, for games that there were alone.
            if was_made && reader.move_text(ply.game_id, ply.ply)?.is_some_and(|text| text == ply.record.move_text) {
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
        let claim = games.claim(ply.game_id, &intake.worker_id, intake.now, &intake.terms);
        let Some(game) = games.get_mut(ply.game_id).filter(|_| claim == Claim::Held) else {
            counters.lease_lost_ply_count += 1;
            return Ok(PlyStatus::LeaseLost { reason: format!("the lease of game {} is lost", ply.game_id) });
        };
        if intake.resigned.contains(&ply.game_id) && ply.ply as usize >= game.plies().len() {
            counters.lease_lost_ply_count += 1;
            return Ok(PlyStatus::LeaseLost { reason: format!("game {} is over: a side has resigned", ply.game_id) });
        }
        match self.play(game, ply, *last_network_id) {
            Ok(Fit::Stored) => counters.duplicate_ply_count += 1,
            Ok(Fit::Next) => {
                counters.accepted_ply_count += 1;
                games.note_ply(ply.game_id, &intake.worker_id, intake.now, &intake.terms);
                return Ok(self.note_ply(inner, intake, ply));
            }
            Err(error) => {
                let reason = one_line(&error);
                counters.refused_ply_count += 1;
                if let Some(count) = self.refused.note(&intake.worker_id, 1, intake.now) {
                    let (worker_id, game_id, ply) = (&intake.worker_id, ply.game_id.get(), ply.ply);
                    tracing::warn!(worker_id, count, game_id, ply, reason, "plies refused");
                }
                intake.refused.insert(ply.game_id);
                let kind = game.game.kind;
                games.holders_mut(kind).note_refusal(&intake.worker_id, intake.terms.lease, intake.now);
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

    /// Notes a ply that was played, and the end of the game if it is one, by the rules or since a side resigns.
    fn note_ply(&self, inner: &mut Inner<E>, intake: &mut Intake, ply: &ReportedPly) -> PlyStatus {
        intake.touched.insert(ply.game_id);
        intake.changes.push(Change::AddPly { game_id: ply.game_id, ply: ply.ply, record: ply.record.clone() });
        let Some(game) = inner.games.get(ply.game_id) else { return PlyStatus::Accepted };
        if game.state.outcome().is_some() {
            self.note_end(inner, intake, ply.game_id, None);
            return PlyStatus::Accepted;
        }
        let resigned_by = self.resignation.ends(self.run_seed, &game.game, game.searched());
        if resigned_by.is_none() {
            return PlyStatus::Accepted;
        }
        self.note_end(inner, intake, ply.game_id, resigned_by);
        intake.resigned.insert(ply.game_id);
        PlyStatus::Resigned
    }

    /// Replays a game that is over as a whole; what replays will count, what does not goes into quarantine.
    fn note_end(&self, inner: &mut Inner<E>, intake: &mut Intake, game_id: GameId, resigned_by: Option<Side>) {
        let Some(game) = inner.games.get(game_id) else { return };
        let record = GameRecord { resigned_by, ..game.record() };
        let replayed = replay(&self.encoding, &record).map_err(RefusedGame::Replay);
        let ended = replayed.and_then(|replayed| Ok((replayed.outcome.ok_or(RefusedGame::NotOver)?, replayed)));
        let closing = match ended {
            Ok((outcome, replayed)) => {
                inner.last_finish_number += 1;
                let resignation = match resigned_by {
                    Some(_) => Some(Resignation::Resigned),
                    None => self.resignation.judge(self.run_seed, &game.game, game.searched(), outcome),
                };
                let result = StoredResult { outcome, is_cut_off: replayed.is_cut_off, resignation };
                let finish_number = inner.last_finish_number;
                let end = SealedEnd { finish_number, result, moves_hash: game.moves_hash() };
                let finished = FinishedGame {
                    game_id,
                    finish_number,
                    result,
                    ply_count: replayed.ply_count,
                    sample_count: replayed.samples.len() as u32,
                    opening_hash: game.opening_hash(),
                    final_hash: self.encoding.game().hash(game.state.position()),
                    moves_hash: end.moves_hash,
                    checksum: Some(record_checksum(&game.game, game.plies(), end)),
                };
                inner.deliveries.push_back(Delivery {
                    finish_number: finished.finish_number,
                    kind: game.game.kind,
                    is_stored: None,
                    samples: replayed.samples,
                    moves_hash: finished.moves_hash,
                    result,
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
    fn end_report(&self, inner: &mut Inner<E>, intake: &Intake, is_stored: bool) {
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

/// Why a game that is over does not count.
#[derive(Debug, thiserror::Error)]
enum RefusedGame {
    #[error(transparent)]
    Replay(ReplayError),
    #[error("the replayed game is not over")]
    NotOver,
}

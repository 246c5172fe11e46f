//! What the calls of workers do, message by message. Knows no runtime and no clock: whoever serves them passes the time, and
//! calls what waits for the disk where waiting is allowed.
//!
//! Leases and reports have two halves, before and after the wait for the disk.

use std::sync::Arc;
use std::time::Instant;

use inference::best::BestNetwork;
use proto::JoinRequest;
use proto::ply_status::Code;
use registry::{
    GameRegistry, Lease, LeaseRequester, LeasesUnderWay, PlyStatus, RegistryError, ReportUnderWay, check_worker_id,
};
use runtime::auth::Role;
use runtime::summed_log::SummedLog;
use shared::encoding::Encoding;
use shared::ids::GameId;
use shared::wire::{
    ReportedPly, WireError, game_spec_to_proto, network_ref_to_wire, ply_from_proto, search_settings_to_proto,
    worker_kind_word,
};
use store::{GameKind, WorkerRow};
use tonic::metadata::MetadataMap;
use tonic::{Request, Status};
use tracing::{info, warn};

use super::join_checks::{check_names, check_role, check_versions, game_kind_of};
use super::joined::{JoinedWorkers, KnownWorker, shown_key_sha256};
use super::load_meter::LoadMeter;
use crate::config::JoinTerms;
use crate::progress::{JoinedWorker, RunStatus};

/// When a worker that got no game should ask again, in milliseconds.
const RETRY_AFTER_MS: u32 = 1000;
/// When one that got fewer than it asked for should, since some of those it has may end soon.
const RETRY_SOON_MS: u32 = 250;

/// Takes the calls of workers.
pub struct WorkerCalls<E: Encoding> {
    terms: JoinTerms,
    registry: Arc<GameRegistry<E>>,
    best: Arc<BestNetwork>,
    status: Arc<RunStatus>,
    joined: Arc<JoinedWorkers>,
    load: LoadMeter,
    log: CallLog,
}

/// What is logged of calls, each kind in few lines.
#[derive(Debug, Default)]
struct CallLog {
    joined: SummedLog<String>,
    /// Plies that cannot be read, by worker.
    unreadable: SummedLog<String>,
    /// Calls that failed for want of disk.
    disk: SummedLog<()>,
}

impl<E: Encoding> WorkerCalls<E> {
    /// Makes what takes calls.
    #[must_use]
    pub fn new(
        terms: JoinTerms,
        registry: Arc<GameRegistry<E>>,
        best: Arc<BestNetwork>,
        status: Arc<RunStatus>,
        joined: Arc<JoinedWorkers>,
        load: LoadMeter,
    ) -> Self {
        Self { terms, registry, best, status, joined, load, log: CallLog::default() }
    }

    /// Checks who wants to join.
    pub(crate) fn check_join(&self, caller: &Caller, request: &JoinRequest) -> Result<WorkerRow, Status> {
        let worker_kind = proto::WorkerKind::try_from(request.kind).unwrap_or_default();
        check_names(request)?;
        check_versions(request.protocol_version, request.domain_version)?;
        let unknown = || Status::invalid_argument(format!("worker kind {} is not known here", request.kind));
        let kind = game_kind_of(worker_kind).ok_or_else(unknown)?;
        check_role(caller.role, kind)?;
        let key_sha256 = shown_key_sha256(&caller.metadata)?;
        Ok(WorkerRow { worker_id: request.worker_id.clone(), kind, key_sha256 })
    }

    /// Lets a worker join. Reads the store.
    pub(crate) fn join(
        &self,
        worker: WorkerRow,
        request: JoinRequest,
        now: Instant,
    ) -> Result<proto::JoinReply, Status> {
        let stored = self.registry.worker_key_sha256(&worker.worker_id);
        let stored = stored.map_err(|error| self.failed(&error, now))?;
        self.joined.join(worker, stored.as_deref(), now)?;
        let kind = proto::WorkerKind::try_from(request.kind).unwrap_or_default();
        if let Some(count) = self.log.joined.note(&request.worker_id, 1, now) {
            let (worker_id, version) = (&request.worker_id, &request.program_version);
            info!(worker_id, count, kind = worker_kind_word(kind), version, "worker joined");
        }
        let JoinRequest { worker_id, thread_count, program_version, .. } = request;
        self.status.see_worker(&worker_id, JoinedWorker { kind, thread_count, program_version }, now);
        let best = self.best.get();
        Ok(proto::JoinReply {
            game: Some(game_spec_to_proto(&self.terms.game)),
            lease_ms: u32::try_from(self.terms.lease.as_millis()).unwrap_or(u32::MAX),
            batches_in_flight_max: self.terms.batches_in_flight_max,
            batch_leaves_max: self.terms.batch_leaves_max,
            best_network_id: best.network_id.get(),
            generation: best.generation.get(),
        })
    }

    /// Returns the worker that calls; a name that has not joined this learner since it started, or is another's, may
    /// neither play nor renew.
    pub(crate) fn check_joined(&self, worker_id: &str, caller: &Caller, now: Instant) -> Result<KnownWorker, Status> {
        check_worker_id(worker_id).map_err(|error| status_of(&error))?;
        let worker = self.joined.check(worker_id, &caller.metadata, now)?;
        check_role(caller.role, worker.row.kind)?;
        self.status.see_again(worker_id, now);
        Ok(worker)
    }

    /// Chooses games for a worker.
    pub(crate) fn begin_lease(
        &self,
        worker: KnownWorker,
        game_count: u32,
        now: Instant,
    ) -> Result<LeasesUnderWay, Status> {
        let KnownWorker { row, is_stored, .. } = &worker;
        let requester = LeaseRequester { worker_id: &row.worker_id, kind: row.kind, new: (!is_stored).then_some(row) };
        if let Some(load) = self.load.look(now) {
            self.registry.note_load(&load);
        }
        self.registry.begin_lease(&requester, game_count, now).map_err(|error| self.failed(&error, now))
    }

    /// Waits until the leases are on disk, and with the first ones the worker.
    pub(crate) fn finish_lease(&self, leases: LeasesUnderWay, now: Instant) -> Result<proto::LeaseGamesReply, Status> {
        let receiver = leases.receiver().map(str::to_owned);
        let answer = self.registry.finish_lease(leases).map_err(|error| self.failed(&error, now))?;
        if let Some(worker_id) = receiver {
            self.joined.note_stored(&worker_id);
        }
        Ok(proto::LeaseGamesReply {
            leases: answer.leases.iter().map(lease_to_proto).collect(),
            waiting_for: answer.waiting_for.unwrap_or_default().to_owned(),
            retry_after_ms: if answer.is_withheld { RETRY_SOON_MS } else { RETRY_AFTER_MS },
        })
    }

    /// Reads a report; plies that cannot be read are refused one by one.
    pub(crate) fn read_report(
        &self,
        worker: &KnownWorker,
        request: proto::ReportPliesRequest,
        now: Instant,
    ) -> ReadReport {
        let (mut readable, mut unreadable) = (Vec::new(), Vec::with_capacity(request.plies.len()));
        for ply in &request.plies {
            match ply_from_proto(ply).map_err(RefusedPly::from).and_then(|reported| check_asked(worker, reported)) {
                Ok(reported) => {
                    readable.push(reported);
                    unreadable.push(None);
                }
                Err(error) => {
                    self.status.count("unreadable_ply_count");
                    if let Some(count) = self.log.unreadable.note(&request.worker_id, 1, now) {
                        let (worker_id, game_id, ply) = (&request.worker_id, ply.game_id, ply.ply);
                        warn!(worker_id, count, game_id, ply, %error, "plies refused");
                    }
                    unreadable.push(Some(PlyStatus::Refused { reason: error.to_string() }));
                }
            }
        }
        ReadReport { worker_id: request.worker_id, plies: request.plies, readable, unreadable }
    }

    /// Lets the games of a report go on.
    pub(crate) fn begin_report(&self, report: ReadReport, now: Instant) -> Result<ReadReportUnderWay, Status> {
        let under_way = self.registry.begin_report(&report.worker_id, &report.readable, now);
        Ok(ReadReportUnderWay { under_way: under_way.map_err(|error| self.failed(&error, now))?, report })
    }

    /// Waits until the report is on disk.
    pub(crate) fn finish_report(
        &self,
        report: ReadReportUnderWay,
        now: Instant,
    ) -> Result<proto::ReportPliesReply, Status> {
        let statuses = self.registry.finish_report(report.under_way).map_err(|error| self.failed(&error, now))?;
        Ok(report.report.reply(statuses))
    }

    /// Renews leases.
    pub(crate) fn renew(
        &self,
        request: proto::RenewLeasesRequest,
        now: Instant,
    ) -> Result<proto::RenewLeasesReply, Status> {
        let game_ids: Vec<GameId> = request.game_ids.into_iter().map(GameId::new).collect();
        let lost = self.registry.renew(&request.worker_id, &game_ids, now);
        let lost = lost.map_err(|error| self.failed(&error, now))?;
        Ok(proto::RenewLeasesReply { lost_game_ids: lost.into_iter().map(GameId::get).collect() })
    }

    /// Returns what a call is answered that the registry could not do. Says that the disk is awaited if it is.
    fn failed(&self, error: &RegistryError, now: Instant) -> Status {
        if error.is_retryable()
            && let Some(count) = self.log.disk.note(&(), 1, now)
        {
            warn!(count, %error, "waiting for the disk: make room or mend it, the workers will try again");
        }
        status_of(error)
    }
}

/// A report as domain values.
pub(crate) struct ReadReport {
    worker_id: String,
    plies: Vec<proto::Ply>,
    readable: Vec<ReportedPly>,
    /// For each ply, why it was not readable.
    unreadable: Vec<Option<PlyStatus>>,
}

impl ReadReport {
    /// Returns the reply, of which these are the statuses of what was readable.
    fn reply(self, statuses: Vec<PlyStatus>) -> proto::ReportPliesReply {
        let mut statuses = statuses.into_iter();
        let merged = self.unreadable.into_iter().filter_map(|status| status.or_else(|| statuses.next()));
        let statuses = self.plies.iter().zip(merged).map(|(ply, status)| status_to_proto(ply, status)).collect();
        proto::ReportPliesReply { statuses }
    }
}

/// A report on its way to the disk.
#[must_use = "nothing of it counts before it is finished"]
pub(crate) struct ReadReportUnderWay {
    report: ReadReport,
    under_way: ReportUnderWay,
}

#[cfg(test)]
impl ReadReportUnderWay {
    /// Returns what of the report was readable.
    pub(crate) const fn under_way(&self) -> &ReportUnderWay {
        &self.under_way
    }
}

/// Why a ply does not reach its game.
#[derive(Debug, thiserror::Error)]
enum RefusedPly {
    #[error(transparent)]
    Wire(#[from] WireError),
    #[error(
        "network_id: no leaf of this network was evaluated for the worker, so its search cannot have found the move"
    )]
    NotAsked,
}

/// Refuses plies of gates by workers that never asked the network that they are said to be of.
fn check_asked(worker: &KnownWorker, reported: ReportedPly) -> Result<ReportedPly, RefusedPly> {
    let is_gate = worker.row.kind == GameKind::Gate;
    if is_gate && !worker.has_asked(reported.record.network_id) { Err(RefusedPly::NotAsked) } else { Ok(reported) }
}

/// Who calls, beside what the message says.
pub(crate) struct Caller {
    metadata: MetadataMap,
    role: Role,
}

impl Caller {
    pub(super) fn of<T>(request: Request<T>) -> (Self, T) {
        let (metadata, extensions, message) = request.into_parts();
        (Self { metadata, role: Role::of(&extensions) }, message)
    }

    #[cfg(test)]
    pub(crate) const fn new(metadata: MetadataMap, role: Role) -> Self {
        Self { metadata, role }
    }
}

fn lease_to_proto(lease: &Lease) -> proto::Lease {
    let kind = match lease.kind {
        GameKind::SelfPlay => proto::GameKind::SelfPlay,
        GameKind::Gate => proto::GameKind::Gate,
    };
    proto::Lease {
        game_id: lease.game_id.get(),
        kind: kind.into(),
        white_network_id: network_ref_to_wire(lease.white_network),
        black_network_id: network_ref_to_wire(lease.black_network),
        seed: lease.seed,
        search: Some(search_settings_to_proto(&lease.search)),
        moves: lease.moves.clone(),
        opening_ply_count: lease.opening_ply_count,
        start_position: lease.start.clone().unwrap_or_default(),
    }
}

fn status_to_proto(ply: &proto::Ply, status: PlyStatus) -> proto::PlyStatus {
    let is_resigned = status == PlyStatus::Resigned;
    let (code, reason) = match status {
        PlyStatus::Accepted | PlyStatus::Resigned => (Code::Accepted, String::new()),
        PlyStatus::LeaseLost { reason } => (Code::LeaseLost, reason),
        PlyStatus::Refused { reason } => (Code::Refused, reason),
    };
    proto::PlyStatus { game_id: ply.game_id, ply: ply.ply, code: code.into(), reason, is_resigned }
}

pub(super) fn status_of(error: &RegistryError) -> Status {
    match error {
        RegistryError::TooManyPlies { .. }
        | RegistryError::TooManyLeases { .. }
        | RegistryError::WorkerId(_)
        | RegistryError::WorkerIdText
        | RegistryError::GateSettings(_) => Status::invalid_argument(error.to_string()),
        RegistryError::UnknownGate(_) => Status::failed_precondition(error.to_string()),
        RegistryError::Store(store) if store.is_retryable() => Status::unavailable(error.to_string()),
        RegistryError::Store(_) => Status::internal(error.to_string()),
    }
}

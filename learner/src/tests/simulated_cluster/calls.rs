//! The calls of workers, as the learner takes them: messages are decoded, checked and answered by the code that serves gRPC,
//! in two halves where they wait for the disk. What is promised is compared with what is in the ledger.

use std::time::Instant;

use prost::Message;
use proto::ply_status::Code as PlyCode;
use registry::{LeasesUnderWay, PlyStatus};
use runtime::auth::Role;
use runtime::worker_key::{WORKER_ID_HEADER, WORKER_KEY_HEADER};
use shared::ids::{GameId, NetworkId, NetworkRef};
use shared::wire::network_ref_from_wire;
use store::GameKind;
use tonic::metadata::MetadataMap;
use tonic::{Code, Status};

use super::life::Life;
use super::promises::Terms;
use super::world::{Core, Event, World};
use crate::services::{Askable, Caller, ReadReportUnderWay, worker_of};

/// A message to the learner.
#[derive(Debug, Clone)]
pub(super) struct Call {
    pub(super) worker: usize,
    pub(super) incarnation: u32,
    pub(super) request: u64,
    pub(super) key: String,
    /// What its token allows.
    pub(super) role: Role,
    pub(super) worker_id: String,
    pub(super) body: Body,
}

/// What a message asks for, as bytes.
#[derive(Debug, Clone)]
pub(super) enum Body {
    Join(Vec<u8>),
    Lease(Vec<u8>),
    Report(Vec<u8>),
    Renew(Vec<u8>),
    /// Leaves are to be evaluated by this network.
    Ask(u32),
}

/// What the learner answers, as bytes.
#[derive(Debug, Clone)]
pub(super) struct Reply {
    pub(super) worker: usize,
    pub(super) incarnation: u32,
    pub(super) request: u64,
    pub(super) answer: Result<Vec<u8>, Code>,
}

/// A call that waits for the disk.
pub(super) struct CallUnderWay {
    call: Call,
    began_at: Instant,
    /// Its place in the queue of the disk; `None` if nothing of it is to be written.
    place: Option<u64>,
    work: Work,
}

enum Work {
    Lease { under_way: LeasesUnderWay, asked: u32 },
    Report { under_way: Box<ReadReportUnderWay>, plies: Vec<ReportedPly> },
}

/// A ply of a report, as it was when the report came.
struct ReportedPly {
    key: (u64, u32),
    move_text: String,
    /// Whether it was in the store already.
    is_stored: bool,
    is_owner: bool,
    /// Whether its gate has a verdict: a ply that is stored is acknowledged then, and is no sign of life.
    is_decided: bool,
}

impl World {
    pub(super) fn terms(&self) -> Terms {
        let server = &self.plan.settings.server;
        Terms { lease: server.lease, idle: server.lease * server.idle_leases_max }
    }

    /// A call reaches the learner.
    pub(super) fn arrive(&self, call: Call) {
        let Some(life) = self.life() else { return self.answer(&call, Err(Code::Unavailable)) };
        let now = self.core().now;
        let taken = self.take(&life, &call, now);
        if self.core().is_killed {
            return;
        }
        if taken.is_ok() {
            self.check_role(&call);
        }
        match taken {
            Ok(Some(answer)) => self.answer(&call, Ok(answer)),
            Ok(None) => {}
            Err(status) => self.answer(&call, Err(status.code())),
        }
    }

    /// Checks that a call was not let in by a token for something else.
    fn check_role(&self, call: &Call) {
        let is_actor = self.plan.workers[call.worker].is_actor;
        let is_allowed = match call.role {
            Role::Any => true,
            Role::Actor => is_actor && !matches!(call.body, Body::Ask(number) if number != 0),
            Role::Evaluator => !is_actor,
            Role::Inference | Role::Reader => false,
        };
        assert!(is_allowed, "{} shows a token of {:?}, and is let in: {:?}", call.worker_id, call.role, call.body);
    }

    /// Takes a call. Returns the answer, `None` if it comes later.
    fn take(&self, life: &Life, call: &Call, now: Instant) -> Result<Option<Vec<u8>>, Status> {
        let caller = caller_of(call);
        match &call.body {
            Body::Join(bytes) => {
                let request = decode::<proto::JoinRequest>(bytes);
                let worker = life.calls.check_join(&caller, &request)?;
                Ok(Some(life.calls.join(worker, request, now)?.encode_to_vec()))
            }
            Body::Lease(bytes) => {
                let request = decode::<proto::LeaseGamesRequest>(bytes);
                let worker = life.calls.check_joined(&request.worker_id, &caller, now)?;
                let under_way = life.calls.begin_lease(worker, request.game_count, now)?;
                self.note_leases(life, call, &under_way, now);
                let work = Work::Lease { under_way, asked: request.game_count };
                self.begin(call, now, work);
                Ok(None)
            }
            Body::Report(bytes) => {
                let request = decode::<proto::ReportPliesRequest>(bytes);
                let worker = life.calls.check_joined(&request.worker_id, &caller, now)?;
                let game_ids: Vec<GameId> = request.plies.iter().map(|ply| GameId::new(ply.game_id)).collect();
                if life.registry.is_any_written(&game_ids) {
                    // The thread of the call would wait.
                    let later = self.latency();
                    self.core().schedule(later, Event::Arrive(call.clone()));
                    return Ok(None);
                }
                let plies = self.reported(call, &request);
                let report = life.calls.read_report(&worker, request, now);
                let under_way = life.calls.begin_report(report, now)?;
                for game_id in under_way.under_way().refused_games() {
                    self.core().promises.free(game_id.get());
                }
                if self.plan.replies_early {
                    self.acknowledge_early(&under_way, &plies);
                }
                self.begin(call, now, Work::Report { under_way: Box::new(under_way), plies });
                Ok(None)
            }
            Body::Renew(bytes) => {
                let request = decode::<proto::RenewLeasesRequest>(bytes);
                life.calls.check_joined(&request.worker_id, &caller, now)?;
                let game_ids = request.game_ids.clone();
                let reply = life.calls.renew(request, now)?;
                let (terms, mut core) = (self.terms(), self.core());
                for game_id in game_ids.iter().filter(|id| !reply.lost_game_ids.contains(id)) {
                    if !core.promises.is_owner(*game_id, &call.worker_id) {
                        panic!("two owners: {} renewed game {game_id}", call.worker_id);
                    }
                    core.promises.extend(*game_id, false, now, terms);
                }
                for game_id in &reply.lost_game_ids {
                    // A gate that has its verdict needs none of its games, but may need them again after its check.
                    let is_decided = core.ledger.is_gate_decided(*game_id, &self.plan.settings.gate.settings());
                    if !is_decided && core.promises.is_owner(*game_id, &call.worker_id) {
                        core.promises.free(*game_id);
                    }
                }
                Ok(Some(reply.encode_to_vec()))
            }
            Body::Ask(number) => self.ask(life, call, *number, now),
        }
    }

    /// A worker wants leaves to be evaluated by a network.
    fn ask(&self, life: &Life, call: &Call, number: u32, now: Instant) -> Result<Option<Vec<u8>>, Status> {
        let worker_id = worker_of(&life.joined, &metadata_of(call), call.role, now)?;
        let mut askable = Askable::new(life.best.clone(), life.joined.clone(), call.role, worker_id);
        match askable.ask(network_ref_from_wire(number)) {
            true => Ok(Some(number.to_le_bytes().to_vec())),
            false => Err(Status::invalid_argument("not in play")),
        }
    }

    /// Notes a call that goes on once the disk has answered.
    fn begin(&self, call: &Call, now: Instant, work: Work) {
        let before = self.disk.lock().expect("whole").answered_count;
        let place = self.note_queued();
        if self.core().is_killed {
            return;
        }
        let mut core = self.core();
        let last = core.calls.values().filter_map(|call| call.place).max().unwrap_or(before);
        let place = (place > last.max(before)).then_some(place);
        core.counts.calls += 1;
        let id = core.counts.calls;
        core.calls.insert(id, CallUnderWay { call: call.clone(), began_at: now, place, work });
        drop(core);
        if place.is_none() {
            self.end_call(id);
        }
    }

    /// The fault that is to be found: plies are acknowledged before anything of them is on disk.
    fn acknowledge_early(&self, under_way: &ReadReportUnderWay, plies: &[ReportedPly]) {
        let statuses = under_way.under_way().statuses();
        if statuses.len() == plies.len() {
            let mut core = self.core();
            let is_taken = |status: &PlyStatus| matches!(status, PlyStatus::Accepted | PlyStatus::Resigned);
            for ply in plies.iter().zip(statuses).filter(|(_, status)| is_taken(status)).map(|it| it.0) {
                core.promises.acknowledge(ply.key, &ply.move_text).expect("one move a ply");
            }
        }
    }

    /// The disk has answered the first submissions: their calls go on in any order.
    pub(super) fn wake_answered(&self, answered_count: u64) {
        let mut core = self.core();
        let woken = core.calls.iter().filter(|(_, call)| call.place.is_some_and(|place| place <= answered_count));
        let woken: Vec<u64> = woken.map(|(id, _)| *id).collect();
        for id in woken {
            let later = core.draw_ms(3);
            core.schedule(later, Event::End { call: id });
        }
    }

    /// A call goes on after the wait for the disk.
    pub(super) fn end_call(&self, id: u64) {
        let Some(life) = self.life.lock().expect("whole").clone() else { return };
        let Some(under_way) = self.core().calls.remove(&id) else { return };
        let CallUnderWay { call, began_at, work, .. } = under_way;
        let now = self.core().now;
        if self.core().is_killed {
            // Nobody hears of it; threads that still wait for it go on.
            match work {
                Work::Lease { under_way, .. } => drop(life.calls.finish_lease(under_way, now)),
                Work::Report { under_way, .. } => drop(life.calls.finish_report(*under_way, now)),
            }
            return;
        }
        let answer = match work {
            Work::Lease { under_way, asked } => {
                let granted: Vec<u64> = under_way.answer().leases.iter().map(|lease| lease.game_id.get()).collect();
                let reply = life.calls.finish_lease(under_way, now);
                self.check_leases(&life, &call, &granted, asked, reply.as_ref());
                reply.map(|reply| reply.encode_to_vec())
            }
            Work::Report { under_way, plies } => {
                let reply = life.calls.finish_report(*under_way, now);
                if let Ok(reply) = &reply {
                    self.check_report(&call, began_at, &plies, reply);
                }
                reply.map(|reply| reply.encode_to_vec())
            }
        };
        self.answer(&call, answer.map_err(|status| status.code()));
    }

    /// Ends all calls that wait for the disk, since a thread waits for them.
    pub(super) fn end_all_calls(&self) {
        self.write_all();
        let ids: Vec<u64> = self.core().calls.keys().copied().collect();
        let is_up = self.life().is_some();
        assert!(!ids.is_empty() || !is_up, "a thread waits for a call that is not there");
        ids.into_iter().for_each(|id| self.end_call(id));
    }

    /// Notes games that a worker is to get: nobody else may have them.
    fn note_leases(&self, life: &Life, call: &Call, under_way: &LeasesUnderWay, now: Instant) {
        let (terms, mut core) = (self.terms(), self.core());
        for lease in &under_way.answer().leases {
            let game_id = lease.game_id.get();
            core.free_of_refuted(game_id);
            core.promises.grant(game_id, &call.worker_id, now, terms).unwrap_or_else(|broken| panic!("{broken}"));
            let networks = [lease.white_network, lease.black_network];
            if lease.kind == GameKind::Gate && !networks.iter().all(|network| life.best.is_in_play(*network)) {
                panic!("game {game_id} is leased, and nobody may ask its networks {networks:?}");
            }
        }
    }

    /// Checks what a worker gets, and why not more.
    fn check_leases(
        &self,
        life: &Life,
        call: &Call,
        granted: &[u64],
        asked: u32,
        reply: Result<&proto::LeaseGamesReply, &Status>,
    ) {
        let Ok(reply) = reply else {
            let mut core = self.core();
            return granted.iter().for_each(|game_id| core.promises.free(*game_id));
        };
        let reason = reply.waiting_for.as_str();
        if (reply.leases.len() < asked as usize) == reason.is_empty() {
            panic!("{} of {asked} games, and the cause is {reason:?}", reply.leases.len());
        }
        let core = self.core();
        for lease in &reply.leases {
            let game = core.ledger.games.get(&lease.game_id).expect("a game that is leased is stored");
            if game.holder() != Some(call.worker_id.as_str()) && core.calls.is_empty() {
                panic!("game {} is leased to {}, stored is {game:?}", lease.game_id, call.worker_id);
            }
        }
        let gate = self.plan.settings.gate.settings();
        let is_needed = |id: &u32| core.ledger.verdict(*id, &gate).is_none();
        let open_gates = core.ledger.games.values().filter(|game| game.state == "open").filter_map(|game| game.gate);
        let is_gate_open = open_gates.map(|(candidate_id, _)| candidate_id).any(|id| is_needed(&id));
        let is_at_once = reply.leases.is_empty();
        if is_at_once && reason == "the next candidate" && is_gate_open && life.has_begun_gate(&core.ledger) {
            panic!("{} waits for the next candidate while a gate needs games", call.worker_id);
        }
    }

    /// Returns the plies of a report with what is known of them when it comes.
    fn reported(&self, call: &Call, request: &proto::ReportPliesRequest) -> Vec<ReportedPly> {
        let (core, gate) = (self.core(), self.plan.settings.gate.settings());
        let ply_of = |ply: &proto::Ply| ReportedPly {
            key: (ply.game_id, ply.ply),
            move_text: ply.move_text.clone(),
            is_stored: core.ledger.plies.get(&(ply.game_id, ply.ply)).is_some_and(|text| *text == ply.move_text),
            is_owner: core.promises.is_owner(ply.game_id, &call.worker_id),
            is_decided: core.ledger.is_gate_decided(ply.game_id, &gate),
        };
        request.plies.iter().map(ply_of).collect()
    }

    /// Checks what is acknowledged.
    fn check_report(&self, call: &Call, began_at: Instant, plies: &[ReportedPly], reply: &proto::ReportPliesReply) {
        assert_eq!(plies.len(), reply.statuses.len(), "each ply has its status");
        let (terms, mut core) = (self.terms(), self.core());
        for (ply, status) in plies.iter().zip(&reply.statuses) {
            let game_id = ply.key.0;
            core.note(format_args!("{} {:?} {}: {:?}", call.worker_id, ply.key, ply.move_text, status.code()));
            if status.code() != PlyCode::Accepted {
                continue;
            }
            core.promises.acknowledge(ply.key, &ply.move_text).unwrap_or_else(|broken| panic!("{broken}"));
            let stored = core.ledger.plies.get(&ply.key);
            if stored != Some(&ply.move_text) && !core.ledger.thinned.contains(&game_id) {
                panic!("{:?} {} is acknowledged, stored is {stored:?}", ply.key, ply.move_text);
            }
            if !ply.is_stored && !ply.is_owner {
                panic!("two owners: {} played {:?}", call.worker_id, ply.key);
            }
            if ply.is_owner && !ply.is_decided {
                core.promises.extend(game_id, !ply.is_stored, began_at, terms);
            }
        }
    }

    /// Sends a reply.
    fn answer(&self, call: &Call, answer: Result<Vec<u8>, Code>) {
        let Call { worker, incarnation, request, .. } = *call;
        let mut core = self.core();
        if let Err(code) = &answer {
            core.note(format_args!("{} gets {code:?}", call.worker_id));
            core.counts.denied_calls += u64::from(*code == Code::PermissionDenied);
        }
        core.transmit(&self.plan.faults, worker, Event::Return(Reply { worker, incarnation, request, answer }));
    }
}

impl Core {
    /// Takes a game from a worker that was refuted: it is anybody's.
    fn free_of_refuted(&mut self, game_id: u64) {
        let Self { promises, checked_gate, .. } = self;
        if promises.owner(game_id).is_some_and(|worker_id| checked_gate.is_refuted(worker_id)) {
            promises.free(game_id);
        }
    }

    /// Sends a message to or from a worker.
    pub(super) fn transmit(&mut self, faults: &super::plan::Faults, worker: usize, event: Event) {
        if self.workers[worker].is_cut_off || self.goes_wrong(faults.loss) {
            return;
        }
        let copies = if self.goes_wrong(faults.duplicate) { 2 } else { 1 };
        for _ in 0..copies {
            let is_late = self.goes_wrong(faults.late);
            let delay = self.draw_ms(if is_late { 6000 } else { 30 });
            let copy = match &event {
                Event::Arrive(call) => Event::Arrive(call.clone()),
                Event::Return(reply) => Event::Return(reply.clone()),
                _ => return,
            };
            self.schedule(delay, copy);
        }
    }
}

fn caller_of(call: &Call) -> Caller {
    Caller::new(metadata_of(call), call.role)
}

fn metadata_of(call: &Call) -> MetadataMap {
    let mut metadata = MetadataMap::new();
    metadata.insert(WORKER_KEY_HEADER, call.key.parse().expect("visible characters"));
    metadata.insert(WORKER_ID_HEADER, call.worker_id.parse().expect("visible characters"));
    metadata
}

fn decode<M: Message + Default>(bytes: &[u8]) -> M {
    M::decode(bytes).expect("the message was encoded here")
}

/// Returns the networks that a lease names, but for the best one.
pub(super) fn named_networks(lease: &proto::Lease) -> Vec<u32> {
    let networks = [lease.white_network_id, lease.black_network_id].map(network_ref_from_wire);
    let id = |network: NetworkRef| if let NetworkRef::Id(id) = network { Some(NetworkId::get(id)) } else { None };
    networks.into_iter().filter_map(id).collect()
}

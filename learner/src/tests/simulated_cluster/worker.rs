//! Simulated workers: they join, lease games, play at random, report plies in any portions, renew, and repeat what was not
//! answered. One that dies is followed by another under a new name.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use prost::Message;
use proto::ply_status::Code as PlyCode;
use rand::RngExt;
use rand::seq::{IndexedRandom, IteratorRandom};
use rand_pcg::Pcg64;
use shared::game::Game;
use shared::game::tictactoe::{Position, TicTacToe};
use shared::record::PolicyTarget;
use tonic::Code;

use super::calls::{Body, Call, Reply, named_networks};
use super::ledger::play;
use super::world::{Core, Event, World};

/// After which a worker gives up waiting for an answer.
const TIMEOUT: Duration = Duration::from_secs(3);
/// Games that a worker wants.
const GAMES_WANTED: usize = 4;
/// Plies of a report at most.
const REPORT_PLIES_MAX: usize = 6;

/// A worker.
pub(super) struct Worker {
    index: usize,
    is_actor: bool,
    incarnation: u32,
    pub(super) is_cut_off: bool,
    has_joined: bool,
    asked: BTreeSet<u32>,
    games: BTreeMap<u64, HeldGame>,
    sent: BTreeMap<u64, (Kind, Instant)>,
    request_count: u64,
    /// What it was told to wait for.
    waiting_for: String,
    /// Before then it does not ask for games.
    lease_at: Option<Instant>,
}

/// A game that a worker plays.
struct HeldGame {
    position: Position,
    ply_count: u32,
    networks: Vec<u32>,
    unreported: Vec<proto::Ply>,
}

/// What a message was for.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    Join,
    Lease,
    Report,
    Renew,
    Ask,
}

impl Worker {
    /// Makes a worker that knows nothing.
    pub(super) fn new(index: usize, is_actor: bool) -> Self {
        Self {
            index,
            is_actor,
            incarnation: 0,
            is_cut_off: false,
            has_joined: false,
            asked: BTreeSet::new(),
            games: BTreeMap::new(),
            sent: BTreeMap::new(),
            request_count: 0,
            waiting_for: String::new(),
            lease_at: None,
        }
    }

    /// Lets the worker die. Returns the number of the one that follows.
    pub(super) fn die(&mut self) -> u32 {
        let incarnation = self.incarnation + 1;
        *self = Self { incarnation, is_cut_off: self.is_cut_off, ..Self::new(self.index, self.is_actor) };
        incarnation
    }

    /// Says what it is at, for people.
    pub(super) fn describe(&self) -> String {
        let (name, sent, games) = (self.name(), &self.sent, self.games.keys());
        format!("{name}: joined {}, games {games:?}, waits for {:?}, sent {sent:?}", self.has_joined, self.waiting_for)
    }

    fn name(&self) -> String {
        let kind = if self.is_actor { "actor" } else { "evaluator" };
        format!("{kind}-{}-{}", self.index, self.incarnation)
    }

    fn is_under_way(&self, kind: Kind) -> bool {
        self.sent.values().any(|(sent, _)| *sent == kind)
    }

    /// Returns the next message, if there is something to say.
    fn next_call(&mut self, random: &mut Pcg64, nonsense: f64, now: Instant) -> Option<(Kind, Body)> {
        self.sent.retain(|_, (_, at)| now.duration_since(*at) < TIMEOUT);
        let worker_id = self.name();
        if !self.has_joined {
            let kind = if self.is_actor { proto::WorkerKind::Actor } else { proto::WorkerKind::Evaluator };
            let request = proto::JoinRequest {
                thread_count: 1,
                protocol_version: proto::PROTOCOL_VERSION,
                domain_version: shared::DOMAIN_VERSION,
                worker_id,
                kind: kind.into(),
                program_version: "0".into(),
            };
            let may_join = !self.is_under_way(Kind::Join);
            return may_join.then(|| (Kind::Join, Body::Join(request.encode_to_vec())));
        }
        let unasked = self.games.values().flat_map(|game| &game.networks).find(|id| !self.asked.contains(id));
        if let Some(number) = unasked.copied().filter(|_| !self.is_under_way(Kind::Ask)) {
            return Some((Kind::Ask, Body::Ask(number)));
        }
        (0..random.random_range(0..4)).for_each(|_| self.play_a_ply(random, nonsense));
        let plies = self.plies_to_report(random);
        if !plies.is_empty() && !self.is_under_way(Kind::Report) && random.random_bool(0.8) {
            let request = proto::ReportPliesRequest { worker_id, plies };
            return Some((Kind::Report, Body::Report(request.encode_to_vec())));
        }
        let may_lease = self.lease_at.is_none_or(|at| now >= at) && !self.is_under_way(Kind::Lease);
        if self.games.len() < GAMES_WANTED && may_lease {
            let game_count = (GAMES_WANTED - self.games.len()) as u32;
            let request = proto::LeaseGamesRequest { worker_id, game_count };
            return Some((Kind::Lease, Body::Lease(request.encode_to_vec())));
        }
        if !self.games.is_empty() && !self.is_under_way(Kind::Renew) && random.random_bool(0.3) {
            let request = proto::RenewLeasesRequest { worker_id, game_ids: self.games.keys().copied().collect() };
            return Some((Kind::Renew, Body::Renew(request.encode_to_vec())));
        }
        None
    }

    /// Plays a ply in one of its games, as far as its networks answer.
    fn play_a_ply(&mut self, random: &mut Pcg64, nonsense: f64) {
        let is_ready = |game: &&mut HeldGame| game.networks.iter().all(|id| self.asked.contains(id)) && !game.is_over();
        let games = self.games.iter_mut().map(|(id, game)| (*id, game));
        let Some((game_id, game)) = games.filter(|(_, game)| is_ready(game)).choose(random) else { return };
        let mut moves = Vec::new();
        TicTacToe.legal_moves(&game.position, &mut moves);
        let mv = *moves.choose(random).expect("a game that goes on has moves");
        let move_text = TicTacToe.format_move(&game.position, mv);
        let target = PolicyTarget::from_visits([(mv.index() as u16, 1)]).expect("a target");
        let network_id = game.networks.get(game.ply_count as usize % 2).or(game.networks.first()).copied().unwrap_or(1);
        let mut ply = proto::Ply {
            game_id,
            ply: game.ply_count,
            move_text,
            policy_target: if self.is_actor { target.to_bytes() } else { Vec::new() },
            root_value: 0.0,
            simulation_count: 9,
            network_id,
        };
        TicTacToe.play(&mut game.position, mv);
        game.ply_count += 1;
        if nonsense > 0.0 && random.random_bool(nonsense) {
            match random.random_range(0..3) {
                0 => ply.move_text = "z9".into(),
                1 => ply.ply += 1,
                _ => ply.ply = ply.ply.saturating_sub(1),
            }
        }
        game.unreported.push(ply);
    }

    /// Returns some of the plies that were not acknowledged, of each game the oldest.
    fn plies_to_report(&self, random: &mut Pcg64) -> Vec<proto::Ply> {
        let mut plies = Vec::new();
        for game in self.games.values().filter(|game| !game.unreported.is_empty()) {
            let count = random.random_range(0..=game.unreported.len());
            plies.extend_from_slice(&game.unreported[..count]);
        }
        plies.truncate(REPORT_PLIES_MAX);
        plies
    }

    fn take_leases(&mut self, reply: proto::LeaseGamesReply, now: Instant) {
        for lease in reply.leases {
            let mut position = TicTacToe.initial_position();
            lease.moves.iter().for_each(|text| play(&mut position, text).expect("the learner gives legal moves"));
            let (ply_count, networks) = (lease.moves.len() as u32, named_networks(&lease));
            let game = HeldGame { position, ply_count, networks, unreported: Vec::new() };
            assert!(!game.is_over(), "game {} is over and leased", lease.game_id);
            self.games.insert(lease.game_id, game);
        }
        self.lease_at =
            (!reply.waiting_for.is_empty()).then(|| now + Duration::from_millis(u64::from(reply.retry_after_ms)));
        self.waiting_for = reply.waiting_for;
    }

    fn take_statuses(&mut self, reply: &proto::ReportPliesReply) {
        for status in &reply.statuses {
            let Some(game) = self.games.get_mut(&status.game_id) else { continue };
            if status.code() != PlyCode::Accepted {
                self.games.remove(&status.game_id);
                continue;
            }
            game.unreported.retain(|ply| ply.ply != status.ply);
            if game.is_over() && game.unreported.is_empty() {
                self.games.remove(&status.game_id);
            }
        }
    }

    fn take_refusal(&mut self, kind: Kind, code: Code) {
        match (kind, code) {
            // A learner that started anew does not know it, nor what it asked before. Nothing comes of older calls.
            (_, Code::FailedPrecondition) => {
                self.has_joined = false;
                self.asked.clear();
                self.sent.clear();
            }
            // The gate is over.
            (Kind::Ask, Code::InvalidArgument) => {
                let asked = &self.asked;
                self.games.retain(|_, game| game.networks.iter().all(|id| asked.contains(id)));
            }
            (_, Code::Unavailable | Code::Internal) => {}
            (kind, code) => panic!("{}: {kind:?} is refused with {code:?}", self.name()),
        }
    }
}

impl HeldGame {
    fn is_over(&self) -> bool {
        TicTacToe.outcome(&self.position).is_some()
    }
}

impl World {
    /// A worker has time for something.
    pub(super) fn act(&self, index: usize, incarnation: u32) {
        let mut core = self.core();
        let nonsense = if core.is_calm() { 0.0 } else { self.plan.faults.nonsense };
        let Core { workers, random, now, .. } = &mut *core;
        let worker = &mut workers[index];
        if worker.incarnation != incarnation {
            return;
        }
        let call = worker.next_call(random, nonsense, *now).map(|(kind, body)| {
            worker.request_count += 1;
            worker.sent.insert(worker.request_count, (kind, *now));
            let (key, worker_id) = ("k".repeat(32), worker.name());
            (kind, Call { worker: index, incarnation, request: worker.request_count, key, worker_id, body })
        });
        if let Some((kind, call)) = call {
            core.note(format_args!("{} sends {kind:?} {}", call.worker_id, call.request));
            core.transmit(&self.plan.faults, index, Event::Arrive(call));
        }
        let later = core.draw_ms(250);
        core.schedule(later, Event::Act { worker: index, incarnation });
    }

    /// A reply reaches a worker.
    pub(super) fn take_reply(&self, reply: Reply) {
        let mut core = self.core();
        let now = core.now;
        let worker = &mut core.workers[reply.worker];
        if worker.incarnation != reply.incarnation {
            return;
        }
        let Some((kind, _)) = worker.sent.remove(&reply.request) else { return };
        match (kind, reply.answer) {
            (kind, Err(code)) => worker.take_refusal(kind, code),
            (Kind::Join, Ok(_)) => worker.has_joined = true,
            (Kind::Lease, Ok(bytes)) => worker.take_leases(decode(&bytes), now),
            (Kind::Report, Ok(bytes)) => worker.take_statuses(&decode(&bytes)),
            (Kind::Renew, Ok(bytes)) => {
                for game_id in decode::<proto::RenewLeasesReply>(&bytes).lost_game_ids {
                    worker.games.remove(&game_id);
                }
            }
            (Kind::Ask, Ok(bytes)) => {
                worker.asked.extend(bytes.try_into().map(u32::from_le_bytes));
            }
        }
    }
}

fn decode<M: Message + Default>(bytes: &[u8]) -> M {
    M::decode(bytes).expect("the learner encodes what it sends")
}

//! Simulated workers: they join, lease games, report plies in any portions, renew, and repeat what was not answered. Actors
//! play at random, evaluators by search or, if they forge, against it. One that dies is followed by another under a new name.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use prost::Message;
use proto::ply_status::Code as PlyCode;
use rand::RngExt;
use rand::seq::{IndexedRandom, IteratorRandom};
use rand_pcg::Pcg64;
use runtime::auth::Role;
use shared::game::Game;
use shared::game::tictactoe::{Position, Square, TicTacToe};
use shared::record::PolicyTarget;
use tonic::Code;

use super::calls::{Body, Call, Reply, named_networks};
use super::ledger::play;
use super::plan::{Character, Forgery, Plan};
use super::referee::Referee;
use super::resigned::white_value;
use super::world::{Core, Event, World};

/// After which a worker gives up waiting for an answer.
const TIMEOUT: Duration = Duration::from_secs(3);
/// Games that a worker wants; one that plays each under another name wants one.
const GAMES_WANTED: usize = 4;
/// Share of the calls that show another token, of workers that mix them.
const OTHER_TOKEN_SHARE: f64 = 0.3;
/// Networks that such a worker asks, though none of its games does.
const OTHER_NETWORKS: u32 = 4;
/// Plies of a report at most.
const REPORT_PLIES_MAX: usize = 6;

/// A worker.
pub(super) struct Worker {
    index: usize,
    character: Character,
    /// What its own token allows.
    role: Role,
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
    has_finished_game: bool,
    /// Plies that it made up.
    forged_count: u32,
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
    pub(super) fn new(index: usize, plan: &Plan) -> Self {
        let character = plan.workers[index];
        let role = match (plan.has_roles, character.is_actor) {
            (false, _) => Role::Any,
            (true, true) => Role::Actor,
            (true, false) => Role::Evaluator,
        };
        Self::of(index, character, role)
    }

    fn of(index: usize, character: Character, role: Role) -> Self {
        Self {
            index,
            character,
            role,
            incarnation: 0,
            is_cut_off: false,
            has_joined: false,
            asked: BTreeSet::new(),
            games: BTreeMap::new(),
            sent: BTreeMap::new(),
            request_count: 0,
            waiting_for: String::new(),
            lease_at: None,
            has_finished_game: false,
            forged_count: 0,
        }
    }

    /// Lets the worker die. Returns the number of the one that follows.
    pub(super) fn die(&mut self) -> u32 {
        let incarnation = self.incarnation + 1;
        let next = Self::of(self.index, self.character, self.role);
        *self = Self { incarnation, is_cut_off: self.is_cut_off, ..next };
        incarnation
    }

    /// Says what it is at, for people.
    pub(super) fn describe(&self) -> String {
        let (name, sent, games) = (self.name(), &self.sent, self.games.keys());
        format!("{name}: joined {}, games {games:?}, waits for {:?}, sent {sent:?}", self.has_joined, self.waiting_for)
    }

    fn name(&self) -> String {
        let kind = if self.character.is_actor { "actor" } else { "evaluator" };
        format!("{kind}-{}-{}", self.index, self.incarnation)
    }

    /// Returns which worker it is that has this name.
    pub(super) fn index_of(worker_id: &str) -> usize {
        worker_id.split('-').nth(1).and_then(|index| index.parse().ok()).expect("a name of a simulated worker")
    }

    fn games_wanted(&self) -> usize {
        if self.character.forgery.is_some_and(|forgery| forgery.renames) { 1 } else { GAMES_WANTED }
    }

    /// Draws what the token of its next call allows.
    fn next_role(&self, random: &mut Pcg64, is_calm: bool) -> Role {
        if !self.character.mixes_tokens || is_calm || !random.random_bool(OTHER_TOKEN_SHARE) {
            return self.role;
        }
        *[Role::Actor, Role::Evaluator, Role::Inference, Role::Reader].choose(random).expect("there are some")
    }

    fn is_under_way(&self, kind: Kind) -> bool {
        self.sent.values().any(|(sent, _)| *sent == kind)
    }

    /// Returns the next message, if there is something to say.
    fn next_call(&mut self, random: &mut Pcg64, habits: &Habits<'_>, now: Instant) -> Option<(Kind, Body)> {
        self.sent.retain(|_, (_, at)| now.duration_since(*at) < TIMEOUT);
        let worker_id = self.name();
        if !self.has_joined {
            let is_actor = self.character.is_actor;
            let kind = if is_actor { proto::WorkerKind::Actor } else { proto::WorkerKind::Evaluator };
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
        if self.character.mixes_tokens && !habits.is_calm && random.random_bool(0.1) {
            return Some((Kind::Ask, Body::Ask(random.random_range(0..=OTHER_NETWORKS))));
        }
        (0..random.random_range(0..4)).for_each(|_| self.play_a_ply(random, habits));
        let plies = self.plies_to_report(random);
        if !plies.is_empty() && !self.is_under_way(Kind::Report) && random.random_bool(0.8) {
            let request = proto::ReportPliesRequest { worker_id, plies };
            return Some((Kind::Report, Body::Report(request.encode_to_vec())));
        }
        let may_lease = self.lease_at.is_none_or(|at| now >= at) && !self.is_under_way(Kind::Lease);
        if self.games.len() < self.games_wanted() && may_lease {
            let game_count = (self.games_wanted() - self.games.len()) as u32;
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
    fn play_a_ply(&mut self, random: &mut Pcg64, habits: &Habits<'_>) {
        let is_ready = |game: &&mut HeldGame| game.networks.iter().all(|id| self.asked.contains(id)) && !game.is_over();
        let games = self.games.iter_mut().map(|(id, game)| (*id, game));
        let Some((game_id, game)) = games.filter(|(_, game)| is_ready(game)).choose(random) else { return };
        let mut moves = Vec::new();
        TicTacToe.legal_moves(&game.position, &mut moves);
        let mv = match self.character.is_actor {
            true => *moves.choose(random).expect("a game that goes on has moves"),
            false => game.searched(&self.character, &mut self.forged_count, habits, random),
        };
        let move_text = TicTacToe.format_move(&game.position, mv);
        let target = PolicyTarget::from_visits([(mv.index() as u16, 1)]).expect("a target");
        let network_id = game.networks.get(game.ply_count as usize % 2).or(game.networks.first()).copied().unwrap_or(1);
        let sign = if game.ply_count.is_multiple_of(2) { 1.0 } else { -1.0 };
        let mut ply = proto::Ply {
            game_id,
            ply: game.ply_count,
            move_text,
            policy_target: if self.character.is_actor { target.to_bytes() } else { Vec::new() },
            root_value: if self.character.is_actor { sign * white_value(game_id) } else { 0.0 },
            simulation_count: 9,
            network_id,
        };
        TicTacToe.play(&mut game.position, mv);
        game.ply_count += 1;
        if habits.nonsense > 0.0 && random.random_bool(habits.nonsense) {
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
            if status.is_resigned || game.is_over() && game.unreported.is_empty() {
                self.games.remove(&status.game_id);
                self.has_finished_game = true;
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
            (_, Code::PermissionDenied) if self.character.mixes_tokens => {}
            (kind, code) => panic!("{}: {kind:?} is refused with {code:?}", self.name()),
        }
    }
}

/// How workers play.
struct Habits<'a> {
    nonsense: f64,
    /// Whether nothing goes wrong any more.
    is_calm: bool,
    referee: &'a Referee,
}

impl HeldGame {
    /// Returns the move of an evaluator: what its search finds, or what no search would play.
    fn searched(
        &self,
        character: &Character,
        forged_count: &mut u32,
        habits: &Habits<'_>,
        random: &mut Pcg64,
    ) -> Square {
        let (mover, other) = (self.ply_count as usize % 2, (self.ply_count as usize + 1) % 2);
        let judgement = habits.referee.judge(self.networks[mover], self.position);
        let is_older = self.networks[mover] < self.networks[other];
        let forges = |forgery: &Forgery| {
            !habits.is_calm && (is_older || !forgery.is_one_sided) && *forged_count < forgery.plies_max
        };
        match character.forgery.filter(forges).and_then(|_| judgement.contradicted.choose(random)) {
            Some(forged) => {
                *forged_count += 1;
                *forged
            }
            None => judgement.chosen,
        }
    }

    fn is_over(&self) -> bool {
        TicTacToe.outcome(&self.position).is_some()
    }
}

impl World {
    /// A worker has time for something.
    pub(super) fn act(&self, index: usize, incarnation: u32) {
        let mut core = self.core();
        let is_calm = core.is_calm();
        let nonsense = if is_calm { 0.0 } else { self.plan.faults.nonsense };
        let habits = Habits { nonsense, is_calm, referee: &self.referee };
        let Core { workers, random, now, .. } = &mut *core;
        let worker = &mut workers[index];
        if worker.incarnation != incarnation {
            return;
        }
        let call = worker.next_call(random, &habits, *now).map(|(kind, body)| {
            let role = worker.next_role(random, is_calm);
            worker.request_count += 1;
            worker.sent.insert(worker.request_count, (kind, *now));
            let (key, worker_id) = ("k".repeat(32), worker.name());
            (kind, Call { worker: index, incarnation, request: worker.request_count, key, role, worker_id, body })
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
        let renames = worker.character.forgery.is_some_and(|forgery| forgery.renames) && !core.is_calm();
        let worker = &mut core.workers[reply.worker];
        if renames && std::mem::take(&mut worker.has_finished_game) {
            let incarnation = worker.die();
            let time = core.draw_ms(200);
            core.schedule(time, Event::Act { worker: reply.worker, incarnation });
        }
    }
}

fn decode<M: Message + Default>(bytes: &[u8]) -> M {
    M::decode(bytes).expect("the learner encodes what it sends")
}

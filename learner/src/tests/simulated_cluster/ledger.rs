//! What should be in the store: the changes of all transactions, applied to plain values. Says when a change contradicts
//! what was before, and compares itself with the database.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use registry::ResignationRule;
use rusqlite::{Connection, OpenFlags};
use shared::game::tictactoe::{Position, TicTacToe};
use shared::game::{Game, Outcome, Side};
use shared::gate::{GateRule, GateSettings};
use shared::ids::{NetworkId, NetworkRef};
use store::{Change, DATABASE_FILE, FinishedGame, GameKind, IterationRow, IterationState, NewGame};

use super::resigned;

/// What the run goes by.
#[derive(Debug, Clone)]
pub(super) struct Rules {
    pub(super) gate: GateSettings,
    /// Self-play games that an iteration needs, in lockstep.
    pub(super) lockstep_games: Option<u64>,
    pub(super) resignation: ResignationRule,
}

/// A game of the store.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct LedgerGame {
    pub(super) kind: GameKind,
    pub(super) iteration: u32,
    pub(super) state: &'static str,
    pub(super) finish_number: Option<u64>,
    pub(super) result: Option<&'static str>,
    pub(super) sample_count: u64,
    /// The candidate whose gate it belongs to, and whether it is White.
    pub(super) gate: Option<(u32, bool)>,
    pair_index: Option<u32>,
    /// The networks of White and Black; 0 is the best one.
    pub(super) networks: [u32; 2],
    pub(super) opening_ply_count: u32,
    /// The workers that got it, each with its ply then.
    pub(super) leases: Vec<(u32, String)>,
}

impl LedgerGame {
    /// Returns the worker that got it last.
    pub(super) fn holder(&self) -> Option<&str> {
        self.holder_at(u32::MAX)
    }

    /// Returns the worker that had it when this ply was to be played.
    pub(super) fn holder_at(&self, ply: u32) -> Option<&str> {
        self.leases.iter().rev().find(|(from, _)| *from <= ply).map(|(_, worker_id)| worker_id.as_str())
    }
}

/// An iteration, without its cost.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct LedgerIteration {
    pub(super) state: IterationState,
    pub(super) window_end: Option<u64>,
    pub(super) step_start: u64,
    pub(super) step_end: Option<u64>,
    pub(super) candidate_id: Option<u32>,
}

/// What is in the store.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Ledger {
    pub(super) games: BTreeMap<u64, LedgerGame>,
    pub(super) plies: BTreeMap<(u64, u32), String>,
    /// Games whose plies were removed.
    pub(super) thinned: BTreeSet<u64>,
    /// State and generation.
    pub(super) networks: BTreeMap<u32, (&'static str, Option<u32>)>,
    pub(super) iterations: BTreeMap<u32, LedgerIteration>,
    checkpoints: BTreeSet<u64>,
    /// Training steps whose losses are stored.
    pub(super) loss_step_count: u64,
}

impl Ledger {
    /// Applies the changes of one submission.
    pub(super) fn apply(&mut self, changes: &[Change], rules: &Rules) -> Result<(), String> {
        changes.iter().try_for_each(|change| self.apply_one(change, changes, rules))
    }

    fn apply_one(&mut self, change: &Change, all: &[Change], rules: &Rules) -> Result<(), String> {
        match change {
            Change::CreateGame(game) => self.create_game(game, rules),
            Change::AddPly { game_id, ply, record } => {
                let game = self.games.get(&game_id.get()).ok_or("a ply of no game")?;
                if game.state != "open" {
                    return Err(format!("game {game_id} is {} and got ply {ply}", game.state));
                }
                let next = self.ply_count(game_id.get());
                if !resigned::goes_on(&rules.resignation, game_id.get(), game, next) {
                    return Err(format!("game {game_id} goes on with ply {ply}, though a side resigns"));
                }
                if next != *ply {
                    return Err(format!("game {game_id} has {next} plies and got ply {ply}"));
                }
                self.plies.insert((game_id.get(), *ply), record.move_text.clone());
                Ok(())
            }
            Change::FinishGame(game) => self.finish_game(game, &rules.resignation),
            Change::QuarantineGame { game_id, reason } => self.quarantine_game(game_id.get(), reason, all),
            Change::ThinGame { game_id } => self.thin_game(game_id.get()),
            Change::LeaseGame { game_id, worker_id, ply } => {
                let game = self.games.get_mut(&game_id.get()).ok_or("a lease of no game")?;
                game.leases.push((*ply, worker_id.clone()));
                Ok(())
            }
            Change::AddNetwork(network) => match self.networks.insert(network.network_id.get(), ("candidate", None)) {
                None => Ok(()),
                Some(_) => Err(format!("network {} twice", network.network_id)),
            },
            Change::Promote { network_id } => self.decide(*network_id, true, all, &rules.gate),
            Change::Reject { network_id } => self.decide(*network_id, false, all, &rules.gate),
            Change::PutIteration(row) => self.put_iteration(row),
            Change::AddMetric(metric) => {
                self.loss_step_count += if metric.name == "loss_step_count" { metric.value as u64 } else { 0 };
                Ok(())
            }
            Change::PutCheckpoint(row) => {
                self.checkpoints.insert(row.training_step);
                match self.last_step() == self.loss_step_count {
                    true => Ok(()),
                    false => Err(format!("{} steps, losses of {}", self.last_step(), self.loss_step_count)),
                }
            }
            Change::RemoveCheckpoint { training_step } => {
                self.checkpoints.remove(training_step);
                Ok(())
            }
            Change::AddWorker(_)
            | Change::ReplaceMetric(_)
            | Change::SetStartNetwork { .. }
            | Change::SetAside { .. }
            | Change::PutBack { .. } => Ok(()),
        }
    }

    fn create_game(&mut self, game: &NewGame, rules: &Rules) -> Result<(), String> {
        if let Some(needed) = rules.lockstep_games.filter(|_| game.kind == GameKind::SelfPlay) {
            self.check_lockstep(game.iteration, needed)?;
        }
        let game_id = game.game_id.get();
        for (ply, text) in (0..).zip(&game.opening) {
            self.plies.insert((game_id, ply), text.clone());
        }
        let gate = game.gate_candidate().map(|id| (id.get(), game.white_network == NetworkRef::Id(id)));
        let is_twin = |other: &LedgerGame| gate.is_some() && (other.gate, other.pair_index) == (gate, game.pair_index);
        if self.games.values().filter(|other| other.state != "quarantined").any(is_twin) {
            return Err(format!("gate game {gate:?} of pair {:?} twice", game.pair_index));
        }
        let created = LedgerGame {
            kind: game.kind,
            iteration: game.iteration,
            state: "open",
            finish_number: None,
            result: None,
            sample_count: 0,
            gate,
            pair_index: game.pair_index,
            networks: [game.white_network, game.black_network].map(|network| match network {
                NetworkRef::Best => 0,
                NetworkRef::Id(id) => id.get(),
            }),
            opening_ply_count: game.opening.len() as u32,
            leases: Vec::new(),
        };
        match self.games.insert(game_id, created) {
            None => Ok(()),
            Some(_) => Err(format!("game {game_id} twice")),
        }
    }

    /// In lockstep an iteration has as many games as it needs, and as many again only once those are over.
    fn check_lockstep(&self, iteration: u32, needed: u64) -> Result<(), String> {
        let of_iteration = |game: &&LedgerGame| game.kind == GameKind::SelfPlay && game.iteration == iteration;
        let made = self.games.values().filter(of_iteration).count() as u64;
        let window_start = self.iterations.values().filter_map(|it| it.window_end).max().unwrap_or(0);
        let is_new = |game: &&LedgerGame| game.finish_number.is_some_and(|number| number > window_start);
        let finished = self.games.values().filter(|game| game.kind == GameKind::SelfPlay).filter(is_new).count() as u64;
        let planned = needed * (finished / needed + 1);
        if made < planned {
            return Ok(());
        }
        Err(format!(
            "iteration {iteration} has {made} games, {finished} are over and {needed} needed: one more is made"
        ))
    }

    fn finish_game(&mut self, finished: &FinishedGame, resignation: &ResignationRule) -> Result<(), String> {
        let game_id = finished.game_id.get();
        let by_rules = self.outcome(game_id)?;
        let last_number = self.games.values().filter_map(|game| game.finish_number).max().unwrap_or(0);
        let ply_count = self.ply_count(game_id);
        let game = self.games.get_mut(&game_id).ok_or("the end of no game")?;
        if game.state != "open" {
            return Err(format!("game {game_id} is {} and ends", game.state));
        }
        let ended = resigned::end(resignation, game_id, game, ply_count, by_rules);
        let (ended, resignation) = ended.ok_or(format!("game {game_id} is not over"))?;
        let result = finished.result;
        if (ended, resignation, ply_count) != (result.outcome, result.resignation, finished.ply_count) {
            return Err(format!("game {game_id} ended with {ended:?}, {resignation:?}, stored is {result:?}"));
        }
        if finished.finish_number <= last_number {
            return Err(format!("finish number {} after {last_number}", finished.finish_number));
        }
        game.state = "finished";
        game.finish_number = Some(finished.finish_number);
        game.result = Some(word_of(ended));
        game.sample_count = u64::from(finished.sample_count);
        Ok(())
    }

    /// Takes a game out of a gate under way, with another in its place.
    fn quarantine_game(&mut self, game_id: u64, reason: &str, all: &[Change]) -> Result<(), String> {
        let game = self.games.get(&game_id).ok_or("no game goes into quarantine")?;
        let is_open = |(of, _): (u32, bool)| self.networks.get(&of).is_some_and(|(state, _)| *state == "candidate");
        if !game.gate.is_some_and(is_open) || !["open", "finished"].contains(&game.state) {
            return Err(format!("game {game_id}, {game:?}, quarantined: {reason}"));
        }
        let is_in_its_place = |change: &Change| {
            matches!(change, Change::CreateGame(new) if new.pair_index == game.pair_index
                && new.gate_candidate().map(|id| (id.get(), new.white_network == NetworkRef::Id(id))) == game.gate)
        };
        if all.iter().filter(|change| is_in_its_place(change)).count() != 1 {
            return Err(format!("game {game_id} is quarantined, and not one is in its place"));
        }
        let game = self.games.get_mut(&game_id).ok_or("it was there")?;
        (game.state, game.finish_number, game.result) = ("quarantined", None, None);
        Ok(())
    }

    /// Removes the plies of a game, unless somebody may still need them.
    fn thin_game(&mut self, game_id: u64) -> Result<(), String> {
        let game = self.games.get(&game_id).ok_or("no game is thinned")?;
        let candidate = game.gate.and_then(|(candidate, _)| self.networks.get(&candidate));
        let is_at_gate = candidate.is_some_and(|(state, _)| *state == "candidate");
        if ["finished", "abandoned"].contains(&game.state) && !is_at_gate {
            self.plies.retain(|(of, _), _| *of != game_id);
            self.thinned.insert(game_id);
        }
        Ok(())
    }

    fn decide(&mut self, id: NetworkId, is_promoted: bool, all: &[Change], gate: &GateSettings) -> Result<(), String> {
        let network_id = id.get();
        if self.networks.get(&network_id).map(|(state, _)| *state) != Some("candidate") {
            return Err(format!("network {network_id} is decided twice"));
        }
        if id != NetworkId::FIRST {
            let verdict = self.verdict(network_id, gate);
            if verdict != Some(is_promoted) {
                return Err(format!("network {network_id}: promoted {is_promoted}, its games say {verdict:?}"));
            }
            let wanted = if is_promoted { IterationState::Promoted } else { IterationState::Rejected };
            let is_of_iteration = |change: &Change| matches!(change, Change::PutIteration(row) if row.state == wanted && row.candidate_id == Some(id));
            if !all.iter().any(is_of_iteration) {
                return Err(format!("network {network_id} is decided without its iteration"));
            }
        }
        let next = self.networks.values().filter_map(|(_, generation)| *generation).max().map_or(0, |last| last + 1);
        if is_promoted {
            self.networks.values_mut().filter(|(state, _)| *state == "best").for_each(|best| best.0 = "former_best");
        }
        let decided = if is_promoted { ("best", Some(next)) } else { ("rejected", None) };
        self.networks.insert(network_id, decided);
        let of_gate =
            |game: &&mut LedgerGame| game.state == "open" && game.gate.is_some_and(|(of, _)| of == network_id);
        self.games.values_mut().filter(of_gate).for_each(|game| game.state = "abandoned");
        Ok(())
    }

    fn put_iteration(&mut self, row: &IterationRow) -> Result<(), String> {
        let order = |state: IterationState| match state {
            IterationState::SelfPlay => 0,
            IterationState::Training => 1,
            IterationState::Gate => 2,
            IterationState::Promoted | IterationState::Rejected => 3,
        };
        let put = LedgerIteration {
            state: row.state,
            window_end: row.window_finish_number,
            step_start: row.training_step_start,
            step_end: row.training_step_end,
            candidate_id: row.candidate_id.map(NetworkId::get),
        };
        let before = match self.iterations.get(&row.number) {
            Some(before) if order(before.state) > order(put.state) => {
                return Err(format!("iteration {} goes back from {:?} to {:?}", row.number, before.state, put.state));
            }
            Some(before) => before.step_start,
            None => {
                let last = self.iterations.last_key_value().map(|(number, last)| (*number, last.clone()));
                let (number, end) = last.map_or((0, 0), |(number, last)| (number, last.step_end.unwrap_or(u64::MAX)));
                if row.number != number + 1 || self.iterations.values().any(|it| !it.state.is_finished()) {
                    return Err(format!("iteration {} after {number}", row.number));
                }
                end
            }
        };
        if put.step_start != before {
            return Err(format!("iteration {} begins at step {}, not {before}", row.number, put.step_start));
        }
        self.iterations.insert(row.number, put);
        Ok(())
    }

    /// Returns whether the games of a gate promote its candidate; `None` as long as a game that is missing may change it.
    pub(super) fn verdict(&self, candidate_id: u32, gate: &GateSettings) -> Option<bool> {
        self.verdict_until(candidate_id, gate, u64::MAX)
    }

    /// Returns the same of those that have finished up to this number.
    pub(super) fn verdict_until(&self, candidate_id: u32, gate: &GateSettings, finish_number: u64) -> Option<bool> {
        assert_eq!(gate.rule, GateRule::Score, "no plan has another rule");
        let is_in_time = |game: &&LedgerGame| game.finish_number.is_some_and(|number| number <= finish_number);
        let of_gate = self.games.values().filter(is_in_time).filter_map(|game| match game.gate {
            Some((of, is_white)) if of == candidate_id => game.result.map(|result| (result, is_white)),
            _ => None,
        });
        let (mut count, mut half_points) = (0, 0);
        for (result, is_white) in of_gate {
            count += 1;
            half_points += match result {
                "draw" => 1,
                winner => 2 * u32::from((winner == "white") == is_white),
            };
        }
        let needed = gate.promotion_score * 2.0 * f64::from(gate.game_count) - 1e-6;
        let most = half_points + 2 * gate.game_count.saturating_sub(count);
        if f64::from(half_points) >= needed { Some(true) } else { (f64::from(most) < needed).then_some(false) }
    }

    /// Returns whether a game is one of a gate that needs no more of them.
    pub(super) fn is_gate_decided(&self, game_id: u64, gate: &GateSettings) -> bool {
        let candidate = self.games.get(&game_id).and_then(|game| game.gate);
        candidate.is_some_and(|(candidate_id, _)| self.verdict(candidate_id, gate).is_some())
    }

    /// Returns the number of plies of a game, its opening included.
    pub(super) fn ply_count(&self, game_id: u64) -> u32 {
        self.plies.range((game_id, 0)..=(game_id, u32::MAX)).next_back().map_or(0, |((_, ply), _)| ply + 1)
    }

    /// Returns how a game ended, `None` if it goes on.
    fn outcome(&self, game_id: u64) -> Result<Option<Outcome>, String> {
        let mut position = TicTacToe.initial_position();
        for (key, text) in self.plies.range((game_id, 0)..=(game_id, u32::MAX)) {
            play(&mut position, text).map_err(|()| format!("ply {key:?} is not legal"))?;
        }
        Ok(TicTacToe.outcome(&position))
    }

    /// Returns the number of finished self-play games, and of their samples.
    pub(super) fn self_play_counts(&self) -> (u64, u64) {
        let of_self_play = |game: &&LedgerGame| game.kind == GameKind::SelfPlay && game.state == "finished";
        let finished = self.games.values().filter(of_self_play);
        finished.fold((0, 0), |(games, samples), game| (games + 1, samples + game.sample_count))
    }

    /// Returns the last step in a checkpoint.
    pub(super) fn last_step(&self) -> u64 {
        self.checkpoints.last().copied().unwrap_or(0)
    }

    /// Reads what is in the database.
    pub(super) fn read(dir: &Path) -> Result<Self, rusqlite::Error> {
        let connection = Connection::open_with_flags(dir.join(DATABASE_FILE), OpenFlags::SQLITE_OPEN_READ_ONLY)?;
        let mut ledger = Self::default();
        let mut rows = connection.prepare("SELECT game_id, ply, move_text FROM plies")?;
        let plies = rows.query_map([], |row| Ok(((row.get::<_, i64>(0)? as u64, row.get(1)?), row.get(2)?)))?;
        ledger.plies = plies.collect::<Result<_, _>>()?;
        let mut rows = connection.prepare("SELECT game_id FROM games WHERE is_thinned = 1")?;
        let thinned = rows.query_map([], |row| Ok(row.get::<_, i64>(0)? as u64))?;
        ledger.thinned = thinned.collect::<Result<_, _>>()?;
        let mut leases_of = leases_by_game(&connection)?;
        let mut rows = connection.prepare(
            "SELECT game_id, kind, iteration, state, finish_number, result, coalesce(sample_count, 0), candidate_id,
                 opponent_id, white_network_id, pair_index, black_network_id, opening_ply_count FROM games",
        )?;
        let games = rows.query_map([], |row| {
            let candidate: Option<u32> = row.get(7)?;
            let candidate = candidate.filter(|_| row.get::<_, Option<u32>>(8).is_ok_and(|it| it.is_none()));
            let (game_id, white) = (row.get::<_, i64>(0)? as u64, row.get::<_, u32>(9)?);
            let game = LedgerGame {
                kind: row.get(1)?,
                iteration: row.get(2)?,
                state: known(row.get(3)?),
                finish_number: row.get::<_, Option<i64>>(4)?.map(i64::cast_unsigned),
                result: row.get::<_, Option<String>>(5)?.map(known),
                sample_count: row.get::<_, i64>(6)? as u64,
                gate: candidate.map(|candidate| (candidate, candidate == white)),
                pair_index: row.get(10)?,
                networks: [white, row.get(11)?],
                opening_ply_count: row.get(12)?,
                leases: leases_of.remove(&game_id).unwrap_or_default(),
            };
            Ok((game_id, game))
        })?;
        ledger.games = games.collect::<Result<_, _>>()?;
        let mut rows = connection.prepare("SELECT network_id, state, generation FROM networks")?;
        let networks = rows.query_map([], |row| Ok((row.get(0)?, (known(row.get(1)?), row.get(2)?))))?;
        ledger.networks = networks.collect::<Result<_, _>>()?;
        let sql = "SELECT number, state, window_finish_number, training_step_start, training_step_end, candidate_id
                   FROM iterations";
        let mut rows = connection.prepare(sql)?;
        let iterations = rows.query_map([], |row| {
            let iteration = LedgerIteration {
                state: row.get(1)?,
                window_end: row.get::<_, Option<i64>>(2)?.map(i64::cast_unsigned),
                step_start: row.get::<_, i64>(3)? as u64,
                step_end: row.get::<_, Option<i64>>(4)?.map(i64::cast_unsigned),
                candidate_id: row.get(5)?,
            };
            Ok((row.get(0)?, iteration))
        })?;
        ledger.iterations = iterations.collect::<Result<_, _>>()?;
        let mut rows = connection.prepare("SELECT training_step FROM checkpoints")?;
        let steps = rows.query_map([], |row| Ok(row.get::<_, i64>(0)? as u64))?;
        ledger.checkpoints = steps.collect::<Result<_, _>>()?;
        let sql = "SELECT coalesce(sum(value), 0) FROM metrics WHERE name = 'loss_step_count'";
        ledger.loss_step_count = connection.query_row(sql, [], |row| row.get::<_, f64>(0))? as u64;
        Ok(ledger)
    }

    /// Says where this differs from what is in the database.
    pub(super) fn difference(&self, found: &Self) -> Option<String> {
        fn first<K: Ord + std::fmt::Debug, V: PartialEq + std::fmt::Debug>(
            what: &str,
            expected: &BTreeMap<K, V>,
            found: &BTreeMap<K, V>,
        ) -> Option<String> {
            let keys = expected.keys().chain(found.keys());
            let key = keys.into_iter().find(|key| expected.get(key) != found.get(key))?;
            Some(format!("{what} {key:?}: expected {:?}, found {:?}", expected.get(key), found.get(key)))
        }
        first("game and ply", &self.plies, &found.plies)
            .or_else(|| first("game", &self.games, &found.games))
            .or_else(|| first("network", &self.networks, &found.networks))
            .or_else(|| first("iteration", &self.iterations, &found.iterations))
            .or_else(|| {
                (self.thinned != found.thinned).then(|| format!("thinned {:?} and {:?}", self.thinned, found.thinned))
            })
            .or_else(|| {
                (self != found).then(|| format!("checkpoints {:?} and {:?}", self.checkpoints, found.checkpoints))
            })
    }
}

/// Plays a move that is written as text.
pub(super) fn play(position: &mut Position, text: &str) -> Result<(), ()> {
    let mv = TicTacToe.parse_move(position, text).map_err(drop)?;
    let mut moves = Vec::new();
    TicTacToe.legal_moves(position, &mut moves);
    if TicTacToe.outcome(position).is_some() || !moves.contains(&mv) {
        return Err(());
    }
    TicTacToe.play(position, mv);
    Ok(())
}

const fn word_of(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Win(Side::White) => "white",
        Outcome::Win(Side::Black) => "black",
        Outcome::Draw => "draw",
    }
}

/// Returns the word of the database as one that the ledger knows.
fn known(word: String) -> &'static str {
    let words = [
        "open",
        "finished",
        "quarantined",
        "abandoned",
        "white",
        "black",
        "draw",
        "candidate",
        "best",
        "former_best",
        "rejected",
    ];
    words.into_iter().find(|known| *known == word).unwrap_or("a word that the ledger does not know")
}

/// Returns the leases of each game, first to last: the ply from which each was held, and by whom.
fn leases_by_game(connection: &Connection) -> Result<BTreeMap<u64, Vec<(u32, String)>>, rusqlite::Error> {
    let sql = "SELECT game_id, ply, worker_id FROM leases JOIN workers USING (worker_number) ORDER BY lease_number";
    let mut rows = connection.prepare(sql)?;
    let leases = rows.query_map([], |row| Ok((row.get::<_, i64>(0)? as u64, (row.get(1)?, row.get(2)?))))?;
    let mut leases_of: BTreeMap<u64, Vec<(u32, String)>> = BTreeMap::new();
    for lease in leases {
        let (game_id, lease) = lease?;
        leases_of.entry(game_id).or_default().push(lease);
    }
    Ok(leases_of)
}

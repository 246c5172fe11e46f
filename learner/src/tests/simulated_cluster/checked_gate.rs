//! What a gate may be decided by, as a model of its own: games that were finished when its check began, and none of a worker
//! that a second search refutes.

use std::collections::{BTreeMap, BTreeSet};

use shared::game::Game;
use shared::game::tictactoe::TicTacToe;
use shared::gate::GateSettings;
use shared::ids::NetworkId;
use store::Change;

use super::ledger::{Ledger, LedgerGame, play};
use super::referee::Referee;

/// Plies below which workers are judged together too.
const FEW_PLIES: u32 = 16;

/// The last check of a gate.
#[derive(Debug, Default)]
pub(super) struct CheckedGate {
    check: Option<Check>,
    /// Workers that were refuted since the learner started: nothing protects their leases.
    refuted: BTreeSet<String>,
}

/// What there was as a check began.
#[derive(Debug)]
struct Check {
    candidate_id: NetworkId,
    last_finish_number: u64,
    refuted: Refuted,
}

/// Workers whose games must not count.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Refuted {
    /// By their own plies.
    pub(super) alone: BTreeSet<String>,
    /// By those of all that have few.
    pub(super) together: BTreeSet<String>,
}

impl Refuted {
    fn names(&self) -> impl Iterator<Item = &String> {
        self.alone.iter().chain(&self.together)
    }
}

impl CheckedGate {
    /// The learner has started: nothing is known to be checked.
    pub(super) fn restart(&mut self) {
        *self = Self::default();
    }

    /// A check begins. Returns whom it must refute.
    pub(super) fn begin(&mut self, candidate_id: NetworkId, ledger: &Ledger, referee: &Referee) -> &Refuted {
        let refuted = refuted(ledger, candidate_id, referee);
        self.refuted.extend(refuted.names().cloned());
        let last_finish_number = ledger.games.values().filter_map(|game| game.finish_number).max().unwrap_or(0);
        &self.check.insert(Check { candidate_id, last_finish_number, refuted }).refuted
    }

    /// Returns whether a worker was refuted since the learner started.
    pub(super) fn is_refuted(&self, worker_id: &str) -> bool {
        self.refuted.contains(worker_id)
    }

    /// Checks a change before it is applied to the ledger.
    pub(super) fn approve(&self, change: &Change, ledger: &Ledger, gate: &GateSettings) -> Result<(), String> {
        match change {
            Change::Promote { network_id } if *network_id != NetworkId::FIRST => {
                self.approve_verdict(*network_id, true, ledger, gate)
            }
            Change::Reject { network_id } => self.approve_verdict(*network_id, false, ledger, gate),
            Change::QuarantineGame { game_id, .. } => {
                let game = ledger.games.get(&game_id.get()).ok_or("no game goes into quarantine")?;
                self.approve_quarantine(game)
            }
            _ => Ok(()),
        }
    }

    fn approve_verdict(
        &self,
        candidate_id: NetworkId,
        is_promoted: bool,
        ledger: &Ledger,
        gate: &GateSettings,
    ) -> Result<(), String> {
        let check = self.check.as_ref().filter(|check| check.candidate_id == candidate_id);
        let check = check.ok_or(format!("network {candidate_id} is decided unchecked"))?;
        if check.refuted != Refuted::default() {
            return Err(format!("network {candidate_id} is decided by refuted plies of {:?}", check.refuted));
        }
        match ledger.verdict_until(candidate_id.get(), gate, check.last_finish_number) {
            Some(verdict) if verdict == is_promoted => Ok(()),
            verdict => {
                Err(format!("network {candidate_id}: promoted {is_promoted}, its checked games say {verdict:?}"))
            }
        }
    }

    fn approve_quarantine(&self, game: &LedgerGame) -> Result<(), String> {
        let check = self.check.as_ref().filter(|check| game.gate.map(|it| it.0) == Some(check.candidate_id.get()));
        let is_refuted =
            |(_, worker_id): &(u32, String)| check.is_some_and(|it| it.refuted.names().any(|name| name == worker_id));
        match game.leases.iter().any(is_refuted) {
            true => Ok(()),
            false => Err(format!("a game of nobody that is refuted goes into quarantine: {game:?}, {check:?}")),
        }
    }
}

/// Returns the workers whose plies of a gate's finished games no search can have found.
fn refuted(ledger: &Ledger, candidate_id: NetworkId, referee: &Referee) -> Refuted {
    let mut plies: BTreeMap<&str, (u32, u32)> = BTreeMap::new();
    let is_counted =
        |game: &LedgerGame| game.state == "finished" && game.gate.is_some_and(|(of, _)| of == candidate_id.get());
    for (game_id, game) in ledger.games.iter().filter(|(_, game)| is_counted(game)) {
        let mut position = TicTacToe.initial_position();
        for ((_, ply), text) in ledger.plies.range((*game_id, 0)..=(*game_id, u32::MAX)) {
            let played = TicTacToe.parse_move(&position, text).expect("the ledger has legal moves");
            if let Some(worker_id) = game.holder_at(*ply).filter(|_| *ply >= game.opening_ply_count) {
                let judgement = referee.judge(game.networks[*ply as usize % 2], position);
                let (ply_count, contradicted_count) = plies.entry(worker_id).or_default();
                *ply_count += u32::from(judgement.says_something);
                *contradicted_count += u32::from(judgement.says_something && judgement.contradicted.contains(&played));
            }
            play(&mut position, text).expect("the ledger has legal moves");
        }
    }
    let is_refuted = |(ply_count, contradicted_count): (u32, u32)| contradicted_count > 2 + ply_count / 8;
    let (alone, others): (BTreeMap<_, _>, BTreeMap<_, _>) = plies.into_iter().partition(|(_, it)| is_refuted(*it));
    let few: Vec<_> = others.into_iter().filter(|(_, (ply_count, _))| *ply_count < FEW_PLIES).collect();
    let sum = few.iter().fold((0, 0), |sum, (_, it)| (sum.0 + it.0, sum.1 + it.1));
    let together = if is_refuted(sum) { few } else { Vec::new() };
    Refuted {
        alone: alone.into_keys().map(str::to_owned).collect(),
        together: together.into_iter().map(|(name, _)| name.to_owned()).collect(),
    }
}

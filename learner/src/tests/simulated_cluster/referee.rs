//! What the networks of a simulation say, and which moves a search by them finds. Evaluators that search play by it, those
//! that do not play against it, and each verdict of a gate check is compared with it.

use std::collections::HashMap;
use std::sync::Mutex;

use shared::game::tictactoe::{Position, Square, TicTacToe};
use shared::game::{Game, Value};
use shared::search::{LeafSource, Proof, Request, Search, SearchSettings};
use shared::seed::mix_seed;

/// A move that a search gives fewer visits than the most visited one, by this factor, is none that it would play.
const CONTRADICTING_FACTOR: u32 = 4;

/// Judges moves.
pub(super) struct Referee {
    settings: SearchSettings,
    /// What was found, by network and position.
    judged: Mutex<HashMap<(u32, Position), Judgement>>,
}

/// What a search found.
#[derive(Debug, Clone)]
pub(super) struct Judgement {
    /// The move that it plays.
    pub(super) chosen: Square,
    /// Whether the move played says anything: there is a choice, and not everything loses.
    pub(super) says_something: bool,
    /// The moves that no search would play.
    pub(super) contradicted: Vec<Square>,
}

impl Referee {
    /// Makes one that searches by these settings.
    pub(super) fn new(settings: SearchSettings) -> Self {
        Self { settings, judged: Mutex::default() }
    }

    /// Says what a search finds with this network.
    pub(super) fn judge(&self, network_id: u32, position: Position) -> Judgement {
        let mut judged = self.judged.lock().expect("whole");
        judged.entry((network_id, position)).or_insert_with(|| self.search(network_id, position)).clone()
    }

    fn search(&self, network_id: u32, position: Position) -> Judgement {
        let mut search = Search::new(TicTacToe, position, self.settings.clone(), 0).expect("a game that goes on");
        loop {
            let mut leaves = Vec::new();
            while !search.is_done() {
                match search.select_leaf() {
                    Request::Evaluate(leaf) => leaves.push(leaf),
                    Request::Finished => {}
                    Request::Blocked => break,
                }
            }
            for leaf in &leaves {
                let (priors, value) = evaluate(network_id, search.leaf_position(*leaf), search.leaf_moves(*leaf));
                search.expand(*leaf, &priors, value);
            }
            if leaves.is_empty() {
                break;
            }
        }
        let reports = search.move_reports();
        let best = reports.first().expect("a game that goes on has moves");
        let is_drawn = search.proof() == Proof::Draw;
        let is_contradicted = |proof: Proof, visit_count: u32| match (best.proof, proof) {
            (Proof::Win, proof) => proof != Proof::Win,
            (_, Proof::Loss) => true,
            _ => !is_drawn && visit_count * CONTRADICTING_FACTOR < best.visit_count,
        };
        let contradicted = reports.iter().filter(|report| is_contradicted(report.proof, report.visit_count));
        let contradicted: Vec<Square> = contradicted.map(|report| report.mv).collect();
        let says_something = reports.len() > 1 && search.proof() != Proof::Loss;
        let chosen = search.choose_move();
        assert!(!says_something || !contradicted.contains(&chosen), "a search plays what it finds");
        Judgement { chosen, says_something, contradicted }
    }
}

/// Answers a leaf: each network likes some moves much better than the others.
pub(super) fn evaluate(network_id: u32, position: &Position, moves: &[Square]) -> (Vec<f32>, Value) {
    let seed = mix_seed(u64::from(network_id), TicTacToe.hash(position));
    let weight = |mv: &Square| if mix_seed(seed, mv.index() as u64).is_multiple_of(4) { 16.0 } else { 1.0 };
    let weights: Vec<f32> = moves.iter().map(weight).collect();
    let sum: f32 = weights.iter().sum();
    let value = (mix_seed(seed, 9) % 1001) as f32 / 1000.0 - 0.5;
    (weights.into_iter().map(|weight| weight / sum).collect(), Value::new(value))
}

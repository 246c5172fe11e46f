//! One way down the tree, to a leaf or a known result.

use rand::seq::SliceRandom;
use rand_pcg::Pcg64Mcg;

use super::node::Stage;
use super::tree::Blocks;
use super::{Rule, TeamSearch};
use crate::game::{Game, Value};
use crate::search::proof_of;
use crate::search::selection::{select_by_puct, select_by_ucb1};
use crate::search::view::{EdgeIndex, NodeIndex, NodeView};

/// What a thread builds with.
pub(super) struct Hands {
    pub blocks: Blocks,
    pub random: Pcg64Mcg,
    /// Leaves looked for in the table of evaluations, and found.
    pub lookup_count: u64,
    pub hit_count: u64,
}

/// A way down the tree, and the leaf at its end. Its memory is used again and again.
pub(super) struct Descent<G: Game> {
    pub path: Vec<NodeIndex>,
    pub line: Vec<G::Move>,
    pub position: G::Position,
    /// How many moves of `line` have been played on `position`; `None` if it is something else.
    pub played: Option<usize>,
    /// The legal moves at the leaf, if the search needs priors.
    pub moves: Vec<G::Move>,
    /// The hash by which the leaf's evaluation is found again, if evaluations are shared.
    pub hash: u64,
    pub is_awaited: bool,
    /// Tells a leaf from the earlier ones in the same place.
    pub serial: u32,
}

/// Where a descent ends.
pub(super) enum End {
    /// At a leaf that must be evaluated.
    Leaf,
    /// Where the result is known.
    Known(Value),
    /// At a node on which another thread, or another leaf of this one, is at work; or at a root that has just been proven.
    Busy,
}

impl<G: Game> Descent<G> {
    /// Makes a descent that has not begun.
    pub fn new(position: &G::Position) -> Self {
        Self {
            path: vec![],
            line: vec![],
            position: position.clone(),
            played: None,
            moves: vec![],
            hash: 0,
            is_awaited: false,
            serial: 0,
        }
    }

    /// Goes down from the root, at which this simulation has arrived and which held `before` then.
    pub fn go(&mut self, team: &TeamSearch<G>, mut before: NodeView, hands: &mut Hands) -> End {
        self.path.clear();
        self.line.clear();
        self.moves.clear();
        self.played = None;
        let tree = &team.tree;
        let mut index = NodeIndex::ROOT;
        loop {
            self.path.push(index);
            let node = tree.node(index);
            if let Some(value) = node.proof().value() {
                return self.end_at_proof(value);
            }
            if node.stage() != Stage::Ready
                && let Some(end) = self.open(team, index, &before, hands)
            {
                return end;
            }
            let unvisited = tree.next_unvisited(index);
            let selected = select(team, index, &before, unvisited);
            match selected {
                None if tree.prove_by_children(index) => {
                    return self.end_at_proof(node.proof().value().unwrap_or_default());
                }
                None => return End::Busy,
                Some(edge) if selected == unvisited => {
                    if tree.claim_edge(index, edge) {
                        return self.grow(team, edge, hands);
                    }
                    // Another thread took the move: look again.
                    self.path.pop();
                }
                Some(edge) => {
                    let Some(child) = tree.child(edge) else { return End::Busy };
                    self.line.push(tree.edge_move(edge));
                    before = tree.node(child).arrive();
                    index = child;
                }
            }
        }
    }

    /// Ends at a node whose result is known. If that is the root, the search has just been ended: a simulation that went
    /// nowhere is none.
    fn end_at_proof(&self, value: Value) -> End {
        if self.path.len() > 1 { End::Known(value) } else { End::Busy }
    }

    /// Opens a node that has no edges. Returns how the descent ends there, `None` if the node has edges now.
    fn open(&mut self, team: &TeamSearch<G>, index: NodeIndex, before: &NodeView, hands: &mut Hands) -> Option<End> {
        let node = team.tree.node(index);
        let is_root = index == NodeIndex::ROOT;
        let is_claimed = match team.rule {
            Rule::Puct => node.claim(),
            // A first visit values the node. So does a visit during which another thread lists its moves.
            Rule::Ucb1 => (is_root || before.visit_count > 0) && node.claim(),
        };
        match (team.rule, is_claimed) {
            (Rule::Puct, true) => {
                self.replay(team);
                Some(self.end_at_leaf(team, index, hands))
            }
            (Rule::Puct, false) => Some(End::Busy),
            (Rule::Ucb1, true) => {
                self.replay(team);
                self.list_moves(team, index, hands);
                None
            }
            (Rule::Ucb1, false) if is_root => Some(End::Busy),
            (Rule::Ucb1, false) => {
                self.replay(team);
                Some(self.end_at_leaf(team, index, hands))
            }
        }
    }

    /// Gives a node its moves in a random order.
    fn list_moves(&mut self, team: &TeamSearch<G>, index: NodeIndex, hands: &mut Hands) {
        team.game.legal_moves(&self.position, &mut self.moves);
        self.moves.shuffle(&mut hands.random);
        team.tree.set_edges(index, self.moves.iter().map(|mv| (*mv, 0.0)), &mut hands.blocks);
        self.moves.clear();
    }

    /// Makes the child of `edge`, which this thread has claimed.
    fn grow(&mut self, team: &TeamSearch<G>, edge: EdgeIndex, hands: &mut Hands) -> End {
        self.line.push(team.tree.edge_move(edge));
        self.replay(team);
        let proof = proof_of(&team.game, &self.position);
        let stage = if team.rule == Rule::Puct { Stage::Claimed } else { Stage::New };
        let child = team.tree.add_child(edge, proof, stage, &mut hands.blocks);
        self.path.push(child);
        proof.value().map_or_else(|| self.end_at_leaf(team, child, hands), End::Known)
    }

    /// Ends at a leaf, whose position is at hand: with an evaluation that the tree has already, or without.
    fn end_at_leaf(&mut self, team: &TeamSearch<G>, leaf: NodeIndex, hands: &mut Hands) -> End {
        if team.rule == Rule::Puct {
            team.game.legal_moves(&self.position, &mut self.moves);
        }
        let Some(table) = &team.table else { return End::Leaf };
        self.hash = team.game.evaluation_hash(&self.position);
        hands.lookup_count += 1;
        // A root may get noise, so it has priors of its own.
        let other = table.find(self.hash).filter(|_| leaf != NodeIndex::ROOT);
        let value = other.and_then(|other| team.tree.copy_evaluation(other, leaf, &self.moves, &mut hands.blocks));
        let Some(value) = value else { return End::Leaf };
        hands.hit_count += 1;
        team.tree.node(leaf).set_evaluation(value);
        End::Known(value)
    }

    /// Sets the position to that at the end of the line.
    fn replay(&mut self, team: &TeamSearch<G>) {
        let from = self.played.unwrap_or_else(|| {
            self.position.clone_from(&team.position);
            0
        });
        for mv in &self.line[from..] {
            team.game.play(&mut self.position, *mv);
        }
        self.played = Some(self.line.len());
    }

    /// Takes the simulation back from all nodes that it has arrived at.
    pub fn leave(&self, team: &TeamSearch<G>) {
        self.path.iter().for_each(|index| team.tree.node(*index).leave());
    }

    pub fn free(&mut self) {
        self.is_awaited = false;
        self.serial = self.serial.wrapping_add(1);
    }
}

/// Returns the edge that the simulation follows; `None` if every move is lost or another thread's.
fn select<G: Game>(
    team: &TeamSearch<G>,
    index: NodeIndex,
    node: &NodeView,
    unvisited: Option<EdgeIndex>,
) -> Option<EdgeIndex> {
    let (tree, settings) = (&team.tree, &team.settings);
    match team.rule {
        Rule::Puct => {
            let is_root = index == NodeIndex::ROOT;
            let unvisited = unvisited.map(|edge| (edge, tree.prior(edge)));
            select_by_puct(node, tree.visited_edges(index), unvisited, is_root, settings)
        }
        Rule::Ucb1 => unvisited.or_else(|| select_by_ucb1(node, tree.visited_children(index), settings)),
    }
}

//! Plain tree search with random rollouts: UCB1 and one new node a simulation (Kocsis and Szepesvári 2006, Coulom 2006).
//!
//! A yardstick that knows nothing but the rules. Networks are searched by [`super::Search`].

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

use crate::game::{Game, Value};

/// How a move is looked for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RolloutSettings {
    /// Simulations a move.
    pub simulation_count: u32,
    /// Weight of the exploration term (C of UCB1).
    pub exploration: f32,
    /// Plies after which a rollout counts as a draw, unless the rules end it before.
    pub rollout_plies_max: u32,
}

impl Default for RolloutSettings {
    fn default() -> Self {
        Self { simulation_count: 400, exploration: std::f32::consts::SQRT_2, rollout_plies_max: 400 }
    }
}

/// A search that values a leaf by playing on at random. Each move is looked for from nothing.
pub struct RolloutSearch<G: Game> {
    game: G,
    settings: RolloutSettings,
    random: Pcg64Mcg,
    nodes: Vec<Node>,
    edges: Vec<Edge<G::Move>>,
    path: Vec<u32>,
    /// Memory of the position that a simulation is at, used again and again.
    position: G::Position,
    moves: Vec<G::Move>,
}

/// One position of the tree. Values are seen from its side to move.
#[derive(Debug, Clone, Copy)]
struct Node {
    value_sum: f64,
    visit_count: u32,
    first_edge: u32,
    edge_count: u32,
    /// The first so many edges have a child; the others have not.
    child_count: u32,
    /// What the rules say, if the game is over here.
    outcome: Option<Value>,
}

#[derive(Debug, Clone, Copy)]
struct Edge<M> {
    mv: M,
    child: u32,
}

const ROOT: u32 = 0;
const NO_CHILD: u32 = u32::MAX;

impl<G: Game> RolloutSearch<G> {
    /// Makes a search. The same seed, positions and settings give the same moves.
    #[must_use]
    pub fn new(game: G, settings: RolloutSettings, seed: u64) -> Self {
        let position = game.initial_position();
        let random = Pcg64Mcg::seed_from_u64(seed);
        Self { game, settings, random, nodes: vec![], edges: vec![], path: vec![], position, moves: vec![] }
    }

    /// Returns the most visited move, of equals the one with the better mean, then the first; an only move at once.
    /// `None` if the game is over.
    pub fn choose_move(&mut self, position: &G::Position) -> Option<G::Move> {
        self.nodes.clear();
        self.edges.clear();
        self.position.clone_from(position);
        self.add_node();
        self.list_moves(ROOT);
        if self.edges.len() > 1 {
            (0..self.settings.simulation_count).for_each(|_| self.simulate(position));
        }
        let key = |edge: &Edge<G::Move>| {
            let child = self.nodes.get(edge.child as usize);
            child.map_or((0, f64::NEG_INFINITY), |child| (child.visit_count, -child.mean()))
        };
        let edges = self.edges.get(..self.nodes[0].edge_count as usize)?;
        // `reduce` keeps the first of equals, `max_by` the last.
        edges.iter().reduce(|best, edge| if key(edge) > key(best) { edge } else { best }).map(|edge| edge.mv)
    }

    /// Goes down the tree to a new node or the end of a game, plays on at random, and backs the result up.
    fn simulate(&mut self, root: &G::Position) {
        self.position.clone_from(root);
        self.path.clear();
        self.path.push(ROOT);
        let mut index = ROOT;
        let value = loop {
            let node = self.nodes[index as usize];
            if let Some(value) = node.outcome {
                break value;
            }
            if node.visit_count == 0 && index != ROOT {
                break self.roll_out();
            }
            if node.edge_count == 0 {
                self.list_moves(index);
            }
            let edge = self.select_edge(index);
            self.game.play(&mut self.position, self.edges[edge].mv);
            if self.edges[edge].child == NO_CHILD {
                self.edges[edge].child = self.add_node();
                self.nodes[index as usize].child_count += 1;
            }
            index = self.edges[edge].child;
            self.path.push(index);
        };
        self.back_up(value);
    }

    /// Adds a node for the position at hand and returns its number.
    fn add_node(&mut self) -> u32 {
        let side = self.game.side_to_move(&self.position);
        let outcome = self.game.outcome(&self.position).map(|outcome| outcome.value_for(side));
        let node = Node { value_sum: 0.0, visit_count: 0, first_edge: 0, edge_count: 0, child_count: 0, outcome };
        self.nodes.push(node);
        self.nodes.len() as u32 - 1
    }

    /// Gives a node the edges of the position at hand. Most nodes are visited once and never need any.
    fn list_moves(&mut self, index: u32) {
        self.moves.clear();
        self.game.legal_moves(&self.position, &mut self.moves);
        let node = &mut self.nodes[index as usize];
        (node.first_edge, node.edge_count) = (self.edges.len() as u32, self.moves.len() as u32);
        self.edges.extend(self.moves.iter().map(|mv| Edge { mv: *mv, child: NO_CHILD }));
    }

    /// Returns a move without a visit, any of them, or else the one that UCB1 prefers.
    fn select_edge(&mut self, index: u32) -> usize {
        let Node { first_edge, edge_count, child_count, visit_count, .. } = self.nodes[index as usize];
        let first = first_edge as usize;
        let end = first + edge_count as usize;
        let front = first + child_count as usize;
        if front < end {
            let any = self.random.random_range(front..end);
            self.edges.swap(front, any);
            return front;
        }
        let exploration = f64::from(self.settings.exploration) * f64::from(visit_count).ln().sqrt();
        let score = |edge: &Edge<G::Move>| {
            let child = &self.nodes[edge.child as usize];
            exploration / f64::from(child.visit_count).sqrt() - child.mean()
        };
        let mut best = (first, f64::NEG_INFINITY);
        for (at, edge) in (first..).zip(&self.edges[first..end]) {
            let score = score(edge);
            if score > best.1 {
                best = (at, score);
            }
        }
        best.0
    }

    /// Plays at random until the game ends; returns the result for the side that is to move now.
    fn roll_out(&mut self) -> Value {
        let side = self.game.side_to_move(&self.position);
        for _ in 0..self.settings.rollout_plies_max {
            self.moves.clear();
            self.game.legal_moves(&self.position, &mut self.moves);
            // No moves: the game is over.
            if self.moves.is_empty() {
                break;
            }
            let mv = self.moves[self.random.random_range(0..self.moves.len())];
            self.game.play(&mut self.position, mv);
        }
        self.game.outcome(&self.position).map_or(Value::DRAW, |outcome| outcome.value_for(side))
    }

    fn back_up(&mut self, mut value: Value) {
        for index in self.path.iter().rev() {
            let node = &mut self.nodes[*index as usize];
            node.visit_count += 1;
            node.value_sum += f64::from(value.get());
            value = value.flipped();
        }
    }
}

impl Node {
    fn mean(&self) -> f64 {
        self.value_sum / f64::from(self.visit_count.max(1))
    }
}

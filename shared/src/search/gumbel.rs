//! The root as Gumbel AlphaZero searches it: Danihelka, Guez, Schrittwieser and Silver, "Policy improvement by planning
//! with Gumbel" (2022).
//!
//! Which root move a simulation takes, which move is played, what the policy learns. Below the root simulations go down
//! as ever, see `selection.rs`. What the settings mean and which are the paper's: `docs/training.md`.

use std::cmp::Reverse;

use rand::Rng;
use rand_distr::{Distribution, Gumbel};

use super::choice::{best_standing, standing, visits};
use super::halving::considered_visit_count;
use super::proof::Proof;
use super::search_settings::SearchSettings;
use super::tree::Tree;
use super::view::{Edge, EdgeIndex, NodeIndex, NodeView, TreeView};
use crate::game::Value;

/// A prior below this counts as this much: half of the least number that half precision, in which priors travel, tells
/// from 0. So a move that a network gives nothing has a logit of -17 and not of minus infinity.
const PRIOR_MIN: f32 = 3e-8;

/// What the search holds of a root beside the tree.
#[derive(Debug, Default)]
pub(super) struct GumbelRoot {
    /// Logit of each move plus its Gumbel number, by the number of its edge; empty before the root is evaluated.
    scores: Vec<f32>,
    /// What the network says of the position.
    network_value: Value,
}

/// What stands in for the value of a move without a visit, and how much values weigh against logits.
struct Completion {
    /// The paper's v_mix: what the network says of the position, mixed with the values of the moves visited, each as
    /// often as its prior.
    mixed_value: Value,
    /// Logits that a value is worth, as values are -1..=1: half of the paper's, where they are 0..=1.
    scale: f32,
}

impl GumbelRoot {
    /// Begins at a root that was just evaluated and has no child: draws a Gumbel number for each move, times
    /// `temperature`, and brings the edges into the order of the scores, the best first.
    pub fn begin<M: Copy>(
        &mut self,
        tree: &mut Tree<M>,
        network_value: Value,
        temperature: f32,
        random: &mut impl Rng,
    ) {
        self.begin_proven(tree);
        self.network_value = network_value;
        if temperature > 0.0
            && let Ok(gumbel) = Gumbel::new(0.0, 1.0)
        {
            self.scores.iter_mut().for_each(|score| *score += temperature * gumbel.sample(random));
        }
        let mut order: Vec<usize> = (0..self.scores.len()).collect();
        // A stable sort: of equal scores the first stays first.
        order.sort_by(|one, other| self.scores[*other].total_cmp(&self.scores[*one]));
        tree.reorder_edges(NodeIndex::ROOT, &order);
        self.scores = order.into_iter().map(|at| self.scores[at]).collect();
    }

    /// Begins at a root that is not evaluated.
    pub fn clear(&mut self) {
        self.scores.clear();
        self.network_value = Value::DRAW;
    }

    /// Begins at a root that is proven, with all that was searched below it: there is nothing to draw for.
    pub fn begin_proven<M: Copy>(&mut self, tree: &Tree<M>) {
        self.scores.clear();
        self.scores.extend(tree.edges(NodeIndex::ROOT).map(|edge| logit(edge.prior)));
        self.network_value = tree.view(NodeIndex::ROOT).best_known_value();
    }

    /// Returns the edge that the next simulation takes at an evaluated, unproven root; `None` if all moves are proven
    /// lost. `simulation_count` includes the root's own evaluation.
    ///
    /// Leaves that are awaited count as visits, so a phase of the halving is over once its last leaf is handed out. Moves
    /// that are proven lost are skipped, and the next best take their place.
    pub fn select<M: Copy>(
        &self,
        tree: &Tree<M>,
        settings: &SearchSettings,
        simulation_count: u32,
    ) -> Option<EdgeIndex> {
        let root = tree.view(NodeIndex::ROOT);
        let index = root.visit_count.saturating_sub(1) + root.pending_count;
        let move_count = settings.considered_move_count.min(self.scores.len() as u32);
        let wanted = considered_visit_count(move_count, simulation_count.saturating_sub(1), index);
        let children = || tree.visited_edges(NodeIndex::ROOT);
        let completion = self.completion(children().map(|(_, prior, child)| (prior, child)), settings);
        let candidate = |edge: EdgeIndex, child: Option<NodeView>| {
            let count = child.map_or(0, |child| child.visit_count + child.pending_count);
            // After leaves given up, or with too few moves left, no count may be the wanted one: the nearest will do.
            (Reverse(count.abs_diff(wanted)), self.scores[edge.0 as usize] + completion.weight(child.as_ref()), edge)
        };
        let visited = children().filter(|(_, _, child)| child.proof != Proof::Win);
        let visited = visited.map(|(edge, _, child)| candidate(edge, Some(child)));
        let unvisited = tree.first_unvisited_edge(NodeIndex::ROOT).map(|edge| candidate(edge, None));
        let best = visited.chain(unvisited).reduce(|best, other| {
            // Of equals the first.
            if (other.0, other.1) > (best.0, best.1) { other } else { best }
        });
        best.map(|(_, _, edge)| edge)
    }

    /// Returns the edge of the move to play: of the most visited ones that with the best score, by what is known now. A
    /// proven win always, a proven loss never while there is another move. `None` if nothing was evaluated.
    pub fn choose<M: Copy>(&self, tree: &Tree<M>, settings: &SearchSettings) -> Option<Edge<M>> {
        let completion = self.completion_of(tree, settings);
        let preference =
            |(score, edge): &(f32, Edge<M>)| (standing(edge), visits(edge), score + weight_of(&completion, edge));
        let edges = self.scores.iter().copied().zip(tree.edges(NodeIndex::ROOT));
        let best = edges.reduce(|best, other| if preference(&other) > preference(&best) { other } else { best });
        best.map(|(_, edge)| edge)
    }

    /// Returns the policy that is better than the priors, a share for each move in the order of the edges, sum 1: the
    /// priors' logits plus the weights of the values, through a softmax. If a move is proven to win, only such moves get
    /// a share; moves proven to lose get none while there is another. Empty if nothing was evaluated.
    pub fn improved_policy<M: Copy>(&self, tree: &Tree<M>, settings: &SearchSettings) -> Vec<(M, f32)> {
        let (best, completion) = (best_standing(tree, NodeIndex::ROOT), self.completion_of(tree, settings));
        let logit_of = |edge: &Edge<M>| logit(edge.prior) + weight_of(&completion, edge);
        let edges = || tree.edges(NodeIndex::ROOT).take(self.scores.len());
        let in_question = |edge: &Edge<M>| standing(edge) == best;
        let most = edges().filter(in_question).map(|edge| logit_of(&edge)).fold(f32::NEG_INFINITY, f32::max);
        let power = |edge: Edge<M>| if in_question(&edge) { (logit_of(&edge) - most).exp() } else { 0.0 };
        let sum: f32 = edges().map(power).sum();
        edges().map(|edge| (edge.mv, power(edge) / sum)).collect()
    }

    /// Returns what the position is worth to its side to move if it plays by [`Self::improved_policy`]: the proven value
    /// if there is one. The mean of the simulations would be too low, since bad moves are visited as often as good ones
    /// at first.
    pub fn value<M: Copy>(&self, tree: &Tree<M>, settings: &SearchSettings) -> Value {
        let root = tree.view(NodeIndex::ROOT);
        if root.proof != Proof::Unknown || self.scores.is_empty() {
            return root.best_known_value();
        }
        let completion = self.completion_of(tree, settings);
        let policy = self.improved_policy(tree, settings);
        let values =
            tree.edges(NodeIndex::ROOT).map(|edge| completion.value(edge.child.as_ref().map(|(_, child)| child)));
        Value::new(policy.iter().zip(values).map(|((_, share), value)| share * value.get()).sum())
    }

    fn completion_of<M: Copy>(&self, tree: &Tree<M>, settings: &SearchSettings) -> Completion {
        self.completion(tree.visited_edges(NodeIndex::ROOT).map(|(_, prior, child)| (prior, child)), settings)
    }

    /// Makes the completion from prior and content of the moves with a child.
    fn completion(&self, children: impl Iterator<Item = (f32, NodeView)>, settings: &SearchSettings) -> Completion {
        let (mut visit_sum, mut visit_max, mut prior_sum, mut value_sum) = (0, 0, 0.0, 0.0);
        for (prior, child) in children.filter(|(_, child)| child.visit_count > 0) {
            visit_sum += child.visit_count;
            visit_max = visit_max.max(child.visit_count);
            prior_sum += prior.max(PRIOR_MIN);
            value_sum += prior.max(PRIOR_MIN) * child.best_known_value().flipped().get();
        }
        let visited_value = if visit_sum == 0 { 0.0 } else { value_sum / prior_sum };
        let mixed_value = (self.network_value.get() + visit_sum as f32 * visited_value) / (1 + visit_sum) as f32;
        let scale = 0.5 * (settings.gumbel_visit_scale + visit_max as f32) * settings.gumbel_value_scale;
        Completion { mixed_value: Value::new(mixed_value), scale }
    }
}

impl Completion {
    /// Returns the value of a move to whoever makes it.
    fn value(&self, child: Option<&NodeView>) -> Value {
        let known = child.filter(|child| child.visit_count > 0);
        known.map_or(self.mixed_value, |child| child.best_known_value().flipped())
    }

    /// Returns what the value of a move adds to its logit, the paper's sigma but for a constant.
    fn weight(&self, child: Option<&NodeView>) -> f32 {
        self.scale * self.value(child).get()
    }
}

fn weight_of<M>(completion: &Completion, edge: &Edge<M>) -> f32 {
    completion.weight(edge.child.as_ref().map(|(_, child)| child))
}

fn logit(prior: f32) -> f32 {
    prior.max(PRIOR_MIN).ln()
}

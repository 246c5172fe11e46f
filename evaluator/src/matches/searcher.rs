//! Players that search as the gate does, with a network or without, and the raw policy of a network.

use shared::encoding::Encoding;
use shared::encoding::hive::HiveEncoding;
use shared::game::hive::{Hive, Move, Position};
use shared::game::{Game, Value};
use shared::search::{LeafId, Request, Search, SearchSettings};
use shared::wire::LeafBatchBuilder;
use worker::answers::{Asker, Evaluations};

use super::mover::{Mover, Opening, Stop};

/// Answers the leaves of a search.
pub trait Answer {
    /// Expands all `leaves`, in their order.
    ///
    /// # Errors
    /// [`Stop::Failed`] if there is no answer.
    fn answer(&mut self, search: &mut Search<Hive>, leaves: &[LeafId]) -> Result<(), Stop>;
}

/// Holds every move for equally good and every position for even.
#[derive(Debug, Default)]
pub struct Uniform(Vec<f32>);

impl Answer for Uniform {
    fn answer(&mut self, search: &mut Search<Hive>, leaves: &[LeafId]) -> Result<(), Stop> {
        for leaf in leaves {
            self.0.clear();
            self.0.resize(search.leaf_moves(*leaf).len(), 1.0);
            search.expand(*leaf, &self.0, Value::DRAW);
        }
        Ok(())
    }
}

/// Asks a network of another process.
pub struct NetworkEyes {
    encoding: HiveEncoding,
    asker: Asker,
    batch: LeafBatchBuilder,
    packed: Vec<u8>,
    policy_indices: Vec<u16>,
}

impl NetworkEyes {
    /// Makes one that sees `hive` in the frame of the network.
    pub fn new(hive: Hive, asker: Asker) -> Self {
        let encoding = HiveEncoding::new(hive, asker.frame());
        Self { encoding, asker, batch: LeafBatchBuilder::default(), packed: vec![], policy_indices: vec![] }
    }

    fn add(&mut self, position: &Position, moves: &[Move]) -> Result<(), Stop> {
        self.packed.clear();
        self.policy_indices.clear();
        self.encoding.pack(position, &mut self.packed);
        self.encoding.policy_indices(position, moves, &mut self.policy_indices);
        self.batch.push(&self.packed, &self.policy_indices).map_err(|error| Stop::Failed(error.into()))
    }

    fn ask(&mut self) -> Result<Evaluations, Stop> {
        self.asker.ask(&mut self.batch).map_err(|error| Stop::Failed(error.into()))
    }
}

impl Answer for NetworkEyes {
    fn answer(&mut self, search: &mut Search<Hive>, leaves: &[LeafId]) -> Result<(), Stop> {
        for leaf in leaves {
            self.add(search.leaf_position(*leaf), search.leaf_moves(*leaf))?;
        }
        let evaluations = self.ask()?;
        let mut priors = evaluations.priors.as_slice();
        for (leaf, value) in leaves.iter().zip(&evaluations.values) {
            let (own, rest) = priors.split_at(search.leaf_moves(*leaf).len().min(priors.len()));
            priors = rest;
            search.expand(*leaf, own, Value::new(*value));
        }
        Ok(())
    }
}

/// Searches each move, and keeps its tree from ply to ply.
pub struct SearchMover<A> {
    hive: Hive,
    settings: SearchSettings,
    answer: A,
    search: Option<Search<Hive>>,
    leaves: Vec<LeafId>,
    value: Option<Value>,
}

impl<A: Answer> SearchMover<A> {
    /// Makes the player.
    pub fn new(hive: Hive, settings: SearchSettings, answer: A) -> Self {
        Self { hive, settings, answer, search: None, leaves: vec![], value: None }
    }
}

impl<A: Answer> Mover for SearchMover<A> {
    fn begin(&mut self, opening: &Opening<'_>, seed: u64) -> Result<(), Stop> {
        let search = Search::new(self.hive, opening.position.clone(), self.settings.clone(), seed);
        self.search = Some(search.map_err(|error| Stop::Failed(error.into()))?);
        Ok(())
    }

    fn choose(&mut self, _: &Position) -> Result<Move, Stop> {
        let Some(search) = &mut self.search else { return Err(not_begun()) };
        while !search.is_done() {
            select_leaves(search, self.settings.leaves_per_game, &mut self.leaves);
            if !self.leaves.is_empty() {
                self.answer.answer(search, &self.leaves)?;
            }
        }
        self.value = Some(search.root_value());
        Ok(search.choose_move())
    }

    fn observe(&mut self, _: &Position, mv: Move) -> Result<(), Stop> {
        self.search.as_mut().ok_or_else(not_begun)?.play(mv);
        Ok(())
    }

    fn value(&self) -> Option<Value> {
        self.value
    }
}

/// Descends until so many leaves are awaited, or no more can be handed out.
fn select_leaves(search: &mut Search<Hive>, count: u32, leaves: &mut Vec<LeafId>) {
    leaves.clear();
    while leaves.len() < count as usize {
        match search.select_leaf() {
            Request::Evaluate(leaf) => leaves.push(leaf),
            Request::Finished => {}
            Request::Blocked => return,
        }
    }
}

fn not_begun() -> Stop {
    Stop::Failed(anyhow::anyhow!("asked for a move before the game began"))
}

/// Plays the move that the network holds for likeliest, of equals the first.
pub struct PolicyMover {
    hive: Hive,
    eyes: NetworkEyes,
    moves: Vec<Move>,
    value: Option<Value>,
}

impl PolicyMover {
    /// Makes the player.
    pub fn new(hive: Hive, eyes: NetworkEyes) -> Self {
        Self { hive, eyes, moves: vec![], value: None }
    }
}

impl Mover for PolicyMover {
    fn begin(&mut self, _: &Opening<'_>, _: u64) -> Result<(), Stop> {
        Ok(())
    }

    fn choose(&mut self, position: &Position) -> Result<Move, Stop> {
        self.moves.clear();
        self.hive.legal_moves(position, &mut self.moves);
        self.eyes.add(position, &self.moves)?;
        let evaluations = self.eyes.ask()?;
        self.value = evaluations.values.first().copied().map(Value::new);
        let best = self.moves.iter().zip(&evaluations.priors).reduce(|best, it| if it.1 > best.1 { it } else { best });
        best.map(|(mv, _)| *mv).ok_or_else(not_begun)
    }

    fn observe(&mut self, _: &Position, _: Move) -> Result<(), Stop> {
        Ok(())
    }

    fn value(&self) -> Option<Value> {
        self.value
    }
}

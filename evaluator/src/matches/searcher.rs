//! Players that search as the gate does, with a network or without, and the raw policy of a network.

use anyhow::Context;
use shared::encoding::{Encoding, Shown};
use shared::game::{Game, Value};
use shared::search::{LeafId, Request, Search, SearchSettings};
use shared::wire::LeafBatchBuilder;
use worker::answers::{Asker, Evaluations};

use super::mover::{Mover, Opening, Stop};

/// Answers the leaves of a search.
pub trait Answer<G: Game> {
    /// Expands all `leaves`, in their order.
    ///
    /// # Errors
    /// [`Stop::Failed`] if there is no answer.
    fn answer(&mut self, search: &mut Search<G>, leaves: &[LeafId]) -> Result<(), Stop>;
}

/// Holds every move for equally good and every position for even.
#[derive(Debug, Default)]
pub struct Uniform(Vec<f32>);

impl<G: Game> Answer<G> for Uniform {
    fn answer(&mut self, search: &mut Search<G>, leaves: &[LeafId]) -> Result<(), Stop> {
        for leaf in leaves {
            self.0.clear();
            self.0.resize(search.leaf_moves(*leaf).len(), 1.0);
            search.expand(*leaf, &self.0, Value::DRAW);
        }
        Ok(())
    }
}

/// Asks a network of another process.
pub struct NetworkEyes<G: Shown> {
    encoding: G::Encoding,
    asker: Asker,
    batch: LeafBatchBuilder,
    packed: Vec<u8>,
    policy_indices: Vec<u16>,
}

impl<G: Shown> NetworkEyes<G> {
    /// Makes one that sees `game` as the network does.
    ///
    /// # Errors
    /// If the network plays another game.
    pub fn new(game: &G, asker: Asker) -> anyhow::Result<Self> {
        let spec = asker.spec();
        let other = || format!("not one for {} but for {}: --game says what is played", G::NAME, spec.type_name());
        let view = G::view_of(spec).with_context(other)?;
        let (batch, packed, policy_indices) = (LeafBatchBuilder::default(), vec![], vec![]);
        Ok(Self { encoding: game.encoding(view), asker, batch, packed, policy_indices })
    }

    fn add(&mut self, position: &G::Position, moves: &[G::Move]) -> Result<(), Stop> {
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

impl<G: Shown> Answer<G> for NetworkEyes<G> {
    fn answer(&mut self, search: &mut Search<G>, leaves: &[LeafId]) -> Result<(), Stop> {
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
pub struct SearchMover<G: Game, A> {
    game: G,
    settings: SearchSettings,
    answer: A,
    search: Option<Search<G>>,
    leaves: Vec<LeafId>,
    value: Option<Value>,
}

impl<G: Game, A: Answer<G>> SearchMover<G, A> {
    /// Makes the player.
    pub fn new(game: G, settings: SearchSettings, answer: A) -> Self {
        Self { game, settings, answer, search: None, leaves: vec![], value: None }
    }
}

impl<G: Game, A: Answer<G>> Mover<G> for SearchMover<G, A> {
    fn begin(&mut self, opening: &Opening<'_, G>, seed: u64) -> Result<(), Stop> {
        let search = Search::new(self.game.clone(), opening.position.clone(), self.settings.clone(), seed);
        self.search = Some(search.map_err(|error| Stop::Failed(error.into()))?);
        Ok(())
    }

    fn choose(&mut self, _: &G::Position) -> Result<G::Move, Stop> {
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

    fn observe(&mut self, _: &G::Position, mv: G::Move) -> Result<(), Stop> {
        self.search.as_mut().ok_or_else(not_begun)?.play(mv);
        Ok(())
    }

    fn value(&self) -> Option<Value> {
        self.value
    }
}

/// Descends until so many leaves are awaited, or no more can be handed out.
fn select_leaves<G: Game>(search: &mut Search<G>, count: u32, leaves: &mut Vec<LeafId>) {
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
pub struct PolicyMover<G: Shown> {
    game: G,
    eyes: NetworkEyes<G>,
    moves: Vec<G::Move>,
    value: Option<Value>,
}

impl<G: Shown> PolicyMover<G> {
    /// Makes the player.
    pub fn new(game: G, eyes: NetworkEyes<G>) -> Self {
        Self { game, eyes, moves: vec![], value: None }
    }
}

impl<G: Shown> Mover<G> for PolicyMover<G> {
    fn begin(&mut self, _: &Opening<'_, G>, _: u64) -> Result<(), Stop> {
        Ok(())
    }

    fn choose(&mut self, position: &G::Position) -> Result<G::Move, Stop> {
        self.moves.clear();
        self.game.legal_moves(position, &mut self.moves);
        self.eyes.add(position, &self.moves)?;
        let evaluations = self.eyes.ask()?;
        self.value = evaluations.values.first().copied().map(Value::new);
        let best = self.moves.iter().zip(&evaluations.priors).reduce(|best, it| if it.1 > best.1 { it } else { best });
        best.map(|(mv, _)| *mv).ok_or_else(not_begun)
    }

    fn observe(&mut self, _: &G::Position, _: G::Move) -> Result<(), Stop> {
        Ok(())
    }

    fn value(&self) -> Option<Value> {
        self.value
    }
}

//! A network that evaluates the leaves of searches in this process, for any number of threads.

use std::sync::{Arc, Mutex};

use shared::catalog::NetworkGame;
use shared::encoding::{Encoding, NetworkInput};
use shared::game::Value;
use shared::precision::AnswerPrecision;
use shared::search::{EvaluationError, Evaluator, LeafAnswers, LeafId, LeafSource};

use crate::{Device, InferenceNetwork, NetError, NetworkFile, NetworkOutput, Precision};

/// Evaluates leaves by a network. Each thread has an evaluator of its own: a clone, which shares the network.
///
/// The threads take turns: one batch is computed at a time.
pub struct NetworkEvaluator<G: NetworkGame> {
    network: Arc<Mutex<InferenceNetwork>>,
    view: G::View,
    input: NetworkInput,
    output: NetworkOutput,
    policy_indices: Vec<u16>,
}

impl<G: NetworkGame> Clone for NetworkEvaluator<G> {
    fn clone(&self) -> Self {
        Self::sharing(Arc::clone(&self.network), self.view)
    }
}

impl<G: NetworkGame> NetworkEvaluator<G> {
    /// Makes an evaluator of a network that sees the game in `view`.
    #[must_use]
    pub fn new(network: InferenceNetwork, view: G::View) -> Self {
        Self::sharing(Arc::new(Mutex::new(network)), view)
    }

    fn sharing(network: Arc<Mutex<InferenceNetwork>>, view: G::View) -> Self {
        let (input, output) = (NetworkInput::default(), NetworkOutput::default());
        Self { network, view, input, output, policy_indices: Vec::new() }
    }

    /// Puts the network of a file onto `device`, to answer in numbers of `precision`; the file says how it sees the board.
    ///
    /// # Errors
    /// [`NetError::OtherGame`] if it plays another game, [`NetError::Corrupt`] if the file is damaged,
    /// [`NetError::Settings`] if it cannot have that precision, [`NetError::Torch`] if memory does not suffice.
    pub fn open(file: &NetworkFile, device: Device, precision: AnswerPrecision) -> Result<Self, NetError> {
        let spec = file.spec()?;
        let view = G::view_of(&spec.game).ok_or_else(|| NetError::OtherGame {
            file: file.name().to_owned(),
            found: spec.game.to_string(),
            wanted: G::NAME.to_owned(),
        })?;
        let precision = Precision::chosen(precision, device, &spec.shape)?;
        let network = InferenceNetwork::new(&file.load(device)?, device, precision, &[])?;
        Ok(Self::new(network, view))
    }

    /// Returns how the network sees the board.
    #[must_use]
    pub fn view(&self) -> G::View {
        self.view
    }

    /// Evaluates one position outside a search: writes a prior for each of `moves`, its legal moves, and returns its value
    /// for the side to move.
    ///
    /// # Errors
    /// As [`Evaluator::evaluate`].
    pub fn evaluate_position(
        &mut self,
        game: &G,
        position: &G::Position,
        moves: &[G::Move],
        priors: &mut Vec<f32>,
    ) -> Result<Value, EvaluationError> {
        let mut answers = self.evaluate_positions([(game, position, moves)])?;
        let (answered, value) = answers.next_leaf(moves.len()).ok_or(EvaluationError::ThreadFailed)?;
        priors.clear();
        priors.extend_from_slice(answered);
        Ok(value)
    }

    /// Evaluates positions outside a search, all in one batch, each with its rules and its legal moves.
    ///
    /// # Errors
    /// As [`Evaluator::evaluate`].
    pub fn evaluate_positions<'a>(
        &mut self,
        positions: impl IntoIterator<Item = (&'a G, &'a G::Position, &'a [G::Move])>,
    ) -> Result<LeafAnswers<'_>, EvaluationError> {
        self.input.clear();
        for (game, position, moves) in positions {
            self.push(&game.encoding(self.view), position, moves)?;
        }
        self.compute()?;
        Ok(LeafAnswers::new(&self.output.priors, &self.output.values))
    }

    fn push(
        &mut self,
        encoding: &G::Encoding,
        position: &G::Position,
        moves: &[G::Move],
    ) -> Result<(), EvaluationError> {
        self.policy_indices.clear();
        encoding.policy_indices(position, moves, &mut self.policy_indices);
        let pushed = self.input.push(encoding, position, &self.policy_indices);
        pushed.map_err(|error| EvaluationError::LeafRefused(error.to_string()))
    }

    fn compute(&mut self) -> Result<(), EvaluationError> {
        let mut network = self.network.lock().map_err(|_| EvaluationError::ThreadFailed)?;
        Ok(network.evaluate(&self.input, &mut self.output)?)
    }
}

impl<G: NetworkGame> Evaluator<G> for NetworkEvaluator<G> {
    fn evaluate(&mut self, source: &mut dyn LeafSource<G>, leaves: &[LeafId]) -> Result<(), EvaluationError> {
        let encoding = source.game().encoding(self.view);
        self.input.clear();
        for leaf in leaves {
            self.push(&encoding, source.leaf_position(*leaf), source.leaf_moves(*leaf))?;
        }
        self.compute()?;
        let move_counts = (0..leaves.len()).map(|index| self.input.move_range(index).len());
        let answers = LeafAnswers::new(&self.output.priors, &self.output.values).leaves(move_counts);
        for (leaf, (priors, value)) in leaves.iter().zip(answers) {
            source.expand(*leaf, priors, value);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use shared::catalog::GameSpec;
    use shared::encoding::dama::PolicyCoding;
    use shared::game::Game;
    use shared::game::dama::Dama;
    use shared::game::hive::Hive;
    use shared::search::{ParallelSearch, SearchPreset, simulate};

    use super::*;
    use crate::{Architecture, Network, NetworkSettings, NetworkSpec, PolicyHead, Trunk};

    const SETTINGS: NetworkSettings = NetworkSettings {
        architecture: Architecture::Residual,
        blocks: 1,
        filters: 8,
        trunk: Trunk::Frame,
        policy_head: PolicyHead::Spatial,
        value_hidden: 8,
        global_pooling_every: 0,
        outlook_heads: false,
    };

    fn open<G: NetworkGame>(path: &Path) -> Result<NetworkEvaluator<G>, NetError> {
        NetworkEvaluator::open(&NetworkFile::read(path)?, Device::CPU, AnswerPrecision::Auto)
    }

    fn error_of(path: &Path) -> String {
        open::<Hive>(path).err().expect("refused").to_string()
    }

    fn random(game: &GameSpec, settings: NetworkSettings) -> Network {
        Network::random(&NetworkSpec::new(game, settings).unwrap(), Device::CPU, 7).unwrap()
    }

    /// Searches with so many threads, each with its clone of the evaluator. Returns the simulations made.
    fn simulations_of<G: NetworkGame>(evaluator: &NetworkEvaluator<G>, thread_count: u32) -> u32 {
        let (game, preset) = (G::default(), SearchPreset::AlphaZero);
        let search = ParallelSearch::new(game.clone(), game.initial_position(), preset.rule(), preset.settings(40), 1);
        let search = search.unwrap();
        std::thread::scope(|scope| {
            for number in 0..thread_count {
                let (search, mut evaluator) = (&search, evaluator.clone());
                scope.spawn(move || {
                    let mut thread = search.thread(number);
                    while !search.is_done() {
                        if !simulate(&mut thread, &mut evaluator).unwrap() {
                            std::thread::yield_now();
                        }
                    }
                });
            }
        });
        assert_eq!((search.awaited_count(), search.repaired_priors_count()), (0, 0));
        search.simulation_count()
    }

    /// Writes a network that sees the board so, reads it and lets it evaluate the leaves of searches.
    fn check_search<G: NetworkGame>(view: G::View, settings: NetworkSettings) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("network.safetensors");
        random(&G::default().spec(view), settings).save(&path).unwrap();
        let evaluator = open::<G>(&path).unwrap();
        assert_eq!(evaluator.view(), view);
        for threads in [1, 3] {
            assert_eq!(simulations_of(&evaluator, threads), 40);
        }
    }

    #[test]
    fn a_network_evaluates_the_leaves_of_a_search() {
        for (frame, policy_head) in [(16, PolicyHead::Spatial), (26, PolicyHead::Full)] {
            check_search::<Hive>(frame, NetworkSettings { policy_head, ..SETTINGS });
        }
        for (coding, trunk) in [(PolicyCoding::Lossless, Trunk::Frame), (PolicyCoding::From4, Trunk::Cells)] {
            for policy_head in [PolicyHead::Spatial, PolicyHead::Full] {
                check_search::<Dama>(coding, NetworkSettings { policy_head, trunk, ..SETTINGS });
            }
            let (architecture, policy_head) = (Architecture::DamaCnn, PolicyHead::Full);
            check_search::<Dama>(coding, NetworkSettings { architecture, policy_head, ..SETTINGS });
        }
    }

    #[test]
    fn a_position_outside_a_search_is_evaluated_alike() {
        let dama = Dama::default();
        let network = random(&dama.spec(PolicyCoding::Lossless), SETTINGS);
        let network = InferenceNetwork::new(&network, Device::CPU, Precision::Float32, &[]).unwrap();
        let mut evaluator = NetworkEvaluator::<Dama>::new(network, PolicyCoding::Lossless);
        let position = dama.initial_position();
        let (mut moves, mut priors) = (vec![], vec![9.0]);
        dama.legal_moves(&position, &mut moves);
        let value = evaluator.evaluate_position(&dama, &position, &moves, &mut priors).unwrap();
        assert_eq!(priors.len(), moves.len());
        assert!((priors.iter().sum::<f32>() - 1.0).abs() < 1e-5, "{priors:?}");
        let settings = SearchPreset::AlphaZero.settings(2);
        let search = ParallelSearch::new(dama, position, SearchPreset::AlphaZero.rule(), settings, 1).unwrap();
        assert!(simulate(&mut search.thread(0), &mut evaluator).unwrap());
        assert_eq!(search.root_value(), value);
    }

    #[test]
    fn a_file_that_is_not_such_a_network_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file.safetensors");
        let name = path.display().to_string();
        assert!(error_of(&path).starts_with(&format!("network {name}: cannot read it")), "{}", error_of(&path));
        std::fs::write(&path, "no network").unwrap();
        assert!(error_of(&path).starts_with(&format!("network {name}: ")), "{}", error_of(&path));
        for (game, found) in [
            (GameSpec::TicTacToe {}, "tic-tac-toe"),
            (Dama::default().spec(PolicyCoding::Lossless), "Italian draughts (lossless)"),
        ] {
            random(&game, SETTINGS).save(&path).unwrap();
            assert_eq!(error_of(&path), format!("network {name}: plays {found}, this wants Hive"));
        }
    }
}

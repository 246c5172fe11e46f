//! Positions of random games, as workers send them: packed, with the policy indices of their legal moves.

use net::NetworkShape;
use shared::encoding::{DecodeError, ENDING_COUNT_MAX, Encoding, Ending, NetworkInput, Outlook, Pos, TrainingBatch};
use shared::game::Game;
use shared::seed::mix_seed;

/// Plies of a random game at most: random Hive seldom ends by itself.
const PLIES_MAX: u64 = 60;
/// Different positions at most; larger batches repeat them.
const POSITION_COUNT_MAX: usize = 2048;

/// Packed positions, one of each game.
pub(super) struct RandomPositions<E> {
    encoding: E,
    packed: Vec<(Vec<u8>, Vec<u16>)>,
    active_cell_count: usize,
}

impl<E: Encoding> RandomPositions<E> {
    /// Plays games until there are `count` positions. The same seed plays the same games.
    pub(super) fn play(encoding: E, count: usize, seed: u64) -> Self {
        let mut packed = Vec::new();
        let (mut moves, mut cells) = (Vec::new(), Vec::new());
        for game_seed in (0..count.clamp(1, POSITION_COUNT_MAX) as u64).map(|number| mix_seed(seed, number)) {
            let position = play_until(&encoding, mix_seed(game_seed, PLIES_MAX) % PLIES_MAX, game_seed);
            moves.clear();
            encoding.game().legal_moves(&position, &mut moves);
            let (mut bytes, mut policy_indices) = (Vec::new(), Vec::new());
            encoding.pack(&position, &mut bytes);
            encoding.policy_indices(&position, &moves, &mut policy_indices);
            encoding.active_cells(&position, &mut cells);
            packed.push((bytes, policy_indices));
        }
        Self { encoding, packed, active_cell_count: cells.len() }
    }

    /// Reads `count` positions into `input`, whatever that held before: what the learner does with a batch of a worker.
    pub(super) fn encode(
        &self,
        count: usize,
        input: &mut NetworkInput,
        scratch: &mut Pos<E>,
    ) -> Result<(), DecodeError> {
        input.clear();
        for (packed, policy_indices) in self.packed.iter().cycle().take(count) {
            self.encoding.unpack(packed, scratch)?;
            input.push(&self.encoding, scratch, policy_indices)?;
        }
        Ok(())
    }

    /// Returns `count` positions to learn from: every move as good as another, outcomes in turn, each game soon over.
    pub(super) fn samples(&self, count: usize) -> Result<TrainingBatch, DecodeError> {
        let mut batch = TrainingBatch::default();
        let (mut position, mut pieces) = (self.scratch(), Vec::new());
        self.encode(count, &mut batch.input, &mut position)?;
        let outlook = Outlook { movers: 0, ending: Some(Ending { plies_left: 1, counts: [0; ENDING_COUNT_MAX] }) };
        for (index, (packed, _)) in self.packed.iter().cycle().take(count).enumerate() {
            let move_count = batch.input.move_range(index).len();
            batch.policy_targets.extend(std::iter::repeat_n(1.0 / move_count.max(1) as f32, move_count));
            batch.value_targets.push([1.0, 0.0, -1.0][index % 3]);
            self.encoding.unpack(packed, &mut position)?;
            batch.outlook.push(&self.encoding, &position, Some(outlook), &mut pieces);
        }
        Ok(batch)
    }

    /// Returns a position to read into.
    pub(super) fn scratch(&self) -> Pos<E> {
        self.encoding.game().initial_position()
    }

    /// Returns the mean arithmetic of an evaluation.
    pub(super) fn flop_per_position(&self, shape: &NetworkShape) -> f64 {
        let count = self.packed.len() as u64;
        shape.arithmetic().evaluation_flop(count, self.active_cell_count as u64) / count as f64
    }
}

/// Plays random moves: so many plies, or fewer where the game would be over.
fn play_until<E: Encoding>(encoding: &E, ply_count: u64, seed: u64) -> Pos<E> {
    let game = encoding.game();
    let mut position = game.initial_position();
    let mut moves = Vec::new();
    for ply in 0..ply_count {
        moves.clear();
        game.legal_moves(&position, &mut moves);
        let mv = moves[(mix_seed(seed, ply) % moves.len() as u64) as usize];
        let mut next = position.clone();
        game.play(&mut next, mv);
        if game.outcome(&next).is_some() {
            break;
        }
        position = next;
    }
    position
}

//! How large the numbers are that come into each convolution.

use std::cell::RefCell;

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use shared::catalog::{GameSpec, GameVisitor};
use shared::encoding::{Encoding, NetworkInput};
use shared::game::Game;
use tch::Tensor;

use crate::folded::FoldedConvolution;
use crate::grid::Grid;
use crate::model::{Convolve, Model};
use crate::planes::upload;
use crate::{NetError, NetworkOutput, NetworkShape};

/// Games that are played at once, and plies of them: as many positions are evaluated.
const GAME_COUNT: usize = 16;
const PLY_COUNT: u32 = 64;
/// Positions of so many plies are skipped between two that count.
const PLIES_BETWEEN: u32 = 4;
/// Games begin with so many random plies, so that each is another.
const RANDOM_PLIES: u32 = 4;

/// The largest numbers that came in, f32 [C], of each convolution of the blocks in order.
pub(crate) struct Ranges(pub Vec<Tensor>);

/// Evaluates positions by the network.
pub(crate) type Evaluate<'a> = dyn FnMut(&NetworkInput, &mut NetworkOutput) -> Result<(), NetError> + 'a;

/// Lets the network that `evaluate` asks play games against itself by its priors, and returns how large the numbers are that
/// come into the convolutions of `model`, the same network in 32 bits.
pub(crate) fn calibrate(
    model: &Model<FoldedConvolution>,
    (shape, game): (&NetworkShape, &GameSpec),
    evaluate: &mut Evaluate<'_>,
) -> Result<Ranges, NetError> {
    let batches = game.visit(Games { evaluate })??;
    let recorder = |convolution: &FoldedConvolution| {
        Ok(Recorder { convolution: convolution.shallow_clone(), highest: RefCell::new(None) })
    };
    let model = model.map(recorder, |affine| Ok(affine.shallow_clone()))?;
    for input in &batches {
        record(&model, shape, input)?;
    }
    let highest = model.block_convolutions().map(|recorder| recorder.highest.take());
    Ok(Ranges(highest.collect::<Option<_>>().ok_or_else(|| NetError::Torch("no position to calibrate by".into()))?))
}

fn record(model: &Model<Recorder>, shape: &NetworkShape, input: &NetworkInput) -> Result<(), NetError> {
    let (device, kind) = (tch::Device::Cpu, tch::Kind::Float);
    let grid = Grid::for_answers(shape, input, (device, kind))?;
    let planes = upload(input, shape, (&grid, input.len()), device, kind)?;
    model.forward(&planes, &grid)?;
    Ok(())
}

/// A convolution that notes what comes in.
struct Recorder {
    convolution: FoldedConvolution,
    highest: RefCell<Option<Tensor>>,
}

impl Convolve for Recorder {
    fn apply(&self, input: &Tensor, grid: &Grid) -> Result<Tensor, NetError> {
        let newest = match grid {
            Grid::Cells(cells) => input.f_narrow(0, 0, cells.active_count())?.f_amax([0], false)?,
            Grid::Frame { .. } => input.f_amax([0, 2, 3], false)?,
        };
        let highest = self.highest.take();
        let highest = highest.map_or(Ok(newest.shallow_clone()), |highest| highest.f_maximum(&newest))?;
        self.highest.replace(Some(highest));
        self.convolution.apply(input, grid)
    }
}

/// Games of a network against itself, by its priors alone.
struct Games<'a, 'b> {
    evaluate: &'a mut Evaluate<'b>,
}

impl GameVisitor for Games<'_, '_> {
    type Output = Result<Vec<NetworkInput>, NetError>;

    fn visit<E: Encoding>(self, encoding: E) -> Self::Output {
        let game = encoding.game();
        let mut random = Pcg64::seed_from_u64(0);
        let mut positions = vec![game.initial_position(); GAME_COUNT];
        let (mut batches, mut output) = (vec![], NetworkOutput::default());
        let (mut moves, mut indices) = (vec![vec![]; GAME_COUNT], vec![]);
        for ply in 0..PLY_COUNT {
            let mut input = NetworkInput::default();
            for (position, moves) in positions.iter().zip(&mut moves) {
                moves.clear();
                game.legal_moves(position, moves);
                indices.clear();
                encoding.policy_indices(position, moves, &mut indices);
                let pushed = input.push(&encoding, position, &indices);
                pushed.map_err(|error| NetError::Batch(error.to_string()))?;
            }
            (self.evaluate)(&input, &mut output)?;
            for (index, position) in positions.iter_mut().enumerate() {
                let priors = &output.priors[input.move_range(index)];
                let is_random = game.ply(position) < RANDOM_PLIES;
                let chosen =
                    if is_random { random.random_range(0..priors.len()) } else { draw(priors, random.random()) };
                game.play(position, moves[index][chosen]);
                if game.outcome(position).is_some() {
                    *position = game.initial_position();
                }
            }
            if ply % PLIES_BETWEEN == 0 {
                batches.push(input);
            }
        }
        Ok(batches)
    }
}

/// Draws a move with a chance of its prior; `share` is 0 to 1.
fn draw(priors: &[f32], share: f32) -> usize {
    let mut left = share;
    let drawn = priors.iter().position(|prior| {
        left -= prior;
        left < 0.0
    });
    drawn.unwrap_or(priors.len() - 1)
}

//! Made-up batches: random planes, moves and targets for any shape.
#![allow(dead_code, reason = "each test file uses its part")]

use net::{Architecture, NetworkSettings, NetworkShape, NetworkSpec, PolicyHead, Trunk};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use shared::catalog::GameSpec;
use shared::encoding::{
    MoveCells, Neighbourhood, NetworkInput, OutlookTargets, PlaneShape, SparsePlanes, TrainingBatch,
};

/// The kinds of network there are.
pub const KINDS: [Kind; 9] = [
    residual(PolicyHead::Full, None),
    residual(PolicyHead::Spatial, None),
    residual(PolicyHead::Spatial, Some(Neighbourhood::Square)),
    residual(PolicyHead::Spatial, Some(Neighbourhood::Hexagon)),
    residual(PolicyHead::Spatial, Some(Neighbourhood::Diagonal)),
    residual(PolicyHead::Full, Some(Neighbourhood::Hexagon)),
    Kind { looks_around: true, ..residual(PolicyHead::Spatial, None) },
    Kind { looks_around: true, ..residual(PolicyHead::Spatial, Some(Neighbourhood::Hexagon)) },
    Kind { architecture: Architecture::DamaCnn, ..residual(PolicyHead::Full, None) },
];

const fn residual(policy_head: PolicyHead, neighbourhood: Option<Neighbourhood>) -> Kind {
    Kind { architecture: Architecture::Residual, policy_head, neighbourhood, looks_around: false }
}

/// What tells the kinds apart.
#[derive(Debug, Clone, Copy)]
pub struct Kind {
    pub architecture: Architecture,
    pub policy_head: PolicyHead,
    /// Of a trunk of active cells; `None`: a trunk of the frame.
    pub neighbourhood: Option<Neighbourhood>,
    /// Global pooling in every second block, and outlook heads.
    pub looks_around: bool,
}

impl Kind {
    /// A small network on a board of `size` x `size`; the plain one takes the last of four planes for a number.
    pub fn shape(self, size: usize) -> NetworkShape {
        let Self { architecture, policy_head, neighbourhood, looks_around } = self;
        let trunk = if neighbourhood.is_some() { Trunk::Cells } else { Trunk::Frame };
        NetworkShape {
            planes: PlaneShape { planes: 4, rows: size, columns: size },
            policy_size: 200,
            placement_kinds: 3,
            neighbourhood,
            feature_count: usize::from(architecture == Architecture::DamaCnn),
            ending_count: if looks_around { 3 } else { 0 },
            settings: NetworkSettings {
                architecture,
                blocks: 2,
                filters: 8,
                trunk,
                policy_head,
                value_hidden: 16,
                global_pooling_every: if looks_around { 2 } else { 0 },
                outlook_heads: looks_around,
            },
        }
    }
}

/// A small network on the frame of `size` x `size`.
pub fn shape(policy_head: PolicyHead, size: usize) -> NetworkShape {
    residual(policy_head, None).shape(size)
}

/// Names a game for a shape that no game has: what is computed does not depend on it.
pub fn spec(shape: NetworkShape) -> NetworkSpec {
    NetworkSpec { game: GameSpec::TicTacToe {}, shape }
}

/// Appends a position with `moves` moves of all kinds; two cells of three are active, and some moves touch others.
pub fn push(input: &mut NetworkInput, shape: &NetworkShape, moves: usize, random: &mut Pcg64) {
    for place in 0..shape.planes.len() {
        if random.random_range(0..2) == 1 {
            input.planes.put(place, 1.0);
        }
    }
    input.planes.end(&[]);
    let cells = shape.cell_count() as u16;
    input.active_cells.extend((0..cells).filter(|_| random.random_range(0..3) > 0));
    input.active_ends.push(input.active_cells.len() as u32);
    let start = random.random_range(0..shape.policy_size);
    for index in 0..moves {
        let target = random.random_range(0..cells);
        input.policy_indices.push(((start + index) % shape.policy_size) as u16);
        input.cells.push(match random.random_range(0..5) {
            0 => MoveCells::Nothing,
            1 | 2 => MoveCells::Placement { kind: random.random_range(0..shape.placement_kinds) as u8, target },
            _ => MoveCells::Movement { source: random.random_range(0..cells), target },
        });
    }
    input.move_ends.push(input.policy_indices.len() as u32);
}

/// A batch of `count` positions with 1 to 40 moves each.
pub fn input(shape: &NetworkShape, count: usize, seed: u64) -> NetworkInput {
    let mut random = Pcg64::seed_from_u64(seed);
    let mut input = NetworkInput::default();
    for _ in 0..count {
        let moves = random.random_range(1..=40.min(shape.policy_size));
        push(&mut input, shape, moves, &mut random);
    }
    input
}

/// The same with targets: random shares, and values of -1, 0 and 1.
pub fn batch(shape: &NetworkShape, count: usize, seed: u64) -> TrainingBatch {
    let mut random = Pcg64::seed_from_u64(seed ^ 0xbeef);
    let input = input(shape, count, seed);
    let mut policy_targets: Vec<f32> = input.policy_indices.iter().map(|_| random.random_range(0.0..1.0)).collect();
    for position in 0..count {
        let shares = &mut policy_targets[input.move_range(position)];
        let sum: f32 = shares.iter().sum();
        shares.iter_mut().for_each(|share| *share /= sum);
    }
    let value_targets = (0..count).map(|_| random.random_range(-1_i32..=1) as f32).collect();
    let outlook = outlook(shape, &input, &mut random);
    TrainingBatch { input, policy_targets, value_targets, outlook }
}

/// Pieces on three cells of each position, the first of which moves again, and an end that most games have.
fn outlook(shape: &NetworkShape, input: &NetworkInput, random: &mut Pcg64) -> OutlookTargets {
    let mut targets = OutlookTargets::default();
    for position in 0..input.len() {
        let cells = input.active_cells[input.active_range(position)].iter().take(3);
        targets.pieces.extend(cells.map(|&cell| (position as u32, cell)));
        targets.moves_again.resize(targets.pieces.len(), 0.0);
        targets.moves_again[targets.pieces.len() - input.active_range(position).len().min(3)] = 1.0;
        targets.endings.extend((0..shape.ending_count).map(|_| random.random_range(0.0..1.0_f32)));
        targets.known.push(f32::from(position % 4 > 0));
    }
    targets
}

/// Picks out position `index` alone.
pub fn single(input: &NetworkInput, index: usize) -> NetworkInput {
    let (range, active) = (input.move_range(index), input.active_range(index));
    let marks = input.planes.range(index);
    let uniform = index * input.planes.uniform_planes.len()..(index + 1) * input.planes.uniform_planes.len();
    NetworkInput {
        planes: SparsePlanes {
            places: input.planes.places[marks.clone()].to_vec(),
            numbers: input.planes.numbers[marks.clone()].to_vec(),
            ends: vec![marks.len() as u32],
            uniform_planes: input.planes.uniform_planes,
            uniform_numbers: input.planes.uniform_numbers[uniform].to_vec(),
        },
        policy_indices: input.policy_indices[range.clone()].to_vec(),
        cells: input.cells[range.clone()].to_vec(),
        move_ends: vec![range.len() as u32],
        active_cells: input.active_cells[active.clone()].to_vec(),
        active_ends: vec![active.len() as u32],
    }
}

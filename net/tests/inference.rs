//! Answers: folded equals unfolded, a position's answer is its own, and the spatial head does what its page says.
#![allow(clippy::unwrap_used, reason = "a failing helper fails its test")]

mod common;

use common::{KINDS, batch, input, shape, single, spec};
use net::{
    Architecture, Device, InferenceNetwork, Network, NetworkOutput, NetworkSettings, NetworkShape, PolicyHead,
    Precision, Trainer, TrainingSettings, Trunk,
};
use safetensors::SafeTensors;
use shared::encoding::{MoveCells, NetworkInput, PlaneShape, SparsePlanes};

/// A network whose running statistics and biases are not those of the start.
fn trained(shape: &NetworkShape) -> Network {
    let network = Network::random(&spec(*shape), Device::CPU, 7).unwrap();
    let mut trainer = Trainer::new(network, TrainingSettings::default()).unwrap();
    // What pools starts at 0, behind a block that starts as the identity.
    let (steps, rate) = if shape.settings.global_pooling_every > 0 { (60, 0.1) } else { (25, 0.05) };
    for step in 0..steps {
        trainer.step(&batch(shape, 16, step), rate).unwrap();
    }
    trainer.network().copy_to(Device::CPU).unwrap()
}

fn evaluate(inference: &mut InferenceNetwork, input: &NetworkInput) -> NetworkOutput {
    let mut output = NetworkOutput::default();
    inference.evaluate(input, &mut output).unwrap();
    output
}

fn assert_close(found: &[f32], expected: &[f32], tolerance: f32, what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    for (index, (found, expected)) in found.iter().zip(expected).enumerate() {
        assert!((found - expected).abs() <= tolerance, "{what}, number {index}: {found}, expected {expected}");
    }
}

#[test]
fn an_evaluation_in_stages_answers_the_same_and_times_each() {
    for kind in KINDS {
        let (shape, mut staged) = (kind.shape(7), NetworkOutput::default());
        let untrained = Network::random(&spec(shape), Device::CPU, 7).unwrap();
        let mut network = InferenceNetwork::new(&untrained, Device::CPU, Precision::Float32, &[8, 32]).unwrap();
        let batch = input(&shape, 21, 5);
        let times = network.evaluate_in_stages(&batch, &mut staged).unwrap();
        assert_eq!(staged, evaluate(&mut network, &batch));
        assert!([times.upload, times.forward, times.read_back].iter().all(|time| !time.is_zero()), "{times:?}");
        let computed = if kind.neighbourhood.is_some() { 21 } else { 32 };
        assert_eq!([21, 33].map(|batch| network.computed_batch(batch)), [computed, 33]);
    }
}

#[test]
fn a_position_is_answered_alike_alone_padded_and_among_others() {
    for kind in KINDS {
        let shape = kind.shape(7);
        let network = trained(&shape);
        let batch = input(&shape, 21, 5);
        let open = |sizes: &[usize]| InferenceNetwork::new(&network, Device::CPU, Precision::Float32, sizes).unwrap();
        let among = evaluate(&mut open(&[]), &batch);
        let padded = evaluate(&mut open(&[64, 8, 32]), &batch);
        assert_close(&padded.priors, &among.priors, 1e-5, "priors, padded");
        assert_close(&padded.values, &among.values, 1e-5, "values, padded");
        let (mut alone, mut alone_padded) = (open(&[]), open(&[4]));
        for position in 0..batch.len() {
            let single = single(&batch, position);
            for output in [evaluate(&mut alone, &single), evaluate(&mut alone_padded, &single)] {
                assert_close(&output.priors, &among.priors[batch.move_range(position)], 1e-5, "priors, alone");
                assert_close(&output.values, &among.values[position..=position], 1e-5, "values, alone");
                assert!((output.priors.iter().sum::<f32>() - 1.0).abs() < 1e-5);
            }
        }
    }
}

#[test]
fn nonsense_is_answered_uniformly_and_counted() {
    for kind in KINDS {
        let shape = kind.shape(5);
        let mut bad = input(&shape, 3, 5);
        bad.active_cells = (0..3).flat_map(|_| 0..25).collect();
        bad.active_ends = vec![25, 50, 75];
        // A pass keeps its logit 0 in the spatial head even then: make every move read the planes.
        bad.cells.fill(MoveCells::Movement { source: 3, target: 4 });
        let second = bad.planes.range(1);
        bad.planes.numbers[second].fill(f32::NAN);
        let network = trained(&shape);
        let mut inference = InferenceNetwork::new(&network, Device::CPU, Precision::Float32, &[]).unwrap();
        let output = evaluate(&mut inference, &bad);
        assert_eq!((output.uniform_prior_count, output.zeroed_value_count), (1, 1));
        let uniform = 1.0 / bad.move_range(1).len() as f32;
        assert!(output.priors[bad.move_range(1)].iter().all(|&prior| prior == uniform));
        assert!(output.values[1] == 0.0 && output.values[0] != 0.0 && output.values[2] != 0.0);
        assert!(
            inference
                .evaluate(
                    &NetworkInput { move_ends: vec![1], ..NetworkInput::default() },
                    &mut NetworkOutput::default()
                )
                .is_err()
        );
        assert_eq!(evaluate(&mut inference, &NetworkInput::default()), NetworkOutput::default());
    }
}

/// Active cells that do not go with the positions are refused in words.
#[test]
fn active_cells_are_checked() {
    let shape = KINDS[3].shape(5);
    let mut inference = InferenceNetwork::new(&trained(&shape), Device::CPU, Precision::Float32, &[]).unwrap();
    let mut refusal = |change: fn(&mut NetworkInput)| {
        let mut input = input(&shape, 3, 5);
        change(&mut input);
        inference.evaluate(&input, &mut NetworkOutput::default()).unwrap_err().to_string()
    };
    assert!(refusal(|input| input.active_cells[2] = 25).contains("active cell 25 lies outside the planes"));
    assert!(refusal(|input| input.active_ends[1] = 99).contains("do not divide"));
    assert!(refusal(|input| input.active_ends.truncate(2)).contains("do not divide"));
    assert!(refusal(|input| input.active_ends[0] = 0).contains("position 0 has no active cell"));
}

/// Numbers with their places, and planes of one number, become the tensor that the planes written in full would be: a
/// network that reads each number in turn hears the same.
#[test]
fn planes_of_one_number_are_the_same_as_that_number_in_every_cell() {
    for kind in KINDS {
        let shape = kind.shape(5);
        let mut network = InferenceNetwork::new(&trained(&shape), Device::CPU, Precision::Float32, &[8]).unwrap();
        let mut uniform = input(&shape, 5, 3);
        let cells = shape.cell_count();
        // Plane 1 holds one number, another in each position.
        let is_other = |place: u16| usize::from(place) / cells != 1;
        let mut planes = SparsePlanes { uniform_planes: &[1], ..SparsePlanes::default() };
        for position in 0..uniform.len() {
            for place in uniform.planes.range(position).map(|mark| uniform.planes.places[mark]) {
                if is_other(place) {
                    planes.put(place.into(), 1.0);
                }
            }
            planes.end(&[0.5 - position as f32]);
        }
        uniform.planes = planes;
        let mut written = uniform.clone();
        written.planes = SparsePlanes::default();
        for numbers in uniform.planes.to_dense(shape.planes).chunks(shape.planes.len()) {
            for (place, number) in numbers.iter().enumerate().filter(|(_, number)| **number != 0.0) {
                written.planes.put(place, *number);
            }
            written.planes.end(&[]);
        }
        assert_eq!(evaluate(&mut network, &uniform), evaluate(&mut network, &written), "{kind:?}");
    }
}

#[test]
fn reduced_precision_is_near() {
    let shape = shape(PolicyHead::Spatial, 7);
    let network = trained(&shape);
    let batch = input(&shape, 8, 5);
    let open = |precision| evaluate(&mut InferenceNetwork::new(&network, Device::CPU, precision, &[]).unwrap(), &batch);
    let (wide, narrow) = (open(Precision::Float32), open(Precision::Bfloat16));
    assert_close(&narrow.priors, &wide.priors, 0.1, "priors");
    assert_close(&narrow.values, &wide.values, 0.1, "values");
}

/// The 30 million parameters of the first description.
#[test]
fn the_original_network_has_its_size() {
    let (trunk, policy_head) = (Trunk::Frame, PolicyHead::Full);
    let architecture = Architecture::Residual;
    let settings = NetworkSettings {
        architecture,
        blocks: 19,
        filters: 256,
        trunk,
        policy_head,
        value_hidden: 256,
        global_pooling_every: 0,
        outlook_heads: false,
    };
    let planes = PlaneShape { planes: 24, rows: 26, columns: 26 };
    let full = NetworkShape {
        planes,
        policy_size: 5488,
        placement_kinds: 8,
        neighbourhood: None,
        feature_count: 0,
        ending_count: 0,
        settings,
    };
    let network = Network::random(&spec(full), Device::CPU, 1).unwrap();
    assert_eq!(network.parameter_count(), 30_088_183);
    let mut inference = InferenceNetwork::new(&network, Device::CPU, Precision::Float32, &[]).unwrap();
    let output = evaluate(&mut inference, &input(&full, 1, 1));
    assert!(output.values[0].abs() < 1.0 && output.uniform_prior_count == 0, "{output:?}");
}

/// Weights of a file, by name.
struct Weights<'a>(SafeTensors<'a>);

impl Weights<'_> {
    fn get(&self, name: &str) -> Vec<f64> {
        let tensor = self.0.tensor(name).unwrap();
        tensor.data().chunks(4).map(|chunk| f64::from(f32::from_le_bytes(chunk.try_into().unwrap()))).collect()
    }

    /// Convolution, batch norm with the running statistics, as the books say. Maps are [C][H * W].
    fn norm_convolution(&self, name: &str, input: &[Vec<f64>], size: usize) -> Vec<Vec<f64>> {
        let weight = self.get(&format!("{name}.weight"));
        let norm = |part: &str| self.get(&format!("{name}.norm.{part}"));
        let (scale, shift, mean, variance) = (norm("weight"), norm("bias"), norm("running_mean"), norm("running_var"));
        let kernel = ((weight.len() / (scale.len() * input.len())) as f64).sqrt() as usize;
        let reach = kernel / 2;
        let output = |filter: usize| {
            let cell = |cell: usize| {
                let (row, column) = (cell / size, cell % size);
                let mut sum = 0.0;
                for (channel, map) in input.iter().enumerate() {
                    for tap in 0..kernel * kernel {
                        let (r, c) = (row + tap / kernel, column + tap % kernel);
                        if (reach..size + reach).contains(&r) && (reach..size + reach).contains(&c) {
                            let weight = weight[(filter * input.len() + channel) * kernel * kernel + tap];
                            sum += weight * map[(r - reach) * size + c - reach];
                        }
                    }
                }
                (sum - mean[filter]) / (variance[filter] + 1e-5).sqrt() * scale[filter] + shift[filter]
            };
            (0..size * size).map(cell).collect()
        };
        (0..scale.len()).map(output).collect()
    }

    /// The same over active cells: only they are read, and only they hold a number other than 0.
    fn cell_convolution(&self, name: &str, input: &[Vec<f64>], shape: &NetworkShape, active: &[u16]) -> Vec<Vec<f64>> {
        let size = shape.planes.rows as i32;
        let weight = self.get(&format!("{name}.weight"));
        let norm = |part: &str| self.get(&format!("{name}.norm.{part}"));
        let (scale, shift, mean, variance) = (norm("weight"), norm("bias"), norm("running_mean"), norm("running_var"));
        let mut taps = vec![(0, 0)];
        taps.extend_from_slice(shape.neighbourhood.unwrap().offsets());
        let mut output = vec![vec![0.0; shape.cell_count()]; scale.len()];
        for &cell in active {
            let (row, column) = (i32::from(cell) / size, i32::from(cell) % size);
            for filter in 0..scale.len() {
                let mut sum = 0.0;
                for (tap, (down, right)) in taps.iter().enumerate() {
                    let (r, c) = (row + i32::from(*down), column + i32::from(*right));
                    let neighbour = (r * size + c) as u16;
                    let is_inside = (0..size).contains(&r) && (0..size).contains(&c);
                    if is_inside && active.contains(&neighbour) {
                        let start = (filter * taps.len() + tap) * input.len();
                        let numbers = input.iter().map(|map| map[usize::from(neighbour)]);
                        sum += numbers.zip(&weight[start..]).map(|(number, weight)| number * weight).sum::<f64>();
                    }
                }
                output[filter][usize::from(cell)] =
                    (sum - mean[filter]) / (variance[filter] + 1e-5).sqrt() * scale[filter] + shift[filter];
            }
        }
        output
    }

    fn affine(&self, name: &str, input: &[f64]) -> Vec<f64> {
        let (weight, bias) = (self.get(&format!("{name}.weight")), self.get(&format!("{name}.bias")));
        let row = |(row, bias): (&[f64], &f64)| bias + row.iter().zip(input).map(|(a, b)| a * b).sum::<f64>();
        weight.chunks(input.len()).zip(&bias).map(row).collect()
    }
}

fn rectified(maps: Vec<Vec<f64>>) -> Vec<Vec<f64>> {
    maps.into_iter().map(|map| map.into_iter().map(|number| number.max(0.0)).collect()).collect()
}

/// Logits of all policy indices, by the moves of a position.
fn picked(all: &[f64], input: &NetworkInput) -> Vec<f64> {
    input.policy_indices.iter().map(|&index| all[usize::from(index)]).collect()
}

/// The value, from what its head knows of the trunk.
fn value_of(weights: &Weights<'_>, summary: &[f64]) -> f64 {
    let hidden: Vec<f64> = weights.affine("value.hidden", summary).iter().map(|number| number.max(0.0)).collect();
    weights.affine("value.output", &hidden)[0].tanh()
}

/// The plain network: convolutions over all planes but the last, whose first cell joins all that they say.
fn plain_by_the_book(weights: &Weights<'_>, shape: &NetworkShape, input: &NetworkInput) -> (Vec<f64>, f64) {
    let size = shape.planes.rows;
    let mut planes = wide_planes(shape, input);
    let feature = planes.pop().unwrap()[0];
    let mut trunk = rectified(weights.norm_convolution("first", &planes, size));
    for number in 1..shape.settings.blocks {
        trunk = rectified(weights.norm_convolution(&format!("plain.{number}"), &trunk, size));
    }
    let mut flat = trunk.concat();
    flat.push(feature);
    (picked(&weights.affine("policy.output", &flat), input), value_of(weights, &flat))
}

/// Returns the planes of one position.
fn wide_planes(shape: &NetworkShape, input: &NetworkInput) -> Vec<Vec<f64>> {
    let dense = input.planes.to_dense(shape.planes);
    dense.chunks(shape.cell_count()).map(|plane| plane.iter().map(|&x| x.into()).collect()).collect()
}

/// Mean and maximum of each map over the cells that are computed, which hold no number below 0.
fn mean_and_maximum(maps: &[Vec<f64>], shape: &NetworkShape, active: &[u16]) -> Vec<f64> {
    let count = if shape.neighbourhood.is_none() { shape.cell_count() } else { active.len() };
    let means = maps.iter().map(|map| map.iter().sum::<f64>() / count as f64);
    means.chain(maps.iter().map(|map| map.iter().copied().fold(0.0, f64::max))).collect()
}

/// Adds a number to each cell that is computed, of each map another.
fn add_to_cells(maps: &mut [Vec<f64>], numbers: &[f64], shape: &NetworkShape, active: &[u16]) {
    let is_computed = |cell: usize| shape.neighbourhood.is_none() || active.contains(&(cell as u16));
    for (map, number) in maps.iter_mut().zip(numbers) {
        map.iter_mut().enumerate().filter(|(cell, _)| is_computed(*cell)).for_each(|(_, sum)| *sum += number);
    }
}

/// The whole network in plain Rust, unfolded, in f64, for one position: logits of its moves, and the value.
fn by_the_book(weights: &Weights<'_>, shape: &NetworkShape, input: &NetworkInput) -> (Vec<f64>, f64) {
    if shape.settings.architecture == Architecture::DamaCnn {
        return plain_by_the_book(weights, shape, input);
    }
    let (size, cells) = (shape.planes.rows, shape.cell_count());
    let planes = wide_planes(shape, input);
    let active = &input.active_cells;
    let convolution = |name: &str, maps: &[Vec<f64>]| match shape.neighbourhood {
        None => weights.norm_convolution(name, maps, size),
        Some(_) => weights.cell_convolution(name, maps, shape, active),
    };
    let mut trunk = rectified(convolution("first", &planes));
    for block in 0..shape.settings.blocks {
        let mut middle = convolution(&format!("block.{block}.first"), &trunk);
        if shape.settings.global_pooling_every > 0 && (block + 1) % shape.settings.global_pooling_every == 0 {
            let whole = weights.affine(&format!("block.{block}.pool"), &mean_and_maximum(&trunk, shape, active));
            add_to_cells(&mut middle, &whole, shape, active);
        }
        let middle = rectified(middle);
        let mut sum = convolution(&format!("block.{block}.second"), &middle);
        for (sum, old) in sum.iter_mut().flatten().zip(trunk.iter().flatten()) {
            *sum += old;
        }
        trunk = rectified(sum);
    }
    let logits = match shape.settings.policy_head {
        PolicyHead::Full => {
            let maps: Vec<f64> = if shape.neighbourhood.is_none() {
                rectified(weights.norm_convolution("policy.convolution", &trunk, size)).concat()
            } else {
                // The numbers of a cell side by side.
                let maps = rectified(convolution("policy.convolution", &trunk));
                (0..cells).flat_map(|cell| maps.iter().map(move |map| map[cell])).collect()
            };
            picked(&weights.affine("policy.output", &maps), input)
        }
        PolicyHead::Spatial => {
            let kinds = shape.placement_kinds;
            let at = |cell: u16| {
                let column: Vec<f64> = trunk.iter().map(|map| map[usize::from(cell)]).collect();
                weights.affine("policy.maps", &column)
            };
            let is_computed = |cell: u16| shape.neighbourhood.is_none() || active.contains(&cell);
            let logit = |cells: &MoveCells| match *cells {
                MoveCells::Nothing => 0.0,
                MoveCells::Placement { target, .. } if !is_computed(target) => 0.0,
                MoveCells::Movement { source, target } if !is_computed(source) || !is_computed(target) => 0.0,
                MoveCells::Placement { kind, target } => at(target)[usize::from(kind)],
                MoveCells::Movement { source, target } => {
                    let (source, target) = (at(source), at(target));
                    (0..16).map(|index| source[kinds + index] * target[kinds + 16 + index]).sum::<f64>() / 4.0
                }
            };
            input.cells.iter().map(logit).collect()
        }
    };
    let summary: Vec<f64> = match shape.neighbourhood {
        None => rectified(weights.norm_convolution("value.convolution", &trunk, size)).concat(),
        Some(_) => mean_and_maximum(&trunk, shape, active),
    };
    (logits, value_of(weights, &summary))
}

/// Folded, batched, in libtorch, equals unfolded, one by one, in plain Rust; also on a tiny board.
#[test]
fn the_network_is_what_the_book_says() {
    for shape in KINDS.iter().flat_map(|kind| [kind.shape(3), kind.shape(6)]) {
        let network = trained(&shape);
        let bytes = network.to_bytes().unwrap();
        let weights = Weights(SafeTensors::deserialize(&bytes).unwrap());
        assert!(weights.get("first.norm.running_mean").iter().any(|mean| mean.abs() > 0.05), "trivial statistics");
        if shape.settings.global_pooling_every > 0 {
            let largest = weights.get("block.1.pool.weight").into_iter().map(f64::abs).fold(0.0, f64::max);
            assert!(largest > 0.001, "trivial pooling: {largest}");
        }
        let batch = input(&shape, 9, 77);
        let mut inference = InferenceNetwork::new(&network, Device::CPU, Precision::Float32, &[16]).unwrap();
        let output = evaluate(&mut inference, &batch);
        for position in 0..batch.len() {
            let (logits, value) = by_the_book(&weights, &shape, &single(&batch, position));
            let highest = logits.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let sum: f64 = logits.iter().map(|logit| (logit - highest).exp()).sum();
            let priors: Vec<f32> = logits.iter().map(|logit| ((logit - highest).exp() / sum) as f32).collect();
            assert_close(&output.priors[batch.move_range(position)], &priors, 1e-4, "priors");
            assert_close(&output.values[position..=position], &[value as f32], 1e-4, "value");
        }
    }
}

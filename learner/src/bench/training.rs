//! Training steps a second, by precision.

use std::time::Instant;

use net::{Arithmetic, Device, Network, Precision, Trainer, TrainingPrecision, matmul_flop_per_second};
use shared::encoding::Encoding;

use super::positions::RandomPositions;
use super::report::TrainingRow;
use super::{BenchError, BenchPlan};

/// Measures the steps of the preset's batch in each precision that the device is meant for.
pub(super) fn measure<E: Encoding>(
    plan: &BenchPlan<'_>,
    show: &(dyn Fn(String) + Sync),
    network: &Network,
    device: Device,
    positions: &RandomPositions<E>,
) -> Result<Vec<TrainingRow>, BenchError> {
    let batch_size = plan.config.training.batch_size;
    let batch = positions.samples(batch_size as usize)?;
    let flop = positions.flop_per_position(network.shape()) * Arithmetic::TRAINING_FACTOR;
    let mut rows = Vec::new();
    for precision in precisions(plan, device) {
        show(format!("training in {precision}, batches of {batch_size}"));
        let matmul = matmul_flop_per_second(device, precision, plan.time)?;
        let settings = net::TrainingSettings { precision, ..plan.config.training.optimizer(device) };
        let mut trainer = Trainer::new(network.copy_to(device)?, settings)?;
        // A rate of 0 leaves the weights as they are: steps of a network that learned nonsense would cost the same.
        trainer.step(&batch, 0.0)?;
        let (started_at, mut count) = (Instant::now(), 0_u32);
        while count == 0 || started_at.elapsed() < plan.time {
            trainer.step(&batch, 0.0)?;
            count += 1;
        }
        let steps_per_second = f64::from(count) / started_at.elapsed().as_secs_f64();
        let samples_per_second = steps_per_second * f64::from(batch_size);
        rows.push(TrainingRow {
            precision,
            batch: batch_size as usize,
            steps_per_second,
            samples_per_second,
            gflop_per_second: samples_per_second * flop / 1e9,
            matmul_share: samples_per_second * flop / matmul,
        });
    }
    Ok(rows)
}

/// 32 bits always, 16 where the device multiplies them faster or the settings ask for them.
fn precisions(plan: &BenchPlan<'_>, device: Device) -> Vec<Precision> {
    let is_fast = device.is_cuda() || Precision::for_device(device) == Precision::Bfloat16;
    let is_asked_for = plan.config.training.precision == TrainingPrecision::Bfloat16;
    let mut precisions = vec![Precision::Float32];
    precisions.extend((is_fast || is_asked_for).then_some(Precision::Bfloat16));
    precisions
}

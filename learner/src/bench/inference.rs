//! Evaluations a second, and the stages that their time goes to.

use std::time::{Duration, Instant};

use net::{Device, InferenceNetwork, Network, NetworkOutput, Precision, StageTimes};
use shared::encoding::{Encoding, NetworkInput};

use super::positions::RandomPositions;
use super::report::InferenceRow;
use super::{BenchError, BenchPlan};

/// Time of the stages of some batches, summed.
#[derive(Debug, Default)]
struct Stages {
    encode: Duration,
    device: StageTimes,
}

/// Measures each batch of the plan.
pub(super) fn measure<E: Encoding>(
    plan: &BenchPlan<'_>,
    show: &(dyn Fn(String) + Sync),
    network: &Network,
    device: Device,
    positions: &RandomPositions<E>,
    matmul_flop_per_second: f64,
) -> Result<Vec<InferenceRow>, BenchError> {
    let mut network = {
        let precision = Precision::chosen(plan.config.inference.precision, device, network.shape())?;
        InferenceNetwork::new(network, device, precision, &[])?
    };
    let flop = positions.flop_per_position(network.shape());
    let mut rows = Vec::new();
    for &batch in plan.batches {
        show(format!("evaluations, batches of {batch}"));
        let (stages, count) = measure_batch(&mut network, positions, batch, plan.time)?;
        let us = |time: Duration| time.as_secs_f64() * 1e6 / (batch as f64 * f64::from(count));
        let StageTimes { upload, forward, read_back } = stages.device;
        let all = stages.encode + upload + forward + read_back;
        let flop_per_second = flop * 1e6 / us(forward);
        rows.push(InferenceRow {
            batch,
            evaluations_per_second: 1e6 / us(all),
            encode_us: us(stages.encode),
            upload_us: us(upload),
            forward_us: us(forward),
            read_back_us: us(read_back),
            forward_gflop_per_second: flop_per_second / 1e9,
            matmul_share: flop_per_second / matmul_flop_per_second,
        });
    }
    Ok(rows)
}

/// Returns the stages of the batches that were counted, and how many they were.
fn measure_batch<E: Encoding>(
    network: &mut InferenceNetwork,
    positions: &RandomPositions<E>,
    batch: usize,
    time: Duration,
) -> Result<(Stages, u32), BenchError> {
    let (mut input, mut output, mut scratch) = (NetworkInput::default(), NetworkOutput::default(), positions.scratch());
    let mut evaluate = || -> Result<(Duration, StageTimes), BenchError> {
        let started_at = Instant::now();
        positions.encode(batch, &mut input, &mut scratch)?;
        let encode = started_at.elapsed();
        Ok((encode, network.evaluate_in_stages(&input, &mut output)?))
    };
    // The first prepares memory, and on a GPU the libraries try their algorithms.
    evaluate()?;
    let (mut stages, mut count) = (Stages::default(), 0);
    let started_at = Instant::now();
    while count == 0 || started_at.elapsed() < time {
        let (encode, device) = evaluate()?;
        stages.encode += encode;
        stages.device.upload += device.upload;
        stages.device.forward += device.forward;
        stages.device.read_back += device.read_back;
        count += 1;
    }
    Ok((stages, count))
}

//! What a device can do at best: one large matrix multiplication, which everything else is measured against.

use std::time::Duration;

use crate::product_time::fastest_product;
use crate::{Device, NetError, Precision};

/// Rows and columns of the matrices: large enough to hide what a call costs, small enough to be quick.
const GPU_SIZE: i64 = 8192;
const CPU_SIZE: i64 = 1024;
/// Calls that are timed together on a GPU, where one alone would be mostly waiting for the answer.
const GPU_CALLS: u32 = 8;

/// Returns the floating-point operations a second of a large matrix multiplication on `device` in numbers of `precision`,
/// the best of what `time` allows, at least one after a first that is not counted. Threads: those of the calling thread.
///
/// # Errors
/// [`NetError::Torch`] if memory does not suffice.
pub fn matmul_flop_per_second(device: Device, precision: Precision, time: Duration) -> Result<f64, NetError> {
    let (size, calls) = if device.is_cuda() { (GPU_SIZE, GPU_CALLS) } else { (CPU_SIZE, 1) };
    let seconds = fastest_product(device, precision.kind(), [size; 3], calls, time)?;
    Ok(2.0 * (size as f64).powi(3) / seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_processor_multiplies_faster_than_a_calculator() {
        let flop_per_second = matmul_flop_per_second(Device::CPU, Precision::Float32, Duration::ZERO).unwrap();
        assert!((1e8..1e15).contains(&flop_per_second), "{flop_per_second}");
    }
}

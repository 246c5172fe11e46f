//! How long a device takes for a matrix multiplication.

use std::time::{Duration, Instant};

use tch::{Kind, Tensor};

use crate::{Device, NetError};

impl Device {
    /// Waits until everything that the device was told to do is done. A processor is never behind.
    pub fn wait(self) {
        if let tch::Device::Cuda(number) = self.0 {
            tch::Cuda::synchronize(number as i64);
        }
    }
}

/// Returns the seconds of a matrix multiplication, the least of what `time` allows, at least of one after a first that is
/// not counted. `sides` are the rows of one matrix, its columns, and the columns of the other; `calls` are timed together.
///
/// # Errors
/// [`NetError::Torch`] if memory does not suffice.
pub(crate) fn fastest_product(
    device: Device,
    kind: Kind,
    sides: [i64; 3],
    calls: u32,
    time: Duration,
) -> Result<f64, NetError> {
    let _no_gradients = tch::no_grad_guard();
    let [rows, inner, columns] = sides;
    let matrix = |size| Tensor::f_rand(size, (kind, device.0));
    let (left, right) = (matrix([rows, inner])?, matrix([inner, columns])?);
    fastest(device, calls, time, || {
        let _ = left.f_matmul(&right)?;
        Ok(())
    })
}

/// Returns the seconds that `work` takes on a device, the least of what `time` allows, at least of one after a first that is
/// not counted; `calls` of it are timed together.
///
/// # Errors
/// The first error of `work`.
pub(crate) fn fastest(
    device: Device,
    calls: u32,
    time: Duration,
    work: impl Fn() -> Result<(), NetError>,
) -> Result<f64, NetError> {
    let timed = || -> Result<f64, NetError> {
        let started_at = Instant::now();
        for _ in 0..calls {
            work()?;
        }
        device.wait();
        Ok(started_at.elapsed().as_secs_f64() / f64::from(calls))
    };
    timed()?;
    let started_at = Instant::now();
    let mut best = timed()?;
    while started_at.elapsed() < time {
        best = best.min(timed()?);
    }
    Ok(best)
}

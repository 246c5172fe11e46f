//! What was measured, as JSON and as a table for people.

use std::fmt::{self, Display, Formatter};

use net::Precision;
use serde::Serialize;

use crate::numbers::percent;

/// What was measured.
#[derive(Debug, Clone, Serialize)]
pub struct BenchReport {
    /// The device.
    pub device: String,
    /// Why it is the processor although `auto` was asked for.
    pub device_note: Option<String>,
    /// Threads of one evaluation on the CPU.
    pub threads: usize,
    /// What the network plays, and its shape.
    pub network: String,
    /// Trainable weights.
    pub parameter_count: usize,
    /// Floating-point operations of an evaluation of these positions on average, in 10^9.
    pub gflop_per_evaluation: f64,
    /// Numbers in which evaluations multiply.
    pub precision: Precision,
    /// A large matrix multiplication in these numbers, in 10^9 operations a second.
    pub matmul_gflop_per_second: f64,
    /// By batch.
    pub inference: Vec<InferenceRow>,
    /// By precision; empty if it was not measured.
    pub training: Vec<TrainingRow>,
    /// Most memory that the process had, in MiB; that of a GPU is not in it.
    pub peak_memory_mib: f64,
}

/// Evaluations in batches of one size. Times are in microseconds an evaluation.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct InferenceRow {
    /// Leaves evaluated together.
    pub batch: usize,
    /// All stages one after the other.
    pub evaluations_per_second: f64,
    /// Packed positions to planes.
    pub encode_us: f64,
    /// Laying out, and to the device.
    pub upload_us: f64,
    /// The network.
    pub forward_us: f64,
    /// From the device, and the softmax.
    pub read_back_us: f64,
    /// Arithmetic of the network's stage alone.
    pub forward_gflop_per_second: f64,
    /// The same as a share of the matrix multiplication.
    pub matmul_share: f64,
}

/// Training steps in numbers of one precision.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct TrainingRow {
    /// The numbers.
    pub precision: Precision,
    /// Positions a step.
    pub batch: usize,
    /// Steps a second.
    pub steps_per_second: f64,
    /// Positions a second.
    pub samples_per_second: f64,
    /// Arithmetic of the steps, three times that of evaluations.
    pub gflop_per_second: f64,
    /// The same as a share of a matrix multiplication in these numbers.
    pub matmul_share: f64,
}

impl Display for BenchReport {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        writeln!(f, "device    {}, {}, {} thread(s) on the CPU", self.device, self.precision, self.threads)?;
        if let Some(note) = &self.device_note {
            writeln!(f, "          (auto: {note})")?;
        }
        writeln!(f, "network   {}", self.network)?;
        let (parameters, gflop) = (self.parameter_count, self.gflop_per_evaluation);
        writeln!(f, "          {parameters} weights, {gflop:.4} GFLOP an evaluation")?;
        writeln!(f, "matmul    {:.0} GFLOP/s", self.matmul_gflop_per_second)?;
        writeln!(f, "memory    {:.0} MiB at most, without that of a GPU\n", self.peak_memory_mib)?;
        writeln!(f, "{:>25}{:>38}", "", "microseconds an evaluation")?;
        let heads = ["encode", "upload", "forward", "read back"];
        write!(f, "{:>8}{:>17}", "batch", "evaluations/s")?;
        heads.iter().try_for_each(|head| write!(f, "{head:>10}"))?;
        writeln!(f, "{:>11}{:>11}", "GFLOP/s", "of matmul")?;
        self.inference.iter().try_for_each(|row| writeln!(f, "{row}"))?;
        if !self.training.is_empty() {
            writeln!(
                f,
                "\n{:>10}{:>8}{:>11}{:>13}{:>11}{:>11}",
                "training", "batch", "steps/s", "samples/s", "GFLOP/s", "of matmul"
            )?;
        }
        self.training.iter().try_for_each(|row| writeln!(f, "{row}"))
    }
}

impl Display for InferenceRow {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{:>8}{:>17.0}", self.batch, self.evaluations_per_second)?;
        let times = [self.encode_us, self.upload_us, self.forward_us, self.read_back_us];
        times.iter().try_for_each(|time| write!(f, "{time:>10.2}"))?;
        write!(f, "{:>11.1}{:>11}", self.forward_gflop_per_second, percent(self.matmul_share))
    }
}

impl Display for TrainingRow {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let precision = self.precision;
        write!(f, "{precision:>10}{:>8}{:>11.2}", self.batch, self.steps_per_second)?;
        let share = percent(self.matmul_share);
        write!(f, "{:>13.0}{:>11.1}{share:>11}", self.samples_per_second, self.gflop_per_second)
    }
}

/// Returns the most memory that this process had, in MiB; 0 if the kernel does not tell.
pub(super) fn peak_memory_mib() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    peak_kib(&status).unwrap_or(0.0) / 1024.0
}

fn peak_kib(status: &str) -> Option<f64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_high_water_mark_is_read() {
        assert_eq!(peak_kib("VmPeak:\t  9 kB\nVmHWM:\t   2048 kB\nVmRSS:\t 1 kB\n"), Some(2048.0));
        assert_eq!(peak_kib(""), None);
    }
}

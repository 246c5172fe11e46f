//! In which numbers a network multiplies.

use std::fmt;
use std::sync::OnceLock;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use shared::precision::AnswerPrecision;
use shared::setting::SettingError;
use tch::Kind;

use crate::int8;
use crate::product_time::fastest_product;
use crate::{Device, NetError, NetworkShape};

/// Sides of the multiplication that decides between the numbers of a processor: the rows of one, its columns, and the
/// columns of the other, as in a convolution of 3 x 3 from 64 filters to 64.
const TRIAL_SIDES: [i64; 3] = [1024, 576, 64];
/// How long each is tried: some ten times, of which the fastest counts, so that other programs do not decide.
const TRIAL_TIME: Duration = Duration::from_millis(6);

/// The numbers in which a network multiplies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Precision {
    /// 32 bits.
    Float32,
    /// 16 bits with 8 of exponent: for processors and GPUs that multiply them in hardware.
    Bfloat16,
    /// 16 bits with 5 of exponent: for GPUs that answer. Gradients are often too small for it.
    Float16,
    /// Whole numbers of 8 bits in the blocks of a residual network on active cells, the usual numbers of the processor
    /// elsewhere: for processors that answer.
    Int8,
}

impl fmt::Display for Precision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Float32 => "float32",
            Self::Bfloat16 => "bfloat16",
            Self::Float16 => "float16",
            Self::Int8 => "int8",
        })
    }
}

impl Precision {
    /// Returns in which numbers `device` computes any network fast, without a visible loss of strength: half on a GPU, on a
    /// processor [`Self::Bfloat16`] if it multiplies that faster, otherwise 32 bits.
    #[must_use]
    pub fn for_device(device: Device) -> Self {
        if device.is_cuda() { Self::Float16 } else { Self::of_processor() }
    }

    /// Returns what `choice` means for a network of `shape` that answers on `device`.
    ///
    /// # Errors
    /// [`NetError::Settings`] with the key `precision` if the device, or the shape, cannot have it.
    pub fn chosen(choice: AnswerPrecision, device: Device, shape: &NetworkShape) -> Result<Self, NetError> {
        let refused = |reason: &str| Err(SettingError::new("precision", format!("{choice}: {reason}")).into());
        match choice {
            AnswerPrecision::Auto if device.is_cuda() => Ok(Self::Float16),
            AnswerPrecision::Auto if shape.can_be_int8() && is_int8_faster() => Ok(Self::Int8),
            AnswerPrecision::Auto => Ok(Self::of_processor()),
            AnswerPrecision::Float32 => Ok(Self::Float32),
            AnswerPrecision::Bfloat16 => Ok(Self::Bfloat16),
            AnswerPrecision::Float16 if device.is_cuda() => Ok(Self::Float16),
            AnswerPrecision::Float16 => refused("a processor has none; take auto, bfloat16 or int8"),
            AnswerPrecision::Int8 if device.is_cuda() => refused("is for processors; take auto on a GPU"),
            AnswerPrecision::Int8 if !shape.can_be_int8() => {
                refused("is for residual networks on active cells, of a multiple of 8 filters")
            }
            AnswerPrecision::Int8 => Ok(Self::Int8),
        }
    }

    /// Returns the numbers that this processor multiplies faster, as measured once a process: some multiply bfloat16 in
    /// hardware and are no faster, among them those whose virtual machine hides the unit for tiles (AMX).
    fn of_processor() -> Self {
        static FASTER: OnceLock<Precision> = OnceLock::new();
        let is_faster = || time_of_product(Self::Bfloat16) < time_of_product(Self::Float32);
        *FASTER.get_or_init(|| if has_bfloat16() && is_faster() { Self::Bfloat16 } else { Self::Float32 })
    }

    pub(crate) fn kind(self) -> Kind {
        match self {
            Self::Float32 => Kind::Float,
            Self::Bfloat16 => Kind::BFloat16,
            Self::Float16 => Kind::Half,
            Self::Int8 => Self::of_processor().kind(),
        }
    }
}

/// The numbers of a training step as the config names them. Weights, statistics, losses and velocity have 32 bits
/// whatever is chosen here (mixed precision, Micikevicius et al. 2018; bfloat16 needs no scaled loss, Kalamkar et al.
/// 2019).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TrainingPrecision {
    /// 32 bits: the same steps on every processor.
    #[default]
    Float32,
    /// 16 bits with 8 of exponent: up to twice as fast where the hardware multiplies them, slow elsewhere.
    Bfloat16,
    /// On a processor the faster of both, as it is measured; `Float32` on a GPU.
    Auto,
}

impl TrainingPrecision {
    /// Returns what this means on `device`.
    #[must_use]
    pub fn on(self, device: Device) -> Precision {
        match self {
            Self::Float32 => Precision::Float32,
            Self::Bfloat16 => Precision::Bfloat16,
            Self::Auto if device.is_cuda() => Precision::Float32,
            Self::Auto => Precision::of_processor(),
        }
    }
}

/// Returns whether this processor convolves faster in [`Precision::Int8`] than in any other numbers, its rounding included,
/// as measured once a process. Those without instructions for sums of products of 8 bits do not.
fn is_int8_faster() -> bool {
    static FASTER: OnceLock<bool> = OnceLock::new();
    let time = || int8::fastest_product(TRIAL_SIDES, TRIAL_TIME).unwrap_or(f64::INFINITY);
    *FASTER.get_or_init(|| time() < time_of_product(Precision::of_processor()))
}

/// Returns the seconds that a product takes on a processor in these numbers; without end, if it cannot be made.
fn time_of_product(precision: Precision) -> f64 {
    fastest_product(Device::CPU, precision.kind(), TRIAL_SIDES, 1, TRIAL_TIME).unwrap_or(f64::INFINITY)
}

/// Returns whether the processor multiplies [`Precision::Bfloat16`] in hardware.
#[cfg(target_arch = "x86_64")]
fn has_bfloat16() -> bool {
    std::arch::is_x86_feature_detected!("avx512bf16")
}

/// Some other processors do too, but nothing has been tried on them.
#[cfg(not(target_arch = "x86_64"))]
fn has_bfloat16() -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_of_both_kinds_can_be_timed() {
        for precision in [Precision::Float32, Precision::Bfloat16] {
            assert!(time_of_product(precision).is_finite(), "{precision}");
        }
    }
}

//! In which numbers a network multiplies.

use std::fmt;

use serde::{Deserialize, Serialize};
use tch::Kind;

use crate::Device;

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
}

impl fmt::Display for Precision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Float32 => "float32",
            Self::Bfloat16 => "bfloat16",
            Self::Float16 => "float16",
        })
    }
}

impl Precision {
    /// Returns what answers fast on `device` without a visible loss of strength: half on a GPU, on a processor
    /// [`Self::Bfloat16`] if it multiplies that in hardware, otherwise 32 bits.
    #[must_use]
    pub fn for_device(device: Device) -> Self {
        if device.is_cuda() { Self::Float16 } else { Self::of_processor() }
    }

    fn of_processor() -> Self {
        if has_bfloat16() { Self::Bfloat16 } else { Self::Float32 }
    }

    pub(crate) fn kind(self) -> Kind {
        match self {
            Self::Float32 => Kind::Float,
            Self::Bfloat16 => Kind::BFloat16,
            Self::Float16 => Kind::Half,
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
    /// 16 bits with 8 of exponent: about twice as fast where the hardware multiplies them, slow elsewhere.
    Bfloat16,
    /// `Bfloat16` on processors that multiply it in hardware, otherwise `Float32`; `Float32` on a GPU.
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

/// Returns whether the processor multiplies [`Precision::Bfloat16`] in hardware.
fn has_bfloat16() -> bool {
    cfg!(target_arch = "x86_64") && std::arch::is_x86_feature_detected!("avx512bf16")
}

//! In which numbers a network answers, as settings, flags and players name it.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The numbers in which a network answers. A device may refuse some.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnswerPrecision {
    /// What the device computes fastest without a visible loss of strength: half on a GPU; on a processor, as it is measured,
    /// whole numbers of 8 bits where the network can, bfloat16 or 32 bits.
    #[default]
    Auto,
    /// 32 bits.
    Float32,
    /// 16 bits with 8 of exponent.
    Bfloat16,
    /// 16 bits with 5 of exponent: GPUs.
    Float16,
    /// Whole numbers of 8 bits in the blocks: processors, residual networks on active cells.
    Int8,
}

/// A text that is no [`AnswerPrecision`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not one of auto, float32, bfloat16, float16 and int8")]
pub struct AnswerPrecisionError(String);

impl AnswerPrecision {
    const ALL: [(&'static str, Self); 5] = [
        ("auto", Self::Auto),
        ("float32", Self::Float32),
        ("bfloat16", Self::Bfloat16),
        ("float16", Self::Float16),
        ("int8", Self::Int8),
    ];
}

impl FromStr for AnswerPrecision {
    type Err = AnswerPrecisionError;

    fn from_str(text: &str) -> Result<Self, AnswerPrecisionError> {
        let found = Self::ALL.iter().find(|(name, _)| *name == text);
        found.map(|(_, precision)| *precision).ok_or_else(|| AnswerPrecisionError(text.to_owned()))
    }
}

impl fmt::Display for AnswerPrecision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = Self::ALL.iter().find(|(_, precision)| precision == self);
        f.pad(name.map_or("auto", |(name, _)| name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_they_are_written() {
        for (name, precision) in AnswerPrecision::ALL {
            assert_eq!((name.parse(), precision.to_string().as_str()), (Ok(precision), name));
            assert_eq!(serde_json::to_string(&precision).unwrap(), format!("{name:?}"));
        }
        assert!("half".parse::<AnswerPrecision>().is_err());
    }
}

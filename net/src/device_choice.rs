//! Which device is asked for, as settings and flags name it.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::NetError;

/// The device as the config names it: `auto`, `cpu`, `cuda` or `cuda:N`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum DeviceChoice {
    /// The first GPU if there is one, otherwise the processor.
    #[default]
    Auto,
    /// The processor.
    Cpu,
    /// The GPU of this number.
    Cuda(usize),
}

impl FromStr for DeviceChoice {
    type Err = NetError;

    fn from_str(text: &str) -> Result<Self, NetError> {
        let unknown = || NetError::Device {
            device: format!("{text:?}"),
            reason: "not one of \"auto\", \"cpu\", \"cuda:0\", \"cuda:1\" and so on".into(),
        };
        match text {
            "auto" => Ok(Self::Auto),
            "cpu" => Ok(Self::Cpu),
            "cuda" => Ok(Self::Cuda(0)),
            _ => {
                let number = text.strip_prefix("cuda:").ok_or_else(unknown)?;
                number.parse::<u8>().map(|number| Self::Cuda(number.into())).map_err(|_| unknown())
            }
        }
    }
}

impl TryFrom<String> for DeviceChoice {
    type Error = NetError;

    fn try_from(text: String) -> Result<Self, NetError> {
        text.parse()
    }
}

impl From<DeviceChoice> for String {
    fn from(choice: DeviceChoice) -> Self {
        choice.to_string()
    }
}

impl fmt::Display for DeviceChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => write!(f, "auto"),
            Self::Cpu => write!(f, "cpu"),
            Self::Cuda(number) => write!(f, "cuda:{number}"),
        }
    }
}

impl DeviceChoice {
    /// Returns the first of the choices that may be a GPU, or the processor: what [`crate::cuda::preload`] has to prepare for.
    #[must_use]
    pub fn most_of(choices: &[Self]) -> Self {
        choices.iter().copied().find(|choice| *choice != Self::Cpu).unwrap_or(Self::Cpu)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices_are_read_and_written() {
        for text in ["auto", "cpu", "cuda:0", "cuda:3"] {
            assert_eq!(text.parse::<DeviceChoice>().unwrap().to_string(), text);
        }
        for text in ["", "gpu", "cuda:", "cuda:-1", "cuda:x", "CPU", "cuda:99999999999"] {
            let error = text.parse::<DeviceChoice>().unwrap_err().to_string();
            assert!(error.starts_with(&format!("device {text:?}: not one of")), "{error}");
        }
    }

    #[test]
    fn a_gpu_among_the_choices_is_prepared_for() {
        let (cpu, gpu) = (DeviceChoice::Cpu, DeviceChoice::Cuda(1));
        assert_eq!(DeviceChoice::most_of(&[cpu, gpu, DeviceChoice::Auto]), gpu);
        assert_eq!(DeviceChoice::most_of(&[cpu, cpu]), cpu);
    }
}

//! The messages that TensorBoard reads: the few fields of TensorFlow's `event.proto` and `summary.proto` that a scalar needs.

use std::time::SystemTime;

use prost::{Message, Oneof};

/// One event of a file.
#[derive(Clone, PartialEq, Message)]
pub(super) struct Event {
    /// Seconds since 1970.
    #[prost(double, tag = "1")]
    pub(super) wall_time: f64,
    #[prost(int64, tag = "2")]
    pub(super) step: i64,
    #[prost(oneof = "What", tags = "3, 5")]
    pub(super) what: Option<What>,
}

/// What an event tells.
#[derive(Clone, PartialEq, Oneof)]
pub(super) enum What {
    /// The first event of a file.
    #[prost(string, tag = "3")]
    FileVersion(String),
    #[prost(message, tag = "5")]
    Summary(Summary),
}

/// Numbers of one step.
#[derive(Clone, PartialEq, Message)]
pub(super) struct Summary {
    #[prost(message, repeated, tag = "1")]
    pub(super) values: Vec<SummaryValue>,
}

/// One number.
#[derive(Clone, PartialEq, Message)]
pub(super) struct SummaryValue {
    #[prost(string, tag = "1")]
    pub(super) tag: String,
    /// Part of a choice in TensorFlow's definition: 0 is written too.
    #[prost(float, optional, tag = "2")]
    pub(super) simple_value: Option<f32>,
}

impl Event {
    /// Returns the event that every file begins with.
    pub(super) fn first(now: SystemTime) -> Self {
        Self { wall_time: seconds(now), step: 0, what: Some(What::FileVersion("brain.Event:2".to_owned())) }
    }

    /// Returns the event of some numbers at one step.
    pub(super) fn scalars(now: SystemTime, step: u64, values: &[(&str, f64)]) -> Self {
        let value =
            |&(tag, value): &(&str, f64)| SummaryValue { tag: tag.to_owned(), simple_value: Some(value as f32) };
        let values = values.iter().map(value).collect();
        Self { wall_time: seconds(now), step: step.cast_signed(), what: Some(What::Summary(Summary { values })) }
    }
}

fn seconds(now: SystemTime) -> f64 {
    now.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs_f64()
}

#[cfg(test)]
impl Event {
    /// Returns the version that a first event tells.
    pub(super) fn file_version(&self) -> Option<&str> {
        match &self.what {
            Some(What::FileVersion(version)) => Some(version),
            _ => None,
        }
    }

    /// Returns its numbers.
    pub(super) fn values(&self) -> &[SummaryValue] {
        match &self.what {
            Some(What::Summary(summary)) => &summary.values,
            _ => &[],
        }
    }
}

#[cfg(test)]
impl SummaryValue {
    /// Returns the number, which every value here has.
    pub(super) fn number(&self) -> f32 {
        self.simple_value.expect("a scalar")
    }
}

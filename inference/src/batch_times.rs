//! How long evaluations took on the device: a histogram that is counted without a lock and read when someone asks.

use std::time::Duration;

use prometheus::{Histogram, HistogramOpts};

/// Upper bounds of the classes in seconds: from what a small network takes on a GPU to the most that
/// `inference.batch_time_max` allows.
const BOUNDS: [f64; 16] =
    [0.0005, 0.001, 0.002, 0.004, 0.008, 0.015, 0.03, 0.06, 0.12, 0.25, 0.5, 1.0, 2.0, 5.0, 15.0, 60.0];

/// How long evaluations of batches took.
#[derive(Debug, Clone)]
pub struct BatchTimes(Histogram);

impl Default for BatchTimes {
    fn default() -> Self {
        let options = HistogramOpts::new("alveare_device_seconds", "Time of one evaluation of a batch on the device.");
        let histogram = Histogram::with_opts(options.buckets(BOUNDS.to_vec()));
        Self(histogram.expect("the name is valid and the bounds rise"))
    }
}

impl BatchTimes {
    /// Counts an evaluation.
    pub(super) fn note(&self, time: Duration) {
        self.0.observe(time.as_secs_f64());
    }

    /// Returns the histogram, to be shown with the metrics.
    #[must_use]
    pub fn histogram(&self) -> Histogram {
        self.0.clone()
    }
}

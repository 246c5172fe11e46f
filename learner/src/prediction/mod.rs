//! How well a network predicts games that it did not learn from: measured after each epoch of a supervised training, on
//! the games that a run holds out, and by `learner evaluate`.

mod measure;
mod prediction_metrics;

pub use measure::{MeasureError, measure};
pub use prediction_metrics::PredictionMetrics;

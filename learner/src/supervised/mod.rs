//! Supervised training, without self-play: from human games (`learner pretrain`) and from data sets (`learner train`).
//!
//! Both are the same training: samples split by game, epochs with a schedule of the learning rate, early stopping, a
//! checkpoint to resume from. The result is a plain network file that a run starts from. The samples themselves are the
//! crate `samples`. Method and measurements: `docs/training.md`.

mod epoch_reporter;
mod error;
mod measure;
mod prediction_metrics;
mod rate_schedule;
mod supervised_progress;
mod supervised_settings;
mod training;
mod training_folder;
mod training_source;

pub use epoch_reporter::percent;
pub use error::SupervisedError;
pub use measure::measure;
pub use prediction_metrics::PredictionMetrics;
pub use supervised_settings::{LearningRateSchedule, SupervisedSettings};
pub use training::{SupervisedTraining, TrainingPlan};
pub use training_folder::TrainingFolder;
pub use training_source::TrainingSource;

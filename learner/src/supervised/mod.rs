//! Supervised training, without self-play: from human games (`learner pretrain`) and from data sets (`learner train`).
//!
//! Both are the same training: samples split by game, epochs with a schedule of the learning rate, early stopping, a
//! checkpoint to resume from. The result is a plain network file that a run starts from. The samples themselves are the
//! crate `samples`. Method and measurements: `docs/training.md`.

mod epoch_reporter;
mod error;
mod rate_schedule;
mod supervised_progress;
mod training;
mod training_folder;

pub use error::SupervisedError;
pub use training::{SupervisedTraining, TrainingPlan};
pub use training_folder::TrainingFolder;

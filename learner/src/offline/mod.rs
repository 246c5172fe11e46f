//! Learning without self-play: from people's games (`learner pretrain`) and from data sets (`learner train`).
//!
//! One machinery: samples split by game, epochs with a schedule, early stopping, a checkpoint to go on from. The result
//! is a plain network file that a run starts from. Method and figures: `docs/training.md`.

mod args;
mod batches;
mod folder;
mod kind;
mod measure;
mod pretrain;
mod progress;
mod schedule;
mod screen;
mod session;
mod settings;
mod train;

pub use kind::network_of;
pub use measure::measure;
pub use pretrain::{PretrainArgs, pretrain};
pub use screen::percent;
pub use settings::{OfflineConfig, ScheduleKind};
pub use train::{TrainArgs, train};

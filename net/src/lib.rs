//! The networks: what they look like, how they answer, how they learn, how they are kept in files.
//!
//! This is the only crate that knows libtorch. It plays no game: positions come as planes and ragged lists of legal
//! moves ([`shared::encoding::NetworkInput`]) or as the leaves of a search ([`NetworkEvaluator`]), and the game in a network's [`NetworkSpec`] is only carried along, so
//! that a file says what it plays. No thread is started here, nothing waits, no environment is read but by [`cuda`].
//! One thread owns a network at a time; every failure is a [`NetError`].

mod affine;
mod arithmetic;
mod checkpoint;
pub mod cuda;
mod device;
mod device_choice;
mod error;
mod evaluator;
mod file;
mod file_numbers;
mod file_writer;
mod folded;
mod grid;
mod growth;
mod header;
mod inference;
mod int8;
mod layout;
mod model;
mod moves;
mod named;
mod network;
mod outlook;
mod output;
mod parts;
mod peak;
mod planes;
mod precision;
mod product_time;
mod schedule;
mod settings;
mod spec;
mod trainer;
mod weight_average;

pub use arithmetic::Arithmetic;
pub use device::{Device, open_device, set_threads, threads};
pub use device_choice::DeviceChoice;
pub use error::NetError;
pub use evaluator::NetworkEvaluator;
pub use file::NetworkFile;
pub use inference::{InferenceNetwork, StageTimes};
pub use network::Network;
pub use output::NetworkOutput;
pub use peak::matmul_flop_per_second;
pub use precision::{Precision, TrainingPrecision};
pub use schedule::{cosine_learning_rate, cosine_learning_rate_at};
pub use settings::{Architecture, NetworkSettings, NetworkShape, PolicyHead, Trunk};
pub use spec::NetworkSpec;
pub use trainer::{StepLosses, Trainer, TrainingSettings};

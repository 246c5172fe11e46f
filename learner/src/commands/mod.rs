//! The commands of the program besides the run itself.
//!
//! `health` and `status` ask a running learner; `page` shows a run in a browser; `data-info` and `export` look at games and
//! need neither a network nor a running learner; `import` gathers human games in one file; `pretrain` and `train` learn without self-play; `evaluate` measures a
//! network on human games; `restore` puts a backup back; `check` and `quarantine` look after the run directory;
//! `certificate` makes certificates; `infer` answers leaves for a learner elsewhere. `bench` measures a device, and `plan`
//! computes what it makes of a run.

mod bench;
mod certificate;
mod check;
mod data_info;
mod dropped_games;
mod evaluate;
mod export;
mod export_network;
mod game_file;
mod game_sources;
mod human_games;
mod import;
mod infer;
mod inquire;
mod page;
mod plan;
mod pretrain;
mod quarantine;
mod restore;
mod sample_file;
mod settings_args;
mod status_table;
mod supervised_args;
mod train;

use std::path::Path;

use runtime::exit::UsageError;

pub use bench::{BenchArgs, bench_command};
pub use certificate::{CertificateArgs, certificate};
pub use check::{CheckArgs, check};
pub use data_info::{DataInfoArgs, data_info};
pub use evaluate::{EvaluateArgs, evaluate};
pub use export::{ExportArgs, export};
pub use export_network::{ExportNetworkArgs, export_network};
pub use import::{ImportArgs, import};
pub use infer::{InferArgs, infer};
pub use inquire::{InquireTarget, StatusArgs, health, status};
pub use page::{PageArgs, page};
pub use plan::{PlanArgs, plan};
pub use pretrain::{PretrainArgs, pretrain};
pub use quarantine::{QuarantineArgs, quarantine};
pub use restore::{RestoreArgs, restore};
pub use settings_args::SettingsArgs;
pub use train::{TrainArgs, train};

/// Refuses a folder without a run where one is to be named.
fn need_run(run_dir: &Path) -> Result<(), UsageError> {
    networks::database_of(run_dir).map(drop).map_err(|error| UsageError(error.to_string()))
}

//! Why a run cannot start or go on.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

use backup::BackupError;
use inference::InferenceStartError;
use net::NetError;
use registry::RegistryError;
use runtime::auth::TokenError;
use runtime::exit::UsageError;
use runtime::open_files::TooFewFiles;
use runtime::tls::TlsError;
use shared::setting::SettingError;
use store::files::RunFileError;
use store::{DATABASE_FILE, StoreError};

use crate::human_share::HumanShareError;
use crate::page::PageStartError;
use crate::pipeline::PipelineError;
use crate::services::ServeError;
use crate::start_network::StartNetworkError;
use crate::trainer::TrainerError;
use crate::webhook::WebhookError;

/// Why a run cannot start or go on.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The settings ask for a game or a network that cannot be.
    #[error(transparent)]
    Setting(#[from] SettingError),
    /// The token cannot be read.
    #[error(transparent)]
    Token(#[from] TokenError),
    /// The certificate, its key, or the authority of the workers cannot be used.
    #[error("{key}")]
    Tls {
        /// The key of the settings that is to blame.
        key: &'static str,
        /// What is wrong with it.
        source: Box<TlsError>,
    },
    /// The system allows too few open files.
    #[error(transparent)]
    OpenFiles(TooFewFiles),
    /// The device to answer leaves on is not there.
    #[error("inference.device")]
    InferenceDevice(#[source] NetError),
    /// The device to train on is not there.
    #[error("training.device")]
    TrainingDevice(#[source] NetError),
    /// The network to start from is not there, or does not go with the settings.
    #[error("run.start_network")]
    OtherStartNetwork(#[source] UsageError),
    /// The network to start from cannot be read.
    #[error("run.start_network")]
    StartNetwork(#[source] StartNetworkError),
    /// The run is there, and did not begin from the network to start from.
    #[error("run.start_network")]
    OtherOrigin(#[source] UsageError),
    /// The human games cannot be learned from.
    #[error(transparent)]
    HumanGames(#[from] HumanShareError),
    /// The run directory cannot be made or read.
    #[error("{action} {}", path.display())]
    Folder {
        /// What was tried.
        action: &'static str,
        /// The run directory.
        path: PathBuf,
        /// What the system reported.
        source: io::Error,
    },
    /// A new run would write over networks whose database is gone.
    #[error(
        "{} holds networks but no {DATABASE_FILE}: put the database back, or use another run directory",
        dir.display()
    )]
    NetworksWithoutDatabase {
        /// The run directory.
        dir: PathBuf,
    },
    /// The settings cannot be kept in the store.
    #[error("write the settings as JSON")]
    Settings(#[source] serde_json::Error),
    /// The run that is there plays another game, or has another network, than the settings say.
    #[error("run.dir")]
    OtherRun(#[source] UsageError),
    /// The store cannot be opened.
    #[error("open the store")]
    OpenStore(#[source] StoreError),
    /// The store cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Network 1 cannot be made.
    #[error("make the first network")]
    FirstNetwork(#[source] TrainerError),
    /// The store has no best network.
    #[error("the store names no best network")]
    NoBestNetwork,
    /// The file of the best network is missing or damaged.
    #[error("best network")]
    BestNetworkFile(#[source] RunFileError),
    /// The copy of the best network cannot be made.
    #[error("write {}", path.display())]
    BestFile {
        /// The copy.
        path: PathBuf,
        /// What the system reported.
        source: io::Error,
    },
    /// The file of the best network cannot be used.
    #[error("best network")]
    BestNetwork(#[source] NetError),
    /// Training could not go on.
    #[error("training")]
    NoCheckpoint(#[source] TrainerError),
    /// The replay buffer cannot be filled.
    #[error("rebuild the replay buffer")]
    Rebuild(#[source] StoreError),
    /// The open games cannot be loaded.
    #[error("take up the games")]
    Games(#[source] RegistryError),
    /// The system refuses a thread.
    #[error("start the {name} thread")]
    Thread {
        /// Its name.
        name: &'static str,
        /// What the system reported.
        source: io::Error,
    },
    /// The port of the metrics cannot be opened.
    #[error("metrics.listen: open {address} (choose another, or \"\" for none)")]
    Metrics {
        /// The address.
        address: SocketAddr,
        /// What the system reported.
        source: io::Error,
    },
    /// The newest backup cannot be had, or not be put into the run directory.
    #[error("backup.restore")]
    Restore(#[source] BackupError),
    /// Leaves cannot be answered.
    #[error(transparent)]
    Inference(#[from] InferenceStartError),
    /// Alarms cannot be sent.
    #[error("alarms.webhook")]
    Webhook(#[from] WebhookError),
    /// The address of the web page cannot be had.
    #[error("page.listen: open {address} (--page chooses another)")]
    PageListen {
        /// The address.
        address: SocketAddr,
        /// What the system reported.
        source: io::Error,
    },
    /// The web page cannot be made.
    #[error("web page")]
    Page(#[from] PageStartError),
    /// The server ended.
    #[error(transparent)]
    Serve(#[from] ServeError),
    /// The pipeline cannot go on.
    #[error(transparent)]
    Pipeline(#[from] PipelineError),
    /// The pipeline panicked.
    #[error("the pipeline thread died")]
    PipelineDied,
}

//! The common parts of the programs `actor` and `evaluator`: command line, settings, start and end.

use std::error::Error;
use std::io;
use std::path::PathBuf;

use proto::WorkerKind;
use runtime::auth::Token;
use runtime::exit::UsageError;
use runtime::layers::{ConfigArgs, ConfigError, Loaded, Sources, load, to_toml};
use runtime::{exit, logging, shutdown};

use crate::{WorkerConfig, WorkerError, WorkerSettings};

/// Flags that actors and evaluators share.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct WorkerArgs {
    /// Where the learner listens: https://host:port, http://host:port; or unix:/path, where a tunnel or proxy to it listens.
    #[arg(long, value_name = "ADDRESS")]
    pub learner: Option<String>,
    /// File with the certificate of the authority that vouches for the learner, with https://; by default those that this
    /// machine trusts.
    #[arg(long, value_name = "FILE")]
    pub authority: Option<PathBuf>,
    /// File with the certificate to show to a learner that asks for one.
    #[arg(long, value_name = "FILE")]
    pub certificate: Option<PathBuf>,
    /// File with its key.
    #[arg(long, value_name = "FILE")]
    pub key: Option<PathBuf>,
    /// File that holds the learner's token.
    #[arg(long, value_name = "FILE")]
    pub token_file: Option<PathBuf>,
    /// The learner's token itself, above the file.
    #[arg(long, env = "ALVEARE_TOKEN", hide_env_values = true, value_name = "TOKEN")]
    pub token: Option<String>,
    /// Search threads; 0: one for each core.
    #[arg(long, value_name = "NUMBER")]
    pub threads: Option<usize>,
    /// Games that each thread plays at once; 0: as many as keep it busy.
    #[arg(long, value_name = "NUMBER")]
    pub games_per_thread: Option<usize>,
    /// Flags for the configuration.
    #[command(flatten)]
    pub config: ConfigArgs,
}

impl WorkerArgs {
    /// Returns the configuration flags, with the short forms as overrides.
    fn config_args(&self) -> ConfigArgs {
        let text = |path: &PathBuf| path.display().to_string();
        let short_forms = [
            ("learner", self.learner.clone()),
            ("authority", self.authority.as_ref().map(text)),
            ("certificate", self.certificate.as_ref().map(text)),
            ("key", self.key.as_ref().map(text)),
            ("token_file", self.token_file.as_ref().map(text)),
            ("threads", self.threads.map(|threads| threads.to_string())),
            ("games_per_thread", self.games_per_thread.map(|games| games.to_string())),
        ];
        let mut args = self.config.clone();
        args.overrides.extend(short_forms.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?))));
        args
    }
}

/// Why a worker program ends with a failure.
// Not transparent: the exit code depends on which errors are among the causes.
#[derive(Debug, thiserror::Error)]
pub enum ProgramError {
    /// Wrong settings.
    #[error("{0}")]
    Settings(#[from] ConfigError),
    /// Wrong usage.
    #[error("{0}")]
    Usage(#[from] UsageError),
    /// The settings cannot be printed.
    #[error("write to stdout")]
    Print(#[source] io::Error),
    /// The asynchronous runtime does not start.
    #[error("start tokio")]
    Tokio(#[source] io::Error),
    /// The signal handlers cannot be installed.
    #[error("listen to signals")]
    Signals(#[source] io::Error),
    /// The worker cannot go on.
    #[error("{0}")]
    Worker(#[from] WorkerError),
}

impl AsRef<dyn Error + Send + Sync> for ProgramError {
    fn as_ref(&self) -> &(dyn Error + Send + Sync + 'static) {
        self
    }
}

/// A move that tables know to win may be one that the learner, which has none, finds nothing in.
const NO_TABLES_IN_GATES: &str = "an evaluator has none: the learner searches gate games again, without tables";

/// Runs a worker of this kind until a signal stops it.
///
/// # Errors
/// [`ProgramError`] with the first setting that cannot be used, or with the reason why the worker ended.
pub fn start(program: &'static str, kind: WorkerKind, args: &WorkerArgs) -> Result<(), ProgramError> {
    let loaded = load::<WorkerConfig>(&Sources::new(program, &args.config_args()))?;
    if args.config.print_config {
        return exit::print(&to_toml(&loaded.raw)).map_err(ProgramError::Print);
    }
    logging::init(&loaded.raw.log).map_err(|error| loaded.error("log.filter", error))?;
    let token = token(args.token.as_deref(), &loaded)?;
    if kind == WorkerKind::Evaluator && !loaded.raw.tables.as_os_str().is_empty() {
        return Err(loaded.error("tables", NO_TABLES_IN_GATES).into());
    }
    let settings = loaded.raw.check(token).map_err(|error| loaded.error(&error.key, error.problem))?;
    let (base, changes) = (loaded.base(), loaded.changes());
    tracing::info!(program, version = env!("CARGO_PKG_VERSION"), settings = base, changes, "starting");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(ProgramError::Tokio)?;
    runtime.block_on(run_until_signal(settings, kind))
}

fn token(given: Option<&str>, loaded: &Loaded<WorkerConfig>) -> Result<Option<Token>, ProgramError> {
    if let Some(text) = given {
        let token = Token::new(text).map_err(|error| UsageError(format!("--token or ALVEARE_TOKEN: {error}")))?;
        return Ok(Some(token));
    }
    let file = &loaded.raw.token_file;
    if file.as_os_str().is_empty() {
        return Ok(None);
    }
    let token = Token::from_file(file).map_err(|error| loaded.error("token_file", exit::one_line(&error)))?;
    Ok(Some(token))
}

async fn run_until_signal(settings: WorkerSettings, kind: WorkerKind) -> Result<(), ProgramError> {
    let shutdown = shutdown::on_signals().map_err(ProgramError::Signals)?;
    crate::run(settings, kind, shutdown).await?;
    Ok(())
}

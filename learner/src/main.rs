//! The program `learner`: reads its configuration, opens its port, runs, and drains.

mod commands;

use std::process::ExitCode;

use anyhow::Context;
use backup::BackupError;
use clap::{Parser, Subcommand};
use learner::config::{LearnerConfig, LearnerSettings, ServerConfig};
use learner::run;
use learner::run::CosineSource;
use net::DeviceChoice;
use runtime::auth::Token;
use runtime::exit::UsageError;
use runtime::layers::{ConfigError, Loaded, to_toml};
use runtime::tls::TlsError;
use runtime::tls::server::ServerTls;
use runtime::{exit, logging, shutdown};
use tracing::info;

use commands::{
    BenchArgs, CertificateArgs, CheckArgs, DataInfoArgs, EvaluateArgs, ExportArgs, ExportNetworkArgs, ImportArgs,
    InferArgs, InquireTarget, PageArgs, PlanArgs, PretrainArgs, QuarantineArgs, RestoreArgs, SettingsArgs, StatusArgs,
    TrainArgs,
};

/// Owns the GPU, the games and the networks of a training run.
#[derive(Debug, Parser)]
#[command(
    version,
    args_conflicts_with_subcommands = true,
    after_help = "Examples:\n  \
        learner --preset hive-cpu --run-dir run                    start a run, or go on with it\n  \
        learner --preset hive-4090 --set run.seed=7                change single keys\n  \
        learner status                                             ask a learner how its run is doing\n  \
        learner status --watch                                     ... again and again\n  \
        learner infer --preset hive-4090 --learner http://HOST:50051   answer leaves for it with this machine's device\n  \
        learner page run                                           look at a run in a browser\n  \
        learner pretrain --preset hive-cpu --games DIR             learn from human games first\n  \
        learner train --preset tictactoe --data FILE               learn from a data set\n  \
        learner bench --preset hive-4090                           how fast this machine answers\n  \
        learner data-info run                                      statistics of the games of a run\n  \
        learner restore s3://bucket/hive --run-dir run             put the newest backup of a run back\n\n\
        Exit codes: 0 after a clean stop, 1 after a failure, 64 for wrong usage or configuration.\n\
        Environment: ALVEARE_LEARNER__SECTION__KEY sets section.key, below flags and above the file."
)]
struct Cli {
    #[command(flatten)]
    settings: SettingsArgs,
    /// Folder of the store, the networks and the checkpoints (run.dir).
    #[arg(long, value_name = "DIR")]
    run_dir: Option<String>,
    /// Address to listen on (server.listen).
    #[arg(long, value_name = "IP:PORT")]
    listen: Option<String>,
    /// Address of the web page, such as 127.0.0.1:8080 (page.listen).
    #[arg(long, value_name = "IP:PORT")]
    page: Option<String>,
    /// File with the token that workers must show (server.token_file).
    #[arg(long, value_name = "FILE")]
    token_file: Option<String>,
    /// File with the certificate that the learner shows, for TLS (server.certificate); `learner certificate` makes one.
    #[arg(long, value_name = "FILE")]
    certificate: Option<String>,
    /// File with its key (server.key).
    #[arg(long, value_name = "FILE")]
    key: Option<String>,
    /// Listen beyond this machine without a token, or with tokens in the clear (server.insecure).
    #[arg(long)]
    insecure: bool,
    /// Stop after so many iterations, counted from this start (run.iterations). In a new run the learning rate falls over as
    /// many (training.iterations); a run that goes on keeps its own.
    #[arg(long, value_name = "N")]
    iterations: Option<u32>,
    /// Network that a new run starts from, as generation 0: ready (the one that this program carries), a file, a run
    /// directory, which means its best network, or the folder that `learner pretrain` or `learner train` left it in
    /// (run.start_network). A run that is there goes on if it began from this network, and is refused if not.
    #[arg(long, value_name = "FILE|RUN_DIR|ready")]
    resume: Option<String>,
    /// Keep copies of the run in a folder, file:///FOLDER or s3://BUCKET/PREFIX (backup.url).
    #[arg(long, value_name = "URL")]
    backup: Option<String>,
    /// The same, and begin with the newest copy there, if there is one and the run directory has no run (backup.url,
    /// backup.restore): one command for a machine that may be lost.
    #[arg(long, value_name = "URL", conflicts_with = "backup")]
    restore: Option<String>,
    /// human or json (log.format).
    #[arg(long, value_name = "FORMAT")]
    log_format: Option<String>,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Answers leaves for a learner on another machine, or on another device of this one, until it is stopped.
    Infer(InferArgs),
    /// Asks a learner whether it serves; exit code 0 if it does.
    Health(InquireTarget),
    /// Asks a learner how its run is doing: how far it is, what it waits for, who holds games, which alarms are on.
    Status(StatusArgs),
    /// Serves the web page of a run directory, with or without a learner at work there; changes nothing in it.
    Page(PageArgs),
    /// Trains a network on human games; a run can start from it.
    Pretrain(PretrainArgs),
    /// Trains a network on data sets, for any game; a run can start from it.
    Train(TrainArgs),
    /// Measures how well a network predicts human games.
    Evaluate(EvaluateArgs),
    /// Measures how fast a device evaluates and trains a preset's network, and where the time goes.
    Bench(BenchArgs),
    /// Predicts speed, duration and cost of a run on hardware that you have not rented yet.
    Plan(PlanArgs),
    /// What it was for is done by `alveare match` itself.
    #[command(hide = true, disable_help_flag = true)]
    Serve {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        _rest: Vec<std::ffi::OsString>,
    },
    /// Prints statistics of the games of a run, of data sets, or of human games.
    DataInfo(DataInfoArgs),
    /// Writes the games of a run, or human games, for other programs, as tensors, or as data sets.
    Export(ExportArgs),
    /// Gathers the human games of an archive in one file; can be interrupted, and repeated as the archive grows.
    Import(ImportArgs),
    /// Checks a run directory: database, every game by the rules, networks, checkpoints.
    Check(CheckArgs),
    /// Takes the games of one worker out of a run, or puts them back.
    Quarantine(QuarantineArgs),
    /// Rewrites a network file in the current format; --half writes half precision, for publication.
    ExportNetwork(ExportNetworkArgs),
    /// Makes an authority of your own and certificates by it, for a learner that workers reach by TLS.
    Certificate(CertificateArgs),
    /// Puts a backup of a run into an empty run directory, or lists the backups that there are.
    Restore(RestoreArgs),
}

const SERVE_IS_GONE: &str =
    "there is no `learner serve` any more: `alveare match` and `alveare ladder` compute networks themselves";

fn main() -> ExitCode {
    let cli: Cli = exit::parse();
    exit::run("learner", || match &cli.command {
        Some(Command::Infer(args)) => commands::infer(args),
        Some(Command::Health(target)) => commands::health(target),
        Some(Command::Status(args)) => commands::status(args),
        Some(Command::Page(args)) => commands::page(args),
        Some(Command::Pretrain(args)) => commands::pretrain(args),
        Some(Command::Train(args)) => commands::train(args),
        Some(Command::Evaluate(args)) => commands::evaluate(args),
        Some(Command::Bench(args)) => commands::bench_command(args),
        Some(Command::Plan(args)) => commands::plan(args),
        Some(Command::Serve { .. }) => Err(UsageError(SERVE_IS_GONE.to_owned()).into()),
        Some(Command::DataInfo(args)) => commands::data_info(args),
        Some(Command::Export(args)) => commands::export(args),
        Some(Command::Import(args)) => commands::import(args),
        Some(Command::Check(args)) => commands::check(args),
        Some(Command::Quarantine(args)) => commands::quarantine(args),
        Some(Command::ExportNetwork(args)) => commands::export_network(args),
        Some(Command::Certificate(args)) => commands::certificate(args),
        Some(Command::Restore(args)) => commands::restore(args),
        None => start(&cli),
    })
}

fn start(cli: &Cli) -> anyhow::Result<()> {
    let (settings, loaded) = cli.settings.load(overrides(cli))?;
    if cli.settings.print_config() {
        let (settings, _) = settle(settings, &loaded, cli)?;
        let text = format!("{}{}", run::learning_rate_note(&settings), to_toml(&*settings));
        return exit::print(&text).context("write to stdout");
    }
    // Before threads, files and the first torch call: on a machine with a GPU the program starts anew.
    let devices = [settings.inference.devices(), vec![settings.training.device]].concat();
    net::cuda::preload(DeviceChoice::most_of(&devices))?;
    logging::init(&settings.log).map_err(|error| loaded.error("log.filter", error))?;
    for (key, _, file) in settings.server.token_files() {
        let token = Token::from_file(file).map_err(anyhow::Error::from);
        token.map_err(|error| loaded.error(key, format!("{error:#}")))?;
    }
    if let Some(file) = &settings.alarms.webhook_token_file {
        let token = Token::from_file(file).map_err(anyhow::Error::from);
        token.map_err(|error| loaded.error("alarms.webhook_token_file", format!("{error:#}")))?;
    }
    if let Some(files) = settings.server.tls_files() {
        let key = |error: &TlsError| ServerConfig::tls_key(error.setting());
        ServerTls::read(&files).map_err(|error| loaded.error(key(&error), exit::one_line(&error)))?;
    }
    info!(settings = loaded.base(), changes = loaded.changes(), "learner starts");
    let tokio = tokio::runtime::Builder::new_multi_thread().enable_all().build().context("start tokio")?;
    let stop = tokio.block_on(async { shutdown::on_signals() }).context("listen for signals")?;
    let restored = tokio.block_on(backup::restore_at_start(&settings.backup, &settings.run.dir, &stop));
    match restored {
        Err(BackupError::Stopped) => return Ok(()),
        restored => restored.map_err(run::RunError::Restore)?,
    }
    // Only now is it known whether there is a run.
    let (settings, source) = settle(settings, &loaded, cli)?;
    info!(iterations = settings.training.iterations, from = source.words(), "length of the learning rate's fall");
    let address = settings.server.listen;
    let listener = tokio.block_on(tokio::net::TcpListener::bind(address));
    let listener = listener.with_context(|| format!("server.listen: open {address} (--listen chooses another)"))?;
    info!(address = %listener.local_addr()?, "listening");
    let result = run::run(settings, listener, &tokio, stop);
    // Threads that wait for a peer must not keep the process.
    tokio.shutdown_background();
    Ok(result?)
}

/// Settles over how many iterations the learning rate falls.
fn settle(
    settings: LearnerSettings,
    loaded: &Loaded<LearnerConfig>,
    cli: &Cli,
) -> Result<(LearnerSettings, CosineSource), ConfigError> {
    let key = "training.iterations";
    let settled = run::settle_cosine_length(settings, cli.iterations, loaded.is_changed(key));
    settled.map_err(|error| loaded.error(&error.key, error.problem))
}

/// The flags as keys of the configuration.
fn overrides(cli: &Cli) -> Vec<(String, String)> {
    let quoted = |text: &String| format!("{text:?}");
    let flags = [
        ("run.dir", cli.run_dir.as_ref().map(quoted)),
        ("server.listen", cli.listen.as_ref().map(quoted)),
        ("page.listen", cli.page.as_ref().map(quoted)),
        ("server.token_file", cli.token_file.as_ref().map(quoted)),
        ("server.certificate", cli.certificate.as_ref().map(quoted)),
        ("server.key", cli.key.as_ref().map(quoted)),
        ("server.insecure", cli.insecure.then(|| "true".to_owned())),
        ("run.iterations", cli.iterations.map(|count| count.to_string())),
        ("run.start_network", cli.resume.as_ref().map(quoted)),
        ("backup.url", cli.backup.as_ref().or(cli.restore.as_ref()).map(quoted)),
        ("backup.restore", cli.restore.as_ref().map(|_| "true".to_owned())),
        ("log.format", cli.log_format.as_ref().map(quoted)),
    ];
    flags.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?))).collect()
}

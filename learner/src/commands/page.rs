//! `learner page`: the web page of a run directory, read only.

use std::net::SocketAddr;
use std::path::PathBuf;

use anyhow::Context;
use learner::page::{Page, PageLimits, PositionEvaluator, serve};
use learner::store::DATABASE_FILE;
use runtime::auth::Token;
use runtime::exit::UsageError;
use runtime::logging::{self, LogSettings};
use runtime::shutdown;
use tokio::net::TcpListener;
use tracing::{info, warn};

/// Connections at once.
const CONNECTION_COUNT_MAX: usize = 64;

/// Which run, and where it is shown.
#[derive(Debug, Clone, clap::Args)]
pub struct PageArgs {
    /// The run directory.
    #[arg(value_name = "RUN_DIR")]
    run_dir: PathBuf,
    /// Address to listen on.
    #[arg(long, default_value = "127.0.0.1:8080", value_name = "IP:PORT")]
    listen: SocketAddr,
    /// File with the token that visitors must show; needed beyond this machine.
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// Listen beyond this machine without a token.
    #[arg(long)]
    insecure: bool,
}

/// Serves the page until a signal.
///
/// # Errors
/// If there is no run, the address cannot be had, or it is open to other machines and there is no token.
pub fn page(args: &PageArgs) -> anyhow::Result<()> {
    if !args.run_dir.join(DATABASE_FILE).is_file() {
        return Err(
            UsageError(format!("{} holds no {DATABASE_FILE}: name a run directory", args.run_dir.display())).into()
        );
    }
    let token = args.token_file.as_deref().map(Token::from_file).transpose().map_err(anyhow::Error::from);
    let token = token.map_err(|error| UsageError(format!("--token-file: {error:#}")))?;
    if !args.listen.ip().is_loopback() && token.is_none() && !args.insecure {
        let what = format!("--listen {} is open to other machines: give --token-file, or --insecure", args.listen);
        return Err(UsageError(what).into());
    }
    logging::init(&LogSettings::default())?;
    let context = || args.run_dir.display().to_string();
    let page = Page::new(&args.run_dir, token.as_ref()).with_context(context)?;
    let page = match PositionEvaluator::of_run_dir(&args.run_dir, page.game()) {
        Ok(evaluator) => page.with_evaluator(evaluator),
        Err(error) => {
            warn!(
                error = format!("{:#}", anyhow::Error::from(error)),
                "positions are shown without the network's opinion"
            );
            page
        }
    };
    let page = if args.insecure { page.open_to_any_host() } else { page };
    let tokio = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let tokio = tokio.context("start tokio")?;
    tokio.block_on(async {
        let stop = shutdown::on_signals().context("listen for signals")?;
        let listener =
            TcpListener::bind(args.listen).await.with_context(|| format!("--listen: open {}", args.listen))?;
        info!(page = format!("http://{}/", listener.local_addr()?), run_dir = %args.run_dir.display(), "web page");
        serve(page, listener, PageLimits { connection_count_max: CONNECTION_COUNT_MAX }, stop).await;
        anyhow::Ok(())
    })?;
    tokio.shutdown_background();
    Ok(())
}

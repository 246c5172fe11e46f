//! `learner page`: the web page of a run directory, read only.

use std::net::SocketAddr;
use std::path::PathBuf;

use anyhow::Context;
use learner::http::HttpPort;
use learner::page::{Page, PositionEvaluator, serve};
use runtime::auth::Token;
use runtime::exit::{UsageError, one_line};
use runtime::logging::{self, LogSettings};
use runtime::shutdown;
use runtime::tls::server::{ServerTls, ServerTlsFiles};
use tokio::net::TcpListener;
use tracing::{info, warn};

use super::need_run;

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
    /// File with the certificate that is shown to browsers, for a page by TLS.
    #[arg(long, value_name = "FILE", requires = "key")]
    certificate: Option<PathBuf>,
    /// File with its key.
    #[arg(long, value_name = "FILE", requires = "certificate")]
    key: Option<PathBuf>,
    /// Listen beyond this machine without a token, or with one that crosses the network in the clear.
    #[arg(long)]
    insecure: bool,
}

impl PageArgs {
    /// Reads the certificate, and checks that nobody reaches the page, or sees its token, who is not meant to.
    fn tls(&self) -> Result<Option<ServerTls>, UsageError> {
        let files = self.certificate.clone().zip(self.key.clone());
        let files = files.map(|(certificate, key)| ServerTlsFiles { certificate, key, client_authority: None });
        let tls = files.map(|files| ServerTls::read(&files)).transpose();
        let tls = tls.map_err(|error| UsageError(format!("--certificate, --key: {}", one_line(&error))))?;
        if self.insecure || self.listen.ip().is_loopback() {
            return Ok(tls);
        }
        let refused = |advice| Err(UsageError(format!("--listen {} is open to other machines{advice}", self.listen)));
        match (&self.token_file, &tls) {
            (None, _) => refused(": give --token-file, or --insecure"),
            (Some(_), None) => refused(
                ", and the token would cross the network in the clear: give --certificate and --key \
                 (`learner certificate` makes both), or --insecure",
            ),
            (Some(_), Some(_)) => Ok(tls),
        }
    }
}

/// Serves the page until a signal.
///
/// # Errors
/// If there is no run, the address cannot be had, or it is open to other machines and there is no token, or no TLS.
pub fn page(args: &PageArgs) -> anyhow::Result<()> {
    need_run(&args.run_dir)?;
    let token = args.token_file.as_deref().map(Token::from_file).transpose().map_err(anyhow::Error::from);
    let token = token.map_err(|error| UsageError(format!("--token-file: {error:#}")))?;
    let tls = args.tls()?;
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
        let listener = TcpListener::bind(args.listen)
            .await
            .with_context(|| format!("--listen: open {} (another port may be free)", args.listen))?;
        let port = HttpPort { listener, tls, connection_count_max: CONNECTION_COUNT_MAX };
        info!(page = port.url(), run_dir = %args.run_dir.display(), "web page");
        serve(page, port, stop).await;
        anyhow::Ok(())
    })?;
    tokio.shutdown_background();
    Ok(())
}

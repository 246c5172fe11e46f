//! The web page of a run that goes on.

use std::sync::Arc;

use inference::InferenceHandle;
use runtime::auth::{Role, Token};
use runtime::tls::server::ServerTls;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use tracing::info;

use super::RunError;
use super::edge::http_port;
use crate::config::{LearnerSettings, PageConfig};
use crate::page::{Page, PositionEvaluator, serve};
use crate::progress::RunObserver;

/// Opens the page's port, if there is to be a page: before anything is made on disk.
pub(super) async fn bind_page(config: &PageConfig) -> Result<Option<TcpListener>, RunError> {
    let Some(address) = config.listen else { return Ok(None) };
    let listener = TcpListener::bind(address).await;
    listener.map(Some).map_err(|source| RunError::PageListen { address, source })
}

/// Starts to serve the page, within a tokio runtime, until `stop`, to those who show the first of `tokens`.
pub(super) fn show_page(
    settings: &LearnerSettings,
    listener: TcpListener,
    tls: Option<&ServerTls>,
    tokens: &[(Token, Role)],
    inference: &InferenceHandle,
    observer: &Arc<RunObserver>,
    stop: &CancellationToken,
) -> Result<(), RunError> {
    // A browser keeps one token: the one that opens least.
    let token = tokens.first().map(|(token, _)| token);
    let page = Page::new(&settings.run.dir, token)?
        .with_observer(Arc::clone(observer))
        .with_evaluator(PositionEvaluator::of_learner(inference.clone()));
    let page = if settings.server.insecure { page.open_to_any_host() } else { page };
    let port = http_port(listener, tls, settings.page.connections_max as usize);
    if let Some(page) = port.url() {
        info!(page, "web page");
    }
    tokio::spawn(serve(page, port, stop.clone()));
    Ok(())
}

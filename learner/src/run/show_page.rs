//! The web page of a run that goes on.

use std::sync::Arc;

use runtime::auth::{Role, Token};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use tracing::info;

use super::RunError;
use crate::config::{LearnerSettings, PageConfig};
use crate::inference::InferenceHandle;
use crate::page::{Page, PageLimits, PositionEvaluator, serve};
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
    if let Ok(address) = listener.local_addr() {
        info!(page = format!("http://{address}/"), "web page");
    }
    let limits = PageLimits { connection_count_max: settings.page.connections_max as usize };
    tokio::spawn(serve(page, listener, limits, stop.clone()));
    Ok(())
}

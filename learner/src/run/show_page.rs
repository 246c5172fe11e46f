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
use crate::services::RunStatus;

/// Opens the page's port, if there is to be a page: before anything is made on disk.
pub(super) async fn bind_page(config: &PageConfig) -> Result<Option<TcpListener>, RunError> {
    let Some(address) = config.listen else { return Ok(None) };
    let listener = TcpListener::bind(address).await;
    listener.map(Some).map_err(|source| RunError::PageListen { address, source })
}

/// Returns the token that opens the page: that of readers, or the one for everything.
pub(super) fn page_token(tokens: &[(Token, Role)]) -> Option<&Token> {
    let of_role = |wanted| tokens.iter().find(|(_, role)| *role == wanted).map(|(token, _)| token);
    of_role(Role::Reader).or_else(|| of_role(Role::Any))
}

/// Starts to serve the page, within a tokio runtime, until `stop`.
pub(super) fn show_page(
    settings: &LearnerSettings,
    listener: TcpListener,
    token: Option<&Token>,
    inference: &InferenceHandle,
    status: &Arc<RunStatus>,
    stop: &CancellationToken,
) -> Result<(), RunError> {
    let page = Page::new(&settings.run.dir, token)?
        .with_status(Arc::clone(status))
        .with_evaluator(PositionEvaluator::of_learner(inference.clone()));
    let page = if settings.server.insecure { page.open_to_any_host() } else { page };
    if let Ok(address) = listener.local_addr() {
        info!(page = format!("http://{address}/"), "web page");
    }
    let limits = PageLimits { connection_count_max: settings.page.connections_max as usize };
    tokio::spawn(serve(page, listener, limits, stop.clone()));
    Ok(())
}

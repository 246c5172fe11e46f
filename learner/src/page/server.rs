//! The page at its port.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use super::routes::router;
use super::{Page, overview};
use crate::http::HttpPort;

/// Serves the page until `stop`.
pub async fn serve(page: Page, port: HttpPort, stop: CancellationToken) {
    let page = Arc::new(if port.tls.is_some() { page.behind_tls() } else { page });
    let warm_up = tokio::spawn({
        let page = Arc::clone(&page);
        async move { overview::warm_up(&page).await }
    });
    port.serve(router(page), stop).await;
    warm_up.abort();
}

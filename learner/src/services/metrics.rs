//! The metrics over HTTP, for Prometheus: `GET /metrics`, behind the token of readers, or the one for everything.

use std::sync::Arc;
use std::time::Instant;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;

use crate::progress::RunObserver;

/// Connections at once: a few Prometheus servers and people.
pub(crate) const CONNECTION_COUNT_MAX: usize = 16;
/// The media type of Prometheus' text format.
const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// Returns what is served at the port of the metrics.
pub(crate) fn metrics_router(observer: Arc<RunObserver>) -> Router {
    Router::new().route("/metrics", get(answer)).with_state(observer)
}

async fn answer(State(observer): State<Arc<RunObserver>>, call: Request) -> Response {
    let shown = call.headers().get(header::AUTHORIZATION).map(|value| value.as_bytes());
    if let Err(problem) = observer.reader_auth.authorize(shown, call.extensions().get()).await {
        let advice = format!("{problem}: send the learner's token as `Authorization: Bearer TOKEN`\n");
        return (StatusCode::UNAUTHORIZED, [(header::WWW_AUTHENTICATE, "Bearer")], advice).into_response();
    }
    let observed = tokio::task::spawn_blocking(move || observer.observe(Instant::now()).to_metrics()).await;
    match observed {
        Ok(Ok(text)) => ([(header::CONTENT_TYPE, CONTENT_TYPE)], text).into_response(),
        Ok(Err(error)) => (StatusCode::INTERNAL_SERVER_ERROR, format!("{error}\n")).into_response(),
        Err(error) => (StatusCode::INTERNAL_SERVER_ERROR, format!("{error}\n")).into_response(),
    }
}

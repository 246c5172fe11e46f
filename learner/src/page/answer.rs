//! What the API answers: JSON, and errors as JSON with the status that fits.

use std::sync::LazyLock;
use std::time::Instant;

use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use runtime::summed_log::SummedLog;
use serde::Serialize;
use store::StoreError;
use tracing::warn;

/// Answers that the store failed.
static UNREADABLE: LazyLock<SummedLog<()>> = LazyLock::new(SummedLog::default);

/// A value as JSON.
#[derive(Debug)]
pub(super) struct Json<T>(pub T);

/// Why a question has no answer.
#[derive(Debug, thiserror::Error)]
pub(super) enum PageError {
    /// There is no such thing.
    #[error("{0}")]
    NotFound(String),
    /// The question cannot be read, or asks for what is not legal.
    #[error("{0}")]
    BadRequest(String),
    /// Nobody may ask who does not show the token.
    #[error("{0}")]
    Unauthorized(&'static str),
    /// As many questions as may be are being answered, or one took too long.
    #[error("{0}: try again")]
    Busy(&'static str),
    /// The network cannot be asked.
    #[error("{0}")]
    NoNetwork(String),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

pub(super) type Answer<T> = Result<Json<T>, PageError>;

#[derive(Serialize)]
struct ErrorBody {
    error: String,
}

impl PageError {
    const fn status(&self) -> StatusCode {
        match self {
            Self::NotFound(_) => StatusCode::NOT_FOUND,
            Self::BadRequest(_) => StatusCode::BAD_REQUEST,
            Self::Unauthorized(_) => StatusCode::UNAUTHORIZED,
            Self::Busy(_) | Self::NoNetwork(_) => StatusCode::SERVICE_UNAVAILABLE,
            Self::Store(_) => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }
}

impl<T: Serialize> IntoResponse for Json<T> {
    fn into_response(self) -> Response {
        match serde_json::to_vec(&self.0) {
            Ok(bytes) => json_response(StatusCode::OK, bytes),
            Err(error) => {
                warn!(%error, "answer of the page is no JSON");
                StatusCode::INTERNAL_SERVER_ERROR.into_response()
            }
        }
    }
}

impl IntoResponse for PageError {
    fn into_response(self) -> Response {
        if let Self::Store(error) = &self
            && let Some(count) = UNREADABLE.note(&(), 1, Instant::now())
        {
            warn!(count, %error, "the page cannot read the store");
        }
        let status = self.status();
        let mut response = Json(ErrorBody { error: self.to_string() }).into_response();
        *response.status_mut() = status;
        response
    }
}

fn json_response(status: StatusCode, bytes: Vec<u8>) -> Response {
    let mut response = Response::new(Body::from(bytes));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

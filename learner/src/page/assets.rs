//! The files of the page, which the program carries with it: HTML, style, scripts. Nothing is built, nothing is fetched
//! from elsewhere.

use axum::body::Body;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use sha2::{Digest, Sha256};

/// A file of the page.
pub(super) struct Asset {
    pub(super) path: &'static str,
    content_type: &'static str,
    text: &'static str,
    /// Whether it is shown to whoever asks: what the form for the token needs.
    pub(super) is_public: bool,
}

const HTML: &str = "text/html; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";

/// The form that asks for the token.
pub(super) static LOGIN: Asset =
    Asset { path: "/login", content_type: HTML, text: include_str!("assets/login.html"), is_public: true };

macro_rules! script {
    ($name:literal) => {
        Asset {
            path: concat!("/", $name),
            content_type: SCRIPT,
            text: include_str!(concat!("assets/", $name)),
            is_public: false,
        }
    };
}

/// All files but the form.
pub(super) static ASSETS: [Asset; 9] = [
    Asset { path: "/", content_type: HTML, text: include_str!("assets/index.html"), is_public: false },
    Asset {
        path: "/style.css",
        content_type: "text/css; charset=utf-8",
        text: include_str!("assets/style.css"),
        is_public: true,
    },
    Asset { path: "/icon.svg", content_type: "image/svg+xml", text: include_str!("assets/icon.svg"), is_public: true },
    script!("app.js"),
    script!("dom.js"),
    script!("charts.js"),
    script!("overview.js"),
    script!("games.js"),
    script!("board.js"),
];

impl Asset {
    /// Returns the file, or that the browser's copy is still good.
    pub(super) fn response(&self, request: &HeaderMap) -> Response {
        let digest = Sha256::digest(self.text);
        let tag = format!("\"{:016x}\"", digest.iter().take(8).fold(0_u64, |sum, byte| sum << 8 | u64::from(*byte)));
        let is_known = request.get(header::IF_NONE_MATCH).is_some_and(|known| known.as_bytes() == tag.as_bytes());
        let mut response =
            if is_known { StatusCode::NOT_MODIFIED.into_response() } else { Response::new(Body::from(self.text)) };
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(self.content_type));
        // The browser asks each time whether it has changed: a learner may be replaced by a newer one.
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        if let Ok(tag) = HeaderValue::from_str(&tag) {
            headers.insert(header::ETAG, tag);
        }
        response
    }
}

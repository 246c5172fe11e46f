//! One message to one address: a deadline for each try, a few tries with growing, jittered waits between them.

use std::time::Duration;

use rand::RngExt;
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use reqwest::redirect::Policy;
use reqwest::{Client, StatusCode, Url};
use runtime::auth::Token;
use serde::Serialize;

/// How long and how often it is tried.
#[derive(Debug, Clone, Copy)]
pub(super) struct DeliveryTerms {
    /// Time that one try may take.
    pub(super) deadline: Duration,
    /// Tries of a message.
    pub(super) try_count_max: u32,
    /// Wait after the first try; it doubles with each further one, and is anything from half to one and a half of that.
    pub(super) retry_wait_first: Duration,
}

impl Default for DeliveryTerms {
    fn default() -> Self {
        Self { deadline: Duration::from_secs(10), try_count_max: 5, retry_wait_first: Duration::from_secs(2) }
    }
}

/// Why a message was not delivered. None of these repeats the address, which may be a secret.
#[derive(Debug, thiserror::Error)]
pub enum WebhookError {
    /// There is no client.
    #[error("make an HTTP client")]
    Client(#[source] reqwest::Error),
    /// The token cannot be sent.
    #[error("the token cannot be sent in a header")]
    Token,
    /// The message is no JSON.
    #[error("write the message")]
    Message(#[from] serde_json::Error),
    /// Nobody answers.
    #[error("no answer: {0}")]
    NoAnswer(String),
    /// The answer is an error.
    #[error("the answer is {0}")]
    Refused(StatusCode),
}

impl WebhookError {
    /// Returns whether the same message may be taken later.
    fn is_retryable(&self) -> bool {
        match self {
            Self::NoAnswer(_) => true,
            Self::Refused(status) => {
                status.is_server_error()
                    || [StatusCode::TOO_MANY_REQUESTS, StatusCode::REQUEST_TIMEOUT].contains(status)
            }
            Self::Client(_) | Self::Token | Self::Message(_) => false,
        }
    }
}

/// Delivers messages to one address.
pub(super) struct Delivery {
    client: Client,
    url: Url,
    authorization: Option<HeaderValue>,
    terms: DeliveryTerms,
}

impl Delivery {
    /// Opens no connection yet.
    pub(super) fn new(url: Url, token: Option<&Token>, terms: DeliveryTerms) -> Result<Self, WebhookError> {
        // The client asks for the one of the process. An error says that there is one already.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut client = Client::builder().timeout(terms.deadline).redirect(Policy::none());
        if url.scheme() == "http" {
            // It needs no certificates, so a system without any will do.
            client = client.tls_certs_only([]);
        }
        let authorization = token.map(|token| {
            let mut header = HeaderValue::from_str(&format!("Bearer {}", token.reveal()))?;
            header.set_sensitive(true);
            Ok::<_, reqwest::header::InvalidHeaderValue>(header)
        });
        Ok(Self {
            client: client.build().map_err(WebhookError::Client)?,
            url,
            authorization: authorization.transpose().map_err(|_| WebhookError::Token)?,
            terms,
        })
    }

    /// Returns the host, for logs.
    pub(super) fn host(&self) -> &str {
        self.url.host_str().unwrap_or_default()
    }

    /// Sends a message, again and again while that may help.
    pub(super) async fn send(&self, message: &impl Serialize) -> Result<(), WebhookError> {
        let body = serde_json::to_vec(message)?;
        let mut wait = self.terms.retry_wait_first;
        for _ in 1..self.terms.try_count_max {
            match self.try_send(body.clone()).await {
                Err(error) if error.is_retryable() => {
                    let jittered = wait.mul_f64(rand::rng().random_range(0.5..1.5));
                    tokio::time::sleep(jittered).await;
                    wait *= 2;
                }
                result => return result,
            }
        }
        self.try_send(body).await
    }

    async fn try_send(&self, body: Vec<u8>) -> Result<(), WebhookError> {
        let request = self.client.post(self.url.clone()).header(CONTENT_TYPE, "application/json").body(body);
        let request = match &self.authorization {
            Some(header) => request.header(AUTHORIZATION, header.clone()),
            None => request,
        };
        let sent = request.send().await;
        let answer = sent.map_err(|error| WebhookError::NoAnswer(runtime::exit::one_line(&error.without_url())))?;
        if answer.status().is_success() { Ok(()) } else { Err(WebhookError::Refused(answer.status())) }
    }
}

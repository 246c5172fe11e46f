//! Tells one address of alarms that come on and go off: a POST of JSON each, one after the other, from a bounded queue.
//! Nobody waits for it; what cannot be delivered is counted, and its log lines are summed.

mod delivery;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Instant;

use runtime::auth::Token;
use runtime::exit::one_line;
use runtime::summed_log::SummedLog;
use serde::Serialize;
use tokio::sync::mpsc::Receiver;
use tokio_util::sync::CancellationToken;
use tracing::{info, warn};

use crate::config::WebhookUrl;
use crate::progress::{AlarmEvent, RunStatus};
pub use delivery::WebhookError;
use delivery::{Delivery, DeliveryTerms};

/// Alarms that wait to be sent; what comes on top is dropped.
pub(crate) const QUEUE_MAX: usize = 64;
/// Counter of the status: alarms that were sent.
const SENT_COUNTER: &str = "webhook_count";
/// Counter of the status: alarms that could not be sent.
const FAILED_COUNTER: &str = "webhook_failure_count";

/// Tells an address of alarms.
pub(crate) struct Webhook {
    delivery: Delivery,
    run_id: String,
    game: String,
    status: Arc<RunStatus>,
    failures: SummedLog<()>,
}

/// What is sent. `text` is what chat programs show.
#[derive(Debug, Serialize)]
struct Message<'a> {
    text: String,
    name: &'static str,
    state: &'static str,
    sentence: &'a str,
    run: &'a str,
    game: &'a str,
    time: String,
}

impl Webhook {
    /// Makes what tells `url`, if there is one, of the alarms of a run. With a token each message shows it.
    ///
    /// # Errors
    /// [`WebhookError::Client`] if the system's certificates cannot be read.
    pub(crate) fn new(
        url: &WebhookUrl,
        token: Option<&Token>,
        (run_id, game): (&str, &str),
        status: &Arc<RunStatus>,
    ) -> Result<Option<Self>, WebhookError> {
        let Some(url) = url.reveal() else { return Ok(None) };
        let delivery = Delivery::new(url.clone(), token, DeliveryTerms::default())?;
        Ok(Some(Self::of(delivery, run_id, game, Arc::clone(status))))
    }

    fn of(delivery: Delivery, run_id: &str, game: &str, status: Arc<RunStatus>) -> Self {
        Self { delivery, run_id: run_id.to_owned(), game: game.to_owned(), status, failures: SummedLog::default() }
    }

    /// Sends what comes, until the stop.
    pub(crate) async fn run(self, mut events: Receiver<AlarmEvent>, stop: CancellationToken) {
        info!(host = self.delivery.host(), "alarms are sent to a webhook");
        let telling = async {
            while let Some(event) = events.recv().await {
                self.tell(&event).await;
            }
        };
        stop.run_until_cancelled(telling).await;
    }

    async fn tell(&self, event: &AlarmEvent) {
        let sent = self.delivery.send(&self.message(event)).await;
        // Those that found the queue full have failed too.
        let failed_count = self.status.alarms().take_dropped() + u64::from(sent.is_err());
        self.status.count_more(SENT_COUNTER, u64::from(sent.is_ok()));
        self.status.count_more(FAILED_COUNTER, failed_count);
        if failed_count == 0 {
            return;
        }
        let reason = sent.err().map_or_else(|| "too many at once".to_owned(), |error| one_line(&error));
        if let Some(count) = self.failures.note(&(), failed_count, Instant::now()) {
            warn!(count, reason, host = self.delivery.host(), "alarms not told to the webhook");
        }
    }

    fn message<'a>(&'a self, event: &'a AlarmEvent) -> Message<'a> {
        let (name, run_id) = (event.kind.name(), &self.run_id);
        let what = if event.is_on { "alarm" } else { "alarm over" };
        Message {
            text: format!("Alveare, run {run_id} of {}: {what}: {name}: {}", self.game, event.text),
            name,
            state: if event.is_on { "on" } else { "off" },
            sentence: &event.text,
            run: run_id,
            game: &self.game,
            time: humantime::format_rfc3339_seconds(event.at).to_string(),
        }
    }
}

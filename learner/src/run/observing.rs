//! Who looks at a run that goes on: what the status shows, alarms by time, and the metrics.

use std::sync::Arc;

use inference::InferenceHandle;
use registry::GameRegistry;
use runtime::auth::{Role, Token};
use runtime::server_auth::ServerAuth;
use runtime::tls::server::ServerTls;
use shared::encoding::Encoding;
use shared::ids::NetworkId;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use tracing::info;

use super::RunError;
use super::edge::http_port;
use super::take_up::TakenUp;
use crate::config::{LearnerConfig, LearnerSettings, MetricsConfig};
use crate::devices::warn_of_processor;
use crate::progress::{DiskTrend, RecentWorkers, RunIdentity, RunObserver, RunStatus, RunSummaries, watch_run};
use crate::services::{METRICS_CONNECTION_COUNT_MAX, metrics_router};
use crate::webhook::{QUEUE_MAX as WEBHOOK_QUEUE_MAX, Webhook};

/// The counter of the status that shows how many of the two devices are the processor because `auto` found no GPU.
const FALLBACK_COUNTER: &str = "processor_fallback_count";

/// Warns in log and status of each device that is the processor because `auto` found no GPU.
pub(super) fn note_processor(config: &LearnerConfig, status: &RunStatus) {
    for _ in 0..warn_of_processor(config) {
        status.count(FALLBACK_COUNTER);
    }
}

/// Opens the port of the metrics, if there is to be one: before anything is made on disk.
pub(super) async fn bind_metrics(config: &MetricsConfig) -> Result<Option<TcpListener>, RunError> {
    let Some(address) = config.listen else { return Ok(None) };
    let failed = |source| RunError::Metrics { address, source };
    let listener = TcpListener::bind(address).await.map_err(failed)?;
    info!(address = %listener.local_addr().map_err(failed)?, "metrics");
    Ok(Some(listener))
}

/// Returns the tokens that open what is only looked at, the page and the metrics: that of readers first, then the one for
/// everything.
pub(super) fn reader_tokens(tokens: &[(Token, Role)]) -> Vec<(Token, Role)> {
    let of_role = |wanted| tokens.iter().filter(move |(_, role)| *role == wanted).cloned();
    of_role(Role::Reader).chain(of_role(Role::Any)).collect()
}

/// Makes what looks at everything that is counted.
pub(super) fn make_observer<E: Encoding>(
    settings: &LearnerSettings,
    taken_up: &TakenUp<E>,
    inference: &InferenceHandle,
    status: &Arc<RunStatus>,
    tokens: &[(Token, Role)],
) -> Arc<RunObserver> {
    let identity = RunIdentity {
        run_id: taken_up.store.store().run().run_id.clone(),
        game: settings.game.name().to_owned(),
        hourly_price: settings.run.hourly_price,
        dir: taken_up.files.dir().to_owned(),
        untrained: (!taken_up.is_from_network).then_some(NetworkId::FIRST),
    };
    Arc::new(RunObserver {
        identity,
        status: Arc::clone(status),
        games: Arc::<GameRegistry<E>>::clone(&taken_up.registry),
        best: Arc::clone(&taken_up.best),
        inference: inference.counters(),
        queue: inference.queue(),
        auth: ServerAuth::of_roles(tokens),
        reader_auth: ServerAuth::of_roles(&reader_tokens(tokens)),
        problem: taken_up.store.store().problem().clone(),
        recent_workers: RecentWorkers::default(),
        disk: DiskTrend::default(),
    })
}

/// Starts to tell the webhook of alarms, if there is one, until `stop`.
pub(super) fn tell_webhook<E: Encoding>(
    settings: &LearnerSettings,
    taken_up: &TakenUp<E>,
    status: &Arc<RunStatus>,
    tokio: &tokio::runtime::Handle,
    stop: &CancellationToken,
) -> Result<(), RunError> {
    let alarms = &settings.alarms;
    let token = alarms.webhook_token_file.as_deref().map(Token::from_file).transpose()?;
    let names = (&*taken_up.store.store().run().run_id, settings.game.name());
    if let Some(webhook) = Webhook::new(&alarms.webhook, token.as_ref(), names, status)? {
        let (events, receiver) = tokio::sync::mpsc::channel(WEBHOOK_QUEUE_MAX);
        status.alarms().tell(events);
        tokio.spawn(webhook.run(receiver, stop.clone()));
    }
    Ok(())
}

/// Starts to look at alarms and to sum up, until `stop`.
pub(super) fn watch(
    tokio: &tokio::runtime::Handle,
    observer: &Arc<RunObserver>,
    config: &LearnerConfig,
    stop: &CancellationToken,
) {
    let summaries = RunSummaries::new(config.run.summary_interval);
    tokio.spawn(watch_run(Arc::clone(observer), config.alarms.clone(), summaries, stop.clone()));
}

/// Starts to serve the metrics, until `stop`.
pub(super) fn show_metrics(
    tokio: &tokio::runtime::Handle,
    listener: TcpListener,
    tls: Option<&ServerTls>,
    observer: &Arc<RunObserver>,
    stop: &CancellationToken,
) {
    let port = http_port(listener, tls, METRICS_CONNECTION_COUNT_MAX);
    tokio.spawn(port.serve(metrics_router(Arc::clone(observer)), stop.clone()));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readers_show_their_token_or_the_one_for_everything() {
        let token = |text: &str, role| (Token::new(text).expect("usable"), role);
        let tokens = [
            token("all", Role::Any),
            token("act", Role::Actor),
            token("gate", Role::Evaluator),
            token("read", Role::Reader),
        ];
        assert_eq!(reader_tokens(&tokens), [tokens[3].clone(), tokens[0].clone()]);
        assert_eq!(reader_tokens(&tokens[..3]), [tokens[0].clone()]);
        assert_eq!(reader_tokens(&tokens[1..3]), []);
    }
}

//! What stands between a run and the network: the certificate that is shown, and how many connections there may be.

use runtime::connections::ConnectionLimits;
use runtime::open_files::{self, FileBudget};
use runtime::tls::server::ServerTls;
use tokio::net::TcpListener;
use tracing::warn;

use super::RunError;
use crate::config::{LearnerSettings, ServerConfig};
use crate::http::HttpPort;
use crate::services::METRICS_CONNECTION_COUNT_MAX;

/// Files kept back for the store, networks, checkpoints, backups, readers of the page, and a GPU.
const FILES_RESERVED: usize = 96;

/// Reads the certificate that the learner shows, if it is to show one.
pub(super) fn read_tls(server: &ServerConfig) -> Result<Option<ServerTls>, RunError> {
    let tls = server.tls_files().map(|files| ServerTls::read(&files));
    tls.transpose()
        .map_err(|error| RunError::Tls { key: ServerConfig::tls_key(error.setting()), source: Box::new(error) })
}

/// Returns a port for people or monitors, with TLS if others reach it: on this machine a browser would find that the
/// certificate is for another name, and nobody listens.
pub(super) fn http_port(listener: TcpListener, tls: Option<&ServerTls>, connection_count_max: usize) -> HttpPort {
    let is_private = listener.local_addr().is_ok_and(|address| address.ip().is_loopback());
    HttpPort { listener, tls: tls.filter(|_| !is_private).cloned(), connection_count_max }
}

/// Returns how many connections of workers there may be: as many as are wanted, or as the system's limit of open files
/// leaves once files have theirs.
pub(super) fn connection_limits(settings: &LearnerSettings) -> Result<ConnectionLimits, RunError> {
    let limit = open_files::raise_limit();
    let wanted = settings.server.connections_max as usize;
    let page = if settings.page.listen.is_some() { settings.page.connections_max as usize } else { 0 };
    let metrics = if settings.metrics.listen.is_some() { METRICS_CONNECTION_COUNT_MAX } else { 0 };
    let open_count = open_files::open_count().unwrap_or(0);
    let budget = FileBudget { limit, open_count, reserved_count: FILES_RESERVED + page + metrics };
    let count_max = budget.connections(wanted).map_err(RunError::OpenFiles)?;
    if count_max < wanted {
        warn!(
            connections = count_max,
            connections_max = wanted,
            open_files_max = limit,
            "fewer connections than server.connections_max: the limit of open files (ulimit -n) leaves no more"
        );
    }
    Ok(ConnectionLimits {
        count_max,
        count_per_address_max: settings.server.connections_per_address_max as usize,
        ..ConnectionLimits::default()
    })
}

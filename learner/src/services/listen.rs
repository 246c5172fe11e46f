//! The server: all services behind one token, health and reflection, and a drain with a deadline.

use std::sync::Arc;
use std::time::Duration;

use proto::inference_server::InferenceServer;
use proto::remote_inference_server::RemoteInferenceServer;
use proto::status_server::StatusServer;
use proto::workers_server::WorkersServer;
use runtime::call_guard::CallGuard;
use runtime::connections::{ConnectionLimits, incoming};
use runtime::limits::{self, MESSAGE_BYTES_MAX};
use runtime::tls::server::ServerTls;
use shared::encoding::Encoding;
use shared::wire::LEAF_BYTES_MAX;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use tracing::{info, warn};

use super::call_bounds::{CallBounds, REPORT_BYTES_MAX, SMALL_CALL_BYTES_MAX};
use super::{InferenceService, RemoteInferenceService, StatusService, WorkersService};
use crate::progress::RunObserver;

/// What is served.
pub struct Services<E: Encoding> {
    /// Leases and reports.
    pub workers: WorkersService<E>,
    /// Leaves.
    pub inference: InferenceService,
    /// Inference servers.
    pub remote_inference: RemoteInferenceService,
    /// Looks at the run, and refuses calls without the token.
    pub observer: Arc<RunObserver>,
    /// What they take at most.
    pub limits: ServiceLimits,
    /// The certificate that is shown; `None`: the connections are not encrypted.
    pub tls: Option<ServerTls>,
}

/// Bounds of what is taken from the network.
#[derive(Debug, Clone, Copy)]
pub struct ServiceLimits {
    /// Connections.
    pub connections: ConnectionLimits,
    /// Plies of one report at most.
    pub report_plies_max: usize,
    /// Leaves of one batch at most.
    pub batch_leaves_max: usize,
}

/// Bytes of a question about health: the name of a service.
const HEALTH_BYTES_MAX: usize = 1024;
/// Bytes of a batch beside its leaves: numbers and the lengths of its fields.
const BATCH_HEADER_BYTES_MAX: usize = 4096;
/// Bytes of a leaf's two lengths at most.
const LEAF_LENGTH_BYTES_MAX: usize = 4;

/// Returns how many bytes a message with so many leaves may have.
const fn batch_bytes_max(leaf_count: usize) -> usize {
    let bytes = BATCH_HEADER_BYTES_MAX + leaf_count * (LEAF_BYTES_MAX + LEAF_LENGTH_BYTES_MAX);
    if bytes < MESSAGE_BYTES_MAX { bytes } else { MESSAGE_BYTES_MAX }
}

/// Why the server ended.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The reflection service cannot be made.
    #[error("make the reflection service")]
    Reflection(#[source] tonic_reflection::server::Error),
    /// The certificate cannot be used.
    #[error("server.certificate")]
    Tls(#[source] tonic::transport::Error),
    /// The socket failed.
    #[error("serve")]
    Serve(#[source] tonic::transport::Error),
    /// The socket failed while workers were leaving.
    #[error("drain")]
    Drain(#[source] tonic::transport::Error),
}

/// Serves until `stop`, then drains for at most `drain_deadline`.
///
/// # Errors
/// [`ServeError`].
pub async fn serve<E: Encoding>(
    services: Services<E>,
    listener: TcpListener,
    stop: CancellationToken,
    drain_deadline: Duration,
) -> Result<(), ServeError> {
    let auth = services.observer.auth.clone();
    let (health_reporter, health) = tonic_health::server::health_reporter();
    health_reporter.set_serving::<WorkersServer<WorkersService<E>>>().await;
    let reflection = tonic_reflection::server::Builder::configure()
        .register_encoded_file_descriptor_set(proto::FILE_DESCRIPTOR_SET)
        .build_v1()
        .map_err(ServeError::Reflection)?;
    let workers = WorkersServer::new(services.workers)
        .max_decoding_message_size(REPORT_BYTES_MAX)
        .max_encoding_message_size(MESSAGE_BYTES_MAX);
    let workers = CallGuard::new(workers, CallBounds { ply_count_max: services.limits.report_plies_max });
    let inference = InferenceServer::new(services.inference)
        .max_decoding_message_size(batch_bytes_max(services.limits.batch_leaves_max))
        .max_encoding_message_size(MESSAGE_BYTES_MAX);
    let remote_inference = RemoteInferenceServer::new(services.remote_inference)
        .max_decoding_message_size(batch_bytes_max(services.limits.batch_leaves_max))
        .max_encoding_message_size(MESSAGE_BYTES_MAX);
    let remote_inference = CallGuard::new(remote_inference, CallBounds { ply_count_max: 0 });
    let status = StatusServer::new(StatusService { observer: services.observer })
        .max_decoding_message_size(SMALL_CALL_BYTES_MAX);
    let status = CallGuard::new(status, CallBounds { ply_count_max: 0 });
    // Strangers may ask for it.
    let health = CallGuard::new(health.max_decoding_message_size(HEALTH_BYTES_MAX), CallBounds { ply_count_max: 0 });
    let mut server = match &services.tls {
        Some(tls) => tls.of_grpc(limits::server()).map_err(ServeError::Tls)?,
        None => limits::server(),
    };
    let server = server
        .add_service(health)
        .add_service(CallGuard::new(reflection, auth.clone()))
        .add_service(CallGuard::new(workers, auth.clone()))
        .add_service(CallGuard::new(inference, auth.clone()))
        .add_service(CallGuard::new(remote_inference, auth.clone()))
        .add_service(CallGuard::new(status, auth))
        .serve_with_incoming_shutdown(incoming(listener, services.limits.connections), stop.clone().cancelled_owned());
    tokio::pin!(server);
    tokio::select! {
        ended = &mut server => return ended.map_err(ServeError::Serve),
        () = stop.cancelled() => {}
    }
    // Streams of workers do not end by themselves: they get a moment, then the process goes.
    match tokio::time::timeout(drain_deadline, server).await {
        Ok(ended) => {
            info!("all workers have left");
            ended.map_err(ServeError::Drain)
        }
        Err(_) => {
            warn!(?drain_deadline, "workers still connected: leaving them");
            Ok(())
        }
    }
}

//! Joining, leases and ply reports over gRPC. What a call does is in [`super::worker_calls`]; calls that wait for the
//! disk run on threads that may block.

use std::sync::Arc;
use std::time::Instant;

use shared::encoding::Encoding;
use tonic::{Request, Response, Status};

use super::worker_calls::{Caller, WorkerCalls};

/// Serves `alveare.v1.Workers`.
pub struct WorkersService<E: Encoding> {
    calls: Arc<WorkerCalls<E>>,
}

impl<E: Encoding> WorkersService<E> {
    /// Makes the service.
    #[must_use]
    pub fn new(calls: WorkerCalls<E>) -> Self {
        Self { calls: Arc::new(calls) }
    }

    /// Runs what blocks where blocking is allowed.
    async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&WorkerCalls<E>) -> Result<T, Status> + Send + 'static,
    ) -> Result<T, Status> {
        let calls = Arc::clone(&self.calls);
        let done = tokio::task::spawn_blocking(move || work(&calls)).await;
        done.map_err(|error| Status::internal(error.to_string()))?
    }
}

#[tonic::async_trait]
impl<E: Encoding> proto::workers_server::Workers for WorkersService<E> {
    async fn join(&self, request: Request<proto::JoinRequest>) -> Result<Response<proto::JoinReply>, Status> {
        let (caller, request) = Caller::of(request);
        let worker = self.calls.check_join(&caller, &request)?;
        self.blocking(move |calls| calls.join(worker, request, Instant::now())).await.map(Response::new)
    }

    async fn lease_games(
        &self,
        request: Request<proto::LeaseGamesRequest>,
    ) -> Result<Response<proto::LeaseGamesReply>, Status> {
        let (caller, request) = Caller::of(request);
        let worker = self.calls.check_joined(&request.worker_id, &caller, Instant::now())?;
        let lease = move |calls: &WorkerCalls<E>| {
            let leases = calls.begin_lease(worker, request.game_count, Instant::now())?;
            calls.finish_lease(leases, Instant::now())
        };
        self.blocking(lease).await.map(Response::new)
    }

    async fn report_plies(
        &self,
        request: Request<proto::ReportPliesRequest>,
    ) -> Result<Response<proto::ReportPliesReply>, Status> {
        let (caller, request) = Caller::of(request);
        let worker = self.calls.check_joined(&request.worker_id, &caller, Instant::now())?;
        let report = self.calls.read_report(&worker, request, Instant::now());
        let take = move |calls: &WorkerCalls<E>| {
            let report = calls.begin_report(report, Instant::now())?;
            calls.finish_report(report, Instant::now())
        };
        self.blocking(take).await.map(Response::new)
    }

    async fn renew_leases(
        &self,
        request: Request<proto::RenewLeasesRequest>,
    ) -> Result<Response<proto::RenewLeasesReply>, Status> {
        let (caller, request) = Caller::of(request);
        self.calls.check_joined(&request.worker_id, &caller, Instant::now())?;
        self.blocking(move |calls| calls.renew(request, Instant::now())).await.map(Response::new)
    }
}

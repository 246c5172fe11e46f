//! Answers how the run is doing.

use std::sync::Arc;
use std::time::Instant;

use tonic::{Request, Response, Status};

use crate::progress::RunObserver;

/// Serves `alveare.v1.Status`.
pub struct StatusService {
    /// Looks at the run.
    pub observer: Arc<RunObserver>,
}

#[tonic::async_trait]
impl proto::status_server::Status for StatusService {
    async fn get_status(
        &self,
        _request: Request<proto::GetStatusRequest>,
    ) -> Result<Response<proto::GetStatusReply>, Status> {
        let observer = Arc::clone(&self.observer);
        let reply = tokio::task::spawn_blocking(move || observer.observe(Instant::now()).to_message()).await;
        Ok(Response::new(reply.map_err(|error| Status::internal(error.to_string()))?))
    }
}

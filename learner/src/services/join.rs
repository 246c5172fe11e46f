//! Joining a learner that has no games: versions are checked, what is played is told, and that is all.

use tonic::{Request, Response, Status};

use super::workers::check_versions;

/// Serves `alveare.v1.Workers` where there is nothing to lease: everybody who joins hears this.
pub struct JoinService(pub proto::JoinReply);

fn no_games() -> Status {
    Status::unimplemented("this learner answers leaves and has no games")
}

#[tonic::async_trait]
impl proto::workers_server::Workers for JoinService {
    async fn join(&self, request: Request<proto::JoinRequest>) -> Result<Response<proto::JoinReply>, Status> {
        check_versions(request.get_ref())?;
        Ok(Response::new(self.0.clone()))
    }

    async fn lease_games(
        &self,
        _: Request<proto::LeaseGamesRequest>,
    ) -> Result<Response<proto::LeaseGamesReply>, Status> {
        Err(no_games())
    }

    async fn report_plies(
        &self,
        _: Request<proto::ReportPliesRequest>,
    ) -> Result<Response<proto::ReportPliesReply>, Status> {
        Err(no_games())
    }

    async fn renew_leases(
        &self,
        _: Request<proto::RenewLeasesRequest>,
    ) -> Result<Response<proto::RenewLeasesReply>, Status> {
        Err(no_games())
    }
}

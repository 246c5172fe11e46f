//! What the learner offers over gRPC, and its metrics over HTTP. Messages become domain values here, through
//! `shared::wire`, and nothing more.

mod call_bounds;
mod inference;
mod join_checks;
mod joined;
mod leaf_access;
mod listen;
mod load_meter;
mod metrics;
mod remote_inference;
mod status;
mod worker_calls;
mod workers;

pub use inference::InferenceService;
pub use joined::JoinedWorkers;
#[cfg(test)]
pub(crate) use leaf_access::{Askable, worker_of};
pub use listen::{ServeError, ServiceLimits, Services, serve};
pub use load_meter::LoadMeter;
pub(crate) use metrics::{CONNECTION_COUNT_MAX as METRICS_CONNECTION_COUNT_MAX, metrics_router};
pub use remote_inference::RemoteInferenceService;
pub use status::StatusService;
pub use worker_calls::WorkerCalls;
#[cfg(test)]
pub(crate) use worker_calls::{Caller, ReadReportUnderWay};
pub use workers::WorkersService;

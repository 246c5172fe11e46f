//! What the learner offers over gRPC. Messages become domain values here, through `shared::wire`, and nothing more.

mod bounded_reports;
mod inference;
mod joined;
mod listen;
mod status;
mod workers;

pub use inference::InferenceService;
pub use joined::JoinedWorkers;
pub use listen::{ServeError, ServiceLimits, Services, serve};
pub use status::{RunStatus, StatusService};
pub use workers::WorkersService;

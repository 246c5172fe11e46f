//! Asking a running learner: is it there, and how far is it.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::Context;
use proto::status_client::StatusClient;
use runtime::auth::{ClientAuth, Token};
use runtime::exit::{self, UsageError};
use runtime::limits::Address;
use tonic::transport::Channel;
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_check_response::ServingStatus;
use tonic_health::pb::health_client::HealthClient;

/// How long a learner has to answer.
const DEADLINE: Duration = Duration::from_secs(5);

/// Which learner to ask.
#[derive(Debug, Clone, clap::Args)]
pub struct InquireTarget {
    /// Address of the learner.
    #[arg(long, default_value = "http://127.0.0.1:50051", value_name = "ADDRESS")]
    pub learner: Address,
    /// File with the learner's token.
    #[arg(long, value_name = "FILE")]
    pub token_file: Option<PathBuf>,
}

/// Succeeds if the learner serves.
///
/// # Errors
/// If it is not there, does not serve, or does not answer in time.
pub fn health(target: &InquireTarget) -> anyhow::Result<()> {
    block_on(target, async {
        let mut client = HealthClient::new(connect(target).await?);
        let reply = client.check(HealthCheckRequest { service: String::new() }).await?;
        let is_serving = reply.into_inner().status() == ServingStatus::Serving;
        anyhow::ensure!(is_serving, "it is there but does not serve");
        exit::print("serving\n").context("write to stdout")
    })
}

/// Prints how far the run is, one `name value` a line.
///
/// # Errors
/// If the learner is not there, refuses the token, or does not answer in time.
pub fn status(target: &InquireTarget) -> anyhow::Result<()> {
    let token = target.token_file.as_deref().map(Token::from_file).transpose().map_err(anyhow::Error::from);
    let token = token.map_err(|error| UsageError(format!("--token-file: {error:#}")))?;
    block_on(target, async {
        let mut client = StatusClient::with_interceptor(connect(target).await?, ClientAuth::new(token.as_ref()));
        let reply = client.get_status(proto::GetStatusRequest {}).await?.into_inner();
        exit::print(&lines_of(&reply)).context("write to stdout")
    })
}

fn lines_of(reply: &proto::GetStatusReply) -> String {
    let mut lines = vec![
        format!("run_id {}", reply.run_id),
        format!("iteration {}", reply.iteration),
        format!("generation {}", reply.generation),
        format!("best_network_id {}", reply.best_network_id),
        format!("training_step {}", reply.training_step),
        format!("finished_game_count {}", reply.finished_game_count),
        format!("replay_position_count {}", reply.replay_position_count),
        format!("actor_count {}", reply.actor_count),
        format!("evaluator_count {}", reply.evaluator_count),
        format!("evaluations_per_second {:.0}", reply.evaluations_per_second),
        format!("batch_fill {:.2}", reply.batch_fill),
        format!("waiting_for {}", reply.waiting_for),
    ];
    let mut counters: Vec<_> = reply.counters.iter().map(|(name, count)| format!("{name} {count}")).collect();
    counters.sort();
    lines.append(&mut counters);
    lines.join("\n") + "\n"
}

async fn connect(target: &InquireTarget) -> anyhow::Result<Channel> {
    Ok(target.learner.endpoint().timeout(DEADLINE).connect().await?)
}

fn block_on(target: &InquireTarget, work: impl Future<Output = anyhow::Result<()>>) -> anyhow::Result<()> {
    let tokio = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let answered = tokio.block_on(async { tokio::time::timeout(DEADLINE, work).await });
    answered.context("no answer in time").flatten().with_context(|| format!("learner {}", target.learner))
}

//! Asking a running learner: is it there, and how is its run doing.

use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use anyhow::Context;
use proto::status_client::StatusClient;
use runtime::auth::{ClientAuth, Token};
use runtime::exit::{self, UsageError, one_line};
use runtime::limits::Address;
use runtime::tls::TlsSetting;
use runtime::tls::client::{ClientTlsFiles, Target, explain};
use tonic::Status;
use tonic::transport::Channel;
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_check_response::ServingStatus;
use tonic_health::pb::health_client::HealthClient;

use super::status_table::status_table;

/// How long a learner has to answer.
const DEADLINE: Duration = Duration::from_secs(5);
/// What to do if nobody listens.
const NOBODY: &str = "no learner there (`cargo xtask up` starts one, --learner ADDRESS names another)";
/// Moves the cursor to the first place of a terminal and clears what is after it.
const REDRAW: &str = "\x1b[H\x1b[2J\x1b[3J";

/// Which learner to ask.
#[derive(Debug, Clone, clap::Args)]
pub struct InquireTarget {
    /// Address of the learner: https://host:port, http://host:port; or unix:/path, where a tunnel or proxy to it listens.
    #[arg(long, default_value = "http://127.0.0.1:50051", value_name = "ADDRESS")]
    pub learner: Address,
    /// File with the learner's token.
    #[arg(long, value_name = "FILE")]
    pub token_file: Option<PathBuf>,
    /// File with the certificate of the authority that vouches for the learner, with https://; by default those that this
    /// machine trusts.
    #[arg(long, value_name = "FILE")]
    pub authority: Option<PathBuf>,
    /// File with the certificate to show to the learner, if it asks for one.
    #[arg(long, value_name = "FILE")]
    pub certificate: Option<PathBuf>,
    /// File with its key.
    #[arg(long, value_name = "FILE")]
    pub key: Option<PathBuf>,
}

impl InquireTarget {
    /// Reads the files that the address needs.
    pub(super) fn target(&self) -> Result<Target, UsageError> {
        let Self { learner, authority, certificate, key, .. } = self.clone();
        let target = Target::new(learner, &ClientTlsFiles { authority, certificate, key });
        target.map_err(|error| {
            let flag = match error.setting() {
                TlsSetting::Address => "--learner",
                TlsSetting::Authority => "--authority",
                TlsSetting::Certificate => "--certificate",
                TlsSetting::Key => "--key",
            };
            UsageError(format!("{flag}: {}", one_line(&error)))
        })
    }

    /// Reads the token, if there is a file with it.
    pub(super) fn token(&self) -> Result<Option<Token>, UsageError> {
        let token = self.token_file.as_deref().map(Token::from_file).transpose().map_err(anyhow::Error::from);
        token.map_err(|error| UsageError(format!("--token-file: {error:#}")))
    }

    /// As [`Self::target`], with answers in time.
    fn target_in_time(&self) -> Result<Target, UsageError> {
        Ok(self.target()?.with(|endpoint| endpoint.timeout(DEADLINE)))
    }
}

/// What to print of a run.
#[derive(Debug, Clone, clap::Args)]
pub struct StatusArgs {
    #[command(flatten)]
    target: InquireTarget,
    /// Print everything as JSON, for programs: the fields of alveare.v1.GetStatusReply. With --watch one object a line.
    #[arg(long)]
    json: bool,
    /// Print again every so many seconds, 1 to 3600, by default 2; on a terminal in place of what was there.
    #[arg(long, value_name = "SECONDS", num_args = 0..=1, default_missing_value = "2",
        value_parser = clap::value_parser!(u64).range(1..=3600))]
    watch: Option<u64>,
}

/// Succeeds if the learner serves.
///
/// # Errors
/// If it is not there, does not serve, or does not answer in time.
pub fn health(target: &InquireTarget) -> anyhow::Result<()> {
    let target = target.target_in_time()?;
    block_on(&target, async {
        let mut client = HealthClient::new(connect(&target).await?);
        let reply =
            client.check(HealthCheckRequest { service: String::new() }).await.map_err(|status| told(&status))?;
        let is_serving = reply.into_inner().status() == ServingStatus::Serving;
        anyhow::ensure!(is_serving, "it is there but does not serve");
        exit::print("serving\n").context("write to stdout")
    })
}

/// Prints how a run is doing, once or again and again.
///
/// # Errors
/// If the learner is not there, refuses the token, or does not answer in time; with `--watch`, the first time.
pub fn status(args: &StatusArgs) -> anyhow::Result<()> {
    let token = args.target.token()?;
    let target = args.target.target_in_time()?;
    let ask = || ask(&target, token.as_ref());
    let Some(seconds) = args.watch else {
        return exit::print(&shown(args, &ask()?)?).context("write to stdout");
    };
    exit::unless_reader_has_gone(watch(args, Duration::from_secs(seconds), ask))
}

/// Prints every `interval`. Once it has answered, a learner that is away is shown as such, and asked again.
fn watch(
    args: &StatusArgs,
    interval: Duration,
    ask: impl Fn() -> anyhow::Result<proto::GetStatusReply>,
) -> anyhow::Result<()> {
    let is_drawn = io::stdout().is_terminal() && !args.json;
    let mut reply = Some(ask()?);
    loop {
        let text = reply.as_ref().map(|reply| shown(args, reply)).transpose()?.unwrap_or_default();
        let mut stdout = io::stdout().lock();
        let start = if is_drawn && !text.is_empty() { REDRAW } else { "" };
        stdout.write_all(format!("{start}{text}").as_bytes()).and_then(|()| stdout.flush())?;
        drop(stdout);
        std::thread::sleep(interval);
        reply = match ask() {
            Ok(reply) => Some(reply),
            Err(error) => {
                runtime::logging::print_line(&format!("learner: {error:#}"));
                None
            }
        };
    }
}

/// Returns what is printed of an answer.
fn shown(args: &StatusArgs, reply: &proto::GetStatusReply) -> anyhow::Result<String> {
    if !args.json {
        return Ok(status_table(reply, SystemTime::now()));
    }
    // By way of a value, which has its names in order.
    let value = serde_json::to_value(reply)?;
    let text = if args.watch.is_some() { value.to_string() } else { serde_json::to_string_pretty(&value)? };
    Ok(text + "\n")
}

fn ask(target: &Target, token: Option<&Token>) -> anyhow::Result<proto::GetStatusReply> {
    block_on(target, async {
        let mut client = StatusClient::with_interceptor(connect(target).await?, ClientAuth::new(token));
        let reply = client.get_status(proto::GetStatusRequest {}).await.map_err(|status| told(&status))?;
        Ok(reply.into_inner())
    })
}

async fn connect(target: &Target) -> anyhow::Result<Channel> {
    target.connect().await.map_err(|error| {
        let cause = one_line(&error);
        let explained = explain(&cause);
        if explained == cause { anyhow::Error::from(error).context(NOBODY) } else { anyhow::anyhow!(explained) }
    })
}

/// What a status says, without its numbers and metadata.
fn told(status: &Status) -> anyhow::Error {
    anyhow::anyhow!(explain(status.message()))
}

fn block_on<T>(target: &Target, work: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<T> {
    let tokio = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let answered = tokio.block_on(async { tokio::time::timeout(DEADLINE, work).await });
    answered.context("no answer in time").flatten().with_context(|| format!("learner {target}"))
}

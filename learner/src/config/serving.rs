//! Sections about the run itself and those it serves: `[run]`, `[server]`, `[metrics]`, `[inference]`.

use std::net::SocketAddr;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::time::Duration;

use inference::BatchSettings;
use net::DeviceChoice;
use runtime::auth::Role;
use runtime::tls::TlsSetting;
use runtime::tls::server::ServerTlsFiles;
use serde::{Deserialize, Deserializer, Serialize};
use shared::bounds::{BATCHES_IN_FLIGHT, THREADS};
use shared::precision::AnswerPrecision;
use shared::setting::{SettingError, check_range, check_that};
use shared::wire::BATCH_LEAF_COUNTS;

/// Where the run lives and how it starts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunConfig {
    /// Folder of the store, the networks and the checkpoint.
    pub dir: PathBuf,
    /// Seed of everything random.
    pub seed: u64,
    /// Whether self-play goes on while the network trains and is gated.
    pub pipeline: PipelineMode,
    /// Iterations after which the learner stops, from this start on; 0 for none.
    pub iterations: u32,
    /// Network that a new run starts from, as generation 0: `ready`, a file, a run directory, or the folder of a supervised
    /// training; none, or an empty text: random weights.
    #[serde(default, deserialize_with = "none_if_empty")]
    pub start_network: Option<PathBuf>,
    /// Price of an hour of the learner's machine in any currency, 0..=1,000,000; 0: unknown.
    pub hourly_price: f64,
    /// Time between two summaries in the log, 0 s to 30 days; 0: none.
    #[serde(with = "humantime_serde")]
    pub summary_interval: Duration,
}

/// Reads a path that an environment variable can take back by being empty.
fn none_if_empty<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<PathBuf>, D::Error> {
    let path = Option::<PathBuf>::deserialize(deserializer)?;
    Ok(path.filter(|path| !path.as_os_str().is_empty()))
}

/// Longest time between two summaries.
const SUMMARY_INTERVAL_MAX: Duration = Duration::from_secs(30 * 24 * 60 * 60);

impl RunConfig {
    pub(super) fn check(&self) -> Result<(), SettingError> {
        check_that("dir", !self.dir.as_os_str().is_empty(), || "names no folder")?;
        check_range("hourly_price", self.hourly_price, 0.0..=1e6)?;
        check_that("summary_interval", self.summary_interval <= SUMMARY_INTERVAL_MAX, || "is above 30days")
    }
}

/// Whether self-play goes on while the network trains and is gated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PipelineMode {
    /// Self-play never stops.
    Overlapped,
    /// The textbook loop: self-play, then training, then the gate.
    Lockstep,
}

/// Longest lease: a game of a worker that vanished must not wait for ever.
const LEASE_MAX: Duration = Duration::from_secs(24 * 60 * 60);

/// Longest wait of a stop.
const DRAIN_MAX: Duration = Duration::from_secs(60 * 60);

/// Who may connect, and how.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ServerConfig {
    /// Address to listen on.
    pub listen: SocketAddr,
    /// File with the token that workers must show; none: no token.
    pub token_file: Option<PathBuf>,
    /// File with a token that lets actors play to learn from, and nothing else; none: no such token.
    pub actor_token_file: Option<PathBuf>,
    /// File with a token that lets evaluators play games of gates, and nothing else; none: no such token.
    pub evaluator_token_file: Option<PathBuf>,
    /// File with a token that lets inference servers fetch networks and answer leaves, and nothing else; none: no such token.
    pub inference_token_file: Option<PathBuf>,
    /// File with a token that lets people and monitors ask for the status, and nothing else; none: no such token.
    pub reader_token_file: Option<PathBuf>,
    /// File with the certificate that the learner shows, and those between it and its authority; none: no TLS.
    pub certificate: Option<PathBuf>,
    /// File with its key.
    pub key: Option<PathBuf>,
    /// File with the certificate of the authority that vouches for workers; none: workers need no certificate.
    pub client_authority: Option<PathBuf>,
    /// Listen beyond this machine without a token, or with tokens that cross the network in the clear.
    pub insecure: bool,
    /// How long a worker keeps a game without a word, 1 s to 1 day.
    #[serde(with = "humantime_serde")]
    pub lease: Duration,
    /// Leases in a row that a worker may renew without playing a ply of the game, 1..=1000.
    pub idle_leases_max: u32,
    /// Batches a worker's stream may have unanswered, 1..=4096: two for each of its threads.
    pub batches_in_flight_max: u32,
    /// Leaves of one batch of a worker, 1..=16,384, and no more than are evaluated together.
    pub worker_batch_leaves_max: u32,
    /// Connections at once, 1..=65,536. One that makes no call with the token makes room for others, and is closed after 30 s.
    pub connections_max: u32,
    /// Connections at once from one address, 1..=65,536, this machine's own aside.
    pub connections_per_address_max: u32,
    /// Games that a worker gets before it has played any, 1..=65,536; twice as many each time it has played as many plies.
    pub worker_games_first: u32,
    /// How long a stop waits for what is under way, up to 1 h.
    #[serde(with = "humantime_serde")]
    pub drain_deadline: Duration,
}

impl ServerConfig {
    /// Returns the files with tokens, each with its key and with what the token allows.
    pub fn token_files(&self) -> impl Iterator<Item = (&'static str, Role, &Path)> {
        let files = [
            ("server.token_file", Role::Any, &self.token_file),
            ("server.actor_token_file", Role::Actor, &self.actor_token_file),
            ("server.evaluator_token_file", Role::Evaluator, &self.evaluator_token_file),
            ("server.inference_token_file", Role::Inference, &self.inference_token_file),
            ("server.reader_token_file", Role::Reader, &self.reader_token_file),
        ];
        files.into_iter().filter_map(|(key, role, file)| Some((key, role, file.as_deref()?)))
    }

    /// Returns the files of TLS; `None` without it.
    #[must_use]
    pub fn tls_files(&self) -> Option<ServerTlsFiles> {
        let (certificate, key) = (self.certificate.clone()?, self.key.clone()?);
        Some(ServerTlsFiles { certificate, key, client_authority: self.client_authority.clone() })
    }

    /// Returns the key of one of these files.
    #[must_use]
    pub const fn tls_key(setting: TlsSetting) -> &'static str {
        match setting {
            TlsSetting::Address => "server.listen",
            TlsSetting::Authority => "server.client_authority",
            TlsSetting::Certificate => "server.certificate",
            TlsSetting::Key => "server.key",
        }
    }

    pub(super) fn check(&self) -> Result<(), SettingError> {
        check_that("lease", self.lease >= Duration::from_secs(1), || "is below 1s")?;
        check_that("lease", self.lease <= LEASE_MAX, || "is above 1day")?;
        check_that("drain_deadline", self.drain_deadline <= DRAIN_MAX, || "is above 1h")?;
        check_range("idle_leases_max", self.idle_leases_max, 1..=1000)?;
        check_range("batches_in_flight_max", self.batches_in_flight_max, BATCHES_IN_FLIGHT)?;
        check_range("worker_batch_leaves_max", self.worker_batch_leaves_max, BATCH_LEAF_COUNTS)?;
        check_range("connections_max", self.connections_max, 1..=65_536)?;
        check_range("connections_per_address_max", self.connections_per_address_max, 1..=65_536)?;
        check_range("worker_games_first", self.worker_games_first, 1..=65_536)?;
        self.check_tls()?;
        self.check_reach("listen", self.listen, self.token_files().next().is_some(), "server.token_file")
    }

    /// Checks that nobody else reaches an address at which one only looks, if there is one, without a token that opens it,
    /// or sees that token, unless that is wanted.
    pub(super) fn check_reader_reach(&self, key: &'static str, listen: Option<SocketAddr>) -> Result<(), SettingError> {
        let Some(address) = listen else { return Ok(()) };
        let has_token = self.reader_token_file.is_some() || self.token_file.is_some();
        self.check_reach(key, address, has_token, "server.reader_token_file or server.token_file")
    }

    fn check_tls(&self) -> Result<(), SettingError> {
        check_that(
            "key",
            self.certificate.is_none() || self.key.is_some(),
            || "is missing: server.certificate needs it",
        )?;
        check_that(
            "certificate",
            self.key.is_none() || self.certificate.is_some(),
            || "is missing: server.key is the key of it",
        )?;
        check_that(
            "client_authority",
            self.client_authority.is_none() || self.certificate.is_some(),
            || "needs TLS: set server.certificate and server.key",
        )
    }

    fn check_reach(
        &self,
        key: &'static str,
        address: SocketAddr,
        has_token: bool,
        tokens: &str,
    ) -> Result<(), SettingError> {
        if self.insecure || address.ip().is_loopback() {
            return Ok(());
        }
        check_that(key, has_token, || {
            format!("{address} is open to other machines: set {tokens}, or server.insecure = true")
        })?;
        check_that(key, self.certificate.is_some(), || {
            format!(
                "{address} is open to other machines, and the token would cross the network in the clear: set \
                 server.certificate and server.key (`learner certificate` makes both), or server.insecure = true"
            )
        })
    }
}

/// Where Prometheus asks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MetricsConfig {
    /// Address to listen on; `""`: none.
    #[serde(with = "optional_address")]
    pub listen: Option<SocketAddr>,
}

impl MetricsConfig {
    pub(super) fn check(&self, server: &ServerConfig) -> Result<(), SettingError> {
        server.check_reader_reach("listen", self.listen)
    }
}

/// An address that may be missing, written as an empty text: TOML has no other way to take a value back.
pub(super) mod optional_address {
    use std::net::SocketAddr;

    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};

    pub(in super::super) fn serialize<S: Serializer>(
        address: &Option<SocketAddr>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&address.map_or_else(String::new, |address| address.to_string()))
    }

    pub(in super::super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<SocketAddr>, D::Error> {
        let text = String::deserialize(deserializer)?;
        let address = (!text.is_empty()).then(|| text.parse()).transpose();
        address.map_err(|_| {
            D::Error::custom(format!(
                "{text:?} is not an address; write IP:PORT, such as 127.0.0.1:8080, or \"\" for none"
            ))
        })
    }
}

/// How leaves are answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InferenceConfig {
    /// `auto`, `cpu` or `cuda:N`.
    pub device: DeviceChoice,
    /// Several devices, 0 to 64, instead of `device`; each evaluates `batches_at_once` batches at once.
    pub devices: Vec<DeviceChoice>,
    /// In which numbers networks answer: `auto`, `float32`, `bfloat16`, `float16` (GPUs) or `int8` (processors, residual
    /// networks on active cells).
    pub precision: AnswerPrecision,
    /// Threads of one evaluation on the CPU, 0..=1024, of which no more are used than there are cores; 0: all cores.
    pub threads: usize,
    /// Batches evaluated at once, 1..=64, each by a thread with networks of its own.
    pub batches_at_once: u32,
    /// Threads that read leaves ahead of the evaluations, 0..=64; others write the answers then. 0: the threads that
    /// evaluate do both.
    pub encode_threads: u32,
    /// Leaves evaluated together at most, 1..=65,536; a larger batch of a worker is refused.
    pub batch_leaves_max: u32,
    /// How long one evaluation may take, 1 ms to 1 min: smaller batches are made where it would take longer.
    #[serde(with = "humantime_serde")]
    pub batch_time_max: Duration,
    /// Sizes that batches are padded to, rising; none: not padded.
    pub batch_sizes: Vec<usize>,
    /// Batches of self-play that are kept waiting, 1..=1000: leases are granted for as many games as that takes.
    pub batches_waiting: u32,
    /// Leaves of self-play that may wait, and as many of gates, `batch_leaves_max` to 16,777,216; a worker whose batch does not
    /// fit waits. One worker has a quarter of them.
    pub queue_leaves_max: u32,
    /// Networks kept ready at once, 2..=64: the best and a candidate.
    pub networks_max: usize,
    /// Inference servers (`learner infer`) that may answer leaves beside this process, 0..=1024.
    pub servers_max: u32,
}

impl InferenceConfig {
    /// Returns the devices that evaluate, at least one.
    #[must_use]
    pub fn devices(&self) -> Vec<DeviceChoice> {
        if self.devices.is_empty() { vec![self.device] } else { self.devices.clone() }
    }

    /// Returns how batches are made.
    #[must_use]
    pub fn batch_settings(&self) -> BatchSettings {
        BatchSettings {
            batch_count: self.batches_at_once as usize * self.devices().len(),
            encode_thread_count: self.encode_threads as usize,
            leaf_count_max: self.batch_leaves_max as usize,
            batch_leaf_count_max: self.batch_leaves_max as usize,
            time_max: self.batch_time_max,
            padded_sizes: self.batch_sizes.clone(),
            queue_leaf_count_max: self.queue_leaves_max as usize,
        }
    }

    /// Possible numbers of leaves that are evaluated together: batches of several workers.
    pub const BATCH_LEAVES: RangeInclusive<u32> = 1..=65_536;

    pub(super) fn check(&self) -> Result<(), SettingError> {
        check_that("devices", self.devices.len() <= 64, || "names more than 64 devices")?;
        check_range("threads", self.threads, THREADS)?;
        check_range("batches_at_once", self.batches_at_once, 1..=64)?;
        check_range("encode_threads", self.encode_threads, 0..=64)?;
        check_range("batch_leaves_max", self.batch_leaves_max, Self::BATCH_LEAVES)?;
        let times = Duration::from_millis(1)..=Duration::from_secs(60);
        check_that("batch_time_max", times.contains(&self.batch_time_max), || "is not in 1ms to 1min")?;
        check_range("batches_waiting", self.batches_waiting, 1..=1000)?;
        check_range("queue_leaves_max", self.queue_leaves_max, self.batch_leaves_max..=1 << 24)?;
        check_range("networks_max", self.networks_max, 2..=64)?;
        check_range("servers_max", self.servers_max, 0..=1024)?;
        let sizes = &self.batch_sizes;
        check_that("batch_sizes", sizes.is_sorted() && !sizes.contains(&0), || "must rise, from 1 on")
    }
}

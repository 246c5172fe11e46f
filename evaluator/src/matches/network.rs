//! A network as a player: a `learner serve` of our own that answers its leaves.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::Context;
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;
use tracing::info;
use worker::WorkerConfig;
use worker::answers::{Asker, connect};

use super::process::{NoLine, Process};

/// How long a network may take to be read: on a GPU the libraries alone are gigabytes.
const START_WAIT_MAX: Duration = Duration::from_secs(300);

/// How networks are served.
#[derive(Debug, Clone)]
pub struct ServeSettings {
    /// The program `learner`.
    pub program: PathBuf,
    /// Device, as the learner reads it.
    pub device: String,
    /// Threads of one evaluation.
    pub threads: usize,
}

impl ServeSettings {
    /// Returns the program `learner` beside this one.
    pub fn neighbour() -> PathBuf {
        let own = std::env::current_exe().unwrap_or_default();
        own.with_file_name("learner")
    }
}

/// A network that runs. Ends when dropped.
pub struct NetworkServer {
    _process: Process,
    askers: Vec<Asker>,
}

impl NetworkServer {
    /// Starts a network and joins it with `asker_count` askers.
    ///
    /// # Errors
    /// In one line, if it cannot be started, read or joined.
    pub fn start(
        settings: &ServeSettings,
        file: &Path,
        game_arguments: &[String],
        asker_count: usize,
        (tokio, stop): (&Handle, &CancellationToken),
    ) -> anyhow::Result<Self> {
        let mut command = Command::new(&settings.program);
        command.arg("serve").arg("--network").arg(file).args(game_arguments);
        command.args(["--device", &settings.device, "--threads", &settings.threads.to_string()]);
        let started = Process::start(&file.display().to_string(), command, stop.clone());
        let missing = "networks are answered by the program `learner`: build it, or name it with --learner-program";
        let mut process = started.with_context(|| format!("start {}: {missing}", settings.program.display()))?;
        info!(network = %file.display(), "waiting for the network to be ready");
        let address = address(&mut process).with_context(|| format!("network {}", file.display()))?;
        let config = WorkerConfig { learner: address, ..WorkerConfig::default() };
        let settings = config.check(None)?;
        let askers = tokio.block_on(connect(&settings, asker_count));
        let askers = askers.with_context(|| format!("network {}", file.display()))?;
        Ok(Self { _process: process, askers })
    }

    /// Returns one of the askers, if there is one left.
    pub fn take_asker(&mut self) -> Option<Asker> {
        self.askers.pop()
    }
}

fn address(process: &mut Process) -> anyhow::Result<String> {
    let deadline = Instant::now() + START_WAIT_MAX;
    loop {
        match process.next_line(deadline) {
            Ok(line) => {
                if let Some(address) = line.strip_prefix("listening ") {
                    return Ok(address.to_owned());
                }
            }
            Err(NoLine::Ended) => anyhow::bail!("{}", process.last_words()),
            Err(NoLine::Late) => anyhow::bail!("not ready after {} s", START_WAIT_MAX.as_secs()),
            Err(NoLine::Cancelled) => anyhow::bail!("stopped while it was read"),
        }
    }
}

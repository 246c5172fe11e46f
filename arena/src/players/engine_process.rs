//! A process that this one starts and exchanges lines with.
//!
//! Whatever it does, reading from it ends in time, and no process of it is left when it is dropped.

use std::io::{BufReader, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use runtime::lines::next_line;
use rustix::process::{Pid, Signal, kill_process_group};
use tokio_util::sync::CancellationToken;
use tracing::debug;

/// Lines that may wait to be read; a program that writes more waits.
const WAITING_LINES_MAX: usize = 1024;
/// How often a wait checks whether it is to stop.
const LOOK_INTERVAL: Duration = Duration::from_millis(50);
/// How long a program may take to end by itself once its input is closed.
const END_WAIT_MAX: Duration = Duration::from_secs(2);
/// Longest line that is shown, in letters.
const SHOWN_LEN_MAX: usize = 200;

/// A running program.
pub struct EngineProcess {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
    last_line: Arc<Mutex<String>>,
    /// Closed once all of its stderr is read.
    stderr_end: Receiver<()>,
    stop: CancellationToken,
}

/// Why there is no line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineFailure {
    /// Not in time.
    Late,
    /// The program has closed its output.
    Ended,
    /// The match is being stopped.
    Cancelled,
}

impl EngineProcess {
    /// Starts a program in a process group of its own. Its stderr goes to our log under `name`.
    ///
    /// # Errors
    /// [`std::io::Error`] if the program or a thread that reads from it cannot be started.
    pub fn start(name: &str, mut command: Command, stop: CancellationToken) -> std::io::Result<Self> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
        let mut child = command.spawn()?;
        let last_line = Arc::new(Mutex::new(String::new()));
        let (sender, lines) = sync_channel(WAITING_LINES_MAX);
        if let Some(stdout) = child.stdout.take() {
            let last_line = last_line.clone();
            spawn_reader(move || forward(BufReader::new(stdout), &last_line, &sender))?;
        }
        let (open, stderr_end) = sync_channel(0);
        if let Some(stderr) = child.stderr.take() {
            let (name, last_line) = (name.to_owned(), last_line.clone());
            spawn_reader(move || {
                log(BufReader::new(stderr), &name, &last_line);
                drop(open);
            })?;
        }
        Ok(Self { stdin: child.stdin.take(), child, lines, last_line, stderr_end, stop })
    }

    /// Sends a line.
    ///
    /// # Errors
    /// [`std::io::Error`], mostly because the program has ended.
    pub fn send(&mut self, line: &str) -> std::io::Result<()> {
        let stdin = self.stdin.as_mut().ok_or(std::io::ErrorKind::BrokenPipe)?;
        stdin.write_all(format!("{line}\n").as_bytes())?;
        stdin.flush()
    }

    /// Waits for a line of the program's stdout until `deadline`.
    ///
    /// # Errors
    /// [`LineFailure`] if there is none in time, the program has ended or the match is being stopped.
    pub fn next_line(&mut self, deadline: Instant) -> Result<String, LineFailure> {
        loop {
            if self.stop.is_cancelled() {
                return Err(LineFailure::Cancelled);
            }
            let left = deadline.saturating_duration_since(Instant::now());
            match self.lines.recv_timeout(left.min(LOOK_INTERVAL)) {
                Ok(line) => return Ok(line),
                Err(RecvTimeoutError::Timeout) if left.is_zero() => return Err(LineFailure::Late),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Err(LineFailure::Ended),
            }
        }
    }

    /// Returns whether the program has ended by itself.
    pub fn has_ended(&mut self) -> bool {
        !matches!(self.child.try_wait(), Ok(None))
    }

    /// Describes how it ended, with the last line that it wrote.
    pub fn describe_end(&mut self) -> String {
        let how = match self.wait(END_WAIT_MAX) {
            Some(status) => format!("ended ({status})"),
            None => "closed its output".to_owned(),
        };
        let _ = self.stderr_end.recv_timeout(END_WAIT_MAX / 4);
        match self.last_line() {
            line if line.is_empty() => how,
            line => format!("{how}, its last line was {line:?}"),
        }
    }

    /// Returns the last line that it wrote to stdout or stderr.
    pub fn last_line(&self) -> String {
        self.last_line.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn wait(&mut self, time: Duration) -> Option<ExitStatus> {
        let deadline = Instant::now() + time;
        loop {
            match self.child.try_wait() {
                Ok(Some(status)) => return Some(status),
                Ok(None) if Instant::now() < deadline => std::thread::sleep(LOOK_INTERVAL / 10),
                _ => return None,
            }
        }
    }
}

impl Drop for EngineProcess {
    fn drop(&mut self) {
        drop(self.stdin.take());
        self.wait(END_WAIT_MAX);
        // Whatever it started itself goes too.
        if let Some(group) = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw) {
            let _ = kill_process_group(group, Signal::KILL);
        }
        let _ = self.child.wait();
    }
}

fn spawn_reader(read: impl FnOnce() + Send + 'static) -> std::io::Result<()> {
    std::thread::Builder::new().name("reader".to_owned()).spawn(read).map(drop)
}

fn forward(mut stdout: BufReader<impl std::io::Read>, last_line: &Mutex<String>, sender: &SyncSender<String>) {
    while let Some(line) = read(&mut stdout) {
        remember(last_line, &line);
        if sender.send(line).is_err() {
            return;
        }
    }
}

fn log(mut stderr: BufReader<impl std::io::Read>, name: &str, last_line: &Mutex<String>) {
    while let Some(line) = read(&mut stderr) {
        debug!(player = name, line, "stderr");
        remember(last_line, &line);
    }
}

/// Returns the next line; what is not text becomes a line that no protocol knows.
fn read(input: &mut BufReader<impl std::io::Read>) -> Option<String> {
    let line = next_line(input).ok()??;
    Some(line.unwrap_or_else(|error| format!("({error})")))
}

fn remember(last_line: &Mutex<String>, line: &str) {
    if !line.is_empty() {
        *last_line.lock().unwrap_or_else(PoisonError::into_inner) = line.chars().take(SHOWN_LEN_MAX).collect();
    }
}

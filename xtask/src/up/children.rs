//! The child processes: each started in a process group of its own, its lines read by
//! threads, asked to stop by SIGTERM and started again with a growing wait.

use std::ffi::OsString;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc::SyncSender;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use rustix::process::{Pid, Signal, kill_process_group};

const RESTART_WAIT_MIN: Duration = Duration::from_secs(1);
const RESTART_WAIT_MAX: Duration = Duration::from_secs(30);
/// After so long at work, the next end counts as the first again.
const STEADY_AFTER: Duration = Duration::from_secs(60);
/// Longer lines are shown in parts: a line without end must not fill the memory.
const LINE_BYTES_MAX: u64 = 64 * 1024;

/// What to start.
#[derive(Debug)]
pub struct Program {
    /// As it is shown in front of each of its lines.
    pub name: String,
    /// The executable.
    pub path: PathBuf,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// Environment variables that it gets besides ours.
    pub variables: Vec<(&'static str, OsString)>,
}

/// A line that a child has written.
#[derive(Debug)]
pub struct Line {
    /// Which child.
    pub name: String,
    /// The line without its end.
    pub text: String,
    /// Whether it came from standard error.
    pub is_error: bool,
}

/// One program, running or waiting to be started (again).
pub struct Child {
    program: Program,
    lines: SyncSender<Line>,
    process: Option<std::process::Child>,
    /// The threads that read its lines; they end with its output.
    readers: Vec<JoinHandle<()>>,
    started_at: Option<Instant>,
    due_at: Option<Instant>,
    restart_wait: Duration,
    last_error: Option<String>,
}

impl Child {
    /// A program to be started at once; its lines go to `lines`.
    pub fn new(program: Program, lines: SyncSender<Line>) -> Self {
        let due_at = Some(Instant::now());
        let restart_wait = RESTART_WAIT_MIN;
        let readers = Vec::new();
        Self { program, lines, process: None, readers, started_at: None, due_at, restart_wait, last_error: None }
    }

    /// The name in front of its lines.
    pub fn name(&self) -> &str {
        &self.program.name
    }

    /// Starts the program if it waits to be started and `now` is the time.
    pub fn start_if_due(&mut self, now: Instant) -> Result<()> {
        if self.due_at.is_none_or(|due_at| due_at > now) {
            return Ok(());
        }
        self.due_at = None;
        self.readers.clear();
        self.started_at = Some(now);
        let program = &self.program;
        let mut command = Command::new(&program.path);
        command.args(&program.arguments).envs(program.variables.iter().map(|(name, value)| (name, value)));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // Out of the terminal's group: Ctrl-C comes to us alone, and we pass it on in order.
        command.process_group(0);
        let mut process = command.spawn().with_context(|| format!("start {}", program.path.display()))?;
        if let Some(output) = process.stdout.take() {
            self.readers.push(self.read(output, false)?);
        }
        if let Some(output) = process.stderr.take() {
            self.readers.push(self.read(output, true)?);
        }
        self.process = Some(process);
        Ok(())
    }

    /// How the program ended, told once.
    pub fn ended(&mut self) -> Option<ExitStatus> {
        let status = self.process.as_mut()?.try_wait().ok().flatten()?;
        self.process = None;
        Some(status)
    }

    /// Whether all that it wrote has been read: an end may be seen before the last lines are.
    pub fn has_said_all(&self) -> bool {
        self.readers.iter().all(JoinHandle::is_finished)
    }

    /// Whether the process is there.
    pub fn is_running(&mut self) -> bool {
        self.ended();
        self.process.is_some()
    }

    /// Sets the time of the next start and says how long that is.
    pub fn restart_later(&mut self, now: Instant) -> Duration {
        if self.started_at.is_some_and(|started_at| now.duration_since(started_at) >= STEADY_AFTER) {
            self.restart_wait = RESTART_WAIT_MIN;
        }
        let wait = self.restart_wait;
        self.restart_wait = (wait * 2).min(RESTART_WAIT_MAX);
        self.due_at = Some(now + wait);
        wait
    }

    /// Remembers what may explain why the program ends.
    pub fn note(&mut self, line: &Line) {
        if is_complaint(line) {
            self.last_error = Some(line.text.trim().to_owned());
        }
    }

    /// The last complaint among its lines.
    pub fn last_error(&self) -> Option<&str> {
        self.last_error.as_deref()
    }

    /// Sends SIGTERM.
    pub fn ask_to_stop(&self) {
        self.signal(Signal::TERM);
    }

    /// Sends SIGKILL and waits for the end.
    pub fn kill(&mut self) {
        self.signal(Signal::KILL);
        if let Some(mut process) = self.process.take() {
            // A killed child always ends; how is of no interest.
            let _ = process.wait();
        }
    }

    fn signal(&self, signal: Signal) {
        let pid = self.process.as_ref().and_then(|process| Pid::from_raw(i32::try_from(process.id()).ok()?));
        if let Some(pid) = pid {
            // It fails only if the group has just ended, which is what we want.
            let _ = kill_process_group(pid, signal);
        }
    }

    fn read(&self, output: impl Read + Send + 'static, is_error: bool) -> Result<JoinHandle<()>> {
        let (name, lines) = (self.program.name.clone(), self.lines.clone());
        std::thread::Builder::new()
            .name(format!("lines of {name}"))
            .spawn(move || read_lines(output, |text| lines.send(Line { name: name.clone(), text, is_error }).is_ok()))
            .context("start a thread that reads lines")
    }
}

/// All of a program's log goes to standard error: what is no log line of a lower level says what went wrong.
fn is_complaint(line: &Line) -> bool {
    let is_calm = [" INFO ", " WARN ", " DEBUG ", " TRACE "].iter().any(|level| line.text.contains(level));
    line.is_error && !is_calm && !line.text.trim().is_empty()
}

/// Hands each line to `take` until the end, or until it is not wanted any more.
fn read_lines(output: impl Read, mut take: impl FnMut(String) -> bool) {
    let mut reader = BufReader::new(output);
    let mut bytes = Vec::new();
    loop {
        bytes.clear();
        match reader.by_ref().take(LINE_BYTES_MAX).read_until(b'\n', &mut bytes) {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
        if !take(String::from_utf8_lossy(&bytes).trim_end().to_owned()) {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::sync_channel;

    fn child() -> Child {
        let program =
            Program { name: "a".to_owned(), path: "/bin/true".into(), arguments: Vec::new(), variables: Vec::new() };
        Child::new(program, sync_channel(1).0)
    }

    #[test]
    fn waits_grow_to_a_bound_and_start_over_after_steady_work() {
        let mut child = child();
        let now = Instant::now();
        let waits: Vec<u64> = (0..7).map(|_| child.restart_later(now).as_secs()).collect();
        assert_eq!(waits, [1, 2, 4, 8, 16, 30, 30]);
        child.started_at = Some(now);
        assert_eq!(child.restart_later(now + STEADY_AFTER).as_secs(), 1);
    }

    #[test]
    fn lines_without_end_come_in_parts() {
        let mut lengths = Vec::new();
        let text = "x".repeat(usize::try_from(LINE_BYTES_MAX).unwrap() + 5) + "\nshort\n";
        read_lines(text.as_bytes(), |line| {
            lengths.push(line.len());
            true
        });
        assert_eq!(lengths, [65_536, 5, 5]);
    }

    #[test]
    fn the_last_complaint_is_kept() {
        let mut child = child();
        let line = |text: &str, is_error| Line { name: "a".to_owned(), text: text.to_owned(), is_error };
        child.note(&line("a: disk full", true));
        child.note(&line("12:00:00  INFO all is well", true));
        child.note(&line("a table of moves", false));
        child.note(&line(" ", true));
        assert_eq!(child.last_error(), Some("a: disk full"));
    }
}

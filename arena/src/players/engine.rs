//! Another program that plays, whatever its protocol: started when it is first needed, and again after it has ended or
//! was given up.

use std::ops::RangeInclusive;
use std::process::Command;
use std::time::{Duration, Instant};

use tokio_util::sync::CancellationToken;
use tracing::warn;

use super::PlayerFailure;
use super::engine_process::{EngineProcess, LineFailure};

/// How long a program that starts is awaited in silence; of a shorter wait, half.
const SILENT_WAIT_MAX: Duration = Duration::from_secs(10);
/// Lines of one answer, at most.
const ANSWER_LINES_MAX: usize = 10_000;

/// How long engines may take.
#[derive(Debug, Clone, Copy)]
pub struct EngineBounds {
    /// Longest wait for an answer that has no time limit of its own, 1 ms to 1 day.
    pub answer_wait_max: Duration,
    /// How much later than its time a move may come, 0 s to 1 h.
    pub time_margin: Duration,
}

impl EngineBounds {
    /// Possible values of `answer_wait_max`.
    pub const ANSWER_WAITS: RangeInclusive<Duration> = Duration::from_millis(1)..=Duration::from_secs(24 * 60 * 60);
    /// Possible values of `time_margin`.
    pub const TIME_MARGINS: RangeInclusive<Duration> = Duration::ZERO..=Duration::from_secs(60 * 60);
}

/// A program that the shell runs, if it runs.
pub(super) struct Engine {
    command: String,
    pub(super) bounds: EngineBounds,
    stop: CancellationToken,
    process: Option<EngineProcess>,
    /// When the log is to say that the program is waited for; `None` once it has, or the program is ready.
    silent_until: Option<Instant>,
}

impl Engine {
    /// Makes an engine; nothing is started yet.
    pub(super) fn new(command: &str, bounds: EngineBounds, stop: CancellationToken) -> Self {
        Self { command: command.to_owned(), bounds, stop, process: None, silent_until: None }
    }

    /// Returns what the shell runs.
    pub(super) fn command(&self) -> &str {
        &self.command
    }

    /// Returns whether the program is there.
    pub(super) fn is_running(&mut self) -> bool {
        self.process.as_mut().is_some_and(|process| !process.has_ended())
    }

    /// Starts the program.
    ///
    /// # Errors
    /// [`PlayerFailure::Forfeit`] if there is no shell.
    pub(super) fn launch(&mut self) -> Result<(), PlayerFailure> {
        let mut command = Command::new("sh");
        command.arg("-c").arg(&self.command);
        let started = EngineProcess::start(&self.command, command, self.stop.clone());
        self.process = Some(started.map_err(|error| PlayerFailure::Forfeit(format!("cannot be started: {error}")))?);
        self.silent_until = Instant::now().checked_add(SILENT_WAIT_MAX.min(self.bounds.answer_wait_max / 2));
        Ok(())
    }

    /// Takes note that the program has started and can play.
    pub(super) const fn set_ready(&mut self) {
        self.silent_until = None;
    }

    /// Sends a line. That the program has ended shows when its answer is read.
    pub(super) fn send(&mut self, line: &str) {
        if let Some(process) = &mut self.process {
            let _ = process.send(line);
        }
    }

    /// Reads the answer to `question`: all lines up to the one that `is_last`, which is among them. After a failure the
    /// program is given up.
    ///
    /// # Errors
    /// [`PlayerFailure::Forfeit`] if the answer does not come in time, is endless, or the program ends;
    /// [`PlayerFailure::Cancelled`] if the match is being stopped.
    pub(super) fn read_answer(
        &mut self,
        question: &str,
        wait_max: Duration,
        is_last: impl Fn(&str) -> bool,
    ) -> Result<Vec<String>, PlayerFailure> {
        let result = self.read_lines(question, wait_max, is_last);
        if result.is_err() {
            self.process = None;
        }
        result
    }

    /// Gives the program up because of its answer to `question`, and returns why the game is lost.
    pub(super) fn refuse(&mut self, question: &str, reason: &str) -> PlayerFailure {
        self.process = None;
        PlayerFailure::Forfeit(format!("{question}: {reason}"))
    }

    fn read_lines(
        &mut self,
        question: &str,
        wait_max: Duration,
        is_last: impl Fn(&str) -> bool,
    ) -> Result<Vec<String>, PlayerFailure> {
        let forfeit = |reason: String| Err(PlayerFailure::Forfeit(format!("{question}: {reason}")));
        let Some(process) = &mut self.process else { return forfeit("the engine does not run".to_owned()) };
        let Some(deadline) = Instant::now().checked_add(wait_max) else {
            return forfeit(format!("{} s cannot be waited", wait_max.as_secs()));
        };
        let mut lines: Vec<String> = vec![];
        loop {
            let silent_until = self.silent_until.filter(|end| *end < deadline);
            match process.next_line(silent_until.unwrap_or(deadline)) {
                Ok(line) if is_last(&line) => {
                    lines.push(line);
                    return Ok(lines);
                }
                Ok(line) if lines.len() < ANSWER_LINES_MAX => lines.push(line),
                Ok(_) => return forfeit(format!("more than {ANSWER_LINES_MAX} lines")),
                Err(LineFailure::Cancelled) => return Err(PlayerFailure::Cancelled),
                Err(LineFailure::Late) if silent_until.is_some() => {
                    self.silent_until = None;
                    let wait_max = format!("{} s", wait_max.as_secs_f64());
                    warn!(player = self.command, question, wait_max, "an engine has not answered yet: waiting");
                }
                Err(LineFailure::Late) => {
                    let (seconds, last) = (wait_max.as_secs_f64(), process.last_line());
                    return forfeit(format!("no answer in {seconds} s, its last line was {last:?}"));
                }
                Err(LineFailure::Ended) => return forfeit(process.describe_end()),
            }
        }
    }
}

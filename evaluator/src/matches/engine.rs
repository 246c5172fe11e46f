//! A player that is another program, by the Universal Hive Protocol.

use std::process::Command;
use std::time::{Duration, Instant};

use shared::game::Game;
use shared::game::hive::{Hive, Move, Position};
use tokio_util::sync::CancellationToken;
use tracing::info;

use super::mover::{Mover, Opening, Stop};
use super::player::EngineLimit;
use super::process::{NoLine, Process};

/// Lines of one answer, at most.
const ANSWER_LINES_MAX: usize = 10_000;

/// How engines are treated.
#[derive(Debug, Clone, Copy)]
pub struct EngineBounds {
    /// Longest wait for an answer that has no time of its own.
    pub answer_wait_max: Duration,
    /// How much later than its time a move may come.
    pub time_margin: Duration,
}

/// An engine. It is started when it is first needed, and again after it has died or was given up.
pub struct EngineMover {
    hive: Hive,
    command: String,
    limit: EngineLimit,
    bounds: EngineBounds,
    stop: CancellationToken,
    process: Option<Process>,
}

impl EngineMover {
    /// Makes the player; nothing is started yet.
    pub fn new(hive: Hive, command: &str, limit: EngineLimit, bounds: EngineBounds, stop: CancellationToken) -> Self {
        Self { hive, command: command.to_owned(), limit, bounds, stop, process: None }
    }

    /// Says a command and returns the lines of the answer. After a failure the engine is given up.
    fn ask(&mut self, command: &str, wait_max: Duration) -> Result<Vec<String>, Stop> {
        let Some(process) = &mut self.process else { return Err(Stop::Forfeit("it does not run".to_owned())) };
        // A program that has ended is told from its closed output.
        let _ = process.say(command);
        self.hear(command, wait_max)
    }

    fn hear(&mut self, command: &str, wait_max: Duration) -> Result<Vec<String>, Stop> {
        let result = self.read_answer(command, wait_max);
        if result.is_err() {
            self.process = None;
        }
        result
    }

    fn read_answer(&mut self, command: &str, wait_max: Duration) -> Result<Vec<String>, Stop> {
        let Some(process) = &mut self.process else { return Err(Stop::Forfeit("it does not run".to_owned())) };
        let deadline = Instant::now() + wait_max;
        let mut lines: Vec<String> = vec![];
        loop {
            match process.next_line(deadline) {
                Ok(line) if line == "ok" => break,
                Ok(line) if lines.len() < ANSWER_LINES_MAX => lines.push(line),
                Ok(_) => return Err(Stop::Forfeit(format!("{command}: more than {ANSWER_LINES_MAX} lines"))),
                Err(NoLine::Cancelled) => return Err(Stop::Cancelled),
                Err(NoLine::Late) => {
                    let last = process.last_line();
                    let seconds = wait_max.as_secs_f64();
                    return Err(Stop::Forfeit(format!(
                        "{command}: no answer in {seconds} s, its last line was {last:?}"
                    )));
                }
                Err(NoLine::Ended) => return Err(Stop::Forfeit(format!("{command}: {}", process.last_words()))),
            }
        }
        match lines.iter().find(|line| line.starts_with("err") || line.starts_with("invalidmove")) {
            Some(refusal) => Err(Stop::Forfeit(format!("{command}: it answers {refusal:?}"))),
            None => Ok(lines),
        }
    }

    fn question(&self) -> (String, Duration) {
        match self.limit {
            EngineLimit::Depth(depth) => (format!("bestmove depth {depth}"), self.bounds.answer_wait_max),
            EngineLimit::Time(time) => (format!("bestmove time {}", clock(time)), time + self.bounds.time_margin),
        }
    }
}

impl Mover<Hive> for EngineMover {
    /// Starts the engine and hears its greeting.
    fn start(&mut self) -> Result<(), Stop> {
        if self.process.as_mut().is_some_and(|process| !process.has_ended()) {
            return Ok(());
        }
        let mut command = Command::new("sh");
        command.arg("-c").arg(&self.command);
        let started = Process::start(&self.command, command, self.stop.clone());
        self.process = Some(started.map_err(|error| Stop::Forfeit(format!("cannot be started: {error}")))?);
        let greeting = self.hear("its greeting", self.bounds.answer_wait_max)?;
        let id = greeting.iter().find_map(|line| line.strip_prefix("id ")).unwrap_or_default();
        info!(command = self.command, id, "engine is there");
        Ok(())
    }

    fn begin(&mut self, opening: &Opening<'_, Hive>, _: u64) -> Result<(), Stop> {
        self.start()?;
        let wait_max = self.bounds.answer_wait_max;
        self.ask(&format!("newgame {}", self.hive.rules().game_type), wait_max)?;
        opening.texts.iter().try_for_each(|text| self.ask(&format!("play {text}"), wait_max).map(drop))
    }

    fn choose(&mut self, position: &Position) -> Result<Move, Stop> {
        let (question, wait_max) = self.question();
        let lines = self.ask(&question, wait_max)?;
        // Lines before the last are the engine's thoughts.
        let text = lines.last().map_or("", String::as_str);
        self.hive.parse_move(position, text).map_err(|error| Stop::Forfeit(format!("{question}: {error}")))
    }

    fn observe(&mut self, before: &Position, mv: Move) -> Result<(), Stop> {
        let text = self.hive.format_move(before, mv);
        self.ask(&format!("play {text}"), self.bounds.answer_wait_max).map(drop)
    }
}

/// Writes a time as the protocol has it, with a fraction only if there is one.
fn clock(time: Duration) -> String {
    let (seconds, milliseconds) = (time.as_secs(), time.subsec_millis());
    let whole = format!("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
    if milliseconds == 0 { whole } else { format!("{whole}.{milliseconds:03}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_as_the_protocol_has_them() {
        assert_eq!(clock(Duration::from_secs(3723)), "01:02:03");
        assert_eq!(clock(Duration::from_millis(250)), "00:00:00.250");
    }
}

//! A player that is another program, by the Universal Hive Protocol.

use std::time::Duration;

use shared::game::Game;
use shared::game::hive::{Hive, Move, Position};
use tokio_util::sync::CancellationToken;
use tracing::info;

use super::engine::{Engine, EngineBounds};
use super::spec::{EngineLimit, EngineSpec};
use super::{MatchPlayer, Opening, PlayerFailure};

/// A UHP engine.
pub struct UhpPlayer {
    hive: Hive,
    limit: EngineLimit,
    engine: Engine,
}

impl UhpPlayer {
    /// Makes the player; nothing is started yet.
    pub fn new(hive: Hive, spec: &EngineSpec, bounds: EngineBounds, stop: CancellationToken) -> Self {
        Self { hive, limit: spec.limit, engine: Engine::new(&spec.command, bounds, stop) }
    }

    /// Sends a command and returns the lines of the answer. After a failure the engine is given up.
    fn ask(&mut self, command: &str, wait_max: Duration) -> Result<Vec<String>, PlayerFailure> {
        self.engine.send(command);
        self.read_answer(command, wait_max)
    }

    fn read_answer(&mut self, command: &str, wait_max: Duration) -> Result<Vec<String>, PlayerFailure> {
        let mut lines = self.engine.read_answer(command, wait_max, |line| line == "ok")?;
        lines.pop();
        match lines.iter().find(|line| line.starts_with("err") || line.starts_with("invalidmove")) {
            Some(refusal) => Err(self.engine.refuse(command, &format!("it answers {refusal:?}"))),
            None => Ok(lines),
        }
    }

    fn question(&self) -> (String, Duration) {
        let bounds = self.engine.bounds;
        match self.limit {
            EngineLimit::Time(time) => (format!("bestmove time {}", clock(time)), time + bounds.time_margin),
            EngineLimit::Depth(depth) | EngineLimit::Nodes(depth) => {
                (format!("bestmove depth {depth}"), bounds.answer_wait_max)
            }
        }
    }
}

impl MatchPlayer<Hive> for UhpPlayer {
    /// Starts the engine and reads its greeting.
    fn start(&mut self) -> Result<(), PlayerFailure> {
        if self.engine.is_running() {
            return Ok(());
        }
        self.engine.launch()?;
        let greeting = self.read_answer("its greeting", self.engine.bounds.answer_wait_max)?;
        let id = greeting.iter().find_map(|line| line.strip_prefix("id ")).unwrap_or_default();
        self.engine.set_ready();
        info!(command = self.engine.command(), id, "engine ready");
        Ok(())
    }

    fn begin(&mut self, opening: &Opening<'_, Hive>, _: u64) -> Result<(), PlayerFailure> {
        self.start()?;
        let wait_max = self.engine.bounds.answer_wait_max;
        self.ask(&format!("newgame {}", self.hive.rules().game_type), wait_max)?;
        opening.texts.iter().try_for_each(|text| self.ask(&format!("play {text}"), wait_max).map(drop))
    }

    fn choose(&mut self, position: &Position) -> Result<Move, PlayerFailure> {
        let (question, wait_max) = self.question();
        let lines = self.ask(&question, wait_max)?;
        // Lines before the last are the engine's thoughts.
        let text = lines.last().map_or("", String::as_str);
        self.hive.parse_move(position, text).map_err(|error| PlayerFailure::Forfeit(format!("{question}: {error}")))
    }

    fn observe(&mut self, before: &Position, mv: Move) -> Result<(), PlayerFailure> {
        let text = self.hive.format_move(before, mv);
        self.ask(&format!("play {text}"), self.engine.bounds.answer_wait_max).map(drop)
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

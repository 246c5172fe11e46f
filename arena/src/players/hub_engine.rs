//! A player that is another program, by the hub protocol for draughts programs, version 2.

use std::time::Duration;

use notation::dama::hub;
use notation::dama::hub_line::{HubLine, quoted};
use shared::game::Game;
use shared::game::dama::text::{format_with_captured, parse_move};
use shared::game::dama::{Dama, Move, Position};
use tokio_util::sync::CancellationToken;
use tracing::info;

use super::engine::{Engine, EngineBounds};
use super::spec::{EngineLimit, EngineSpec};
use super::{MatchPlayer, Opening, PlayerFailure};

/// The game as the protocol names it.
const VARIANT: &str = "italian";

/// A draughts engine that speaks the hub protocol.
pub struct HubPlayer {
    dama: Dama,
    limit: EngineLimit,
    engine: Engine,
    /// Start of the game, and all moves since.
    start: String,
    moves: Vec<String>,
}

impl HubPlayer {
    /// Makes the player; nothing is started yet.
    pub fn new(dama: Dama, spec: &EngineSpec, bounds: EngineBounds, stop: CancellationToken) -> Self {
        let initial = dama.initial_position();
        let start = hub::write(initial.board(), dama.side_to_move(&initial));
        Self { dama, limit: spec.limit, engine: Engine::new(&spec.command, bounds, stop), start, moves: vec![] }
    }

    /// Reads lines up to one whose command is `last`, and returns them. An `error` line is a refusal.
    fn read_answer(&mut self, question: &str, last: &str, wait_max: Duration) -> Result<Vec<HubLine>, PlayerFailure> {
        let command_of = |line: &str| HubLine::parse(line).command;
        let is_last = |line: &str| [last, "error"].contains(&command_of(line).as_str());
        let lines = self.engine.read_answer(question, wait_max, is_last)?;
        match lines.last() {
            Some(refusal) if command_of(refusal) == "error" => {
                Err(self.engine.refuse(question, &format!("it answers {refusal:?}")))
            }
            _ => Ok(lines.iter().map(|line| HubLine::parse(line)).collect()),
        }
    }

    /// Sets the variant of an engine that plays several.
    fn set_variant(&mut self, greeting: &[HubLine]) -> Result<(), PlayerFailure> {
        let is_variant = |line: &&HubLine| line.command == "param" && line.value("name") == Some("variant");
        let Some(variant) = greeting.iter().find(is_variant) else { return Ok(()) };
        let known = variant.value("values").unwrap_or(VARIANT);
        if !known.split_whitespace().any(|name| name == VARIANT) {
            return Err(self.engine.refuse("its greeting", &format!("it plays the variants {known:?}, not {VARIANT}")));
        }
        self.engine.send(&format!("set-param name=variant value={VARIANT}"));
        Ok(())
    }

    fn level(&self) -> (String, Duration) {
        let bounds = self.engine.bounds;
        match self.limit {
            EngineLimit::Depth(depth) => (format!("level depth={depth}"), bounds.answer_wait_max),
            EngineLimit::Nodes(nodes) => (format!("level nodes={nodes}"), bounds.answer_wait_max),
            EngineLimit::Time(time) => (format!("level move-time={}", time.as_secs_f64()), time + bounds.time_margin),
        }
    }
}

impl MatchPlayer<Dama> for HubPlayer {
    /// Starts the engine, reads its greeting and sets it up.
    fn start(&mut self) -> Result<(), PlayerFailure> {
        if self.engine.is_running() {
            return Ok(());
        }
        self.engine.launch()?;
        self.engine.send("hub");
        let greeting = self.read_answer("hub", "wait", self.engine.bounds.answer_wait_max)?;
        self.set_variant(&greeting)?;
        self.engine.send("init");
        self.read_answer("init", "ready", self.engine.bounds.answer_wait_max)?;
        let id = greeting.iter().find(|line| line.command == "id");
        let [name, version] = ["name", "version"].map(|key| id.and_then(|id| id.value(key)).unwrap_or_default());
        self.engine.set_ready();
        info!(command = self.engine.command(), name, version, "engine ready");
        Ok(())
    }

    fn begin(&mut self, opening: &Opening<'_, Dama>, _: u64) -> Result<(), PlayerFailure> {
        self.start()?;
        self.engine.send("new-game");
        self.moves = opening.moves.iter().map(|mv| format_with_captured(*mv)).collect();
        Ok(())
    }

    fn choose(&mut self, position: &Position) -> Result<Move, PlayerFailure> {
        let (level, wait_max) = self.level();
        self.engine.send(&format!("pos pos={} moves={}", self.start, quoted(&self.moves.join(" "))));
        self.engine.send(&level);
        self.engine.send("go think");
        let lines = self.read_answer(&level, "done", wait_max)?;
        let text = lines.last().and_then(|line| line.value("move")).unwrap_or_default();
        parse_move(&self.dama, position, text).map_err(|error| PlayerFailure::Forfeit(format!("{level}: {error}")))
    }

    fn observe(&mut self, _: &Position, mv: Move) -> Result<(), PlayerFailure> {
        self.moves.push(format_with_captured(mv));
        Ok(())
    }
}

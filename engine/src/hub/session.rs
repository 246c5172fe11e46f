//! What the commands do: the position, the search of it, the settings. Knows lines, not where they come from.

use std::io::{self, Write};
use std::time::Duration;

use book::BookMove;
use notation::dama::hub::{self, HubError};
use notation::dama::hub_level::{HubLevel, HubLevelError};
use notation::dama::hub_line::{HubLine, quoted};
use runtime::lines::LineError;
use shared::game::dama::text::{find_move, format_with_captured};
use shared::game::dama::{Dama, DamaRules, Move, Position};
use shared::game::{Game, MoveError, Outcome, Value};
use shared::search::{ParallelSearch, SearchPreset};

use super::watch::{Ends, Lines, Next, Watch};
use crate::options::{EngineOptions, Kind, OptionError, OptionProblem, ShownOption};
use crate::player::Player;
use crate::thinker::Thinker;

/// One conversation.
pub struct HubSession {
    /// Its tree is that of the last search.
    thinker: Thinker<Dama>,
    /// The position; none after one that was refused.
    position: Option<Position>,
    level: HubLevel,
}

/// Why a command is not carried out.
#[derive(Debug, thiserror::Error)]
enum HubCommandError {
    #[error("set-param: no name")]
    NoName,
    #[error("set-param: variant: {0:?} is not italian")]
    Variant(String),
    #[error("set-param: {name}: {problem}")]
    Parameter { name: &'static str, problem: OptionProblem },
    #[error("pos: no position")]
    NoPosition,
    #[error("pos: {0}")]
    Position(#[from] HubError),
    #[error("pos: {0}")]
    Move(#[from] MoveError),
    #[error(transparent)]
    Level(#[from] HubLevelError),
}

/// How a search is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    /// The move will be played.
    Think,
    /// It is the opponent's turn; the clock does not run yet.
    Ponder,
    /// What the search finds is wanted, not the move.
    Analyze,
}

impl HubSession {
    /// Makes a session at the start of a game. `seed` is for choosing moves at a temperature.
    pub fn new(player: Player<Dama>, preset: SearchPreset, seed: u64) -> Self {
        let (thinker, position) = (Thinker::new(player, preset, seed), Some(dama().initial_position()));
        Self { thinker, position, level: HubLevel::default() }
    }

    const fn options(&self) -> &EngineOptions {
        self.thinker.options()
    }

    /// Carries out a line and writes the answer. Unknown commands are skipped, as the protocol wants it.
    ///
    /// # Errors
    /// If the answer cannot be written.
    pub fn execute(&mut self, text: &str, lines: &mut dyn Lines, out: &mut dyn Write) -> io::Result<Next> {
        let line = HubLine::parse(text);
        let done = match line.command.as_str() {
            "hub" => self.introduce(out).map(Ok)?,
            "init" => writeln!(out, "ready").map(Ok)?,
            "ping" => writeln!(out, "pong").map(Ok)?,
            "set-param" => self.set(&line),
            "new-game" => {
                self.thinker.forget();
                Ok(())
            }
            "pos" => self.set_position(&line),
            "level" => HubLevel::parse(&line).map(|level| self.level = level).map_err(HubCommandError::from),
            "go" => return self.go(&line, lines, out),
            "quit" => return Ok(Next::Quit),
            _ => Ok(()),
        };
        if let Err(error) = done {
            tell_error(out, &error.to_string())?;
        }
        out.flush()?;
        Ok(Next::Listen)
    }

    /// Tells of a line that cannot be read. It may have held a position, so the last one is not played on from.
    ///
    /// # Errors
    /// If the answer cannot be written.
    pub fn refuse(&mut self, error: &LineError, out: &mut dyn Write) -> io::Result<Next> {
        self.position = None;
        tell_error(out, &error.to_string()).map(|()| Next::Listen)
    }

    fn introduce(&self, out: &mut dyn Write) -> io::Result<()> {
        let version = env!("CARGO_PKG_VERSION");
        writeln!(out, "id name=Alveare version={version} author=\"the Alveare maintainers\"")?;
        writeln!(out, "param name=variant value=italian type=enum values=\"italian\"")?;
        for shown in self.options().shown().iter().filter(|shown| !shown.hub_name.is_empty()) {
            writeln!(out, "{}", parameter(shown))?;
        }
        writeln!(out, "wait")
    }

    fn set(&mut self, line: &HubLine) -> Result<(), HubCommandError> {
        let name = line.value("name").filter(|name| !name.is_empty()).ok_or(HubCommandError::NoName)?;
        let value = line.value("value").unwrap_or_default();
        if name == "variant" {
            let is_known = value.eq_ignore_ascii_case("italian");
            return if is_known { Ok(()) } else { Err(HubCommandError::Variant(value.to_owned())) };
        }
        let named = self.options().one(name).ok().filter(|shown| !shown.hub_name.is_empty());
        // Managers send the parameters that they know to every engine.
        let Some(ShownOption { hub_name, .. }) = named else { return Ok(()) };
        match self.thinker.set(hub_name, value) {
            Err(OptionError::Value { problem, .. }) => Err(HubCommandError::Parameter { name: hub_name, problem }),
            Err(OptionError::Unknown(_)) | Ok(()) => Ok(()),
        }
    }

    fn set_position(&mut self, line: &HubLine) -> Result<(), HubCommandError> {
        // To play on from the last one would be to play another game.
        self.position = None;
        let text = line.value("pos").ok_or(HubCommandError::NoPosition)?;
        let mut position = hub::read(text)?;
        for text in line.value("moves").unwrap_or_default().split_whitespace() {
            let mv = find_move(&dama(), &position, text)?;
            dama().play(&mut position, mv);
        }
        self.position = Some(position);
        Ok(())
    }

    /// Searches and answers with a move. Without a mode that it knows it thinks, as Scan does.
    fn go(&mut self, line: &HubLine, lines: &mut dyn Lines, out: &mut dyn Write) -> io::Result<Next> {
        let mode = match () {
            () if line.has("ponder") => Mode::Ponder,
            () if line.has("analyze") || line.has("analyse") => Mode::Analyze,
            () => Mode::Think,
        };
        let Some(mut position) = self.position.clone() else {
            return tell_error(out, "go: the last position was refused").map(|()| Next::Listen);
        };
        // People and programs play on where the rules see a draw: the past is then left out.
        if dama().outcome(&position) == Some(Outcome::Draw) {
            position = Position::new(*position.board(), position.side_to_move(), 0);
        }
        let mut moves = Vec::new();
        dama().legal_moves(&position, &mut moves);
        match moves[..] {
            [] => {
                tell_error(out, "go: the game is over")?;
                Ok(Next::Listen)
            }
            [only] if mode == Mode::Think => {
                writeln!(out, "done move={}", format_with_captured(only))?;
                out.flush()?;
                Ok(Next::Listen)
            }
            _ => match self.book_move(&position, mode) {
                Some(found) => play_from_book(found, out).map(|()| Next::Listen),
                None => self.think(&position, mode, lines, out),
            },
        }
    }

    /// Returns a move of the opening book, where a move is wanted.
    fn book_move(&mut self, position: &Position, mode: Mode) -> Option<BookMove<Move>> {
        if mode == Mode::Think { self.thinker.draw_from_book(&dama(), position) } else { None }
    }

    fn think(
        &mut self,
        position: &Position,
        mode: Mode,
        lines: &mut dyn Lines,
        out: &mut dyn Write,
    ) -> io::Result<Next> {
        self.keep_tree(position);
        let ponders = mode == Mode::Ponder;
        let ends = self.ends();
        let mut limits = self.options().limits(ends.simulation_count.filter(|_| !ponders), None);
        let mut watch = Watch::new(lines, &mut *out, ends, self.kept_simulation_count(), ponders);
        limits.deadline = watch.deadline();
        let thought = self.thinker.think(&dama(), position, &limits, &mut |search| watch.goes_on(search));
        let best = match thought {
            Ok(thought) => thought.mv,
            Err(error) => return tell_error(out, &format!("go: search failed: {error:#}")).map(|()| Next::Listen),
        };
        let Some(search) = self.thinker.search() else { return Ok(Next::Listen) };
        let next = watch.finish(search)?;
        let reply = search.line_of(best).into_iter().nth(1);
        let reply = reply.map_or_else(String::new, |mv| format!(" ponder={}", format_with_captured(mv)));
        writeln!(out, "done move={}{reply}", format_with_captured(best))?;
        out.flush()?;
        Ok(next)
    }

    /// Returns where the next search ends by itself.
    fn ends(&self) -> Ends {
        let HubLevel { depth, nodes, time, is_infinite } = self.level;
        if is_infinite {
            return Ends { depth: None, simulation_count: None, time: None };
        }
        let margin = Duration::from_millis(self.options().time_margin_ms.value.into());
        let has_limit = time.is_some() || depth.is_some();
        let default_count = (!has_limit).then_some(self.options().simulations.value);
        Ends { depth, simulation_count: nodes.or(default_count), time: time.map(|time| time.without(margin)) }
    }

    /// Moves the tree of the last search to the position if that is in it at most two plies down, or drops it.
    fn keep_tree(&mut self, position: &Position) {
        let line = self.thinker.search().and_then(|search| line_between(search.position(), position));
        match line.filter(|_| dama().outcome(position).is_none()) {
            Some(line) => line.into_iter().for_each(|mv| self.thinker.play(mv)),
            None => self.thinker.forget(),
        }
    }

    fn kept_simulation_count(&self) -> u32 {
        self.thinker.search().map_or(0, ParallelSearch::simulation_count)
    }
}

/// Answers with a move of the opening book, and says how often it was played.
fn play_from_book(found: BookMove<Move>, out: &mut dyn Write) -> io::Result<()> {
    let (mv, results) = (format_with_captured(found.mv), found.results);
    // From -1 to 1, as the scores of searches.
    let score = Value::new((2.0 * results.score() - 1.0) as f32).rounded(2);
    let count = results.game_count();
    writeln!(out, "info depth=1 score={score:.2} nodes=0 time=0.000 pv=\"{mv}\" book={count}")?;
    writeln!(out, "done move={mv}")?;
    out.flush()
}

/// Returns the game that is played: without an end by the number of plies.
pub fn dama() -> Dama {
    Dama::new(DamaRules { ply_limit: u32::MAX })
}

/// Returns the moves from one position to another, at most two; `None` if there are none.
fn line_between(from: &Position, to: &Position) -> Option<Vec<Move>> {
    let is_there = |position: &Position| {
        position.board() == to.board()
            && position.side_to_move() == to.side_to_move()
            && position.quiet_ply_count() == to.quiet_ply_count()
            && position.occurrence_count() == to.occurrence_count()
    };
    let followers = |position: &Position| {
        let mut moves = Vec::new();
        dama().legal_moves(position, &mut moves);
        let after = |mv: Move| {
            let mut after = position.clone();
            dama().play(&mut after, mv);
            (mv, after)
        };
        moves.into_iter().map(after).collect::<Vec<_>>()
    };
    if is_there(from) {
        return Some(vec![]);
    }
    let first = followers(from);
    if let Some((mv, _)) = first.iter().find(|(_, after)| is_there(after)) {
        return Some(vec![*mv]);
    }
    first.iter().find_map(|(mv, after)| {
        let second = followers(after);
        second.iter().find(|(_, after)| is_there(after)).map(|(reply, _)| vec![*mv, *reply])
    })
}

fn parameter(shown: &ShownOption) -> String {
    let ShownOption { hub_name, kind, value, allowed, .. } = shown;
    let kind = match kind {
        Kind::Int => "int",
        Kind::Real => "real",
        Kind::Bool => "bool",
        Kind::Enum => "enum",
    };
    let allowed = match &allowed[..] {
        [least, most] => format!(" min={least} max={most}"),
        [] => String::new(),
        names => format!(" values=\"{}\"", names.join(" ")),
    };
    format!("param name={hub_name} value={value} type={kind}{allowed}")
}

fn tell_error(out: &mut dyn Write, message: &str) -> io::Result<()> {
    writeln!(out, "error message={}", quoted(message))?;
    out.flush()
}

#[cfg(test)]
#[path = "session_tests.rs"]
mod tests;

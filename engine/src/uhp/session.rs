//! What the commands do: the game that is played, its search, the options. Reads and writes nothing.

use std::time::{Duration, Instant};

use notation::move_time::MoveTime;
use notation::uhp::command::{BestMoveLimit, Command, USAGES};
use notation::uhp::{GameString, GameStringError, format_game};
use runtime::logging;
use shared::game::hive::text::format_move;
use shared::game::hive::{Hive, Move, Position};
use shared::game::{Game, MoveError, Side};
use shared::search::{ParallelSearch, SearchPreset};

use super::game_clock::GameClock;
use super::refusal::Refusal;
use super::report;
use super::verdict::{Verdict, VerdictValues, Verdicts};
use crate::openings;
use crate::options::{EngineOptions, Kind, ShownOption};
use crate::player::Player;
use crate::think::Limits;
use crate::thinker::Thinker;

/// How often a search tells how far it is, if it does.
const INFO_INTERVAL: Duration = Duration::from_secs(1);

/// One conversation with a viewer.
pub struct UhpSession {
    thinker: Thinker<Hive>,
    game: Option<Played>,
    /// The engine's own clock, if it keeps one.
    clock: Option<GameClock>,
    verdicts: Verdicts,
    /// The side for which a move was last asked for in this game.
    asked: Option<Side>,
}

/// Gets the reports of a search while it runs.
pub trait Viewer {
    /// Returns whether the search shall go on.
    fn goes_on(&mut self) -> bool;
    /// Takes a line of information.
    fn tell(&mut self, line: &str);
}

/// A viewer that drops every report.
impl<F: FnMut() -> bool> Viewer for F {
    fn goes_on(&mut self) -> bool {
        self()
    }

    fn tell(&mut self, _line: &str) {}
}

/// A game and how it came to where it is.
struct Played {
    hive: Hive,
    position: Position,
    moves: Vec<Move>,
}

impl Played {
    fn text(&self) -> String {
        format_game(&self.hive, &self.moves)
    }

    fn is_over(&self) -> bool {
        self.hive.outcome(&self.position).is_some()
    }
}

impl UhpSession {
    /// Makes a session without a game. `seed` is for choosing moves at a temperature.
    pub fn new(player: Player<Hive>, preset: SearchPreset, seed: u64) -> Self {
        let thinker = Thinker::new(player, preset, seed);
        Self { thinker, game: None, clock: None, verdicts: Verdicts::default(), asked: None }
    }

    /// Carries out a command and returns the lines of its answer, without the closing `ok`. A search asks the
    /// viewer between its batches whether it goes on.
    ///
    /// # Errors
    /// [`Refusal`]; game and options are then as before.
    pub fn execute(&mut self, command: Command, viewer: &mut dyn Viewer) -> Result<Vec<String>, Refusal> {
        let line = match command {
            Command::Info => return Ok(info()),
            Command::Help => return Ok(USAGES.map(str::to_owned).to_vec()),
            Command::Exit => return Ok(vec![]),
            Command::ListOptions => return Ok(self.options().shown().iter().map(option_line).collect()),
            Command::GetOption(name) => option_line(&self.options().one(&name)?),
            Command::SetOption { name, value } => option_line(&self.set_option(&name, &value)?),
            Command::NewGame(text) => self.new_game(text.as_deref())?,
            Command::Play(text) => self.play(&text)?,
            Command::ValidMoves => self.valid_moves()?,
            Command::BestMove(limit) => self.best_move(limit, viewer)?,
            Command::Undo(count) => self.undo(count)?,
        };
        Ok(vec![line])
    }

    /// Sets an option, and returns it as it then stands.
    ///
    /// # Errors
    /// [`Refusal`] for an unknown option or an impossible value.
    pub fn set_option(&mut self, name: &str, value: &str) -> Result<ShownOption, Refusal> {
        self.thinker.set(name, value)?;
        Ok(self.options().one(name)?)
    }

    const fn options(&self) -> &EngineOptions {
        self.thinker.options()
    }

    fn new_game(&mut self, text: Option<&str>) -> Result<String, Refusal> {
        let game: GameString = text.unwrap_or("Base").parse()?;
        let hive = self.options().replay_rules().hive(&game);
        let (position, moves) = game.replay_moves(&hive)?;
        check_turn(&game, position.ply())?;
        self.begin();
        if let Some(book) = self.thinker.book().filter(|book| !book.is_of(&hive)) {
            let (found, wanted) = (&book.header().type_name, hive.rules().game_type);
            logging::print_line(&format!("newgame: the opening book is of {found}, not of {wanted}: it is not used"));
        }
        Ok(self.game.insert(Played { hive, position, moves }).text())
    }

    fn play(&mut self, text: &str) -> Result<String, Refusal> {
        let game = self.game.as_mut().ok_or(Refusal::NoGame)?;
        let mv = game.hive.parse_move(&game.position, text).map_err(|error| match error {
            MoveError::GameOver { .. } => Refusal::GameOver,
            error => Refusal::InvalidMove(error),
        })?;
        game.hive.play(&mut game.position, mv);
        game.moves.push(mv);
        self.thinker.play(mv);
        Ok(game.text())
    }

    fn valid_moves(&self) -> Result<String, Refusal> {
        let game = running(self.game.as_ref())?;
        let texts: Vec<String> = legal_moves(game).into_iter().map(|mv| format_move(&game.position, mv)).collect();
        Ok(texts.join(";"))
    }

    fn undo(&mut self, count: usize) -> Result<String, Refusal> {
        let game = self.game.as_mut().ok_or(Refusal::NoGame)?;
        let played = game.moves.len();
        let kept = played.checked_sub(count).ok_or(Refusal::Undo { wanted: count, played })?;
        game.moves.truncate(kept);
        game.position = game.hive.initial_position();
        for mv in &game.moves {
            game.hive.play(&mut game.position, *mv);
        }
        (self.verdicts, self.asked) = (Verdicts::default(), None);
        self.thinker.forget();
        Ok(game.text())
    }

    fn best_move(&mut self, limit: BestMoveLimit, viewer: &mut dyn Viewer) -> Result<String, Refusal> {
        let started = Instant::now();
        let game = running(self.game.as_ref())?;
        let (hive, side, ply) = (game.hive, game.position.side_to_move(), game.position.ply());
        self.asked = Some(side);
        if let [only] = legal_moves(game)[..] {
            let text = format_move(&game.position, only);
            logging::print_line(&format!("bestmove {text}: the only move"));
            return Ok(text);
        }
        if let Some(found) = self.thinker.draw_from_book(&hive, &game.position) {
            let text = format_move(&game.position, found.mv);
            if self.thinker.options().info_lines.value {
                viewer.tell(&report::book_line(&text, found.results));
            }
            logging::print_line(&format!("bestmove {text}: from the book, {}", openings::summary(found.results)));
            if let Some(clock) = &mut self.clock {
                clock.spend(side, started.elapsed());
            }
            return Ok(text);
        }
        let options = self.thinker.options();
        let (is_told, line_count) = (options.info_lines.value, options.multi_pv.value);
        let limits = limits(options, limit, self.clock.map(|clock| clock.move_time(side)), started);
        let mut told_at = started;
        let mut goes_on = |search: &ParallelSearch<Hive>| {
            if is_told && told_at.elapsed() >= INFO_INTERVAL {
                told_at = Instant::now();
                tell_info(&hive, search, line_count, started, viewer);
            }
            viewer.goes_on()
        };
        let thought = self.thinker.think(&hive, &game.position, &limits, &mut goes_on);
        let thought = thought.map_err(|error| Refusal::Search(format!("{error:#}")))?;
        let text = format_move(&game.position, thought.mv);
        if let Some(clock) = &mut self.clock {
            clock.spend(side, started.elapsed());
        }
        if let Some(search) = self.thinker.search() {
            if is_told {
                tell_info(&hive, search, line_count, started, viewer);
            }
            match self.verdicts.judge(verdict_values(self.thinker.options()), side, ply, search.root_value().get()) {
                Some(Verdict::Resign) => viewer.tell("info resign"),
                Some(Verdict::OfferDraw) => viewer.tell("info draw"),
                None => {}
            }
            logging::print_line(&report::summary(&hive, search, &thought));
        }
        Ok(text)
    }

    /// Searches while it is the turn of the side that was not asked for, until `is_quiet` says no. Does nothing unless
    /// the option is on, and the tree of the last answer is there.
    pub fn ponder(&mut self, is_quiet: &mut dyn FnMut() -> bool) {
        let Ok(game) = running(self.game.as_ref()) else { return };
        let options = self.thinker.options();
        let is_opponents = self.asked.is_some_and(|asked| asked != game.position.side_to_move());
        if !options.ponder.value || options.level().is_some() || !is_opponents || self.thinker.search().is_none() {
            return;
        }
        let limits = options.limits(None, None);
        let (hive, position) = (game.hive, game.position.clone());
        if let Err(error) = self.thinker.think(&hive, &position, &limits, &mut |_| is_quiet()) {
            logging::print_line(&format!("pondering ended: {error:#}"));
        }
    }

    /// Begins the clock, and forgets what was expected: the game is another.
    fn begin(&mut self) {
        let options = self.thinker.options();
        self.clock = GameClock::new(options.game_seconds.value, options.increment_seconds.value);
        (self.verdicts, self.asked) = (Verdicts::default(), None);
        self.thinker.forget();
    }
}

fn verdict_values(options: &EngineOptions) -> VerdictValues {
    VerdictValues { resign: options.resign_value.value, draw: options.draw_value.value }
}

fn tell_info(hive: &Hive, search: &ParallelSearch<Hive>, count: u32, started: Instant, viewer: &mut dyn Viewer) {
    report::info_lines(hive, search, count, started.elapsed()).iter().for_each(|line| viewer.tell(line));
}

fn info() -> Vec<String> {
    vec![concat!("id Alveare v", env!("CARGO_PKG_VERSION")).to_owned(), "Mosquito;Ladybug;Pillbug".to_owned()]
}

/// Refuses a game whose turn is the other side's: moves are missing, or there are too many. People count turns in other
/// ways, so a wrong number is only reported.
fn check_turn(game: &GameString, ply: u32) -> Result<(), GameStringError> {
    match game.check_turn(ply) {
        Err(GameStringError::OtherTurn { claimed, found }) if claimed.side == found.side => {
            logging::print_line(&format!("newgame: turn {claimed} is claimed after moves that lead to {found}"));
            Ok(())
        }
        checked => checked,
    }
}

/// Returns the game if it goes on.
fn running(game: Option<&Played>) -> Result<&Played, Refusal> {
    let game = game.ok_or(Refusal::NoGame)?;
    if game.is_over() { Err(Refusal::GameOver) } else { Ok(game) }
}

fn legal_moves(game: &Played) -> Vec<Move> {
    let mut moves = Vec::new();
    game.hive.legal_moves(&game.position, &mut moves);
    moves
}

/// Returns when a search ends; the engine's own clock, if it keeps one, bounds it besides.
fn limits(options: &EngineOptions, limit: BestMoveLimit, clock_time: Option<MoveTime>, started: Instant) -> Limits {
    let margin = Duration::from_millis(options.time_margin_ms.value.into());
    let own = clock_time.map(|time| started + time.without(margin));
    match limit {
        BestMoveLimit::Settings if own.is_some() => options.limits(None, own),
        BestMoveLimit::Settings => options.limits(Some(options.simulations.value), None),
        BestMoveLimit::Simulations(count) => options.limits(Some(count), own),
        BestMoveLimit::Time(time) => {
            let deadline = started + time.saturating_sub(margin);
            options.limits(None, Some(own.map_or(deadline, |own| own.min(deadline))))
        }
    }
}

/// Returns an option as the protocol has it: `Name;type;value;default`, behind it `;least;most` or all names.
fn option_line(shown: &ShownOption) -> String {
    let ShownOption { name, kind, value, default, allowed, .. } = shown;
    let allowed = allowed.join(";");
    match kind {
        Kind::Bool => format!("{name};bool;{value};{default}"),
        Kind::Int => format!("{name};int;{value};{default};{allowed}"),
        Kind::Real => format!("{name};double;{value};{default};{allowed}"),
        Kind::Enum => format!("{name};enum;{value};{default};{allowed}"),
    }
}

#[cfg(test)]
impl UhpSession {
    /// Returns the simulations of the tree that is kept, if one is.
    pub fn kept_simulation_count(&self) -> Option<u32> {
        self.thinker.search().map(ParallelSearch::simulation_count)
    }
}

#[cfg(test)]
#[path = "session_tests.rs"]
pub mod tests;

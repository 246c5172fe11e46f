//! What the commands do: the game that is played, its search, the options. Reads and writes nothing.

use std::time::{Duration, Instant};

use notation::uhp::{GameString, GameStringError, format_game};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use runtime::logging;
use shared::game::hive::text::format_move;
use shared::game::hive::{Hive, Move, Position};
use shared::game::{Game, MoveError};
use shared::search::{ParallelSearch, Proof, SearchPreset};

use super::command::{Command, Limit, USAGES};
use super::refusal::Refusal;
use crate::options::{EngineOptions, Kind, ShownOption};
use crate::player::Player;
use crate::think::{Limits, think};

/// One conversation with a viewer.
pub struct Session {
    player: Player<Hive>,
    options: EngineOptions,
    game: Option<Played>,
    /// The tree below the game's position, kept from move to move.
    search: Option<ParallelSearch<Hive>>,
    random: Pcg64Mcg,
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

impl Session {
    /// Makes a session without a game. `seed` is for choosing moves at a temperature.
    pub fn new(player: Player<Hive>, preset: SearchPreset, seed: u64) -> Self {
        let options = EngineOptions::new::<Hive>(preset);
        player.set_threads(options.threads.value);
        Self { player, options, game: None, search: None, random: Pcg64Mcg::seed_from_u64(seed) }
    }

    /// Carries out a command and returns the lines of its answer, without the closing `ok`. A search asks `goes_on`
    /// between its batches.
    ///
    /// # Errors
    /// [`Refusal`]; game and options are then as before.
    pub fn execute(&mut self, command: Command, goes_on: &mut dyn FnMut() -> bool) -> Result<Vec<String>, Refusal> {
        let line = match command {
            Command::Info => return Ok(info()),
            Command::Help => return Ok(USAGES.map(str::to_owned).to_vec()),
            Command::Exit => return Ok(vec![]),
            Command::ListOptions => return Ok(self.options.shown().iter().map(option_line).collect()),
            Command::GetOption(name) => option_line(&self.options.one(&name)?),
            Command::SetOption { name, value } => self.set_option(&name, &value)?,
            Command::NewGame(text) => self.new_game(text.as_deref())?,
            Command::Play(text) => self.play(&text)?,
            Command::ValidMoves => self.valid_moves()?,
            Command::BestMove(limit) => self.best_move(limit, goes_on)?,
            Command::Undo(count) => self.undo(count)?,
        };
        Ok(vec![line])
    }

    fn set_option(&mut self, name: &str, value: &str) -> Result<String, Refusal> {
        let before = self.options.tree_key();
        self.options.set(name, value)?;
        self.player.set_threads(self.options.threads.value);
        if self.options.tree_key() != before {
            self.search = None;
        }
        Ok(option_line(&self.options.one(name)?))
    }

    fn new_game(&mut self, text: Option<&str>) -> Result<String, Refusal> {
        let game: GameString = text.unwrap_or("Base").parse()?;
        let hive = self.options.replay_rules().hive(&game);
        let (position, moves) = game.replay_moves(&hive)?;
        check_turn(&game, position.ply())?;
        self.search = None;
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
        if let Some(search) = &mut self.search {
            search.play(mv);
        }
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
        self.search = None;
        Ok(game.text())
    }

    fn best_move(&mut self, limit: Limit, goes_on: &mut dyn FnMut() -> bool) -> Result<String, Refusal> {
        let started = Instant::now();
        let game = running(self.game.as_ref())?;
        if let [only] = legal_moves(game)[..] {
            let text = format_move(&game.position, only);
            logging::print_line(&format!("bestmove {text}: the only move"));
            return Ok(text);
        }
        let (player, preset) = (&self.player, self.options.preset.value);
        let make_evaluator = |seed| player.evaluator(preset, seed);
        let limits = limits(&self.options, limit, started);
        let kept = self.search.take().filter(|search| search.byte_count() <= limits.byte_count_max / 2);
        let failed = |error: String| Refusal::Search(error);
        let mut search = match kept {
            Some(search) => search,
            None => {
                let search = self.options.new_search(&game.hive, &game.position, self.random.random());
                search.map_err(|error| failed(error.to_string()))?
            }
        };
        let kept_count = search.simulation_count();
        think(&mut search, &make_evaluator, &limits, &mut |_| goes_on())
            .map_err(|error| failed(format!("{error:#}")))?;
        let best = search.choose_move().ok_or_else(|| failed("no move was tried".to_owned()))?;
        let text = format_move(&game.position, best);
        logging::print_line(&report(game, &search, &text, kept_count, started.elapsed()));
        self.search = Some(search);
        Ok(text)
    }
}

fn info() -> Vec<String> {
    vec![concat!("id Alveare v", env!("CARGO_PKG_VERSION")).to_owned(), "Mosquito;Ladybug;Pillbug".to_owned()]
}

/// Refuses a game whose turn is the other side's: moves are missing, or there are too many. People count turns in other
/// ways, so a wrong number is only told of.
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

fn limits(options: &EngineOptions, limit: Limit, started: Instant) -> Limits {
    let margin = Duration::from_millis(options.time_margin_ms.value.into());
    match limit {
        Limit::Settings => options.limits(Some(options.simulations.value), None),
        Limit::Simulations(count) => options.limits(Some(count), None),
        Limit::Time(time) => options.limits(None, Some(started + time.saturating_sub(margin))),
    }
}

/// Returns an option as the protocol has it: `Name;type;value;default`, behind it `;least;most` or all names.
fn option_line(shown: &ShownOption) -> String {
    let ShownOption { name, kind, value, default, allowed, .. } = shown;
    let allowed = allowed.join(";");
    match kind {
        Kind::Int => format!("{name};int;{value};{default};{allowed}"),
        Kind::Real => format!("{name};double;{value};{default};{allowed}"),
        Kind::Enum => format!("{name};enum;{value};{default};{allowed}"),
    }
}

/// Returns the line for people about a search: what it thinks, and how fast it was.
fn report(game: &Played, search: &ParallelSearch<Hive>, best: &str, kept_count: u32, time: Duration) -> String {
    let count = search.simulation_count();
    let rate = f64::from(count - kept_count) / time.as_secs_f64().max(1e-9);
    let proven = if search.proof() == Proof::Unknown { "" } else { " (proven)" };
    let mut position = game.position.clone();
    let mut line = Vec::new();
    for mv in search.principal_variation() {
        line.push(format_move(&position, mv));
        game.hive.play(&mut position, mv);
    }
    let value = search.root_value().get();
    format!(
        "bestmove {best}: value {value:+.3}{proven}, {count} simulations ({kept_count} kept), {rate:.0}/s, line {}",
        line.join("; ")
    )
}

#[cfg(test)]
impl Session {
    /// Returns the simulations of the tree that is kept, if one is.
    pub fn kept_simulation_count(&self) -> Option<u32> {
        self.search.as_ref().map(ParallelSearch::simulation_count)
    }
}

#[cfg(test)]
#[path = "session_tests.rs"]
pub mod tests;

//! A game between a person and the computer: commands in, text out. Reads and writes nothing but the files of `save`.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use notation::board::View;
use runtime::counted::counted;
use shared::game::{Outcome, Side};
use shared::search::Proof;

use super::board_game::{BoardGame, GameToSave};
use super::command::{Command, USAGES};
use crate::thinker::{ThinkError, Thinker};

/// Simulations behind a hint.
const HINT_SIMULATIONS: u32 = 400;
/// What can still be done once a game is over.
const AFTER_THE_END: &str = "Type undo, save FILE or quit.\n";
/// Plies before which the computer agrees to no draw.
const DRAW_PLIES_MIN: usize = 20;

/// How text is shown.
#[derive(Debug, Clone, Copy)]
pub struct Screen {
    /// Whether it may have colours.
    pub has_colours: bool,
    /// Letters in a line.
    pub width: usize,
}

/// How long the computer thinks.
#[derive(Debug, Clone, Copy, Default)]
pub struct MoveLimits {
    /// Simulations a move; those of the level or the options if there is no time either.
    pub simulation_count: Option<u32>,
    /// Time for a move.
    pub time: Option<Duration>,
}

/// Whether the conversation goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// It goes on.
    Listen,
    /// It is over.
    Quit,
}

/// A game that is being played.
pub struct PlaySession<G: BoardGame> {
    game: G,
    /// All positions since the start; the last is that on the board.
    positions: Vec<G::Position>,
    moves: Vec<G::Move>,
    /// The side of the person.
    side: Side,
    thinker: Thinker<G>,
    limits: MoveLimits,
    /// What the computer is called in files.
    name: String,
    screen: Screen,
    /// The result that was agreed on.
    agreed: Option<Outcome>,
}

impl<G: BoardGame> PlaySession<G> {
    /// Makes a session in the last of `positions`; the person plays `side`.
    pub fn new(
        game: G,
        (positions, moves): (Vec<G::Position>, Vec<G::Move>),
        side: Side,
        thinker: Thinker<G>,
        limits: MoveLimits,
        screen: Screen,
    ) -> Self {
        Self { game, positions, moves, side, thinker, limits, name: "Alveare".to_owned(), screen, agreed: None }
    }

    /// Sets what the computer is called in files.
    pub fn set_name(&mut self, name: String) {
        self.name = name;
    }

    /// Begins: says who plays, and lets the computer move if it is its turn.
    ///
    /// # Errors
    /// [`ThinkError`] if the computer has no move.
    pub fn begin(&mut self) -> Result<String, ThinkError> {
        let (side, other) = (self.side, self.side.opponent());
        let mut text =
            format!("You are {side:?}, {} is {other:?}. Type ? for the moves, help for the commands.\n", self.name);
        writeln!(text, "{}\n", G::MOVES_ARE).ok();
        text += &self.go_on()?;
        Ok(text)
    }

    /// Returns what stands before the line that a person types.
    pub fn prompt(&self) -> String {
        match self.outcome() {
            Some(_) => "game over> ".to_owned(),
            None => format!("{:?} to move> ", self.side),
        }
    }

    /// Carries out a command. Returns what it says.
    ///
    /// # Errors
    /// [`ThinkError`] if the computer has no move.
    pub fn execute(&mut self, command: Command) -> Result<(String, Next), ThinkError> {
        let text = match command {
            Command::Nothing => String::new(),
            Command::Quit => return Ok((String::new(), Next::Quit)),
            Command::Help => self.help(),
            Command::Board => self.board(),
            Command::Save(Some(file)) => self.save(&file),
            Command::Save(None) => "Name a file: save FILE.\n".to_owned(),
            Command::Undo => self.undo(),
            _ if self.outcome().is_some() => format!("The game is over. {AFTER_THE_END}"),
            Command::ListMoves => self.list_moves(),
            Command::Hint => self.hint()?,
            Command::Resign => self.agree(Outcome::Win(self.side.opponent())),
            Command::OfferDraw if self.takes_draw() => self.agree(Outcome::Draw),
            Command::OfferDraw => format!("{} plays on.\n", self.name),
            Command::PlayNumber(number) => {
                let moves = self.legal_moves();
                match number.checked_sub(1).and_then(|index| moves.get(index)) {
                    Some(mv) => self.play(*mv)?,
                    None => {
                        let (verb, them) = if moves.len() == 1 { ("is", "it") } else { ("are", "them") };
                        let moves = counted(moves.len(), "move", "moves");
                        format!("There {verb} {moves}: type ? to see {them}.\n")
                    }
                }
            }
            Command::Play(text) => match self.game.read(self.position(), &text) {
                Ok(mv) => self.play(mv)?,
                Err(error) => format!("{error}\nType ? for the moves, help for the commands.\n"),
            },
        };
        Ok((text, Next::Listen))
    }

    fn position(&self) -> &G::Position {
        // Never empty: undo leaves the start.
        &self.positions[self.positions.len() - 1]
    }

    fn outcome(&self) -> Option<Outcome> {
        self.game.outcome(self.position()).or(self.agreed)
    }

    fn legal_moves(&self) -> Vec<G::Move> {
        let mut moves = vec![];
        self.game.legal_moves(self.position(), &mut moves);
        moves
    }

    fn board(&self) -> String {
        let view = View { last: self.moves.last().copied(), bottom: self.side, has_colours: self.screen.has_colours };
        self.game.draw(self.position(), view)
    }

    /// Plays a move of the person, and whatever follows without it.
    fn play(&mut self, mv: G::Move) -> Result<String, ThinkError> {
        self.push(mv);
        self.go_on()
    }

    fn push(&mut self, mv: G::Move) {
        let mut position = self.position().clone();
        self.game.play(&mut position, mv);
        self.thinker.play(mv);
        self.positions.push(position);
        self.moves.push(mv);
    }

    /// Plays until the person has a choice, then draws the board.
    fn go_on(&mut self) -> Result<String, ThinkError> {
        let mut text = String::new();
        while self.game.outcome(self.position()).is_none() {
            let side = self.game.side_to_move(self.position());
            let moves = self.legal_moves();
            let from_book = if side == self.side || moves.len() == 1 { None } else { self.book_move() };
            let mv = match (side == self.side, &moves[..], from_book) {
                (true, [only], _) if self.game.format_move(self.position(), *only) == "pass" => *only,
                (true, ..) => break,
                (false, [only], _) => *only,
                (false, _, Some(mv)) => mv,
                (false, _, None) => self.think()?,
            };
            let mut shown = self.game.format_move(self.position(), mv);
            if from_book.is_some() {
                shown += " (book)";
            }
            let (who, has) = if side == self.side { ("You", "have") } else { (self.name.as_str(), "has") };
            let line = if shown == "pass" { format!("{who} {has} no move: pass") } else { format!("{who}: {shown}") };
            writeln!(text, "{line}\n").ok();
            self.push(mv);
        }
        text += &self.board();
        if let Some(outcome) = self.outcome() {
            text += &self.result(outcome);
        }
        Ok(text)
    }

    fn book_move(&mut self) -> Option<G::Move> {
        let Self { thinker, positions, game, .. } = self;
        thinker.draw_from_book(game, &positions[positions.len() - 1]).map(|found| found.mv)
    }

    fn think(&mut self) -> Result<G::Move, ThinkError> {
        let Self { thinker, limits: bounds, positions, game, .. } = self;
        let deadline = bounds.time.and_then(|time| Instant::now().checked_add(time));
        let usual = || {
            (deadline.is_none() && thinker.options().level().is_none()).then_some(thinker.options().simulations.value)
        };
        let limits = thinker.options().limits(bounds.simulation_count.or_else(usual), deadline);
        Ok(thinker.think(game, &positions[positions.len() - 1], &limits, &mut |_| true)?.mv)
    }

    /// Takes back a result that was agreed on, else the person's last move.
    fn undo(&mut self) -> String {
        if self.agreed.take().is_some() {
            return self.board();
        }
        let own = |count: usize| self.game.side_to_move(&self.positions[count]) == self.side;
        let Some(kept) = (0..self.moves.len()).rev().find(|count| own(*count)) else {
            return "You have not moved yet.\n".to_owned();
        };
        self.moves.truncate(kept);
        self.positions.truncate(kept + 1);
        self.thinker.forget();
        self.board()
    }

    fn hint(&mut self) -> Result<String, ThinkError> {
        let search = self.thinker.advise(&self.game, &self.positions[self.positions.len() - 1], HINT_SIMULATIONS)?;
        let Some(best) = search.move_reports().first().copied() else { return Err(ThinkError::NoMove) };
        let mv = self.game.format_move(self.position(), best.mv);
        let chances = match (best.proof, best.value) {
            (Proof::Win, _) => "it wins".to_owned(),
            (Proof::Loss, _) => "every move loses".to_owned(),
            (Proof::Draw, _) => "it draws".to_owned(),
            (Proof::Unknown, value) => {
                format!("you can expect {:+.2} of -1 to +1", value.unwrap_or_default().rounded(2))
            }
        };
        Ok(format!("{mv} ({chances})\n"))
    }

    /// Returns whether the computer agrees to a draw: it expects no more.
    fn takes_draw(&self) -> bool {
        // The tree is that of the person's position.
        let expects_no_more = |value: f32| value >= 0.0;
        self.moves.len() >= DRAW_PLIES_MIN
            && self
                .thinker
                .search()
                .is_some_and(|search| search.simulation_count() > 0 && expects_no_more(search.root_value().get()))
    }

    fn agree(&mut self, outcome: Outcome) -> String {
        self.agreed = Some(outcome);
        self.result(outcome)
    }

    fn result(&self, outcome: Outcome) -> String {
        let by_rules = self.game.outcome(self.position()).map(|_| self.game.ending(self.position()));
        let how = by_rules.map_or_else(String::new, |ending| format!(" ({ending})"));
        match outcome {
            Outcome::Win(side) if side == self.side => format!("You win{how}. {AFTER_THE_END}"),
            Outcome::Win(_) => format!("{} wins{how}. {AFTER_THE_END}", self.name),
            Outcome::Draw => format!("A draw{how}. {AFTER_THE_END}"),
        }
    }

    fn save(&self, file: &Path) -> String {
        if let Err(error) = G::saved_file(file).check_replaced(file) {
            return format!("{error}\n");
        }
        let text =
            if file.is_file() { fs::read(file).map(notation::decode).unwrap_or_default() } else { String::new() };
        let count = G::saved_count(file, &text);
        if count > 1 {
            return format!("{}: it holds {count} games: choose another name or delete it\n", file.display());
        }
        let mut names = ["person", self.name.as_str()];
        if self.side == Side::Black {
            names.reverse();
        }
        let game = GameToSave { start: &self.positions[0], moves: &self.moves, names, outcome: self.outcome() };
        match fs::write(file, self.game.save(file, &game)) {
            Ok(()) => format!("saved to {}\n", file.display()),
            Err(error) => format!("cannot write {}: {error}\n", file.display()),
        }
    }

    /// Lists the moves in as many columns as the screen has room for.
    fn list_moves(&self) -> String {
        let text = |(number, mv)| format!("{number:>3} {}", self.game.format_move(self.position(), mv));
        let texts: Vec<String> = (1..).zip(self.legal_moves()).map(text).collect();
        let width = texts.iter().map(String::len).max().unwrap_or(0) + 2;
        let mut lines = String::new();
        for row in texts.chunks((self.screen.width / width).max(1)) {
            let row: String = row.iter().map(|text| format!("{text:<width$}")).collect();
            writeln!(lines, "{}", row.trim_end()).ok();
        }
        lines
    }

    fn help(&self) -> String {
        let mut text = format!("{}\n", G::MOVES_ARE);
        for (usage, what) in USAGES {
            writeln!(text, "  {usage:<10} {what}").ok();
        }
        text
    }
}

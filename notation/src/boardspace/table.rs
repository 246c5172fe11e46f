//! The client's table: what a player holds and has laid down, and what stands when `done` comes.

use super::names::{BOARD_SIDE, CommandError, Place, read_name, read_place, read_side};
use super::tree::Property;
use crate::played::{Replay, StatedEnd};
use crate::{Ending, PlayedGame, ReadError};
use shared::game::hive::{Cell, Direction, Move, Piece};
use shared::game::{Outcome, Side};

/// Longest command that is shown in an error.
const SHOWN_LEN_MAX: usize = 64;

/// A game that is being read, command by command.
pub(super) struct Table {
    replay: Replay,
    /// Where the first piece of the game lies.
    origin: Option<Place>,
    hand: Option<Held>,
    pending: Pending,
    end: Option<(Outcome, Ending)>,
}

/// The piece that a player took up.
#[derive(Debug, Clone, Copy)]
struct Held {
    side: Side,
    /// The cell it stood on before the turn, `None` if it was in the hand.
    from: Option<Place>,
}

/// What the next `done` commits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pending {
    Nothing,
    Drop(Piece, Place),
    Pass,
    Resign,
    /// A draw was offered or declined, which is no ply.
    Talk,
    AcceptDraw,
}

impl Table {
    pub(super) const fn new(replay: Replay) -> Self {
        Self { replay, origin: None, hand: None, pending: Pending::Nothing, end: None }
    }

    /// Does what a property of a node tells, nothing if it is no command.
    pub(super) fn execute(&mut self, node: u32, property: &Property) -> Result<(), ReadError> {
        let player = match property.key.as_str() {
            "P0" => Side::White,
            "P1" => Side::Black,
            _ => return Ok(()),
        };
        let mut words: Vec<&str> = property.value.split_whitespace().collect();
        if words.first().is_some_and(|word| word.parse::<u32>().is_ok()) {
            words.remove(0);
        }
        let Some((command, arguments)) = words.split_first() else { return Ok(()) };
        let commits = self.prepare(player, &command.to_ascii_lowercase(), arguments).map_err(|error| {
            let shown: String = property.value.chars().take(SHOWN_LEN_MAX).collect();
            ReadError::Tree { node, reason: format!("{shown:?}: {error}") }
        })?;
        if commits { self.commit(player) } else { Ok(()) }
    }

    /// Returns the game as far as it was committed.
    pub(super) fn finish(self, stated: Option<Outcome>) -> PlayedGame {
        self.replay.finish(StatedEnd { end: self.end, stated })
    }

    /// Changes what is held or pending. Returns whether the command commits it.
    fn prepare(&mut self, player: Side, command: &str, arguments: &[&str]) -> Result<bool, CommandError> {
        match (command, arguments) {
            ("start" | "time" | "id" | "ranking", _) => {}
            ("done", []) => return Ok(true),
            ("pick", [side, _slot, _piece]) => self.take(Held { side: read_side(side)?, from: None }),
            ("pickb", [column, row, _piece]) => self.pick_up(player, read_place(column, row)?),
            ("dropb" | "pdropb", [piece, column, row, ..]) => {
                let side = self.hand.map_or(player, |held| held.side);
                self.lay_down(side, piece, read_place(column, row)?)?;
            }
            ("move" | "pmove" | "movedone" | "pmovedone", [side, piece, column, row, ..]) => {
                self.hand = None;
                self.lay_down(read_side(side)?, piece, read_place(column, row)?)?;
                return Ok(command.ends_with("done"));
            }
            ("drop", _) | ("reset", []) => self.put_aside(Pending::Nothing),
            ("pass", []) => self.put_aside(Pending::Pass),
            ("passdone", []) => {
                self.put_aside(Pending::Pass);
                return Ok(true);
            }
            ("resign", []) if self.pending == Pending::Resign => self.put_aside(Pending::Nothing),
            ("resign", []) => self.put_aside(Pending::Resign),
            ("offerdraw" | "declinedraw", []) => self.put_aside(Pending::Talk),
            ("acceptdraw", []) => self.put_aside(Pending::AcceptDraw),
            _ => return Err(CommandError::Unknown),
        }
        Ok(false)
    }

    fn take(&mut self, held: Held) {
        self.hand = Some(held);
        self.pending = Pending::Nothing;
    }

    fn put_aside(&mut self, pending: Pending) {
        self.hand = None;
        self.pending = pending;
    }

    /// Takes up the piece on a cell: the one just laid there, else the top one.
    fn pick_up(&mut self, player: Side, place: Place) {
        if let (Pending::Drop(piece, laid_at), from) = (self.pending, self.hand.and_then(|held| held.from))
            && laid_at == place
        {
            return self.take(Held { side: piece.side(), from });
        }
        let top = self.cell_at(place).and_then(|cell| self.replay.position().top(cell));
        self.take(Held { side: top.map_or(player, Piece::side), from: Some(place) });
    }

    /// Lays a piece on a cell; back on the cell it came from, nothing has happened.
    fn lay_down(&mut self, side: Side, name: &str, place: Place) -> Result<(), CommandError> {
        let piece = read_name(name)?.piece(side).ok_or_else(|| CommandError::NoPiece(name.to_owned()))?;
        let is_back = self.hand.is_some_and(|held| held.from == Some(place));
        self.pending = if is_back { Pending::Nothing } else { Pending::Drop(piece, place) };
        Ok(())
    }

    fn commit(&mut self, player: Side) -> Result<(), ReadError> {
        self.hand = None;
        let pending = std::mem::replace(&mut self.pending, Pending::Nothing);
        match pending {
            Pending::Drop(piece, place) => {
                self.await_turn(player)?;
                let mv = self.locate(piece, place)?;
                self.play(mv)
            }
            Pending::Pass => {
                self.await_turn(player)?;
                self.play(Move::PASS)
            }
            // Also confirms a repetition or an answer: it is a pass only of one who has nothing else.
            Pending::Nothing if self.is_turn_of(player) && self.end.is_none() && self.replay.must_pass() => {
                self.play(Move::PASS)
            }
            Pending::Resign => {
                self.end.get_or_insert((Outcome::Win(player.opponent()), Ending::Resignation));
                Ok(())
            }
            Pending::AcceptDraw => {
                self.end.get_or_insert((Outcome::Draw, Ending::DrawAgreed));
                Ok(())
            }
            Pending::Nothing | Pending::Talk => Ok(()),
        }
    }

    fn play(&mut self, mv: Move) -> Result<(), ReadError> {
        match self.end {
            Some(_) => Err(self.illegal("the game is over")),
            None => self.replay.play(mv),
        }
    }

    fn is_turn_of(&self, player: Side) -> bool {
        self.replay.position().side_to_move() == player
    }

    /// Puts in a pass that was not written, if only that makes it the player's turn.
    fn await_turn(&mut self, player: Side) -> Result<(), ReadError> {
        if self.is_turn_of(player) {
            Ok(())
        } else if self.end.is_none() && self.replay.must_pass() {
            self.replay.insert_pass()
        } else {
            Err(self.illegal("it is the other side's turn"))
        }
    }

    fn locate(&mut self, piece: Piece, place: Place) -> Result<Move, ReadError> {
        self.origin.get_or_insert(place);
        match self.cell_at(place) {
            Some(cell) => Ok(Move::new(piece, cell)),
            None => Err(self.illegal("the cell does not touch the hive")),
        }
    }

    /// Returns the cell at a place of the client's torus, which lies on or beside the hive (or is the first).
    fn cell_at(&self, place: Place) -> Option<Cell> {
        let origin = self.origin?;
        let (q, r) = (place.column - origin.column, origin.row - place.row);
        let turns = [0, -BOARD_SIDE, BOARD_SIDE];
        let mut cells = turns.into_iter().flat_map(|dq| turns.map(|dr| (q + dq, r + dr))).map(|(q, r)| {
            let middle = Cell::ORIGIN;
            Cell::from_axial(i32::from(middle.q()) + q, i32::from(middle.r()) + r)
        });
        let position = self.replay.position();
        if position.ply() == 0 {
            return cells.next();
        }
        let is_near =
            |cell: Cell| Direction::ALL.into_iter().any(|direction| position.height(cell.neighbour(direction)) > 0);
        cells.find(|cell| position.height(*cell) > 0 || is_near(*cell))
    }

    fn illegal(&self, reason: &str) -> ReadError {
        ReadError::Illegal { ply: self.replay.next_ply(), reason: reason.to_owned() }
    }
}

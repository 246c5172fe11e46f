//! Hive, drawn: hexagons that stand on a corner, stacks with their height, the pieces in hand.

use std::collections::BTreeMap;

use shared::game::Side;
use shared::game::hive::{Cell, Direction, Move, Piece, PieceKind, Position};

use super::View;
use super::canvas::{Canvas, Ink};

/// Letters from a hexagon to the next in its row; the row below is shifted by half of it.
const HEXAGON_WIDTH: i32 = 4;
/// Colour of the edges.
const EDGE: u8 = 244;
/// Colours behind the pieces of White and Black.
const GROUNDS: [u8; 2] = [255, 235];
/// Heights above a hexagon; a stack has at most seven pieces.
const HEIGHTS: [&str; 8] = ["", "", "²", "³", "⁴", "⁵", "⁶", "⁷"];

/// Returns the board and the pieces in hand.
#[must_use]
pub fn draw_hive(position: &Position, view: View<Move>) -> String {
    let mut text = draw_hexagons(position, view);
    for stack in stacks(position) {
        text += &format!("stack, from the top: {}\n", stack.join(", "));
    }
    for side in [Side::Black, Side::White] {
        text += &format!("{side:?} has in hand: {}\n", hand(position, side));
    }
    text
}

/// Returns the occupied cells with coordinates that do not wrap around.
fn unwrapped(position: &Position) -> BTreeMap<(i32, i32), Cell> {
    let occupied = position.occupied();
    let mut found = BTreeMap::new();
    let mut open: Vec<((i32, i32), Cell)> = occupied.iter().take(1).map(|cell| ((0, 0), cell)).collect();
    while let Some(((q, r), cell)) = open.pop() {
        if found.insert((q, r), cell).is_some() {
            continue;
        }
        for direction in Direction::ALL {
            let (next, (step_q, step_r)) = (cell.neighbour(direction), direction.step());
            let place = (q + i32::from(step_q), r + i32::from(step_r));
            if occupied.contains(next) && !found.contains_key(&place) {
                open.push((place, next));
            }
        }
    }
    found
}

/// Each row of hexagons takes two lines: one for the edges above it, which are those below the row before, and one for
/// the pieces.
fn draw_hexagons(position: &Position, view: View<Move>) -> String {
    let cells = unwrapped(position);
    let column = |q: i32, r: i32| HEXAGON_WIDTH * q + HEXAGON_WIDTH / 2 * r;
    let left = cells.keys().map(|(q, r)| column(*q, *r)).min().unwrap_or(0);
    let top = cells.keys().map(|(_, r)| *r).min().unwrap_or(0);
    let mut canvas = Canvas::default();
    for ((q, r), cell) in &cells {
        let (row, column) = (2 * (r - top) as usize, 2 + (column(*q, *r) - left) as usize);
        let edge = Ink::letter(EDGE);
        for (down, right, letter) in [(0, 1, "╱"), (0, 3, "╲"), (1, 0, "│"), (1, 4, "│"), (2, 1, "╲"), (2, 3, "╱")]
        {
            canvas.write(row + down, column + right, letter, edge);
        }
        if let Some(piece) = position.top(*cell) {
            let is_last = view.last.is_some_and(|mv| mv.piece() == Some(piece));
            canvas.write(row + 1, column + 1, &format!("{:<3}", piece.to_string()), piece_ink(piece, is_last));
        }
        let height = usize::from(position.height(*cell));
        let mark = HEIGHTS.get(height).copied().unwrap_or("+");
        canvas.write(row, column + 2, mark, Ink { is_bold: true, ..Ink::default() });
    }
    canvas.render(view.has_colours)
}

/// Kinds have the colours of their stickers, darker on White's pieces.
const fn piece_ink(piece: Piece, is_last: bool) -> Ink {
    let side = piece.side().index();
    let letters = match piece.kind() {
        PieceKind::Queen => [130, 220],
        PieceKind::Beetle => [90, 177],
        PieceKind::Spider => [94, 173],
        PieceKind::Grasshopper => [28, 77],
        PieceKind::Ant => [25, 75],
        PieceKind::Ladybug => [124, 203],
        PieceKind::Mosquito => [240, 250],
        PieceKind::Pillbug => [30, 80],
    };
    Ink { letter: Some(letters[side]), ground: Some(GROUNDS[side]), is_bold: is_last, is_underlined: is_last }
}

/// Returns the stacks of two and more, each from its top down.
fn stacks(position: &Position) -> Vec<Vec<String>> {
    let cells = unwrapped(position);
    let mut rows: Vec<((i32, i32), Cell)> = cells.into_iter().collect();
    rows.sort_by_key(|((q, r), _)| (*r, *q));
    let stack = |cell: Cell| {
        let mut pieces: Vec<(u8, String)> =
            position.stack(cell).map(|piece| (position.level_of(piece), piece.to_string())).collect();
        pieces.sort_by_key(|(level, _)| std::cmp::Reverse(*level));
        pieces.into_iter().map(|(_, text)| text).collect()
    };
    rows.into_iter().filter(|(_, cell)| position.height(*cell) > 1).map(|(_, cell)| stack(cell)).collect()
}

fn hand(position: &Position, side: Side) -> String {
    let mut counts: Vec<(char, usize)> = vec![];
    for piece in position.pieces_in_hand(side) {
        let letter = piece.kind().letter();
        match counts.iter_mut().find(|(known, _)| *known == letter) {
            Some((_, count)) => *count += 1,
            None => counts.push((letter, 1)),
        }
    }
    if counts.is_empty() {
        return "nothing".to_owned();
    }
    let text =
        |(letter, count): (char, usize)| if count == 1 { letter.to_string() } else { format!("{count} {letter}") };
    counts.into_iter().map(text).collect::<Vec<_>>().join(", ")
}

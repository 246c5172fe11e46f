//! Which pieces are on the board, and where each position with them stands in their table.

use std::fmt;
use std::str::FromStr;

use shared::game::Side;
use shared::game::dama::Board;

use crate::index::{rank, set_count, unrank};

/// Most pieces that a table can have, of both sides together.
pub const PIECE_COUNT_MAX: u8 = 6;
/// Most pieces of one side: the other has one.
const SIDE_COUNT_MAX: u8 = PIECE_COUNT_MAX - 1;
/// Where men of White and Black stand: on the last row they are kings.
const MEN_SQUARES: [u32; 2] = [0xffff_fff0, 0x0fff_ffff];

/// The pieces of one side, 1..=5. The order has no meaning but that it is always the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Material {
    /// Its kings.
    pub kings: u8,
    /// Its men.
    pub men: u8,
}

/// The pieces of both sides. One table holds all positions with them: `first` is White there, and the board is turned
/// where it is Black.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Class {
    first: Material,
    second: Material,
}

/// A text is not the name of a class.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} are no pieces of a table: write KKMvK, at least as much before the v as behind it, at most 6 in all")]
pub struct ClassError(String);

/// Men of White and Black, the same in all positions that quiet moves connect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Men {
    /// White's.
    pub white: u32,
    /// Black's.
    pub black: u32,
}

impl Material {
    const fn of(board: &Board, side: Side) -> Self {
        Self { kings: board.kings(side).count_ones() as u8, men: board.men(side).count_ones() as u8 }
    }

    const fn count(self) -> u8 {
        self.kings + self.men
    }
}

impl Class {
    /// Number of [`Self::slot`]s.
    pub const SLOT_COUNT: usize = 6 * 6 * 6 * 6;

    /// Makes a class of the pieces of two sides, in either order. `None` if a side has none, or both have more than 6.
    #[must_use]
    pub fn new(one: Material, other: Material) -> Option<Self> {
        let counts = [one, other].map(|it| it.kings.saturating_add(it.men));
        let is_possible = counts.iter().all(|count| (1..=SIDE_COUNT_MAX).contains(count));
        let sum = counts[0].saturating_add(counts[1]);
        (is_possible && sum <= PIECE_COUNT_MAX).then(|| Self { first: one.max(other), second: one.min(other) })
    }

    /// Returns the class of a position, and the position as it stands in its table: turned if need be. `None` if it has too
    /// many pieces, or a side has none.
    #[must_use]
    #[inline]
    pub fn of(board: &Board, side: Side) -> Option<(Self, Board, Side)> {
        if board.empty().count_ones() < 32 - u32::from(PIECE_COUNT_MAX) {
            return None;
        }
        let (white, black) = (Material::of(board, Side::White), Material::of(board, Side::Black));
        if white.count() == 0 || black.count() == 0 {
            return None;
        }
        let is_turned = white < black || (white == black && side == Side::Black);
        Some(if is_turned {
            (Self { first: black, second: white }, board.turned(), side.opponent())
        } else {
            (Self { first: white, second: black }, *board, side)
        })
    }

    /// Returns the pieces of the side that is White in the table.
    #[must_use]
    pub const fn first(self) -> Material {
        self.first
    }

    /// Returns the pieces of the other side.
    #[must_use]
    pub const fn second(self) -> Material {
        self.second
    }

    /// Returns the number of pieces of both sides.
    #[must_use]
    pub const fn piece_count(self) -> u8 {
        self.first.count() + self.second.count()
    }

    /// Returns the number of men of both sides.
    #[must_use]
    pub const fn man_count(self) -> u8 {
        self.first.men + self.second.men
    }

    /// Returns a number for each class, below [`Self::SLOT_COUNT`].
    #[must_use]
    #[inline]
    pub const fn slot(self) -> usize {
        let numbers = [self.first.kings, self.first.men, self.second.kings, self.second.men];
        let [a, b, c, d] = numbers;
        ((a as usize * 6 + b as usize) * 6 + c as usize) * 6 + d as usize
    }

    /// Returns whether both sides have the same pieces: the table then has the positions with White to move alone.
    #[must_use]
    pub fn is_symmetric(self) -> bool {
        self.first == self.second
    }

    /// Returns the sides that are to move in the table.
    pub(crate) fn sides(self) -> &'static [Side] {
        if self.is_symmetric() { &[Side::White] } else { &[Side::White, Side::Black] }
    }

    /// Returns the bytes of the table, one a position; some stand for men on top of each other, which is impossible.
    #[must_use]
    pub fn byte_count(self) -> usize {
        self.half() * self.sides().len()
    }

    /// Returns the number of positions in the table.
    #[must_use]
    pub fn position_count(self) -> u64 {
        (self.all_men().len() * self.kings_count() * self.sides().len()) as u64
    }

    /// Returns the bytes of the positions with the same side to move.
    pub(crate) fn half(self) -> usize {
        let count = |side: usize, material: Material| set_count(MEN_SQUARES[side], material.men);
        count(0, self.first) * count(1, self.second) * self.kings_count()
    }

    /// Returns in how many ways the kings can stand beside the same men.
    pub(crate) fn kings_count(self) -> usize {
        set_count(u32::MAX >> self.man_count(), self.first.kings) * self.black_kings_count()
    }

    /// Returns in how many ways Black's kings can stand beside the same other pieces.
    const fn black_kings_count(self) -> usize {
        set_count(u32::MAX >> (self.man_count() + self.first.kings), self.second.kings)
    }

    /// Returns the number of men that stand so, one below the other: the table of a side is one stretch for each.
    #[inline]
    pub(crate) fn men_index(self, men: Men) -> usize {
        rank(men.white, MEN_SQUARES[0]) * set_count(MEN_SQUARES[1], self.second.men) + rank(men.black, MEN_SQUARES[1])
    }

    /// Returns which way of the kings to stand this is.
    #[inline]
    pub(crate) fn kings_index(self, men: Men, white: u32, black: u32) -> usize {
        let free = !(men.white | men.black);
        rank(white, free) * self.black_kings_count() + rank(black, free & !white)
    }

    /// Returns where a position stands in the table; it is as [`Self::of`] gives it.
    #[must_use]
    #[inline]
    pub fn index(self, board: &Board, side: Side) -> usize {
        let men = Men { white: board.men(Side::White), black: board.men(Side::Black) };
        let within = self.men_index(men) * self.kings_count()
            + self.kings_index(men, board.kings(Side::White), board.kings(Side::Black));
        within + if side == Side::White { 0 } else { self.half() }
    }

    /// Returns the position that stands at this place; `None` where there is none.
    #[must_use]
    pub fn position(self, index: usize) -> Option<(Board, Side)> {
        let (side, within) =
            if index < self.half() { (Side::White, index) } else { (Side::Black, index - self.half()) };
        let (men, kings) = (within / self.kings_count(), within % self.kings_count());
        let black_men_count = set_count(MEN_SQUARES[1], self.second.men);
        let white_men = unrank(men / black_men_count, self.first.men, MEN_SQUARES[0]);
        let black_men = unrank(men % black_men_count, self.second.men, MEN_SQUARES[1]);
        if white_men & black_men != 0 || index >= self.byte_count() {
            return None;
        }
        let free = !(white_men | black_men);
        let per_white = self.black_kings_count();
        let white_kings = unrank(kings / per_white, self.first.kings, free);
        let black_kings = unrank(kings % per_white, self.second.kings, free & !white_kings);
        let board = Board::new(white_men | white_kings, black_men | black_kings, white_kings | black_kings);
        board.ok().map(|board| (board, side))
    }

    /// Returns every way of the men to stand, in no particular order.
    pub(crate) fn all_men(self) -> Vec<Men> {
        let mut all = vec![];
        crate::index::each_set(self.first.men, MEN_SQUARES[0], |white| {
            crate::index::each_set(self.second.men, MEN_SQUARES[1], |black| {
                if white & black == 0 {
                    all.push(Men { white, black });
                }
            });
        });
        all
    }
}

impl Men {
    /// Returns the board turned, with the colours changed.
    pub const fn turned(self) -> Self {
        Self { white: self.black.reverse_bits(), black: self.white.reverse_bits() }
    }

    /// Returns by how many rows the men have gone forward: any move of one makes it more.
    pub fn advance(self) -> u32 {
        let rows = |set: u32| (0..8).map(|row| row * (set >> (4 * row) & 0xf).count_ones()).sum::<u32>();
        7 * self.white.count_ones() - rows(self.white) + rows(self.black)
    }
}

/// Returns all classes of so many pieces, in an order in which captures and promotions lead to earlier ones.
#[must_use]
pub fn classes_of(piece_count: u8) -> Vec<Class> {
    let materials = |count: u8| (0..=count).map(move |men| Material { kings: count - men, men });
    let mut classes: Vec<Class> = (1..piece_count)
        .flat_map(|count| materials(count).flat_map(move |one| materials(piece_count - count).map(move |it| (one, it))))
        .filter_map(|(one, other)| Class::new(one, other))
        .collect();
    classes.sort_by_key(|class| (class.man_count(), *class));
    classes.dedup();
    classes
}

impl fmt::Display for Material {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (0..self.kings).try_for_each(|_| f.write_str("K"))?;
        (0..self.men).try_for_each(|_| f.write_str("M"))
    }
}

/// Kings and men of both sides: `KKMvKM`.
impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}v{}", self.first, self.second)
    }
}

impl FromStr for Class {
    type Err = ClassError;

    fn from_str(text: &str) -> Result<Self, ClassError> {
        let material = |text: &str| {
            let kings = text.bytes().take_while(|letter| *letter == b'K').count();
            let men = text.len() - kings;
            let is_possible =
                text.len() <= usize::from(SIDE_COUNT_MAX) && text.bytes().skip(kings).all(|it| it == b'M');
            is_possible.then_some(Material { kings: kings as u8, men: men as u8 })
        };
        let sides = text.split_once('v').and_then(|(first, second)| Some((material(first)?, material(second)?)));
        let class = sides.and_then(|(first, second)| Class::new(first, second).filter(|class| class.first == first));
        class.ok_or_else(|| ClassError(text.chars().take(20).collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_place_of_a_table_is_one_position() {
        for class in (2..=3).flat_map(classes_of).chain(classes_of(4).into_iter().skip(8).step_by(7)) {
            let mut count = 0;
            for index in (0..class.byte_count()).step_by(if class.piece_count() > 3 { 101 } else { 1 }) {
                let Some((board, side)) = class.position(index) else { continue };
                count += 1;
                assert_eq!(Class::of(&board, side), Some((class, board, side)), "{class} {index}");
                assert_eq!(class.index(&board, side), index, "{class} {board:?}");
                let turned = Class::of(&board.turned(), side.opponent());
                assert_eq!(turned.map(|(class, board, side)| class.index(&board, side)), Some(index));
            }
            assert!(count > 0, "{class}");
            if class.piece_count() <= 3 {
                assert_eq!(class.position_count(), count, "{class}");
            }
        }
    }

    #[test]
    fn classes_follow_what_their_moves_lead_to() {
        let classes: Vec<Class> = (2..=6).flat_map(classes_of).collect();
        let place = |class: Class| classes.iter().position(|other| *other == class);
        for class in &classes {
            let Material { kings, men } = class.first;
            if men > 0 {
                let promoted = Class::new(Material { kings: kings + 1, men: men - 1 }, class.second);
                assert!(promoted.and_then(place) < place(*class), "{class}");
            }
        }
        let bytes = |count| classes_of(count).into_iter().map(Class::byte_count).sum::<usize>();
        assert_eq!([2, 3, 4, 5, 6].map(|count| classes_of(count).len()), [3, 6, 14, 22, 37]);
        assert_eq!([2, 3, 4, 5].map(bytes), [3_512, 198_768, 6_360_312, 144_823_784]);
    }

    #[test]
    fn names_are_read_as_they_are_written() {
        for class in (2..=6).flat_map(classes_of) {
            assert_eq!(class.to_string().parse(), Ok(class));
        }
        for text in ["", "KvKK", "Kv", "vK", "MKvK", "KKKKKvKK", "KKKKKKvK", "kvk", "K", "KvKv"] {
            assert!(text.parse::<Class>().is_err(), "{text}");
        }
    }
}

//! How a game is shown to a network and how its moves are numbered.
//!
//! One contract, [`Encoding`], and the ragged batch of positions that a network reads, [`NetworkInput`], whose planes are
//! [`SparsePlanes`].
//! Nothing here evaluates anything.

pub mod dama;
pub mod hive;
mod input;
mod outlook;
mod planes;
pub mod tictactoe;

use crate::game::{Game, Heuristic, Side};

pub use input::{NetworkInput, TrainingBatch};
pub use outlook::{ENDING_COUNT_MAX, Ending, Outlook, OutlookTargets};
pub use planes::SparsePlanes;

/// Shape of the input planes of one position: C x H x W.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct PlaneShape {
    /// Number of planes, C.
    pub planes: usize,
    /// Rows, H.
    pub rows: usize,
    /// Columns, W.
    pub columns: usize,
}

impl PlaneShape {
    /// Returns C x H x W, the number of f32 a position takes.
    #[must_use]
    pub const fn len(self) -> usize {
        self.planes * self.rows * self.columns
    }

    /// Returns whether a position takes no numbers at all.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.len() == 0
    }
}

/// The cells of the planes that a move touches: what a spatial policy head reads. Cells are `row * W + column`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MoveCells {
    /// Touches nothing inside the frame (a pass, a cell outside): its logit is 0.
    Nothing,
    /// A new piece of kind `kind` (0-based, below `Encoding::placement_kinds`) comes to `target`.
    Placement {
        /// Kind of the piece placed.
        kind: u8,
        /// Cell it comes to.
        target: u16,
    },
    /// The piece on `source` goes to `target`.
    Movement {
        /// Cell the piece leaves.
        source: u16,
        /// Cell the piece comes to.
        target: u16,
    },
}

/// Which cells of the planes touch each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Neighbourhood {
    /// The eight cells around a square.
    Square,
    /// The six around a hexagon: column and row are axial coordinates.
    Hexagon,
    /// The four at the corners of a square: the next squares of the same colour.
    Diagonal,
}

impl Neighbourhood {
    /// Returns (rows down, columns right) to each neighbour.
    #[must_use]
    pub const fn offsets(self) -> &'static [(i8, i8)] {
        match self {
            Self::Square => &[(-1, -1), (-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0), (1, 1)],
            Self::Hexagon => &[(-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0)],
            Self::Diagonal => &[(-1, -1), (-1, 1), (1, -1), (1, 1)],
        }
    }
}

/// One of the symmetries of a game; 0 is the identity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Symmetry(pub u8);

/// Why packed bytes are not a position, or an index not a move of it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// The packed form is cut off, too long, or contradicts itself.
    #[error("packed position of {byte_count} bytes: {reason}")]
    Position {
        /// Length of what was read.
        byte_count: usize,
        /// What is wrong with it.
        reason: String,
    },
    /// The policy index names no move that could exist in the position.
    #[error("policy index {policy_index}: {reason}")]
    PolicyIndex {
        /// The index that was read.
        policy_index: u16,
        /// What is wrong with it.
        reason: String,
    },
}

/// How one game is shown to a network. Everything is seen from the side to move.
///
/// ```
/// use shared::encoding::Encoding;
/// use shared::encoding::hive::HiveEncoding;
/// use shared::game::Game;
/// use shared::game::hive::{Hive, HiveRules};
///
/// let encoding = HiveEncoding::new(Hive::new(HiveRules::default()), 16);
/// let mut position = encoding.game().initial_position();
///
/// // What the network reads.
/// let mut planes = vec![0.0; encoding.plane_shape().len()];
/// encoding.encode(&position, &mut planes);
/// assert_eq!(planes.len(), 24 * 16 * 16);
///
/// // Where its output stands for the legal moves.
/// let (mut moves, mut policy_indices) = (vec![], vec![]);
/// encoding.game().legal_moves(&position, &mut moves);
/// encoding.policy_indices(&position, &moves, &mut policy_indices);
/// assert_eq!(policy_indices.len(), moves.len());
///
/// // What crosses the network, and is stored.
/// let mut packed = vec![];
/// encoding.pack(&position, &mut packed);
/// encoding.unpack(&packed, &mut position)?;
/// # Ok::<(), shared::encoding::DecodeError>(())
/// ```
pub trait Encoding: Clone + Send + Sync + 'static {
    /// The game that is shown.
    type Game: Heuristic;

    /// Returns the rules this encoding goes with.
    fn game(&self) -> &Self::Game;
    /// Returns the shape of the input planes, at most 65,536 numbers.
    fn plane_shape(&self) -> PlaneShape;
    /// Returns A, the number of policy indices, at most 65,535.
    fn policy_size(&self) -> usize;
    /// Returns whether different legal moves always have different policy indices. Where they have not, visits of moves
    /// that share an index are learned as one number, and its share goes to them in equal parts.
    fn is_one_to_one(&self) -> bool {
        true
    }
    /// Returns the number of kinds a [`MoveCells::Placement`] may name.
    fn placement_kinds(&self) -> usize;
    /// Returns how many planes at the end hold one number each, the same in every cell: a network may read them as
    /// numbers beside the board.
    fn feature_count(&self) -> usize {
        0
    }
    /// Returns the planes that hold one number each, the same in every cell, rising; those of [`Self::feature_count`] are
    /// among them.
    fn uniform_planes(&self) -> &'static [u8] {
        &[]
    }
    /// Returns the number of symmetries, the identity included.
    fn symmetry_count(&self) -> u8;
    /// Returns which cells touch each other.
    fn neighbourhood(&self) -> Neighbourhood {
        Neighbourhood::Square
    }
    /// Appends the cells of the planes in which anything can be or happen, `row * W + column`, rising: every cell that
    /// a legal move touches and every cell whose planes say more than "empty" is among them. All cells, unless a game
    /// knows better.
    fn active_cells(&self, _position: &Pos<Self>, cells: &mut Vec<u16>) {
        let PlaneShape { rows, columns, .. } = self.plane_shape();
        cells.extend((0..rows * columns).map(|cell| cell as u16));
    }

    /// Appends the planes of `position` to `planes`, whose uniform planes are those of this encoding.
    fn show(&self, position: &Pos<Self>, planes: &mut SparsePlanes);
    /// Appends all that a network reads of `position` with the moves that `policy_indices` name: what [`Self::move_cells`],
    /// [`Self::show`] and [`Self::active_cells`] append, to `cells`, `planes` and `active_cells` of `input`. A game for
    /// which these have work in common does it once here.
    ///
    /// # Errors
    /// As [`Self::move_cells`]; nothing but `input.cells` has changed then.
    fn lay_out(
        &self,
        position: &Pos<Self>,
        policy_indices: &[u16],
        input: &mut NetworkInput,
    ) -> Result<(), DecodeError> {
        self.move_cells(position, policy_indices, &mut input.cells)?;
        self.show(position, &mut input.planes);
        self.active_cells(position, &mut input.active_cells);
        Ok(())
    }
    /// Writes the planes in full, f32 [C, H, W], into `planes` (`plane_shape().len()` numbers, whatever they held before):
    /// for tests and files. What is computed is made of [`Self::show`].
    fn encode(&self, position: &Pos<Self>, planes: &mut [f32]) {
        let mut shown = SparsePlanes { uniform_planes: self.uniform_planes(), ..SparsePlanes::default() };
        self.show(position, &mut shown);
        shown.write(0, self.plane_shape(), planes);
    }
    /// Appends the policy index of each of `moves` (legal in `position`), in their order. One-to-one on legal moves,
    /// unless [`Self::is_one_to_one`] says otherwise.
    fn policy_indices(&self, position: &Pos<Self>, moves: &[Mv<Self>], policy_indices: &mut Vec<u16>);
    /// Appends the cells of the planes that each policy index touches in `position`.
    ///
    /// # Errors
    /// [`DecodeError::PolicyIndex`] for an index that is out of range or names pieces that are not there. Never panics.
    fn move_cells(
        &self,
        position: &Pos<Self>,
        policy_indices: &[u16],
        cells: &mut Vec<MoveCells>,
    ) -> Result<(), DecodeError>;

    /// Returns `position` turned or mirrored. History is not kept.
    fn transform(&self, position: &Pos<Self>, symmetry: Symmetry) -> Pos<Self>;
    /// Returns what `mv` of `position` is called in `transform(position, symmetry)`.
    fn transform_move(&self, position: &Pos<Self>, symmetry: Symmetry, mv: Mv<Self>) -> Mv<Self>;

    /// Returns what each number of [`Self::ending`] is at most, above 0: none, unless a game knows any.
    fn ending_scales(&self) -> &'static [u8] {
        &[]
    }
    /// Returns what is counted in the last position of a game, as `side` sees it: as many numbers as
    /// [`Self::ending_scales`], then zeros.
    fn ending(&self, _last: &Pos<Self>, _side: Side) -> [u8; ENDING_COUNT_MAX] {
        [0; ENDING_COUNT_MAX]
    }
    /// Returns which piece on the board `mv` moves in `position`, below 32; `None` for a placement, a pass, and where
    /// pieces have no names.
    fn moved_piece(&self, _position: &Pos<Self>, _mv: Mv<Self>) -> Option<u8> {
        None
    }
    /// Appends the pieces that lie on top of the board, by the numbers of [`Self::moved_piece`], each with its cell of
    /// the planes; those outside the planes are left out.
    fn put_pieces(&self, _position: &Pos<Self>, _pieces: &mut Vec<(u8, u16)>) {}

    /// Appends the packed form: everything that planes and legal moves depend on, without the history.
    /// Equal bytes give equal planes and equal moves in equal order.
    fn pack(&self, position: &Pos<Self>, bytes: &mut Vec<u8>);
    /// Reads a packed position into `position`, whose memory is reused.
    ///
    /// # Errors
    /// [`DecodeError::Position`] if `bytes` is not exactly one packed position. Never panics.
    fn unpack(&self, bytes: &[u8], position: &mut Pos<Self>) -> Result<(), DecodeError>;
}

/// The positions of an encoding's game.
pub type Pos<E> = <<E as Encoding>::Game as Game>::Position;
/// The moves of an encoding's game.
pub type Mv<E> = <<E as Encoding>::Game as Game>::Move;

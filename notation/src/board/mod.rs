//! Boards drawn with letters, for terminals and notebooks.

mod canvas;
mod dama;
mod hive;

use shared::game::Side;

pub use dama::draw_dama;
pub use hive::draw_hive;

/// How a board is seen.
#[derive(Debug, Clone, Copy)]
pub struct View<M> {
    /// The move that led to it.
    pub last: Option<M>,
    /// Who sits below, if the board has an above and a below.
    pub bottom: Side,
    /// Whether it may have colours.
    pub has_colours: bool,
}

impl<M> View<M> {
    /// Returns the view without colours, from White's side, with no move marked.
    #[must_use]
    pub const fn plain() -> Self {
        Self { last: None, bottom: Side::White, has_colours: false }
    }
}

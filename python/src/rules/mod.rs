//! Games and positions, as Python sees them.

mod game;
mod position;

pub use game::Game;
pub use position::Position;

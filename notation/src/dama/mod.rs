//! How other programs write positions and games of Italian draughts. Moves and FEN lie beside the rules, in
//! `shared::game::dama`.

pub mod hub;
pub mod hub_level;
pub mod hub_line;
pub mod pdn;

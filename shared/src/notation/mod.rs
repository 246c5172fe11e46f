//! How people and other programs write moves and games.

pub mod uhp;

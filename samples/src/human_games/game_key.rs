//! The key by which games are split: equal for games with the same moves, rotated and mirrored ones included.

use notation::PlayedGame;
use shared::encoding::Symmetry;
use shared::encoding::{Encoding, hive::HiveEncoding};
use shared::game::Game;
use shared::game::hive::{Move, Piece};
use shared::seed::mix_seed;

/// Returns a number that is equal for games with the same moves, however their pieces are numbered, and whether they
/// are rotated or mirrored.
#[must_use]
pub fn game_key(encoding: &HiveEncoding, game: &PlayedGame) -> u64 {
    let transformed = (0..encoding.symmetry_count()).map(|symmetry| key_of(encoding, game, Symmetry(symmetry)));
    transformed.min().unwrap_or(0)
}

fn key_of(encoding: &HiveEncoding, game: &PlayedGame, symmetry: Symmetry) -> u64 {
    let start = encoding.game().initial_position();
    let mut numbers = Numbers::default();
    game.moves.iter().fold(0, |key, &mv| {
        let mv = encoding.transform_move(&start, symmetry, mv);
        let piece = mv.piece().map_or(0, |piece| 1 + numbers.number(piece));
        mix_seed(key, (piece << 16) | cell_of(mv))
    })
}

fn cell_of(mv: Move) -> u64 {
    mv.target().index() as u64
}

/// Numbers equal pieces in the order in which they come into play.
#[derive(Default)]
struct Numbers {
    given: [Option<u8>; Piece::COUNT],
    next: [u8; 16],
}

impl Numbers {
    fn number(&mut self, piece: Piece) -> u64 {
        let group = piece.side().index() * 8 + piece.kind() as usize;
        let next = &mut self.next[group];
        let number = *self.given[piece.index()].get_or_insert_with(|| {
            *next += 1;
            *next
        });
        (group as u64) << 8 | u64::from(number)
    }
}

//! What positions are called in a book: equal ones alike, and those that a symmetry of the board makes equal.

use shared::encoding::{Encoding, Mv, Pos, Symmetry};
use shared::game::Game;
use xxhash_rust::xxh3::Xxh3;

/// Plies from the start whose moves are in [`rules_key`].
const RULES_PLIES: usize = 10;

/// Returns the least hash of `position` in all symmetries of the game: by pieces and side to move, as repetitions are found.
/// Colours are not swapped.
pub fn position_key<E: Encoding>(encoding: &E, position: &Pos<E>) -> u64 {
    let hash = |symmetry| encoding.game().hash(&encoding.transform(position, Symmetry(symmetry)));
    (1..encoding.symmetry_count()).map(hash).fold(encoding.game().hash(position), u64::min)
}

/// Returns each legal move with the key of the position after it, in the order of the legal moves.
pub fn moves_with_keys<E: Encoding>(encoding: &E, position: &Pos<E>) -> Vec<(u64, Mv<E>)> {
    let mut moves = Vec::new();
    encoding.game().legal_moves(position, &mut moves);
    let with_key = |mv| {
        let mut after = position.clone();
        encoding.game().play(&mut after, mv);
        (position_key(encoding, &after), mv)
    };
    moves.into_iter().map(with_key).collect()
}

/// Returns a number that is another one for other rules, and where positions have other keys: it follows from the moves of
/// some positions near the start.
pub fn rules_key<E: Encoding>(encoding: &E) -> u64 {
    let (mut hash, mut position) = (Xxh3::new(), encoding.game().initial_position());
    for _ in 0..RULES_PLIES {
        let mut moves = moves_with_keys(encoding, &position);
        moves.sort_by_key(|(key, _)| *key);
        moves.iter().for_each(|(key, _)| hash.update(&key.to_le_bytes()));
        let Some((_, mv)) = moves.get(moves.len() / 3) else { break };
        encoding.game().play(&mut position, *mv);
    }
    hash.digest()
}

//! The identity of a game: equal for equal positions, whatever the search made of them.

use shared::encoding::{Encoding, Symmetry};
use shared::game::Game;
use shared::record::Sample;
use xxhash_rust::xxh3::Xxh3Default;

/// Returns a number that is equal for games with the same positions to learn from, rotated and mirrored ones included.
///
/// A position that does not decode counts as its bytes.
#[must_use]
pub fn identity_of<E: Encoding>(encoding: &E, samples: &[Sample]) -> u64 {
    let mut hashes: Vec<Xxh3Default> = (0..encoding.symmetry_count()).map(|_| Xxh3Default::new()).collect();
    let mut position = encoding.game().initial_position();
    let mut packed = Vec::new();
    for sample in samples {
        let is_position = encoding.unpack(&sample.packed, &mut position).is_ok();
        for (symmetry, hash) in (0..).zip(&mut hashes) {
            packed.clear();
            if is_position && symmetry > 0 {
                encoding.pack(&encoding.transform(&position, Symmetry(symmetry)), &mut packed);
            } else {
                packed.extend_from_slice(&sample.packed);
            }
            hash.update(&packed);
        }
    }
    hashes.iter().map(Xxh3Default::digest).min().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use shared::encoding::tictactoe::TicTacToeEncoding;
    use shared::game::tictactoe::TicTacToe;
    use shared::record::{GameRecord, PlyRecord, PolicyTarget, replay};

    fn identity(moves: &[&str], visits: u32) -> u64 {
        let encoding = TicTacToeEncoding::new(TicTacToe);
        let square = |text: &str| (text.as_bytes()[0] - b'a') as u16 + 3 * u16::from(b'3' - text.as_bytes()[1]);
        let plies = moves.iter().map(|text| PlyRecord {
            move_text: (*text).to_owned(),
            policy_target: PolicyTarget::from_visits([(square(text), visits)]).ok(),
            ..PlyRecord::default()
        });
        let record = GameRecord { plies: plies.collect(), ..GameRecord::default() };
        identity_of(&encoding, &replay(&encoding, &record).expect("a legal game").samples)
    }

    #[test]
    fn turned_games_are_the_same_and_others_are_not() {
        let game = identity(&["a3", "a1", "b3", "b1", "c3"], 3);
        assert_eq!(game, identity(&["a3", "a1", "b3", "b1", "c3"], 9), "however long it was searched");
        assert_eq!(game, identity(&["c1", "c3", "b1", "b3", "a1"], 3), "turned by half");
        assert_eq!(game, identity(&["c3", "c1", "b3", "b1", "a3"], 3), "in the mirror");
        assert_ne!(game, identity(&["a3", "b1", "b3", "a1", "c3"], 3));
    }
}

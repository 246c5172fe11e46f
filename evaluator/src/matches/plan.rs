//! Which games a match has: pairs of games from one opening, colours swapped.

use std::sync::Arc;

use anyhow::Context;
use shared::encoding::hive::HiveEncoding;
use shared::game::hive::{Hive, Move};
use shared::game::{Game, Side};
use shared::opening::random_openings;
use shared::seed::mix_seed;
use tracing::warn;

/// One game of a match.
#[derive(Debug, Clone)]
pub struct PlannedGame {
    /// Its number, from 0; games 2n and 2n + 1 are a pair.
    pub index: usize,
    /// The plies before the players begin.
    pub opening: Arc<[Move]>,
    /// The side of the first player.
    pub first_side: Side,
    seed: u64,
}

impl PlannedGame {
    /// Returns the number of its pair.
    pub const fn pair_index(&self) -> usize {
        self.index / 2
    }

    /// Returns the seed for the player of a side.
    pub fn seed_of(&self, side: Side) -> u64 {
        mix_seed(self.seed, side.index() as u64)
    }
}

/// Plans `game_count` games. The same seed gives the same games.
///
/// # Errors
/// Never, unless openings are not legal.
pub fn plan(hive: &Hive, game_count: usize, opening_plies: u32, seed: u64) -> anyhow::Result<Vec<PlannedGame>> {
    let pair_count = game_count.div_ceil(2);
    let encoding = HiveEncoding::new(*hive, HiveEncoding::FRAME_DEFAULT);
    let count = u32::try_from(pair_count).context("too many games")?;
    let (openings, distinct) = random_openings(&encoding, count, opening_plies, seed);
    if (distinct as usize) < pair_count {
        warn!(distinct, pair_count, "there are fewer openings than pairs of games: some come again");
    }
    let openings: Vec<Arc<[Move]>> = openings.iter().map(|texts| read(hive, texts)).collect::<anyhow::Result<_>>()?;
    let game = |index: usize| PlannedGame {
        index,
        opening: openings[index / 2].clone(),
        first_side: if index.is_multiple_of(2) { Side::White } else { Side::Black },
        seed: mix_seed(seed, index as u64),
    };
    Ok((0..game_count).map(game).collect())
}

fn read(hive: &Hive, texts: &[String]) -> anyhow::Result<Arc<[Move]>> {
    let mut position = hive.initial_position();
    let mut moves = vec![];
    for text in texts {
        let mv = hive.parse_move(&position, text)?;
        hive.play(&mut position, mv);
        moves.push(mv);
    }
    Ok(moves.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_games_of_a_pair_have_one_opening_and_swapped_colours() {
        let games = plan(&Hive::default(), 7, 4, 1).unwrap();
        assert_eq!(games.len(), 7);
        for pair in games.chunks_exact(2) {
            assert_eq!(pair[0].opening, pair[1].opening);
            assert_eq!((pair[0].first_side, pair[1].first_side), (Side::White, Side::Black));
            assert_ne!(pair[0].seed_of(Side::White), pair[1].seed_of(Side::White));
            assert_eq!(pair[0].opening.len(), 4);
        }
        assert_ne!(games[0].opening, games[2].opening);
        let again = plan(&Hive::default(), 7, 4, 1).unwrap();
        assert!(games.iter().zip(&again).all(|(a, b)| a.opening == b.opening && a.seed == b.seed));
    }
}

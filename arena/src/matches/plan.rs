//! Which games a match has: pairs of games from one opening, colours swapped.

use std::sync::Arc;

use shared::catalog::NetworkGame;
use shared::game::{Game, MoveError, Side};
use shared::opening::random_openings;
use shared::seed::mix_seed;
use tracing::warn;

use super::error::MatchError;

/// One game of a match.
#[derive(Debug, Clone)]
pub struct PlannedGame<G: Game> {
    /// Its number, from 0; games 2n and 2n + 1 are a pair.
    pub index: usize,
    /// The plies before the players begin.
    pub opening: Arc<[G::Move]>,
    /// The side of the first player.
    pub first_side: Side,
    seed: u64,
}

impl<G: Game> PlannedGame<G> {
    /// Returns the number of its pair.
    #[must_use]
    pub const fn pair_index(&self) -> usize {
        self.index / 2
    }

    /// Returns the seed for the player of a side.
    #[must_use]
    pub fn seed_of(&self, side: Side) -> u64 {
        mix_seed(self.seed, side.index() as u64)
    }
}

/// Plans `game_count` games. The same seed gives the same games.
///
/// # Errors
/// [`MatchError::TooManyGames`] if there are more than 2^33.
pub fn plan<G: NetworkGame>(
    game: &G,
    game_count: usize,
    opening_plies: u32,
    seed: u64,
) -> Result<Vec<PlannedGame<G>>, MatchError> {
    let pair_count = game_count.div_ceil(2);
    let encoding = game.encoding(G::USUAL_VIEW);
    let count = u32::try_from(pair_count).map_err(|_| MatchError::TooManyGames(game_count))?;
    let (openings, distinct) = random_openings(&encoding, count, opening_plies, seed);
    if (distinct as usize) < pair_count {
        warn!(distinct, pair_count, "there are fewer openings than pairs of games: some come again");
    }
    let read = |texts: &Vec<String>| read(game, texts).map_err(MatchError::Opening);
    let openings: Vec<Arc<[G::Move]>> = openings.iter().map(read).collect::<Result<_, _>>()?;
    let planned = |index: usize| PlannedGame {
        index,
        opening: openings[index / 2].clone(),
        first_side: if index.is_multiple_of(2) { Side::White } else { Side::Black },
        seed: mix_seed(seed, index as u64),
    };
    Ok((0..game_count).map(planned).collect())
}

fn read<G: Game>(game: &G, texts: &[String]) -> Result<Arc<[G::Move]>, MoveError> {
    let mut position = game.initial_position();
    let mut moves = vec![];
    for text in texts {
        let mv = game.parse_move(&position, text)?;
        game.play(&mut position, mv);
        moves.push(mv);
    }
    Ok(moves.into())
}

#[cfg(test)]
mod tests {
    use shared::game::dama::Dama;
    use shared::game::hive::Hive;

    use super::*;

    fn check<G: NetworkGame>() {
        let games = plan(&G::default(), 7, 4, 1).unwrap();
        assert_eq!(games.len(), 7);
        for pair in games.chunks_exact(2) {
            assert_eq!(pair[0].opening, pair[1].opening);
            assert_eq!((pair[0].first_side, pair[1].first_side), (Side::White, Side::Black));
            assert_ne!(pair[0].seed_of(Side::White), pair[1].seed_of(Side::White));
            assert_eq!(pair[0].opening.len(), 4);
        }
        assert_ne!(games[0].opening, games[2].opening);
        let again = plan(&G::default(), 7, 4, 1).unwrap();
        assert!(games.iter().zip(&again).all(|(a, b)| a.opening == b.opening && a.seed == b.seed));
    }

    #[test]
    fn both_games_of_a_pair_have_one_opening_and_swapped_colours() {
        check::<Hive>();
        check::<Dama>();
    }
}

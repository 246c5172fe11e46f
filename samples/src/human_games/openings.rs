//! Human games as openings: what self-play games may begin from.

use notation::PlayedGame;
use shared::catalog::GameSpec;
use shared::game::Game;
use shared::game::hive::Hive;
use shared::game::hive::text::lowest_in_hand;

use super::{NotHive, encoding_of, game_key};
use crate::split::Split;

/// Returns the moves of the games of the run's own type that are not held out, each as far as the game goes on by the rules
/// of the run, which may end it sooner than people did. Games that end with their first move are left out.
///
/// # Errors
/// [`NotHive`] if the run plays another game.
pub fn openings_of(spec: &GameSpec, games: &[PlayedGame], split: Split) -> Result<Vec<Vec<String>>, NotHive> {
    let GameSpec::Hive { rules, .. } = *spec else { return Err(NotHive) };
    let (encoding, hive) = (encoding_of(spec)?, Hive::new(rules));
    let own = games.iter().filter(|game| game.rules.game_type == rules.game_type);
    let learned = own.filter(|game| !split.is_held_out(game_key(&encoding, game)));
    Ok(learned.map(|game| moves_of(&hive, game)).filter(|moves| !moves.is_empty()).collect())
}

/// Returns the moves before the first that is not legal, or that ends the game.
fn moves_of(hive: &Hive, game: &PlayedGame) -> Vec<String> {
    let mut position = hive.initial_position();
    let (mut legal, mut texts) = (Vec::new(), Vec::new());
    for &mv in &game.moves {
        legal.clear();
        hive.legal_moves(&position, &mut legal);
        // Records number equal pieces in any order; the text keeps the numbers, which later moves refer to.
        if !legal.contains(&lowest_in_hand(&position, mv)) {
            break;
        }
        let text = hive.format_move(&position, mv);
        hive.play(&mut position, mv);
        if hive.outcome(&position).is_some() {
            break;
        }
        texts.push(text);
    }
    texts
}

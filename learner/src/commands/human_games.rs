//! Human games as a source: of all types of Hive, shown as a network of Base+MLP sees them.

use std::path::PathBuf;

use notation::PlayedGame;
use rayon::prelude::*;
use samples::human_games::{NotHive, ReadSettings, encoding_of, read_games, samples_of};
use shared::catalog::GameSpec;
use shared::encoding::hive::HiveEncoding;
use shared::game::hive::HiveRules;

use super::dropped_games::print_dropped;
use super::game_sources::{CHUNK_GAMES, DataGame, Origin, VisitGames, identity_of_moves};

/// Returns the game of a network that can be shown human games of all types, by the rules of a run.
pub fn spec(frame: u8, ply_limit: u32) -> GameSpec {
    GameSpec::Hive { rules: HiveRules { ply_limit, ..HiveRules::default() }, frame }
}

/// Returns the encoding of games as people play: on after a repetition, without a limit, in old games with a queen as
/// first piece.
///
/// # Errors
/// None in practice: it is Hive.
pub fn as_people_play(frame: u8) -> Result<HiveEncoding, NotHive> {
    let rules = HiveRules { queen_first_allowed: true, ..HiveRules::default() };
    encoding_of(&GameSpec::Hive { rules, frame })
}

/// Visits the games in `paths`, the last `newest` of them.
///
/// # Errors
/// An error of `visitor`, or if the games cannot be read at all.
pub fn visit(
    paths: &[PathBuf],
    encoding: &HiveEncoding,
    newest: usize,
    visitor: &mut impl VisitGames,
) -> anyhow::Result<()> {
    let read = read_games(paths, ReadSettings::default())?;
    print_dropped(&read.dropped);
    let first = read.games.len().saturating_sub(newest);
    for chunk in read.games[first..].chunks(CHUNK_GAMES) {
        let made: Vec<_> = chunk.par_iter().map(|game| of_human_game(encoding, game)).collect();
        for game in &made {
            visitor.visit_game(encoding, game)?;
        }
    }
    Ok(())
}

/// Makes the samples of a game of any type.
fn of_human_game(encoding: &HiveEncoding, game: &PlayedGame) -> DataGame {
    let samples = game.outcome.map(|outcome| samples_of(encoding, game, outcome).samples);
    let move_texts = game.move_texts();
    DataGame {
        origin: Origin::HumanGames,
        type_name: game.rules.game_type.to_string(),
        is_from_endgame: false,
        start: None,
        ply_count: move_texts.len() as u32,
        identity: identity_of_moves(None, &move_texts),
        move_texts,
        outcome: game.outcome,
        is_cut_off: false,
        samples: samples.unwrap_or_default(),
    }
}

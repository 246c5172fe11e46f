//! The human games of a run: which are read, which are held out, and how large their share of a batch is.

use std::sync::Arc;

use notation::PlayedGame;
use samples::human_games::{
    HumanGames, HumanGamesError, NotHive, ReadSettings, SetSettings, encoding_of, make_sets, openings_of, read_games,
};
use samples::split::Split;
use shared::catalog::GameSpec;
use shared::ids::Generation;
use tracing::info;

use crate::config::{LearnerConfig, ReplayConfig};
use crate::numbers::text_of_counts;

/// Why a run cannot learn from human games.
#[derive(Debug, thiserror::Error)]
pub enum HumanShareError {
    /// The run plays another game.
    #[error(transparent)]
    OtherGame(#[from] NotHive),
    /// The games cannot be read.
    #[error("replay.human_games")]
    Read(#[from] HumanGamesError),
    /// None of the games is decided and of a type that the run's network learns from.
    #[error("replay.human_games: no decided game to learn from of the types that pretrain.game_types allows")]
    NoDecidedGame,
    /// None of the games is of the run's game type.
    #[error("replay.human_games: no game of this game type to begin from (self_play.human_start_share)")]
    NoStart,
}

/// The decided human games of a run.
#[derive(Debug, Clone, Default)]
pub struct RunHumanGames {
    /// Those that a share of each batch comes from, if the settings want one.
    pub learned: Option<HumanGames>,
    /// Positions of those that a pretraining with the same settings holds out, if networks are to be measured on them.
    pub held_out: Option<HumanGames>,
    /// Moves of those that are not held out, drawn ones included, for self-play games to begin from; none unless the
    /// settings want that.
    pub starts: Arc<[Vec<String>]>,
}

/// Reads the human games that the settings name and want.
///
/// # Errors
/// [`HumanShareError`]: a run of another game than Hive, games that cannot be read, none of a type that is learned from,
/// or none with a winner.
pub fn read_human_games(config: &LearnerConfig) -> Result<RunHumanGames, HumanShareError> {
    let replay = &config.replay;
    let is_measured_on = replay.held_out_share > 0.0 && !replay.human_games.is_empty();
    let starts_games = config.self_play.human_start_share > 0.0;
    if replay.human_share == 0.0 && !is_measured_on && !starts_games {
        return Ok(RunHumanGames::default());
    }
    let encoding = encoding_of(&config.game)?;
    let read = read_games(&replay.human_games, ReadSettings::default())?;
    let split = Split { seed: config.pretrain.seed, held_out_share: config.pretrain.held_out_share };
    let sets = make_sets(
        &encoding,
        &read.games,
        SetSettings { split, decided_only: true, game_types: config.pretrain.game_types },
    );
    let samples = sets.samples;
    info!(
        games = samples.training_games,
        types = text_of_counts(&sets.training_types),
        positions = samples.training.position_count(),
        left_out = read.dropped.len(),
        drawn_games = sets.left_out.drawn_games,
        other_type_games = sets.left_out.other_type_games,
        held_out_games = samples.held_out_games,
        "human games"
    );
    let starts = if starts_games { openings(&config.game, &read.games, split)? } else { Arc::default() };
    let held_out = is_measured_on.then(|| samples.held_out.thinned(u64::from(replay.held_out_positions_max)));
    let held_out = held_out.and_then(|held_out| HumanGames::new(encoding.clone(), held_out));
    if replay.human_share == 0.0 {
        return Ok(RunHumanGames { learned: None, held_out, starts });
    }
    let learned = HumanGames::new(encoding, samples.training).ok_or(HumanShareError::NoDecidedGame)?;
    Ok(RunHumanGames { learned: Some(learned), held_out, starts })
}

/// Returns the moves of the games that self-play games may begin from.
fn openings(game: &GameSpec, games: &[PlayedGame], split: Split) -> Result<Arc<[Vec<String>]>, HumanShareError> {
    let openings = openings_of(game, games, split)?;
    let own = games.iter().filter(|found| found.rules.game_type.to_string() == game.type_name()).count();
    info!(
        games = openings.len(),
        other_type_games = games.len() - own,
        "human games to begin from: those of the run's own type alone"
    );
    if openings.is_empty() { Err(HumanShareError::NoStart) } else { Ok(openings.into()) }
}

impl ReplayConfig {
    /// Returns how many of `batch_size` positions come from human games while the best network is of `generation`: the
    /// share falls in a straight line to 0.
    #[must_use]
    pub fn human_count(&self, generation: Generation, batch_size: u32) -> u32 {
        let left = match self.human_share_generations {
            0 => 1.0,
            end => 1.0 - f64::from(generation.get().min(end)) / f64::from(end),
        };
        (f64::from(batch_size) * self.human_share * left).round() as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use samples::human_games::GameTypes;

    #[test]
    fn the_share_falls_in_a_straight_line_or_stays() {
        let mut config =
            ReplayConfig { human_share: 0.5, human_share_generations: 10, ..LearnerConfig::default().replay };
        let counts = [0, 1, 5, 9, 10, 99].map(|generation| config.human_count(Generation::new(generation), 100));
        assert_eq!(counts, [50, 45, 25, 5, 0, 0]);
        config.human_share_generations = 0;
        assert_eq!([0, 99].map(|generation| config.human_count(Generation::new(generation), 100)), [50, 50]);
        config.human_share = 1.0;
        assert_eq!(config.human_count(Generation::new(3), 7), 7);
        config.human_share = 0.0;
        assert_eq!(config.human_count(Generation::new(3), 7), 0);
    }

    #[test]
    fn a_run_learns_from_games_of_all_types_and_begins_games_from_its_own() {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let file = dir.path().join("games.uhp");
        let games = ["Base", "Base+L", "Base+MLP"].map(|game_type| {
            let sides = ["-wS1", "/wS1"].map(|side| format!("{game_type};WhiteWins;Black[2];wS1;bS1 wS1-;wQ {side}\n"));
            sides.concat()
        });
        std::fs::write(&file, games.concat()).expect("a file");
        let read = |game_types| {
            let mut config = LearnerConfig::default();
            config.replay.human_games = vec![file.clone()];
            config.replay.human_share = 0.5;
            config.self_play.human_start_share = 0.5;
            config.pretrain.held_out_share = 1e-9;
            config.pretrain.game_types = game_types;
            let games = read_human_games(&config).expect("games");
            (games.learned.expect("games to learn from").samples().position_count(), games.starts.len())
        };
        assert_eq!(read(GameTypes::All), (6 * 3, 2));
        assert_eq!(read(GameTypes::Own), (2 * 3, 2), "only games of the run's own type are gone on with");
    }
}

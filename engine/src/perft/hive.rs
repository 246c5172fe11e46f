//! Counting the ways to play on in Hive.

use anyhow::Context;
use notation::uhp::GameString;
use notation::{ReplayRules, RuleChoice};
use runtime::counted::counted;
use shared::game::hive::{GameType, Hive, HiveRules, Position};

use super::{Counted, Options};
use crate::start::{GameName, ensure_absent, wrong_position};

struct Start {
    hive: Hive,
    position: Position,
}

/// Returns the position of the options.
///
/// # Errors
/// A usage error for a position that cannot be reached or is of another type, or options of another game.
pub fn open(options: &Options) -> anyhow::Result<Box<dyn Counted>> {
    ensure_absent(options.count.is_none(), "--count", "dama")?;
    options.start.ensure_position_of(GameName::Hive)?;
    let start = options.start.game_type.unwrap_or(GameType::MLP).to_string();
    let game: GameString = options.start.position.as_ref().unwrap_or(&start).parse().map_err(wrong_position)?;
    let rules = ReplayRules { repetition_draw: RuleChoice::Off, queen_first: RuleChoice::Auto, rest_counts: false };
    let game_type = options.start.game_type.unwrap_or(game.game_type);
    let hive = Hive::new(HiveRules { game_type, ..*rules.hive(&game).rules() });
    let (position, _) = game.replay(&hive).map_err(wrong_position).context("read the position")?;
    Ok(Box::new(Start { hive, position }))
}

impl Counted for Start {
    fn heading(&self) -> String {
        format!("{} after {}", self.hive.rules().game_type, counted(self.position.ply(), "ply", "plies"))
    }

    fn count(&self, depth: u32) -> u64 {
        self.hive.perft(&self.position, depth)
    }
}

#[cfg(test)]
mod tests {
    use runtime::exit::UsageError;

    use super::super::tests::options_from;
    use super::*;
    use crate::start::StartOptions;

    fn node_counts(options: &Options) -> Vec<String> {
        super::super::tests::node_counts(&*open(options).unwrap(), options.depth)
    }

    fn of(game_type: Option<GameType>, position: Option<&str>) -> Options {
        options_from(StartOptions { game: None, game_type, position: position.map(str::to_owned) })
    }

    #[test]
    fn counts_from_the_start_and_from_a_position() {
        assert_eq!(node_counts(&of(Some(GameType::default()), None)), ["1", "4", "96", "1440"]);
        let heading = |position| open(&of(None, Some(position))).unwrap().heading();
        assert_eq!(heading("Base"), "Base after 0 plies");
        assert_eq!(heading("Base;InProgress;Black[1];wA1"), "Base after 1 ply");
        let position = "Base;InProgress;White[2];wA1;bA1 wA1-";
        assert_eq!(node_counts(&of(None, Some(position)))[..2], ["1", "15"]);
        let queens = "Base;InProgress;White[2];wQ;bQ wQ-";
        assert_eq!(node_counts(&of(None, Some(queens)))[..2], ["1", "14"], "the queen and twelve placements");
    }

    #[test]
    fn a_position_that_cannot_be_reached_is_wrong_usage() {
        let error = |options| open(&options).err().expect("refused");
        for text in [
            "Base+X",
            "Base;InProgress;White[2];wA1;bA1 wQ-",
            "Base;InProgress;Black[2];wA1;bA1 wA1-;wA1 wA1",
            "Base;InProgress;Black[1];wA1;bA1 wA1-",
        ] {
            let error = error(of(None, Some(text)));
            assert!(error.chain().any(|cause| cause.is::<UsageError>()), "{text}: {error:#}");
        }
        let error = error(of(Some(GameType::MLP), Some("Base")));
        assert!(format!("{error:#}").contains("cannot be replayed as Base+MLP"), "{error:#}");
    }
}

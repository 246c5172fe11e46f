//! Counting the ways to play on in Italian draughts.

use anyhow::ensure;
use runtime::exit::UsageError;
use shared::game::Game;
use shared::game::dama::{Counting, Dama, Position, perft};
use shared::notation::dama::fen;

use super::{Count, Counted, Options};

struct Start {
    position: Position,
    counting: Counting,
}

/// Returns the position of the options.
///
/// # Errors
/// [`UsageError`] for a position that cannot be, or options of another game.
pub fn open(options: &Options) -> anyhow::Result<Box<dyn Counted>> {
    ensure!(options.game_type.is_none(), UsageError("--type is for --game hive".to_owned()));
    let position = match &options.position {
        Some(text) => fen::read(text).map_err(|error| UsageError(format!("--position: {error}")))?,
        None => Dama::default().initial_position(),
    };
    Ok(Box::new(Start { position, counting: options.count.unwrap_or(Count::Paths).into() }))
}

impl Counted for Start {
    fn heading(&self) -> String {
        fen::write(self.position.board(), self.position.side_to_move())
    }

    fn count(&self, depth: u32) -> u64 {
        perft(self.position.board(), self.position.side_to_move(), depth, self.counting)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{node_counts, options};
    use super::*;
    use crate::games::GameName;

    #[test]
    fn counts_from_the_start_and_from_a_position() {
        assert_eq!(node_counts(&Options { depth: 4, ..options(GameName::Dama) }), ["1", "7", "49", "302", "1469"]);
        // A king goes round a circle of four men either way.
        let position = Some("W:WK17:B13,14,21,22".to_owned());
        let counts = |count| node_counts(&Options { count, position: position.clone(), ..options(GameName::Dama) });
        assert_eq!(counts(None), ["1", "2", "0", "0"]);
        assert_eq!(counts(Some(Count::Paths)), counts(None));
        assert_eq!(counts(Some(Count::Results)), ["1", "1", "0", "0"]);
    }

    #[test]
    fn wrong_options_are_wrong_usage() {
        let error = |options| open(&options).err().expect("refused");
        let wrong = Options { position: Some("W:W1:B".to_owned()), ..options(GameName::Dama) };
        let foreign = Options { game_type: Some("Base".parse().unwrap()), ..options(GameName::Dama) };
        for (options, message) in [(wrong, "--position: a man on square 1"), (foreign, "--type is for")] {
            let error = error(options);
            assert!(error.is::<UsageError>() && error.to_string().starts_with(message), "{error:#}");
        }
    }
}

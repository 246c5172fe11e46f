//! Counting the ways to play on in Italian draughts.

use shared::game::Game;
use shared::game::dama::fen;
use shared::game::dama::{Counting, Dama, Position, perft};

use super::{Count, Counted, Options};
use crate::start::{GameName, ensure_absent, wrong_position};

struct Start {
    position: Position,
    counting: Counting,
}

/// Returns the position of the options.
///
/// # Errors
/// A usage error for a position that cannot be, or options of another game.
pub fn open(options: &Options) -> anyhow::Result<Box<dyn Counted>> {
    ensure_absent(options.start.game_type.is_none(), "--type", "hive")?;
    options.start.ensure_position_of(GameName::Dama)?;
    let position = match &options.start.position {
        Some(text) => fen::read(text).map_err(wrong_position)?,
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
    use runtime::exit::UsageError;

    use super::super::tests::{options, options_from};
    use super::*;
    use crate::start::StartOptions;

    fn node_counts(options: &Options) -> Vec<String> {
        super::super::tests::node_counts(&*open(options).unwrap(), options.depth)
    }

    const DAMA: StartOptions = StartOptions { game: Some(GameName::Dama), game_type: None, position: None };

    #[test]
    fn counts_from_the_start_and_from_a_position() {
        assert_eq!(node_counts(&Options { depth: 4, ..options(GameName::Dama) }), ["1", "7", "49", "302", "1469"]);
        // A king goes round a circle of four men either way.
        let position = Some("W:WK17:B13,14,21,22".to_owned());
        let start = StartOptions { position, ..DAMA };
        let counts = |count| node_counts(&Options { count, ..options_from(start.clone()) });
        assert_eq!(counts(None), ["1", "2", "0", "0"]);
        assert_eq!(counts(Some(Count::Paths)), counts(None));
        assert_eq!(counts(Some(Count::Results)), ["1", "1", "0", "0"]);
    }

    #[test]
    fn wrong_options_are_wrong_usage() {
        let error = |options| open(&options).err().expect("refused");
        let wrong = options_from(StartOptions { position: Some("W:W1:B".to_owned()), ..DAMA });
        let foreign = options_from(StartOptions { game_type: Some("Base".parse().unwrap()), ..DAMA });
        for (options, message) in [(wrong, "--position: a man on square 1"), (foreign, "--type is for")] {
            let error = error(options);
            assert!(error.is::<UsageError>() && error.to_string().starts_with(message), "{error:#}");
        }
    }
}

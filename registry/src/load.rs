//! The open games of the store, as the registry takes them up at a start.

use runtime::exit::one_line;
use shared::encoding::Encoding;
use shared::ids::GameId;
use shared::record::ReplayError;
use shared::search::SearchSettings;
use store::{Change, Reader, Store, StoreError};

use super::RegistryError;
use super::game_progress::GameProgress;
use super::open_game::{LeaseState, OpenGame};
use super::open_games::OpenGames;

/// Why an open game of the store cannot go on.
#[derive(Debug, thiserror::Error)]
enum UnplayableGame {
    #[error("the game is gone")]
    Gone,
    #[error("{0}")]
    Damaged(String),
    #[error("settings")]
    Settings(#[source] serde_json::Error),
    #[error(transparent)]
    Replay(#[from] ReplayError),
    #[error("the game is over but was not closed")]
    Over,
}

/// Loads the open games; those that do not replay are quarantined.
pub(super) fn load_open_games<E: Encoding>(
    encoding: &E,
    store: &Store,
    reader: &Reader,
    progress: &mut GameProgress,
) -> Result<OpenGames<E>, RegistryError> {
    let mut games = OpenGames::default();
    let mut holders = reader.open_game_holders()?;
    for game_id in reader.open_game_ids()? {
        match load_open_game(encoding, reader, game_id)? {
            Ok(mut game) => {
                game.set_lease(LeaseState::Unclaimed { worker_id: holders.remove(&game_id) });
                games.insert(game);
            }
            Err(error) => {
                let reason = one_line(&error);
                tracing::error!(game_id = game_id.get(), reason, "open game does not replay, quarantined");
                store.write(vec![Change::QuarantineGame { game_id, reason }])?;
                progress.counters.quarantined_game_count += 1;
            }
        }
    }
    Ok(games)
}

/// Loads one open game; the inner error is the reason why it cannot go on.
fn load_open_game<E: Encoding>(
    encoding: &E,
    reader: &Reader,
    game_id: GameId,
) -> Result<Result<OpenGame<E>, UnplayableGame>, RegistryError> {
    let stored = match reader.game(game_id) {
        Ok(Some(stored)) => stored,
        Ok(None) => return Ok(Err(UnplayableGame::Gone)),
        Err(StoreError::Damaged { what }) => return Ok(Err(UnplayableGame::Damaged(what))),
        Err(error) => return Err(error.into()),
    };
    let search = match serde_json::from_str::<SearchSettings>(&stored.game.settings) {
        Ok(search) => search,
        Err(error) => return Ok(Err(UnplayableGame::Settings(error))),
    };
    let open = OpenGame::stored(encoding, stored.game, search, stored.record.plies);
    Ok(match open {
        Err(error) => Err(error.into()),
        Ok(game) if game.state.outcome().is_some() => Err(UnplayableGame::Over),
        Ok(game) => Ok(game),
    })
}

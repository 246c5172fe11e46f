//! What each worker played of a gate, and the plies of some of these games.

use std::collections::BTreeMap;
use std::ops::Range;

use rand::Rng;
use rand::seq::SliceRandom;
use shared::encoding::{Encoding, Mv, Pos};
use shared::game::{Game, MoveError, Side, StartError};
use shared::ids::{GameId, NetworkId, NetworkRef};
use shared::search::SearchSettings;
use store::{GameState, Reader, StoreError, StoredGame};
use tracing::debug;

use super::is_repeatable;

/// A ply that can be searched again.
pub(super) struct SampledPly<E: Encoding> {
    pub(super) position: Pos<E>,
    /// The network that was to move.
    pub(super) network_id: NetworkId,
    pub(super) search: SearchSettings,
    /// The move that the worker played.
    pub(super) played: Mv<E>,
}

/// Why the plies of a stored game cannot be read.
#[derive(Debug, thiserror::Error)]
enum UnreadableGame {
    #[error("its settings: {0}")]
    Settings(serde_json::Error),
    #[error(transparent)]
    Start(#[from] StartError),
    #[error(transparent)]
    Move(#[from] MoveError),
}

/// The part of a game that a worker played.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PlayedPart {
    pub(super) game_id: GameId,
    pub(super) plies: Range<u32>,
}

/// Returns what each worker played of the finished games of a gate. Of games that began before leases were stored, nobody
/// is known.
pub(super) fn games_by_worker(
    reader: &Reader,
    candidate_id: NetworkId,
) -> Result<BTreeMap<String, Vec<PlayedPart>>, StoreError> {
    let finished = reader.gate_games(candidate_id)?.into_iter().filter(|game| game.state == GameState::Finished);
    let mut leases: BTreeMap<GameId, Vec<(u32, String)>> =
        finished.map(|game| (game.game.game_id, Vec::new())).collect();
    for lease in reader.gate_leases(candidate_id)? {
        if let Some(of_game) = leases.get_mut(&lease.game_id) {
            of_game.push((lease.ply, lease.worker_id));
        }
    }
    let mut by_worker: BTreeMap<String, Vec<PlayedPart>> = BTreeMap::new();
    for (game_id, of_game) in leases {
        for (worker_id, plies) in parts(of_game) {
            by_worker.entry(worker_id).or_default().push(PlayedPart { game_id, plies });
        }
    }
    Ok(by_worker)
}

/// Returns who played which plies, from the leases of a game in their order: each had the game until the next one took it.
fn parts(leases: Vec<(u32, String)>) -> Vec<(String, Range<u32>)> {
    let ends: Vec<u32> = leases.iter().skip(1).map(|(ply, _)| *ply).chain([u32::MAX]).collect();
    let parts = leases.into_iter().zip(ends).map(|((start, worker_id), end)| (worker_id, start..end));
    parts.filter(|(_, plies)| !plies.is_empty()).collect()
}

/// Reads some of these games, drawn at random, at most `count_max`: of each the plies that the worker searched.
pub(super) fn read_games<E: Encoding>(
    encoding: &E,
    reader: &Reader,
    mut played: Vec<PlayedPart>,
    count_max: usize,
    random: &mut impl Rng,
) -> Result<Vec<Vec<SampledPly<E>>>, StoreError> {
    played.shuffle(random);
    played.truncate(count_max);
    let mut games = Vec::with_capacity(played.len());
    for part in played {
        let game = match reader.game(part.game_id) {
            Ok(Some(game)) => game,
            Ok(None) | Err(StoreError::Damaged { .. }) => continue,
            Err(error) => return Err(error),
        };
        let plies = searched_plies(encoding, &game, &part.plies);
        // What the learner stored itself replays; a game that does not is not for this check to find.
        let plies = plies.inspect_err(|error| debug!(game_id = part.game_id.get(), %error, "gate game not checked"));
        games.extend(plies.ok().filter(|plies| !plies.is_empty()));
    }
    Ok(games)
}

/// Returns the plies of a game within `part` at which there was a choice.
fn searched_plies<E: Encoding>(
    encoding: &E,
    game: &StoredGame,
    part: &Range<u32>,
) -> Result<Vec<SampledPly<E>>, UnreadableGame> {
    let rules = encoding.game();
    let search: SearchSettings = serde_json::from_str(&game.game.settings).map_err(UnreadableGame::Settings)?;
    if !is_repeatable(&search) {
        return Ok(Vec::new());
    }
    let mut position = rules.start_position(game.record.start.as_deref())?;
    let (mut plies, mut moves) = (Vec::new(), Vec::new());
    for (ply, record) in (0..).zip(&game.record.plies) {
        let played = rules.parse_move(&position, &record.move_text)?;
        let network = match rules.side_to_move(&position) {
            Side::White => game.game.white_network,
            Side::Black => game.game.black_network,
        };
        if let NetworkRef::Id(network_id) = network
            && ply >= game.record.opening_ply_count
            && part.contains(&ply)
        {
            moves.clear();
            rules.legal_moves(&position, &mut moves);
            if moves.len() > 1 {
                plies.push(SampledPly { position: position.clone(), network_id, search: search.clone(), played });
            }
        }
        rules.play(&mut position, played);
    }
    Ok(plies)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ply_is_of_the_worker_that_had_the_game_then() {
        let of =
            |leases: &[(u32, &str)]| parts(leases.iter().map(|(ply, worker)| (*ply, (*worker).to_owned())).collect());
        let part = |worker: &str, plies: Range<u32>| (worker.to_owned(), plies);
        assert_eq!(of(&[(2, "a")]), [part("a", 2..u32::MAX)]);
        assert_eq!(of(&[(2, "a"), (2, "b"), (5, "a")]), [part("b", 2..5), part("a", 5..u32::MAX)]);
        assert_eq!(of(&[]), []);
    }
}

//! Games between two networks, in pairs from one opening with colours swapped: those of gates and of yardsticks.

use std::collections::HashSet;

use shared::encoding::Encoding;
use shared::ids::NetworkId;
use shared::record::PlyRecord;
use shared::search::SearchSettings;
use shared::seed::mix_seed;
use store::{Change, GameKind, NewGame};

use super::open_game::OpenGame;
use super::registry::Inner;
use super::{GameRegistry, RegistryError};

/// What the games of two networks have in common.
pub(super) struct PairedGames<'a> {
    /// The network in question: White in the first game of each pair.
    pub(super) network_id: NetworkId,
    /// The one it meets.
    pub(super) opponent_id: NetworkId,
    /// Whether they measure, and decide nothing.
    pub(super) is_yardstick: bool,
    pub(super) iteration: u32,
    /// Each game's seed follows from it and from the game's place.
    pub(super) seed: u64,
    pub(super) search: &'a SearchSettings,
}

impl PairedGames<'_> {
    fn game<E: Encoding>(&self, inner: &mut Inner<E>, pair_index: u32, is_white: bool, opening: &[String]) -> NewGame {
        let Self { network_id, opponent_id, .. } = *self;
        let [white, black] = if is_white { [network_id, opponent_id] } else { [opponent_id, network_id] };
        NewGame {
            game_id: inner.new_game_id(),
            kind: GameKind::Gate,
            iteration: self.iteration,
            pair_index: Some(pair_index),
            candidate_id: Some(network_id),
            opponent_id: self.is_yardstick.then_some(opponent_id),
            white_network: white.into(),
            black_network: black.into(),
            seed: mix_seed(self.seed, u64::from(pair_index) * 2 + u64::from(is_white)),
            settings: serde_json::to_string(self.search).expect("plain numbers can be written as JSON"),
            start: None,
            opening: opening.to_vec(),
        }
    }
}

impl<E: Encoding> GameRegistry<E> {
    /// Adds the two games of each opening, (pair index, moves), but those that are `present`, as (pair index, whether the
    /// network in question is White). They are on disk when the call returns: the lock is held until then, so nobody can
    /// play a game that does not exist yet.
    ///
    /// # Errors
    /// [`RegistryError::Store`] if they could not be stored.
    pub(super) fn add_paired_games<'a>(
        &self,
        inner: &mut Inner<E>,
        paired: &PairedGames<'_>,
        openings: impl Iterator<Item = (u32, &'a Vec<String>)>,
        present: &HashSet<(u32, bool)>,
    ) -> Result<(), RegistryError> {
        inner.last_network_id = inner.last_network_id.max(paired.network_id).max(paired.opponent_id);
        let mut games = Vec::new();
        for (pair_index, opening) in openings {
            for is_white in [true, false] {
                if !present.contains(&(pair_index, is_white)) {
                    games.push(paired.game(inner, pair_index, is_white, opening));
                }
            }
        }
        self.store.write(games.iter().cloned().map(Change::CreateGame).collect())?;
        for game in games {
            self.insert_paired_game(inner, game, paired.search.clone());
        }
        Ok(())
    }

    /// Puts a game that is on disk among the open ones.
    pub(super) fn insert_paired_game(&self, inner: &mut Inner<E>, game: NewGame, search: SearchSettings) {
        let plies = game.opening.iter().map(PlyRecord::unsearched).collect();
        let open = OpenGame::stored(&self.encoding, game, search, plies).expect("an opening of legal moves replays");
        inner.games.insert(open);
    }
}

//! All games that go on, and how many there are of each kind.

use std::collections::BTreeMap;

use shared::encoding::Encoding;
use shared::ids::{GameId, NetworkId};

use super::open_game::OpenGame;
use crate::store::GameKind;

/// The open games by their ids.
pub(super) struct OpenGames<E: Encoding> {
    games: BTreeMap<GameId, OpenGame<E>>,
    self_play_count: usize,
    gate_count: usize,
}

impl<E: Encoding> Default for OpenGames<E> {
    fn default() -> Self {
        Self { games: BTreeMap::new(), self_play_count: 0, gate_count: 0 }
    }
}

impl<E: Encoding> OpenGames<E> {
    /// Returns the number of games of a kind.
    pub(super) fn count(&self, kind: GameKind) -> usize {
        match kind {
            GameKind::SelfPlay => self.self_play_count,
            GameKind::Gate => self.gate_count,
        }
    }

    /// Adds a game, whose id must be new.
    pub(super) fn insert(&mut self, game: OpenGame<E>) {
        *self.count_mut(game.game.kind) += 1;
        self.games.insert(game.game.game_id, game);
    }

    /// Takes a game out.
    pub(super) fn remove(&mut self, game_id: GameId) -> Option<OpenGame<E>> {
        let game = self.games.remove(&game_id)?;
        *self.count_mut(game.game.kind) -= 1;
        Some(game)
    }

    /// Returns a game.
    pub(super) fn get(&self, game_id: GameId) -> Option<&OpenGame<E>> {
        self.games.get(&game_id)
    }

    /// Returns a game, to be changed.
    pub(super) fn get_mut(&mut self, game_id: GameId) -> Option<&mut OpenGame<E>> {
        self.games.get_mut(&game_id)
    }

    /// Returns the games, oldest first, to be changed.
    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut OpenGame<E>> {
        self.games.values_mut()
    }

    /// Returns the ids of the games of a candidate's gate.
    pub(super) fn ids_of_gate(&self, candidate_id: NetworkId) -> Vec<GameId> {
        let is_of_gate = |game: &&OpenGame<E>| game.game.candidate_id == Some(candidate_id);
        self.games.values().filter(is_of_gate).map(|game| game.game.game_id).collect()
    }

    fn count_mut(&mut self, kind: GameKind) -> &mut usize {
        match kind {
            GameKind::SelfPlay => &mut self.self_play_count,
            GameKind::Gate => &mut self.gate_count,
        }
    }
}

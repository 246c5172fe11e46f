//! Who holds how many games, for people who look at the run.

use std::collections::BTreeMap;

use shared::encoding::Encoding;
use store::GameKind;

use super::{GameProgress, GameRegistry};

/// Games that one worker holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct HeldCounts {
    /// Of self-play.
    pub self_play: u64,
    /// Of gates and the yardstick.
    pub gate: u64,
}

/// Tells who holds games and how far they are, whatever is played.
pub trait HeldGames: Send + Sync {
    /// Returns the workers that hold games, by name.
    fn held_games(&self) -> BTreeMap<String, HeldCounts>;

    /// Returns how far the games are now, whatever the pipeline waits for.
    fn game_progress(&self) -> GameProgress;
}

impl<E: Encoding> HeldGames for GameRegistry<E> {
    fn held_games(&self) -> BTreeMap<String, HeldCounts> {
        let inner = self.lock();
        let mut held: BTreeMap<String, HeldCounts> = BTreeMap::new();
        for (worker_id, count) in inner.games.holders(GameKind::SelfPlay).held() {
            held.entry(worker_id.to_owned()).or_default().self_play = count as u64;
        }
        for (worker_id, count) in inner.games.holders(GameKind::Gate).held() {
            held.entry(worker_id.to_owned()).or_default().gate = count as u64;
        }
        held
    }

    fn game_progress(&self) -> GameProgress {
        self.progress()
    }
}

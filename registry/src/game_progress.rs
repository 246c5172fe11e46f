//! How far the games are, as pipeline and status page see it.

use shared::game::Outcome;
use store::{Resignation, StoredResult};

/// How far the games of the run are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct GameProgress {
    /// Self-play games that count, since the start of the run.
    pub finished_self_play_count: u64,
    /// Games up to this finish number are on disk, and the self-play ones of them in the replay buffer.
    pub last_finish_number: u64,
    /// Self-play games that go on.
    pub open_self_play_count: u64,
    /// Those of them that workers hold, as of the last report.
    pub held_self_play_count: u64,
    /// Self-play games that workers may hold.
    pub allowed_self_play_count: u64,
    /// Gate games that go on.
    pub open_gate_count: u64,
    /// Gate games finished since the start of the process.
    pub finished_gate_count: u64,
    /// What has been counted since the start of the process.
    pub counters: GameCounters,
}

/// Counts since the start of the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct GameCounters {
    /// Plies taken and stored.
    pub accepted_ply_count: u64,
    /// Plies that were stored already.
    pub duplicate_ply_count: u64,
    /// Plies that the rules refused, or that did not fit their game.
    pub refused_ply_count: u64,
    /// Plies of games whose lease was lost or that are closed.
    pub lease_lost_ply_count: u64,
    /// Leases that ran out and went to another worker.
    pub expired_lease_count: u64,
    /// Games put into quarantine.
    pub quarantined_game_count: u64,
    /// Reports that could not be stored.
    pub failed_write_count: u64,
    /// Self-play games that finished.
    pub self_play: FinishedCounters,
    /// Games of gates and of the yardstick that finished.
    pub gate: FinishedCounters,
}

/// Finished games of one kind since the start of the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FinishedCounters {
    /// Games.
    pub game_count: u64,
    /// Their plies, openings included.
    pub ply_count: u64,
    /// Games nobody won, those cut off included.
    pub draw_count: u64,
    /// Games that ended at the ply limit.
    pub cut_off_count: u64,
    /// Games that a side resigned.
    pub resigned_count: u64,
    /// Games that were played on though a side would have resigned.
    pub played_on_count: u64,
    /// Those of them that the side did not lose.
    pub false_resignation_count: u64,
}

impl FinishedCounters {
    /// Adds a game.
    pub(super) fn add(&mut self, ply_count: u32, result: &StoredResult) {
        self.game_count += 1;
        self.ply_count += u64::from(ply_count);
        self.draw_count += u64::from(result.outcome == Outcome::Draw);
        self.cut_off_count += u64::from(result.is_cut_off);
        match result.resignation {
            Some(Resignation::Resigned) => self.resigned_count += 1,
            Some(Resignation::Right) => self.played_on_count += 1,
            Some(Resignation::False) => {
                self.played_on_count += 1;
                self.false_resignation_count += 1;
            }
            None => {}
        }
    }
}

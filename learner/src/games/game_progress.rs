//! How far the games are, as pipeline and status page see it.

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
}

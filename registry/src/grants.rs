//! How many games workers may hold: as many as keep the device busy, and no more. Pure: no clock, no thread.
//!
//! More games than that only make each of them slower, and with them the first iteration and every gate.

/// Self-play at the inference thread, since the last look.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LeafLoad {
    /// Leaves of self-play that waited for their answer, on average.
    pub waiting_leaf_count: f64,
    /// Leaves that are evaluated together at most.
    pub batch_leaf_count: usize,
}

/// Games in the hands of workers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct HeldShares {
    /// Of workers that have played a ply.
    pub(super) playing: usize,
    /// Of workers that have not: the leaves of these games are still to come.
    pub(super) newcomers: usize,
}

/// Between which bounds the number of games is kept, and what for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GrantSettings {
    /// Batches of leaves that are kept waiting, at least 1.
    pub batches_waiting: u32,
    /// Games that a worker gets before it has played any, and all of them together before anything was measured.
    pub games_first: usize,
}

/// Most that the number of games changes at one look, as a factor.
const STEP_MAX: f64 = 2.0;

/// Returns how many self-play games may be in the hands of workers: those that are played, times the leaves that should
/// wait over the leaves that do, and those of newcomers. Each game that is played has about as many leaves waiting as any
/// other, and the step is bounded, so the number settles within a few looks. Games of newcomers are not multiplied: many
/// workers that start at once would get far too many before the first leaf of them is seen.
#[must_use]
pub(super) fn games_allowed(
    allowed_before: usize,
    held: &HeldShares,
    load: &LeafLoad,
    settings: &GrantSettings,
) -> usize {
    if load.waiting_leaf_count <= 0.0 {
        return allowed_before;
    }
    let wanted_leaf_count = f64::from(settings.batches_waiting) * load.batch_leaf_count as f64;
    let factor = (wanted_leaf_count / load.waiting_leaf_count).clamp(1.0 / STEP_MAX, STEP_MAX);
    // The cast saturates.
    let allowed = (held.playing as f64 * factor).round() as usize + held.newcomers;
    // Workers that hold fewer than they might, and whose leaves do not fill the queue, are no reason to lower the bound.
    let least = if factor > 1.0 { allowed_before } else { 0 };
    allowed.max(least).max(settings.games_first)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SETTINGS: GrantSettings = GrantSettings { batches_waiting: 3, games_first: 64 };

    const fn playing(count: usize) -> HeldShares {
        HeldShares { playing: count, newcomers: 0 }
    }

    /// Looks again and again at workers that play as many games as they may, at most `wanted`; two leaves of each wait,
    /// less those that the workers search. Returns the bound after each look.
    fn settle(wanted: usize, searched_leaf_count: f64, batch_leaf_count: usize, look_count: usize) -> Vec<usize> {
        let mut allowed = SETTINGS.games_first;
        let look = |_| {
            let held_count = allowed.min(wanted);
            let waiting_leaf_count = (2.0 * held_count as f64 - searched_leaf_count).max(1.0);
            let load = LeafLoad { waiting_leaf_count, batch_leaf_count };
            allowed = games_allowed(allowed, &playing(held_count), &load, &SETTINGS);
            allowed
        };
        (0..look_count).map(look).collect()
    }

    #[test]
    fn games_grow_until_three_batches_wait_and_no_further() {
        assert_eq!(settle(100_000, 0.0, 1024, 7), [128, 256, 512, 1024, 1536, 1536, 1536]);
        assert_eq!(settle(100_000, 0.0, 128, 4), [128, 192, 192, 192]);
    }

    #[test]
    fn leaves_that_workers_still_search_are_allowed_for() {
        let last = settle(100_000, 400.0, 1024, 20).pop().unwrap();
        assert!((1700..=1750).contains(&last), "(3 * 1024 + 400) / 2 = 1736: {last}");
    }

    #[test]
    fn a_slow_device_gets_fewer_games_and_never_less_than_the_first() {
        let load = LeafLoad { waiting_leaf_count: 8000.0, batch_leaf_count: 256 };
        assert_eq!(games_allowed(4000, &playing(4000), &load, &SETTINGS), 2000, "by half at a look");
        let load = LeafLoad { waiting_leaf_count: 800.0, batch_leaf_count: 256 };
        assert_eq!(games_allowed(4000, &playing(400), &load, &SETTINGS), 384);
        let load = LeafLoad { waiting_leaf_count: 500.0, batch_leaf_count: 32 };
        assert_eq!(games_allowed(100, &playing(100), &load, &SETTINGS), 64);
    }

    #[test]
    fn games_of_newcomers_are_not_multiplied() {
        let load = LeafLoad { waiting_leaf_count: 4.0, batch_leaf_count: 128 };
        let newcomers = HeldShares { playing: 0, newcomers: 64 };
        assert_eq!(games_allowed(64, &newcomers, &load, &SETTINGS), 64, "none of their leaves can have come");
        let both = HeldShares { playing: 31, newcomers: 33 };
        assert_eq!(games_allowed(64, &both, &load, &SETTINGS), 95, "who plays gets more, whoever sits on games");
    }

    #[test]
    fn workers_that_ask_for_less_do_not_lower_the_bound() {
        assert_eq!(settle(300, 0.0, 1024, 5), [128, 256, 512, 600, 600]);
        let idle = LeafLoad { waiting_leaf_count: 0.0, batch_leaf_count: 1024 };
        assert_eq!(games_allowed(512, &playing(3), &idle, &SETTINGS), 512, "nothing was evaluated");
    }
}

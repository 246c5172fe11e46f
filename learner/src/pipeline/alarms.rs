//! Warnings about what the games of an iteration were like. Hive runs have died of draws without anyone noticing.

use tracing::warn;

use crate::config::AlarmConfig;
use crate::store::GameStatistics;

/// Warns about each share that is out of bounds. Returns the number of warnings.
pub(super) fn check(config: &AlarmConfig, iteration: u32, games: &GameStatistics) -> u32 {
    let share = |count: u64| count as f64 / games.game_count.max(1) as f64;
    let (draws, cut_off) = (share(games.draw_count), share(games.cut_off_count));
    let openings = share(games.distinct_opening_count);
    let mut count = 0;
    let mut alarm = |is_due: bool, name: &str, share: f64, limit: f64, advice: &str| {
        if is_due {
            count += 1;
            warn!(iteration, alarm = name, share = format!("{share:.2}"), limit, advice, "alarm");
        }
    };
    alarm(draws > config.draw_share_max, "draws", draws, config.draw_share_max, "the network may be learning to draw");
    let advice = "many games teach nothing: raise game.ply_limit or start from human games";
    alarm(cut_off > config.cut_off_share_max, "cut_off", cut_off, config.cut_off_share_max, advice);
    let limit = config.distinct_opening_share_min;
    let advice = "games repeat each other: raise temperature or dirichlet_weight";
    alarm(openings < limit, "distinct_openings", openings, limit, advice);
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_share_out_of_bounds_warns() {
        let config = AlarmConfig { draw_share_max: 0.5, cut_off_share_max: 0.2, distinct_opening_share_min: 0.5 };
        let games = |draw_count, cut_off_count, distinct_opening_count| GameStatistics {
            game_count: 10,
            draw_count,
            cut_off_count,
            mean_ply_count: 50.0,
            sample_count: 500,
            distinct_opening_count,
        };
        assert_eq!(check(&config, 1, &games(5, 2, 5)), 0);
        assert_eq!(check(&config, 1, &games(6, 2, 5)), 1);
        assert_eq!(check(&config, 1, &games(6, 3, 4)), 3);
    }
}

//! Warnings about what the games of an iteration were like, and about what was learned from them. Hive runs have died of
//! draws without anyone noticing.

use shared::gate::GateScore;
use tracing::warn;

use super::yardstick::YardstickReport;
use crate::config::{AlarmConfig, YardstickConfig};
use crate::games::GateReport;
use crate::store::GameStatistics;
use crate::trainer::PredictionPair;

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

/// Warns if the candidate's value errs more on held-out self-play games than that of the best network. Few positions say
/// nothing: below `position_count_min` there is no warning. Returns the number of warnings.
pub(super) fn check_held_out(
    config: &AlarmConfig,
    iteration: u32,
    pair: &PredictionPair,
    position_count_min: u64,
) -> u32 {
    let (rise, limit) = (pair.value_error_rise(), config.value_error_rise_max);
    if pair.candidate.position_count < position_count_min || rise <= limit {
        return 0;
    }
    let advice = "the candidate knows its last games by heart: lower training.uses_per_position or the learning rate, or \
                  raise self_play.games_per_iteration";
    warn!(iteration, alarm = "value_error", rise = format!("{rise:.3}"), limit, advice, "alarm");
    1
}

/// Fewest games of a gate whose score without a draw or a loss is worth a warning.
const SWEEP_GAMES_MIN: u32 = 10;

/// Warns if the candidate won all games of its gate: beyond the first generations a step is smaller, and whoever may
/// play gates may have made them up. Returns the number of warnings.
pub(super) fn check_gate(iteration: u32, report: &GateReport) -> u32 {
    let GateScore { wins, draws, losses } = report.score;
    let is_sweep = wins >= SWEEP_GAMES_MIN && draws + losses == 0;
    if is_sweep {
        let advice = "rare beyond the first generations: look at the games, and at who played them (docs/security.md)";
        warn!(iteration, alarm = "gate", games = wins, candidate = report.candidate_id.get(), advice, "alarm");
    }
    u32::from(is_sweep)
}

/// Warns if the best networks of enough promotions are weaker than the one that the run began from. Returns the number of
/// warnings.
pub(super) fn check_yardstick(config: &YardstickConfig, iteration: u32, report: &YardstickReport) -> u32 {
    let (pooled, interval) = (report.pooled, report.pooled.confidence_interval());
    let is_due = report.generation.get() >= config.pooled_generations && interval.high < 0.5;
    if is_due {
        warn!(
            iteration,
            alarm = "yardstick",
            score = format!("{:.3}", pooled.score()),
            interval = format!("{:.3}..{:.3}", interval.low, interval.high),
            games = pooled.game_count(),
            advice = "the promoted networks are weaker than network 1: go back to it, with a stricter gate",
            "alarm"
        );
    }
    u32::from(is_due)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::supervised::PredictionMetrics;

    const CONFIG: AlarmConfig = AlarmConfig {
        draw_share_max: 0.5,
        cut_off_share_max: 0.2,
        distinct_opening_share_min: 0.5,
        value_error_rise_max: 0.05,
    };

    #[test]
    fn a_value_that_gets_worse_on_enough_held_out_positions_warns() {
        let of = |value_error_sum| PredictionMetrics { position_count: 100, value_error_sum, ..Default::default() };
        let count = |candidate, best, position_count_min| {
            let pair = PredictionPair { candidate: of(candidate), best: of(best) };
            check_held_out(&CONFIG, 1, &pair, position_count_min)
        };
        assert_eq!(count(66.0, 60.0, 100), 1, "0.66 after 0.60");
        assert_eq!(count(64.0, 60.0, 100), 0, "within the limit");
        assert_eq!(count(50.0, 60.0, 100), 0, "better");
        assert_eq!(count(66.0, 60.0, 101), 0, "too few positions");
    }

    #[test]
    fn each_share_out_of_bounds_warns() {
        let games = |draw_count, cut_off_count, distinct_opening_count| GameStatistics {
            game_count: 10,
            draw_count,
            cut_off_count,
            mean_ply_count: 50.0,
            sample_count: 500,
            distinct_opening_count,
        };
        assert_eq!(check(&CONFIG, 1, &games(5, 2, 5)), 0);
        assert_eq!(check(&CONFIG, 1, &games(6, 2, 5)), 1);
        assert_eq!(check(&CONFIG, 1, &games(6, 3, 4)), 3);
    }
}

//! Warnings about what the games of an iteration were like, and about what was learned from them. Hive runs have died of
//! draws without anyone noticing.

use std::collections::BTreeSet;

use registry::GateReport;
use shared::gate::GateScore;
use store::{GameStatistics, PlayedOn};
use tracing::warn;

use super::yardstick::YardstickReport;
use crate::config::{AlarmConfig, YardstickConfig};
use crate::progress::{AlarmBoard, AlarmKind};
use crate::trainer::PredictionPair;

/// Warns about each share that is out of bounds, and turns its alarm on or off.
pub(super) fn check(config: &AlarmConfig, board: &AlarmBoard, iteration: u32, games: &GameStatistics) {
    let share = |count: u64| count as f64 / games.game_count.max(1) as f64;
    let (draws, cut_off) = (share(games.draw_count), share(games.cut_off_count));
    let openings = share(games.distinct_opening_count);
    let alarm = |is_due: bool, kind: AlarmKind, share: f64, limit: f64, advice: &str| {
        let text = format!("share {share:.2} in iteration {iteration}, the limit is {limit}: {advice}");
        board.set(kind, is_due.then_some(text));
        if is_due {
            warn!(iteration, alarm = kind.name(), share = format!("{share:.2}"), limit, advice, "alarm");
        }
    };
    let (limit, advice) = (config.draw_share_max, "the network may be learning to draw");
    alarm(draws > limit, AlarmKind::Draws, draws, limit, advice);
    let advice = "many games teach nothing: raise game.ply_limit or start from human games";
    let limit = config.cut_off_share_max;
    alarm(cut_off > limit, AlarmKind::CutOff, cut_off, limit, advice);
    let limit = config.distinct_opening_share_min;
    let advice = "games repeat each other: raise temperature or dirichlet_weight";
    alarm(openings < limit, AlarmKind::DistinctOpenings, openings, limit, advice);
}

/// Newest games that were played on by which resignation is judged, and the fewest.
pub(super) const PLAYED_ON_JUDGED: u32 = 100;
const PLAYED_ON_MIN: u64 = 20;

/// Warns if too many of the sides that would have resigned did not lose: games are taken for lost that are not, and the value
/// learns so. Few games say nothing. Turns the alarm on or off.
pub(super) fn check_resignation(config: &AlarmConfig, board: &AlarmBoard, iteration: u32, played_on: &PlayedOn) {
    let (share, limit) = (played_on.false_share(), config.false_resignation_share_max);
    if played_on.game_count < PLAYED_ON_MIN || share <= limit {
        board.set(AlarmKind::FalseResignations, None);
        return;
    }
    let advice = "sides resign games that they need not lose: raise self_play.resign_value or self_play.resign_plies";
    let (falsely, games) = (played_on.false_count, played_on.game_count);
    let text = format!(
        "share {share:.2} ({falsely} of the {games} newest games that were played on) in iteration {iteration}, the limit is \
         {limit}: {advice}"
    );
    board.set(AlarmKind::FalseResignations, Some(text));
    let (alarm, share) = (AlarmKind::FalseResignations.name(), format!("{share:.2}"));
    warn!(iteration, alarm, share, games, limit, advice, "alarm");
}

/// Warns if the candidate's value errs more on held-out self-play games than that of the best network. Few positions say
/// nothing: below `position_count_min` there is no warning. Turns the alarm on or off.
pub(super) fn check_held_out(
    config: &AlarmConfig,
    board: &AlarmBoard,
    iteration: u32,
    pair: &PredictionPair,
    position_count_min: u64,
) {
    let (rise, limit) = (pair.value_error_rise(), config.value_error_rise_max);
    if pair.candidate.position_count < position_count_min || rise <= limit {
        board.set(AlarmKind::ValueError, None);
        return;
    }
    let advice = "the candidate knows its last games by heart: lower training.uses_per_position or the learning rate, or \
                  raise self_play.games_per_iteration";
    let text = format!("rise {rise:.3} in iteration {iteration}, the limit is {limit}: {advice}");
    board.set(AlarmKind::ValueError, Some(text));
    warn!(iteration, alarm = AlarmKind::ValueError.name(), rise = format!("{rise:.3}"), limit, advice, "alarm");
}

/// Fewest games of a gate whose score without a draw or a loss is worth a warning.
const SWEEP_GAMES_MIN: u32 = 10;

/// Warns if the candidate won all games of its gate, or lost all of them to one worker that played them alone: beyond the
/// first generations a step is smaller, and whoever may play gates may have made them up. Turns the alarm on or off.
pub(super) fn check_gate(board: &AlarmBoard, iteration: u32, report: &GateReport, players: &BTreeSet<String>) {
    let GateScore { wins, draws, losses } = report.score;
    let is_alone = players.len() == 1;
    let verb = match (wins, draws, losses) {
        (SWEEP_GAMES_MIN.., 0, 0) => Some("won"),
        (0, 0, SWEEP_GAMES_MIN..) if is_alone => Some("lost"),
        _ => None,
    };
    let Some(verb) = verb else {
        board.set(AlarmKind::Gate, None);
        return;
    };
    let (games, candidate) = (wins + losses, report.candidate_id.get());
    let by =
        players.first().filter(|_| is_alone).map_or_else(String::new, |player| format!(", all played by {player}"));
    let advice = "rare beyond the first generations: look at the games, and at who played them (docs/security.md)";
    let text =
        format!("network {candidate} {verb} all {games} games of the gate of iteration {iteration}{by}: {advice}");
    board.set(AlarmKind::Gate, Some(text));
    let players = players.len();
    warn!(iteration, alarm = AlarmKind::Gate.name(), games, verb, candidate, players, advice, "alarm");
}

/// Warns of workers whose games of a gate do not count.
pub(super) fn raise_gate_check(board: &AlarmBoard, iteration: u32, workers: &[String]) {
    let advice = "they did not play by search: take the evaluators' token from whoever runs them, or mend the machine; the \
                  gate goes on with other evaluators (docs/security.md)";
    let workers = workers.join(", ");
    let text = format!("games of the gate of iteration {iteration} do not count, of {workers}: {advice}");
    board.set(AlarmKind::GateCheck, Some(text));
    warn!(iteration, alarm = AlarmKind::GateCheck.name(), workers, advice, "alarm");
}

/// Turns the alarm off at the verdict of a gate in which all games counted.
pub(super) fn settle_gate_check(board: &AlarmBoard, is_discounted: bool) {
    if !is_discounted {
        board.set(AlarmKind::GateCheck, None);
    }
}

/// Warns if the best networks of enough promotions are weaker than the one that the run began from. Turns the alarm on or
/// off.
pub(super) fn check_yardstick(config: &YardstickConfig, board: &AlarmBoard, iteration: u32, report: &YardstickReport) {
    let (pooled, interval) = (report.pooled, report.pooled.confidence_interval());
    let is_due = report.generation.get() >= config.pooled_generations && interval.high < 0.5;
    let advice = "the promoted networks are weaker than network 1: go back to it, with a stricter gate";
    let text = format!("score {:.3} of {} games: {advice}", pooled.score(), pooled.game_count());
    board.set(AlarmKind::Yardstick, is_due.then_some(text));
    if is_due {
        warn!(
            iteration,
            alarm = AlarmKind::Yardstick.name(),
            score = format!("{:.3}", pooled.score()),
            interval = format!("{:.3}..{:.3}", interval.low, interval.high),
            games = pooled.game_count(),
            advice,
            "alarm"
        );
    }
}

/// Warns of a training that went back to a checkpoint since a loss was not finite, until the next one does not.
pub(super) fn check_losses(board: &AlarmBoard, iteration: u32, rollback_count: u32) {
    let text = || {
        format!(
            "the training of iteration {iteration} went back to a checkpoint {rollback_count} times, since a loss was not \
             finite: lower the learning rate, or set training.gradient_clip_norm"
        )
    };
    // The trainer has logged it.
    board.set(AlarmKind::LossNotFinite, (rollback_count > 0).then(text));
}

#[cfg(test)]
mod tests {
    use shared::gate::PairCounts;
    use shared::ids::NetworkId;

    use super::*;
    use crate::config::LearnerConfig;
    use crate::prediction::PredictionMetrics;

    fn config() -> AlarmConfig {
        AlarmConfig {
            draw_share_max: 0.5,
            cut_off_share_max: 0.2,
            distinct_opening_share_min: 0.5,
            value_error_rise_max: 0.05,
            ..LearnerConfig::default().alarms
        }
    }

    fn on(board: &AlarmBoard) -> Vec<&'static str> {
        board.on().iter().map(|alarm| alarm.kind.name()).collect()
    }

    #[test]
    fn a_value_that_gets_worse_on_enough_held_out_positions_warns() {
        let of = |value_error_sum| PredictionMetrics { position_count: 100, value_error_sum, ..Default::default() };
        let board = AlarmBoard::default();
        let is_on = |candidate, best, position_count_min| {
            let pair = PredictionPair { candidate: of(candidate), best: of(best) };
            check_held_out(&config(), &board, 1, &pair, position_count_min);
            !board.on().is_empty()
        };
        assert!(is_on(66.0, 60.0, 100), "0.66 after 0.60");
        assert!(!is_on(64.0, 60.0, 100), "within the limit");
        assert!(!is_on(50.0, 60.0, 100), "better");
        assert!(!is_on(66.0, 60.0, 101), "too few positions");
    }

    #[test]
    fn each_share_out_of_bounds_warns_until_it_is_within_them() {
        let games = |draw_count, cut_off_count, distinct_opening_count| GameStatistics {
            game_count: 10,
            draw_count,
            cut_off_count,
            mean_ply_count: 50.0,
            sample_count: 500,
            distinct_opening_count,
            ..GameStatistics::default()
        };
        let board = AlarmBoard::default();
        let check = |games: GameStatistics| {
            check(&config(), &board, 1, &games);
            on(&board)
        };
        assert_eq!(check(games(5, 2, 5)), [""; 0]);
        assert_eq!(check(games(6, 2, 5)), ["draws"]);
        assert_eq!(check(games(6, 3, 4)), ["draws", "cut_off", "distinct_openings"]);
        assert_eq!(check(games(5, 3, 5)), ["cut_off"]);
        assert!(board.on()[0].text.starts_with("share 0.30 in iteration 1, the limit is 0.2: "), "{:?}", board.on());
    }

    #[test]
    fn more_false_resignations_than_the_limit_of_enough_games_warn_and_name_the_key() {
        let board = AlarmBoard::default();
        let is_on = |false_count, game_count| {
            check_resignation(&config(), &board, 3, &PlayedOn { game_count, false_count });
            on(&board) == ["false_resignations"]
        };
        assert!(is_on(2, 20));
        let text = board.on()[0].text.clone();
        assert!(
            text.starts_with("share 0.10 (2 of the 20 newest games that were played on) in iteration 3, "),
            "{text}"
        );
        assert!(text.contains("raise self_play.resign_value"), "{text}");
        assert!(!is_on(19, 19), "too few games");
        assert!(!is_on(1, 20), "5 %, and no more");
        assert!(is_on(6, 100));
        assert!(!is_on(5, 100));
        assert!(!is_on(0, 0));
    }

    #[test]
    fn a_gate_without_a_draw_or_a_loss_warns_until_the_next_one() {
        let board = AlarmBoard::default();
        let is_on = |wins, draws, losses, players: &[&str]| {
            let report = GateReport {
                candidate_id: NetworkId::new(7).expect("a number"),
                settings: LearnerConfig::default().gate.settings(),
                score: GateScore { wins, draws, losses },
                tested_pairs: PairCounts::default(),
                verdict: None,
                pair_count: 20,
                distinct_opening_count: 20,
                distinct_game_count: wins + draws + losses,
            };
            check_gate(&board, 4, &report, &players.iter().map(|&player| player.to_owned()).collect());
            on(&board) == ["gate"]
        };
        assert!(is_on(10, 0, 0, &["a", "b"]));
        assert!(board.on()[0].text.starts_with("network 7 won all 10 games of the gate of iteration 4: "));
        assert!(!is_on(9, 0, 0, &["a"]), "too few games");
        assert!(!is_on(20, 1, 0, &["a"]));
        assert!(!is_on(20, 0, 1, &["a"]));
        assert!(!is_on(0, 0, 10, &["a", "b"]), "a candidate that is much worse");
        assert!(is_on(0, 0, 10, &["a"]));
        let text = &board.on()[0].text;
        assert!(
            text.starts_with("network 7 lost all 10 games of the gate of iteration 4, all played by a: "),
            "{text}"
        );
    }

    #[test]
    fn games_that_do_not_count_warn_until_the_verdict_of_a_gate_in_which_all_do() {
        let board = AlarmBoard::default();
        raise_gate_check(&board, 4, &["w (9 of 20 plies, 30 games)".to_owned()]);
        settle_gate_check(&board, true);
        assert_eq!(on(&board), ["gate_check"]);
        assert!(board.on()[0].text.contains("of w (9 of 20 plies, 30 games): "), "{:?}", board.on());
        settle_gate_check(&board, false);
        assert_eq!(on(&board), [""; 0]);
    }

    #[test]
    fn a_loss_that_was_not_finite_warns_until_the_next_training() {
        let board = AlarmBoard::default();
        check_losses(&board, 4, 2);
        assert_eq!(on(&board), ["loss_not_finite"]);
        check_losses(&board, 5, 0);
        assert_eq!(on(&board), [""; 0]);
    }
}

//! The gate's verdict: exact at the edge, early, and independent of the order in which games finish.

use proptest::prelude::*;
use shared::gate::{
    GateResult, GateRule, GateScore, GateSettings, GateTally, PairCounts, SequentialTest, Verdict,
    score_verdict as verdict,
};

const TEST: SequentialTest = SequentialTest { elo0: 0.0, elo1: 35.0, alpha: 0.05, beta: 0.05 };
const SETTINGS: GateSettings =
    GateSettings { rule: GateRule::Score, game_count: 400, promotion_score: 0.55, test: TEST };

fn score(wins: u32, draws: u32, losses: u32) -> GateScore {
    GateScore { wins, draws, losses }
}

#[test]
fn exactly_the_score_promotes() {
    assert_eq!(verdict(&SETTINGS, &score(220, 0, 180)), Some(Verdict::Promoted));
    assert_eq!(verdict(&SETTINGS, &score(40, 360, 0)), Some(Verdict::Promoted));
    assert_eq!(verdict(&SETTINGS, &score(219, 1, 180)), Some(Verdict::Rejected));
    assert_eq!(verdict(&SETTINGS, &score(0, 400, 0)), Some(Verdict::Rejected));
}

#[test]
fn every_share_of_a_hundred_is_exact() {
    for percent in 1..=100 {
        let settings = GateSettings { game_count: 100, promotion_score: f64::from(percent) / 100.0, ..SETTINGS };
        assert_eq!(verdict(&settings, &score(percent, 0, 100 - percent)), Some(Verdict::Promoted), "{percent} %");
        let below = score(percent - 1, 1, 100 - percent);
        assert_eq!(verdict(&settings, &below), Some(Verdict::Rejected), "half a point below {percent} %");
    }
}

#[test]
fn the_verdict_falls_as_soon_as_it_can() {
    assert_eq!(verdict(&SETTINGS, &score(219, 1, 0)), None);
    assert_eq!(verdict(&SETTINGS, &score(220, 0, 0)), Some(Verdict::Promoted));
    assert_eq!(verdict(&SETTINGS, &score(0, 0, 180)), None);
    assert_eq!(verdict(&SETTINGS, &score(0, 1, 180)), Some(Verdict::Rejected));
    assert_eq!(verdict(&SETTINGS, &score(0, 0, 0)), None);
}

#[test]
fn impossible_settings_are_named() {
    assert_eq!(
        GateSettings { game_count: 401, ..SETTINGS }.check().map_err(|e| e.to_string()),
        Err("game_count: 401 is odd: games come in pairs".into())
    );
    for promotion_score in [0.0, -1.0, 1.01, f64::NAN, f64::INFINITY] {
        let checked = GateSettings { promotion_score, ..SETTINGS }.check();
        assert_eq!(checked.expect_err("impossible").key, "promotion_score", "{promotion_score}");
    }
    assert_eq!(SETTINGS.check(), Ok(()));
}

#[test]
fn the_interval_is_wilsons() {
    // 55 of 100: the interval that R's prop.test(55, 100, correct = FALSE) prints.
    let interval = score(55, 0, 45).confidence_interval();
    assert!((interval.low - 0.452_446).abs() < 1e-5, "{interval:?}");
    assert!((interval.high - 0.643_857).abs() < 1e-5, "{interval:?}");
    assert_eq!(score(0, 0, 0).confidence_interval().high, 1.0);
    assert!(score(10, 0, 0).confidence_interval().low < 1.0);
}

#[test]
fn elo_follows_the_score() {
    assert!(score(10, 20, 10).elo_difference().abs() < 1e-9);
    assert!((score(10, 0, 1).elo_difference() - 400.0).abs() < 1e-9);
    assert_eq!(score(3, 0, 0).elo_difference(), f64::INFINITY);
    assert_eq!(score(0, 0, 3).elo_difference(), f64::NEG_INFINITY);
    assert!(score(220, 0, 180).elo_interval().low < score(220, 0, 180).elo_difference());
}

#[test]
fn the_likelihood_ratio_is_fishtests() {
    // Published results of tests of Stockfish with bounds in logistic Elo: pull requests 3209, 2971 and 2950.
    for (pairs, elo0, elo1, expected) in [
        ([253, 4282, 17604, 4431, 286], -0.25, 1.25, 2.94),
        ([58, 3302, 33130, 3518, 84], 0.25, 1.25, 2.97),
        ([17, 253, 1042, 337, 39], -0.5, 1.5, 2.96),
        ([11, 407, 3238, 513, 11], 0.25, 1.75, 2.93),
        ([133, 1751, 5094, 1849, 165], -0.5, 1.5, 2.94),
    ] {
        let ratio = SequentialTest { elo0, elo1, ..TEST }.log_likelihood_ratio(&PairCounts(pairs));
        assert!((ratio - expected).abs() < 0.005, "{pairs:?}: {ratio} is not {expected}");
    }
    assert!((TEST.bounds()[1] - 2.944).abs() < 1e-3 && (TEST.bounds()[0] + 2.944).abs() < 1e-3, "{:?}", TEST.bounds());
}

#[test]
fn results_that_have_not_occurred_are_not_impossible() {
    let ratio = |pairs| TEST.log_likelihood_ratio(&PairCounts(pairs));
    assert_eq!(ratio([0; 5]), 0.0);
    // Who wins every pair is as likely as the score of each hypothesis: 0.550 against 0.5.
    let won = ratio([0, 0, 0, 0, 10]);
    assert!((won - 10.0 * (0.550_199_f64 / 0.5).ln()).abs() < 0.01, "{won}");
    assert!(ratio([10, 0, 0, 0, 0]) < -0.9 && ratio([0, 0, 10, 0, 0]) < 0.0);
}

#[test]
fn a_sequential_gate_stops_when_it_knows_and_else_asks_the_score() {
    let wide = SequentialTest { elo0: 0.0, elo1: 200.0, ..TEST };
    let settings = GateSettings { rule: GateRule::Sequential, game_count: 40, promotion_score: 0.6, test: wide };
    let pairs_until = |result| {
        let mut tally = GateTally::new(settings);
        let verdict = (0..20).find_map(|pair| {
            tally.count(pair, true, result);
            tally.count(pair, false, result);
            tally.verdict()
        });
        (verdict, tally.tested_pairs().pair_count())
    };
    assert_eq!(pairs_until(GateResult::Won), (Some(Verdict::Promoted), 8));
    assert_eq!(pairs_until(GateResult::Lost), (Some(Verdict::Rejected), 5));
    let limit = |wins: u32| {
        let narrow = SequentialTest { elo0: 0.0, elo1: 1.0, ..TEST };
        let mut tally = GateTally::new(GateSettings { test: narrow, ..settings });
        for pair in 0..20 {
            assert_eq!(tally.verdict(), None);
            tally.count(pair, true, if pair < wins { GateResult::Won } else { GateResult::Drawn });
            tally.count(pair, false, GateResult::Drawn);
        }
        tally.verdict()
    };
    assert_eq!((limit(8), limit(7)), (Some(Verdict::Promoted), Some(Verdict::Rejected)), "0.6 of 40 games");
}

#[test]
fn a_game_counts_once_and_pairs_that_the_gate_has_not_are_passed_over() {
    let mut tally = GateTally::new(GateSettings { game_count: 4, ..SETTINGS });
    for _ in 0..3 {
        tally.count(1, false, GateResult::Won);
        tally.count(2, true, GateResult::Lost);
    }
    assert_eq!((tally.score(), tally.verdict()), (score(1, 0, 0), None));
}

proptest! {
    /// Short games finish first: the test must not see them first.
    #[test]
    fn a_sequential_verdict_does_not_depend_on_which_games_finish_first(
        results in prop::collection::vec(0u8..3, 1..60).prop_map(|half| half.repeat(2)),
        order in any::<u64>(),
        elo1 in 10.0f64..400.0,
    ) {
        let game_count = results.len() as u32;
        let test = SequentialTest { elo1, ..TEST };
        let settings = GateSettings { rule: GateRule::Sequential, game_count, promotion_score: 0.5, test };
        let play = |games: &[usize]| {
            let mut tally = GateTally::new(settings);
            let mut first = None;
            for &game in games {
                let result = [GateResult::Won, GateResult::Drawn, GateResult::Lost][usize::from(results[game])];
                tally.count(game as u32 / 2, game % 2 == 0, result);
                assert!(first.is_none() || tally.verdict() == first, "a verdict that fell does not change");
                first = tally.verdict();
            }
            (first.expect("all games are finished"), tally.tested_pairs())
        };
        let in_order: Vec<usize> = (0..results.len()).collect();
        let (mut shuffled, mut remaining, mut order) = (vec![], in_order.clone(), order);
        while !remaining.is_empty() {
            order = order.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            shuffled.push(remaining.swap_remove((order >> 33) as usize % remaining.len()));
        }
        prop_assert_eq!(play(&in_order), play(&shuffled));
    }

    /// Whatever order the games finish in, the first verdict is the verdict of all results.
    #[test]
    fn the_verdict_is_a_function_of_all_results(
        results in prop::collection::vec(0u8..3, 1..60).prop_map(|half| half.repeat(2)),
        order in any::<u64>(),
        promotion_score in 0.01f64..1.0,
    ) {
        let settings = GateSettings { game_count: results.len() as u32, promotion_score, ..SETTINGS };
        let total = results.iter().fold(GateScore::default(), |score, result| add(score, *result));
        let expected = verdict(&settings, &total).expect("all games are finished");
        let mut order = order;
        let mut remaining = results;
        let mut so_far = GateScore::default();
        let mut first = verdict(&settings, &so_far);
        while !remaining.is_empty() {
            order = order.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let next = remaining.swap_remove((order >> 33) as usize % remaining.len());
            so_far = add(so_far, next);
            let now = verdict(&settings, &so_far);
            prop_assert!(first.is_none() || now == first, "a verdict that fell does not change");
            first = first.or(now);
        }
        prop_assert_eq!(first, Some(expected));
    }
}

fn add(mut score: GateScore, result: u8) -> GateScore {
    match result {
        0 => score.wins += 1,
        1 => score.draws += 1,
        _ => score.losses += 1,
    }
    score
}

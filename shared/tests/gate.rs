//! The gate's verdict: exact at the edge, early, and independent of the order in which games finish.

use proptest::prelude::*;
use shared::gate::{GateScore, GateSettings, Verdict, verdict};

const SETTINGS: GateSettings = GateSettings { game_count: 400, promotion_score: 0.55 };

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
        let settings = GateSettings { game_count: 100, promotion_score: f64::from(percent) / 100.0 };
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

proptest! {
    /// Whatever order the games finish in, the first verdict is the verdict of all results.
    #[test]
    fn the_verdict_is_a_function_of_all_results(
        results in prop::collection::vec(0u8..3, 1..60).prop_map(|half| half.repeat(2)),
        order in any::<u64>(),
        promotion_score in 0.01f64..1.0,
    ) {
        let settings = GateSettings { game_count: results.len() as u32, promotion_score };
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

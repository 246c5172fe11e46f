//! How often a gate promotes a candidate that is no stronger than the best network, and one that is: the table of
//! docs/training.md, computed.

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use shared::gate::{GateResult, GateRule, GateScore, GateSettings, GateTally, SequentialTest, Verdict, score_verdict};

/// Simulated gates: their share has a standard error below 0.6 %.
const GATE_COUNT: u32 = 8000;

const fn score(game_count: u32, promotion_score: f64) -> GateSettings {
    let test = SequentialTest { elo0: 0.0, elo1: 70.0, alpha: 0.05, beta: 0.05 };
    GateSettings { rule: GateRule::Score, game_count, promotion_score, test }
}

/// Chances of a win, a draw and a loss of a candidate so much stronger, if so many games are drawn.
fn chances(elo: f64, draw_share: f64) -> [f64; 3] {
    let win = 1.0 / (1.0 + 10_f64.powf(-elo / 400.0)) - draw_share / 2.0;
    [win, draw_share, 1.0 - draw_share - win]
}

/// Returns the share of gates that promote by the score, exactly.
fn promoted_by_score(settings: &GateSettings, [win, draw, loss]: [f64; 3]) -> f64 {
    // Chance of each number of half points.
    let mut shares = vec![1.0];
    for _ in 0..settings.game_count {
        let mut next = vec![0.0; shares.len() + 2];
        for (half_points, share) in shares.iter().enumerate() {
            for (won, chance) in [loss, draw, win].into_iter().enumerate() {
                next[half_points + won] += share * chance;
            }
        }
        shares = next;
    }
    let is_promoted = |half_points: u32| {
        let (wins, draws) = (half_points / 2, half_points % 2);
        let score = GateScore { wins, draws, losses: settings.game_count - wins - draws };
        score_verdict(settings, &score) == Some(Verdict::Promoted)
    };
    (0..).zip(&shares).filter(|(half_points, _)| is_promoted(*half_points)).map(|(_, share)| share).sum()
}

/// Returns the share of simulated gates that promote by the sequential test, and the games that they took on average.
fn promoted_by_test(settings: &GateSettings, [win, draw, _]: [f64; 3]) -> (f64, f64) {
    let mut random = Pcg64::seed_from_u64(1);
    let (mut promoted, mut games) = (0, 0);
    for _ in 0..GATE_COUNT {
        let mut tally = GateTally::new(*settings);
        for game in 0..settings.game_count {
            let drawn: f64 = random.random();
            let result = match drawn {
                drawn if drawn < win => GateResult::Won,
                drawn if drawn < win + draw => GateResult::Drawn,
                _ => GateResult::Lost,
            };
            tally.count(game / 2, game % 2 == 0, result);
            if tally.verdict().is_some() {
                break;
            }
        }
        promoted += u32::from(tally.verdict() == Some(Verdict::Promoted));
        games += tally.score().game_count();
    }
    (f64::from(promoted) / f64::from(GATE_COUNT), f64::from(games) / f64::from(GATE_COUNT))
}

#[test]
fn the_score_of_few_games_promotes_many_an_equal_candidate() {
    // Settings, then in percent: equal candidates promoted without draws and if half of the games are drawn, and
    // candidates 70 Elo stronger.
    let table = [
        ("hive-original, hive-4090", score(400, 0.55), [2.6, 0.3], [98.0, 99.8]),
        ("40 games, as hive-cpu had", score(40, 0.55), [31.8, 21.7], [78.9, 85.0]),
        ("dama-original", score(100, 0.55), [18.4, 8.9], [86.6, 93.6]),
        ("dama-cpu", score(40, 0.525), [43.7, 36.9], [86.9, 93.3]),
        ("hive-cpu-zero", score(20, 0.5), [58.8, 56.3], [87.1, 92.9]),
        ("tictactoe", score(40, 0.5), [56.3, 54.5], [92.5, 97.5]),
    ];
    for (presets, settings, equal, stronger) in table {
        for (elo, expected) in [(0.0, equal), (70.0, stronger)] {
            for (draw_share, expected) in [0.0, 0.5].into_iter().zip(expected) {
                let percent = 100.0 * promoted_by_score(&settings, chances(elo, draw_share));
                assert!((percent - expected).abs() < 0.1, "{presets}, {elo} Elo, {draw_share} drawn: {percent}");
            }
        }
    }
}

#[test]
fn the_sequential_test_promotes_few_of_them_in_not_many_more_games() {
    let elo1_of_70 = GateSettings { rule: GateRule::Sequential, ..score(200, 0.55) };
    let mut hive_cpu = GateSettings { rule: GateRule::Sequential, ..score(120, 0.55) };
    hive_cpu.test.elo1 = 100.0;
    // Settings, then for candidates so much stronger, with so many drawn games: the share promoted, and games on average.
    let table = [
        (
            elo1_of_70,
            [(0.0, 0.0, 0.094, 120.3), (0.0, 0.5, 0.049, 72.4), (70.0, 0.0, 0.917, 121.6), (70.0, 0.5, 0.948, 71.8)],
        ),
        (
            hive_cpu,
            [(0.0, 0.0, 0.139, 64.1), (0.0, 0.5, 0.047, 40.0), (70.0, 0.0, 0.822, 79.7), (70.0, 0.5, 0.802, 55.9)],
        ),
    ];
    for (settings, rows) in table {
        for (elo, draw_share, promoted, games) in rows {
            let (share, mean) = promoted_by_test(&settings, chances(elo, draw_share));
            assert!((share - promoted).abs() < 0.012, "{elo} Elo, {draw_share} drawn: {share}");
            assert!((mean - games).abs() < 3.0, "{elo} Elo, {draw_share} drawn: {mean} games");
        }
    }
}

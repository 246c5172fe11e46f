//! Chance in the search: temperature and noise, both from the seed alone.

mod support;

use std::collections::HashMap;

use shared::game::Game;
use shared::search::{Search, SearchEffort, SearchSettings};
use support::{GAME, searched, simulate};

fn noisy() -> SearchSettings {
    SearchSettings { simulation_count: 100, leaves_per_game: 1, ..SearchSettings::default() }
}

/// Checks that moves are chosen in proportion to visits to the power of `power`, within five standard deviations.
fn check_temperature(temperature: f32, power: f64) {
    let settings = SearchSettings { temperature, ..noisy() };
    let mut search = searched(GAME.initial_position(), settings, 7, 100);
    let draws = 20_000;
    let mut chosen = HashMap::new();
    for _ in 0..draws {
        *chosen.entry(search.choose_move()).or_insert(0_u32) += 1;
    }
    let weights: Vec<_> =
        search.visit_counts().into_iter().map(|(mv, visits)| (mv, f64::from(visits).powf(power))).collect();
    let total: f64 = weights.iter().map(|(_, weight)| weight).sum();
    for (mv, weight) in weights {
        let share = weight / total;
        let expected = share * f64::from(draws);
        let deviation = (f64::from(draws) * share * (1.0 - share)).sqrt();
        let count = f64::from(chosen.get(&mv).copied().unwrap_or(0));
        assert!((count - expected).abs() <= 5.0 * deviation + 1e-9, "{mv:?}: {count} times, expected {expected}");
    }
}

#[test]
fn temperature_one_chooses_in_proportion_to_visits() {
    check_temperature(1.0, 1.0);
}

#[test]
fn temperature_one_half_chooses_in_proportion_to_their_squares() {
    check_temperature(0.5, 2.0);
}

#[test]
fn temperature_zero_chooses_the_most_visited_move() {
    let mut search = searched(GAME.initial_position(), SearchSettings { temperature: 0.0, ..noisy() }, 7, 100);
    let most = search.visit_counts().into_iter().max_by_key(|(_, visits)| *visits).map(|(mv, _)| mv);
    for _ in 0..100 {
        assert_eq!(Some(search.choose_move()), most);
    }
}

#[test]
fn temperature_changes_with_the_ply() {
    let settings = SearchSettings { temperature_plies: 3, ..SearchSettings::default() };
    assert_eq!([0, 2, 3, 50].map(|ply| settings.temperature_at(ply)), [1.0, 1.0, 0.1, 0.1]);
}

#[test]
fn the_same_seed_gives_the_same_game() {
    let play = |seed| {
        let mut search = searched(GAME.initial_position(), noisy(), seed, 100);
        let mut outlines = vec![];
        while GAME.outcome(search.position()).is_none() {
            outlines.push(search.outline(9));
            let mv = search.choose_move();
            search.play(mv);
            simulate(&mut search, 100);
        }
        outlines
    };
    assert_eq!(play(3), play(3));
    assert_ne!(play(3), play(4));
}

/// Priors of the root's visited moves, by move.
fn root_priors(search: &Search<shared::game::tictactoe::TicTacToe>) -> Vec<String> {
    let outline = search.outline(1);
    let mut priors: Vec<String> =
        outline.lines().skip(1).map(|line| line.split(" visits").next().unwrap_or(line).to_owned()).collect();
    priors.sort();
    priors
}

#[test]
fn noise_is_at_the_root_alone_and_new_after_each_ply() {
    let quiet_settings = SearchSettings { dirichlet_alpha: 0.0, ..noisy() };
    let quiet = searched(GAME.initial_position(), quiet_settings, 1, 100);
    let mut first = searched(GAME.initial_position(), noisy(), 1, 100);
    let second = searched(GAME.initial_position(), noisy(), 2, 100);
    assert_ne!(root_priors(&quiet), root_priors(&first));
    assert_ne!(root_priors(&first), root_priors(&second));
    let mv = first.choose_move();
    let line = format!("  {} ", GAME.format_move(first.position(), mv));
    let outline = first.outline(2);
    let below = outline.lines().skip_while(|text| !text.starts_with(&line)).skip(1);
    let mut before: Vec<String> = below
        .take_while(|text| text.starts_with("    "))
        .map(|text| text[2..].split(" visits").next().unwrap_or(text).to_owned())
        .collect();
    before.sort();
    first.play(mv);
    assert_eq!(before.len(), root_priors(&first).len());
    assert_ne!(before, root_priors(&first), "a root that was kept gets noise of its own");
}

#[test]
fn a_fast_search_takes_fewer_simulations_and_no_noise() {
    let settings = SearchSettings { full_search_share: 0.5, fast_simulation_count: 30, ..noisy() };
    let mut fast = Search::new(GAME, GAME.initial_position(), settings.clone(), 1).expect("a game that goes on");
    fast.set_effort(SearchEffort::Fast);
    simulate(&mut fast, 1000);
    assert_eq!(fast.simulation_count(), 30);
    let quiet = searched(GAME.initial_position(), settings.clone().for_match(30), 1, 1000);
    assert_eq!(fast.outline(9), quiet.outline(9), "as without noise");
    // After it a position that is searched fully: its tree is kept, gets noise, and goes on to all simulations.
    let mv = quiet.principal_variation()[0];
    let priors_of = |effort| {
        let mut search = Search::new(GAME, GAME.initial_position(), settings.clone(), 1).expect("a game that goes on");
        search.set_effort(SearchEffort::Fast);
        simulate(&mut search, 1000);
        search.set_effort(effort);
        search.play(mv);
        let priors = root_priors(&search);
        simulate(&mut search, 1000);
        (priors, search.simulation_count())
    };
    let ((with_noise, full_count), (without, fast_count)) =
        (priors_of(SearchEffort::Full), priors_of(SearchEffort::Fast));
    assert_ne!(with_noise, without);
    assert_eq!((full_count, fast_count), (100, 30));
}

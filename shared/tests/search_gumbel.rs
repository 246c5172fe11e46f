//! The Gumbel root: how it shares out simulations, what the policy learns, which move it plays.

#[path = "support/bandit.rs"]
mod bandit;
mod support;

use bandit::{Arm, Bandit};
use proptest::prelude::*;
use shared::game::tictactoe::{Square, TicTacToe};
use shared::game::{Game, Outcome, Side, Value};
use shared::search::{
    LeafSource, ParallelSearch, Proof, Request, RootSelection, Rule, Search, SearchSettings, run_search,
};
use support::{GAME, answer, board, fake_network, searched};

fn gumbel(simulation_count: u32, considered_move_count: u32) -> SearchSettings {
    let root = RootSelection::Gumbel;
    SearchSettings { simulation_count, considered_move_count, root, leaves_per_game: 1, ..SearchSettings::default() }
}

/// The same without chance.
fn greedy(simulation_count: u32, considered_move_count: u32) -> SearchSettings {
    gumbel(simulation_count, considered_move_count).for_match(simulation_count)
}

/// Searches a bandit whose policy has these priors, and which is worth what that policy wins.
fn searched_bandit(values: &[f32], priors: &[f32], settings: SearchSettings, seed: u64) -> Search<Bandit> {
    let game = Bandit { values: values.to_vec() };
    let before: f32 = values.iter().zip(priors).map(|(value, prior)| value * prior).sum();
    let position = game.initial_position();
    let mut search = Search::new(game.clone(), position, settings, seed).expect("a game that goes on");
    run_search(&mut search, |position, _, given| {
        if position.ply == 0 {
            given.copy_from_slice(priors)
        } else {
            given.fill(1.0)
        }
        game.value(position, before)
    });
    search
}

/// Returns the visits of the moves, most first.
fn visits<G: Game>(search: &Search<G>) -> Vec<u32> {
    let mut visits: Vec<u32> = search.visit_counts().into_iter().map(|(_, visits)| visits).collect();
    visits.sort_unstable_by(|one, other| other.cmp(one));
    visits
}

/// Returns the shares of the moves by their number.
fn shares(search: &Search<Bandit>) -> Vec<f32> {
    let mut policy = search.improved_policy().expect("a Gumbel root");
    policy.sort_by_key(|(Arm(index), _)| *index);
    policy.into_iter().map(|(_, share)| share).collect()
}

fn expected_value(values: &[f32], shares: &[f32]) -> f32 {
    values.iter().zip(shares).map(|(value, share)| value * share).sum()
}

#[test]
fn simulations_are_shared_out_by_halving() {
    // 24 below the root among 8 of 9 moves: 8 get 1, of which 4 get 2 more, of which 2 get 4 more.
    let search = searched(GAME.initial_position(), gumbel(25, 8), 1, 100);
    assert_eq!((search.simulation_count(), visits(&search)), (25, vec![7, 7, 3, 3, 1, 1, 1, 1, 0]));
    let few = searched(GAME.initial_position(), gumbel(5, 16), 1, 100);
    assert_eq!((few.simulation_count(), visits(&few)), (5, vec![1, 1, 1, 1, 0, 0, 0, 0, 0]));
    let single = searched(GAME.initial_position(), gumbel(9, 1), 1, 100);
    assert_eq!((single.simulation_count(), visits(&single)), (9, vec![8, 0, 0, 0, 0, 0, 0, 0, 0]));
}

#[test]
fn leaves_that_are_awaited_count_as_visits() {
    for leaves_per_game in [2, 4, 8] {
        let settings = SearchSettings { leaves_per_game, ..gumbel(25, 8) };
        let mut search = searched(GAME.initial_position(), settings, 1, 1);
        let (mut awaited, mut awaited_max) = (vec![], 0);
        while !search.is_done() {
            match search.select_leaf() {
                Request::Evaluate(leaf) => awaited.push(leaf),
                Request::Finished => {}
                Request::Blocked => awaited.drain(..).for_each(|leaf| _ = answer(&mut search, leaf)),
            }
            awaited_max = awaited_max.max(awaited.len());
        }
        assert_eq!(awaited_max, leaves_per_game as usize, "the first phase alone has eight leaves");
        assert_eq!((search.simulation_count(), visits(&search)), (25, vec![7, 7, 3, 3, 1, 1, 1, 1, 0]));
    }
}

#[test]
fn leaves_given_up_are_made_up_for() {
    let mut search = searched(GAME.initial_position(), SearchSettings { leaves_per_game: 4, ..gumbel(25, 8) }, 1, 1);
    let mut count = 0;
    while !search.is_done() {
        if let Request::Evaluate(leaf) = search.select_leaf() {
            count += 1;
            if count % 3 == 0 { search.cancel(leaf) } else { _ = answer(&mut search, leaf) }
        }
    }
    assert_eq!((search.simulation_count(), visits(&search).iter().sum::<u32>()), (25, 24));
}

/// Priors 0.5, 0.3, 0.2; the two first are visited once and worth 0.2 and -0.4, the position 0.1 by the network.
///
/// v_mix = (0.1 + 2 (0.5 * 0.2 - 0.3 * 0.4) / 0.8) / 3 = 1/60. A value weighs (50 + 1) * 0.1 / 2 = 2.55 logits, so the
/// powers are 0.5 e^0.51, 0.3 e^-1.02 and 0.2 e^0.0425.
#[test]
fn the_improved_policy_is_as_by_hand() {
    let settings = SearchSettings { gumbel_value_scale: 0.1, ..greedy(3, 2) };
    let game = Bandit { values: vec![0.2, -0.4, 0.9] };
    let mut search = Search::new(game.clone(), game.initial_position(), settings, 1).expect("a game that goes on");
    run_search(&mut search, |position, _, priors| {
        priors.copy_from_slice(&[0.5, 0.3, 0.2]);
        game.value(position, 0.1)
    });
    let powers = [0.5 * 0.51_f32.exp(), 0.3 * (-1.02_f32).exp(), 0.2 * 0.0425_f32.exp()];
    let sum: f32 = powers.iter().sum();
    let found = shares(&search);
    for (share, power) in found.iter().zip(powers) {
        assert!((share - power / sum).abs() < 1e-5, "{found:?}");
    }
    let value = expected_value(&[0.2, -0.4, 1.0 / 60.0], &found);
    assert!((search.root_value().get() - value).abs() < 1e-5, "the value is that of play by the improved policy");
    assert_eq!((search.choose_move(), search.principal_variation()), (Arm(0), vec![Arm(0)]));
}

#[test]
fn with_sixteen_simulations_the_target_improves_where_visits_do_not() {
    // The best move has the lowest prior, and all others look alike: PUCT has no simulation to spare for it.
    let values = [-0.2, -0.2, -0.2, -0.2, -0.2, -0.2, -0.2, -0.2, -0.2, -0.2, -0.2, 0.8];
    let mut priors = [0.0899; 12];
    priors[11] = 1.0 - 11.0 * 0.0899;
    let before = expected_value(&values, &priors);
    let by_puct = SearchSettings { root: RootSelection::Puct, ..greedy(16, 12) };
    let puct = searched_bandit(&values, &priors, SearchSettings { first_play_urgency_reduction: 1.0, ..by_puct }, 1);
    let visits = puct.visit_counts();
    let sum: u32 = visits.iter().map(|(_, visits)| visits).sum();
    let by_visits: f32 =
        visits.iter().map(|(Arm(index), visits)| values[usize::from(*index)] * *visits as f32 / sum as f32).sum();
    assert!(by_visits < before, "{by_visits} is no better than {before}");
    let mut search = searched_bandit(&values, &priors, greedy(16, 12), 1);
    let improved = expected_value(&values, &shares(&search));
    assert!(improved > before + 0.5, "{improved} is better than {before}");
    assert_eq!(search.choose_move(), Arm(11));
}

proptest! {
    /// The promise of the paper: with exact values, whatever the priors and the Gumbel numbers.
    #[test]
    fn the_improved_policy_wins_no_less_than_the_priors(
        arms in prop::collection::vec((-1.0_f32..=1.0, 0.001_f32..1.0), 2..24),
        simulation_count in 2_u32..64,
        value_scale in prop::sample::select(vec![0.05_f32, 0.3, 1.0]),
        seed: u64,
    ) {
        let sum: f32 = arms.iter().map(|(_, prior)| prior).sum();
        let values: Vec<f32> = arms.iter().map(|(value, _)| *value).collect();
        let priors: Vec<f32> = arms.iter().map(|(_, prior)| prior / sum).collect();
        // Every move is visited, so every value is known.
        let simulation_count = simulation_count.max(values.len() as u32 + 1);
        let settings = SearchSettings { gumbel_value_scale: value_scale, ..gumbel(simulation_count, 24) };
        let search = searched_bandit(&values, &priors, settings, seed);
        prop_assert_eq!(search.simulation_count(), simulation_count);
        let improved = shares(&search);
        prop_assert!((improved.iter().sum::<f32>() - 1.0).abs() < 1e-4);
        let (after, before) = (expected_value(&values, &improved), expected_value(&values, &priors));
        prop_assert!(after >= before - 1e-5, "{} is worse than {}", after, before);
        prop_assert!((search.root_value().get() - after).abs() < 1e-4);
    }
}

/// With one simulation below the root and nothing to tell the moves apart, the Gumbel numbers draw from the priors.
fn check_draws(temperature: f32, power: f64) {
    let (values, priors) = ([0.0; 4], [0.1, 0.2, 0.3, 0.4]);
    let settings = SearchSettings { temperature, ..gumbel(2, 16) };
    let draws = 20_000;
    let mut chosen = [0_u32; 4];
    for seed in 0..draws {
        let Arm(index) = searched_bandit(&values, &priors, settings.clone(), seed).choose_move();
        chosen[usize::from(index)] += 1;
    }
    let weights = priors.map(|prior: f32| f64::from(prior).powf(power));
    for (weight, count) in weights.iter().zip(chosen) {
        let share = weight / weights.iter().sum::<f64>();
        let (expected, deviation) = (share * draws as f64, (draws as f64 * share * (1.0 - share)).sqrt());
        assert!((f64::from(count) - expected).abs() <= 5.0 * deviation, "{count} times, expected {expected}");
    }
}

#[test]
fn at_temperature_one_moves_are_drawn_by_their_priors() {
    check_draws(1.0, 1.0);
}

#[test]
fn at_temperature_one_half_moves_are_drawn_by_the_squares_of_their_priors() {
    check_draws(0.5, 2.0);
}

#[test]
fn without_temperature_there_is_no_chance() {
    let outline = |seed| searched(GAME.initial_position(), greedy(40, 8), seed, 100).outline(9);
    assert_eq!(outline(1), outline(2));
}

#[test]
fn the_same_seed_gives_the_same_game() {
    let play = |seed| {
        let mut search = searched(GAME.initial_position(), gumbel(20, 8), seed, 100);
        let mut shown = vec![];
        while GAME.outcome(search.position()).is_none() {
            shown.push((search.outline(9), search.improved_policy()));
            let mv = search.choose_move();
            search.play(mv);
            support::simulate(&mut search, 100);
        }
        shown
    };
    assert_eq!(play(3), play(3));
    assert_ne!(play(3), play(4));
}

#[test]
fn finds_mate_in_one_for_both_sides() {
    for (text, mate) in [("XX./OO./...", 2), ("XX./OO./X..", 5)] {
        let mate = Square::new(mate).expect("a square");
        let mut search = searched(board(text), gumbel(16, 16), 1, 100);
        assert_eq!((search.choose_move(), search.proof()), (mate, Proof::Win), "{text}");
        assert_eq!(search.root_value(), Value::WIN);
        assert!(search.simulation_count() <= 16);
        let policy = search.improved_policy().expect("a Gumbel root");
        assert!(policy.iter().all(|(mv, share)| *share == f32::from(u8::from(*mv == mate))), "{policy:?}");
    }
}

#[test]
fn moves_that_are_proven_to_lose_get_no_share() {
    // Black mates at b3 unless White takes it; White's own moves end no game.
    let mut search = searched(board("X../OO./X.."), gumbel(60, 16), 1, 100);
    let block = Square::new(5).expect("a square");
    assert_eq!(search.choose_move(), block);
    let lost: Vec<Square> =
        search.move_reports().iter().filter(|report| report.proof == Proof::Loss).map(|report| report.mv).collect();
    assert!(!lost.is_empty(), "{}", search.outline(2));
    let policy = search.improved_policy().expect("a Gumbel root");
    assert!(policy.iter().all(|(mv, share)| *share == 0.0 || !lost.contains(mv)), "{policy:?}");
    assert!((policy.iter().map(|(_, share)| share).sum::<f32>() - 1.0).abs() < 1e-5);
}

/// What is proven stays proven while it is played out, and costs no evaluation more.
#[test]
fn a_proven_game_is_played_to_its_end_without_a_leaf() {
    for root in [RootSelection::Puct, RootSelection::Gumbel] {
        let settings = SearchSettings { root, ..gumbel(2000, 16) };
        let mut search = searched(board("XOX/.../..O"), settings, 1, 2000);
        assert_eq!(search.proof(), Proof::Win, "{}", search.outline(2));
        let mut ply_count = 0;
        while GAME.outcome(search.position()).is_none() {
            assert!(search.is_done());
            assert_eq!(search.select_leaf(), Request::Blocked);
            let mv = search.choose_move();
            search.play(mv);
            ply_count += 1;
        }
        assert!(ply_count >= 3, "a win that is three plies away");
        assert_eq!(GAME.outcome(search.position()), Some(Outcome::Win(Side::White)));
    }
}

#[test]
fn every_move_begins_a_tree_of_its_own() {
    let mut search = searched(GAME.initial_position(), gumbel(40, 8), 1, 100);
    let mv = search.choose_move();
    search.play(mv);
    assert_eq!((search.simulation_count(), search.node_count()), (0, 1));
    assert_eq!(search.improved_policy(), Some(vec![]), "nothing was evaluated");
    support::simulate(&mut search, 100);
    assert_eq!(search.simulation_count(), 40);
}

#[test]
fn puct_has_no_improved_policy() {
    let search = searched(GAME.initial_position(), SearchSettings::default(), 1, 20);
    assert_eq!(search.improved_policy(), None);
}

#[test]
fn several_threads_refuse_it() {
    let refused = ParallelSearch::new(GAME, GAME.initial_position(), Rule::Puct, gumbel(40, 8), 1);
    let message = refused.err().map(|error| error.to_string());
    assert_eq!(message.as_deref(), Some("search.root: gumbel is for the search of one thread"));
}

#[test]
fn a_prior_of_nothing_is_a_low_logit_and_no_number_that_is_none() {
    let mut search = Search::new(GAME, GAME.initial_position(), gumbel(12, 16), 1).expect("a game that goes on");
    run_search(&mut search, |position: &<TicTacToe as Game>::Position, moves, priors| {
        let value = fake_network(position, moves, priors);
        priors.fill(0.0);
        priors[0] = 1.0;
        value
    });
    let policy = search.improved_policy().expect("a Gumbel root");
    assert!(policy.iter().all(|(_, share)| share.is_finite()), "{policy:?}");
    assert!(search.root_value().get().abs() <= 1.0);
}

//! What a search takes for the value of a move without a visit, and where it looks therefore.

#[path = "support/bandit.rs"]
mod bandit;

use bandit::{Arm, Bandit};
use shared::game::Game;
use shared::search::{FirstPlayUrgency, Search, SearchSettings, run_search};

/// Returns how often each of three moves is visited, the first of which the policy likes, in a position in which all of
/// them are worth `value`.
fn visits(first_play_urgency: FirstPlayUrgency, value: f32) -> [u32; 3] {
    let game = Bandit { values: vec![value; 3] };
    let settings =
        SearchSettings { first_play_urgency, exploration: 0.1, leaves_per_game: 1, ..SearchSettings::default() };
    let position = game.initial_position();
    let mut search = Search::new(game.clone(), position, settings.for_match(20), 1).expect("a game that goes on");
    run_search(&mut search, |position, _, priors| {
        priors.copy_from_slice(&[0.9, 0.05, 0.05]);
        game.value(position, value)
    });
    let mut visits = [0; 3];
    for (Arm(index), count) in search.visit_counts() {
        visits[usize::from(index)] = count;
    }
    visits
}

#[test]
fn unvisited_moves_count_as_draws_if_that_is_wanted() {
    let losing = visits(FirstPlayUrgency::Zero, -0.5);
    assert!(losing.iter().all(|count| *count > 0), "a draw would be better: {losing:?}");
    assert_eq!(visits(FirstPlayUrgency::Zero, 0.5)[1..], [0, 0], "a draw would be worse");
}

#[test]
fn unvisited_moves_count_as_a_little_less_than_their_parent_otherwise() {
    for value in [-0.5, 0.5] {
        assert_eq!(visits(FirstPlayUrgency::Reduced, value)[1..], [0, 0], "at {value}");
    }
}

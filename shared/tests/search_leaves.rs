//! Leaves that wait for their evaluation: virtual loss, answers in any order, leaves given up, subtrees kept.

mod support;

use proptest::prelude::*;
use shared::game::{Game, Value};
use shared::search::{LeafId, LeafSource, Request, Search, SearchError, SearchSettings};
use support::{GAME, answer, board, searched, simulate};

fn settings(leaves_per_game: u32) -> SearchSettings {
    SearchSettings { leaves_per_game, ..SearchSettings::default().for_match(1000) }
}

fn select_all(search: &mut Search<shared::game::tictactoe::TicTacToe>) -> Vec<LeafId> {
    let mut leaves = vec![];
    loop {
        match search.select_leaf() {
            Request::Evaluate(leaf) => leaves.push(leaf),
            Request::Finished => {}
            Request::Blocked => return leaves,
        }
    }
}

#[test]
fn no_more_leaves_are_awaited_than_allowed() {
    let mut search = searched(GAME.initial_position(), settings(4), 1, 20);
    let leaves = select_all(&mut search);
    assert_eq!((leaves.len(), search.awaited_count()), (4, 4));
    let mut positions: Vec<u64> = leaves.iter().map(|leaf| GAME.hash(search.leaf_position(*leaf))).collect();
    positions.sort_unstable();
    positions.dedup();
    assert_eq!(positions.len(), 4, "virtual loss sends each simulation elsewhere");
    assert_eq!(search.simulation_count(), 20, "a leaf counts when it is answered");
}

#[test]
fn nothing_is_handed_out_twice_nor_beyond_the_simulations() {
    let mut search = Search::new(GAME, GAME.initial_position(), settings(4), 1).expect("a game that goes on");
    assert_eq!(select_all(&mut search).len(), 1, "below a root that is not evaluated there is nothing to search");
    let mut search = searched(GAME.initial_position(), SearchSettings { simulation_count: 10, ..settings(4) }, 1, 8);
    let leaves = select_all(&mut search);
    assert_eq!(leaves.len(), 2);
    for leaf in leaves {
        answer(&mut search, leaf);
    }
    assert!(search.is_done());
    assert_eq!((search.simulation_count(), search.select_leaf()), (10, Request::Blocked));
}

#[test]
fn leaves_given_up_leave_no_trace() {
    let mut without = searched(GAME.initial_position(), settings(6), 1, 50);
    let mut with = searched(GAME.initial_position(), settings(6), 1, 50);
    for _ in 0..40 {
        let leaves = select_all(&mut with);
        assert!(!leaves.is_empty());
        leaves.into_iter().for_each(|leaf| with.cancel(leaf));
        assert_eq!(with.awaited_count(), 0);
        assert_eq!(with.outline(9), without.outline(9));
        simulate(&mut with, 1);
        simulate(&mut without, 1);
        assert_eq!(with.outline(9), without.outline(9));
    }
}

#[test]
fn an_answer_for_a_leaf_given_up_is_dropped() {
    let mut search = searched(GAME.initial_position(), settings(1), 1, 10);
    let Request::Evaluate(old) = search.select_leaf() else { panic!("a leaf") };
    search.cancel(old);
    let Request::Evaluate(new) = search.select_leaf() else { panic!("a leaf") };
    assert_ne!(old, new);
    search.expand(old, &[1.0; 9], Value::WIN);
    search.cancel(old);
    assert_eq!((search.simulation_count(), search.awaited_count()), (10, 1));
    answer(&mut search, new);
    assert_eq!((search.simulation_count(), search.awaited_count()), (11, 0));
}

#[test]
fn playing_a_move_keeps_the_tree_below_it() {
    let mut search = searched(GAME.initial_position(), settings(1), 1, 300);
    let mv = search.choose_move();
    let line = format!("  {} ", GAME.format_move(search.position(), mv));
    let before = search.outline(9);
    let below = before.lines().skip_while(|text| !text.starts_with(&line)).skip(1);
    let below: Vec<&str> = below.take_while(|text| text.starts_with("    ")).collect();
    let visits = search.visit_counts().iter().find(|(other, _)| *other == mv).map(|(_, visits)| *visits);
    let (node_count, awaited) = (search.node_count(), select_all(&mut search).len());
    assert!(awaited > 0 && below.len() > 20);
    search.play(mv);
    assert_eq!((Some(search.simulation_count()), search.awaited_count()), (visits, 0));
    assert!(search.node_count() < node_count);
    let after = search.outline(9);
    let after: Vec<&str> = after.lines().skip(1).collect();
    assert_eq!(after, below.iter().map(|text| &text[2..]).collect::<Vec<_>>());
}

#[test]
fn a_kept_tree_goes_on_to_the_same_number_of_simulations() {
    let mut search = searched(GAME.initial_position(), SearchSettings { simulation_count: 200, ..settings(2) }, 1, 200);
    while GAME.outcome(search.position()).is_none() {
        assert!(search.is_done());
        let mv = search.choose_move();
        search.play(mv);
        simulate(&mut search, 200);
    }
    assert!(search.is_done() && search.principal_variation().is_empty());
    assert_eq!(search.select_leaf(), Request::Blocked);
}

#[test]
fn a_move_that_was_never_visited_begins_a_new_tree() {
    let mut search = searched(GAME.initial_position(), settings(2), 1, 2);
    let visits = search.visit_counts();
    let (mv, _) = visits.into_iter().find(|(_, visits)| *visits == 0).expect("an unvisited move");
    search.play(mv);
    assert_eq!((search.simulation_count(), search.node_count()), (0, 1));
    simulate(&mut search, 30);
    assert_eq!(search.simulation_count(), 30);
}

#[test]
fn priors_that_are_no_distribution_are_repaired_and_counted() {
    let mut search = Search::new(GAME, GAME.initial_position(), settings(1), 1).expect("a game that goes on");
    for priors in [&[f32::NAN; 9][..], &[], &[1.0; 100]] {
        let Request::Evaluate(leaf) = search.select_leaf() else { panic!("a leaf") };
        search.expand(leaf, priors, Value::DRAW);
    }
    assert_eq!(search.repaired_priors_count(), 3);
    simulate(&mut search, 30);
    assert_eq!((search.simulation_count(), search.repaired_priors_count()), (33, 3));
}

#[test]
fn a_finished_game_and_impossible_settings_are_refused() {
    let over = Search::new(GAME, board("XXX/OO./..."), settings(1), 1);
    assert_eq!(over.err(), Some(SearchError::GameOver { ply: 5 }));
    let impossible = Search::new(GAME, GAME.initial_position(), settings(0), 1);
    let message = impossible.err().map(|error| error.to_string());
    assert_eq!(message.as_deref(), Some("search.leaves_per_game: 0 is not in 1..=1024"));
}

proptest! {
    /// Whatever is answered or given up in whatever order, each answer counts once, and the root's value is their mean.
    #[test]
    fn every_answer_counts_once(
        leaves_per_game in 1_u32..8,
        virtual_loss in 0_u32..4,
        choices in prop::collection::vec((0_usize..8, 0_u8..4), 1..60),
    ) {
        let settings = SearchSettings { virtual_loss, ..settings(leaves_per_game) };
        let mut search = Search::new(GAME, GAME.initial_position(), settings, 1).expect("a game that goes on");
        let (mut awaited, mut count, mut value_sum) = (vec![], 0, 0.0);
        for (which, action) in choices {
            match search.select_leaf() {
                Request::Evaluate(leaf) => awaited.push(leaf),
                // So few simulations do not come to an end of the game.
                Request::Finished => prop_assert!(false, "finished at {count}"),
                Request::Blocked => prop_assert!(!awaited.is_empty()),
            }
            if action > 0 && !awaited.is_empty() {
                let leaf = awaited.swap_remove(which % awaited.len());
                if action == 1 {
                    search.cancel(leaf);
                } else {
                    let is_white = GAME.ply(search.leaf_position(leaf)).is_multiple_of(2);
                    let value = answer(&mut search, leaf);
                    value_sum += if is_white { value.get() } else { value.flipped().get() };
                    count += 1;
                }
            }
            prop_assert_eq!(search.awaited_count() as usize, awaited.len());
        }
        awaited.into_iter().for_each(|leaf| search.cancel(leaf));
        prop_assert_eq!((search.simulation_count(), search.awaited_count()), (count, 0));
        let below_root: u32 = search.visit_counts().iter().map(|(_, visits)| visits).sum();
        prop_assert_eq!(below_root, count.saturating_sub(1));
        if count > 0 {
            prop_assert!((search.root_value().get() - value_sum / count as f32).abs() < 1e-5);
        }
    }
}

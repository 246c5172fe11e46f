//! A search that is told results before the game ends: by an exact solver of tic-tac-toe.

mod support;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use shared::game::tictactoe::{Position, TicTacToe};
use shared::game::{Game, Outcome, Side};
use shared::search::{
    LeafSource, Oracle, ParallelSearch, Proof, Request, RootSelection, Rule, Search, SearchSettings, SharedOracle,
    run_search,
};
use support::{GAME, board, fake_network};

/// Knows every position with this many marks or more.
struct Solver {
    ply_min: u32,
    asked_count: AtomicUsize,
}

impl Oracle<TicTacToe> for Solver {
    fn proof(&self, position: &Position) -> Proof {
        self.asked_count.fetch_add(1, Relaxed);
        if GAME.ply(position) >= self.ply_min { exact(position) } else { Proof::Unknown }
    }

    fn knows_moves(&self, position: &Position) -> bool {
        GAME.ply(position) + 1 >= self.ply_min
    }
}

fn exact(position: &Position) -> Proof {
    if let Some(outcome) = GAME.outcome(position) {
        return Proof::of_outcome(outcome, GAME.side_to_move(position));
    }
    let mut moves = vec![];
    GAME.legal_moves(position, &mut moves);
    let values = moves.into_iter().map(|mv| {
        let mut after = *position;
        GAME.play(&mut after, mv);
        exact(&after).flipped()
    });
    values.max().expect("a move")
}

fn solver(ply_min: u32) -> Arc<Solver> {
    Arc::new(Solver { ply_min, asked_count: AtomicUsize::new(0) })
}

fn settings(root: RootSelection) -> SearchSettings {
    SearchSettings { root, ..SearchSettings::default().for_match(400) }
}

#[test]
fn what_the_oracle_knows_is_proven_without_an_evaluation() {
    for root in [RootSelection::Puct, RootSelection::Gumbel] {
        // X wins with b1 or by a fork; nothing below the root has to be looked at.
        let position = board("X.O/.X./O..");
        let oracle: SharedOracle<TicTacToe> = solver(5);
        let search = Search::new(GAME, position, settings(root), 1).expect("a game that goes on");
        let mut search = search.with_oracle(Some(oracle));
        let mut evaluated = vec![];
        run_search(&mut search, |position, moves, priors| {
            evaluated.push(GAME.ply(position));
            fake_network(position, moves, priors)
        });
        assert_eq!(evaluated, [4], "the root alone");
        assert_eq!(search.proof(), exact(&position));
        let mv = search.choose_move();
        let mut after = position;
        GAME.play(&mut after, mv);
        assert_eq!(exact(&after), exact(&position).flipped(), "the move keeps the result");
    }
}

#[test]
fn a_game_goes_on_from_a_position_that_the_oracle_knows() {
    for root in [RootSelection::Puct, RootSelection::Gumbel] {
        let is_puct = root == RootSelection::Puct;
        let search = Search::new(GAME, GAME.initial_position(), settings(root), 1).expect("a game that goes on");
        let mut search = search.with_oracle(Some(solver(1)));
        while GAME.outcome(search.position()).is_none() {
            run_search(&mut search, fake_network);
            // A Gumbel root does not look at every move.
            assert!(search.proof() == Proof::Draw || !is_puct && search.proof() == Proof::Unknown);
            assert!(search.simulation_count() <= if is_puct { 10 } else { 400 }, "each move once");
            let mv = search.choose_move();
            search.play(mv);
        }
        assert_eq!(GAME.outcome(search.position()), Some(Outcome::Draw));
    }
}

#[test]
fn several_threads_are_told_too_and_play_on() {
    for rule in [Rule::Puct, Rule::Ucb1] {
        let settings = SearchSettings::default().for_match(400);
        let search =
            ParallelSearch::new(GAME, GAME.initial_position(), rule, settings, 1).expect("a game that goes on");
        let mut search = search.with_oracle(Some(solver(1)));
        while GAME.outcome(search.position()).is_none() {
            let mut thread = search.thread(0);
            while !search.is_done() {
                match thread.select_leaf() {
                    Request::Evaluate(leaf) => {
                        let moves = thread.leaf_moves(leaf).to_vec();
                        let mut priors = vec![0.0; moves.len()];
                        let value = fake_network(thread.leaf_position(leaf), &moves, &mut priors);
                        thread.expand(leaf, &priors, value);
                    }
                    Request::Finished => {}
                    Request::Blocked => break,
                }
            }
            drop(thread);
            assert_eq!(search.proof(), Proof::Draw, "{rule:?}");
            let mv = search.choose_move().expect("a move was tried");
            search.play(mv);
        }
        assert_eq!(GAME.outcome(search.position()), Some(Outcome::Draw));
    }
}

#[test]
fn the_rules_are_asked_first_and_the_root_never() {
    let oracle = solver(0);
    let position = board("XX./OO./...");
    let search = Search::new(GAME, position, settings(RootSelection::Puct), 1).expect("a game that goes on");
    let mut search = search.with_oracle(Some(oracle.clone()));
    run_search(&mut search, |_, moves, priors| {
        // The winning move first: it ends the game.
        priors.iter_mut().zip(moves).for_each(|(prior, mv)| *prior = if mv.index() == 2 { 1.0 } else { 0.0 });
        shared::game::Value::DRAW
    });
    assert_eq!((search.proof(), oracle.asked_count.load(Relaxed)), (Proof::Win, 0));
    assert_eq!(GAME.side_to_move(search.position()), Side::White);
}

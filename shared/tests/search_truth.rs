//! The search against the known truth of tic-tac-toe, with a network that knows nothing.

mod support;

use std::collections::HashMap;

use shared::game::tictactoe::{Position, Square, TicTacToe};
use shared::game::{Game, Side, Value};
use shared::search::{Proof, RootSelection, Search, SearchSettings, run_search};
use support::{GAME, board};

/// Exact values of positions for their side to move: -1, 0 or 1.
#[derive(Default)]
struct Truth(HashMap<u64, i8>);

impl Truth {
    fn value(&mut self, position: &Position) -> i8 {
        let key = GAME.hash(position);
        if let Some(value) = self.0.get(&key) {
            return *value;
        }
        let value = match GAME.outcome(position) {
            Some(outcome) => outcome.value_for(GAME.side_to_move(position)).get() as i8,
            None => moves(position).into_iter().map(|mv| -self.value(&after(position, mv))).max().expect("a move"),
        };
        self.0.insert(key, value);
        value
    }
}

fn moves(position: &Position) -> Vec<Square> {
    let mut moves = vec![];
    GAME.legal_moves(position, &mut moves);
    moves
}

fn after(position: &Position, mv: Square) -> Position {
    let mut after = *position;
    GAME.play(&mut after, mv);
    after
}

fn square(index: u8) -> Square {
    Square::new(index).expect("a square")
}

fn settings(simulation_count: u32) -> SearchSettings {
    SearchSettings::default().for_match(simulation_count)
}

fn searched(position: Position, simulation_count: u32) -> Search<TicTacToe> {
    let mut search = Search::new(GAME, position, settings(simulation_count), 1).expect("a game that goes on");
    run_search(&mut search, uniform);
    search
}

fn uniform(_: &Position, _: &[Square], priors: &mut [f32]) -> Value {
    priors.fill(1.0);
    Value::DRAW
}

/// All positions in which the game goes on and that play can reach.
fn all_positions() -> Vec<Position> {
    let mut seen = HashMap::new();
    let mut open = vec![GAME.initial_position()];
    while let Some(position) = open.pop() {
        if GAME.outcome(&position).is_none() && seen.insert(GAME.hash(&position), position).is_none() {
            open.extend(moves(&position).into_iter().map(|mv| after(&position, mv)));
        }
    }
    let mut positions: Vec<_> = seen.into_values().collect();
    positions.sort_by_key(|position| GAME.hash(position));
    positions
}

#[test]
fn finds_the_best_move_of_every_position() {
    let mut truth = Truth::default();
    let positions = all_positions();
    assert_eq!(positions.len(), 4520, "positions in which tic-tac-toe goes on");
    let mut proven_count = 0;
    for position in &positions {
        let simulation_count = if GAME.ply(position) < 3 { 20_000 } else { 2000 };
        let mut search = searched(*position, simulation_count);
        let exact = truth.value(position);
        let chosen = search.choose_move();
        let of_chosen = truth.value(&after(position, chosen));
        assert_eq!(-of_chosen, exact, "{position:?}: chose {chosen:?}\n{}", search.outline(2));
        if let Some(value) = search.proof().value() {
            proven_count += 1;
            assert_eq!(value.get() as i8, exact, "{position:?}: {:?}", search.proof());
        }
    }
    assert!(proven_count > 4000, "only {proven_count} positions proven");
}

#[test]
fn a_gumbel_root_proves_the_truth_and_plays_by_it() {
    let mut truth = Truth::default();
    let mut proven_count = 0;
    for (seed, position) in all_positions().into_iter().enumerate() {
        let settings = SearchSettings { root: RootSelection::Gumbel, simulation_count: 300, ..Default::default() };
        let mut search = Search::new(GAME, position, settings, seed as u64).expect("a game that goes on");
        run_search(&mut search, uniform);
        let exact = truth.value(&position);
        let Some(value) = search.proof().value() else { continue };
        proven_count += 1;
        assert_eq!(value.get() as i8, exact, "{position:?}: {:?}", search.proof());
        assert_eq!(search.root_value(), value);
        assert_eq!(-truth.value(&after(&position, search.choose_move())), exact, "{}", search.outline(2));
        let policy = search.improved_policy().expect("a Gumbel root");
        let best_share: f32 =
            policy.iter().filter(|(mv, _)| -truth.value(&after(&position, *mv)) == exact).map(|(_, share)| share).sum();
        assert!(best_share > 0.999 || exact == 0, "{policy:?} in {}", search.outline(2));
    }
    assert!(proven_count > 3500, "only {proven_count} positions proven");
}

#[test]
fn never_loses_a_game() {
    for engine in [Side::White, Side::Black] {
        let mut open = vec![GAME.initial_position()];
        let mut game_count = 0;
        while let Some(position) = open.pop() {
            if let Some(outcome) = GAME.outcome(&position) {
                assert!(outcome.value_for(engine) >= Value::DRAW, "{engine:?} lost: {position:?}");
                game_count += 1;
            } else if GAME.side_to_move(&position) == engine {
                open.push(after(&position, searched(position, 2000).choose_move()));
            } else {
                open.extend(moves(&position).into_iter().map(|mv| after(&position, mv)));
            }
        }
        assert!(game_count >= 40, "{game_count} games");
    }
}

#[test]
fn finds_mate_in_one_for_both_sides() {
    for (text, mate) in [("XX./OO./...", 2), ("XX./OO./X..", 5)] {
        let mut search = searched(board(text), 100);
        assert_eq!(search.choose_move(), square(mate), "{text}");
        assert_eq!(search.proof(), Proof::Win);
        assert_eq!(search.root_value(), Value::WIN);
        assert_eq!(search.principal_variation(), [square(mate)]);
        assert!(search.simulation_count() < 100, "a proven game needs no more simulations");
        let counts = search.visit_counts();
        assert_eq!(counts.len(), moves(search.position()).len(), "every legal move is listed");
        assert!(counts.iter().all(|(mv, visits)| (*visits > 0) == (*mv == square(mate))), "{counts:?}");
    }
}

#[test]
fn blocks_the_mate_of_the_opponent() {
    for (text, block) in [("X../OO./X..", 5), ("XX./O../...", 2)] {
        assert_eq!(searched(board(text), 500).choose_move(), square(block), "{text}");
    }
}

#[test]
fn a_lost_game_is_proven_and_still_played() {
    // Black to move cannot stop both b3 and a2.
    let mut search = searched(board("X.X/.O./X.O"), 1000);
    assert_eq!((search.proof(), search.root_value()), (Proof::Loss, Value::LOSS));
    let chosen = search.choose_move();
    assert!(moves(search.position()).contains(&chosen));
    assert!(search.visit_counts().iter().all(|(_, visits)| *visits > 0), "all moves lose alike");
}

#[test]
fn the_value_has_the_sign_of_the_side_to_move() {
    // The network thinks White is better by 0.5, whoever is to move.
    let evaluate = |position: &Position, _: &[Square], priors: &mut [f32]| {
        priors.fill(1.0);
        let for_white = Value::new(0.5);
        if GAME.side_to_move(position) == Side::White { for_white } else { for_white.flipped() }
    };
    let initial = GAME.initial_position();
    for (position, expected) in [(initial, 0.5), (after(&initial, square(4)), -0.5)] {
        let mut search = Search::new(GAME, position, settings(10), 1).expect("a game that goes on");
        run_search(&mut search, evaluate);
        assert!((search.root_value().get() - expected).abs() < 1e-6, "{}", search.outline(2));
    }
}

#[test]
fn the_mean_of_three_simulations_is_as_by_hand() {
    // The first child is worth -0.4 to the opponent, so +0.4 to the root, and good enough to go on below it;
    // +0.6 two plies down is +0.6 for the root.
    let mut given = [(0, 0.2), (1, -0.4), (2, 0.6)].into_iter();
    let mut search = Search::new(GAME, GAME.initial_position(), settings(3), 1).expect("a game that goes on");
    run_search(&mut search, |position, _, priors| {
        priors.fill(1.0);
        let (ply, value) = given.next().expect("three evaluations");
        assert_eq!(GAME.ply(position), ply);
        Value::new(value)
    });
    assert!((search.root_value().get() - (0.2 + 0.4 + 0.6) / 3.0).abs() < 1e-6, "{}", search.outline(3));
}

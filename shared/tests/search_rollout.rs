//! The search with rollouts: wins at hand for both sides, and tic-tac-toe against random play.

mod support;

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use serde::Deserialize;
use shared::game::hive::{Hive, HiveRules};
use shared::game::tictactoe::{Square, TicTacToe};
use shared::game::{Game, Outcome, Side, Value};
use shared::notation::uhp::GameString;
use shared::search::{RolloutSearch, RolloutSettings};
use support::{GAME, board};

fn settings(simulation_count: u32) -> RolloutSettings {
    RolloutSettings { simulation_count, ..RolloutSettings::default() }
}

fn search(simulation_count: u32, seed: u64) -> RolloutSearch<TicTacToe> {
    RolloutSearch::new(GAME, settings(simulation_count), seed)
}

fn square(index: u8) -> Option<Square> {
    Square::new(index)
}

#[test]
fn mate_in_one_is_found_for_both_sides_and_the_opponents_is_blocked() {
    for (text, best) in [("XX./OO./...", 2), ("XX./OO./X..", 5), ("X../OO./X..", 5), ("XX./O../...", 2)] {
        for seed in 0..10 {
            assert_eq!(search(1000, seed).choose_move(&board(text)), square(best), "{text}, seed {seed}");
        }
    }
}

#[test]
fn a_finished_game_has_no_move_and_an_only_move_needs_no_search() {
    assert_eq!(search(10, 1).choose_move(&board("XXX/OO./...")), None);
    assert_eq!(search(0, 1).choose_move(&board("XOX/XOO/O.X")), square(7));
}

#[test]
fn tic_tac_toe_is_never_lost_to_random_play() {
    let mut wins = 0;
    for seed in 0..200 {
        let engine = if seed % 2 == 0 { Side::White } else { Side::Black };
        let mut random = Pcg64Mcg::seed_from_u64(seed);
        let mut search = search(2000, seed);
        let mut position = GAME.initial_position();
        let outcome = loop {
            if let Some(outcome) = GAME.outcome(&position) {
                break outcome;
            }
            let mut moves = vec![];
            GAME.legal_moves(&position, &mut moves);
            let mv = if GAME.side_to_move(&position) == engine {
                search.choose_move(&position).expect("a move")
            } else {
                moves[random.random_range(0..moves.len())]
            };
            GAME.play(&mut position, mv);
        };
        assert!(outcome.value_for(engine) >= Value::DRAW, "{engine:?} lost game {seed}");
        wins += u32::from(outcome == Outcome::Win(engine));
    }
    assert!(wins > 150, "only {wins} of 200 games won");
}

#[test]
fn the_same_seed_plays_the_same_moves() {
    let hive = Hive::new(HiveRules { ply_limit: 60, ..HiveRules::default() });
    let moves = |seed| {
        let mut search = RolloutSearch::new(hive, settings(40), seed);
        let mut position = hive.initial_position();
        let mut moves = vec![];
        for _ in 0..8 {
            let mv = search.choose_move(&position).expect("a move");
            hive.play(&mut position, mv);
            moves.push(mv);
        }
        moves
    };
    assert_eq!(moves(1), moves(1));
    assert_ne!(moves(1), moves(2));
}

#[derive(Deserialize)]
struct GameRow {
    game: String,
}

#[test]
fn the_winning_move_of_every_golden_game_of_hive_is_found() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/data/hive/games.jsonl");
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("golden data {path}: {error}"));
    let mut win_count = 0;
    for line in text.lines() {
        let mut game: GameString =
            serde_json::from_str::<GameRow>(line).expect("a game").game.parse().expect("a game string");
        let rules = HiveRules { game_type: game.game_type, ply_limit: 1000, ..HiveRules::default() };
        let hive = Hive::new(rules);
        let last = game.moves.pop().expect("a game has moves");
        let (mut position, _) = game.replay(&hive).expect("a legal game");
        let winner = hive.side_to_move(&position);
        let last = hive.parse_move(&position, &last).expect("a legal move");
        let outcome_after = |mv| {
            let mut after = position.clone();
            hive.play(&mut after, mv);
            hive.outcome(&after)
        };
        if outcome_after(last) != Some(Outcome::Win(winner)) {
            continue;
        }
        win_count += 1;
        let mut search = RolloutSearch::new(hive, RolloutSettings { rollout_plies_max: 30, ..settings(1000) }, 1);
        let chosen = search.choose_move(&position).expect("a move");
        hive.play(&mut position, chosen);
        assert_eq!(hive.outcome(&position), Some(Outcome::Win(winner)), "{winner:?} after {:?}", game.moves);
    }
    assert_eq!(win_count, 8, "golden games that end with a winning ply");
}

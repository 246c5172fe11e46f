//! The search on Hive: wins at hand are found and proven for both sides, and a game is played to its end.

use notation::uhp::GameString;
use serde::Deserialize;
use shared::game::hive::{Hive, HiveRules, Move, Position};
use shared::game::{Game, Outcome, Value};
use shared::search::{
    HeuristicEvaluator, NODE_BYTES, ParallelSearch, Proof, RolloutEvaluator, Search, SearchPreset, SearchSettings,
    UniformEvaluator, edge_bytes, run_search, simulate,
};

#[derive(Deserialize)]
struct GameRow {
    game: String,
}

fn golden_games() -> Vec<GameString> {
    let text = testdata::read("hive/games.jsonl");
    let rows = text.lines().map(|line| serde_json::from_str::<GameRow>(line).expect("a game"));
    rows.map(|row| row.game.parse().expect("a game string")).collect()
}

fn uniform(_: &Position, moves: &[Move], priors: &mut [f32]) -> Value {
    priors.fill(1.0 / moves.len() as f32);
    Value::DRAW
}

fn outcome_after(hive: &Hive, position: &Position, mv: Move) -> Option<Outcome> {
    let mut after = position.clone();
    hive.play(&mut after, mv);
    hive.outcome(&after)
}

/// Returns the game before its last ply if that ply wins.
fn before_the_win(mut game: GameString) -> Option<(Hive, Position)> {
    let hive = Hive::new(HiveRules { game_type: game.game_type, ply_limit: 1000, ..HiveRules::default() });
    let last = game.moves.pop().expect("a game has moves");
    game.turn = None;
    let (position, _) = game.replay(&hive).expect("a legal game");
    let winner = hive.side_to_move(&position);
    let last = hive.parse_move(&position, &last).expect("a legal move");
    (outcome_after(&hive, &position, last) == Some(Outcome::Win(winner))).then_some((hive, position))
}

#[test]
fn the_winning_move_of_every_golden_game_is_found() {
    let mut wins = [0; 2];
    for game in golden_games() {
        let moves = game.moves.clone();
        let Some((hive, position)) = before_the_win(game) else { continue };
        let winner = hive.side_to_move(&position);
        wins[winner.index()] += 1;
        let settings = SearchSettings::default().for_match(2000);
        let mut search = Search::new(hive, position, settings, 1).expect("a game that goes on");
        run_search(&mut search, uniform);
        assert_eq!(search.proof(), Proof::Win, "{winner:?} at the end of {moves:?}\n{}", search.outline(1));
        let chosen = search.choose_move();
        assert_eq!(outcome_after(&hive, search.position(), chosen), Some(Outcome::Win(winner)));
    }
    assert_eq!(wins, [5, 3], "golden games that White and Black win with their last ply");
}

/// Searches a position by a preset with 2000 simulations, rollouts of at most 30 plies.
fn searched_by(preset: SearchPreset, hive: &Hive, position: &Position) -> ParallelSearch<Hive> {
    let search = ParallelSearch::new(*hive, position.clone(), preset.rule(), preset.settings(2000), 1);
    let search = search.expect("a game that goes on");
    let mut thread = search.thread(0);
    let mut rollouts = RolloutEvaluator::with_plies_max(1, 30);
    while !search.is_done() {
        let is_at_work = match preset {
            SearchPreset::Vanilla => simulate(&mut thread, &mut rollouts),
            SearchPreset::Grandmaster => simulate(&mut thread, &mut HeuristicEvaluator::default()),
            SearchPreset::AlphaZero => simulate(&mut thread, &mut UniformEvaluator::default()),
        };
        assert_eq!(is_at_work, Ok(true), "one thread alone waits for nobody");
    }
    drop(thread);
    search
}

#[test]
fn every_preset_finds_the_winning_move_of_every_golden_game() {
    let mut win_count = 0;
    for game in golden_games() {
        let Some((hive, position)) = before_the_win(game) else { continue };
        win_count += 1;
        let winner = hive.side_to_move(&position);
        for preset in SearchPreset::ALL {
            let mut search = searched_by(preset, &hive, &position);
            assert_eq!(search.proof(), Proof::Win, "{preset}: {winner:?}");
            let chosen = search.choose_move().expect("a move");
            assert_eq!(outcome_after(&hive, &position, chosen), Some(Outcome::Win(winner)));
        }
    }
    assert_eq!(win_count, 8, "golden games that end with a winning ply");
}

#[test]
fn a_game_is_played_to_its_end() {
    let hive = Hive::new(HiveRules { ply_limit: 80, ..HiveRules::default() });
    let settings = SearchSettings { simulation_count: 40, ..SearchSettings::default() };
    let mut search = Search::new(hive, hive.initial_position(), settings, 3).expect("a game that goes on");
    let mut replayed = hive.initial_position();
    while hive.outcome(search.position()).is_none() {
        run_search(&mut search, uniform);
        assert!(search.is_done());
        let mv = search.choose_move();
        search.play(mv);
        hive.play(&mut replayed, mv);
    }
    assert_eq!(hive.outcome(&replayed), hive.outcome(search.position()));
    assert_eq!(hive.hash(&replayed), hive.hash(search.position()));
}

#[test]
fn memory_is_used_again_from_ply_to_ply() {
    assert!(NODE_BYTES <= 64 && edge_bytes::<Move>() <= 16);
    let hive = Hive::default();
    let settings = SearchSettings { simulation_count: 400, ..SearchSettings::default() };
    let mut search = Search::new(hive, hive.initial_position(), settings, 3).expect("a game that goes on");
    let mut most = 0;
    for ply in 0..30 {
        run_search(&mut search, uniform);
        assert!(search.node_count() <= 401, "ply {ply}: {} nodes for 400 simulations", search.node_count());
        most = most.max(search.byte_count());
        let mv = search.choose_move();
        search.play(mv);
    }
    assert!(most < 2_000_000, "{most} bytes for 400 simulations");
}

//! The search on Hive: wins at hand are found and proven for both sides, and a game is played to its end.

use notation::uhp::GameString;
use serde::Deserialize;
use shared::game::hive::{Hive, HiveRules, Move, Position};
use shared::game::{Game, Outcome, Value};
use shared::search::{NODE_BYTES, Proof, Search, SearchSettings, edge_bytes, run_search};

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

#[test]
fn the_winning_move_of_every_golden_game_is_found() {
    let mut wins = [0; 2];
    for mut game in golden_games() {
        let hive = Hive::new(HiveRules { game_type: game.game_type, ply_limit: 1000, ..HiveRules::default() });
        let last = game.moves.pop().expect("a game has moves");
        game.turn = None;
        let (position, _) = game.replay(&hive).expect("a legal game");
        let winner = hive.side_to_move(&position);
        let last = hive.parse_move(&position, &last).expect("a legal move");
        if outcome_after(&hive, &position, last) != Some(Outcome::Win(winner)) {
            continue;
        }
        wins[winner.index()] += 1;
        let settings = SearchSettings::default().for_match(2000);
        let mut search = Search::new(hive, position, settings, 1).expect("a game that goes on");
        run_search(&mut search, uniform);
        assert_eq!(search.proof(), Proof::Win, "{winner:?} after {:?}\n{}", game.moves, search.outline(1));
        let chosen = search.choose_move();
        assert_eq!(outcome_after(&hive, search.position(), chosen), Some(Outcome::Win(winner)));
    }
    assert_eq!(wins, [5, 3], "golden games that White and Black win with their last ply");
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

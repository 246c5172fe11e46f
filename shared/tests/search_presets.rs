//! The presets without a network: wins at hand for both sides, proofs, and tic-tac-toe against random play.

mod support;

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use shared::game::dama::Dama;
use shared::game::dama::fen;
use shared::game::hive::{Hive, HiveRules};
use shared::game::tictactoe::Square;
use shared::game::{Game, Heuristic, Outcome, Side, Value};
use shared::search::{
    HeuristicEvaluator, ParallelSearch, Proof, RolloutEvaluator, SearchPreset, UniformEvaluator, simulate,
};
use support::{GAME, board};

/// Searches a position alone with so many simulations, rollouts of at most `plies_max` plies.
fn searched<G: Heuristic>(
    game: &G,
    position: &G::Position,
    preset: SearchPreset,
    (simulation_count, plies_max): (u32, u32),
    seed: u64,
) -> ParallelSearch<G> {
    let settings = preset.settings(simulation_count);
    let search = ParallelSearch::new(game.clone(), position.clone(), preset.rule(), settings, seed);
    let search = search.expect("a game that goes on");
    let mut thread = search.thread(0);
    let mut rollouts = RolloutEvaluator::with_plies_max(seed, plies_max);
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

fn chosen(preset: SearchPreset, text: &str, simulation_count: u32, seed: u64) -> Option<Square> {
    searched(&GAME, &board(text), preset, (simulation_count, 400), seed).choose_move()
}

fn square(index: u8) -> Option<Square> {
    Square::new(index)
}

#[test]
fn mate_in_one_is_found_for_both_sides_and_the_opponents_is_blocked() {
    for preset in SearchPreset::ALL {
        for (text, best) in [("XX./OO./...", 2), ("XX./OO./X..", 5), ("X../OO./X..", 5), ("XX./O../...", 2)] {
            for seed in 0..10 {
                assert_eq!(chosen(preset, text, 1000, seed), square(best), "{preset}: {text}, seed {seed}");
            }
        }
    }
}

#[test]
fn a_finished_game_is_refused_and_one_simulation_is_enough_for_a_move() {
    let over = ParallelSearch::new(
        GAME,
        board("XXX/OO./..."),
        SearchPreset::Vanilla.rule(),
        SearchPreset::Vanilla.settings(10),
        1,
    );
    assert_eq!(over.err().map(|error| error.to_string()).as_deref(), Some("the game is over at ply 5"));
    assert_eq!(chosen(SearchPreset::Vanilla, "XOX/XOO/O.X", 1, 1), square(7));
    assert!(chosen(SearchPreset::Grandmaster, ".../.../...", 1, 1).is_some());
}

#[test]
fn wins_and_losses_are_proven_in_every_preset() {
    for preset in SearchPreset::ALL {
        let proof = |text: &str| searched(&GAME, &board(text), preset, (100_000, 400), 1).proof();
        assert_eq!(proof("XX./OO./..."), Proof::Win, "{preset}");
        assert_eq!(proof("X.X/.O./X.O"), Proof::Loss, "{preset}");
        assert_eq!(proof("XO./.X./..O"), Proof::Win, "{preset}");
        assert_eq!(proof("XOX/XXO/O.."), Proof::Draw, "{preset}");
        let dama = Dama::default();
        let position = fen::read("W:W21,22:B18").expect("a position");
        let search = searched(&dama, &position, preset, (1000, 400), 1);
        assert_eq!((search.proof(), search.root_value()), (Proof::Win, Value::WIN), "{preset}");
        assert!(search.simulation_count() < 1000, "a proven game needs no more simulations");
    }
}

#[test]
fn ucb1_visits_every_move_before_any_of_them_twice() {
    let search = searched(&GAME, &GAME.initial_position(), SearchPreset::Vanilla, (9, 400), 3);
    assert!(search.visit_counts().iter().all(|(_, visits)| *visits == 1), "{:?}", search.visit_counts());
    let search = searched(&GAME, &GAME.initial_position(), SearchPreset::Vanilla, (5, 400), 3);
    assert_eq!(search.visit_counts().iter().filter(|(_, visits)| *visits == 1).count(), 5);
    assert_eq!(search.simulation_count(), 5, "the root itself needs no simulation");
}

#[test]
fn tic_tac_toe_is_never_lost_to_random_play() {
    for preset in [SearchPreset::Vanilla, SearchPreset::Grandmaster] {
        let mut wins = 0;
        for seed in 0..200 {
            let engine = if seed % 2 == 0 { Side::White } else { Side::Black };
            let mut random = Pcg64Mcg::seed_from_u64(seed);
            let mut position = GAME.initial_position();
            let outcome = loop {
                if let Some(outcome) = GAME.outcome(&position) {
                    break outcome;
                }
                let mut moves = vec![];
                GAME.legal_moves(&position, &mut moves);
                let mv = if GAME.side_to_move(&position) == engine {
                    searched(&GAME, &position, preset, (2000, 400), seed).choose_move().expect("a move")
                } else {
                    moves[random.random_range(0..moves.len())]
                };
                GAME.play(&mut position, mv);
            };
            assert!(outcome.value_for(engine) >= Value::DRAW, "{preset}: {engine:?} lost game {seed}");
            wins += u32::from(outcome == Outcome::Win(engine));
        }
        assert!(wins > 150, "{preset}: only {wins} of 200 games won");
    }
}

#[test]
fn the_same_seed_plays_the_same_moves() {
    let hive = Hive::new(HiveRules { ply_limit: 60, ..HiveRules::default() });
    let moves = |seed| {
        let mut position = hive.initial_position();
        let mut moves = vec![];
        for ply in 0_u64..8 {
            let mv = searched(&hive, &position, SearchPreset::Vanilla, (40, 400), seed + 100 * ply).choose_move();
            let mv = mv.expect("a move");
            hive.play(&mut position, mv);
            moves.push(mv);
        }
        moves
    };
    assert_eq!(moves(1), moves(1));
    assert_ne!(moves(1), moves(2));
}

/// Returns the points of the first of two players in pairs of games from random openings, colours swapped.
fn points<G: Heuristic>(game: &G, players: [(SearchPreset, u32); 2], pair_count: u64, opening_plies: u32) -> f32 {
    let mut points = 0.0;
    for number in 0..2 * pair_count {
        // Both games of a pair begin with the same plies.
        let mut random = Pcg64Mcg::seed_from_u64(number / 2);
        let mut position = game.initial_position();
        let first_side = if number % 2 == 0 { Side::White } else { Side::Black };
        let outcome = loop {
            if let Some(outcome) = game.outcome(&position) {
                break outcome;
            }
            let mv = if game.ply(&position) < opening_plies {
                let mut moves = vec![];
                game.legal_moves(&position, &mut moves);
                moves[random.random_range(0..moves.len())]
            } else {
                let (preset, count) = players[usize::from(game.side_to_move(&position) != first_side)];
                searched(game, &position, preset, (count, 400), number).choose_move().expect("a move")
            };
            game.play(&mut position, mv);
        };
        points += (outcome.value_for(first_side).get() + 1.0) / 2.0;
    }
    points
}

#[test]
fn rules_of_thumb_beat_random_rollouts() {
    let players = [(SearchPreset::Grandmaster, 200), (SearchPreset::Vanilla, 200)];
    let of_dama = points(&Dama::default(), players, 30, 6);
    assert!(of_dama >= 34.0, "{of_dama} of 60 in draughts");
    let hive = Hive::new(HiveRules { ply_limit: 100, ..HiveRules::default() });
    let of_hive = points(&hive, [(SearchPreset::Grandmaster, 200), (SearchPreset::Vanilla, 50)], 5, 4);
    assert!(of_hive >= 8.0, "{of_hive} of 10 in Hive");
}

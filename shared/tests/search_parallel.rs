//! Several threads on one tree: nothing is lost, nothing is counted twice, and what is proven is true.

mod support;

use std::collections::HashMap;

use shared::game::dama::Dama;
use shared::game::hive::{GameType, Hive, HiveRules};
use shared::game::{Game, Heuristic, MoveNumber};
use shared::search::{
    EvaluationError, Evaluator, LeafId, LeafSource, PARALLEL_EDGE_BYTES, PARALLEL_NODE_BYTES, ParallelSearch, Proof,
    SearchPreset, SearchSettings, UniformEvaluator, simulate,
};
use support::{GAME, board};

const THREADS: u32 = 4;

/// Lets several threads search until all simulations are done.
fn run<G: Heuristic>(search: &ParallelSearch<G>, preset: SearchPreset) {
    std::thread::scope(|scope| {
        for number in 0..THREADS {
            scope.spawn(move || {
                let (mut thread, mut evaluator) = (search.thread(number), preset.evaluator::<G>(number.into()));
                while !search.is_done() {
                    if !simulate(&mut thread, &mut *evaluator).expect("an evaluation") {
                        std::thread::yield_now();
                    }
                }
            });
        }
    });
}

fn searched<G: Heuristic>(
    game: &G,
    position: G::Position,
    preset: SearchPreset,
    settings: SearchSettings,
) -> ParallelSearch<G> {
    let search = ParallelSearch::new(game.clone(), position, preset.rule(), settings, 1).expect("a game that goes on");
    run(&search, preset);
    search
}

/// Walks the whole tree by its outline: children's visits sum to their node's but for its own, and moves are legal.
fn check_totals<G: Game>(game: &G, search: &ParallelSearch<G>, preset: SearchPreset) {
    assert_eq!(search.awaited_count(), 0, "{preset}: no virtual loss is left");
    let below: u32 = search.move_reports().iter().map(|report| report.visit_count).sum();
    let own = u32::from(preset == SearchPreset::AlphaZero);
    assert_eq!(below + own, search.simulation_count(), "{preset}: every simulation went through one move");
    let mut legal = vec![];
    game.legal_moves(search.position(), &mut legal);
    let mut seen: Vec<u16> = search.move_reports().iter().map(|report| report.mv.number()).collect();
    let mut expected: Vec<u16> = legal.iter().map(|mv| mv.number()).collect();
    seen.sort_unstable();
    expected.sort_unstable();
    assert_eq!(seen, expected, "{preset}: the moves of the root are the legal ones, each once");
    let mut position = search.position().clone();
    for mv in search.principal_variation() {
        let mut legal = vec![];
        game.legal_moves(&position, &mut legal);
        assert!(legal.contains(&mv), "{preset}: the best line is legal");
        game.play(&mut position, mv);
    }
    let outline = search.outline(u32::MAX);
    assert!(!outline.contains("awaited"), "{preset}: no virtual loss is left anywhere");
    check_outline(&outline, preset);
}

/// No node has fewer visits than its children together, and only by PUCT, or where threads met, more than one of its own.
fn check_outline(outline: &str, preset: SearchPreset) {
    let mut path: Vec<(u32, u32)> = vec![];
    let mut check = |node: (u32, u32)| assert!(node.1 <= node.0, "{preset}: {node:?} visits and visits below");
    for line in outline.lines() {
        let level = (line.len() - line.trim_start().len()) / 2;
        let visits = line.split(" visits ").nth(1).and_then(|rest| rest.split(' ').next()).expect("visits");
        let visits: u32 = visits.parse().expect("a number");
        while path.len() > level {
            path.pop().map(&mut check);
        }
        if let Some(parent) = path.last_mut() {
            parent.1 += visits;
        }
        path.push((visits, 0));
    }
    path.into_iter().for_each(check);
}

#[test]
fn the_mean_depth_is_that_of_the_simulations() {
    let dama = Dama::default();
    for (count, is_exact) in [(200, true), (5_000, false)] {
        let settings = SearchSettings::default().for_match(count);
        let search = searched(&dama, dama.initial_position(), SearchPreset::AlphaZero, settings);
        let outline = search.outline(u32::MAX);
        let visits = outline.lines().skip(1).map(|line| {
            let count = line.split(" visits ").nth(1).and_then(|rest| rest.split(' ').next()).expect("visits");
            count.parse::<f64>().expect("a number")
        });
        // A simulation is a visit of each node on its way.
        let expected = visits.sum::<f64>() / f64::from(search.simulation_count());
        let error = (search.mean_depth() - expected).abs();
        assert!(error < if is_exact { 1e-9 } else { expected / 5.0 }, "{} instead of {expected}", search.mean_depth());
    }
}

#[test]
fn several_threads_count_every_simulation_once() {
    for preset in SearchPreset::ALL {
        let count = if preset == SearchPreset::Vanilla { 20_000 } else { 60_000 };
        let dama = Dama::default();
        let search = searched(&dama, dama.initial_position(), preset, preset.settings(count));
        assert_eq!(search.simulation_count(), count, "{preset}");
        check_totals(&dama, &search, preset);
    }
}

#[test]
fn hive_is_searched_by_several_threads() {
    let hive = Hive::new(HiveRules { game_type: GameType::MLP, ply_limit: 40, ..HiveRules::default() });
    for preset in SearchPreset::ALL {
        let count = if preset == SearchPreset::Vanilla { 500 } else { 5000 };
        let search = searched(&hive, hive.initial_position(), preset, preset.settings(count));
        assert_eq!(search.simulation_count(), count, "{preset}");
        check_totals(&hive, &search, preset);
    }
}

#[test]
fn what_several_threads_prove_is_true() {
    let truth = [
        ("XX./OO./...", Proof::Win),
        ("X.X/.O./X.O", Proof::Loss),
        ("XO./.X./..O", Proof::Win),
        (".../.../...", Proof::Draw),
        ("X../.O./...", Proof::Draw),
    ];
    for preset in SearchPreset::ALL {
        for (text, expected) in truth {
            let settings = SearchSettings { virtual_loss: 1, ..preset.settings(200_000) };
            let search = searched(&GAME, board(text), preset, settings);
            let is_true = search.proof() == expected || search.proof() == Proof::Unknown;
            assert!(is_true, "{preset}: {text}: {:?}", search.proof());
            if expected != Proof::Draw {
                assert_eq!(search.proof(), expected, "{preset}: {text}");
            }
            check_totals_of_proven(&search, preset);
        }
    }
}

/// A proven search stops at once: whatever is under way is then backed up or given up.
fn check_totals_of_proven(search: &ParallelSearch<shared::game::tictactoe::TicTacToe>, preset: SearchPreset) {
    assert_eq!(search.awaited_count(), 0);
    let below: u32 = search.move_reports().iter().map(|report| report.visit_count).sum();
    assert_eq!(below + u32::from(preset == SearchPreset::AlphaZero), search.simulation_count(), "{preset}");
}

#[test]
fn a_subtree_is_kept_when_a_move_is_played() {
    let dama = Dama::default();
    for preset in SearchPreset::ALL {
        let mut search = searched(&dama, dama.initial_position(), preset, preset.settings(3000));
        let mut plies = 0;
        while plies < 10 {
            let mv = search.choose_move().expect("a move");
            let name = format!("  {} ", dama.format_move(search.position(), mv));
            let outline = search.outline(u32::MAX);
            let below = outline.lines().skip_while(|line| !line.starts_with(&name)).skip(1);
            let before: Vec<String> =
                below.take_while(|line| line.starts_with("    ")).map(|line| line[2..].to_owned()).collect();
            let visits: HashMap<u16, u32> =
                search.move_reports().iter().map(|report| (report.mv.number(), report.visit_count)).collect();
            search.play(mv);
            plies += 1;
            assert_eq!(search.simulation_count(), visits[&mv.number()], "{preset}: visits are kept");
            let after: Vec<String> = search.outline(u32::MAX).lines().skip(1).map(str::to_owned).collect();
            assert_eq!(after, before, "{preset}: the tree below is the same");
            run(&search, preset);
            assert_eq!(search.simulation_count(), 3000);
        }
    }
}

#[test]
fn leaves_given_up_are_handed_out_again() {
    let settings = SearchSettings { leaves_per_game: 4, ..SearchPreset::AlphaZero.settings(1000) };
    let search = ParallelSearch::new(GAME, GAME.initial_position(), SearchPreset::AlphaZero.rule(), settings, 1);
    let search = search.expect("a game that goes on");
    let mut first = search.thread(0);
    for _ in 0..20 {
        assert_eq!(simulate(&mut first, &mut UniformEvaluator::default()), Ok(true));
    }
    for _ in 0..3 {
        let _ = first.select_leaf();
    }
    assert_eq!(search.awaited_count(), 3);
    let outline = search.outline(9);
    drop(first);
    assert_eq!(search.awaited_count(), 0, "a dropped thread cancels its leaves: {outline}");
    let mut second = search.thread(1);
    while !search.is_done() {
        assert_eq!(simulate(&mut second, &mut UniformEvaluator::default()), Ok(true), "nothing blocks it");
    }
}

#[test]
fn a_position_reached_by_another_order_of_moves_is_not_evaluated_again() {
    let dama = Dama::default();
    for preset in [SearchPreset::Grandmaster, SearchPreset::AlphaZero] {
        let searched = |table_bytes: usize| {
            let search = ParallelSearch::new(dama, dama.initial_position(), preset.rule(), preset.settings(5000), 1);
            let mut search = search.expect("a game that goes on");
            search.share_evaluations(table_bytes);
            let mut counting = Counting { evaluator: preset.evaluator(1), count: 0 };
            let mut thread = search.thread(0);
            while simulate(&mut thread, &mut counting).expect("an evaluation") {}
            drop(thread);
            (search, counting.count)
        };
        let (without, evaluation_count) = searched(0);
        assert_eq!((without.shared_evaluation_counts(), evaluation_count > 4900), ((0, 0), true));
        let (mut with, shared_count) = searched(1 << 20);
        let (lookup_count, hit_count) = with.shared_evaluation_counts();
        assert_eq!(shared_count + hit_count, lookup_count, "{preset}: what is not found is evaluated");
        assert!(hit_count > lookup_count / 20, "{preset}: {hit_count} of {lookup_count} found");
        check_totals(&dama, &with, preset);
        assert_eq!(with.outline(99), without.outline(99), "{preset}: an evaluation found is the same evaluation");
        // What is kept is found again in the next search.
        let mv = with.choose_move().expect("a move");
        with.play(mv);
        run(&with, preset);
        assert_eq!((with.simulation_count(), with.awaited_count()), (5000, 0));
        check_outline(&with.outline(u32::MAX), preset);
        assert!(with.shared_evaluation_counts().1 > hit_count);
    }
}

/// Counts the leaves that it evaluates.
struct Counting {
    evaluator: Box<dyn Evaluator<Dama> + Send>,
    count: u64,
}

impl Evaluator<Dama> for Counting {
    fn evaluate(&mut self, source: &mut dyn LeafSource<Dama>, leaves: &[LeafId]) -> Result<(), EvaluationError> {
        self.count += leaves.len() as u64;
        self.evaluator.evaluate(source, leaves)
    }
}

#[test]
fn positions_that_differ_in_what_the_rules_count_have_evaluations_of_their_own() {
    let dama = Dama::default();
    let read = |text: &str| shared::game::dama::fen::read(text).expect("a position");
    let hash_after = |moves: &[&str]| {
        let mut position = read("W:WK1,K2,21:BK31,K32");
        for text in moves {
            let mv = dama.parse_move(&position, text).expect("a legal move");
            dama.play(&mut position, mv);
        }
        (dama.hash(&position), dama.evaluation_hash(&position))
    };
    // Four quiet plies lead back to the start: nearer to the limits, and it has come up before.
    let (start, there_and_back) = (hash_after(&[]), hash_after(&["1-5", "32-28", "5-1", "28-32"]));
    assert_eq!(start.0, there_and_back.0);
    assert_ne!(start.1, there_and_back.1);
    // Another order of moves of the same kinds leads to the same counts.
    let one = hash_after(&["1-5", "32-28", "2-6"]);
    let other = hash_after(&["2-6", "32-28", "1-5"]);
    assert_eq!(one, other);
    // A man moves first or last: as many plies, but not as many quiet ones.
    let first = hash_after(&["21-17", "32-28", "1-5"]);
    let last = hash_after(&["1-5", "32-28", "21-17"]);
    assert_eq!(first.0, last.0);
    assert_ne!(first.1, last.1);
}

#[test]
fn a_node_with_its_edges_takes_a_hundred_bytes_at_most() {
    let dama = Dama::default();
    for preset in SearchPreset::ALL {
        let search = searched(&dama, dama.initial_position(), preset, preset.settings(20_000));
        let (nodes, edges) = search.count_nodes_and_edges();
        let mean = PARALLEL_NODE_BYTES as f64 + edges as f64 * PARALLEL_EDGE_BYTES as f64 / nodes as f64;
        assert!(mean <= 100.0, "{preset}: {mean} bytes a node, {edges} edges of {nodes} nodes");
    }
}

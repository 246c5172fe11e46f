//! Small trees to read with the eye: text in, text out. `UPDATE_GOLDEN=1` rewrites what comes out.
//!
//! Each file of `golden/search` has `key value` lines, a line `---` and the tree.

mod support;

use std::path::Path;

use shared::game::Game;
use shared::game::tictactoe::{Position, Square};
use shared::search::{LeafSource, ParallelSearch, Request, Rule, SearchSettings};
use support::{GAME, answer, board, fake_network, searched};
use xxhash_rust::xxh3::xxh3_64;

/// What a golden file asks for.
struct Case {
    board: String,
    seed: u64,
    simulations: u32,
    /// Leaves left unanswered at the end.
    awaited: u32,
    settings: SearchSettings,
}

impl Case {
    fn read(text: &str) -> Self {
        let mut case = Self {
            board: String::new(),
            seed: 1,
            simulations: 0,
            awaited: 0,
            settings: SearchSettings::default().for_match(1000),
        };
        for line in text.lines() {
            let (key, value) = line.split_once(' ').expect("a line is a key and a value");
            let number = || value.parse::<f32>().expect("a number");
            match key {
                "about" => {}
                "board" => case.board = value.to_owned(),
                "seed" => case.seed = number() as u64,
                "simulations" => case.simulations = number() as u32,
                "awaited" => case.awaited = number() as u32,
                "leaves_per_game" => case.settings.leaves_per_game = number() as u32,
                "dirichlet_alpha" => case.settings.dirichlet_alpha = number(),
                "exploration" => case.settings.exploration = number(),
                other => panic!("no key {other:?}"),
            }
        }
        case
    }

    fn tree(&self) -> String {
        let mut search = searched(board(&self.board), self.settings.clone(), self.seed, self.simulations);
        for _ in 0..self.awaited {
            let _ = search.select_leaf();
        }
        assert!(search.node_count() <= 51, "a golden tree is small enough to read");
        shown(&search.outline(9), *search.position(), search.principal_variation())
    }

    /// The same by one thread of a parallel search, whose table of evaluations takes so many bytes.
    fn parallel_tree(&self, table_bytes: usize) -> String {
        let parallel = ParallelSearch::new(GAME, board(&self.board), Rule::Puct, self.settings.clone(), self.seed);
        let mut parallel = parallel.expect("a game that goes on");
        parallel.share_evaluations(table_bytes);
        let mut thread = parallel.thread(0);
        for _ in 0..self.simulations {
            if let Request::Evaluate(leaf) = thread.select_leaf() {
                answer(&mut thread, leaf);
            }
        }
        for _ in 0..self.awaited {
            let _ = thread.select_leaf();
        }
        shown(&parallel.outline(9), *parallel.position(), parallel.principal_variation())
    }
}

fn shown(outline: &str, mut position: Position, line: Vec<Square>) -> String {
    let name = |mv| {
        let name = GAME.format_move(&position, mv);
        GAME.play(&mut position, mv);
        name
    };
    format!("{outline}best line {}\n", line.into_iter().map(name).collect::<Vec<_>>().join(" "))
}

fn check(name: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/search").join(format!("{name}.txt"));
    let text = std::fs::read_to_string(&path).expect("the golden file");
    let (head, expected) = text.split_once("---\n").expect("a line ---");
    let case = Case::read(head);
    let tree = case.tree();
    for table_bytes in [0, 1 << 16] {
        let parallel_tree = case.parallel_tree(table_bytes);
        assert_eq!(parallel_tree, tree, "{name}: one thread gives the tree of `Search`");
    }
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, format!("{head}---\n{tree}")).expect("the golden file can be written");
    } else {
        assert_eq!(tree, expected, "{name}: run with UPDATE_GOLDEN=1 if this is meant");
    }
}

#[test]
fn opening() {
    check("opening");
}

#[test]
fn mate_in_one() {
    check("mate_in_one");
}

#[test]
fn solved_draw() {
    check("solved_draw");
}

#[test]
fn noise() {
    check("noise");
}

#[test]
fn awaited_leaves() {
    check("awaited_leaves");
}

/// Searches with three leaves awaited at once, by both searches: the reports of the moves are the same to the last bit.
#[test]
fn one_thread_answers_leaves_as_the_search_does() {
    for (seed, squares) in [".../.../...", "X../.../...", "X../.O./...", "XO./.X./..O"].iter().enumerate() {
        let settings = SearchSettings { leaves_per_game: 3, simulation_count: 500, ..SearchSettings::default() };
        let mut search = searched(board(squares), settings.clone(), seed as u64, 0);
        let parallel = ParallelSearch::new(GAME, board(squares), Rule::Puct, settings, seed as u64);
        let parallel = parallel.expect("a game that goes on");
        let (mut thread, mut awaited, mut of_thread) = (parallel.thread(0), vec![], vec![]);
        while !search.is_done() {
            match search.select_leaf() {
                Request::Evaluate(leaf) => awaited.push(leaf),
                Request::Finished => {}
                Request::Blocked => _ = answer(&mut search, awaited.remove(0)),
            }
            match thread.select_leaf() {
                Request::Evaluate(leaf) => of_thread.push(leaf),
                Request::Finished => {}
                Request::Blocked => _ = answer(&mut thread, of_thread.remove(0)),
            }
            assert_eq!(awaited.len(), of_thread.len(), "{squares}");
        }
        assert!(parallel.is_done());
        assert_eq!(parallel.outline(9), search.outline(9), "{squares}");
        assert_eq!(parallel.move_reports(), search.move_reports(), "{squares}");
    }
}

/// One number for the whole search: when it changes, the search has changed. Quote it in the commit.
#[test]
fn signature() {
    let mut text = String::new();
    for (seed, squares) in
        [".../.../...", "X../.../...", "X../.O./...", "XO./.X./..O", "X.O/.../..."].iter().enumerate()
    {
        let settings = SearchSettings { leaves_per_game: 3, simulation_count: 500, ..SearchSettings::default() };
        let mut search = searched(board(squares), settings, seed as u64, 0);
        let mut awaited = vec![];
        while !search.is_done() && GAME.outcome(search.position()).is_none() {
            match search.select_leaf() {
                Request::Evaluate(leaf) => awaited.push(leaf),
                Request::Finished => {}
                Request::Blocked => _ = answer(&mut search, awaited.remove(0)),
            }
        }
        text += &format!("{:?}", search.visit_counts());
    }
    let mut priors = [0.0; 9];
    assert_eq!(fake_network(&board(".../.../..."), &[], &mut priors).get(), FAKE_VALUE, "the fake network is the same");
    assert_eq!(format!("{:016x}", xxh3_64(text.as_bytes())), SIGNATURE);
}

const FAKE_VALUE: f32 = 0.397;
const SIGNATURE: &str = "f23a43229777da4a";

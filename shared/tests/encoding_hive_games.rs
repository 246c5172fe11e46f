//! The Hive encoding over whole games: human games, and records made into training batches.

use std::collections::HashMap;

use shared::conformance::check_encoding;
use shared::encoding::hive::HiveEncoding;
use shared::encoding::{Encoding, MoveCells, Symmetry, TrainingBatch};
use shared::game::hive::{Hive, HiveRules};
use shared::game::{Game, Outcome};
use shared::record::batch::{SampleScratch, StoredSample, push_sample};
use shared::record::{GameRecord, PlyRecord, PolicyTarget, ReplayedGame, replay};

#[test]
fn the_encoding_of_hive_keeps_the_laws() {
    for (game_type, frame) in [("Base", 16), ("Base+MLP", 16), ("Base+LP", 8), ("Base+M", 26)] {
        let rules =
            HiveRules { game_type: game_type.parse().expect("a game type"), ply_limit: 60, ..Default::default() };
        check_encoding(&HiveEncoding::new(Hive::new(rules), frame), 5, 1);
    }
}

/// Human games, as GameStrings.
fn human_games() -> String {
    testdata::read("bga/games.uhp")
}

/// Old records: a queen may come first, and people play on through repetitions.
fn human_rules() -> HiveRules {
    HiveRules { queen_first_allowed: true, repetition_draw: false, ply_limit: u32::MAX, ..HiveRules::default() }
}

#[test]
fn human_hives_fit_the_default_frame_and_have_one_index_a_move() {
    let game = Hive::new(human_rules());
    let encodings = [10, 12, 16, 20].map(|frame| HiveEncoding::new(game, frame));
    let (mut position_count, mut too_large_counts) = (0, [0; 4]);
    let (mut moves, mut indices) = (Vec::new(), Vec::new());
    let mut cells: Vec<MoveCells> = Vec::new();
    let mut outside_count = 0;
    for line in human_games().lines() {
        let mut position = game.initial_position();
        for text in line.split(';').skip(3).filter(|text| !text.is_empty()) {
            moves.clear();
            indices.clear();
            game.legal_moves(&position, &mut moves);
            encodings[0].policy_indices(&position, &moves, &mut indices);
            cells.clear();
            encodings[2].move_cells(&position, &indices, &mut cells).expect("legal moves");
            let is_outside = cells.contains(&MoveCells::Nothing) && indices != [HiveEncoding::PASS_INDEX];
            outside_count += u32::from(is_outside);
            indices.sort_unstable();
            assert!(
                indices.windows(2).all(|pair| pair[0] < pair[1]),
                "two moves with one index before {text} in {line}"
            );
            let mv = game.parse_move(&position, text).unwrap_or_else(|error| panic!("{line}: {error}"));
            game.play(&mut position, mv);
            position_count += 1;
            for (count, encoding) in too_large_counts.iter_mut().zip(&encodings) {
                *count += u32::from(!encoding.fits(&position));
            }
        }
    }
    println!("{position_count} positions; too large for 10, 12, 16, 20: {too_large_counts:?}");
    println!("{outside_count} with a legal move that leaves 16");
    assert!(position_count > 260_000, "{position_count}");
    assert_eq!(too_large_counts[2..], [0, 0], "no hive of a human game is wider than 16");
    assert_eq!(outside_count, 50, "positions with a legal move that leaves the frame");
}

/// A record of a random game to the ply limit, with visits on every move that grow with its index.
fn random_record(encoding: &HiveEncoding, seed: u64) -> GameRecord {
    let game = encoding.game();
    let mut position = game.initial_position();
    let mut record = GameRecord { opening_ply_count: 4, ..GameRecord::default() };
    let (mut moves, mut indices, mut random) = (Vec::new(), Vec::new(), seed);
    while game.outcome(&position).is_none() {
        moves.clear();
        indices.clear();
        game.legal_moves(&position, &mut moves);
        encoding.policy_indices(&position, &moves, &mut indices);
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let mv = moves[(random >> 33) as usize % moves.len()];
        let visits = indices.iter().map(|index| (*index, u32::from(*index) % 50 + 1));
        record.plies.push(PlyRecord {
            move_text: game.format_move(&position, mv),
            policy_target: PolicyTarget::from_visits(visits).ok(),
            simulation_count: 800,
            ..PlyRecord::default()
        });
        game.play(&mut position, mv);
    }
    record
}

fn replayed(encoding: &HiveEncoding) -> ReplayedGame {
    replay(encoding, &random_record(encoding, 11)).expect("moves of the rules themselves")
}

fn encoding() -> HiveEncoding {
    HiveEncoding::new(Hive::new(HiveRules { ply_limit: 80, ..HiveRules::default() }), 16)
}

#[test]
fn a_hive_record_replays_into_samples() {
    let game = replayed(&encoding());
    assert!(game.ply_count > 20, "{} plies", game.ply_count);
    assert_eq!(game.samples.len(), game.ply_count as usize - 4, "one sample a ply after the opening");
    assert_eq!(game.is_cut_off, game.ply_count == 80);
    let first = game.samples[0].outcome_value;
    let expected = match game.outcome.expect("played to the end") {
        Outcome::Draw => 0.0,
        Outcome::Win(side) => [1.0, -1.0][side.index()],
    };
    assert_eq!(first, expected, "ply 4 is White's");
    let byte_count: usize =
        game.samples.iter().map(|sample| sample.packed.len() + sample.policy_target.to_bytes().len()).sum();
    println!("{} bytes a position with every move visited", byte_count / game.samples.len());
}

/// Shares of the moves of a sample by the cells they touch; moves outside the frame are left out.
fn shares_by_cells(batch: &TrainingBatch) -> HashMap<MoveCells, f32> {
    let entries = batch.input.cells.iter().zip(&batch.policy_targets);
    entries.filter(|(cells, _)| **cells != MoveCells::Nothing).map(|(cells, share)| (*cells, *share)).collect()
}

#[test]
fn turned_samples_keep_the_share_of_each_move() {
    let encoding = encoding();
    let mut scratch = SampleScratch::new(&encoding);
    for (number, sample) in replayed(&encoding).samples.iter().enumerate() {
        let policy_target = sample.policy_target.to_bytes();
        let stored = StoredSample {
            packed: &sample.packed,
            policy_target: &policy_target,
            value_target: sample.outcome_value,
            outlook: None,
        };
        let mut batch_of = |symmetry: u8| {
            let mut batch = TrainingBatch::default();
            push_sample(&encoding, &stored, Symmetry(symmetry), &mut batch, &mut scratch).expect("a good sample");
            batch
        };
        let (plain, turned) = (batch_of(0), batch_of((number % 12) as u8));
        assert!((plain.policy_targets.iter().sum::<f32>() - 1.0).abs() < 1e-5);
        assert_eq!(plain.policy_targets, turned.policy_targets, "moves keep their order");
        let sorted = |batch: &TrainingBatch| {
            let mut shares: Vec<f32> = shares_by_cells(batch).into_values().collect();
            shares.sort_by(f32::total_cmp);
            shares
        };
        assert_eq!(sorted(&plain), sorted(&turned), "as many different moves on the board");
        let planes = |batch: &TrainingBatch| batch.input.planes.to_dense(encoding.plane_shape());
        let (plain_planes, turned_planes) = (planes(&plain), planes(&turned));
        // Planes that say the same everywhere do not turn.
        for plane in [19, 20, 22, 23] {
            assert_eq!(plain_planes[plane * 256], turned_planes[plane * 256], "plane {plane}");
        }
        let sum = |planes: &[f32], plane: usize| planes[plane * 256..(plane + 1) * 256].iter().sum::<f32>();
        for plane in 0..16 {
            assert_eq!(sum(&plain_planes, plane), sum(&turned_planes, plane), "pieces of plane {plane}");
        }
    }
}

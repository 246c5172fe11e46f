//! The encoding of Italian draughts against its definition, in the golden positions and in random play.

use std::collections::{BTreeMap, HashSet};

use proptest::prelude::*;
use serde::Deserialize;
use shared::encoding::Symmetry;
use shared::encoding::dama::{DamaEncoding, PolicyCoding};
use shared::encoding::{DecodeError, Encoding, MoveCells, TrainingBatch};
use shared::game::dama::fen;
use shared::game::dama::{Board, Dama, Move, Position};
use shared::game::{Game, Side};
use shared::record::PolicyTarget;
use shared::record::batch::{SampleScratch, StoredSample, push_sample};

fn encoding(coding: PolicyCoding) -> DamaEncoding {
    DamaEncoding::new(Dama::default(), coding)
}

fn position(text: &str) -> Position {
    fen::read(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// The golden positions of `testdata/dama`.
fn golden_positions() -> Vec<Position> {
    #[derive(Deserialize)]
    struct Row {
        fen: String,
    }
    let texts = ["dama/positions.jsonl", "dama/tricky.jsonl"].map(testdata::read);
    let rows = texts.iter().flat_map(|text| text.lines());
    rows.map(|line| position(&serde_json::from_str::<Row>(line).expect("a row of golden data").fen)).collect()
}

fn legal(position: &Position) -> Vec<Move> {
    let mut moves = vec![];
    Dama::default().legal_moves(position, &mut moves);
    moves
}

fn indices(coding: PolicyCoding, position: &Position, moves: &[Move]) -> Vec<u16> {
    let mut indices = vec![];
    encoding(coding).policy_indices(position, moves, &mut indices);
    indices
}

fn planes(position: &Position) -> Vec<f32> {
    let encoding = encoding(PolicyCoding::Lossless);
    let mut planes = vec![f32::NAN; encoding.plane_shape().len()];
    encoding.encode(position, &mut planes);
    planes
}

/// Plays a random game and shows each position to `check`.
fn walk(seed: u64, mut check: impl FnMut(&[Position])) {
    let (dama, mut random) = (Dama::default(), seed);
    let mut positions = vec![dama.initial_position()];
    loop {
        check(&positions);
        let mut position = positions[positions.len() - 1].clone();
        let moves = legal(&position);
        if moves.is_empty() {
            return;
        }
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        dama.play(&mut position, moves[(random >> 33) as usize % moves.len()]);
        positions.push(position);
    }
}

/// Where the number of a square lies in a plane, seen by this side: the definition, word by word.
fn cell(square: usize, side: Side) -> usize {
    let square = if side == Side::White { square } else { 33 - square };
    let row = (square - 1) / 4;
    row * 8 + 2 * ((square - 1) % 4) + row % 2
}

/// The planes of one board by its text.
fn planes_by_definition(board: &Board, side: Side) -> Vec<f32> {
    let mut planes = vec![0.0; 4 * 64];
    let text = fen::write(board, Side::White);
    for (list, owner) in text.split(':').skip(1).zip([Side::White, Side::Black]) {
        for piece in list[1..].split(',').filter(|piece| !piece.is_empty()) {
            let square: usize = piece.trim_start_matches('K').parse().expect("a square");
            let plane = 2 * usize::from(owner != side) + usize::from(piece.starts_with('K'));
            planes[plane * 64 + cell(square, side)] = 1.0;
        }
    }
    planes
}

#[test]
fn planes_show_three_boards_and_the_side() {
    walk(3, |positions| {
        let last = positions.len() - 1;
        let position = &positions[last];
        let side = position.side_to_move();
        let earlier =
            |plies: usize| last.checked_sub(plies).map_or(Board::default(), |index| *positions[index].board());
        let boards = [earlier(0), earlier(1), earlier(2)];
        let mut expected: Vec<f32> = boards.iter().flat_map(|board| planes_by_definition(board, side)).collect();
        expected.extend([if side == Side::White { 1.0 } else { 0.0 }; 64]);
        assert_eq!(planes(position), expected, "ply {last}");
    });
}

#[test]
fn both_sides_see_the_same() {
    for position in golden_positions() {
        let side = position.side_to_move().opponent();
        let turned = Position::new(position.board().turned(), side, 0);
        assert_eq!(planes(&turned)[..12 * 64], planes(&position)[..12 * 64]);
        for coding in [PolicyCoding::Lossless, PolicyCoding::From4] {
            let moves = legal(&position);
            let turned_moves: Vec<Move> = moves.iter().map(|mv| mv.turned()).collect();
            let legal: HashSet<Move> = legal(&turned).into_iter().collect();
            assert_eq!(legal, turned_moves.iter().copied().collect());
            assert_eq!(indices(coding, &turned, &turned_moves), indices(coding, &position, &moves));
        }
    }
}

#[test]
fn lossless_indices_are_one_to_one() {
    for position in golden_positions() {
        let moves = legal(&position);
        let found = indices(PolicyCoding::Lossless, &position, &moves);
        assert_eq!(found.iter().collect::<HashSet<_>>().len(), moves.len(), "{:?}", position.board());
        if position.side_to_move() == Side::White {
            assert_eq!(found, moves.iter().map(|mv| mv.index() as u16).collect::<Vec<_>>());
        }
    }
}

/// How many positions have moves that share an index, of how many with a move; and how many such moves, of how many.
fn collisions(positions: &[Position]) -> [usize; 4] {
    let mut counts = [0; 4];
    for position in positions {
        let moves = legal(position);
        let mut sharers = BTreeMap::new();
        for index in indices(PolicyCoding::From4, position, &moves) {
            *sharers.entry(index).or_insert(0) += 1;
        }
        let sharing: usize = sharers.values().filter(|count| **count > 1).sum();
        let found = [usize::from(sharing > 0), usize::from(!moves.is_empty()), sharing, moves.len()];
        counts.iter_mut().zip(found).for_each(|(count, found)| *count += found);
    }
    counts
}

#[test]
fn collisions_of_from4_are_counted() {
    assert_eq!(collisions(&golden_positions()), [25, 590, 65, 1968], "golden positions");
    let mut played = vec![];
    (0..1000).for_each(|seed| walk(seed, |positions| played.extend(positions.last().cloned())));
    assert_eq!(collisions(&played), [114, 71_558, 232, 376_335], "1,000 random games");
}

#[test]
fn cells_of_an_index_are_those_of_the_move() {
    for position in golden_positions() {
        let (side, moves) = (position.side_to_move(), legal(&position));
        let cells_of = |coding| {
            let mut cells = vec![];
            encoding(coding).move_cells(&position, &indices(coding, &position, &moves), &mut cells).expect("legal");
            cells
        };
        let by_definition = |square: shared::game::dama::Square| cell(usize::from(square.number()), side) as u16;
        for (mv, cells) in moves.iter().zip(cells_of(PolicyCoding::Lossless)) {
            let expected =
                MoveCells::Movement { source: by_definition(mv.source()), target: by_definition(mv.target()) };
            assert_eq!(cells, expected, "{mv:?}");
        }
        for (mv, cells) in moves.iter().zip(cells_of(PolicyCoding::From4)) {
            let MoveCells::Movement { source, target } = cells else { panic!("{cells:?}") };
            assert_eq!(source, by_definition(mv.source()), "{mv:?}");
            let is_end = target == by_definition(mv.target());
            assert!(is_end || mv.captured().count_ones() > 1, "{mv:?}: {cells:?}");
        }
    }
}

#[test]
fn an_index_that_names_no_piece_is_refused() {
    let start = Dama::default().initial_position();
    let error_of = |coding, index| encoding(coding).move_cells(&start, &[index], &mut vec![]).expect_err("refused");
    for (coding, index) in [
        (PolicyCoding::Lossless, 0),
        (PolicyCoding::Lossless, 1034),
        (PolicyCoding::From4, 0),
        // A light cell, and beyond the board.
        (PolicyCoding::From4, 4 * 56),
        (PolicyCoding::From4, 256),
        (PolicyCoding::From4, u16::MAX),
    ] {
        let error = error_of(coding, index);
        assert!(matches!(error, DecodeError::PolicyIndex { policy_index, .. } if policy_index == index), "{error}");
    }
}

#[test]
fn moves_that_share_an_index_are_learned_in_equal_parts() {
    // 3x10x17x26 and 3x10x19x26.
    let position = position("B:W6,13,14,18,21,22,25,30,31:B1,2,3,4,7,9");
    let found = indices(PolicyCoding::From4, &position, &legal(&position));
    assert_eq!((found.len(), found[0]), (2, found[1]));
    let target = PolicyTarget::from_visits([(found[0], 3), (found[1], 5)]).expect("visited").to_bytes();
    let encoding = encoding(PolicyCoding::From4);
    let mut packed = vec![];
    encoding.pack(&position, &mut packed);
    let sample = StoredSample { packed: &packed, policy_target: &target, value_target: 1.0, outlook: None };
    let (mut batch, mut scratch) = (TrainingBatch::default(), SampleScratch::new(&encoding));
    for _ in 0..2 {
        push_sample(&encoding, &sample, Symmetry(0), &mut batch, &mut scratch).expect("a sample");
    }
    assert_eq!(batch.policy_targets, [0.5; 4]);
}

proptest! {
    #[test]
    fn rubbish_is_refused_or_encoded(bytes in proptest::collection::vec(any::<u8>(), 0..60)) {
        let encoding = encoding(PolicyCoding::Lossless);
        let mut position = Dama::default().initial_position();
        if encoding.unpack(&bytes, &mut position).is_ok() {
            prop_assert_eq!(bytes.len(), 37);
            prop_assert!(planes(&position).iter().all(|number| number.is_finite()));
            let moves = legal(&position);
            prop_assert_eq!(indices(PolicyCoding::From4, &position, &moves).len(), moves.len());
        }
    }
}

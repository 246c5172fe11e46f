//! Properties of the Hive encoding in the positions of random play: indices, symmetries, packed form, rubbish.

use std::collections::{BTreeMap, HashMap, HashSet};

use proptest::prelude::*;
use shared::encoding::hive::HiveEncoding;
use shared::encoding::{Encoding, MoveCells, Symmetry};
use shared::game::Game;
use shared::game::hive::{Cell, Direction, Hive, HiveRules, Move, Piece, PieceKind, Position};

const GAME_TYPES: [&str; 8] = ["Base", "Base+M", "Base+L", "Base+P", "Base+ML", "Base+MP", "Base+LP", "Base+MLP"];

fn game(game_type: &str) -> Hive {
    Hive::new(HiveRules {
        game_type: game_type.parse().expect("a game type"),
        queen_first_allowed: game_type.len().is_multiple_of(2),
        ..HiveRules::default()
    })
}

/// A random game is walked; each position is shown to `check` with its legal moves.
fn walk(game: &Hive, seed: u64, ply_count: u32, mut check: impl FnMut(&Position, &[Move])) {
    let mut position = game.initial_position();
    let mut moves = Vec::new();
    let mut random = seed;
    while position.ply() < ply_count {
        moves.clear();
        game.legal_moves(&position, &mut moves);
        if moves.is_empty() {
            return;
        }
        check(&position, &moves);
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        game.play(&mut position, moves[(random >> 33) as usize % moves.len()]);
    }
}

/// Walks random games of all game types.
fn walk_all(frame: u8, games_each: u64, mut check: impl FnMut(&HiveEncoding, &Position, &[Move])) {
    for game_type in GAME_TYPES {
        let encoding = HiveEncoding::new(game(game_type), frame);
        for seed in 0..games_each {
            walk(encoding.game(), seed * 7 + 1, 120, |position, moves| check(&encoding, position, moves));
        }
    }
}

fn indices(encoding: &HiveEncoding, position: &Position, moves: &[Move]) -> Vec<u16> {
    let mut indices = Vec::new();
    encoding.policy_indices(position, moves, &mut indices);
    indices
}

fn cells(encoding: &HiveEncoding, position: &Position, indices: &[u16]) -> Vec<MoveCells> {
    let mut cells = Vec::new();
    encoding.move_cells(position, indices, &mut cells).expect("indices of legal moves");
    cells
}

fn planes(encoding: &HiveEncoding, position: &Position) -> Vec<f32> {
    let mut planes = vec![f32::NAN; encoding.plane_shape().len()];
    encoding.encode(position, &mut planes);
    planes
}

/// Coordinates on the plane instead of the torus, found by walking over the hive.
fn unrolled(position: &Position) -> HashMap<Cell, (i32, i32)> {
    let mut places = HashMap::new();
    let Some(first) = Piece::all().find_map(|piece| position.cell_of(piece)) else { return places };
    let mut open = vec![(first, (0, 0))];
    while let Some((cell, (q, r))) = open.pop() {
        if position.height(cell) > 0 && places.insert(cell, (q, r)).is_none() {
            let step = |direction: Direction| {
                let (dq, dr) = direction.step();
                (cell.neighbour(direction), (q + i32::from(dq), r + i32::from(dr)))
            };
            open.extend(Direction::ALL.map(step));
        }
    }
    places
}

/// The definition of slots in DESIGN.md, word by word.
fn slots(position: &Position) -> HashMap<Piece, u16> {
    let places = unrolled(position);
    let mut slots = HashMap::new();
    for mut group in Piece::all().fold(BTreeMap::<_, Vec<Piece>>::new(), |mut groups, piece| {
        groups.entry((piece.side(), piece.kind())).or_default().push(piece);
        groups
    }) {
        group.1.sort_by_key(|piece| match position.cell_of(*piece) {
            Some(cell) => (0, places[&cell].1, places[&cell].0, position.level_of(*piece), 0),
            None => (1, 0, 0, 0, piece.number()),
        });
        let first = u16::from(group.0.1.first_slot()) + if group.0.0 == position.side_to_move() { 0 } else { 14 };
        slots.extend(group.1.iter().zip(first..).map(|(piece, slot)| (*piece, slot)));
    }
    slots
}

/// The definition of the policy index, word by word.
fn index_by_definition(position: &Position, slots: &HashMap<Piece, u16>, mv: Move) -> u16 {
    let Some(piece) = mv.piece() else { return 6 * 28 * 28 };
    let is_same_in_hand = |other: &Piece| {
        other.side() == piece.side() && other.kind() == piece.kind() && position.cell_of(*other).is_none()
    };
    let mover = match position.cell_of(piece) {
        Some(_) => slots[&piece],
        None => Piece::all().filter(is_same_in_hand).map(|other| slots[&other]).min().expect("the piece itself"),
    };
    let others: Vec<Piece> = Piece::all().filter(|other| *other != piece).collect();
    let below = others.iter().filter(|other| position.cell_of(**other) == Some(mv.target()));
    let around = Direction::ALL.into_iter().flat_map(|direction| {
        let names = move |other: &&Piece| {
            position.cell_of(**other).is_some_and(|cell| cell.neighbour(direction) == mv.target())
        };
        others.iter().filter(names).map(move |other| (*other, direction as u16))
    });
    let named = below.map(|other| (slots[other], 6)).min();
    let named = named.or_else(|| around.map(|(other, direction)| (slots[&other], direction)).min());
    let (reference, direction) = named.unwrap_or((mover, 6));
    (direction * 28 + mover) * 28 + reference
}

#[test]
fn indices_are_as_defined_and_one_to_one() {
    let mut position_count = 0;
    walk_all(16, 12, |encoding, position, moves| {
        position_count += 1;
        let slots = slots(position);
        let expected: Vec<u16> = moves.iter().map(|mv| index_by_definition(position, &slots, *mv)).collect();
        let found = indices(encoding, position, moves);
        assert_eq!(found, expected, "ply {}", position.ply());
        assert_eq!(found.iter().collect::<HashSet<_>>().len(), moves.len(), "one index, one move: {found:?}");
        assert!(found.iter().all(|index| usize::from(*index) < HiveEncoding::POLICY_SIZE));
    });
    assert!(position_count > 5_000, "{position_count} positions");
}

#[test]
fn cells_of_an_index_are_those_of_the_move() {
    walk_all(12, 8, |encoding, position, moves| {
        let cells = cells(encoding, position, &indices(encoding, position, moves));
        for (mv, cells) in moves.iter().zip(cells) {
            let expected = mv.piece().and_then(|piece| {
                let target = encoding.frame_cell(position, mv.target())?;
                let Some(source) = position.cell_of(piece) else {
                    return Some(MoveCells::Placement { kind: piece.kind() as u8, target });
                };
                Some(MoveCells::Movement { source: encoding.frame_cell(position, source)?, target })
            });
            assert_eq!(cells, expected.unwrap_or(MoveCells::Nothing), "{mv:?}");
        }
    });
}

#[test]
fn every_symmetry_commutes_with_moves_indices_and_planes() {
    walk_all(16, 2, |encoding, position, moves| {
        let (planes_before, indices_before) = (planes(encoding, position), indices(encoding, position, moves));
        let cells_before = cells(encoding, position, &indices_before);
        let symmetry = Symmetry((position.ply() % 12) as u8);
        let turned = encoding.transform(position, symmetry);
        let turned_moves: Vec<Move> = moves.iter().map(|mv| encoding.transform_move(position, symmetry, *mv)).collect();
        let mut legal = Vec::new();
        encoding.game().legal_moves(&turned, &mut legal);
        let as_set = |moves: &[Move]| moves.iter().map(|mv| (mv.piece(), mv.target())).collect::<HashSet<_>>();
        assert_eq!(as_set(&legal), as_set(&turned_moves), "symmetry {symmetry:?}");

        let turned_cells = cells(encoding, &turned, &indices(encoding, &turned, &turned_moves));
        let cell_map = cell_map(encoding, position, &turned, symmetry);
        for (before, after) in cells_before.into_iter().zip(turned_cells) {
            assert_turned(before, after, &cell_map);
        }
        let planes_after = planes(encoding, &turned);
        for (plane, (before, after)) in planes_before.chunks(256).zip(planes_after.chunks(256)).enumerate() {
            for (from, to) in &cell_map {
                assert_eq!(before[usize::from(*from)], after[usize::from(*to)], "plane {plane}, {symmetry:?}");
            }
        }
    });
}

/// Frame cells of the position and where they lie in the turned one, as far as both are inside.
fn cell_map(encoding: &HiveEncoding, position: &Position, turned: &Position, symmetry: Symmetry) -> HashMap<u16, u16> {
    let piece = Piece::from_index(0).expect("a piece");
    let all = (0..1024).filter_map(Cell::from_index);
    all.filter_map(|cell| {
        let turned_cell = encoding.transform_move(position, symmetry, Move::new(piece, cell)).target();
        Some((encoding.frame_cell(position, cell)?, encoding.frame_cell(turned, turned_cell)?))
    })
    .collect()
}

fn assert_turned(before: MoveCells, after: MoveCells, cell_map: &HashMap<u16, u16>) {
    match (before, after) {
        (MoveCells::Placement { kind, target }, MoveCells::Placement { kind: turned_kind, target: turned }) => {
            assert_eq!((kind, cell_map.get(&target)), (turned_kind, Some(&turned)));
        }
        (MoveCells::Movement { source, target }, MoveCells::Movement { source: turned_source, target: turned }) => {
            assert_eq!((cell_map.get(&source), cell_map.get(&target)), (Some(&turned_source), Some(&turned)));
        }
        // A long hive may fit the frame lying and not standing.
        (MoveCells::Nothing, _) | (_, MoveCells::Nothing) => {}
        (before, after) => panic!("{before:?} became {after:?}"),
    }
}

#[test]
fn the_twelve_symmetries_are_a_group_of_different_maps() {
    let encoding = HiveEncoding::new(game("Base"), 16);
    let start = encoding.game().initial_position();
    let piece = Piece::from_index(0).expect("a piece");
    let turn =
        |cell: Cell, symmetry: u8| encoding.transform_move(&start, Symmetry(symmetry), Move::new(piece, cell)).target();
    let cell = Cell::from_axial(19, 15);
    let images: HashSet<Cell> = (0..12).map(|symmetry| turn(cell, symmetry)).collect();
    assert_eq!(images.len(), 12);
    assert_eq!(turn(cell, 0), cell, "symmetry 0 is the identity");
    for symmetry in 0..12 {
        assert_eq!(turn(Cell::ORIGIN, symmetry), Cell::ORIGIN);
        let neighbours: HashSet<Cell> = Direction::ALL.map(|d| turn(cell.neighbour(d), symmetry)).into();
        assert_eq!(neighbours, Direction::ALL.map(|d| turn(cell, symmetry).neighbour(d)).into(), "{symmetry}");
        assert!(images.iter().all(|image| images.contains(&turn(*image, symmetry))), "the orbit is closed");
    }
}

#[test]
fn packed_positions_come_back_whole() {
    let mut unpacked = Hive::new(HiveRules::default()).initial_position();
    walk_all(16, 6, |encoding, position, moves| {
        let mut bytes = Vec::new();
        encoding.pack(position, &mut bytes);
        assert_eq!(bytes.len(), 59);
        encoding.unpack(&bytes, &mut unpacked).expect("just packed");
        let mut again = Vec::new();
        encoding.pack(&unpacked, &mut again);
        assert_eq!(again, bytes);
        let mut legal = Vec::new();
        encoding.game().legal_moves(&unpacked, &mut legal);
        assert_eq!(legal, moves, "the same moves in the same order");
        assert_eq!(planes(encoding, &unpacked), planes(encoding, position));
        assert_eq!(indices(encoding, &unpacked, moves), indices(encoding, position, moves));
    });
}

#[test]
fn a_hive_larger_than_the_frame_is_cut_off_and_nothing_panics() {
    let mut cut_off_count = 0;
    walk_all(8, 4, |encoding, position, moves| {
        let cells = cells(encoding, position, &indices(encoding, position, moves));
        let planes = planes(encoding, position);
        assert!(planes.iter().all(|number| number.is_finite()));
        let shown = planes[..16 * 64].iter().filter(|number| **number == 1.0).count();
        let mark = |piece: Piece| Some((piece.side(), piece.kind(), position.cell_of(piece)?));
        let mark_count = Piece::all().filter_map(mark).collect::<HashSet<_>>().len();
        assert_eq!(encoding.fits(position), shown == mark_count, "{shown} of {mark_count} marks");
        cut_off_count += usize::from(!encoding.fits(position));
        let in_frame = |cell: u16| cell < 64;
        assert!(cells.iter().all(|cells| match *cells {
            MoveCells::Nothing => true,
            MoveCells::Placement { kind, target } => kind < 8 && in_frame(target),
            MoveCells::Movement { source, target } => in_frame(source) && in_frame(target),
        }));
    });
    assert!(cut_off_count > 100, "only {cut_off_count} positions were too large");
}

#[test]
fn any_index_gives_cells_or_an_error_and_few_are_possible() {
    walk_all(16, 1, |encoding, position, _| {
        let mut cells = Vec::new();
        let is_possible = |index: &u16| encoding.move_cells(position, &[*index], &mut cells).is_ok();
        let possible = (0..6_000).step_by(if position.ply() < 3 { 1 } else { 23 }).filter(is_possible).count();
        assert!(possible < 5_488 / 2);
        for index in [5_488, u16::MAX] {
            encoding.move_cells(position, &[index], &mut cells).expect_err("out of range");
        }
    });
}

#[test]
fn the_pass_and_the_first_placement_are_told_apart() {
    let encoding = HiveEncoding::new(Hive::new(HiveRules { queen_first_allowed: true, ..HiveRules::default() }), 16);
    let mut position = encoding.game().initial_position();
    let queen = Move::new(Piece::new(position.side_to_move(), PieceKind::Queen, 1).expect("a queen"), Cell::ORIGIN);
    assert_eq!(indices(&encoding, &position, &[queen]), [HiveEncoding::PASS_INDEX]);
    let target = encoding.frame_cell(&position, Cell::ORIGIN).expect("the middle is inside");
    assert_eq!(target, 7 * 16 + 7);
    assert_eq!(cells(&encoding, &position, &[HiveEncoding::PASS_INDEX]), [MoveCells::Placement { kind: 0, target }]);
    encoding.game().play(&mut position, queen);
    assert_eq!(indices(&encoding, &position, &[Move::PASS]), [HiveEncoding::PASS_INDEX]);
    assert_eq!(cells(&encoding, &position, &[HiveEncoding::PASS_INDEX]), [MoveCells::Nothing]);
}

/// A packed position of a random game.
fn packed_position(game_type: usize, seed: u64, ply: u32) -> Vec<u8> {
    let encoding = HiveEncoding::new(game(GAME_TYPES[game_type]), 16);
    let mut bytes = Vec::new();
    walk(encoding.game(), seed, ply + 1, |position, _| {
        bytes.clear();
        encoding.pack(position, &mut bytes);
    });
    bytes
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn mutated_positions_are_refused_or_real(
        (game_type, seed, ply) in (0usize..8, any::<u64>(), 0u32..60),
        mutations in prop::collection::vec((0usize..59, any::<u8>()), 1..4),
        cut in prop::option::of(0usize..59),
    ) {
        let mut bytes = packed_position(game_type, seed, ply);
        for (place, byte) in mutations {
            bytes[place] ^= byte;
        }
        bytes.truncate(cut.unwrap_or(bytes.len()));
        let encoding = HiveEncoding::new(game(GAME_TYPES[game_type]), 16);
        let mut position = encoding.game().initial_position();
        if encoding.unpack(&bytes, &mut position).is_ok() {
            let mut again = Vec::new();
            encoding.pack(&position, &mut again);
            prop_assert_eq!(again, bytes);
            let mut moves = Vec::new();
            encoding.game().legal_moves(&position, &mut moves);
            let indices = indices(&encoding, &position, &moves);
            prop_assert_eq!(cells(&encoding, &position, &indices).len(), moves.len());
            prop_assert!(planes(&encoding, &position).iter().all(|number| number.is_finite()));
        }
    }

    #[test]
    fn rubbish_is_refused(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
        let encoding = HiveEncoding::new(Hive::default(), 16);
        let mut position = encoding.game().initial_position();
        prop_assert!(encoding.unpack(&bytes, &mut position).is_err());
    }
}

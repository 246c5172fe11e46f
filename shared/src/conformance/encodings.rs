//! The laws of [`Encoding`], checked on seeded random games.

use std::collections::HashMap;

use rand::{Rng, RngExt};

use super::{Place, Walk, moves_of};
use crate::encoding::{Encoding, MoveCells, Mv, NetworkInput, PlaneShape, Pos, Symmetry};
use crate::game::Game;

/// Plays `game_count` random games from `seed` on and checks the laws of [`Encoding`] at every ply.
///
/// # Panics
/// If a law is broken.
pub fn check_encoding<E: Encoding>(encoding: &E, seed: u64, game_count: u32) {
    let game = encoding.game();
    for number in 0..u64::from(game_count) {
        let mut place = Place { seed: seed.wrapping_add(number), ply: 0 };
        let mut walk = Walk::new(game, place.seed);
        let mut unpacked = game.initial_position();
        while let Some(mv) = walk.choose() {
            check_indices(encoding, &walk.position, &walk.moves, &place);
            check_features(encoding, &walk.position, &place);
            check_packing(encoding, &walk.position, &walk.moves, &mut unpacked, &place);
            check_mutations(encoding, &walk.position, &mut walk.random, &place);
            check_symmetries(encoding, &walk.position, &walk.moves, mv, &place);
            walk.advance(mv);
            place.ply += 1;
        }
    }
}
fn planes_of<E: Encoding>(encoding: &E, position: &Pos<E>) -> Vec<f32> {
    // Whatever was there before must not shine through.
    let mut planes = vec![f32::NAN; encoding.plane_shape().len()];
    encoding.encode(position, &mut planes);
    planes
}

fn indices_of<E: Encoding>(encoding: &E, position: &Pos<E>, moves: &[Mv<E>]) -> Vec<u16> {
    let mut indices = vec![];
    encoding.policy_indices(position, moves, &mut indices);
    indices
}

fn check_indices<E: Encoding>(encoding: &E, position: &Pos<E>, moves: &[Mv<E>], place: &Place) {
    let planes = planes_of(encoding, position);
    assert!(planes.iter().all(|number| number.is_finite()), "{place:?}: planes are finite and written in full");
    let indices = indices_of(encoding, position, moves);
    assert_eq!(indices.len(), moves.len(), "{place:?}: a policy index for each move");
    let mut seen = HashMap::new();
    for (index, mv) in indices.iter().zip(moves) {
        assert!(usize::from(*index) < encoding.policy_size(), "{place:?}: index {index} of {mv:?} is out of range");
        if let Some(other) = seen.insert(*index, *mv).filter(|_| encoding.is_one_to_one()) {
            panic!("{place:?}: {mv:?} and {other:?} have the same index {index}");
        }
    }
    let mut input = NetworkInput::default();
    let pushed = input.push(encoding, position, &indices);
    assert_eq!(pushed, Ok(()), "{place:?}: legal indices name cells");
    assert_eq!(input.cells.len(), moves.len(), "{place:?}: cells for each move");
    check_active_cells(&input, encoding.plane_shape(), place);
    check_planes(&input, encoding, place);
    check_foreign_indices(encoding, position, place);
}

/// Moves touch active cells only, and the planes say the same of all other cells.
fn check_active_cells(input: &NetworkInput, shape: PlaneShape, place: &Place) {
    let active = &input.active_cells;
    let cell_count = shape.rows * shape.columns;
    assert!(active.is_sorted_by(|a, b| a < b), "{place:?}: active cells rise: {active:?}");
    assert!(active.last().is_none_or(|cell| usize::from(*cell) < cell_count), "{place:?}: active cells lie inside");
    let is_active = |cell: u16| active.binary_search(&cell).is_ok();
    for cells in &input.cells {
        let is_right = match *cells {
            MoveCells::Nothing => true,
            MoveCells::Placement { target, .. } => is_active(target),
            MoveCells::Movement { source, target } => is_active(source) && is_active(target),
        };
        assert!(is_right, "{place:?}: {cells:?} touches a cell that is not active");
    }
    for (plane, numbers) in input.planes.to_dense(shape).chunks(cell_count).enumerate() {
        let mut elsewhere = (0..cell_count).filter(|cell| !is_active(*cell as u16)).map(|cell| numbers[cell]);
        let first = elsewhere.next();
        assert!(elsewhere.all(|number| Some(number) == first), "{place:?}: plane {plane} tells two quiet cells apart");
    }
}

/// What travels of the planes is no more than what they say.
fn check_planes<E: Encoding>(input: &NetworkInput, encoding: &E, place: &Place) {
    let (planes, shape) = (&input.planes, encoding.plane_shape());
    let (cell_count, uniform) = (shape.rows * shape.columns, encoding.uniform_planes());
    assert!(shape.len() <= 1 << 16, "{place:?}: a place has 16 bits");
    assert_eq!((planes.len(), planes.numbers.len()), (1, planes.places.len()), "{place:?}: one position, in full");
    assert_eq!(planes.uniform_numbers.len(), uniform.len(), "{place:?}: a number for each uniform plane");
    assert!(uniform.is_sorted_by(|a, b| a < b), "{place:?}: uniform planes rise: {uniform:?}");
    let features = (shape.planes - encoding.feature_count()..shape.planes).map(|plane| plane as u8);
    assert!(features.into_iter().all(|plane| uniform.contains(&plane)), "{place:?}: what is a feature is uniform");
    let plane_of = |at: &u16| (usize::from(*at) / cell_count) as u8;
    assert!(planes.places.iter().all(|at| usize::from(*at) < shape.len()), "{place:?}: places lie inside");
    assert!(!planes.places.iter().any(|at| uniform.contains(&plane_of(at))), "{place:?}: no number in a uniform plane");
    assert!(!planes.numbers.contains(&0.0), "{place:?}: no place says 0");
    let mut seen = HashMap::new();
    for (at, number) in planes.places.iter().zip(&planes.numbers) {
        assert_eq!(seen.insert(at, number).unwrap_or(number), number, "{place:?}: place {at} says two numbers");
    }
}

/// Any index a peer may send is answered or refused, and a refusal adds nothing to the batch.
fn check_foreign_indices<E: Encoding>(encoding: &E, position: &Pos<E>, place: &Place) {
    let step = encoding.policy_size() / 97 + 1;
    let mut cells = vec![];
    for index in (0..encoding.policy_size()).step_by(step).map(|index| index as u16) {
        cells.clear();
        if encoding.move_cells(position, &[index], &mut cells).is_ok() {
            assert_eq!(cells.len(), 1, "{place:?}: one entry for index {index}");
        }
    }
    let too_large = u16::try_from(encoding.policy_size()).ok();
    for index in too_large.into_iter().chain([u16::MAX]) {
        let mut input = NetworkInput::default();
        assert!(input.push(encoding, position, &[index]).is_err(), "{place:?}: index {index} is refused");
        let is_empty = input.cells.is_empty() && input.is_empty() && input.planes.places.is_empty();
        assert!(is_empty, "{place:?}: what is refused leaves nothing behind");
    }
}

fn check_packing<E: Encoding>(encoding: &E, position: &Pos<E>, moves: &[Mv<E>], unpacked: &mut Pos<E>, place: &Place) {
    let bytes = packed(encoding, position);
    assert_eq!(encoding.unpack(&bytes, unpacked), Ok(()), "{place:?}: what was packed is read");
    let read = moves_of(encoding.game(), unpacked);
    assert_eq!(read, moves, "{place:?}: the same moves in the same order after packing");
    assert_eq!(
        planes_of(encoding, unpacked),
        planes_of(encoding, position),
        "{place:?}: the same planes after packing"
    );
    let indices = indices_of(encoding, position, moves);
    assert_eq!(indices_of(encoding, unpacked, &read), indices, "{place:?}: the same indices after packing");
    assert_eq!(packed(encoding, unpacked), bytes, "{place:?}: packing again gives the same bytes");
}

/// What is called one number is the same in every cell.
fn check_features<E: Encoding>(encoding: &E, position: &Pos<E>, place: &Place) {
    let shape = encoding.plane_shape();
    let first = shape.planes - encoding.feature_count();
    let planes = planes_of(encoding, position);
    for (number, plane) in planes.chunks(shape.rows * shape.columns).enumerate().skip(first) {
        assert!(plane.iter().all(|cell| *cell == plane[0]), "{place:?}: plane {number} is the same everywhere");
    }
}

fn packed<E: Encoding>(encoding: &E, position: &Pos<E>) -> Vec<u8> {
    let mut bytes = vec![];
    encoding.pack(position, &mut bytes);
    bytes
}

/// Damaged bytes are refused or read as some position that can be encoded; nothing panics.
fn check_mutations<E: Encoding>(encoding: &E, position: &Pos<E>, random: &mut impl Rng, place: &Place) {
    let bytes = packed(encoding, position);
    let mut target = position.clone();
    for length in 0..bytes.len() {
        assert!(encoding.unpack(&bytes[..length], &mut target).is_err(), "{place:?}: cut off at {length} is refused");
    }
    let longer = [&bytes[..], &[0]].concat();
    assert!(encoding.unpack(&longer, &mut target).is_err(), "{place:?}: one byte too many is refused");
    for _ in 0..8 {
        let mut damaged = bytes.clone();
        for _ in 0..random.random_range(1..4) {
            let at = random.random_range(0..damaged.len());
            damaged[at] = random.random();
        }
        if encoding.unpack(&damaged, &mut target).is_ok() {
            let moves = moves_of(encoding.game(), &target);
            let _ = indices_of(encoding, &target, &moves);
            assert!(planes_of(encoding, &target).iter().all(|number| number.is_finite()), "{place:?}: {damaged:?}");
        }
    }
}

fn check_symmetries<E: Encoding>(encoding: &E, position: &Pos<E>, moves: &[Mv<E>], played: Mv<E>, place: &Place) {
    let identity = encoding.transform(position, Symmetry(0));
    assert_eq!(planes_of(encoding, &identity), planes_of(encoding, position), "{place:?}: symmetry 0 changes nothing");
    for symmetry in (0..encoding.symmetry_count()).map(Symmetry) {
        check_symmetry(encoding, position, moves, symmetry, place);
        check_play_commutes(encoding, position, played, symmetry, place);
    }
    assert_same_orbit(encoding, position, place);
}

/// The moves of the turned position are the turned moves.
fn check_symmetry<E: Encoding>(encoding: &E, position: &Pos<E>, moves: &[Mv<E>], symmetry: Symmetry, place: &Place) {
    let game = encoding.game();
    let turned = encoding.transform(position, symmetry);
    let turned_moves = moves_of(game, &turned);
    assert_eq!(turned_moves.len(), moves.len(), "{place:?} {symmetry:?}: as many moves when turned");
    for mv in moves {
        let turned_move = encoding.transform_move(position, symmetry, *mv);
        assert!(turned_moves.contains(&turned_move), "{place:?} {symmetry:?}: {mv:?} as {turned_move:?} is not legal");
    }
    assert_eq!(game.side_to_move(&turned), game.side_to_move(position), "{place:?} {symmetry:?}: the same side moves");
    assert_eq!(game.ply(&turned), game.ply(position), "{place:?} {symmetry:?}: the same ply");
    check_indices(encoding, &turned, &turned_moves, place);
}

/// Turning and playing may change places.
fn check_play_commutes<E: Encoding>(encoding: &E, position: &Pos<E>, mv: Mv<E>, symmetry: Symmetry, place: &Place) {
    let game = encoding.game();
    let mut turned_first = encoding.transform(position, symmetry);
    game.play(&mut turned_first, encoding.transform_move(position, symmetry, mv));
    let mut after = position.clone();
    game.play(&mut after, mv);
    let turned_last = encoding.transform(&after, symmetry);
    let planes = planes_of(encoding, &turned_first);
    assert_eq!(planes, planes_of(encoding, &turned_last), "{place:?} {symmetry:?}: turned, then {mv:?}: other planes");
    if game.outcome(&after).is_none() {
        let first = sorted_indices(encoding, &turned_first);
        let last = sorted_indices(encoding, &turned_last);
        assert_eq!(first, last, "{place:?} {symmetry:?}: turned, then {mv:?}: other moves");
    }
}

fn sorted_indices<E: Encoding>(encoding: &E, position: &Pos<E>) -> Vec<u16> {
    let mut indices = indices_of(encoding, position, &moves_of(encoding.game(), position));
    indices.sort_unstable();
    indices
}

/// The symmetries are a group: turning all turned positions gives the same positions again.
fn assert_same_orbit<E: Encoding>(encoding: &E, position: &Pos<E>, place: &Place) {
    let orbit = orbit(encoding, position);
    let last = Symmetry(encoding.symmetry_count() - 1);
    let of_turned = self::orbit(encoding, &encoding.transform(position, last));
    assert_eq!(orbit, of_turned, "{place:?}: {last:?} of a position has other symmetries");
}

fn orbit<E: Encoding>(encoding: &E, position: &Pos<E>) -> Vec<Vec<u32>> {
    let turned = (0..encoding.symmetry_count()).map(|symmetry| encoding.transform(position, Symmetry(symmetry)));
    let bits = |planes: Vec<f32>| planes.into_iter().map(f32::to_bits).collect();
    let mut orbit: Vec<Vec<u32>> = turned.map(|turned| bits(planes_of(encoding, &turned))).collect();
    orbit.sort_unstable();
    orbit
}

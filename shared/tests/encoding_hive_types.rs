//! Positions of every type of Hive shown to a network of Base+MLP: as the type's own encoding shows them.

use shared::encoding::hive::HiveEncoding;
use shared::encoding::{Encoding, Symmetry};
use shared::game::Game;
use shared::game::hive::{GameType, Hive, HiveRules, Move, Position};

const SMALLER_TYPES: [&str; 7] = ["Base", "Base+M", "Base+L", "Base+P", "Base+ML", "Base+MP", "Base+LP"];
/// Places of the ladybug, mosquito and pillbug of White; those of Black lie 28 bytes behind.
const EXPANSION_BYTES: [usize; 3] = [22, 24, 26];

fn encoding(game_type: GameType) -> HiveEncoding {
    HiveEncoding::new(Hive::new(HiveRules { game_type, ..HiveRules::default() }), 16)
}

fn packed(encoding: &HiveEncoding, position: &Position) -> Vec<u8> {
    let mut bytes = Vec::new();
    encoding.pack(position, &mut bytes);
    bytes
}

/// What a network reads of a position: legal moves, their indices, and the planes.
fn shown(encoding: &HiveEncoding, position: &Position) -> (Vec<Move>, Vec<u16>, Vec<f32>) {
    let (mut moves, mut indices) = (Vec::new(), Vec::new());
    encoding.game().legal_moves(position, &mut moves);
    encoding.policy_indices(position, &moves, &mut indices);
    encoding.move_cells(position, &indices, &mut Vec::new()).expect("indices of legal moves");
    let mut planes = vec![f32::NAN; encoding.plane_shape().len()];
    encoding.encode(position, &mut planes);
    (moves, indices, planes)
}

/// Walks a random game of `own`; each position is shown to `check`.
fn walk(own: &HiveEncoding, mut check: impl FnMut(&Position)) {
    let (mut position, mut random) = (own.game().initial_position(), 1_u64);
    while position.ply() < 120 {
        let (moves, ..) = shown(own, &position);
        if moves.is_empty() {
            return;
        }
        check(&position);
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        own.game().play(&mut position, moves[(random >> 33) as usize % moves.len()]);
    }
}

#[test]
fn a_position_of_a_smaller_type_is_shown_as_by_its_own_encoding() {
    let all = encoding(GameType::MLP);
    for name in SMALLER_TYPES {
        let game_type: GameType = name.parse().expect("a game type");
        let own = encoding(game_type);
        let mut unpacked = all.game().initial_position();
        walk(&own, |position| {
            assert_eq!(position.game_type(), game_type);
            let bytes = packed(&all, position);
            assert_eq!(all.packed_game_type(&bytes), game_type);
            all.unpack(&bytes, &mut unpacked).expect("just packed");
            assert_eq!(unpacked.game_type(), game_type);
            assert_eq!(packed(&all, &unpacked), bytes);
            assert_eq!(shown(&all, &unpacked), shown(&own, position), "{name}: ply {}", position.ply());
            let turned = all.transform(&unpacked, Symmetry(7));
            assert_eq!(shown(&all, &turned), shown(&own, &own.transform(position, Symmetry(7))), "{name}: turned");
            assert!(own.unpack(&bytes, &mut unpacked).is_err(), "another type's packed form");
        });
    }
}

#[test]
fn own_positions_are_packed_as_before_there_were_others() {
    for name in SMALLER_TYPES {
        let own = encoding(name.parse().expect("a game type"));
        walk(&own, |position| {
            let bytes = packed(&own, position);
            assert!(bytes.chunks(2).all(|place| place != [0xfe, 0xff]), "{name}: ply {}", position.ply());
            assert_eq!(own.packed_game_type(&bytes), own.game().rules().game_type);
        });
    }
}

#[test]
fn a_piece_can_only_be_missing_on_both_sides_and_from_an_expansion() {
    let all = encoding(GameType::MLP);
    let mut position = all.game().initial_position();
    let start = packed(&all, &position);
    let mut unpack = |missing: &[usize]| {
        let mut bytes = start.clone();
        missing.iter().for_each(|place| bytes[*place] = 0xfe);
        all.unpack(&bytes, &mut position).map(|()| position.game_type().to_string()).map_err(|error| error.to_string())
    };
    let [ladybug, mosquito, pillbug] = EXPANSION_BYTES;
    let both = |place: usize| [place, place + 28];
    assert_eq!(unpack(&both(ladybug)).as_deref(), Ok("Base+MP"));
    assert_eq!(unpack(&[both(mosquito), both(pillbug)].concat()).as_deref(), Ok("Base+L"));
    for missing in [vec![ladybug], vec![mosquito + 28], both(0).to_vec(), vec![ladybug, pillbug + 28]] {
        let error = unpack(&missing).expect_err("no game type");
        assert!(error.contains("cannot be missing from a game"), "{error}");
    }
}

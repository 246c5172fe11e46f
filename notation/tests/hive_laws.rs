//! Laws of Hive that no table tells: conformance, positions rebuilt from pieces, and reading what others write.

use notation::uhp::{GameString, format_game};
use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use shared::conformance::check_game;
use shared::game::hive::{Cell, CellSet, GameType, Hive, HiveRules, Move, Piece, Position, RebuildError};
use shared::game::{Game, MoveError, Outcome};

const GAME_TYPES: [&str; 8] = ["Base", "Base+M", "Base+L", "Base+P", "Base+ML", "Base+MP", "Base+LP", "Base+MLP"];

fn hive(game_type: &str) -> Hive {
    let game_type = game_type.parse().expect("a game type");
    Hive::new(HiveRules { game_type, ..HiveRules::default() })
}

fn replay(text: &str) -> (Hive, Position) {
    let game: GameString = text.parse().expect("a game string");
    let hive = Hive::new(HiveRules { game_type: game.game_type, ..HiveRules::default() });
    let (position, _) = game.replay(&hive).unwrap_or_else(|error| panic!("{text}: {error}"));
    (hive, position)
}

fn legal_moves(hive: &Hive, position: &Position) -> Vec<Move> {
    let mut moves = Vec::new();
    hive.legal_moves(position, &mut moves);
    moves
}

/// Hands every position of `game_count` random games of each type to `check`.
fn walk(game_count: u64, mut check: impl FnMut(&Hive, &Position, &[Move])) {
    for (type_index, game_type) in GAME_TYPES.iter().enumerate() {
        let hive = hive(game_type);
        for game in 0..game_count {
            let mut random = Pcg64Mcg::seed_from_u64(game * 8 + type_index as u64);
            let mut position = hive.initial_position();
            loop {
                let moves = legal_moves(&hive, &position);
                check(&hive, &position, &moves);
                if moves.is_empty() {
                    break;
                }
                hive.play(&mut position, moves[random.random_range(0..moves.len())]);
            }
        }
    }
}

fn pieces_of(position: &Position) -> Vec<(Piece, Cell, u8)> {
    position
        .pieces()
        .map(|piece| (piece, position.cell_of(piece).expect("on the board"), position.level_of(piece)))
        .collect()
}

fn shifted(cell: Cell, q: i32, r: i32) -> Cell {
    Cell::from_axial(i32::from(cell.q()) + q, i32::from(cell.r()) + r)
}

#[test]
fn every_game_type_keeps_the_laws_of_games() {
    for game_type in GAME_TYPES {
        check_game(&hive(game_type), 7, 6);
    }
}

#[test]
fn a_rebuilt_position_has_the_same_moves_in_the_same_order_and_the_same_hash() {
    let mut rebuilt = hive("Base").initial_position();
    walk(4, |hive, position, moves| {
        if hive.outcome(position) == Some(Outcome::Draw) {
            return;
        }
        let mut pieces = pieces_of(position);
        pieces.reverse();
        rebuilt.rebuild(hive.rules(), &pieces, position.ply(), position.last_moved()).expect("it was a position");
        assert_eq!(legal_moves(hive, &rebuilt), moves);
        assert_eq!(hive.move_count(&rebuilt), moves.len());
        assert_eq!((hive.hash(&rebuilt), hive.outcome(&rebuilt)), (hive.hash(position), hive.outcome(position)));
        assert_eq!(rebuilt.pinned_cells(), position.pinned_cells());
    });
}

#[test]
fn a_shifted_hive_has_the_same_hash_and_as_many_moves() {
    let mut other = hive("Base").initial_position();
    walk(2, |hive, position, moves| {
        if hive.outcome(position).is_some() || position.ply() < 2 {
            return;
        }
        let pieces: Vec<_> =
            pieces_of(position).into_iter().map(|(piece, cell, level)| (piece, shifted(cell, 9, 21), level)).collect();
        other.rebuild(hive.rules(), &pieces, position.ply(), position.last_moved()).expect("a shifted position");
        assert_eq!((hive.hash(&other), hive.move_count(&other)), (hive.hash(position), moves.len()));
        let read: CellSet = position.placement_cells().iter().map(|cell| shifted(cell, 9, 21)).collect();
        assert_eq!(other.placement_cells(), read);
    });
}

#[test]
fn a_pinned_piece_is_one_without_which_the_hive_falls_apart() {
    walk(3, |hive, position, _| {
        let pieces = pieces_of(position);
        let mut without = position.clone();
        for &(piece, cell, _) in pieces.iter().filter(|(_, cell, _)| position.height(*cell) == 1) {
            let rest: Vec<_> = pieces.iter().copied().filter(|(other, ..)| *other != piece).collect();
            // Far along in the game no count of pieces is too large or too small but zero.
            if rest.iter().any(|(other, ..)| other.side() == piece.side()) {
                let rebuilt = without.rebuild(hive.rules(), &rest, 100, None);
                assert_eq!(position.is_pinned(cell), rebuilt == Err(RebuildError::Split), "{piece}");
                assert_eq!(position.pinned_cells().contains(cell), position.is_pinned(cell), "{piece}");
            }
        }
    });
}

#[test]
fn pieces_that_are_no_position_are_refused() {
    let rules = HiveRules { game_type: GameType::default(), ..HiveRules::default() };
    let piece = |name: &str| name.parse::<Piece>().expect("a piece");
    let at = |name: &str, q, level| (piece(name), Cell::from_axial(q, 0), level);
    let good = [at("wQ", 0, 0), at("bQ", 1, 0), at("wB1", 1, 1)];
    let mut position = Hive::new(rules).initial_position();
    assert_eq!(position.rebuild(&rules, &good, 3, Some(piece("wB1"))), Ok(()));
    assert_eq!(position.stack(Cell::from_axial(1, 0)).collect::<Vec<_>>(), [piece("bQ"), piece("wB1")]);
    let cases = [
        (vec![at("wQ", 0, 0), at("bM", 1, 0)], 2, None, RebuildError::NotInGame(piece("bM"))),
        (vec![at("wQ", 0, 0), at("wQ", 1, 0)], 2, None, RebuildError::Twice(piece("wQ"))),
        (vec![at("wQ", 0, 0), at("bQ", 0, 0)], 2, None, RebuildError::Level(piece("bQ"))),
        (vec![at("wQ", 0, 0), at("bB1", 0, 2)], 2, None, RebuildError::Level(piece("bB1"))),
        (vec![at("wQ", 0, 0), at("bB1", 0, 255)], 2, None, RebuildError::Level(piece("bB1"))),
        (vec![at("wQ", 0, 0), at("bA1", 0, 1)], 2, None, RebuildError::CannotClimb(piece("bA1"))),
        (vec![at("wQ", 0, 0), at("bQ", 2, 0)], 2, None, RebuildError::Split),
        (good.to_vec(), 3, Some(piece("bQ")), RebuildError::LastMoved(piece("bQ"))),
        (good.to_vec(), 3, Some(piece("bA1")), RebuildError::LastMoved(piece("bA1"))),
    ];
    for (pieces, ply, last_moved, expected) in cases {
        assert_eq!(position.rebuild(&rules, &pieces, ply, last_moved), Err(expected), "{pieces:?}");
    }
    assert!(matches!(position.rebuild(&rules, &good, 2, None), Err(RebuildError::Ply { placed_count: 2, .. })));
    assert!(matches!(position.rebuild(&rules, &[], 1, None), Err(RebuildError::Ply { placed_count: 0, .. })));
}

#[test]
fn any_reference_piece_names_a_cell() {
    let (hive, position) = replay("Base+MLP;InProgress;White[3];wM;bG1 wM-;wQ -wM;bQ bG1-");
    let target = Cell::from_axial(15, 15);
    let expected = Move::new("wA1".parse().expect("a piece"), target);
    for text in ["wA1 \\wQ", " wA1  \\wQ ", "wA2 \\wQ", "wA3 \\wQ"] {
        let mv = hive.parse_move(&position, text).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!((mv.target(), mv.piece().map(Piece::kind)), (target, expected.piece().map(Piece::kind)));
    }
    assert_eq!(hive.parse_move(&position, "wA1 \\wQ"), Ok(expected));
    let (hive, position) = replay("Base+MLP;InProgress;White[3];wM1;bG1 wM1-;wQ /wM1;bQ bG1-");
    // A mosquito alone of its kind may carry a number, and a walk may be told from where the mover stood.
    let mv = hive.parse_move(&position, "wQ \\wQ").expect("the mover is a reference like any other");
    assert_eq!(hive.format_move(&position, mv), "wQ -wM");
}

#[test]
fn a_buried_piece_is_a_reference_and_a_mark_onto_a_piece_is_refused() {
    let (hive, position) =
        replay("Base;InProgress;White[5];wG1;bG1 wG1-;wB1 -wG1;bQ bG1-;wQ \\wG1;bA1 bQ-;wB1 wG1;bA2 bQ/");
    let buried = hive.parse_move(&position, "wB1 -wG1").expect("the buried grasshopper names its cell");
    assert_eq!(hive.parse_move(&position, "wB1 -wB1"), Ok(buried));
    assert!(matches!(hive.parse_move(&position, "wB1 -bQ"), Err(MoveError::Unreadable { .. })));
    assert!(hive.parse_move(&position, "wB1 bG1").is_ok());
}

#[test]
fn equal_pieces_enter_in_any_order_in_a_record() {
    let (hive, mut position) = replay("Base;InProgress;White[2];wG3;bG2 wG3-");
    let listed: Vec<_> = legal_moves(&hive, &position).into_iter().filter_map(Move::piece).collect();
    assert!(listed.contains(&"wG1".parse().expect("a piece")) && !listed.contains(&"wG2".parse().expect("a piece")));
    let mv = hive.parse_move(&position, "wG2 -wG3").expect("wG2 is in hand");
    hive.play(&mut position, mv);
    assert!(matches!(hive.parse_move(&position, "bG2 \\wG3"), Err(MoveError::Illegal { ply: 3, .. })));
}

#[test]
fn a_game_reads_back_as_it_was_written() {
    for game_type in GAME_TYPES {
        let hive = hive(game_type);
        let mut random = Pcg64Mcg::seed_from_u64(3);
        let (mut position, mut played) = (hive.initial_position(), Vec::new());
        loop {
            let moves = legal_moves(&hive, &position);
            if moves.is_empty() {
                break;
            }
            let mv = moves[random.random_range(0..moves.len())];
            hive.play(&mut position, mv);
            played.push(mv);
        }
        let text = format_game(&hive, &played);
        let (_, read) = text.parse::<GameString>().and_then(|game| game.replay(&hive)).expect("it was just written");
        assert_eq!(read, played);
    }
}

#[test]
fn the_ply_limit_cuts_a_game_off() {
    let hive = Hive::new(HiveRules { ply_limit: 4, ..HiveRules::default() });
    let game: GameString = "Base+MLP;InProgress;White[3];wM;bG1 wM-;wQ -wM;bQ bG1-".parse().expect("a game");
    let (position, _) = game.replay(&hive).expect("legal");
    assert_eq!((hive.outcome(&position), hive.is_cut_off(&position)), (Some(Outcome::Draw), true));
    assert!(legal_moves(&hive, &position).is_empty());
    assert!(matches!(hive.parse_move(&position, "wA1 -wQ"), Err(MoveError::GameOver { ply: 4, .. })));
}

proptest! {
    /// Whatever is sent, nothing panics, and only legal moves are read.
    #[test]
    fn rubbish_is_refused(text in "[wbQABSGMLP123/\\\\\\-; \\[\\]éinprogessWhite+]{0,24}") {
        let (hive, position) = replay("Base+MLP;InProgress;White[3];wM;bG1 wM-;wQ -wM;bQ bG1-");
        if let Ok(mv) = hive.parse_move(&position, &text) {
            let kinds = legal_moves(&hive, &position).into_iter().map(|mv| (mv.piece().map(Piece::kind), mv.target()));
            prop_assert!(kinds.into_iter().any(|legal| legal == (mv.piece().map(Piece::kind), mv.target())));
        }
        if let Ok(game) = text.parse::<GameString>() {
            let _ = game.replay(&hive);
        }
        let _ = format!("Base;InProgress;White[1];{text}").parse::<GameString>().map(|game| game.replay(&hive));
    }
}

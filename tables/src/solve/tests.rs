//! Tables of few pieces: known results, and each position against the rules one ply on.

use shared::game::Side;
use shared::game::dama::{Board, fen};

use super::*;
use crate::check::check_one_ply;
use crate::class::classes_of;
use crate::value::TableValue;

fn tables(piece_count: u8) -> TableSet {
    let mut tables = TableSet::default();
    for class in (2..=piece_count).flat_map(classes_of) {
        let table = solve(class, &tables, &mut |_| {});
        tables.insert(table);
    }
    tables
}

#[test]
fn every_position_follows_from_its_moves() {
    let tables = tables(3);
    for table in tables.tables() {
        let mut counts = [0; 3];
        for index in 0..table.bytes().len() {
            let position = table.class().position(index);
            assert_eq!(position.is_some(), TableValue::from_byte(table.bytes()[index]).is_some(), "{}", table.class());
            let Some((board, side)) = position else { continue };
            let value = check_one_ply(&tables, &board, side).unwrap_or_else(|wrong| panic!("{wrong:?}"));
            counts[match value {
                TableValue::Win(_) => 0,
                TableValue::Draw => 1,
                TableValue::Loss(_) => 2,
            }] += 1;
        }
        assert_eq!(table.counts().0, counts);
    }
}

#[test]
fn well_known_endgames_are_as_books_have_them() {
    let tables = tables(3);
    let value = |text: &str| {
        let position = fen::read(text).unwrap();
        tables.value(position.board(), position.side_to_move())
    };
    assert_eq!(value("W:WK18:BK14"), Some(TableValue::Win(1)), "it is taken");
    assert_eq!(value("W:W18:BK14"), Some(TableValue::Loss(1)), "a man takes no king, and is taken");
    assert_eq!(value("W:WK1:B"), None, "the game is over, and nobody asks");
    assert_eq!(value("B:WK1:B"), Some(TableValue::Loss(0)));
}

#[test]
fn two_kings_beat_one_nearly_always() {
    let tables = tables(3);
    let class: Class = "KKvK".parse().unwrap();
    let can_take = |board: &Board, side: Side| {
        let mut moves = vec![];
        board.moves(side, &mut moves);
        moves.first().is_some_and(|mv| mv.is_capture())
    };
    let is_quiet = |(board, side): &(Board, Side)| {
        *side == Side::White && !can_take(board, Side::White) && !can_take(board, Side::Black)
    };
    let quiet = (0..class.byte_count()).filter_map(|index| class.position(index)).filter(is_quiet);
    let values: Vec<_> = quiet.filter_map(|(board, side)| tables.value(&board, side)).collect();
    let won_count = values.iter().filter(|value| matches!(value, TableValue::Win(_))).count();
    assert_eq!((won_count, values.len()), (12_190, 12_200));
    assert!(values.iter().all(|value| !matches!(value, TableValue::Loss(_))));
}

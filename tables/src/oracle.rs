//! The tables as a search asks them: what is certain in a game that has a past.

use shared::game::Side;
use shared::game::dama::{Board, Dama, Position};
use shared::search::{Oracle, Proof};

use crate::set::TableSet;
use crate::value::{DISTANCE_MAX, TableValue};

/// Squares of every other row: a quiet ply changes how many pieces stand there by one.
const ODD_ROWS: u32 = 0xf0f0_f0f0;

/// Tells a search what the tables hold, as far as it is certain.
///
/// A draw of the tables is a draw whatever came before. A win is one if it comes before the draw by quiet plies, and if no
/// position on the way may come up for the third time. Of the moves that win, those that come no closer to the next
/// capture or move of a man are left open: whoever plays proven wins then never goes round in circles.
#[derive(Debug)]
pub struct TableOracle(TableSet);

impl TableOracle {
    /// Makes an oracle of tables.
    #[must_use]
    pub const fn new(tables: TableSet) -> Self {
        Self(tables)
    }

    /// Returns the tables.
    #[must_use]
    pub const fn tables(&self) -> &TableSet {
        &self.0
    }

    /// Returns whether a result at this distance comes before the rules may call a draw. `loser` is who loses.
    fn is_certain(&self, position: &Position, distance: u8, loser: Side) -> bool {
        if position.quiet_ply_count() + u32::from(distance) > u32::from(DISTANCE_MAX) {
            return false;
        }
        position.repeated_boards().all(|board| !self.is_on_the_way(position, board, distance, loser))
    }

    /// Returns whether play that comes closer with each ply may lead from `position` to `board`, which was there before.
    fn is_on_the_way(&self, position: &Position, board: &Board, distance: u8, loser: Side) -> bool {
        let odd = |board: &Board| (!board.empty() & ODD_ROWS).count_ones() % 2;
        let (now, is_now) = (position.board(), position.side_to_move());
        let side = if odd(board) == odd(now) { is_now } else { is_now.opponent() };
        match self.0.value(board, side) {
            Some(TableValue::Loss(other)) => side == loser && other < distance,
            Some(TableValue::Win(other)) => side != loser && other < distance,
            Some(TableValue::Draw) => false,
            None => true,
        }
    }

    /// Returns whether the last move brought its maker closer to the win: `distance` is what is left to go.
    fn came_closer(&self, position: &Position, distance: u8) -> bool {
        if position.quiet_ply_count() == 0 {
            return true;
        }
        let before = self.0.value(&position.earlier_boards()[0], position.side_to_move().opponent());
        matches!(before, Some(TableValue::Win(before)) if distance < before)
    }
}

impl Oracle<Dama> for TableOracle {
    #[inline]
    fn proof(&self, position: &Position) -> Proof {
        let side = position.side_to_move();
        match self.0.value(position.board(), side) {
            None => Proof::Unknown,
            Some(TableValue::Draw) => Proof::Draw,
            Some(TableValue::Win(distance)) if self.is_certain(position, distance, side.opponent()) => Proof::Win,
            Some(TableValue::Loss(distance))
                if self.is_certain(position, distance, side) && self.came_closer(position, distance) =>
            {
                Proof::Loss
            }
            Some(_) => Proof::Unknown,
        }
    }

    fn knows_moves(&self, position: &Position) -> bool {
        self.0.value(position.board(), position.side_to_move()).is_some()
    }
}

#[cfg(test)]
mod tests {
    use shared::game::Game;
    use shared::game::dama::Move;

    use super::*;
    use crate::class::{Class, classes_of};
    use crate::solve::solve;

    const DAMA: fn() -> Dama = Dama::default;

    fn oracle() -> TableOracle {
        let mut tables = TableSet::default();
        for class in (2..=3).flat_map(classes_of) {
            let table = solve(class, &tables, &mut |_| {});
            tables.insert(table);
        }
        TableOracle::new(tables)
    }

    fn class() -> Class {
        "KKvK".parse().expect("a class")
    }

    /// All positions with White's two kings to move, the value with each.
    fn wins(oracle: &TableOracle) -> impl Iterator<Item = (Board, u8)> {
        let of_value = |(board, side): (Board, Side)| match oracle.tables().value(&board, side)? {
            TableValue::Win(distance) if side == Side::White => Some((board, distance)),
            _ => None,
        };
        (0..class().byte_count()).filter_map(|index| class().position(index)).filter_map(of_value)
    }

    fn steps(position: &Position) -> Vec<Move> {
        let mut moves = vec![];
        DAMA().legal_moves(position, &mut moves);
        moves.retain(|mv| !mv.is_capture());
        moves
    }

    fn after(position: &Position, mv: Move) -> Position {
        let mut after = position.clone();
        DAMA().play(&mut after, mv);
        after
    }

    #[test]
    fn a_win_counts_if_it_comes_before_the_draw_by_quiet_plies() {
        let oracle = oracle();
        let (board, distance) = wins(&oracle).max_by_key(|(_, distance)| *distance).expect("a win");
        let limit = u32::from(DISTANCE_MAX - distance);
        assert_eq!(oracle.proof(&Position::new(board, Side::White, limit)), Proof::Win);
        assert_eq!(oracle.proof(&Position::new(board, Side::White, limit + 1)), Proof::Unknown);
    }

    #[test]
    fn of_the_winning_moves_those_that_come_closer_count() {
        let oracle = oracle();
        let mut counts = [0, 0];
        for (board, distance) in wins(&oracle).step_by(7) {
            let position = Position::new(board, Side::White, 0);
            for mv in steps(&position) {
                let after = after(&position, mv);
                let value = oracle.tables().value(after.board(), Side::Black);
                let Some(TableValue::Loss(left)) = value else { continue };
                let is_closer = left < distance;
                assert_eq!(oracle.proof(&after), if is_closer { Proof::Loss } else { Proof::Unknown });
                counts[usize::from(is_closer)] += 1;
            }
        }
        assert!(counts.iter().all(|count| *count > 100), "{counts:?}");
    }

    #[test]
    fn a_win_does_not_count_if_a_position_on_the_way_may_come_up_for_the_third_time() {
        let oracle = oracle();
        // There and back by both sides, twice: the position at the far end is further from the win.
        let round = |board: Board| {
            let near = Position::new(board, Side::White, 0);
            let back = |mv: Move| move |other: &Move| (other.source(), other.target()) == (mv.target(), mv.source());
            for white in steps(&near) {
                let middle = after(&near, white);
                for black in steps(&middle) {
                    let far = after(&middle, black);
                    let Some(returned) = steps(&far).into_iter().find(back(white)) else { continue };
                    let last = after(&far, returned);
                    let Some(end) = steps(&last).into_iter().find(back(black)) else { continue };
                    return Some((near, [white, black, returned, end]));
                }
            }
            None
        };
        let mut tried_count = 0;
        for (board, distance) in wins(&oracle).step_by(5) {
            let Some((near, moves)) = round(board) else { continue };
            let mut position = near;
            for mv in moves.into_iter().chain([moves[0], moves[1]]) {
                position = after(&position, mv);
            }
            let Some(TableValue::Win(far)) = oracle.tables().value(position.board(), Side::White) else { continue };
            let is_on_the_way = distance < far;
            let known = oracle.proof(&Position::new(*position.board(), Side::White, position.quiet_ply_count()));
            assert_eq!(known, Proof::Win, "without a past");
            if is_on_the_way {
                assert_eq!(oracle.proof(&position), Proof::Unknown);
                tried_count += 1;
            }
        }
        assert!(tried_count > 20, "{tried_count}");
    }

    #[test]
    fn a_draw_is_one_whatever_came_before_and_what_is_in_no_table_is_unknown() {
        let oracle = oracle();
        let drawn = |(board, side): &(Board, Side)| oracle.tables().value(board, *side) == Some(TableValue::Draw);
        let (board, side) = (0..).filter_map(|index| class().position(index)).find(drawn).expect("a draw");
        assert_eq!(oracle.proof(&Position::new(board, side, 79)), Proof::Draw);
        assert_eq!(oracle.proof(&DAMA().initial_position()), Proof::Unknown);
        assert!(oracle.knows_moves(&Position::new(board, side, 0)) && !oracle.knows_moves(&DAMA().initial_position()));
    }
}

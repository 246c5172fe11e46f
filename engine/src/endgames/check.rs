//! Checking tables: checksums, and a sample of positions against the rules.

use std::io::Write;
use std::path::Path;

use anyhow::Context;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use runtime::counted::counted;
use runtime::logging;
use shared::game::Side;
use shared::game::dama::Board;
use tables::{check_one_ply, folder, random_position};

/// Reads all tables of `folder`, and compares `position_count` positions with what follows from their moves: as many of
/// each table as it has of all positions, and at least one. With more than there are, every position is looked at.
pub fn check(folder: &Path, position_count: u64, seed: u64, out: &mut impl Write) -> anyhow::Result<()> {
    let tables = folder::open(folder)?;
    let bar = logging::bar();
    bar.set_length(position_count);
    bar.set_prefix("positions");
    let mut random = Pcg64Mcg::seed_from_u64(seed);
    let (mut checked_count, all) = (0_u64, tables.byte_count() as u64);
    for table in tables.tables() {
        let count = table.bytes().len();
        let share = u128::from(position_count) * count as u128 / u128::from(all.max(1));
        let drawn = std::iter::repeat_with(|| random_position(table, random.random())).flatten();
        let positions: Box<dyn Iterator<Item = (Board, Side)>> = if share >= count as u128 {
            Box::new((0..count).filter_map(|index| table.class().position(index)))
        } else {
            Box::new(drawn.take((share as usize).max(1)))
        };
        for (board, side) in positions {
            check_one_ply(&tables, &board, side).context("make the tables anew")?;
            checked_count += 1;
            bar.inc(1);
        }
    }
    bar.finish_and_clear();
    let (table_count, piece_count) = (counted(tables.tables().count(), "table", "tables"), tables.piece_count());
    let checked_count = counted(checked_count, "position agrees with its", "positions agree with their");
    writeln!(out, "{table_count} of up to {piece_count} pieces, {all} bytes: checksums right, {checked_count} moves")
        .context("print the result")
}

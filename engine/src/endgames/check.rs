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
use tables::{ClassTable, TableSet, check_one_ply, folder, random_position};

use crate::named_files::tables_failure;

/// Reads every table of `folder`, and compares `position_count` positions with what follows from their moves: as many of
/// each table as it has of all positions, and at least one. With more than there are, every position is looked at.
pub fn check(folder: &Path, position_count: u64, seed: u64, out: &mut impl Write) -> anyhow::Result<()> {
    let tables = folder::open_whole(folder).map_err(|error| tables_failure("--check", error))?;
    let shares = shares(&tables, position_count);
    let bar = logging::bar();
    bar.set_length(shares.iter().map(|share| share.checked_count).sum());
    bar.set_prefix("positions");
    let mut random = Pcg64Mcg::seed_from_u64(seed);
    for Share { table, position_count, checked_count } in &shares {
        let positions: Box<dyn Iterator<Item = (Board, Side)>> = if checked_count == position_count {
            Box::new((0..table.bytes().len()).filter_map(|index| table.class().position(index)))
        } else {
            let drawn = std::iter::repeat_with(|| random_position(table, random.random())).flatten();
            Box::new(drawn.take(*checked_count as usize))
        };
        for (board, side) in positions {
            check_one_ply(&tables, &board, side).context("make the tables anew")?;
            bar.inc(1);
        }
    }
    bar.finish_and_clear();
    let (table_count, piece_count) = (counted(shares.len(), "table", "tables"), tables.piece_count());
    let checked_count: u64 = shares.iter().map(|share| share.checked_count).sum();
    let checked_count = counted(checked_count, "position agrees with its", "positions agree with their");
    let byte_count = tables.byte_count();
    writeln!(
        out,
        "{table_count} of up to {piece_count} pieces, {byte_count} bytes: checksums right, {checked_count} moves"
    )
    .context("print the result")
}

/// How much of a table is looked at.
struct Share<'a> {
    table: &'a ClassTable,
    position_count: u64,
    checked_count: u64,
}

/// Shares `wanted_count` positions out among the tables: one to each, the rest by how many positions they have.
fn shares(tables: &TableSet, wanted_count: u64) -> Vec<Share<'_>> {
    let share = |table| Share { table, position_count: ClassTable::class(table).position_count(), checked_count: 1 };
    let mut shares: Vec<Share<'_>> = tables.tables().map(share).collect();
    let table_count = shares.len() as u64;
    let more_count = shares.iter().map(|share| share.position_count).sum::<u64>() - table_count;
    let wanted_count = wanted_count.saturating_sub(table_count).min(more_count);
    let (mut seen_count, mut shared_count) = (0, 0);
    for share in &mut shares {
        seen_count += share.position_count - 1;
        let up_to_here = u128::from(wanted_count) * u128::from(seen_count) / u128::from(more_count.max(1));
        share.checked_count += up_to_here as u64 - shared_count;
        shared_count = up_to_here as u64;
    }
    shares
}

//! Making tables: class after class, each kept as soon as it is solved.

use std::io::Write;
use std::path::Path;

use anyhow::Context;
use rayon::ThreadPool;
use runtime::logging;
use tables::{ClassTable, TableSet, classes_of, folder, solve};

/// Makes all tables of up to `piece_count` pieces that are not in `folder` yet, and prints what there is of each number of
/// pieces.
pub fn make(folder: &Path, piece_count: u8, pool: &ThreadPool, out: &mut impl Write) -> anyhow::Result<()> {
    std::fs::create_dir_all(folder).with_context(|| format!("--out: create {}", folder.display()))?;
    let mut tables = TableSet::default();
    let bar = logging::bar();
    bar.set_length((2..=piece_count).flat_map(classes_of).map(|class| class.byte_count() as u64).sum());
    bar.set_prefix("positions");
    for count in 2..=piece_count {
        let mut summary = Summary::default();
        for class in classes_of(count) {
            bar.set_message(class.to_string());
            let table = match folder::read(folder, class)? {
                Some(table) => {
                    bar.inc(class.byte_count() as u64);
                    table
                }
                None => {
                    let table = pool.install(|| solve(class, &tables, &mut |solved| bar.inc(solved)));
                    folder::write(folder, &table)?;
                    table
                }
            };
            summary.add(&table);
            tables.insert(table);
        }
        summary.print(count, out).context("print what was made")?;
    }
    bar.finish_and_clear();
    Ok(())
}

/// What the tables of a number of pieces hold.
#[derive(Debug, Default)]
struct Summary {
    table_count: usize,
    byte_count: usize,
    /// Positions won, drawn and lost for the side to move.
    counts: [u64; 3],
    /// The longest distance, and where.
    longest: (u8, String),
}

impl Summary {
    fn add(&mut self, table: &ClassTable) {
        let (counts, longest) = table.counts();
        self.table_count += 1;
        self.byte_count += table.bytes().len();
        self.counts.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
        if longest > self.longest.0 {
            self.longest = (longest, table.class().to_string());
        }
    }

    fn print(&self, piece_count: u8, out: &mut impl Write) -> std::io::Result<()> {
        let Self { table_count, byte_count, counts, longest: (longest, class) } = self;
        let all = counts.iter().sum::<u64>().max(1);
        let [wins, draws, losses] = counts.map(|count| 100.0 * count as f64 / all as f64);
        writeln!(
            out,
            "{piece_count} pieces: {table_count} tables, {byte_count} bytes, {all} positions: {wins:.1} % won, {draws:.1} % \
             drawn, {losses:.1} % lost for the side to move; longest {longest} plies to a capture or move of a man ({class})"
        )
    }
}

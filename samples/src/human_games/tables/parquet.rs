//! Rows of a Parquet file: the wanted columns of one group of rows after the other.

use std::ops::ControlFlow;

use bytes::Bytes;
use parquet::basic::{Repetition, Type};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{ByteArray, ByteArrayType};
use parquet::errors::ParquetError;
use parquet::file::reader::{ChunkReader, FileReader, RowGroupReader, SerializedFileReader};

use super::super::DroppedGame;
use super::super::texts::{Content, Text, VisitText};
use super::guard::guarded;
use super::{COLUMNS, ROWS_AT_ONCE, Row, find_columns, no_column};

/// Most bytes that a column may take in a group of rows.
const COLUMN_BYTES_MAX: i64 = 1 << 30;

/// Why a file is not a table of games.
#[derive(Debug, thiserror::Error)]
enum TableError {
    #[error("{}", no_column())]
    NoColumn,
    #[error("column {0} is not text")]
    NotText(&'static str),
    #[error("column {0} is larger than this program reads at once")]
    TooLarge(&'static str),
    #[error("group {0} of rows is damaged")]
    Damaged(usize),
    #[error("it is damaged in a way that the library cannot name")]
    Broken,
    #[error(transparent)]
    Parquet(#[from] ParquetError),
}

/// Returns a file in memory, as [`visit_parquet`] takes it.
pub(in super::super) fn bytes(file: Vec<u8>) -> Bytes {
    file.into()
}

/// Calls `visit` with the rows of a table, some at a time, or with the reason why the rest is dropped.
pub(in super::super) fn visit_parquet<R: ChunkReader + 'static>(
    place: &str,
    file: R,
    visit: &mut VisitText<'_>,
) -> ControlFlow<()> {
    let mut number = 1;
    let mut visit_rows = |rows: Vec<[Option<ByteArray>; 4]>| {
        let rows = rows
            .into_iter()
            .zip(number..)
            .map(|(cells, number)| Row::of(number, cells.each_ref().map(|cell| cell.as_ref().map(ByteArray::data))));
        let rows: Vec<Row> = rows.collect();
        number += rows.len() as u64;
        visit(Ok(Text { place: place.to_owned(), content: Content::Rows(rows) }))
    };
    match visit_file(file, &mut visit_rows) {
        Ok(flow) => flow,
        Err(error) => {
            // Some of the library's messages have more than a line.
            let reason = error.to_string().split_whitespace().collect::<Vec<_>>().join(" ");
            visit(Err(DroppedGame::text(place.to_owned(), reason)))
        }
    }
}

/// The cells of some rows, in the order of [`COLUMNS`].
type Cells = Vec<[Option<ByteArray>; 4]>;

fn visit_file<R: ChunkReader + 'static>(
    file: R,
    visit: &mut dyn FnMut(Cells) -> ControlFlow<()>,
) -> Result<ControlFlow<()>, TableError> {
    let file = of_library(|| SerializedFileReader::new(file))?;
    let schema = file.metadata().file_metadata().schema_descr_ptr();
    let columns = find_columns(schema.columns().iter().map(|column| column.name())).ok_or(TableError::NoColumn)?;
    for (name, column) in COLUMNS.iter().zip(columns) {
        let Some(column) = column.map(|column| schema.column(column)) else { continue };
        let is_flat = column.max_rep_level() == 0 && column.max_def_level() <= 1 && column.path().parts().len() == 1;
        if column.physical_type() != Type::BYTE_ARRAY || !is_flat {
            return Err(TableError::NotText(name));
        }
    }
    for index in 0..file.num_row_groups() {
        if visit_group(index, &*of_library(|| file.get_row_group(index))?, columns, visit)?.is_break() {
            return Ok(ControlFlow::Break(()));
        }
    }
    Ok(ControlFlow::Continue(()))
}

fn visit_group(
    index: usize,
    group: &dyn RowGroupReader,
    columns: [Option<usize>; 4],
    visit: &mut dyn FnMut(Cells) -> ControlFlow<()>,
) -> Result<ControlFlow<()>, TableError> {
    let mut readers = Vec::new();
    for (place, (name, column)) in COLUMNS.iter().zip(columns).enumerate() {
        let Some(column) = column else { continue };
        let chunk = group.metadata().columns().get(column).ok_or(TableError::Damaged(index))?;
        // The library takes it for granted that a file has no negative numbers.
        let numbers =
            [chunk.compressed_size(), chunk.uncompressed_size(), chunk.num_values(), chunk.data_page_offset()];
        if numbers.into_iter().chain(chunk.dictionary_page_offset()).any(|number| number < 0) {
            return Err(TableError::Damaged(index));
        }
        if chunk.compressed_size().max(chunk.uncompressed_size()) > COLUMN_BYTES_MAX {
            return Err(TableError::TooLarge(name));
        }
        let ColumnReader::ByteArrayColumnReader(reader) = of_library(|| group.get_column_reader(column))? else {
            return Err(TableError::NotText(name));
        };
        let is_optional = chunk.column_descr().self_type().get_basic_info().repetition() == Repetition::OPTIONAL;
        readers.push((place, Column { reader, is_optional }));
    }
    loop {
        let mut rows: Cells = Vec::new();
        for (place, column) in &mut readers {
            let cells = of_library(|| column.next_cells())?;
            if *place == 0 {
                rows.resize(cells.len(), [const { None }; 4]);
            } else if cells.len() != rows.len() {
                return Err(TableError::Damaged(index));
            }
            rows.iter_mut().zip(cells).for_each(|(row, cell)| row[*place] = cell);
        }
        if rows.is_empty() {
            return Ok(ControlFlow::Continue(()));
        }
        if visit(rows).is_break() {
            return Ok(ControlFlow::Break(()));
        }
    }
}

/// Asks the library for something.
fn of_library<T>(read: impl FnOnce() -> Result<T, ParquetError>) -> Result<T, TableError> {
    Ok(guarded(read).ok_or(TableError::Broken)??)
}

/// A column of text within a group of rows.
struct Column {
    reader: ColumnReaderImpl<ByteArrayType>,
    is_optional: bool,
}

impl Column {
    /// Reads the next cells, at most [`ROWS_AT_ONCE`]; none at the end.
    fn next_cells(&mut self) -> Result<Vec<Option<ByteArray>>, ParquetError> {
        let (mut values, mut levels) = (Vec::new(), Vec::new());
        let levels_of = self.is_optional.then_some(&mut levels);
        self.reader.read_records(ROWS_AT_ONCE, levels_of, None, &mut values)?;
        if !self.is_optional {
            return Ok(values.into_iter().map(Some).collect());
        }
        let mut values = values.into_iter();
        Ok(levels.into_iter().map(|level| if level > 0 { values.next() } else { None }).collect())
    }
}

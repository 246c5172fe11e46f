//! Rows of a table as text, comma-separated with a head.

use std::io::Read;
use std::ops::ControlFlow;

use super::super::DroppedGame;
use super::super::texts::{Content, Text, VisitText};
use super::{ROWS_AT_ONCE, Row, find_columns, no_column};

/// Calls `visit` with the rows of a table, some at a time, or with the reason why it is dropped.
pub(in super::super) fn visit_csv(place: &str, reader: impl Read, visit: &mut VisitText<'_>) -> ControlFlow<()> {
    let dropped = |reason: String| Err(DroppedGame::text(place.to_owned(), reason));
    let mut reader = csv::ReaderBuilder::new().flexible(true).from_reader(reader);
    let names: Vec<String> = match reader.byte_headers() {
        Ok(names) => names.iter().map(|name| notation::decode(name.to_vec())).collect(),
        Err(error) => return visit(dropped(error.to_string())),
    };
    let Some(columns) = find_columns(names.iter().map(String::as_str)) else { return visit(dropped(no_column())) };
    let (mut rows, mut record) = (Vec::new(), csv::ByteRecord::new());
    // The first line behind the head; a line break within a cell counts as none.
    let mut line = 2;
    loop {
        let is_row = reader.read_byte_record(&mut record);
        if matches!(is_row, Ok(true)) {
            rows.push(Row::of(line, columns.map(|column| column.and_then(|column| record.get(column)))));
            line += 1;
            if rows.len() < ROWS_AT_ONCE {
                continue;
            }
        }
        if !rows.is_empty() {
            visit(Ok(Text { place: place.to_owned(), content: Content::Rows(std::mem::take(&mut rows)) }))?;
        }
        match is_row {
            Ok(true) => {}
            Ok(false) => return ControlFlow::Continue(()),
            Err(error) => return visit(dropped(error.to_string())),
        }
    }
}

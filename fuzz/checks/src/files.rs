//! Files that people hand to the programs, as far as reading them needs no libtorch.

use std::io::Cursor;

use runtime::layers::{self, Sources};
use samples::dataset::DataSet;
use samples::human_games::{ReadSettings, read_table};
use shared::game::Game;
use shared::game::dama::Dama;
use worker::WorkerConfig;

/// A data set, damaged or not: reading it ends.
pub fn data_set(bytes: &[u8]) {
    let Ok(mut set) = DataSet::read(Cursor::new(bytes), "fuzz".to_owned()) else { return };
    let mut game_count = 0;
    while let Ok(Some(games)) = set.next_games() {
        game_count += games.len();
        assert!(game_count <= bytes.len(), "more games than bytes");
    }
}

/// A table of games, as Parquet or CSV, damaged or not.
pub fn game_table(bytes: &[u8]) {
    let read = read_table(bytes.to_vec(), ReadSettings::default());
    assert!(read.dropped.iter().all(|dropped| !dropped.to_string().contains('\n')), "reasons of one line");
}

/// An endgame table: what is read is written alike, and every place of it can be looked up.
pub fn endgame_table(bytes: &[u8]) {
    match tables::decode(bytes) {
        Ok(table) => {
            assert_eq!(tables::decode(&tables::encode(&table)).as_ref(), Ok(&table), "a table after a round trip");
            let class = table.class();
            let mut set = tables::TableSet::default();
            set.insert(table);
            for (board, side) in (0..class.byte_count()).step_by(97).filter_map(|index| class.position(index)) {
                let _ = set.value(&board, side);
            }
        }
        Err(error) => assert!(!error.to_string().contains('\n'), "one line: {error}"),
    }
}

/// An opening book: what is read is written alike, and its moves can be looked up.
pub fn book(bytes: &[u8]) {
    match book::decode(bytes) {
        Ok(book) => {
            assert_eq!(book::decode(&book::encode(&book)).as_ref(), Ok(&book), "a book after a round trip");
            assert!(book.position_count() <= book.entries().len());
            for entry in book.entries() {
                assert!(book.entries_of(entry.position).contains(entry), "a move of its position");
            }
            let dama = Dama::default();
            let position = dama.initial_position();
            if let Some(chosen) = book.choose(&dama, &position, 1 << 31) {
                let mut moves = Vec::new();
                dama.legal_moves(&position, &mut moves);
                assert!(moves.contains(&chosen.mv), "a legal move");
            }
        }
        Err(error) => assert!(!error.to_string().contains('\n'), "one line: {error}"),
    }
}

/// Settings of a worker, as flags: `KEY=VALUE` in each line, as behind `--set`.
pub fn worker_flags(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let flags = text.lines().filter_map(|line| line.split_once('='));
    let overrides = flags.map(|(key, value)| (key.to_owned(), value.to_owned())).collect();
    match layers::load::<WorkerConfig>(&Sources { program: "actor", overrides, ..Sources::default() }) {
        Ok(loaded) => {
            let written = layers::to_toml(&loaded.raw);
            assert_eq!(toml::from_str(&written).as_ref(), Ok(&loaded.raw), "settings after a round trip: {written}");
        }
        Err(error) => assert!(!error.to_string().contains('\n'), "one line: {error}"),
    }
}

/// Settings of a worker, as a file.
pub fn worker_settings(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let Ok(config) = toml::from_str::<WorkerConfig>(text) else { return };
    if let Err(error) = config.check(None) {
        assert!(!error.to_string().contains('\n'), "one line: {error}");
    }
}

//! Games in tables, as CSV and Parquet, and how they are gathered in one file.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use notation::{Ending, PlayedGame, ReadOptions, games};
use parquet::basic::Compression;
use parquet::data_type::{ByteArray, ByteArrayType, Int32Type};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use proptest::prelude::*;
use samples::game_collection::GameCollection;
use samples::human_games::{ReadBatch, ReadGames, ReadSettings, list_files, read_games, read_in_batches, read_table};
use shared::game::{Outcome, Side};

/// A row: the game, the winner, and the players' names.
type RowOf<'a> = [Option<&'a str>; 4];

const RESIGNED: &str = "Base;InProgress;White[2];wS1;bS1 wS1-";
const STATED: &str = "Base+MLP;WhiteWins;Black[2];wL;bL wL-;wQ -wL";
const GAMES: &str = include_str!("human_games/games.uhp");

/// A game in which a queen is surrounded, and how it ended.
fn surrounded() -> (&'static str, Outcome) {
    let read = |text: &'static str| games::read(text, ReadOptions::default()).ok().map(|game| (text, game));
    let is_decided = |game: &PlayedGame| game.ending == Ending::QueenSurrounded && game.outcome != Some(Outcome::Draw);
    let (text, game) = GAMES.lines().filter_map(read).find(|(_, game)| is_decided(game)).expect("a game");
    (text, game.outcome.expect("decided"))
}

fn table() -> Vec<RowOf<'static>> {
    vec![
        [Some(RESIGNED), Some("Ada"), Some("Ada"), Some("Bob, \"the\" second")],
        [Some(STATED), Some("white"), None, None],
        [Some(STATED), Some("Black"), Some(""), Some("")],
        [Some("Base;Draw;White[1];wS9"), None, None, None],
        [None, Some("white"), None, None],
        [Some(RESIGNED), Some("a third"), Some("Ada"), Some("Bob")],
    ]
}

fn csv_of(rows: &[RowOf<'_>]) -> Vec<u8> {
    let quoted = |cell: &Option<&str>| format!("\"{}\"", cell.unwrap_or_default().replace('"', "\"\""));
    let line = |row: &RowOf<'_>| row.iter().map(quoted).collect::<Vec<_>>().join(",") + ",7\r\n";
    let lines: String = rows.iter().map(line).collect();
    format!("\u{feff}UHP_String,winner,player_white,player_black,rating\r\n{lines}").into_bytes()
}

fn parquet_of(rows: &[RowOf<'_>], group_rows: usize, compression: Compression) -> Vec<u8> {
    let schema = "message games { OPTIONAL BYTE_ARRAY winner (UTF8); REQUIRED INT32 rating; \
        OPTIONAL BYTE_ARRAY player_white (UTF8); OPTIONAL BYTE_ARRAY player_black (UTF8); \
        OPTIONAL BYTE_ARRAY uhp_string (UTF8); }";
    let schema = Arc::new(parse_message_type(schema).expect("a schema"));
    let properties = Arc::new(WriterProperties::builder().set_compression(compression).build());
    let mut bytes = Vec::new();
    let mut writer = SerializedFileWriter::new(&mut bytes, schema, properties).expect("a writer");
    for rows in rows.chunks(group_rows) {
        let mut group = writer.next_row_group().expect("a group");
        for column in [Some(1), None, Some(2), Some(3), Some(0)] {
            let mut open = group.next_column().expect("a column").expect("as many as in the schema");
            if let Some(column) = column {
                let cells =
                    rows.iter().filter_map(|row| row[column]).map(|cell| ByteArray::from(cell.as_bytes().to_vec()));
                let levels: Vec<i16> = rows.iter().map(|row| i16::from(row[column].is_some())).collect();
                let cells: Vec<ByteArray> = cells.collect();
                open.typed::<ByteArrayType>().write_batch(&cells, Some(&levels), None).expect("written");
            } else {
                open.typed::<Int32Type>().write_batch(&vec![7; rows.len()], None, None).expect("written");
            }
            open.close().expect("a column");
        }
        group.close().expect("a group");
    }
    writer.close().expect("a file");
    bytes
}

fn read(path: &Path) -> ReadGames {
    read_games(&[path.to_owned()], ReadSettings::default()).expect("the path is there")
}

fn written(dir: &Path, name: &str, bytes: &[u8]) -> PathBuf {
    let path = dir.join(name);
    std::fs::write(&path, bytes).expect("a file");
    path
}

fn outcomes(read: &ReadGames) -> Vec<(Option<Outcome>, Ending)> {
    read.games.iter().map(|game: &PlayedGame| (game.outcome, game.ending)).collect()
}

#[test]
fn tables_give_games_with_what_their_columns_say() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let white = (Some(Outcome::Win(Side::White)), Ending::Stated);
    let expected = [white, white, (None, Ending::Unfinished)];
    let files = [
        ("games.csv", csv_of(&table())),
        ("plain.parquet", parquet_of(&table(), 99, Compression::UNCOMPRESSED)),
        ("snappy.parquet", parquet_of(&table(), 2, Compression::SNAPPY)),
        ("zstd.parquet", parquet_of(&table(), 4, Compression::ZSTD(Default::default()))),
        ("gzip.parquet", parquet_of(&table(), 1, Compression::GZIP(Default::default()))),
    ];
    let archive = dir.path().join("tables.zip");
    let mut zip = zip::ZipWriter::new(std::fs::File::create(&archive).expect("a file"));
    for (name, bytes) in &files {
        let found = read(&written(dir.path(), name, bytes));
        assert_eq!(outcomes(&found), expected, "{name}");
        let reasons: Vec<String> = found.dropped.iter().map(ToString::to_string).collect();
        assert_eq!(reasons.len(), 3, "{name}: {reasons:?}");
        let first = if *name == "games.csv" { 2 } else { 1 };
        let start = |row: u32| format!("{}: line {}: ", dir.path().join(name).display(), first + row);
        assert_eq!(reasons[0], format!("{}the column winner says BlackWins, the game WhiteWins", start(2)));
        assert!(reasons[1].starts_with(&format!("{}ply 1 unreadable", start(3))), "{reasons:?}");
        assert!(reasons[2].starts_with(&start(4)), "{reasons:?}");
        assert!(!reasons.concat().contains("Ada") && !reasons.concat().contains("Bob"), "no names: {reasons:?}");
        zip.start_file(*name, zip::write::SimpleFileOptions::default()).expect("an entry");
        zip.write_all(bytes).expect("an entry");
    }
    zip.finish().expect("an archive");
    assert_eq!(read(&archive).games.len(), 5 * 3);
    assert_eq!(read(dir.path()).games.len(), 2 * 5 * 3, "in a folder too");
}

#[test]
fn a_column_that_contradicts_the_queens_is_counted_and_the_queens_count() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let (text, outcome) = surrounded();
    let rows: Vec<RowOf<'_>> = ["white", "black", ""].map(|winner| [Some(text), Some(winner), None, None]).into();
    let found = read(&written(dir.path(), "games.parquet", &parquet_of(&rows, 9, Compression::SNAPPY)));
    let expected = vec![(Some(outcome), Ending::QueenSurrounded); 3];
    assert_eq!((outcomes(&found), found.contradicted_count), (expected, 1), "{:?}", found.dropped);
}

#[test]
fn many_rows_come_some_at_a_time() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let rows: Vec<RowOf<'_>> = vec![[Some(RESIGNED), Some("draw"), None, None]; 10_000];
    for (name, bytes) in [("a.csv", csv_of(&rows)), ("a.parquet", parquet_of(&rows, 6_000, Compression::SNAPPY))] {
        let found = read(&written(dir.path(), name, &bytes));
        assert_eq!((found.games.len(), found.text_count), (10_000, 3), "{name}");
    }
}

#[test]
fn files_that_are_no_tables_of_games_are_named_in_a_line() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let whole = parquet_of(&table(), 2, Compression::SNAPPY);
    let numbers = "message games { REQUIRED INT32 uhp_string; }";
    let schema = Arc::new(parse_message_type(numbers).expect("a schema"));
    let mut of_numbers = Vec::new();
    SerializedFileWriter::new(&mut of_numbers, schema, Arc::default()).expect("a writer").close().expect("a file");
    for (name, bytes, named) in [
        ("a.csv", b"game,winner\nBase,white\n".to_vec(), "no column uhp_string"),
        ("b.csv", Vec::new(), "no column uhp_string"),
        ("c.parquet", of_numbers, "column uhp_string is not text"),
        ("d.parquet", whole[..whole.len() - 9].to_vec(), ""),
        ("e.parquet", b"Base;Draw".to_vec(), ""),
        ("f.parquet", Vec::new(), ""),
    ] {
        let found = read(&written(dir.path(), name, &bytes));
        assert!(found.games.is_empty(), "{name}");
        let [dropped] = &found.dropped[..] else { panic!("{name}: {:?}", found.dropped) };
        assert!(dropped.reason.contains(named) && !dropped.to_string().contains('\n'), "{name}: {dropped}");
        assert!(dropped.reason.len() < 300, "{name}: {dropped}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3_000, ..ProptestConfig::default() })]

    #[test]
    fn a_damaged_table_is_read_as_far_as_it_goes_and_never_panics(
        (is_csv, codec, group_rows) in (any::<bool>(), 0..4, 1usize..4),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6),
        cut in prop::option::of(any::<prop::sample::Index>()),
    ) {
        let codecs = [Compression::UNCOMPRESSED, Compression::SNAPPY, Compression::ZSTD(Default::default()),
            Compression::GZIP(Default::default())];
        let mut bytes =
            if is_csv { csv_of(&table()) } else { parquet_of(&table(), group_rows, codecs[codec as usize]) };
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        let found = read_table(bytes, ReadSettings::default());
        prop_assert!(found.games.len() <= 6);
        prop_assert!(found.dropped.iter().all(|dropped| !dropped.to_string().contains('\n')));
    }
}

#[test]
fn an_archive_is_gathered_once_however_often_it_is_read() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let archive = dir.path().join("archive");
    std::fs::create_dir(&archive).expect("a folder");
    written(&archive, "a.csv", &csv_of(&table()));
    written(&archive, "b.uhp", format!("{RESIGNED}\n{}\n", surrounded().0).as_bytes());
    written(&archive, "c.zip", b"PK\x03\x04 and nothing more");
    let out = dir.path().join("games.uhp");
    let gather = || {
        let mut collection = GameCollection::open(&out).expect("a collection");
        let listed = list_files(std::slice::from_ref(&archive)).expect("a folder").files;
        let files: Vec<PathBuf> = listed.into_iter().filter(|file| !collection.has_read(file)).collect();
        let mut done = 0;
        let mut counts = (0, 0);
        read_in_batches(&files, ReadSettings::default(), |batch: ReadBatch| {
            counts.0 += batch.games.iter().filter(|game| collection.add(game)).count();
            counts.1 += batch.dropped.len();
            collection.commit(&files[done..batch.file_count]).expect("written");
            done = batch.file_count;
            Ok::<_, samples::human_games::HumanGamesError>(())
        })
        .expect("readable");
        (files.len(), counts)
    };
    // Of two games that are resigned only what is stated of them differs.
    assert_eq!(gather(), (3, (4, 4)));
    assert_eq!(gather(), (0, (0, 0)));
    written(
        &archive,
        "b.uhp",
        format!("{RESIGNED}\n{}\n{STATED}\nBase;Draw;Black[1];wA1\n", surrounded().0).as_bytes(),
    );
    assert_eq!(gather(), (1, (1, 0)), "what is new in a file that has changed");
    assert_eq!(read(&out).games.len(), 5);
}

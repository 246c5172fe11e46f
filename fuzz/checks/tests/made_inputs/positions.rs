//! Packed positions, policy targets, data sets, and tables of games.

use std::fs;
use std::sync::Arc;

use parquet::data_type::{ByteArray, ByteArrayType};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use samples::dataset::{DataSetGame, DataSetWriter};
use shared::catalog::GameSpec;
use shared::encoding::Encoding;
use shared::encoding::dama::{DamaEncoding, PolicyCoding};
use shared::encoding::hive::HiveEncoding;
use shared::encoding::tictactoe::TicTacToeEncoding;
use shared::game::Game;
use shared::game::dama::Dama;
use shared::game::hive::{GameType, Hive, HiveRules};
use shared::game::tictactoe::TicTacToe;
use shared::record::{GameRecord, PlyRecord, PolicyTarget, replay};

use super::{Input, cut_off};

/// The packed form of a position after so many plies, or of the last one of its game, and the indices of its legal moves.
pub fn midgame<E: Encoding>(encoding: &E, ply_count: usize) -> (Vec<u8>, Vec<u16>) {
    let game = encoding.game();
    let mut position = game.initial_position();
    let mut moves = Vec::new();
    for ply in 0..ply_count {
        moves.clear();
        game.legal_moves(&position, &mut moves);
        if moves.is_empty() {
            break;
        }
        game.play(&mut position, moves[ply * 7 % moves.len()]);
    }
    moves.clear();
    game.legal_moves(&position, &mut moves);
    let (mut packed, mut policy_indices) = (Vec::new(), Vec::new());
    encoding.pack(&position, &mut packed);
    encoding.policy_indices(&position, &moves, &mut policy_indices);
    (packed, policy_indices)
}

pub fn hive() -> HiveEncoding {
    HiveEncoding::new(Hive::new(HiveRules::default()), 16)
}

pub fn dama() -> DamaEncoding {
    DamaEncoding::new(Dama::default(), PolicyCoding::Lossless)
}

/// A data set of one game of tic-tac-toe.
fn data_set() -> Vec<u8> {
    let moves = ["b2", "a1", "b3", "a2", "b1"];
    let ply = |text: &str| PlyRecord { move_text: text.to_owned(), ..PlyRecord::default() };
    let record = GameRecord { plies: moves.map(ply).to_vec(), ..GameRecord::default() };
    let game = replay(&TicTacToeEncoding::new(TicTacToe), &record).expect("a legal game");
    let folder = tempfile::tempdir().expect("a directory");
    let path = folder.path().join("set");
    let mut writer = DataSetWriter::create(&path, &GameSpec::TicTacToe {}).expect("a data set");
    let (outcome, ply_count, samples) = (game.outcome.expect("a finished game"), game.ply_count, game.samples);
    let game = DataSetGame { outcome, is_from_endgame: false, is_cut_off: false, ply_count, samples };
    writer.push(&game).expect("a written game");
    writer.finish().expect("a written data set");
    fs::read(&path).expect("the data set")
}

/// A position of Base, packed for Base+MLP.
fn base_position() -> Vec<u8> {
    let base = Hive::new(HiveRules { game_type: GameType::default(), ..HiveRules::default() });
    let mut packed = Vec::new();
    hive().pack(&base.initial_position(), &mut packed);
    packed
}

/// A table of one game.
fn table() -> Vec<u8> {
    let schema = "message games { REQUIRED BYTE_ARRAY uhp_string (UTF8); OPTIONAL BYTE_ARRAY winner (UTF8); }";
    let schema = Arc::new(parse_message_type(schema).expect("a schema"));
    let properties = WriterProperties::builder().set_created_by("a test".to_owned()).build();
    let mut bytes = Vec::new();
    let mut writer = SerializedFileWriter::new(&mut bytes, schema, Arc::new(properties)).expect("a writer");
    let mut group = writer.next_row_group().expect("a group");
    for (cell, levels) in [("Base;Draw;White[2];wS1;bS1 wS1-", None), ("white", Some(&[1_i16][..]))] {
        let mut column = group.next_column().expect("a column").expect("two columns");
        let cells = [ByteArray::from(cell.as_bytes().to_vec())];
        column.typed::<ByteArrayType>().write_batch(&cells, levels, None).expect("written");
        column.close().expect("a column");
    }
    group.close().expect("a group");
    writer.close().expect("a file");
    bytes
}

pub fn inputs() -> Vec<Input> {
    let tictactoe = TicTacToeEncoding::new(TicTacToe);
    let (hive_midgame, dama_midgame) = (midgame(&hive(), 24).0, midgame(&dama(), 24).0);
    let set = data_set();
    let mut damaged_set = set.clone();
    let last = damaged_set.len() - 1;
    damaged_set[last] ^= 1;
    let target = PolicyTarget::from_visits([(17, 40), (4000, 60)]).expect("visits").to_bytes();
    let table = table();
    let mut damaged_table = table.clone();
    let middle = damaged_table.len() / 2;
    damaged_table[middle] ^= 0x55;
    vec![
        ("game_table/games.parquet", table.clone()),
        ("game_table/cut_off.parquet", cut_off(&table, 20)),
        ("game_table/damaged.parquet", damaged_table),
        ("packed_hive/base", base_position()),
        ("packed_hive/start", midgame(&hive(), 0).0),
        ("packed_hive/finished", midgame(&hive(), 200).0),
        ("packed_hive/cut_off", cut_off(&hive_midgame, 1)),
        ("packed_hive/midgame", hive_midgame),
        ("packed_dama/start", midgame(&dama(), 0).0),
        ("packed_dama/cut_off", cut_off(&dama_midgame, 1)),
        ("packed_dama/midgame", dama_midgame),
        ("packed_tictactoe/start", midgame(&tictactoe, 0).0),
        ("packed_tictactoe/midgame", midgame(&tictactoe, 4).0),
        ("packed_tictactoe/one_square_of_both", vec![1, 0, 1, 0]),
        ("packed_tictactoe/no_square", vec![0, 2, 0, 0]),
        ("data_set/cut_off", cut_off(&set, set.len() / 4)),
        ("data_set/damaged", damaged_set),
        ("data_set/one_game", set),
        ("policy_target/falling", [&target[4..], &target[..4]].concat()),
        ("policy_target/cut_off", cut_off(&target, 1)),
        ("policy_target/two_moves", target),
    ]
}

//! The committed inputs of the fuzz targets pass their checks, and there are some for each.
//!
//! `UPDATE_GOLDEN=1` writes those that are made here, from valid messages and positions.

use std::fs;
use std::path::{Path, PathBuf};

use fuzz_checks::CHECKS;
use prost::Message;
use samples::dataset::{DataSetGame, DataSetWriter};
use shared::catalog::GameSpec;
use shared::encoding::Encoding;
use shared::encoding::dama::{DamaEncoding, PolicyCoding};
use shared::encoding::hive::HiveEncoding;
use shared::encoding::tictactoe::TicTacToeEncoding;
use shared::game::Game;
use shared::game::dama::{Dama, DamaRules};
use shared::game::hive::{Hive, HiveRules};
use shared::game::tictactoe::TicTacToe;
use shared::record::{GameRecord, PlyRecord, PolicyTarget, replay};
use shared::search::SearchSettings;
use shared::wire::{game_spec_to_proto, search_settings_to_proto};

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus")
}

#[test]
fn every_committed_input_passes_its_check() {
    for check in CHECKS {
        let folder = corpus().join(check.name);
        let inputs = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
        let mut input_count = 0;
        for input in inputs {
            let path = input.expect("a file of the corpus").path();
            println!("{}", path.display());
            (check.check)(&fs::read(&path).expect("a readable file"));
            input_count += 1;
        }
        assert!(input_count > 0, "{} is empty", folder.display());
    }
}

#[test]
fn every_check_has_a_fuzz_target() {
    for check in CHECKS {
        let target = corpus().join(format!("../fuzz_targets/{}.rs", check.name));
        let text = fs::read_to_string(&target).unwrap_or_else(|error| panic!("{}: {error}", target.display()));
        assert!(text.contains(&format!("fuzz_checks::check(\"{}\", bytes)", check.name)), "{}", target.display());
    }
}

/// A position in the middle of a game with its packed form and the indices of its legal moves.
fn midgame<E: Encoding>(encoding: &E, ply_count: usize) -> (Vec<u8>, Vec<u16>) {
    let game = encoding.game();
    let mut position = game.initial_position();
    let mut moves = Vec::new();
    for ply in 0..ply_count {
        moves.clear();
        game.legal_moves(&position, &mut moves);
        game.play(&mut position, moves[ply * 7 % moves.len()]);
    }
    moves.clear();
    game.legal_moves(&position, &mut moves);
    let (mut packed, mut policy_indices) = (Vec::new(), Vec::new());
    encoding.pack(&position, &mut packed);
    encoding.policy_indices(&position, &moves, &mut policy_indices);
    (packed, policy_indices)
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

/// Inputs that are valid, by target.
fn valid_inputs() -> Vec<(&'static str, Vec<u8>)> {
    let (hive, hive_indices) = midgame(&HiveEncoding::new(Hive::new(HiveRules::default()), 16), 24);
    let (dama, dama_indices) = midgame(&DamaEncoding::new(Dama::default(), PolicyCoding::Lossless), 24);
    let indices = [&hive_indices[..], &dama_indices].concat();
    let leaves = proto::LeafBatch {
        batch_id: 7,
        positions: [&hive[..], &dama].concat().into(),
        position_lengths: vec![hive.len() as u32, dama.len() as u32],
        policy_indices: indices.iter().flat_map(|index| index.to_le_bytes()).collect::<Vec<u8>>().into(),
        move_counts: vec![hive_indices.len() as u32, dama_indices.len() as u32],
        ..proto::LeafBatch::default()
    };
    // Priors 0.5, 0.25, 0.25 in half precision, values 0.5 and -1.
    let answer = proto::EvaluationBatch {
        batch_id: 7,
        network_id: 3,
        generation: 2,
        priors: vec![0, 0x38, 0, 0x34, 0, 0x34].into(),
        values: [0.5_f32, -1.0].iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>().into(),
        ..proto::EvaluationBatch::default()
    };
    let target = PolicyTarget::from_visits([(17, 40), (4000, 60)]).expect("visits");
    let ply = proto::Ply {
        game_id: 9,
        move_text: "wS1".to_owned(),
        policy_target: target.to_bytes(),
        root_value: 0.25,
        simulation_count: 100,
        network_id: 3,
        ..proto::Ply::default()
    };
    let hive_spec = GameSpec::Hive { rules: HiveRules::default(), frame: 16 };
    let dama_spec = GameSpec::Dama { rules: DamaRules::default(), policy: PolicyCoding::Lossless };
    vec![
        ("packed_hive/midgame", hive),
        ("packed_dama/midgame", dama),
        ("leaf_batch/two_games", leaves.encode_to_vec()),
        ("evaluations/two_leaves", [&[3, 2][..], &answer.encode_to_vec()].concat()),
        ("data_set/one_game", data_set()),
        ("policy_target/two_moves", target.to_bytes()),
        ("ply/first", ply.encode_to_vec()),
        ("game_spec/hive", game_spec_to_proto(&hive_spec).encode_to_vec()),
        ("game_spec/dama", game_spec_to_proto(&dama_spec).encode_to_vec()),
        ("search_settings/default", search_settings_to_proto(&SearchSettings::default()).encode_to_vec()),
    ]
}

#[test]
fn valid_messages_and_positions_are_among_the_inputs() {
    for (name, bytes) in valid_inputs() {
        let path = corpus().join(name);
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            fs::write(&path, &bytes).expect("a file");
        }
        let committed = fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        assert!(committed == bytes, "{name} is made differently now: UPDATE_GOLDEN=1");
    }
}

//! Games of all types of Hive for one network: what BoardSpace's records give, and as a data set.

use std::collections::BTreeMap;

use notation::{PlayedGame, ReadOptions, boardspace, games};
use samples::dataset::{DataSet, DataSetGame, DataSetWriter};
use samples::human_games::{GameTypes, HumanSampleSets, SetSettings, encoding_of, make_sets, samples_of};
use samples::split::Split;
use shared::catalog::GameSpec;
use shared::encoding::hive::HiveEncoding;
use shared::encoding::{Encoding, Symmetry, TrainingBatch};
use shared::game::Game;
use shared::game::hive::{GameType, HiveRules};
use shared::record::Sample;
use shared::record::batch::{SampleScratch, StoredSample, push_sample};

const OLD: ReadOptions = ReadOptions { queen_first_allowed: true };
const SPLIT: Split = Split { seed: 1, held_out_share: 0.1 };

fn spec() -> GameSpec {
    GameSpec::Hive { rules: HiveRules::default(), frame: 16 }
}

/// The games of `testdata/boardspace`, and the files that are none.
fn boardspace_games() -> (Vec<PlayedGame>, Vec<String>) {
    let (mut games, mut unread) = (Vec::new(), Vec::new());
    for line in testdata::read("boardspace/expected.tsv").lines().skip(1) {
        let name = line.split('\t').next().expect("a name");
        match boardspace::read(&testdata::read(&format!("boardspace/{name}")), OLD) {
            Ok(game) => games.push(game),
            Err(error) => unread.push(error.to_string()),
        }
    }
    (games, unread)
}

fn sets_of(games: &[PlayedGame], game_types: GameTypes) -> HumanSampleSets {
    let encoding = encoding_of(&spec()).expect("Hive");
    make_sets(&encoding, games, SetSettings { split: SPLIT, decided_only: false, game_types })
}

/// Makes a training batch of samples, turned by a symmetry; every legal move must be within the planes' pieces.
fn batch_of(encoding: &HiveEncoding, samples: &[Sample], symmetry: Symmetry) -> TrainingBatch {
    let (mut batch, mut scratch) = (TrainingBatch::default(), SampleScratch::new(encoding));
    for sample in samples {
        let policy_target = &sample.policy_target.to_bytes();
        let stored =
            StoredSample { packed: &sample.packed, policy_target, value_target: sample.outcome_value, outlook: None };
        push_sample(encoding, &stored, symmetry, &mut batch, &mut scratch).expect("a sample");
    }
    batch
}

#[test]
fn all_but_two_of_128_files_give_samples() {
    let (games, unread) = boardspace_games();
    assert_eq!(unread, ["unsupported variant Hive-Ultimate"]);
    let all = sets_of(&games, GameTypes::All);
    let undecided = all.left_out.undecided_games;
    assert_eq!(
        (all.samples.training_games + all.samples.held_out_games, undecided),
        (126, 1),
        "drawn by the site alone"
    );
    let types = [("Base", 69), ("Base+L", 4), ("Base+ML", 4), ("Base+MLP", 48), ("Base+P", 1)];
    let mut found = all.training_types;
    all.held_out_types.into_iter().for_each(|(name, count)| *found.entry(name).or_default() += count);
    assert_eq!(found, BTreeMap::from(types.map(|(name, count)| (name.to_owned(), count))));
    let own = sets_of(&games, GameTypes::Own);
    assert_eq!(own.samples.training_games + own.samples.held_out_games, 48);
    assert_eq!(own.left_out.other_type_games, 79);
}

#[test]
fn samples_of_smaller_types_are_learned_from_as_a_network_of_their_own_type_would() {
    let own_spec = |game_type| GameSpec::Hive { rules: HiveRules { game_type, ..HiveRules::default() }, frame: 16 };
    let (games, _) = boardspace_games();
    let all = encoding_of(&spec()).expect("Hive");
    let plane_shape = all.plane_shape();
    for game in games.iter().filter(|game| game.rules.game_type != GameType::MLP).step_by(5) {
        let Some(outcome) = game.outcome else { continue };
        let own = encoding_of(&own_spec(game.rules.game_type)).expect("Hive");
        let (of_all, of_own) = (samples_of(&all, game, outcome), samples_of(&own, game, outcome));
        assert_eq!(of_all.left_out_count, of_own.left_out_count);
        for symmetry in [Symmetry::default(), Symmetry(7)] {
            let (all, own) = (batch_of(&all, &of_all.samples, symmetry), batch_of(&own, &of_own.samples, symmetry));
            assert_eq!(all.input.policy_indices, own.input.policy_indices, "{}: legal moves", game.rules.game_type);
            assert!(all.policy_targets == own.policy_targets && all.value_targets == own.value_targets);
            let planes = |batch: &TrainingBatch| batch.input.planes.to_dense(plane_shape);
            assert!(planes(&all) == planes(&own), "{}: planes", game.rules.game_type);
        }
    }
}

#[test]
fn a_data_set_of_mixed_types_says_so_and_comes_back_as_it_was() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let encoding = encoding_of(&spec()).expect("Hive");
    let texts = ["Base+MLP;WhiteWins;Black[2];wS1;bG1 wS1-;wM -wS1", "Base+L;Draw;White[2];wL;bS1 wL-"];
    let games: Vec<_> = texts.iter().map(|text| games::read(text, OLD).expect("a game")).collect();
    let write = |name: &str, games: &[PlayedGame]| {
        let path = dir.path().join(name);
        let mut writer = DataSetWriter::create(&path, &spec()).expect("a file");
        let written: Vec<DataSetGame> = games.iter().map(|game| data_set_game(&encoding, game)).collect();
        written.iter().for_each(|game| writer.push(game).expect("a small game"));
        writer.finish().expect("a file");
        (path, written)
    };
    for (name, games, is_mixed) in [("own.samples", &games[..1], false), ("mixed.samples", &games[..], true)] {
        let (path, written) = write(name, games);
        let mut data = DataSet::open(&path).expect("a data set");
        assert_eq!((data.has_smaller_types(), data.spec()), (is_mixed, &spec()), "{name}");
        let read = data.next_games().expect("readable").expect("a block");
        assert_eq!(read, written, "{name}");
        let types = read.iter().map(|game| spec().packed_game_type(&game.samples[0].packed));
        assert!(types.eq(games.iter().map(|game| Some(game.rules.game_type))), "{name}");
        for game in &read {
            let batch = batch_of(&encoding, &game.samples, Symmetry::default());
            assert_eq!(batch.value_targets.len(), game.samples.len());
        }
    }
    // What older programs refuse by its number.
    assert_eq!(std::fs::read(dir.path().join("own.samples")).expect("a file")[8], 3);
    assert_eq!(std::fs::read(dir.path().join("mixed.samples")).expect("a file")[8], 4);
    let mut position = encoding.game().initial_position();
    assert!(encoding.unpack(&[0xfe; 59], &mut position).is_err());
}

fn data_set_game(encoding: &HiveEncoding, game: &PlayedGame) -> DataSetGame {
    let outcome = game.outcome.expect("stated");
    let samples = samples_of(encoding, game, outcome).samples;
    DataSetGame { outcome, is_from_endgame: false, is_cut_off: false, ply_count: game.ply_count(), samples }
}

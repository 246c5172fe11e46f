//! Reading human games from files, folders and archives, and splitting them.

use std::io::Write;
use std::path::{Path, PathBuf};

use notation::{ReadOptions, games, pgn};
use samples::human_games::{
    GameTypes, ReadGames, ReadSettings, SetSettings, encoding_of, game_key, make_sets, openings_of, read_games,
    samples_of,
};
use samples::split::Split;
use shared::catalog::GameSpec;
use shared::game::Game;
use shared::game::hive::{GameType, Hive, HiveRules};
use zip::write::SimpleFileOptions;

const GAMES: &str = include_str!("human_games/games.uhp");
/// A game of BoardSpace's that is given up after three plies.
const TREE: &str = "(;GM[27]VV[1]SU[Hive-PLM]P0[id \"playerA\"]P1[id \"playerB\"]\n\
    ; P0[0 Start P0]; P0[1 dropb wL1 N 13 .]; P0[2 done]; P1[3 dropb bL1 O 14 wL/]; P1[4 done]\n\
    ; P0[5 dropb wG1 M 12 /wL]; P0[6 done]; P1[7 resign]; P1[8 done])\n";

fn read(paths: &[PathBuf]) -> ReadGames {
    read_games(paths, ReadSettings::default()).expect("the paths are there")
}

fn write(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    std::fs::write(path, text).expect("a file");
}

#[test]
fn a_folder_and_an_archive_of_it_hold_the_same_games() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let folder = dir.path().join("games");
    let files = [("a.uhp", GAMES), ("deep/er/b.sgf", TREE), ("c.TXT", GAMES), ("README.md", "not a game")];
    let archive = dir.path().join("games.zip");
    let mut zip = zip::ZipWriter::new(std::fs::File::create(&archive).expect("a file"));
    for (name, text) in files {
        write(&folder.join(name), text);
        zip.start_file(name, SimpleFileOptions::default()).expect("an entry");
        zip.write_all(text.as_bytes()).expect("an entry");
    }
    zip.finish().expect("an archive");
    let (from_folder, from_archive) = (read(std::slice::from_ref(&folder)), read(std::slice::from_ref(&archive)));
    assert_eq!(from_folder.games.len(), 51);
    assert_eq!((from_folder.text_count, from_folder.skipped_file_count), (3, 1));
    assert!(from_folder.dropped.is_empty(), "{:?}", from_folder.dropped);
    let sorted = |read: &ReadGames| {
        let mut games: Vec<String> = read.games.iter().map(|game| game.to_game_string()).collect();
        games.sort();
        games
    };
    assert_eq!(sorted(&from_folder), sorted(&from_archive));
    // An archive in a folder is looked into; a file that is named outright may be called anything.
    std::fs::rename(&archive, folder.join("more.zip")).expect("a move");
    write(&folder.join("b"), TREE);
    assert_eq!(read(std::slice::from_ref(&folder)).games.len(), 102);
    assert_eq!(read(&[folder.join("b")]).games.len(), 1);
    let one = ReadSettings { threads: 1, ..ReadSettings::default() };
    assert_eq!(read_games(&[folder], one).expect("the paths are there").games.len(), 102);
}

#[test]
fn games_with_tags_are_read_one_by_one() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let tree = read(&[written(dir.path(), "tree.sgf", TREE)]).games.remove(0);
    let tags = [("White".to_owned(), "playerA".to_owned())];
    let text = pgn::write(&tags, tree.rules.game_type, &tree.move_texts(), tree.outcome);
    let file = written(dir.path(), "games.pgn", &format!("{text}\n{}\n{text}", text.replacen("bL", "bP wQ", 1)));
    let found = read(std::slice::from_ref(&file));
    assert_eq!(found.games.len(), 2);
    assert!(found.games.iter().all(|game| game.moves == tree.moves && game.outcome == tree.outcome));
    let reasons: Vec<String> = found.dropped.iter().map(ToString::to_string).collect();
    assert_eq!(reasons.len(), 1, "{reasons:?}");
    assert!(reasons[0].starts_with(&format!("{}: line 26: ply 2 unreadable: ", file.display())), "{reasons:?}");
}

fn written(folder: &Path, name: &str, text: &str) -> PathBuf {
    let path = folder.join(name);
    write(&path, text);
    path
}

#[test]
fn a_broken_game_is_left_out_whole_with_file_place_and_reason() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let (lines, tree) = (dir.path().join("lines.uhp"), dir.path().join("tree.sgf"));
    let good = GAMES.lines().next().expect("a game");
    write(
        &lines,
        &format!("{good}\n\nBase+MLP;Draw;White[2];wS1;bS1 wS2-\nBase+MLP;WhiteWins;Black[2];wQ;bS1 wQ-;bS2 bS1-\n"),
    );
    write(&tree, &TREE.replace("wG1 M 12", "wG1 A 1"));
    let archive = dir.path().join("cut-off.zip");
    write(&archive, "PK\u{3}\u{4} and nothing more");
    let found = read(&[lines, tree, archive]);
    assert_eq!(found.games.len(), 1);
    let dropped: Vec<String> = found.dropped.iter().map(ToString::to_string).collect();
    let dropped: Vec<&str> = dropped.iter().map(|text| text.rsplit('/').next().expect("a name")).collect();
    for (dropped, start) in dropped.iter().zip([
        "cut-off.zip: ",
        "lines.uhp: line 3: ply 2 unreadable: ",
        "lines.uhp: line 4: ply 3 illegal: ",
        "tree.sgf: ply 3 illegal: the cell does not touch the hive",
    ]) {
        assert!(dropped.starts_with(start), "{dropped}");
    }
    assert_eq!(dropped.len(), 4, "{dropped:?}");
    let missing = read_games(&[dir.path().join("no-such")], ReadSettings::default()).expect_err("not there");
    assert!(missing.to_string().contains("no-such"), "{missing}");
}

fn spec(game_type: GameType) -> GameSpec {
    GameSpec::Hive { rules: HiveRules { game_type, ply_limit: 10, ..HiveRules::default() }, frame: 16 }
}

#[test]
fn every_ply_is_a_sample_and_the_outcome_is_the_movers() {
    let encoding = encoding_of(&spec(GameType::MLP)).expect("Hive");
    let options = ReadOptions { queen_first_allowed: true };
    for game in games::read_lines(GAMES, options).map(|game| game.expect("a game")) {
        let outcome = game.outcome.expect("it has ended");
        let made = samples_of(&encoding, &game, outcome);
        assert_eq!(
            (made.samples.len(), made.left_out_count),
            (game.moves.len(), 0),
            "the ply limit does not apply to human games"
        );
        let last = made.samples.last().expect("a ply");
        assert_eq!(last.outcome_value, made.samples[(made.samples.len() + 1) % 2].outcome_value);
    }
    // A queen as first piece is no move of a network that may not play it; the plies after it are learned from.
    let queen = games::read("Base+MLP;WhiteWins;Black[2];wQ;bS1 wQ-;wS1 -wQ", options).expect("an old game");
    let made = samples_of(&encoding, &queen, queen.outcome.expect("stated"));
    assert_eq!((made.samples.len(), made.left_out_count), (2, 1));
}

#[test]
fn equal_games_are_on_the_same_side_however_rotated_and_numbered() {
    let encoding = encoding_of(&spec(GameType::MLP)).expect("Hive");
    let key = |text: &str| game_key(&encoding, &games::read(text, ReadOptions::default()).expect("a game"));
    let game = r"Base+MLP;WhiteWins;Black[3];wS1;bG1 wS1-;wA1 -wS1;bA1 bG1-;wA2 \wA1";
    let numbered = r"Base+MLP;WhiteWins;Black[3];wS2;bG3 wS2-;wA3 -wS2;bA2 bG3-;wA1 \wA3";
    let turned = r"Base+MLP;WhiteWins;Black[3];wS1;bG1 wS1/;wA1 /wS1;bA1 bG1/;wA2 -wA1";
    let mirrored = r"Base+MLP;WhiteWins;Black[3];wS1;bG1 wS1-;wA1 -wS1;bA1 bG1-;wA2 /wA1";
    let other = r"Base+MLP;WhiteWins;Black[3];wS1;bG1 wS1-;wA1 -wS1;bA1 bG1-;wA2 -wA1";
    assert_eq!(key(game), key(numbered));
    assert_eq!(key(game), key(turned));
    assert_eq!(key(game), key(mirrored));
    assert_ne!(key(game), key(other));
}

#[test]
fn a_split_depends_on_seed_and_game_alone() {
    let share = |seed| {
        let split = Split { seed, held_out_share: 0.1 };
        (0..10_000).filter(|key| split.is_held_out(*key)).collect::<Vec<u64>>()
    };
    assert!((800..1200).contains(&share(1).len()), "{}", share(1).len());
    assert_ne!(share(1), share(2));
    let none = Split { seed: 1, held_out_share: 0.0 };
    let all = Split { seed: 1, held_out_share: 1.0 };
    assert!((0..1000).all(|key| all.is_held_out(key) && !none.is_held_out(key)));
}

#[test]
fn games_that_teach_nothing_are_counted() {
    let encoding = encoding_of(&spec(GameType::MLP)).expect("Hive");
    let text = format!("{GAMES}Base;WhiteWins;Black[1];wS1\nBase+MLP;InProgress;Black[1];wS1\n");
    let options = ReadOptions { queen_first_allowed: true };
    let games: Vec<_> = games::read_lines(&text, options).map(|game| game.expect("a game")).collect();
    let split = Split { seed: 1, held_out_share: 0.2 };
    let settings = SetSettings { split, decided_only: false, game_types: GameTypes::Own };
    let sets = make_sets(&encoding, &games, settings);
    assert_eq!((sets.left_out.other_type_games, sets.left_out.undecided_games), (1, 1));
    let types: Vec<&String> = sets.training_types.keys().chain(sets.held_out_types.keys()).collect();
    assert_eq!(types, ["Base+MLP", "Base+MLP"]);
    let samples = &sets.samples;
    assert_eq!(samples.training_games + samples.held_out_games, 25);
    let ply_count: u64 = games[..25].iter().map(|game| u64::from(game.ply_count())).sum();
    assert_eq!(samples.training.position_count() + samples.held_out.position_count(), ply_count);
    let decided = make_sets(&encoding, &games, SetSettings { decided_only: true, ..settings });
    assert_eq!(decided.left_out.drawn_games, 1);
    assert_ne!(decided.samples.sha256(), samples.sha256());
    assert_eq!(make_sets(&encoding, &games, settings).samples.sha256(), samples.sha256());
    let all = SetSettings { game_types: GameTypes::All, ..settings };
    let of_all = make_sets(&encoding, &games, all);
    assert_eq!(of_all.samples.training_games + of_all.samples.held_out_games, 26);
    assert_eq!(of_all.left_out.other_type_games, 0);
    let base = encoding_of(&spec(GameType::default())).expect("Hive");
    assert_eq!(make_sets(&base, &games, settings).left_out.other_type_games, 26);
    assert_eq!(make_sets(&base, &games, all).left_out.other_type_games, 26, "no network is shown pieces it has not");
}

#[test]
fn openings_are_the_games_that_are_not_held_out_as_far_as_the_rules_of_the_run_let_them_go_on() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    write(&dir.path().join("games.uhp"), GAMES);
    let games = read(&[dir.path().join("games.uhp")]).games;
    let spec = |ply_limit| GameSpec::Hive { rules: HiveRules { ply_limit, ..HiveRules::default() }, frame: 16 };
    let openings = |ply_limit, held_out_share| {
        openings_of(&spec(ply_limit), &games, Split { seed: 1, held_out_share }).expect("it is Hive")
    };
    let all = openings(500, 0.0);
    let own = games.iter().filter(|game| game.rules.game_type == HiveRules::default().game_type);
    assert_eq!(all.len(), own.clone().count(), "games of the run's type");
    for (moves, game) in all.iter().zip(own) {
        assert!(moves.len() <= game.moves.len(), "never more than was played");
        let hive = Hive::new(HiveRules { ply_limit: 500, ..HiveRules::default() });
        let mut position = hive.initial_position();
        for text in moves {
            let mv = hive.parse_move(&position, text).expect("legal by the rules of the run");
            hive.play(&mut position, mv);
        }
        assert_eq!(hive.outcome(&position), None, "the game goes on");
    }
    assert!(all.iter().any(|moves| moves.len() > 20), "whole games");
    let short = openings(10, 0.0);
    assert_eq!(short.iter().map(Vec::len).max(), Some(9), "the tenth ply would end the game");
    let learned = openings(500, 0.5).len();
    assert!(learned < all.len() && learned > 0, "{learned} of {}", all.len());
    assert!(openings_of(&GameSpec::TicTacToe {}, &games, Split { seed: 1, held_out_share: 0.0 }).is_err());
}

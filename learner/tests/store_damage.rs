//! Bytes that a disk changed: the game they belong to is named and left out, and every other one is learned from.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::Instant;

use fixtures::{crash_copy, encoding, random_game, report, run_row, start};
use learner::check::check_run;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use registry::rebuild;
use rusqlite::Connection;
use samples::buffer::SampleBuffer;
use shared::ids::GameId;
use store::{GameKind, GameState, Reader, Store, StoreError, StoredGame};

const GAMES: u32 = 20;
const DATABASE: &str = "alveare.db";

/// Plays games, and stops: all of them are in the database file alone.
fn played() -> (tempfile::TempDir, BTreeMap<GameId, StoredGame>) {
    let run_dir = tempfile::tempdir().expect("a directory");
    let learner = start(run_dir.path());
    let leases = learner.registry.lease("w", GameKind::SelfPlay, GAMES, Instant::now()).expect("leases").leases;
    for lease in &leases {
        report(&learner, "w", &random_game(&encoding(), lease), Instant::now());
    }
    drop(learner);
    let games = finished(run_dir.path());
    assert_eq!(games.len(), GAMES as usize);
    (run_dir, games)
}

/// Returns the finished games that can be read.
fn finished(run_dir: &Path) -> BTreeMap<GameId, StoredGame> {
    let reader = Reader::of_run(run_dir).expect("a reader");
    let game_ids = reader.finished_game_ids(GameKind::SelfPlay).expect("readable").into_iter();
    game_ids.filter_map(|game_id| Some((game_id, reader.game(game_id).ok()??))).collect()
}

/// Returns where in the database file the policy target of a game's first ply lies, and its length.
fn place_of(run_dir: &Path, file: &[u8], game: &StoredGame) -> (usize, usize) {
    let target = game.record.plies[0].policy_target.as_ref().expect("a target").to_bytes();
    let places = (0..file.len() - target.len()).filter(|at| file[*at..].starts_with(&target));
    // Pages keep what was moved to others: only the place that is read counts.
    let is_read = |at: &usize| {
        let copy = damaged_copy(run_dir, file, *at, 0);
        Reader::of_run(copy.path()).expect("a reader").game(game.game.game_id).is_err()
    };
    let read: Vec<usize> = places.filter(is_read).collect();
    assert_eq!(read.len(), 1, "a row is in one place");
    (read[0], target.len())
}

/// Returns the run with one bit of its database flipped.
fn damaged_copy(run_dir: &Path, file: &[u8], at: usize, bit: u32) -> tempfile::TempDir {
    let copy = crash_copy(run_dir);
    let mut damaged = file.to_vec();
    damaged[at] ^= 1 << bit;
    std::fs::write(copy.path().join(DATABASE), damaged).expect("written");
    copy
}

/// Takes the run up as a learner does at its start; returns how many games are learned from.
fn taken_up(run_dir: &Path) -> u64 {
    let store = Arc::new(Store::open(run_dir, &run_row()).expect("the store opens"));
    let (_, report) = rebuild(&encoding(), &store, SampleBuffer::new(10_000), u64::MAX).expect("the run goes on");
    assert_eq!(report.game_count + report.quarantined_count, u64::from(GAMES));
    report.game_count
}

#[test]
fn a_flipped_byte_is_found_named_and_not_learned_from() {
    let (run_dir, games) = played();
    let file = std::fs::read(run_dir.path().join(DATABASE)).expect("a database");
    let game = games.values().nth(7).expect("there");
    let game_id = game.game.game_id;
    let (target, length) = place_of(run_dir.path(), &file, game);
    // In the order in which SQLite lays a row out: move, policy target, root value, simulations.
    for (what, at, bit) in [
        ("the move", target - 1, 0),
        ("the move, no text any more", target - 1, 7),
        ("a weight of the policy target", target + 2, 3),
        ("an index of the policy target", target + length - 3, 7),
        ("the root value", target + length + 1, 1),
        ("the simulations", target + length + 8, 0),
    ] {
        let copy = damaged_copy(run_dir.path(), &file, at, bit);
        let error = Reader::of_run(copy.path()).expect("a reader").game(game_id).expect_err(what);
        assert!(matches!(error, StoreError::Damaged { .. }), "{what}: {error}");
        let parts = check_run(copy.path()).expect("it can be checked");
        let damages: Vec<&String> =
            parts.iter().find(|part| part.part == "games").expect("a part").damages.iter().collect();
        assert_eq!(damages.len(), 1, "{what}: {damages:?}");
        assert!(damages[0].contains(&format!("game {game_id}")), "{what}: {}", damages[0]);
        assert_eq!(taken_up(copy.path()), u64::from(GAMES) - 1, "{what}");
        let store = Connection::open(copy.path().join(DATABASE)).expect("the database opens");
        let sql = "SELECT game_id FROM games WHERE state = 'quarantined'";
        let left_out: i64 = store.query_row(sql, [], |row| row.get(0)).expect("one game is left out");
        assert_eq!(left_out as u64, game_id.get(), "{what}");
    }
    exported_without(damaged_copy(run_dir.path(), &file, target + 2, 3).path(), game_id);
}

/// Exports the games of a damaged run: all but one.
fn exported_without(run_dir: &Path, game_id: GameId) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_learner"));
    command.arg("export").arg(run_dir).arg("--samples").arg(run_dir.join("samples.safetensors"));
    let output = command.output().expect("the program starts");
    let (text, log) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && text.contains(&format!("games {}", GAMES - 1)), "{text}{log}");
    assert!(log.contains(&format!("left out: game {game_id}: its record is not what was stored")), "{text}{log}");
}

#[test]
fn whatever_bit_of_a_game_is_flipped_it_is_left_out_or_as_it_was() {
    let (run_dir, games) = played();
    let file = std::fs::read(run_dir.path().join(DATABASE)).expect("a database");
    let places: Vec<usize> = games.values().map(|game| place_of(run_dir.path(), &file, game).0).collect();
    let (from, to) = (places.iter().min().expect("games"), places.iter().max().expect("games"));
    let seed = rand::random();
    println!("seed {seed}");
    let mut random = Pcg64::seed_from_u64(seed);
    let mut left_out_count = 0;
    for _ in 0..60 {
        let (at, bit) = (random.random_range(*from..*to), random.random_range(0..8));
        let copy = damaged_copy(run_dir.path(), &file, at, bit);
        let kept = taken_up(copy.path());
        let whole = finished(copy.path());
        assert_eq!(whole.len() as u64, kept, "byte {at}, bit {bit}: what is left can be read");
        for (game_id, game) in whole {
            assert_eq!(Some(&game), games.get(&game_id), "byte {at}, bit {bit}");
        }
        left_out_count += u64::from(GAMES) - kept;
    }
    assert!(left_out_count > 20, "{left_out_count} games were damaged");
}

#[test]
fn games_of_an_older_store_get_their_checksums_when_it_is_opened() {
    let (run_dir, games) = played();
    let database = Connection::open(run_dir.path().join(DATABASE)).expect("the database opens");
    let older = "DROP INDEX games_with_plies; ALTER TABLE games DROP COLUMN resignation;
        ALTER TABLE games DROP COLUMN is_thinned; ALTER TABLE games DROP COLUMN checksum";
    database.execute_batch(older).expect("schema 6");
    database.pragma_update(None, "user_version", 6).expect("schema 6");
    drop(database);
    let older = finished(run_dir.path());
    assert!(older.len() == games.len() && older.values().all(|game| game.checksum.is_none()), "read as it is");
    let parts = check_run(run_dir.path()).expect("it can be checked");
    let games_part = parts.iter().find(|part| part.part == "games").expect("a part");
    assert!(games_part.summary.contains("20 have no checksum until"), "{}", games_part.summary);
    drop(Store::open(run_dir.path(), &run_row()).expect("the store opens"));
    assert_eq!(finished(run_dir.path()), games, "with the checksums that they had");
    assert!(games.values().all(|game| game.checksum.is_some() && game.state == GameState::Finished));
}

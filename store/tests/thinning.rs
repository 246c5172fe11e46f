//! Removing the plies of old games: what is counted stays, what is needed stays, and a kill leaves whole games.

use fixtures::{crash_copy, network_id, run_row};
use rusqlite::Connection;
use shared::game::{Outcome, Side};
use shared::ids::GameId;
use shared::record::{PlyRecord, PolicyTarget};
use store::{
    Change, FinishedGame, GameKind, GameState, NewGame, NewNetwork, Reader, SealedEnd, Store, StoreError, StoredResult,
    record_checksum,
};

const PLIES: u32 = 30;

fn open(run_dir: &std::path::Path) -> Store {
    Store::open(run_dir, &run_row()).expect("the store opens")
}

fn new_game(number: u64) -> NewGame {
    let opening = vec!["b2".to_owned()];
    NewGame { opening, ..NewGame::self_play(GameId::new(number), 1, number, r#"{"a": 1}"#.into()) }
}

fn gate_game(number: u64, candidate: u32) -> NewGame {
    NewGame { kind: GameKind::Gate, candidate_id: Some(network_id(candidate)), pair_index: Some(0), ..new_game(number) }
}

fn ply(ply: u32) -> PlyRecord {
    let policy_target = PolicyTarget::from_visits((0..60).map(|index| (index, 1 + u32::from(index) % 7))).ok();
    PlyRecord { move_text: format!("move {ply}"), policy_target, simulation_count: 200, ..PlyRecord::default() }
}

/// Returns a whole game, and how it ends; its finish number is its number.
fn played(game: &NewGame) -> (Vec<Change>, Change) {
    let game_id = game.game_id;
    let plies: Vec<PlyRecord> =
        std::iter::once(PlyRecord::unsearched(&game.opening[0])).chain((1..PLIES).map(ply)).collect();
    let added = (1..).zip(&plies[1..]).map(|(ply, record)| Change::AddPly { game_id, ply, record: record.clone() });
    let result = StoredResult { outcome: Outcome::Win(Side::White), is_cut_off: false, resignation: None };
    let end = SealedEnd { finish_number: game_id.get(), result, moves_hash: game_id.get() };
    let finished = Change::FinishGame(FinishedGame {
        game_id,
        finish_number: end.finish_number,
        result,
        ply_count: PLIES,
        sample_count: PLIES - 1,
        opening_hash: 1,
        final_hash: 2,
        moves_hash: end.moves_hash,
        checksum: Some(record_checksum(game, &plies, end)),
    });
    (std::iter::once(Change::CreateGame(game.clone())).chain(added).collect(), finished)
}

fn play(store: &Store, games: impl IntoIterator<Item = NewGame>) {
    for game in games {
        let (changes, end) = played(&game);
        store.write([changes, vec![end]].concat()).expect("stored");
    }
}

fn thin(store: &Store, numbers: impl IntoIterator<Item = u64>) {
    let changes = numbers.into_iter().map(|number| Change::ThinGame { game_id: GameId::new(number) }).collect();
    store.write(changes).expect("stored");
}

fn thinnable(reader: &Reader, before: u64) -> Vec<u64> {
    reader.thinnable_games(before, 1000).expect("readable").iter().map(|game| game.game_id.get()).collect()
}

fn ids(reader: &Reader) -> Vec<u64> {
    reader.finished_game_ids(GameKind::SelfPlay).expect("readable").iter().map(|game_id| game_id.get()).collect()
}

#[test]
fn a_thinned_game_still_counts_and_has_no_plies() {
    let run_dir = tempfile::tempdir().expect("a directory");
    let store = open(run_dir.path());
    play(&store, (1..=10).map(new_game));
    let reader = store.reader().expect("a reader");
    let counted = |reader: &Reader| {
        let counts = [reader.finished_self_play_count(), reader.last_finish_number(), reader.self_play_count(1)];
        let spans = reader.self_play_between(0, u64::MAX).expect("readable");
        (counts.map(|count| count.expect("readable")), reader.statistics(0, u64::MAX).expect("readable"), spans)
    };
    let before = counted(&reader);
    assert_eq!(
        (reader.oldest_of_newest(4).expect("readable"), reader.oldest_of_newest(11).expect("readable")),
        (Some(7), None)
    );
    assert_eq!(thinnable(&reader, 7), [1, 2, 3, 4, 5, 6]);
    thin(&store, 1..=6);
    assert_eq!((thinnable(&reader, 7), counted(&reader)), (vec![], before));
    assert_eq!(
        (ids(&reader), reader.thinned_game_count(GameKind::SelfPlay).expect("readable")),
        ((7..=10).collect(), 6)
    );
    let game = |number| reader.game(GameId::new(number)).expect("readable").expect("there");
    let thinned = game(3);
    assert_eq!((thinned.is_thinned, thinned.state, thinned.record.plies.len()), (true, GameState::Finished, 0));
    assert!(!game(7).is_thinned && game(7).record.plies.len() == PLIES as usize);
    let newest: Vec<u64> =
        reader.newest_self_play(|_| false).expect("readable").iter().map(|span| span.finish_number).collect();
    assert_eq!(newest, (7..=10).collect::<Vec<_>>(), "what a buffer is filled from");
    let start = |number| reader.self_play_game_finished_by(number).expect("readable").map(|game| game.finish_number);
    assert_eq!((start(6), start(8)), (None, Some(8)), "no game begins in one without plies");
    assert_eq!(reader.damages().expect("readable"), Vec::<String>::new());
    assert_eq!(reader.half_thinned_games(9).expect("readable"), []);
}

#[test]
fn games_that_are_needed_keep_their_plies() {
    let run_dir = tempfile::tempdir().expect("a directory");
    let store = open(run_dir.path());
    let network = |number: u32| {
        let file = format!("network-{number}.safetensors");
        Change::AddNetwork(NewNetwork { network_id: network_id(number), file, sha256: "00".into(), training_step: 7 })
    };
    store.write(vec![network(1), Change::Promote { network_id: network_id(1) }, network(2)]).expect("stored");
    let yardstick = NewGame { opponent_id: Some(network_id(1)), ..gate_game(3, 2) };
    play(&store, [new_game(1), gate_game(2, 2), yardstick, new_game(4)]);
    for game in [new_game(5), new_game(6), gate_game(7, 2)] {
        store.write(played(&game).0).expect("an open game");
    }
    let quarantine = Change::QuarantineGame { game_id: GameId::new(6), reason: "test".into() };
    store.write(vec![quarantine]).expect("stored");
    play(&store, [new_game(8)]);
    let reader = store.reader().expect("a reader");
    assert_eq!(thinnable(&reader, 8), [1, 4, 3], "no gate that goes on, no open game, nothing in quarantine");
    let plies_of = |number| reader.game(GameId::new(number)).expect("readable").expect("there").record.plies.len();
    // What was chosen may have changed by the time it is removed.
    thin(&store, [2, 5, 6, 7]);
    assert_eq!([2, 5, 6, 7].map(plies_of), [PLIES as usize; 4]);
    store.write(vec![Change::Reject { network_id: network_id(2) }]).expect("the gate is decided");
    assert_eq!(thinnable(&reader, 8), [1, 4, 2, 3, 7], "its games, and the one that was abandoned");
    thin(&store, thinnable(&reader, 8));
    assert_eq!([1, 2, 3, 4, 7].map(plies_of), [0; 5]);
    assert_eq!([5, 6, 8].map(plies_of), [PLIES as usize; 3]);
    assert_eq!(reader.gate_score(network_id(2)).expect("readable").game_count(), 1);
    assert_eq!(reader.yardstick_scores().expect("readable").len(), 1);
}

#[test]
fn a_kill_between_any_two_steps_leaves_whole_games() {
    let run_dir = tempfile::tempdir().expect("a directory");
    let store = open(run_dir.path());
    play(&store, (1..=12).map(new_game));
    for step in 0..6 {
        let killed = crash_copy(run_dir.path());
        let reader = Reader::of_run(killed.path()).expect("a reader");
        assert_eq!(ids(&reader), (2 * step + 1..=12).collect::<Vec<_>>());
        for number in 1..=12 {
            let game = reader.game(GameId::new(number)).expect("whole").expect("there");
            assert_eq!(game.record.plies.len(), if game.is_thinned { 0 } else { PLIES as usize });
        }
        assert_eq!(
            (reader.damages().expect("readable"), reader.half_thinned_games(9).expect("readable")),
            (vec![], vec![])
        );
        thin(&store, [2 * step + 1, 2 * step + 2]);
    }
    let database = Connection::open(run_dir.path().join("alveare.db")).expect("it opens");
    database.execute("INSERT INTO plies SELECT 1, 0, 'b2', NULL, 0.0, 0, 0", []).expect("half a game");
    assert_eq!(store.reader().expect("a reader").half_thinned_games(9).expect("readable"), [GameId::new(1)]);
}

#[test]
fn the_file_does_not_grow_while_as_much_is_removed_as_comes_in() {
    let run_dir = tempfile::tempdir().expect("a directory");
    let store = open(run_dir.path());
    let pages = || {
        let database = Connection::open(run_dir.path().join("alveare.db")).expect("it opens");
        database.pragma_query_value(None, "page_count", |row| row.get::<_, i64>(0)).expect("a count")
    };
    let (kept, all) = (60, 600);
    play(&store, (1..=kept).map(new_game));
    let before = pages();
    for number in kept + 1..=all {
        play(&store, [new_game(number)]);
        thin(&store, [number - kept]);
    }
    // Ten times as many games: their rows remain, a two hundredth of the plies.
    assert!(pages() < 2 * before, "{} pages, {before} with {kept} games", pages());
    assert_eq!(ids(&store.reader().expect("a reader")).len() as u64, kept);
}

#[test]
fn a_store_of_schema_7_is_brought_up_to_date() {
    let run_dir = tempfile::tempdir().expect("a directory");
    let store = open(run_dir.path());
    play(&store, (1..=3).map(new_game));
    drop(store);
    let database = Connection::open(run_dir.path().join("alveare.db")).expect("it opens");
    database
        .execute_batch(
            "DROP INDEX games_with_plies; ALTER TABLE games DROP COLUMN is_thinned;
             ALTER TABLE games DROP COLUMN resignation; PRAGMA user_version = 7",
        )
        .expect("schema 7");
    drop(database);
    let reader = Reader::of_run(run_dir.path()).expect("a reader");
    let is_kept =
        |game: Result<Option<store::StoredGame>, StoreError>| !game.expect("whole").expect("there").is_thinned;
    assert!(is_kept(reader.game(GameId::new(1))) && ids(&reader) == [1, 2, 3], "read as it is");
    assert_eq!(reader.thinned_game_count(GameKind::SelfPlay).expect("readable"), 0);
    let store = open(run_dir.path());
    thin(&store, [1]);
    assert_eq!(ids(&store.reader().expect("a reader")), [2, 3]);
}

//! The store: what is acknowledged is there after a crash, and what contradicts itself is refused.

use fixtures::{crash_copy, network_id, run_row};
use rusqlite::Connection;
use shared::game::{Outcome, Side};
use shared::gate::GateScore;
use shared::ids::{GameId, Generation};
use shared::record::PlyRecord;
use store::{
    Change, CheckpointRow, FinishedGame, GameKind, GameState, IterationCost, IterationRow, IterationState, MetricRow,
    NetworkState, NewGame, NewNetwork, Reader, RunRow, Store, StoreError, StoredResult, YardstickScore,
};

fn open(run_dir: &std::path::Path) -> Store {
    Store::open(run_dir, &run_row()).expect("the store opens")
}

fn network(number: u32) -> NewNetwork {
    let file = format!("network-{number}.safetensors");
    NewNetwork { network_id: network_id(number), file, sha256: "00".into(), training_step: 7 }
}

fn game(number: u64) -> NewGame {
    NewGame {
        opening: vec!["b2".into(), "a1".into()],
        ..NewGame::self_play(GameId::new(number), 1, u64::MAX - number, "{}".into())
    }
}

fn ply(number: u64, ply: u32, move_text: &str) -> Change {
    let game_id = GameId::new(number);
    Change::AddPly { game_id, ply, record: PlyRecord { move_text: move_text.into(), ..PlyRecord::default() } }
}

#[test]
fn what_is_acknowledged_is_there_after_a_crash() {
    let run_dir = tempfile::tempdir().expect("a directory");
    let store = open(run_dir.path());
    store.write(vec![Change::CreateGame(game(5)), ply(5, 2, "c3")]).expect("stored");
    let after = crash_copy(run_dir.path());
    let reader = open(after.path()).reader().expect("a reader");
    let stored = reader.game(GameId::new(5)).expect("readable").expect("there");
    assert_eq!((stored.game, stored.state), (game(5), GameState::Open));
    let moves: Vec<&str> = stored.record.plies.iter().map(|ply| ply.move_text.as_str()).collect();
    assert_eq!((moves.as_slice(), stored.record.opening_ply_count), (&["b2", "a1", "c3"][..], 2));
}

#[test]
fn a_run_directory_has_one_learner() {
    let run_dir = tempfile::tempdir().expect("a directory");
    let first = open(run_dir.path());
    let second = Store::open(run_dir.path(), &run_row());
    assert!(matches!(second, Err(StoreError::Locked { .. })), "{second:?}");
    drop(first);
    open(run_dir.path());
}

#[test]
fn a_run_directory_has_one_learner_though_its_lock_file_is_deleted() {
    let run_dir = tempfile::tempdir().expect("a directory");
    let _first = open(run_dir.path());
    std::fs::remove_file(run_dir.path().join("alveare.lock")).expect("deleted");
    let second = Store::open(run_dir.path(), &run_row());
    assert!(matches!(second, Err(StoreError::Locked { .. })), "{second:?}");
}

#[test]
fn nothing_is_acknowledged_once_the_database_is_gone() {
    let base = tempfile::tempdir().expect("a directory");
    let (run_dir, aside) = (base.path().join("run"), base.path().join("aside"));
    let store = open(&run_dir);
    store.write(vec![Change::CreateGame(game(5))]).expect("stored");
    assert_eq!(store.problem().get(), None);
    std::fs::rename(&run_dir, &aside).expect("moved");
    let error = store.write(vec![ply(5, 2, "c3")]).expect_err("the file is elsewhere");
    assert!(matches!(error, StoreError::FileGone { .. }) && error.is_retryable(), "{error}");
    assert!(store.problem().get().expect("a problem").contains("alveare.db was deleted or replaced"));
    // Put back, the run goes on, and what was refused was not stored.
    std::fs::rename(&aside, &run_dir).expect("moved back");
    store.write(vec![ply(5, 2, "c3")]).expect("stored");
    assert_eq!(store.problem().get(), None);
    for file in ["alveare.db-wal", "alveare.db"] {
        std::fs::copy(run_dir.join(file), base.path().join("copy")).expect("copied");
        std::fs::remove_file(run_dir.join(file)).expect("deleted");
        assert!(matches!(store.write(vec![ply(5, 3, "a3")]), Err(StoreError::FileGone { .. })), "{file}");
        std::fs::copy(base.path().join("copy"), run_dir.join(file)).expect("another file");
        assert!(matches!(store.write(vec![ply(5, 3, "a3")]), Err(StoreError::FileGone { .. })), "a copy of {file}");
    }
}

#[test]
fn a_clean_stop_leaves_nothing_in_the_log() {
    let run_dir = tempfile::tempdir().expect("a directory");
    let store = open(run_dir.path());
    let reader = store.reader().expect("a reader");
    store.write(vec![Change::CreateGame(game(5)), ply(5, 2, "c3")]).expect("stored");
    let log = run_dir.path().join("alveare.db-wal");
    assert!(log.metadata().expect("a log").len() > 0);
    drop(store);
    assert_eq!(log.metadata().map_or(0, |metadata| metadata.len()), 0, "though a reader is still there");
    drop(reader);
}

#[test]
fn the_games_of_a_worker_can_be_taken_out_and_put_back() {
    let run_dir = tempfile::tempdir().expect("a directory");
    let store = open(run_dir.path());
    let lease = |number, worker_id: &str| Change::LeaseGame {
        game_id: GameId::new(number),
        worker_id: worker_id.into(),
        ply: 2,
    };
    let mut changes: Vec<Change> = (5..8).map(|number| Change::CreateGame(game(number))).collect();
    changes.extend([lease(5, "bad"), lease(6, "good"), lease(7, "good"), lease(7, "bad"), lease(7, "good")]);
    changes.push(Change::FinishGame(FinishedGame {
        game_id: GameId::new(5),
        finish_number: 1,
        result: StoredResult { outcome: Outcome::Draw, is_cut_off: false, resignation: None },
        ply_count: 2,
        sample_count: 0,
        opening_hash: 0,
        final_hash: 0,
        moves_hash: 0,
        checksum: None,
    }));
    store.write(changes).expect("stored");
    let reader = store.reader().expect("a reader");
    let states = || [5, 6, 7].map(|number| reader.game(GameId::new(number)).expect("readable").expect("there").state);
    let before = [GameState::Finished, GameState::Open, GameState::Open];
    assert_eq!(states(), before);
    assert_eq!(reader.open_game_holders().expect("readable").get(&GameId::new(7)).map(String::as_str), Some("good"));
    store.write(vec![Change::SetAside { worker_id: "bad".into() }]).expect("set aside");
    assert_eq!(states(), [GameState::Quarantined, GameState::Open, GameState::Quarantined]);
    assert_eq!(
        (reader.last_finish_number().expect("readable"), reader.finished_self_play_count().expect("readable")),
        (1, 0)
    );
    let count = reader.set_aside_count("bad").expect("readable");
    assert_eq!((count.self_play_count, count.gate_count, count.open_count), (1, 0, 1));
    store.write(vec![Change::SetAside { worker_id: "bad".into() }]).expect("again");
    store.write(vec![Change::PutBack { worker_id: "bad".into() }]).expect("put back");
    assert_eq!(states(), before);
    assert_eq!(reader.finished_self_play_count().expect("readable"), 1);
}

#[test]
fn a_store_of_before_games_had_starts_is_read_and_goes_on() {
    let run_dir = tempfile::tempdir().expect("a directory");
    open(run_dir.path()).write(vec![Change::CreateGame(game(5)), ply(5, 2, "c3")]).expect("stored");
    let database = Connection::open(run_dir.path().join("alveare.db")).expect("the database opens");
    database
        .execute_batch("ALTER TABLE games DROP COLUMN start_position; ALTER TABLE runs DROP COLUMN start_network")
        .expect("a table of schema 1");
    drop_costs_and_yardsticks(&database);
    database.pragma_update(None, "user_version", 1).expect("schema 1");
    let stored =
        || Reader::of_run(run_dir.path()).expect("a reader").game(GameId::new(5)).expect("readable").expect("there");
    assert_eq!(stored().game, game(5), "read as it is");
    let started = NewGame { start: Some("B:W5,6:BK1".into()), ..game(6) };
    open(run_dir.path()).write(vec![Change::CreateGame(started.clone())]).expect("stored");
    assert_eq!((stored().game, stored().record.plies.len()), (game(5), 3), "what was there is still there");
    let reader = Reader::of_run(run_dir.path()).expect("a reader");
    let kept = reader.game(GameId::new(6)).expect("readable").expect("there");
    assert_eq!((&kept.game, &kept.record.start), (&started, &started.start));
}

/// Makes iterations and games those of schema 3.
fn drop_costs_and_yardsticks(database: &Connection) {
    database.execute_batch("DROP INDEX games_with_plies").expect("an index of schema 8");
    for column in ["opponent_id", "checksum", "is_thinned", "resignation"] {
        database.execute_batch(&format!("ALTER TABLE games DROP COLUMN {column}")).expect("it was there");
    }
    for column in ["evaluation_count", "training_sample_count", "flop"] {
        database.execute_batch(&format!("ALTER TABLE iterations DROP COLUMN {column}")).expect("it was there");
    }
}

#[test]
fn a_store_of_before_costs_were_counted_goes_on_and_says_that_they_are_unknown() {
    let run_dir = tempfile::tempdir().expect("a directory");
    let uncounted = IterationRow { cost: None, state: IterationState::Promoted, ..IterationRow::new(1, 0) };
    open(run_dir.path()).write(vec![Change::PutIteration(uncounted.clone())]).expect("stored");
    let database = Connection::open(run_dir.path().join("alveare.db")).expect("the database opens");
    drop_costs_and_yardsticks(&database);
    database.pragma_update(None, "user_version", 3).expect("schema 3");
    drop(database);
    let reader = || Reader::of_run(run_dir.path()).expect("a reader");
    let last = || reader().last_iteration().expect("readable");
    assert_eq!((last(), reader().run_cost().expect("readable")), (Some(uncounted.clone()), None), "read as it is");

    let store = open(run_dir.path());
    assert_eq!((last(), reader().run_cost().expect("readable")), (Some(uncounted), None), "what was there is there");
    let cost = IterationCost { evaluation_count: 1 << 40, training_sample_count: 64, flop: 1.5e20 };
    let counted = IterationRow { cost: Some(cost), ..IterationRow::new(2, 10) };
    store.write(vec![Change::PutIteration(counted.clone())]).expect("stored");
    assert_eq!(last(), Some(counted));
    assert_eq!(reader().run_cost().expect("readable"), None, "a part of it is unknown");
}

#[test]
fn a_later_schema_is_refused_in_words() {
    let run_dir = tempfile::tempdir().expect("a directory");
    drop(open(run_dir.path()));
    let connection = rusqlite::Connection::open(run_dir.path().join("alveare.db")).expect("opens");
    connection.pragma_update(None, "user_version", 99).expect("set");
    drop(connection);
    let error = Store::open(run_dir.path(), &run_row()).expect_err("too new");
    assert_eq!(error.to_string(), "the store has schema version 99, this program knows up to 9: use a newer program");
}

#[test]
fn a_run_keeps_its_game_and_takes_a_new_config() {
    let run_dir = tempfile::tempdir().expect("a directory");
    drop(open(run_dir.path()));
    let other = RunRow { game: r#"{"name":"hive"}"#.into(), ..run_row() };
    let error = Store::open(run_dir.path(), &other).expect_err("another game");
    assert!(matches!(error, StoreError::OtherGame { .. }), "{error}");
    let again = RunRow {
        run_id: "not this".into(),
        game: r#"{ "name": "tictactoe" }"#.into(),
        config: r#"{"a":1}"#.into(),
        seed: 5,
        ..run_row()
    };
    let store = Store::open(run_dir.path(), &again).expect("the same game");
    assert_eq!(store.run(), &RunRow { config: r#"{"a":1}"#.into(), ..run_row() });
    assert_eq!(&store.reader().expect("a reader").run().expect("a run"), store.run());
}

#[test]
fn changes_of_one_submission_are_made_together_or_not_at_all() {
    let run_dir = tempfile::tempdir().expect("a directory");
    let store = open(run_dir.path());
    let acks: Vec<_> = [
        vec![Change::CreateGame(game(1))],
        vec![Change::CreateGame(game(2)), ply(2, 2, "c3"), ply(2, 2, "c2")],
        vec![Change::CreateGame(game(3))],
    ]
    .map(|changes| store.submit(changes).expect("queued"))
    .into();
    let results: Vec<_> = acks.into_iter().map(store::Ack::wait).collect();
    assert!(matches!(results.as_slice(), [Ok(()), Err(StoreError::Refused { .. }), Ok(())]), "{results:?}");
    assert_eq!(store.reader().expect("a reader").open_game_ids().expect("readable"), [1, 3].map(GameId::new));
}

#[test]
fn a_promotion_is_one_step_and_the_generation_only_rises() {
    let run_dir = tempfile::tempdir().expect("a directory");
    let store = open(run_dir.path());
    store.write((1..=3).map(|id| Change::AddNetwork(network(id))).collect()).expect("stored");
    let mut gate_game =
        NewGame { kind: GameKind::Gate, candidate_id: Some(network_id(2)), pair_index: Some(0), ..game(9) };
    gate_game.white_network = network_id(2).into();
    store.write(vec![Change::CreateGame(gate_game)]).expect("stored");
    store.write(vec![Change::Promote { network_id: network_id(1) }]).expect("the first network reigns");
    store.write(vec![Change::Promote { network_id: network_id(2) }]).expect("the second follows");
    store.write(vec![Change::Reject { network_id: network_id(3) }]).expect("the third does not");
    // A former best cannot come back, and the failed promotion takes nothing away from the best.
    for network_id in [1, 2, 3, 4].map(network_id) {
        let error = store.write(vec![Change::Promote { network_id }]).expect_err("no candidate");
        assert!(matches!(error, StoreError::Refused { .. }), "{error}");
    }
    let after = crash_copy(run_dir.path());
    let reader = open(after.path()).reader().expect("a reader");
    let states: Vec<_> = reader.networks().expect("readable").iter().map(|row| (row.state, row.generation)).collect();
    assert_eq!(
        states,
        [
            (NetworkState::FormerBest, Some(Generation::new(0))),
            (NetworkState::Best, Some(Generation::new(1))),
            (NetworkState::Rejected, None)
        ]
    );
    assert_eq!(reader.best_network().expect("readable").map(|row| row.network), Some(network(2)));
    assert_eq!(reader.game(GameId::new(9)).expect("readable").map(|game| game.state), Some(GameState::Abandoned));
    let connection = rusqlite::Connection::open(run_dir.path().join("alveare.db")).expect("opens");
    for sql in [
        "UPDATE networks SET generation = 0 WHERE network_id = 2",
        "UPDATE networks SET generation = 0, state = 'former_best' WHERE network_id = 3",
        "UPDATE networks SET state = 'best' WHERE network_id = 1",
    ] {
        assert!(connection.execute(sql, []).is_err(), "{sql}");
    }
}

#[test]
fn yardstick_games_belong_to_no_gate_and_outlive_its_verdict() {
    let run_dir = tempfile::tempdir().expect("a directory");
    let store = open(run_dir.path());
    store.write((1..=3).map(|id| Change::AddNetwork(network(id))).collect()).expect("stored");
    store.write([1, 2].map(|id| Change::Promote { network_id: network_id(id) }).into()).expect("promoted");
    let gate = |game_id, candidate, opponent: Option<u32>, white| NewGame {
        kind: GameKind::Gate,
        pair_index: Some(0),
        candidate_id: Some(network_id(candidate)),
        opponent_id: opponent.map(network_id),
        white_network: network_id(white).into(),
        black_network: network_id(1).into(),
        ..game(game_id)
    };
    let games = [gate(1, 3, None, 3), gate(2, 2, Some(1), 2), gate(3, 2, Some(1), 1), gate(4, 3, Some(1), 3)];
    store.write(games.map(Change::CreateGame).into()).expect("stored");
    let finish = |number, outcome| {
        let result = StoredResult { outcome, is_cut_off: false, resignation: None };
        let (game_id, finish_number) = (GameId::new(number), number);
        let (opening_hash, final_hash, moves_hash) = (1, 2, number);
        Change::FinishGame(FinishedGame {
            game_id,
            finish_number,
            result,
            ply_count: 9,
            sample_count: 0,
            opening_hash,
            final_hash,
            moves_hash,
            checksum: None,
        })
    };
    store.write(vec![finish(2, Outcome::Win(Side::White)), finish(3, Outcome::Draw)]).expect("stored");
    store.write(vec![Change::Reject { network_id: network_id(3) }]).expect("rejected");
    let reader = store.reader().expect("a reader");
    let state = |number| reader.game(GameId::new(number)).expect("readable").expect("there").state;
    assert_eq!((state(1), state(4)), (GameState::Abandoned, GameState::Open), "only the gate is over");
    assert_eq!(reader.gate_games(network_id(2)).expect("readable"), []);
    assert_eq!(reader.gate_games(network_id(3)).expect("readable").len(), 1);
    assert_eq!(reader.open_yardstick_count().expect("readable"), 1);
    assert_eq!(reader.yardstick_game_count(network_id(2), network_id(1)).expect("readable"), 2);
    let expected = YardstickScore {
        network_id: network_id(2),
        generation: Generation::new(1),
        opponent_id: network_id(1),
        score: GateScore { wins: 1, draws: 1, losses: 0 },
    };
    assert_eq!(reader.yardstick_scores().expect("readable"), [expected]);
}

#[test]
fn a_full_disk_is_an_error_and_not_the_end() {
    let run_dir = tempfile::tempdir().expect("a directory");
    let store = open(run_dir.path());
    store.limit_pages(60).expect("bounded");
    let big = |game_id| NewGame { settings: "x".repeat(50_000), ..game(game_id) };
    let failed: Vec<u64> =
        (1..=10).filter(|game_id| store.write(vec![Change::CreateGame(big(*game_id))]).is_err()).collect();
    assert!(!failed.is_empty() && failed[0] > 1, "{failed:?}");
    let error = store.write(vec![Change::CreateGame(big(failed[0]))]).expect_err("full");
    assert!(error.is_retryable() && error.to_string().contains("full"), "{error}");
    store.limit_pages(100_000).expect("there is room again");
    for game_id in &failed {
        store.write(vec![Change::CreateGame(big(*game_id))]).expect("the same call works now");
    }
    let after = crash_copy(run_dir.path());
    let game_ids = open(after.path()).reader().expect("a reader").open_game_ids().expect("readable");
    assert_eq!(game_ids, (1..=10).map(GameId::new).collect::<Vec<_>>());
}

#[test]
fn many_threads_share_commits() {
    let run_dir = tempfile::tempdir().expect("a directory");
    let store = open(run_dir.path());
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let store = &store;
            scope.spawn(move || {
                for number in 0..25 {
                    store.write(vec![Change::CreateGame(game(1 + thread * 25 + number))]).expect("stored");
                }
            });
        }
    });
    let game_ids = store.reader().expect("a reader").open_game_ids().expect("readable");
    assert_eq!(game_ids, (1..=200).map(GameId::new).collect::<Vec<_>>());
}

#[test]
fn iterations_checkpoints_and_metrics_are_kept() {
    let run_dir = tempfile::tempdir().expect("a directory");
    let store = open(run_dir.path());
    let mut iteration = IterationRow { state: IterationState::Training, ..IterationRow::new(3, 0) };
    store.write(vec![Change::PutIteration(iteration.clone())]).expect("stored");
    iteration.window_finish_number = Some(256);
    iteration.training_step_end = Some(1000);
    iteration.cost = Some(IterationCost { evaluation_count: 5, training_sample_count: 7, flop: 0.5 });
    iteration.state = IterationState::Promoted;
    let checkpoint =
        |step| CheckpointRow { training_step: step, file: format!("{step}.ck"), sha256: "ab".into(), iteration: 3 };
    let metric = |value| MetricRow { name: "loss".into(), value, step: 5 };
    store
        .write(vec![
            Change::PutIteration(iteration.clone()),
            Change::PutCheckpoint(checkpoint(500)),
            Change::PutCheckpoint(checkpoint(1000)),
            Change::RemoveCheckpoint { training_step: 500 },
            Change::AddMetric(metric(1.5)),
            Change::AddMetric(metric(f64::NAN)),
        ])
        .expect("stored");
    let reader = store.reader().expect("a reader");
    assert_eq!(reader.last_iteration().expect("readable"), Some(iteration));
    assert_eq!(reader.checkpoints().expect("readable"), [checkpoint(1000)]);
    let connection = rusqlite::Connection::open(run_dir.path().join("alveare.db")).expect("opens");
    let counts: (u32, u32) = connection
        .query_row("SELECT count(*), count(value) FROM metrics", [], |row| Ok((row.get(0)?, row.get(1)?)))
        .expect("readable");
    assert_eq!(counts, (2, 1));
    assert_eq!(connection.execute("UPDATE iterations SET state = 'arena'", []).expect("tampered"), 1);
    let error = reader.last_iteration().expect_err("no such state");
    assert!(matches!(error, StoreError::UnknownValue { what: "state of an iteration", .. }), "{error:?}");
    assert_eq!(
        error.to_string(),
        "the store holds the state of an iteration \"arena\", which this version does not know"
    );
}

#[test]
fn the_questions_of_the_documentation_can_be_asked() {
    let run_dir = tempfile::tempdir().expect("a directory");
    let store = open(run_dir.path());
    store.write(vec![Change::CreateGame(game(1)), ply(1, 2, "c3")]).expect("stored");
    let connection = rusqlite::Connection::open(run_dir.path().join("alveare.db")).expect("opens");
    let page = include_str!("../../docs/store.md");
    let block = page.split("```sql").nth(1).and_then(|rest| rest.split("```").next()).expect("a block of questions");
    let questions: Vec<&str> = block.split_inclusive(';').filter(|question| question.contains("SELECT")).collect();
    assert_eq!(questions.len(), 5);
    let rows: Vec<usize> = questions
        .iter()
        .map(|question| {
            let mut statement = connection.prepare(question).unwrap_or_else(|error| panic!("{question}: {error}"));
            let mut rows = statement.query([]).expect("an answer");
            let mut count = 0;
            while rows.next().expect("a row").is_some() {
                count += 1;
            }
            count
        })
        .collect();
    assert_eq!(rows, [0, 0, 1, 3, 0]);
}

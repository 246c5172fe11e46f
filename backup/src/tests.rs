//! Backups of small runs: what comes back is what was there, whatever fails on the way.

use std::fmt;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use futures_util::stream::BoxStream;
use futures_util::{StreamExt, stream};
use object_store::memory::InMemory;
use object_store::path::Path as ObjectPath;
use object_store::{
    CopyOptions, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta, ObjectStore, ObjectStoreExt,
    PutMultipartOptions, PutOptions, PutPayload, PutResult, Result as StoreResult,
};
use rusqlite::Connection;
use shared::ids::{GameId, NetworkId};
use store::files::{RunFiles, check_sha256, sha256_hex};
use store::{Change, CheckpointRow, NewGame, NewNetwork, Reader, RunRow, Store};
use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;

use super::*;

fn tokio() -> Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
}

/// A run with made-up weights.
struct TestRun {
    dir: tempfile::TempDir,
    store: Store,
    files: RunFiles,
}

impl TestRun {
    fn new(run_id: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let files = RunFiles::new(dir.path());
        files.create().unwrap();
        let row = RunRow {
            run_id: run_id.into(),
            created_at: "2026-01-01T00:00:00Z".into(),
            game: r#"{"name":"tictactoe"}"#.into(),
            config: "{}".into(),
            seed: 1,
            start_network: None,
        };
        let run = Self { store: Store::open(dir.path(), &row).unwrap(), dir, files };
        run.promote(1, 0);
        run
    }

    /// Makes a network and a checkpoint after so many steps, and promotes it; the checkpoint before it is deleted.
    fn promote(&self, number: u32, training_step: u64) {
        let network_id = NetworkId::new(number).unwrap();
        let weights = |seed: u64| (0..300_000u64).map(|byte| ((byte * (seed + 3)) >> 7) as u8).collect::<Vec<_>>();
        let (network, checkpoint) = (weights(u64::from(number)), weights(training_step + 1000));
        std::fs::write(self.files.network(network_id), &network).unwrap();
        std::fs::write(self.files.checkpoint(training_step), &checkpoint).unwrap();
        let file = RunFiles::network_path(network_id);
        let mut changes = vec![
            Change::AddNetwork(NewNetwork { network_id, file, sha256: sha256_hex(&network), training_step }),
            Change::Promote { network_id },
            Change::PutCheckpoint(CheckpointRow {
                training_step,
                file: RunFiles::checkpoint_name(training_step),
                sha256: sha256_hex(&checkpoint),
                iteration: number,
            }),
        ];
        for old in self.store.reader().unwrap().checkpoints().unwrap() {
            changes.push(Change::RemoveCheckpoint { training_step: old.training_step });
            std::fs::remove_file(self.dir.path().join(old.file)).unwrap();
        }
        self.store.write(changes).unwrap();
    }

    fn add_game(&self, number: u64) {
        self.store.write(vec![new_game(number, 100)]).unwrap();
    }

    fn copy(&self) -> LocalCopy {
        LocalCopy::make(self.dir.path(), &CancellationToken::new()).unwrap()
    }
}

/// Returns a new game whose row has about so many bytes.
fn new_game(number: u64, byte_count: usize) -> Change {
    Change::CreateGame(NewGame {
        opening: vec!["b2".into()],
        ..NewGame::self_play(GameId::new(number), 1, number, format!("{number:byte_count$}"))
    })
}

fn place(store: &Arc<dyn ObjectStore>) -> BackupPlace {
    BackupPlace::of_store(Arc::clone(store), "memory")
}

async fn upload(uploader: &mut Uploader, run: &TestRun) -> Result<Uploaded, BackupError> {
    uploader.upload(&run.copy(), SystemTime::now(), &CancellationToken::new()).await
}

/// Restores the newest backup, and checks that it is whole. Returns the number of its games.
async fn restore_whole(place: &BackupPlace) -> (RunFacts, i64) {
    let dir = tempfile::tempdir().unwrap();
    let backup = find(place, None).await.unwrap();
    let facts = restore(place, backup, dir.path(), |_, _| {}).await.unwrap();
    (facts, check_whole(dir.path()))
}

fn check_whole(dir: &Path) -> i64 {
    let database = Connection::open(dir.join("alveare.db")).unwrap();
    let verdict: String = database.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(verdict, "ok");
    let reader = Reader::of_run(dir).unwrap();
    for network in reader.networks().unwrap() {
        check_sha256(&dir.join(network.network.file), &network.network.sha256).unwrap();
    }
    let checkpoints = reader.checkpoints().unwrap();
    check_sha256(&dir.join(&checkpoints[0].file), &checkpoints[0].sha256).unwrap();
    database.query_row("SELECT count(*) FROM games", [], |row| row.get(0)).unwrap()
}

#[test]
fn what_comes_back_is_what_was_there_and_only_what_is_new_is_sent() {
    let (tokio, run) = (tokio(), TestRun::new("a"));
    let folder = tempfile::tempdir().unwrap();
    let url: BackupUrl = folder.path().join("made/by/itself").to_str().unwrap().parse().unwrap();
    assert!(matches!(BackupPlace::open(&url, Access::Read), Err(BackupError::NoFolder(_))));
    let place = BackupPlace::open(&url, Access::Write).unwrap();
    tokio.block_on(async {
        assert!(matches!(find(&place, None).await, Err(BackupError::NoBackup { .. })));
        let mut uploader = Uploader::new(place.clone());
        let first = upload(&mut uploader, &run).await.unwrap();
        run.add_game(1);
        run.promote(2, 7);
        let second = upload(&mut uploader, &run).await.unwrap();
        assert_eq!((second.run.generation, second.run.training_step, second.run.best_network_id), (1, 7, 2));
        assert_eq!(restore_whole(&place).await, (second.run.clone(), 1));

        // A learner that starts again knows what is there.
        let mut again = Uploader::new(place.clone());
        let third = upload(&mut again, &run).await.unwrap();
        assert_eq!(third.sent_byte_count, 0, "nothing is new");
        assert_eq!(third.run, second.run);
        assert_eq!(place.backups().await.unwrap(), [first.time, second.time, third.time]);

        let dir = tempfile::tempdir().unwrap();
        let old = find(&place, Some(first.time.get())).await.unwrap();
        let facts = restore(&place, old, dir.path(), |_, _| {}).await.unwrap();
        assert_eq!((facts.generation, check_whole(dir.path())), (0, 0), "the older backup is as it was");
    });
    assert!(!run.dir.path().join(COPY_FOLDER).exists(), "the copy is deleted");
}

#[test]
fn few_new_pages_are_few_new_bytes() {
    let (tokio, run) = (tokio(), TestRun::new("a"));
    let store: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
    run.store.write((1..=20_000).map(|number| new_game(number, 400)).collect()).unwrap();
    let mut uploader = Uploader::new(place(&store));
    let first = tokio.block_on(upload(&mut uploader, &run)).unwrap();
    run.add_game(20_001);
    let second = tokio.block_on(upload(&mut uploader, &run)).unwrap();
    assert!(first.byte_count > 6 << 20, "{first:?}");
    assert!(second.sent_byte_count * 2 < first.sent_byte_count, "{first:?}, then {second:?}");
}

#[test]
fn a_backup_that_is_killed_anywhere_leaves_the_one_before_it() {
    let tokio = tokio();
    for takes_effect in [false, true] {
        let mut operation_count = 0;
        loop {
            let run = TestRun::new("a");
            let memory: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
            let is_done = tokio.block_on(async {
                let before = upload(&mut Uploader::new(place(&memory)), &run).await.unwrap();
                run.add_game(1);
                run.promote(2, 7);
                let failing = Failing::after(operation_count, takes_effect, Arc::clone(&memory));
                let killed: Arc<dyn ObjectStore> = Arc::new(failing);
                let mut uploader = Uploader::new(place(&killed));
                let outcome = upload(&mut uploader, &run).await;
                let thinned = uploader.thin(SystemTime::now() + Duration::from_secs(3 * 60 * 60), 0).await;

                let (facts, game_count) = restore_whole(&place(&memory)).await;
                let found = (facts.generation, game_count);
                match &outcome {
                    Ok(_) => assert_eq!(found, (1, 1)),
                    // A manifest that was written is there, though nobody was told.
                    Err(_) => assert!(found == (0, 0) || (takes_effect && found == (1, 1)), "{found:?}"),
                }
                if found == (0, 0) {
                    assert_eq!(facts, before.run);
                }
                // The next learner makes the backup that failed.
                upload(&mut Uploader::new(place(&memory)), &run).await.unwrap();
                assert_eq!(restore_whole(&place(&memory)).await.0.generation, 1);
                outcome.is_ok() && thinned.is_ok()
            });
            if is_done {
                break;
            }
            operation_count += 1;
        }
        assert!(operation_count > 8, "{operation_count}: the store was used");
    }
}

#[test]
fn what_no_backup_names_is_deleted_and_nothing_else() {
    let (tokio, run) = (tokio(), TestRun::new("a"));
    let store: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
    tokio.block_on(async {
        let mut uploader = Uploader::new(place(&store));
        upload(&mut uploader, &run).await.unwrap();
        run.promote(2, 7);
        upload(&mut uploader, &run).await.unwrap();
        let before = place(&store).chunks().await.unwrap().len();
        uploader.thin(SystemTime::now(), 0).await.unwrap();
        assert_eq!(place(&store).backups().await.unwrap().len(), 2, "all of the last hour");

        let later = SystemTime::now() + Duration::from_secs(48 * 60 * 60);
        let mut again = Uploader::new(place(&store));
        again.thin(later, 0).await.unwrap();
        assert_eq!(place(&store).backups().await.unwrap().len(), 1);
        let after = place(&store).chunks().await.unwrap().len();
        // The first database and the first checkpoint; network 1 is a former best that the second backup names too.
        assert_eq!(before - after, 2);
        assert_eq!(restore_whole(&place(&store)).await.0.generation, 1);
        upload(&mut again, &run).await.unwrap();
        restore_whole(&place(&store)).await;
    });
}

#[test]
fn a_backup_made_while_games_are_written_is_consistent() {
    let (tokio, run) = (tokio(), TestRun::new("a"));
    let (is_done, written) = (AtomicBool::new(false), AtomicI64::new(0));
    let store: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
    std::thread::scope(|scope| {
        let (run, is_done, written) = (&run, &is_done, &written);
        scope.spawn(move || {
            for number in 1.. {
                if is_done.load(Ordering::Relaxed) {
                    return;
                }
                run.add_game(number);
                if number % 20 == 0 {
                    // The trainer deletes the checkpoint that a copy may just be about.
                    run.promote(1 + number as u32 / 20, number);
                }
                written.store(number as i64, Ordering::Release);
            }
        });
        let mut uploader = Uploader::new(place(&store));
        for _ in 0..5 {
            let before = written.load(Ordering::Acquire);
            while written.load(Ordering::Acquire) < before + 15 {
                std::thread::yield_now();
            }
            let least = written.load(Ordering::Acquire);
            tokio.block_on(upload(&mut uploader, run)).unwrap();
            let (_, game_count) = tokio.block_on(restore_whole(&place(&store)));
            assert!(game_count >= least, "{game_count} games, {least} were acknowledged before the backup began");
        }
        is_done.store(true, Ordering::Relaxed);
    });
}

#[test]
fn backups_of_another_run_are_left_alone() {
    let store: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
    let (one, other) = (TestRun::new("one"), TestRun::new("other"));
    tokio().block_on(async {
        upload(&mut Uploader::new(place(&store)), &one).await.unwrap();
        let refused = upload(&mut Uploader::new(place(&store)), &other).await;
        assert!(matches!(refused, Err(BackupError::OtherRun { .. })), "{refused:?}");
        assert_eq!(place(&store).backups().await.unwrap().len(), 1);
    });
}

#[test]
fn a_damaged_or_missing_chunk_is_named_and_no_run_is_made() {
    let run = TestRun::new("a");
    let store: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
    tokio().block_on(async {
        let place = place(&store);
        upload(&mut Uploader::new(place.clone()), &run).await.unwrap();
        let backup = find(&place, None).await.unwrap();
        let dir = tempfile::tempdir().unwrap();
        let chunk = place.chunks().await.unwrap().remove(0);
        let whole = store.get(&chunk.location).await.unwrap().bytes().await.unwrap();
        store.put(&chunk.location, Bytes::from_static(b"damaged").into()).await.unwrap();
        let error = restore(&place, backup, dir.path(), |_, _| {}).await.unwrap_err();
        assert!(error.to_string().contains("is damaged: choose an older backup"), "{error}");
        store.delete(&chunk.location).await.unwrap();
        let error = restore(&place, backup, dir.path(), |_, _| {}).await.unwrap_err();
        assert!(error.to_string().contains("is missing: choose an older backup"), "{error}");
        assert!(!has_run(dir.path()));

        // What a restore that was cut short left is no obstacle, even if it was moving files.
        std::fs::create_dir_all(dir.path().join("networks")).unwrap();
        std::fs::write(dir.path().join("networks/network-000001.safetensors"), "").unwrap();
        store.put(&chunk.location, whole.into()).await.unwrap();
        restore(&place, backup, dir.path(), |_, _| {}).await.unwrap();
        check_whole(dir.path());
        let error = restore(&place, backup, dir.path(), |_, _| {}).await.unwrap_err();
        assert!(matches!(error, BackupError::NotEmpty { .. }), "{error}");
    });
}

#[test]
fn a_stop_ends_a_backup_and_leaves_no_manifest() {
    let run = TestRun::new("a");
    let store: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
    let stop = CancellationToken::new();
    let copy = run.copy();
    stop.cancel();
    tokio().block_on(async {
        let stopped = Uploader::new(place(&store)).upload(&copy, SystemTime::now(), &stop).await;
        assert!(matches!(stopped, Err(BackupError::Stopped)));
        assert!(place(&store).backups().await.unwrap().is_empty());
    });
    assert!(matches!(LocalCopy::make(run.dir.path(), &stop), Err(BackupError::Stopped)));
}

/// A store that fails for good after so many operations, as for a process that was killed.
#[derive(Debug)]
struct Failing {
    left: AtomicI64,
    /// Whether the first operation that fails is done all the same.
    takes_effect: bool,
    inner: Arc<dyn ObjectStore>,
}

impl Failing {
    fn after(operation_count: i64, takes_effect: bool, inner: Arc<dyn ObjectStore>) -> Self {
        Self { left: AtomicI64::new(operation_count), takes_effect, inner }
    }

    /// Whether the operation is done, and whether it succeeds.
    fn count(&self) -> (bool, bool) {
        let left = self.left.fetch_sub(1, Ordering::Relaxed);
        (left > 0 || (left == 0 && self.takes_effect), left > 0)
    }
}

fn killed() -> object_store::Error {
    object_store::Error::Generic { store: "failing", source: "killed".into() }
}

impl fmt::Display for Failing {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("failing")
    }
}

#[async_trait::async_trait]
impl ObjectStore for Failing {
    async fn put_opts(&self, location: &ObjectPath, payload: PutPayload, opts: PutOptions) -> StoreResult<PutResult> {
        let (is_done, succeeds) = self.count();
        let result = if is_done { self.inner.put_opts(location, payload, opts).await } else { Err(killed()) };
        if succeeds { result } else { Err(killed()) }
    }

    async fn put_multipart_opts(
        &self,
        _location: &ObjectPath,
        _opts: PutMultipartOptions,
    ) -> StoreResult<Box<dyn MultipartUpload>> {
        Err(killed())
    }

    async fn get_opts(&self, location: &ObjectPath, options: GetOptions) -> StoreResult<GetResult> {
        if self.count().1 { self.inner.get_opts(location, options).await } else { Err(killed()) }
    }

    async fn get_ranges(&self, location: &ObjectPath, ranges: &[Range<u64>]) -> StoreResult<Vec<Bytes>> {
        if self.count().1 { self.inner.get_ranges(location, ranges).await } else { Err(killed()) }
    }

    fn delete_stream(
        &self,
        locations: BoxStream<'static, StoreResult<ObjectPath>>,
    ) -> BoxStream<'static, StoreResult<ObjectPath>> {
        let (is_done, succeeds) = self.count();
        if !is_done {
            return stream::iter([Err(killed())]).boxed();
        }
        self.inner.delete_stream(locations).map(move |deleted| if succeeds { deleted } else { Err(killed()) }).boxed()
    }

    fn list(&self, prefix: Option<&ObjectPath>) -> BoxStream<'static, StoreResult<ObjectMeta>> {
        if self.count().1 { self.inner.list(prefix) } else { stream::iter([Err(killed())]).boxed() }
    }

    async fn list_with_delimiter(&self, prefix: Option<&ObjectPath>) -> StoreResult<ListResult> {
        if self.count().1 { self.inner.list_with_delimiter(prefix).await } else { Err(killed()) }
    }

    async fn copy_opts(&self, _from: &ObjectPath, _to: &ObjectPath, _options: CopyOptions) -> StoreResult<()> {
        Err(killed())
    }
}

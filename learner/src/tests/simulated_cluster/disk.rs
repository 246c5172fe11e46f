//! The disk: writes in groups as the writer of the store does, fails, is full, and keeps what a kill leaves.
//!
//! A kill leaves the files as they are, but for the transaction under way, of which any part may be there. Where the whole
//! machine goes down and the disk had not synced what it said it had, the end of the write-ahead log is gone or garbled;
//! a database that SQLite brings its log into meanwhile is spared that, since nothing could tell it from a whole one.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rand::RngExt;
use rand_pcg::Pcg64;
use store::files::check_sha256;
use store::simulated::HandWriter;
use store::{Change, DATABASE_FILE, StoreError};

use super::ledger::{Ledger, Rules};
use super::world::{Core, Event, World};

/// The files of the learner and what writes to them.
pub(super) struct Disk {
    folder: PathBuf,
    /// The run directory; another one after each kill.
    pub(super) dir: PathBuf,
    /// The one that the last kill left behind.
    left: Option<PathBuf>,
    number: u32,
    pub(super) hand: Option<HandWriter>,
    /// Submissions that were queued in this life, and those that were answered.
    queued_count: u64,
    pub(super) answered_count: u64,
    full: Full,
    /// Whether the last write to the database failed.
    is_write_failed: bool,
    /// Whether a file waits for room.
    is_file_waiting: bool,
    /// The groups that were committed, if the disk may lose some of them.
    log: Vec<Vec<Vec<Change>>>,
    /// The database when it was opened.
    opened: Vec<u8>,
    expected: Expected,
    /// Everything that was ever written beside the database: a disk that loses the newest changes has old files still.
    pub(super) files: Vec<(PathBuf, Vec<u8>)>,
}

/// What there is no room for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Full {
    /// The database.
    pub(super) store: bool,
    /// Networks and checkpoints.
    pub(super) files: bool,
}

impl Full {
    /// Draws a full disk: what is left suffices for the one or the other, or for neither.
    pub(super) fn draw(random: &mut Pcg64) -> Self {
        let store = random.random_bool(0.6);
        Self { store, files: !store || random.random_bool(0.6) }
    }
}

/// What is to be found in the database at the next start.
enum Expected {
    /// What the ledger says.
    Ledger,
    /// That, or these changes too.
    OrAlso(Vec<Vec<Change>>),
    /// What the ledger said after some transaction.
    AnyBefore,
}

/// The database and its log.
struct Image {
    database: Vec<u8>,
    log: Vec<u8>,
}

/// What becomes of a write.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Fate {
    Written,
    Failed,
    KilledBefore,
    KilledWithin,
    KilledAfter,
}

impl Disk {
    /// Makes an empty disk.
    pub(super) fn new(folder: &Path) -> Self {
        Self {
            folder: folder.to_owned(),
            dir: folder.join("0"),
            left: None,
            number: 0,
            hand: None,
            queued_count: 0,
            answered_count: 0,
            full: Full::default(),
            is_write_failed: false,
            is_file_waiting: false,
            log: Vec::new(),
            opened: Vec::new(),
            expected: Expected::Ledger,
            files: Vec::new(),
        }
    }

    /// Takes the writer of a store that was just opened.
    pub(super) fn open(&mut self, hand: HandWriter) {
        hand.set_full(self.full.store).expect("a limit");
        self.hand = Some(hand);
        (self.is_write_failed, self.is_file_waiting) = (false, false);
        (self.queued_count, self.answered_count) = (0, 0);
        self.opened = fs::read(self.dir.join(DATABASE_FILE)).expect("it was opened");
    }

    /// Writes a file under its temporary name, if there is room.
    ///
    /// # Errors
    /// As on a full disk, where part of the file is left.
    pub(super) fn write_part(&mut self, part: &Path, text: &str) -> std::io::Result<()> {
        self.is_file_waiting = self.full.files;
        if self.full.files {
            fs::write(part, &text[..text.len() / 2])?;
            return Err(std::io::ErrorKind::StorageFull.into());
        }
        fs::write(part, text)
    }

    /// Returns whether somebody waits for the disk, as far as it was tried.
    pub(super) const fn is_waited_for(&self) -> bool {
        self.is_write_failed || self.is_file_waiting
    }

    /// Returns the number of submissions that were queued so far.
    pub(super) fn queued_count(&mut self) -> u64 {
        let waiting = self.waiting_count() as u64;
        self.queued_count = self.answered_count + waiting;
        self.queued_count
    }

    fn waiting_count(&mut self) -> usize {
        self.hand.as_mut().map_or(0, |hand| hand.queued().len())
    }

    fn image(&self) -> Image {
        let read = |suffix: &str| fs::read(self.dir.join(format!("{DATABASE_FILE}{suffix}"))).unwrap_or_default();
        Image { database: read(""), log: read("-wal") }
    }

    /// Leaves the files of a kill in another directory. The writer is gone.
    fn restart_with(&mut self, image: &Image) {
        self.number += 1;
        let dir = self.folder.join(self.number.to_string());
        fs::create_dir(&dir).expect("a new folder");
        fs::write(dir.join(DATABASE_FILE), &image.database).expect("room");
        fs::write(dir.join(format!("{DATABASE_FILE}-wal")), &image.log).expect("room");
        for entry in fs::read_dir(&self.dir).expect("a folder") {
            let name = entry.expect("a file").file_name();
            if !name.to_string_lossy().starts_with("alveare.") {
                fs::rename(self.dir.join(&name), dir.join(&name)).expect("a new name");
            }
        }
        self.hand = None;
        self.left = Some(std::mem::replace(&mut self.dir, dir));
    }

    /// Ends a life: nothing has its files open any more.
    pub(super) fn end_life(&mut self) {
        self.hand = None;
        if let Some(left) = self.left.take() {
            fs::remove_dir_all(left).expect("nobody else uses it");
        }
    }
}

impl World {
    /// Says that something was queued. Returns the number of submissions so far.
    pub(super) fn note_queued(&self) -> u64 {
        let mut disk = self.disk.lock().expect("whole");
        let count = disk.queued_count();
        if count > disk.answered_count {
            let mut core = self.core();
            let latency = core.draw_ms(20);
            core.schedule(latency, Event::Write);
        }
        count
    }

    /// Writes some of what is queued.
    pub(super) fn write_some(&self) {
        let waiting = self.disk.lock().expect("whole").waiting_count();
        if waiting > 0 {
            let count = self.core().random.random_range(1..=waiting);
            self.write_group(count);
        }
    }

    /// Writes all that is queued.
    pub(super) fn write_all(&self) {
        loop {
            let waiting = self.disk.lock().expect("whole").waiting_count();
            if waiting == 0 {
                return;
            }
            self.write_group(waiting);
        }
    }

    fn write_group(&self, count: usize) {
        let fate = self.draw_fate();
        let mut disk = self.disk.lock().expect("whole");
        let Some(hand) = &mut disk.hand else { return };
        let group: Vec<Vec<Change>> = hand.queued().take(count).collect();
        self.core().note(format_args!("write {count}: {fate:?}"));
        match fate {
            Fate::Written | Fate::KilledAfter => {
                let now = self.core().now;
                let results = if fate == Fate::Written { hand.write(count, now) } else { hand.write_unanswered(count) };
                disk.is_write_failed = results.iter().any(Result::is_err);
                self.apply(&disk.dir, &group, &results);
                if results.iter().all(Result::is_ok) && self.plan.faults.lie > 0.0 {
                    disk.log.push(group);
                }
            }
            Fate::Failed => {
                hand.fail(count);
                disk.is_write_failed = true;
                self.core().counts.failed_writes += 1;
            }
            Fate::KilledBefore => {}
            Fate::KilledWithin => {
                let before = disk.image();
                let results = disk.hand.as_mut().map_or_else(Vec::new, |hand| hand.write_unanswered(count));
                let image = self.torn(before, disk.image());
                if results.iter().all(Result::is_ok) {
                    disk.expected = Expected::OrAlso(group);
                }
                return self.kill_with(disk, Some(image), "within a write");
            }
        }
        match fate {
            Fate::KilledBefore => self.kill_with(disk, None, "before a write"),
            Fate::KilledAfter => self.kill_with(disk, None, "after a write"),
            _ => {
                disk.answered_count += count as u64;
                let answered = disk.answered_count;
                drop(disk);
                self.wake_answered(answered);
            }
        }
    }

    fn draw_fate(&self) -> Fate {
        let (faults, mut core) = (&self.plan.faults, self.core());
        if core.goes_wrong(faults.kill_at_write) {
            core.counts.kills_at_write += 1;
            return [Fate::KilledBefore, Fate::KilledWithin, Fate::KilledAfter][core.random.random_range(0..3)];
        }
        if core.goes_wrong(faults.write_error) { Fate::Failed } else { Fate::Written }
    }

    /// Enters what was written into the ledger.
    fn apply(&self, dir: &Path, group: &[Vec<Change>], results: &[Result<(), StoreError>]) {
        let (rules, mut core) = (self.plan.rules(), self.core());
        for (changes, result) in group.iter().zip(results) {
            match result {
                Ok(()) => {
                    core.approve(changes, &rules).unwrap_or_else(|broken| panic!("{broken}, in {changes:?}"));
                    changes.iter().for_each(|change| check_file(dir, change));
                    core.ledger.apply(changes, &rules).unwrap_or_else(|broken| panic!("{broken}, in {changes:?}"));
                }
                Err(error @ StoreError::Refused { .. }) => panic!("{error}: {changes:?}"),
                Err(error) => {
                    core.note(format_args!("not written: {error}"));
                    core.counts.failed_writes += 1;
                }
            }
        }
    }

    /// Returns what a kill within a write leaves: any part of what was added to the log.
    fn torn(&self, before: Image, after: Image) -> Image {
        let is_appended = after.log.len() > before.log.len() && after.log.starts_with(&before.log);
        if !is_appended {
            return after;
        }
        let mut core = self.core();
        let end = core.random.random_range(before.log.len()..=after.log.len());
        let mut log = after.log[..end].to_vec();
        if end > before.log.len() && core.random.random_bool(0.3) {
            let garbled = core.random.random_range(before.log.len()..end);
            log[garbled] ^= 0x5a;
        }
        Image { database: before.database, log }
    }

    /// Kills the learner.
    pub(super) fn kill(&self, when: &str) {
        self.kill_with(self.disk.lock().expect("whole"), None, when);
    }

    fn kill_with(&self, mut disk: std::sync::MutexGuard<'_, Disk>, image: Option<Image>, when: &str) {
        let mut image = image.unwrap_or_else(|| disk.image());
        let mut core = self.core();
        core.counts.kills += 1;
        if core.goes_wrong(self.plan.faults.lie) && image.database == disk.opened && image.log.len() > 32 {
            core.counts.lies += 1;
            let end = core.random.random_range(32..=image.log.len());
            image.log.truncate(end);
            if core.random.random_bool(0.5) {
                let garbled = core.random.random_range(32..=end.max(33)).min(end - 1);
                image.log[garbled] ^= 0xa5;
                // What is after it would come back once a later life writes the same bytes again before it.
                image.log.truncate(garbled + 1);
            }
            if let Expected::OrAlso(group) = std::mem::replace(&mut disk.expected, Expected::AnyBefore) {
                disk.log.push(group);
            }
        }
        core.note(format_args!("killed {when}"));
        core.is_killed = true;
        disk.restart_with(&image);
        drop((core, disk));
        self.stop.lock().expect("whole").cancel();
    }

    /// Makes the disk full, or makes room.
    pub(super) fn set_full(&self, full: Full) {
        let mut disk = self.disk.lock().expect("whole");
        disk.full = full;
        self.core().note(format_args!("disk full: {full:?}"));
        if let Some(hand) = &disk.hand {
            hand.set_full(full.store).expect("a limit");
        }
    }

    /// Checks that the database is what the ledger says, at a start after a kill: also what may be there besides.
    pub(super) fn check_start(&self) {
        let mut disk = self.disk.lock().expect("whole");
        let found = Ledger::read(&disk.dir).expect("a database that can be read");
        let (rules, mut core) = (self.plan.rules(), self.core());
        let apply = |ledger: &mut Ledger, group: &[Vec<Change>]| {
            group.iter().try_for_each(|changes| ledger.apply(changes, &rules)).expect("it was checked before");
        };
        match std::mem::replace(&mut disk.expected, Expected::Ledger) {
            Expected::Ledger => {}
            Expected::OrAlso(group) => {
                if core.ledger != found {
                    for changes in &group {
                        core.approve(changes, &rules).unwrap_or_else(|broken| panic!("{broken}, in {changes:?}"));
                        core.ledger.apply(changes, &rules).unwrap_or_else(|broken| panic!("{broken}, in {changes:?}"));
                    }
                    if self.plan.faults.lie > 0.0 {
                        disk.log.push(group);
                    }
                }
            }
            Expected::AnyBefore => {
                let mut ledger = Ledger::default();
                let mut count = 0;
                while ledger != found {
                    let Some(group) = disk.log.get(count) else {
                        let difference = core.ledger.difference(&found);
                        panic!(
                            "the database is as it was after no transaction, of the last it differs: {difference:?}"
                        );
                    };
                    apply(&mut ledger, group);
                    count += 1;
                }
                core.note(format_args!("{} transactions are lost", disk.log.len() - count));
                disk.log.truncate(count);
                core.promises.retain(&ledger);
                core.training.forget();
                core.ledger = ledger;
                for (name, bytes) in &disk.files {
                    fs::write(disk.dir.join(name), bytes).expect("room");
                }
            }
        }
        if let Some(difference) = core.ledger.difference(&found) {
            panic!("after a restart: {difference}");
        }
        let ledger = core.ledger.clone();
        let now = core.now;
        core.promises.restart(&ledger, now);
        core.checked_gate.restart();
    }

    /// Checks that the database is what the ledger says.
    pub(super) fn check_disk(&self, ledger: &Ledger) {
        let found = Ledger::read(&self.disk.lock().expect("whole").dir).expect("a database that can be read");
        if let Some(difference) = ledger.difference(&found) {
            panic!("at the end: {difference}");
        }
    }

    /// Checks that all files which the store names are whole.
    pub(super) fn check_files(&self, files: &[(String, String)]) {
        let dir = self.disk.lock().expect("whole").dir.clone();
        for (file, sha256) in files {
            check_sha256(&dir.join(file), sha256).unwrap_or_else(|damage| panic!("lost: {damage}"));
        }
    }

    /// Returns when the disk will have written, for those who wait for it.
    pub(super) fn latency(&self) -> Duration {
        self.core().draw_ms(5)
    }
}

impl Core {
    /// Checks what may be written only after something else. Games that go into quarantine are nobody's.
    fn approve(&mut self, changes: &[Change], rules: &Rules) -> Result<(), String> {
        for change in changes {
            self.checked_gate.approve(change, &self.ledger, &rules.gate)?;
            if let Change::QuarantineGame { game_id, .. } = change {
                self.counts.discounted_games += 1;
                self.promises.free(game_id.get());
            }
        }
        Ok(())
    }
}

/// Checks that a file is whole when the store is told of it.
fn check_file(dir: &Path, change: &Change) {
    let (file, sha256) = match change {
        Change::AddNetwork(network) => (&network.file, &network.sha256),
        Change::PutCheckpoint(row) => (&row.file, &row.sha256),
        _ => return,
    };
    check_sha256(&dir.join(file), sha256).unwrap_or_else(|damage| panic!("the store names a file: {damage}"));
}

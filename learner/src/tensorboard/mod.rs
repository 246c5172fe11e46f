//! Files that TensorBoard reads: losses, learning rate, games and gates of a run, in the folder `tensorboard` of the run
//! directory.
//!
//! One file a start of the learner, of records as TensorFlow frames them ([`record`]). They are for people: what cannot be
//! written is reported once and left out, and the run goes on.

mod event;
mod record;

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use prost::Message;
use shared::gate::GateScore;
use shared::ids::Generation;
use store::GameStatistics;
use tracing::warn;

use crate::trainer::MeanLosses;
use event::Event;

/// Folder of the files, in the run directory.
pub const FOLDER: &str = "tensorboard";
/// Time between two points of a training: some hundred an hour are enough to draw.
const LOSS_INTERVAL: Duration = Duration::from_secs(20);

/// What is drawn of a whole iteration.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct IterationPoint {
    /// Its number.
    pub iteration: u32,
    /// Its gate, from the candidate's view.
    pub score: GateScore,
    /// Generation of the best network after it.
    pub generation: Generation,
    /// Leaves answered a second while it went on.
    pub evaluations_per_second: f64,
}

/// Writes the file of this start. Nothing is made before the first point.
#[derive(Debug)]
pub struct TensorBoardLog {
    folder: PathBuf,
    file: Option<File>,
    has_failed: bool,
    losses_at: Option<Instant>,
    loss_step: u64,
}

impl TensorBoardLog {
    /// Makes the log of the run in this directory.
    #[must_use]
    pub fn in_run(run_dir: &Path) -> Self {
        let folder = run_dir.join(FOLDER);
        Self { folder, file: None, has_failed: false, losses_at: None, loss_step: 0 }
    }

    /// Notes losses, unless they were noted already, or others a short time ago and these are not the last of a training.
    pub fn note_losses(&mut self, losses: &MeanLosses, is_last: bool) {
        let is_recent = !is_last && self.losses_at.is_some_and(|at| at.elapsed() < LOSS_INTERVAL);
        if losses.training_step == self.loss_step || is_recent {
            return;
        }
        (self.losses_at, self.loss_step) = (Some(Instant::now()), losses.training_step);
        self.write(losses.training_step, &loss_values(losses));
    }

    /// Notes what the self-play games of an iteration were like.
    pub fn note_games(&mut self, iteration: u32, games: &GameStatistics) {
        let share = |count: u64| count as f64 / games.game_count.max(1) as f64;
        let values = [
            ("games/draw_share", share(games.draw_count)),
            ("games/cut_off_share", share(games.cut_off_count)),
            ("games/resigned_share", share(games.resigned_count)),
            ("games/false_resignation_share", games.played_on.false_share()),
            ("games/distinct_opening_share", share(games.distinct_opening_count)),
            ("games/plies_per_game", games.mean_ply_count),
        ];
        self.write(u64::from(iteration), &values);
    }

    /// Notes an iteration that is over.
    pub fn note_iteration(&mut self, point: &IterationPoint) {
        let values = [
            ("gate/score", point.score.score()),
            ("gate/elo_difference", point.score.elo_difference()),
            ("gate/games", f64::from(point.score.game_count())),
            ("gate/generation", f64::from(point.generation.get())),
            ("speed/evaluations_per_second", point.evaluations_per_second),
        ];
        self.write(u64::from(point.iteration), &values);
    }

    fn write(&mut self, step: u64, values: &[(&str, f64)]) {
        match self.try_write(step, values) {
            Ok(()) => self.has_failed = false,
            Err(error) => {
                if !self.has_failed {
                    let folder = self.folder.display();
                    warn!(%folder, %error, "points for TensorBoard are left out: make room or mend the disk");
                }
                // What is after a half-written record could not be read: the next point begins a new file.
                (self.has_failed, self.file) = (true, None);
            }
        }
    }

    fn try_write(&mut self, step: u64, values: &[(&str, f64)]) -> io::Result<()> {
        let now = SystemTime::now();
        let mut file = match self.file.take() {
            Some(file) => file,
            None => self.create(now)?,
        };
        file.write_all(&record::framed(&Event::scalars(now, step, values).encode_to_vec()))?;
        self.file = Some(file);
        Ok(())
    }

    /// Makes a file of a name that no other has, with its first record.
    fn create(&self, now: SystemTime) -> io::Result<File> {
        std::fs::create_dir_all(&self.folder)?;
        let since_epoch = now.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        // TensorBoard takes every file with "tfevents" in its name, in the order of the names.
        let name = format!("events.out.tfevents.{:010}.alveare.{}", since_epoch.as_secs(), since_epoch.subsec_nanos());
        let mut file = File::create_new(self.folder.join(name))?;
        file.write_all(&record::framed(&Event::first(now).encode_to_vec()))?;
        Ok(file)
    }
}

fn loss_values(losses: &MeanLosses) -> [(&'static str, f64); 5] {
    [
        ("loss/policy", losses.means.policy_loss),
        ("loss/value", losses.means.value_loss),
        ("training/policy_accuracy", losses.means.policy_accuracy),
        ("training/gradient_norm", losses.means.gradient_norm),
        ("training/learning_rate", losses.learning_rate),
    ]
}

#[cfg(test)]
mod tests {
    use net::StepLosses;

    use super::*;

    /// Returns all points of all files: tag, step, value.
    fn points(run_dir: &Path) -> Vec<(String, i64, f32)> {
        let mut files: Vec<PathBuf> = std::fs::read_dir(run_dir.join(FOLDER))
            .expect("a folder")
            .map(|entry| entry.expect("a file").path())
            .collect();
        files.sort();
        let mut points = Vec::new();
        for file in files {
            let bytes = std::fs::read(file).expect("readable");
            let records = record::read_all(&bytes).expect("whole records");
            let mut events = records.into_iter().map(|record| Event::decode(record).expect("an event"));
            assert_eq!(events.next().expect("a first record").file_version(), Some("brain.Event:2"));
            for event in events {
                assert!(event.wall_time > 1.6e9, "seconds since 1970");
                points.extend(event.values().iter().map(|value| (value.tag.clone(), event.step, value.number())));
            }
        }
        points
    }

    fn losses(training_step: u64) -> MeanLosses {
        let means = StepLosses {
            policy_loss: 2.5,
            value_loss: 0.5,
            outlook_loss: 0.0,
            total: 3.0,
            gradient_norm: 1.0,
            policy_accuracy: 0.0,
        };
        MeanLosses { training_step, means, learning_rate: 0.01 }
    }

    #[test]
    fn what_is_written_is_read_back() {
        let run_dir = tempfile::tempdir().expect("a folder");
        let mut log = TensorBoardLog::in_run(run_dir.path());
        log.note_losses(&losses(100), false);
        log.note_losses(&losses(100), true);
        log.note_losses(&losses(101), false);
        log.note_losses(&losses(102), true);
        let games = GameStatistics { game_count: 4, draw_count: 1, mean_ply_count: 30.0, ..GameStatistics::default() };
        log.note_games(7, &games);
        let score = GateScore { wins: 3, draws: 0, losses: 1 };
        let generation = Generation::new(2);
        log.note_iteration(&IterationPoint { iteration: 7, score, generation, evaluations_per_second: 1500.0 });
        let found = points(run_dir.path());
        let has = |tag: &str, step, value| found.iter().any(|point| *point == (tag.to_owned(), step, value));
        for (tag, step, value) in [
            ("loss/policy", 100, 2.5),
            ("training/policy_accuracy", 100, 0.0),
            ("training/learning_rate", 100, 0.01),
            ("games/draw_share", 7, 0.25),
            ("games/plies_per_game", 7, 30.0),
            ("gate/score", 7, 0.75),
            ("gate/generation", 7, 2.0),
            ("speed/evaluations_per_second", 7, 1500.0),
        ] {
            assert!(has(tag, step, value), "{tag} at {step} is not {value}: {found:?}");
        }
        let steps = found.iter().filter(|(tag, ..)| tag == "loss/policy").map(|(_, step, _)| *step);
        assert_eq!(steps.collect::<Vec<_>>(), [100, 102], "the other came too soon");
    }

    #[test]
    fn each_start_has_a_file_of_its_own() {
        let run_dir = tempfile::tempdir().expect("a folder");
        for iteration in [1, 2] {
            TensorBoardLog::in_run(run_dir.path()).note_games(iteration, &GameStatistics::default());
        }
        assert_eq!(std::fs::read_dir(run_dir.path().join(FOLDER)).expect("a folder").count(), 2);
        assert_eq!(points(run_dir.path()).len(), 12);
    }

    #[test]
    fn a_run_directory_that_cannot_be_written_costs_only_the_points() {
        let run_dir = tempfile::tempdir().expect("a folder");
        std::fs::write(run_dir.path().join(FOLDER), "a file is in the way").expect("a file");
        let mut log = TensorBoardLog::in_run(run_dir.path());
        log.note_games(1, &GameStatistics::default());
        assert!(log.has_failed);
        std::fs::remove_file(run_dir.path().join(FOLDER)).expect("removed");
        log.note_games(2, &GameStatistics::default());
        assert!(!log.has_failed);
        assert_eq!(points(run_dir.path()).len(), 6);
    }
}

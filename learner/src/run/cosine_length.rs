//! Over how many iterations the learning rate of a run falls: a new run asks the settings, one that goes on keeps its own.

use std::path::Path;

use serde::Deserialize;
use shared::setting::SettingError;
use store::Reader;

use crate::config::LearnerSettings;

/// What says over how many iterations the learning rate falls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CosineSource {
    /// The settings: of a new run, or changed above preset and file.
    Settings,
    /// `--iterations` of a new run.
    Flag,
    /// The run, which began with it.
    Run,
}

impl CosineSource {
    /// Returns the words for the log.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Settings => "training.iterations",
            Self::Flag => "--iterations of a new run",
            Self::Run => "the run began with it; --set training.iterations=N changes it",
        }
    }
}

/// The part of stored settings that is of interest.
#[derive(Deserialize)]
struct StoredSettings {
    training: StoredTraining,
}

#[derive(Deserialize)]
struct StoredTraining {
    iterations: u32,
}

/// Returns the settings with the length of the cosine that counts for their run directory, and what says so. `flag` is what
/// `--iterations` says; `is_set`: the user set `training.iterations` above preset and file, which counts in any case.
///
/// # Errors
/// [`SettingError`] if the length is out of range.
pub fn settle_cosine_length(
    settings: LearnerSettings,
    flag: Option<u32>,
    is_set: bool,
) -> Result<(LearnerSettings, CosineSource), SettingError> {
    // 0 is no end of a run, so it is no length either.
    let flag = flag.filter(|iterations| *iterations > 0);
    let (iterations, source) = match (is_set, stored_length(&settings.run.dir), flag) {
        (false, Some(iterations), _) => (iterations, CosineSource::Run),
        (false, None, Some(iterations)) => (iterations, CosineSource::Flag),
        _ => (settings.training.iterations, CosineSource::Settings),
    };
    Ok((settings.with_training_iterations(iterations)?, source))
}

/// Returns the length that the run in this directory began with; `None` if there is no run yet.
fn stored_length(run_dir: &Path) -> Option<u32> {
    // A store that cannot be read is reported where it is opened.
    let run = Reader::of_run(run_dir).and_then(|reader| reader.run()).ok()?;
    serde_json::from_str::<StoredSettings>(&run.config).ok().map(|stored| stored.training.iterations)
}

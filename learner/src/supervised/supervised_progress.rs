//! How far a supervised training is: what its checkpoint holds besides the weights, and its history as a table.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use serde::{Deserialize, Serialize};
use shared::record::{CutOffTarget, ValueTargetRule};

use super::error::SupervisedError;
use super::rate_schedule::LossTrend;
use crate::config::LearnerConfig;
use crate::losses::LossSum;
use crate::prediction::PredictionMetrics;
use crate::training_source::TrainingSource;

/// Keys that may change between two starts: they change the speed, or how soon training gives up, not the steps; or, as
/// `game_types`, nothing but the samples, which are compared themselves. The number of epochs may change too, but is kept,
/// to tell by it that the schedule has another end.
const FREE_KEYS: [&str; 6] = ["device", "threads", "batch_threads", "checkpoint_steps", "stop_patience", "game_types"];

/// Keys that checkpoints of version 0.1.0 do not hold, and the values that they were trained with.
const LATER_KEYS: [(&str, &str); 1] = [("gradient_clip_norm", "0.0")];

/// How far a supervised training is.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SupervisedProgress {
    /// What the result depends on: samples, network, settings.
    pub origin: BTreeMap<String, String>,
    /// The finished epochs.
    pub epochs: Vec<EpochRow>,
    /// The course of their held-out losses.
    pub trend: LossTrend,
    /// Losses of the steps of the current epoch.
    pub losses: LossSum,
    /// Seconds that these steps took.
    pub seconds: f64,
}

/// A finished epoch.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EpochRow {
    /// Number of the epoch, from 1.
    pub epoch: u32,
    /// Learning rate of its last step.
    pub learning_rate: f64,
    /// Mean losses of its steps.
    pub losses: LossSum,
    /// How well the network then predicted the held-out games.
    pub held_out: PredictionMetrics,
    /// Policy loss + weight x value error of the held-out games: the best epoch has the least.
    pub held_out_loss: f64,
    /// Whether no epoch before it was as good.
    pub is_best: bool,
    /// Samples a second in training.
    pub samples_per_second: f64,
}

impl SupervisedProgress {
    /// Reads what [`SupervisedProgress::to_extra`] put into the checkpoint in `path`.
    ///
    /// # Errors
    /// [`SupervisedError::OtherCheckpoint`] if the checkpoint is not of a training from this source,
    /// [`SupervisedError::Progress`] if it cannot be read.
    pub fn from_extra(
        extra: &BTreeMap<String, String>,
        source: TrainingSource,
        path: &Path,
    ) -> Result<Self, SupervisedError> {
        let training = source.training();
        let Some(text) = extra.get(source.section()) else {
            return Err(SupervisedError::OtherCheckpoint { path: path.to_owned(), training });
        };
        let failed = |error| SupervisedError::Progress { path: path.to_owned(), training, source: error };
        let mut progress: Self = serde_json::from_str(text).map_err(failed)?;
        for (key, value) in LATER_KEYS {
            progress.origin.entry(format!("{}.{key}", source.section())).or_insert_with(|| value.to_owned());
        }
        Ok(progress)
    }

    /// Returns the progress as a checkpoint keeps it.
    ///
    /// # Errors
    /// None in practice: all of it can be written as JSON.
    pub fn to_extra(&self, source: TrainingSource) -> Result<BTreeMap<String, String>, serde_json::Error> {
        Ok(BTreeMap::from([(source.section().to_owned(), serde_json::to_string(self)?)]))
    }

    /// Returns the first key by which `origin` is that of another training. The number of epochs may differ.
    #[must_use]
    pub fn changed_key<'a>(&self, origin: &'a BTreeMap<String, String>, source: TrainingSource) -> Option<&'a str> {
        let epochs = epochs_key(source);
        let mut changed = origin.iter().filter(|(key, value)| **key != epochs && self.origin.get(*key) != Some(*value));
        changed.next().map(|(key, _)| key.as_str())
    }

    /// Returns the number of epochs that the training was last started with, if the checkpoint holds it.
    #[must_use]
    pub fn planned_epochs(&self, source: TrainingSource) -> Option<u32> {
        self.origin.get(&epochs_key(source))?.parse().ok()
    }

    /// Returns the table of all epochs.
    #[must_use]
    pub fn table(&self) -> String {
        let mut table = "epoch\tlearning_rate\tpolicy_loss\tvalue_error\theld_out_policy_loss\theld_out_top1\t\
             held_out_top3\theld_out_top5\theld_out_value_error\theld_out_sign_share\theld_out_loss\tis_best\t\
             samples_per_second\n"
            .to_owned();
        for row in &self.epochs {
            let means = row.losses.means();
            let [top1, top3, top5] = row.held_out.top_shares();
            let _ = writeln!(
                table,
                "{}\t{:.6}\t{:.5}\t{:.5}\t{:.5}\t{top1:.5}\t{top3:.5}\t{top5:.5}\t{:.5}\t{:.5}\t{:.5}\t{}\t{:.0}",
                row.epoch,
                row.learning_rate,
                means.policy_loss,
                means.value_loss,
                row.held_out.policy_loss(),
                row.held_out.value_error(),
                row.held_out.sign_share(),
                row.held_out_loss,
                u8::from(row.is_best),
                row.samples_per_second,
            );
        }
        table
    }
}

fn epochs_key(source: TrainingSource) -> String {
    format!("{}.epochs", source.section())
}

/// Returns what the result of a training depends on, by name. `samples_sha256` stands for the samples.
///
/// # Errors
/// None in practice: settings can be written as JSON.
pub fn origin(
    config: &LearnerConfig,
    source: TrainingSource,
    samples_sha256: &str,
) -> Result<BTreeMap<String, String>, serde_json::Error> {
    let mut origin = BTreeMap::from([
        ("game".to_owned(), serde_json::to_string(&config.game)?),
        ("network".to_owned(), serde_json::to_string(&config.network)?),
        (source.flag().to_owned(), samples_sha256.to_owned()),
    ]);
    if source == TrainingSource::DataSets {
        let ValueTargetRule { value_target, cut_off_target } = config.training.value_target_rule();
        let rule = match cut_off_target {
            // As checkpoints of before there was a choice have it.
            CutOffTarget::Draw => format!("{value_target:?}"),
            CutOffTarget::Search { .. } => format!("{value_target:?}, cut off: {cut_off_target:?}"),
        };
        origin.insert("training.value_target".to_owned(), rule);
    }
    let written = serde_json::to_value(source.settings(config))?;
    for (key, value) in written.as_object().into_iter().flatten() {
        if !FREE_KEYS.contains(&key.as_str()) {
            origin.insert(format!("{}.{key}", source.section()), value.to_string());
        }
    }
    Ok(origin)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_training_is_another_by_what_is_learned_and_not_by_how_fast_or_how_long() {
        let mut config = LearnerConfig::default();
        let source = TrainingSource::HumanGames;
        let of = |config: &LearnerConfig, games| origin(config, source, games).expect("settings");
        let mut first = SupervisedProgress { origin: of(&config, "a"), ..SupervisedProgress::default() };
        assert_eq!(first.planned_epochs(source), Some(30));
        config.pretrain.threads = 7;
        config.pretrain.epochs = 20;
        config.pretrain.stop_patience = 1;
        assert_eq!(first.changed_key(&of(&config, "a"), source), None);
        assert_eq!(first.changed_key(&of(&config, "b"), source), Some("games"));
        config.pretrain.batch_size += 1;
        assert_eq!(first.changed_key(&of(&config, "a"), source), Some("pretrain.batch_size"));
        config.pretrain.batch_size -= 1;
        // Checkpoints of version 0.1.0 hold the patience, and no number of epochs beside a plateau.
        first.origin.insert("pretrain.stop_patience".to_owned(), "6".to_owned());
        first.origin.remove("pretrain.epochs");
        assert_eq!(first.changed_key(&of(&config, "a"), source), None);
        assert_eq!(first.planned_epochs(source), None);
    }

    #[test]
    fn progress_comes_back_as_it_was() {
        let trend = LossTrend { best_epoch: 3, best_loss: 0.1 + 0.2, ..LossTrend::default() };
        let origin = origin(&LearnerConfig::default(), TrainingSource::HumanGames, "a").expect("settings");
        let progress = SupervisedProgress { origin, trend, seconds: 1.0 / 3.0, ..SupervisedProgress::default() };
        let extra = progress.to_extra(TrainingSource::HumanGames).expect("text");
        let read = |extra, source| SupervisedProgress::from_extra(extra, source, Path::new("checkpoint"));
        assert_eq!(read(&extra, TrainingSource::HumanGames).expect("progress"), progress);
        assert!(read(&extra, TrainingSource::DataSets).is_err());
        assert!(read(&BTreeMap::new(), TrainingSource::HumanGames).is_err());
    }

    #[test]
    fn a_checkpoint_that_knows_no_clipping_was_trained_without() {
        let (mut config, source) = (LearnerConfig::default(), TrainingSource::DataSets);
        let of = |config: &LearnerConfig| origin(config, source, "a").expect("settings");
        let mut old = SupervisedProgress { origin: of(&config), ..SupervisedProgress::default() };
        old.origin.remove("offline.gradient_clip_norm").expect("the key");
        let extra = old.to_extra(source).expect("text");
        let read = SupervisedProgress::from_extra(&extra, source, Path::new("checkpoint")).expect("progress");
        assert_eq!(read.changed_key(&of(&config), source), None);
        config.offline.gradient_clip_norm = 0.5;
        assert_eq!(read.changed_key(&of(&config), source), Some("offline.gradient_clip_norm"));
    }
}

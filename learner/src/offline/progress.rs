//! How far a training is: what its checkpoint says besides the weights, and its history as a table.

use std::collections::BTreeMap;
use std::fmt::Write;

use anyhow::Context;
use serde::{Deserialize, Serialize};

use super::kind::Kind;
use super::schedule::Trend;
use super::settings::ScheduleKind;
use crate::config::LearnerConfig;
use crate::figures::Figures;
use crate::trainer::LossSum;

/// Keys of the settings that may be changed between two starts: how fast it is done, not what is done.
const FREE_KEYS: [&str; 4] = ["device", "threads", "batch_threads", "checkpoint_steps"];

/// How far a training is.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Progress {
    /// What the outcome depends on: games, network, settings.
    pub origin: BTreeMap<String, String>,
    /// The epochs that are done.
    pub epochs: Vec<EpochRow>,
    /// How their held-out losses have gone.
    pub trend: Trend,
    /// Losses of the steps of the epoch that is under way.
    pub losses: LossSum,
    /// Seconds that these steps took.
    pub seconds: f64,
}

/// An epoch that is done.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EpochRow {
    /// Number of the epoch, from 1.
    pub epoch: u32,
    /// Learning rate of its last step.
    pub learning_rate: f64,
    /// Mean losses of its steps.
    pub losses: LossSum,
    /// What the network then said of the games held out.
    pub held_out: Figures,
    /// Policy loss + weight x value error of the games held out: what the best epoch is known by.
    pub held_out_loss: f64,
    /// Whether no epoch before it was as good.
    pub is_best: bool,
    /// Samples learned from in a second.
    pub samples_per_second: f64,
}

impl Progress {
    /// Reads what [`Progress::to_extra`] put into a checkpoint.
    ///
    /// # Errors
    /// If the checkpoint is not one of such a training.
    pub fn from_extra(extra: &BTreeMap<String, String>, kind: Kind) -> anyhow::Result<Self> {
        let text = extra.get(kind.section()).with_context(|| format!("not a checkpoint of a {}", kind.word()))?;
        serde_json::from_str(text).with_context(|| format!("progress of a {}", kind.word()))
    }

    /// Returns the progress as a checkpoint keeps it.
    ///
    /// # Errors
    /// Never in practice: all of it can be written.
    pub fn to_extra(&self, kind: Kind) -> anyhow::Result<BTreeMap<String, String>> {
        Ok(BTreeMap::from([(kind.section().to_owned(), serde_json::to_string(self)?)]))
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

/// Returns what the outcome of a training depends on, by name. `source_sha256` stands for the samples.
///
/// # Errors
/// Never in practice: settings can be written.
pub fn origin(config: &LearnerConfig, kind: Kind, source_sha256: &str) -> anyhow::Result<BTreeMap<String, String>> {
    let mut origin = BTreeMap::from([
        ("game".to_owned(), serde_json::to_string(&config.game)?),
        ("network".to_owned(), serde_json::to_string(&config.network)?),
        (kind.source().to_owned(), source_sha256.to_owned()),
    ]);
    if kind == Kind::DataSets {
        origin.insert("training.value_target".to_owned(), format!("{:?}", config.training.value_target_rule()));
    }
    let settings = kind.config(config);
    let written = serde_json::to_value(settings)?;
    for (key, value) in written.as_object().into_iter().flatten() {
        // Without a fixed end there may be more epochs than were first thought of.
        let is_open_end = key == "epochs" && settings.learning_rate_schedule == ScheduleKind::Plateau;
        if !FREE_KEYS.contains(&key.as_str()) && !is_open_end {
            origin.insert(format!("{}.{key}", kind.section()), value.to_string());
        }
    }
    Ok(origin)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_outcome_depends_on_what_is_learned_and_not_on_how_fast() {
        let mut config = LearnerConfig::default();
        config.pretrain.learning_rate_schedule = ScheduleKind::Plateau;
        let origin = |config: &LearnerConfig, games| origin(config, Kind::People, games);
        let first = origin(&config, "a").expect("settings");
        config.pretrain.threads = 7;
        config.pretrain.epochs += 1;
        assert_eq!(origin(&config, "a").expect("settings"), first);
        assert_ne!(origin(&config, "b").expect("settings"), first);
        config.pretrain.batch_size += 1;
        assert_ne!(origin(&config, "a").expect("settings"), first);
        config.pretrain.learning_rate_schedule = ScheduleKind::Cosine;
        assert!(origin(&config, "a").expect("settings").contains_key("pretrain.epochs"));
    }

    #[test]
    fn progress_comes_back_as_it_was() {
        let trend = Trend { best_epoch: 3, best_loss: 0.1 + 0.2, ..Trend::default() };
        let progress = Progress { trend, seconds: 1.0 / 3.0, ..Progress::default() };
        let extra = progress.to_extra(Kind::People).expect("text");
        assert_eq!(Progress::from_extra(&extra, Kind::People).expect("progress"), progress);
        assert!(Progress::from_extra(&extra, Kind::DataSets).is_err());
        assert!(Progress::from_extra(&BTreeMap::new(), Kind::People).is_err());
    }
}

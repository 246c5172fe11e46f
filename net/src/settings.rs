//! What a network looks like: the part that the user sets, and the whole shape that a file of weights carries.

use std::fmt;

use serde::{Deserialize, Serialize};
use shared::encoding::{ENDING_COUNT_MAX, Encoding, Neighbourhood, PlaneShape};
use shared::setting::{SettingError, check_range, check_that};

/// How convolutions and heads are put together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub enum Architecture {
    /// Residual blocks (He et al. 2015), and heads that first bring many filters down to few (Silver et al. 2017).
    #[default]
    #[serde(rename = "residual")]
    Residual,
    /// Convolutions one after the other; policy and value read all filters of all cells of the last one.
    #[serde(rename = "dama-cnn")]
    DamaCnn,
}

/// How the trunk becomes policy logits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PolicyHead {
    /// 1 x 1 to two filters ([`Architecture::DamaCnn`]: the trunk as it is), flattened, fully connected to every policy
    /// index.
    Full,
    /// Maps read at the cells that a move touches.
    Spatial,
}

/// Which cells the trunk computes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Trunk {
    /// Every cell of the frame, by 3 x 3 convolutions.
    #[default]
    Frame,
    /// The active cells alone, each with its neighbours on the board.
    Cells,
}

/// Size of a network, as the config gives it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NetworkSettings {
    /// How it is put together. Files from before there was a choice do not name it: residual.
    #[serde(default)]
    pub architecture: Architecture,
    /// Residual blocks after the first convolution, 0..=100; each holds two 3 x 3 convolutions. [`Architecture::DamaCnn`]:
    /// 3 x 3 convolutions, 1..=100.
    pub blocks: u32,
    /// Filters of each convolution of the trunk, 1..=2048.
    pub filters: u32,
    /// Which cells the trunk computes. Files from before there was a choice do not name it: the frame.
    #[serde(default)]
    pub trunk: Trunk,
    /// Kind of policy head.
    pub policy_head: PolicyHead,
    /// Width of the hidden layer of the value head, 1..=8192.
    pub value_hidden: u32,
    /// Every so many blocks, one adds to its cells what it makes of the whole position: 0..=100, 0 = none does. Files from
    /// before there was a choice do not name it: 0.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub global_pooling_every: u32,
    /// Whether it has heads that predict the rest of the game, for its training alone. Files from before there was a choice
    /// do not name it: no.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub outlook_heads: bool,
}

/// Whether a key can be left out, since a file without it means 0.
fn is_zero<N: Default + PartialEq>(number: &N) -> bool {
    *number == N::default()
}

impl NetworkSettings {
    /// Checks that such a network can be.
    ///
    /// # Errors
    /// [`SettingError`] with the first key that is out of range.
    pub fn check(&self) -> Result<(), SettingError> {
        let is_plain = self.architecture == Architecture::DamaCnn;
        check_range("blocks", self.blocks, u32::from(is_plain)..=100)?;
        check_range("filters", self.filters, 1..=2048)?;
        check_range("value_hidden", self.value_hidden, 1..=8192)?;
        check_range("global_pooling_every", self.global_pooling_every, 0..=100)?;
        check_that(
            "outlook_heads",
            !is_plain || !self.outlook_heads,
            || "architecture \"dama-cnn\" has no such heads: set false",
        )?;
        check_that(
            "global_pooling_every",
            !is_plain || self.global_pooling_every == 0,
            || "architecture \"dama-cnn\" has no blocks that pool: set 0",
        )?;
        check_that(
            "trunk",
            !is_plain || self.trunk == Trunk::Frame,
            || "architecture \"dama-cnn\" needs every cell of the frame: set \"frame\"",
        )?;
        check_that(
            "policy_head",
            !is_plain || self.policy_head == PolicyHead::Full,
            || "architecture \"dama-cnn\" has no such head: set \"full\"",
        )
    }

    /// Returns whether block `block`, counted from 0, pools.
    pub(crate) const fn pools_in(&self, block: u32) -> bool {
        self.global_pooling_every > 0 && (block + 1).is_multiple_of(self.global_pooling_every)
    }
}

/// Everything that the weights depend on: the game's encoding and the settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct NetworkShape {
    /// Input planes of one position.
    pub planes: PlaneShape,
    /// A, the number of policy indices.
    pub policy_size: usize,
    /// Number of kinds that a placement may name (spatial head).
    pub placement_kinds: usize,
    /// Which cells touch each other; `None` where the trunk is the frame, which does not depend on it.
    pub neighbourhood: Option<Neighbourhood>,
    /// So many planes at the end are read as one number each, beside the flattened trunk, and not by convolutions; 0
    /// where convolutions read every plane.
    pub feature_count: usize,
    /// Numbers that the heads predict of each game's end, the distance to it among them; 0 without such heads.
    pub ending_count: usize,
    /// Size of trunk and heads.
    pub settings: NetworkSettings,
}

impl NetworkShape {
    /// Returns the shape of a network of this size for `encoding`.
    pub fn new<E: Encoding>(encoding: &E, settings: NetworkSettings) -> Self {
        Self {
            planes: encoding.plane_shape(),
            policy_size: encoding.policy_size(),
            placement_kinds: encoding.placement_kinds(),
            neighbourhood: (settings.trunk == Trunk::Cells).then(|| encoding.neighbourhood()),
            feature_count: match settings.architecture {
                Architecture::Residual => 0,
                Architecture::DamaCnn => encoding.feature_count(),
            },
            ending_count: if settings.outlook_heads { encoding.ending_scales().len() + 1 } else { 0 },
            settings,
        }
    }

    /// Returns whether the blocks can be computed in [`crate::Precision::Int8`]: cells are copied in words of 8 bytes.
    pub(crate) fn can_be_int8(&self) -> bool {
        let NetworkSettings { architecture, trunk, filters, .. } = self.settings;
        architecture == Architecture::Residual && trunk == Trunk::Cells && filters.is_multiple_of(8)
    }

    /// Returns the number of planes that convolutions read.
    pub(crate) const fn map_plane_count(&self) -> usize {
        self.planes.planes - self.feature_count
    }

    /// Returns H x W.
    #[must_use]
    pub const fn cell_count(&self) -> usize {
        self.planes.rows * self.planes.columns
    }

    /// Checks settings and encoding.
    ///
    /// # Errors
    /// [`SettingError`] with the first part that is out of range.
    pub fn check(&self) -> Result<(), SettingError> {
        self.settings.check()?;
        check_that(
            "neighbourhood",
            self.neighbourhood.is_some() == (self.settings.trunk == Trunk::Cells),
            || "goes with a trunk of active cells, and with no other",
        )?;
        check_range("planes", self.planes.planes, 1..=1024)?;
        check_that("feature_count", self.feature_count < self.planes.planes, || {
            format!("{} of {} planes leave none for convolutions", self.feature_count, self.planes.planes)
        })?;
        let reads_features = self.settings.architecture == Architecture::DamaCnn;
        check_that(
            "feature_count",
            self.feature_count == 0 || reads_features,
            || "a residual network reads every plane by convolutions",
        )?;
        check_that(
            "ending_count",
            (self.ending_count > 0) == self.settings.outlook_heads,
            || "goes with outlook heads, and with nothing else",
        )?;
        check_range("ending_count", self.ending_count, 0..=ENDING_COUNT_MAX + 1)?;
        check_range("rows", self.planes.rows, 1..=256)?;
        check_range("columns", self.planes.columns, 1..=256)?;
        check_range("policy_size", self.policy_size, 1..=usize::from(u16::MAX))?;
        check_range("placement_kinds", self.placement_kinds, 1..=256)
    }
}

impl fmt::Display for NetworkShape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let NetworkSettings { architecture, blocks, filters, trunk, policy_head, value_hidden, .. } = self.settings;
        let NetworkSettings { global_pooling_every, outlook_heads, .. } = self.settings;
        let PlaneShape { planes, rows, columns } = self.planes;
        let head = match policy_head {
            PolicyHead::Full => "full",
            PolicyHead::Spatial => "spatial",
        };
        match (architecture, trunk) {
            (Architecture::DamaCnn, _) => write!(f, "dama-cnn of {blocks} convolutions of {filters}")?,
            (Architecture::Residual, Trunk::Frame) => write!(f, "{blocks} blocks of {filters}")?,
            (Architecture::Residual, Trunk::Cells) => write!(f, "{blocks} blocks of {filters} on active cells")?,
        }
        match global_pooling_every {
            0 => {}
            1 => write!(f, ", each with global pooling")?,
            every => write!(f, ", one in {every} with global pooling")?,
        }
        write!(
            f,
            ", {head} policy head of {} ({} placement kinds), value head of {value_hidden}, {planes} planes of \
             {rows}x{columns}",
            self.policy_size, self.placement_kinds
        )?;
        if self.feature_count > 0 {
            write!(f, ", the last {} as features", self.feature_count)?;
        }
        if outlook_heads { f.write_str(", outlook heads") } else { Ok(()) }
    }
}

/// [`NetworkShape`] as written into files: flat, so that the file needs no type of another crate.
#[derive(Serialize, Deserialize)]
struct ShapeRecord {
    planes: usize,
    rows: usize,
    columns: usize,
    policy_size: usize,
    placement_kinds: usize,
    neighbourhood: Option<Neighbourhood>,
    #[serde(default)]
    feature_count: usize,
    #[serde(default, skip_serializing_if = "is_zero")]
    ending_count: usize,
    settings: NetworkSettings,
}

impl Serialize for NetworkShape {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        ShapeRecord {
            planes: self.planes.planes,
            rows: self.planes.rows,
            columns: self.planes.columns,
            policy_size: self.policy_size,
            placement_kinds: self.placement_kinds,
            neighbourhood: self.neighbourhood,
            feature_count: self.feature_count,
            ending_count: self.ending_count,
            settings: self.settings,
        }
        .serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for NetworkShape {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let record = ShapeRecord::deserialize(deserializer)?;
        Ok(Self {
            planes: PlaneShape { planes: record.planes, rows: record.rows, columns: record.columns },
            policy_size: record.policy_size,
            placement_kinds: record.placement_kinds,
            neighbourhood: record.neighbourhood,
            feature_count: record.feature_count,
            ending_count: record.ending_count,
            settings: record.settings,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_checked_by_name() {
        let good = NetworkSettings {
            architecture: Architecture::Residual,
            blocks: 6,
            filters: 64,
            trunk: Trunk::Frame,
            policy_head: PolicyHead::Spatial,
            value_hidden: 256,
            global_pooling_every: 0,
            outlook_heads: false,
        };
        assert!(good.check().is_ok());
        let error = NetworkSettings { filters: 0, ..good }.check().unwrap_err();
        assert_eq!(error.to_string(), "filters: 0 is not in 1..=2048");
        let text = r#"{"blocks":6,"filters":64,"policy_head":"spatial","value_hidden":256,"depth":3}"#;
        assert!(serde_json::from_str::<NetworkSettings>(text).is_err(), "unknown keys are refused");
        let plain = NetworkSettings { architecture: Architecture::DamaCnn, policy_head: PolicyHead::Full, ..good };
        assert!(plain.check().is_ok());
        let error = |settings: NetworkSettings| settings.check().unwrap_err().to_string();
        assert!(error(NetworkSettings { trunk: Trunk::Cells, ..plain }).starts_with("trunk: architecture"));
        let spatial = NetworkSettings { policy_head: PolicyHead::Spatial, ..plain };
        assert!(error(spatial).starts_with("policy_head: architecture \"dama-cnn\""));
        assert_eq!(error(NetworkSettings { blocks: 0, ..plain }), "blocks: 0 is not in 1..=100");
        let pooled = NetworkSettings { global_pooling_every: 2, ..plain };
        assert!(error(pooled).starts_with("global_pooling_every: architecture"));
        let old = r#"{"blocks":6,"filters":64,"policy_head":"spatial","value_hidden":256}"#;
        assert_eq!(serde_json::from_str::<NetworkSettings>(old).unwrap(), good, "an old file means the frame");
    }
}

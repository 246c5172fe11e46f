//! The metadata of a network file: the game, the shape, the training step and a checksum. Format: docs/training.md.
//!
//! Format 2 carries the game's specification. Format 1 did not: a reader that knows the game, such as a run, reads such
//! a file as before; for any other, [`Header::spec`] takes the only game that has the file's shape, by its usual rules.

use std::collections::{BTreeMap, HashMap};

use serde::{Deserialize, Serialize};
use shared::catalog::GameSpec;
use shared::encoding::dama::PolicyCoding;
use shared::game::dama::DamaRules;
use shared::game::hive::HiveRules;

use crate::{NetError, NetworkShape, NetworkSpec};

/// The format that is written: names, order and metadata.
const FORMAT: u32 = 2;
/// The format before it, whose metadata name no game.
const FORMAT_WITHOUT_GAME: u32 = 1;
/// Name of the metadata entry.
const ENTRY: &str = "alveare";

/// The metadata of a file.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Header {
    format: u32,
    /// `None` in files of format 1 alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    game: Option<GameSpec>,
    shape: NetworkShape,
    /// Steps trained so far; `None` in a file without momentum.
    pub training_step: Option<u64>,
    /// Steps in the average of the weights, of a checkpoint that holds one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub average_step_count: Option<u64>,
    pub extra: BTreeMap<String, String>,
    /// Of all tensors, hexadecimal: [`crate::file`] computes it.
    pub sha256: String,
}

impl Header {
    pub(crate) fn network(spec: &NetworkSpec) -> Self {
        Self {
            format: FORMAT,
            game: Some(spec.game.clone()),
            shape: spec.shape,
            training_step: None,
            average_step_count: None,
            extra: BTreeMap::new(),
            sha256: String::new(),
        }
    }

    pub(crate) fn checkpoint(spec: &NetworkSpec, training_step: u64, extra: BTreeMap<String, String>) -> Self {
        Self { training_step: Some(training_step), extra, ..Self::network(spec) }
    }

    /// Returns the metadata of a new file.
    pub(crate) fn to_metadata(&self) -> Result<HashMap<String, String>, serde_json::Error> {
        Ok(HashMap::from([(ENTRY.to_owned(), serde_json::to_string(self)?)]))
    }

    /// Reads the metadata of `file`.
    pub(crate) fn parse(file: &str, metadata: Option<&HashMap<String, String>>) -> Result<Self, NetError> {
        #[derive(Deserialize)]
        struct Version {
            format: u32,
        }
        let corrupt = |reason: String| NetError::Corrupt { file: file.to_owned(), reason };
        let unreadable = |error: serde_json::Error| corrupt(format!("metadata: {error}"));
        let text = metadata.and_then(|metadata| metadata.get(ENTRY));
        let text =
            text.ok_or_else(|| corrupt(format!("has no metadata named {ENTRY}: not written by this program")))?;
        let Version { format } = serde_json::from_str(text).map_err(unreadable)?;
        if !(FORMAT_WITHOUT_GAME..=FORMAT).contains(&format) {
            let known = format!("this program reads {FORMAT_WITHOUT_GAME} and {FORMAT}");
            return Err(corrupt(format!("format version {format}, {known}")));
        }
        let header: Self = serde_json::from_str(text).map_err(unreadable)?;
        if header.game.is_some() != (format == FORMAT) {
            return Err(corrupt(format!("metadata: format {FORMAT} names a game, format {FORMAT_WITHOUT_GAME} none")));
        }
        Ok(header)
    }

    /// Returns what the network of `file` plays, and its shape.
    pub(crate) fn spec(&self, file: &str) -> Result<NetworkSpec, NetError> {
        let corrupt = |reason: String| NetError::Corrupt { file: file.to_owned(), reason };
        let Some(game) = &self.game else {
            let without = || corrupt(format!("names no game (format 1), and no game has its shape: {}", self.shape));
            return spec_of_shape(&self.shape).ok_or_else(without);
        };
        let spec = NetworkSpec::new(game, self.shape.settings).map_err(|error| corrupt(error.to_string()))?;
        if spec.shape == self.shape {
            return Ok(spec);
        }
        Err(corrupt(format!("was made for another encoding of {game}: {}, here {}", self.shape, spec.shape)))
    }

    /// Checks that the network of `file` can be used as one of `wanted`. Rules may differ ([`NetworkSpec`] says which).
    pub(crate) fn expect(&self, file: &str, wanted: &NetworkSpec) -> Result<(), NetError> {
        if let Some(found) = self.game.as_ref().filter(|game| !game.has_networks_of(&wanted.game)) {
            let (found, wanted) = (found.to_string(), wanted.game.to_string());
            return Err(NetError::OtherGame { file: file.to_owned(), found, wanted });
        }
        if self.shape == wanted.shape {
            return Ok(());
        }
        let (found, wanted) = (self.shape.to_string(), wanted.shape.to_string());
        Err(NetError::Mismatch { file: file.to_owned(), found, wanted })
    }
}

/// Returns the specification of the only game whose networks have this shape, with its usual rules.
fn spec_of_shape(shape: &NetworkShape) -> Option<NetworkSpec> {
    let dama = |policy| GameSpec::Dama { rules: DamaRules::default(), policy };
    let frame = u8::try_from(shape.planes.rows).unwrap_or(u8::MAX);
    let games = [
        GameSpec::Hive { rules: HiveRules::default(), frame },
        dama(PolicyCoding::Lossless),
        dama(PolicyCoding::From4),
        GameSpec::TicTacToe {},
    ];
    games.iter().filter_map(|game| NetworkSpec::new(game, shape.settings).ok()).find(|spec| spec.shape == *shape)
}

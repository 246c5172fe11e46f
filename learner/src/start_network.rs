//! The networks that a user names, to start from or to measure, read and checked.

use std::path::{Path, PathBuf};

use net::{Device, NetError, NetworkFile, NetworkSpec};
use networks::{NetworkSource, NetworkSourceError};
use shared::catalog::GameSpec;
use tracing::info;

use crate::presets;

/// What the new weights of a network that grows are filled from: the same network always grows into the same one.
const GROWTH_SEED: u64 = 1;

/// Why a network cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum StartNetworkError {
    /// There is no such file.
    #[error("there is no file {}: name one, or make it with `learner pretrain`", .0.display())]
    Missing(PathBuf),
    /// Its bytes cannot be had.
    #[error(transparent)]
    Source(#[from] NetworkSourceError),
    /// It is damaged, or does not fit the settings.
    #[error(transparent)]
    Net(#[from] NetError),
    /// It does not fit the settings, but those of a preset.
    #[error("such a network goes with --preset {preset}")]
    OtherPreset {
        /// The preset.
        preset: &'static str,
        /// What does not fit.
        source: NetError,
    },
}

impl StartNetworkError {
    /// Returns whether the user named a network that does not go with the settings, and must name another.
    #[must_use]
    pub const fn is_usage(&self) -> bool {
        matches!(
            self,
            Self::Missing(_)
                | Self::OtherPreset { .. }
                | Self::Source(NetworkSourceError::NotCarried { .. } | NetworkSourceError::NoNetwork { .. })
                | Self::Net(NetError::OtherGame { .. } | NetError::Mismatch { .. })
        )
    }
}

/// Returns whether `named` means the network that a run began from, which its store calls `origin`: by the same name, by
/// another path to the same file, or by the folder that the file was in, whatever is there now.
#[must_use]
pub fn is_origin(named: &NetworkSource, origin: &str) -> bool {
    if named.to_string() == origin {
        return true;
    }
    let (Some(named), true) = (named.file(), origin != networks::READY) else { return false };
    Path::new(origin).parent() == Some(named) || is_same_file(named, Path::new(origin))
}

/// Returns whether both paths lead to one file that is there.
#[must_use]
pub fn is_same_file(one: &Path, other: &Path) -> bool {
    one.canonicalize().is_ok_and(|one| other.canonicalize().is_ok_and(|other| one == other))
}

/// Reads a network, for `game` if it is the ready one.
///
/// # Errors
/// [`StartNetworkError::Missing`], [`StartNetworkError::Source`], or [`StartNetworkError::Net`] for a file that is not
/// a network.
pub fn open(source: &NetworkSource, game: &GameSpec) -> Result<NetworkFile, StartNetworkError> {
    if let Some(missing) = source.file().filter(|file| !file.is_file()) {
        return Err(StartNetworkError::Missing(missing.to_owned()));
    }
    Ok(NetworkFile::from_bytes(source.to_string(), source.read(game)?)?)
}

/// Reads a network that must fit `wanted`, or grow into it: the log says so.
///
/// # Errors
/// As [`open`]; [`StartNetworkError::OtherPreset`] if it fits a preset, and [`StartNetworkError::Net`] if it fits none.
pub fn open_as(source: &NetworkSource, wanted: &NetworkSpec) -> Result<NetworkFile, StartNetworkError> {
    let file = open(source, &wanted.game)?;
    let Err(error) = file.expect(wanted) else { return Ok(file) };
    let found = file.spec().ok();
    if found.as_ref().is_some_and(|found| found.grows_into(wanted)) {
        let smaller = file.load(Device::CPU)?;
        info!(from = %smaller.shape(), to = %wanted.shape, "the start network grows: it answers as before, and has room to learn");
        let grown = smaller.grown_to(wanted, GROWTH_SEED)?;
        return Ok(NetworkFile::from_bytes(file.name().to_owned(), grown.to_bytes()?)?);
    }
    let preset = found.and_then(|found| presets::fitting(&found));
    Err(match preset {
        Some(preset) => StartNetworkError::OtherPreset { preset, source: error },
        None => error.into(),
    })
}

#[cfg(test)]
mod tests {
    use shared::catalog::NetworkGame;
    use shared::game::dama::Dama;
    use shared::game::hive::Hive;

    use super::*;

    #[test]
    fn a_run_knows_the_network_that_it_began_from_by_any_of_its_names() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("n.safetensors");
        std::fs::write(&file, "weights").expect("a file");
        let origin = file.display().to_string();
        let is_origin = |named: &Path, origin: &str| is_origin(&NetworkSource::File(named.to_owned()), origin);
        assert!(is_origin(&file, &origin) && is_origin(folder.path(), &origin), "or the folder that it is in");
        let around = folder.path().join("..").join(folder.path().file_name().expect("a name")).join("n.safetensors");
        assert!(is_origin(&around, &origin), "another path to it");
        assert!(is_origin(Path::new("gone"), "gone/n.safetensors"));
        assert!(!is_origin(&file, "gone/n.safetensors") && !is_origin(&file, "ready"));
        assert!(
            !is_origin(Path::new("go"), "gone/n.safetensors") && !is_origin(Path::new("gone"), "gone/a/n.safetensors")
        );
        assert!(super::is_origin(&NetworkSource::Ready, "ready") && !super::is_origin(&NetworkSource::Ready, &origin));
    }

    #[test]
    fn a_preset_goes_with_each_ready_network() {
        let spec = |game: &GameSpec| open(&NetworkSource::Ready, game).expect("carried").spec().expect("a known game");
        let (hive, dama) = (spec(&Hive::default().spec(26)), spec(&Dama::default().spec(Dama::USUAL_VIEW)));
        assert_eq!((presets::fitting(&hive), presets::fitting(&dama)), (Some("hive-cpu"), Some("dama-cpu")));
        let starts = |preset: &NetworkSpec| {
            let like = |ready: &NetworkSpec| preset.game.has_networks_of(&ready.game) && ready.shape == preset.shape;
            [&hive, &dama].into_iter().any(|ready| like(ready) || ready.grows_into(preset))
        };
        let names: Vec<_> = presets::networks().filter(|(_, spec)| starts(spec)).map(|(name, _)| name).collect();
        // The same stand in xtask/src/up/plan.rs, which links no libtorch.
        assert_eq!(names, ["hive-cpu", "hive-cpu-zero", "hive-4090", "dama-cpu", "dama-4090"]);
        let larger = net::NetworkSettings { blocks: 7, outlook_heads: true, ..hive.shape.settings };
        let wanted = |settings| NetworkSpec::new(&hive.game, settings).expect("such a network can be");
        let opened = |settings| open_as(&NetworkSource::Ready, &wanted(settings));
        let grown = opened(larger).expect("it grows").spec().expect("a known game");
        assert_eq!(grown, wanted(larger));
        let smaller = net::NetworkSettings { blocks: 2, ..hive.shape.settings };
        let error = opened(smaller).err().expect("another shape");
        assert_eq!(error.to_string(), "such a network goes with --preset hive-cpu");
    }
}

//! Finding the last whole checkpoint, writing the next, and making the first network of a run.

use std::collections::BTreeMap;

use net::{Device, NetError, Network, NetworkSpec, Trainer, TrainingSettings};
use networks::NetworkSource;
use runtime::exit::one_line;
use shared::ids::NetworkId;
use store::durable::DurableStore;
use store::files::{RunFiles, check_sha256};
use store::{Change, CheckpointRow, NewNetwork, StoreError};
use tracing::{info, warn};

use super::TrainerError;

/// Key of the number of roll-backs in a checkpoint.
const ROLLBACK_COUNT: &str = "rollback_count";

/// A trainer and what else its checkpoint holds.
pub(super) struct Restored {
    pub(super) trainer: Trainer,
    pub(super) rollback_count: u32,
}

/// Where checkpoints are and what they are of.
pub(super) struct Checkpoints {
    pub(super) files: RunFiles,
    pub(super) network: NetworkSpec,
    pub(super) device: Device,
    pub(super) settings: TrainingSettings,
    pub(super) store: DurableStore,
}

impl Checkpoints {
    /// Loads the newest checkpoint whose file is the one that the store names.
    pub(super) fn load(&self) -> Result<Restored, TrainerError> {
        let rows = self.store.store().reader()?.checkpoints()?;
        for row in &rows {
            match self.load_row(row) {
                Ok(restored) => return Ok(restored),
                Err(error) => warn!(file = row.file, error = one_line(&error), "checkpoint passed over"),
            }
        }
        Err(TrainerError::NoCheckpoint { dir: self.files.dir().to_owned() })
    }

    fn load_row(&self, row: &CheckpointRow) -> Result<Restored, TrainerError> {
        let path = self.files.dir().join(&row.file);
        check_sha256(&path, &row.sha256)?;
        let (trainer, extra) = Trainer::load_checkpoint(&path, &self.network, self.device, self.settings)?;
        let rollback_count = extra.get(ROLLBACK_COUNT).and_then(|text| text.parse().ok()).unwrap_or(0);
        match trainer.training_step() {
            0 => info!("training begins"),
            training_step => info!(training_step, "training goes on from its checkpoint"),
        }
        Ok(Restored { trainer, rollback_count })
    }

    /// Writes a checkpoint, then stores it together with `changes`, then deletes older ones.
    pub(super) fn save(
        &self,
        trainer: &Trainer,
        iteration: u32,
        rollback_count: u32,
        changes: Vec<Change>,
    ) -> Result<(), TrainerError> {
        let training_step = trainer.training_step();
        let path = self.files.checkpoint(training_step);
        let extra = BTreeMap::from([(ROLLBACK_COUNT.to_owned(), rollback_count.to_string())]);
        let sha256 = write_file(&self.store, || trainer.save_checkpoint(&path, &extra))?;
        let file = RunFiles::checkpoint_name(training_step);
        let row = CheckpointRow { training_step, file, sha256, iteration };
        Ok(put_checkpoint(&self.files, &self.store, row, changes)?)
    }
}

/// Stores a checkpoint whose file is complete, together with `changes`; then keeps the one before it, and deletes older ones.
///
/// # Errors
/// As [`DurableStore::write`].
pub(crate) fn put_checkpoint(
    files: &RunFiles,
    store: &DurableStore,
    row: CheckpointRow,
    mut changes: Vec<Change>,
) -> Result<(), StoreError> {
    let training_step = row.training_step;
    changes.push(Change::PutCheckpoint(row));
    store.write(changes)?;
    let rows = store.store().reader()?.checkpoints()?;
    for row in rows.iter().filter(|row| row.training_step < training_step).skip(1) {
        store.write(vec![Change::RemoveCheckpoint { training_step: row.training_step }])?;
        if let Err(error) = std::fs::remove_file(files.dir().join(&row.file)) {
            warn!(file = row.file, %error, "old checkpoint not deleted");
        }
    }
    Ok(())
}

/// Makes `network` network 1, generation 0, and writes the checkpoint that training starts from. `from` is where its
/// weights come from, unless they are random.
///
/// # Errors
/// [`TrainerError::Store`] if the disk refuses the files until the learner stops, [`TrainerError::Network`] if the
/// weights cannot be copied.
pub fn first_network(
    files: &RunFiles,
    network: Network,
    from: Option<&NetworkSource>,
    store: &DurableStore,
) -> Result<(), TrainerError> {
    let network_id = NetworkId::FIRST;
    let (path, checkpoint) = (files.network(network_id), files.checkpoint(0));
    let sha256 = write_file(store, || network.save(&path))?;
    let trainer = Trainer::new(network, TrainingSettings::default())?;
    let checkpoint_sha256 = write_file(store, || trainer.save_checkpoint(&checkpoint, &BTreeMap::new()))?;
    let file = RunFiles::network_path(network_id);
    let start = from.map(|source| Change::SetStartNetwork { file: source.to_string() });
    let mut changes = vec![
        Change::AddNetwork(NewNetwork { network_id, file, sha256, training_step: 0 }),
        Change::Promote { network_id },
        Change::PutCheckpoint(CheckpointRow {
            training_step: 0,
            file: RunFiles::checkpoint_name(0),
            sha256: checkpoint_sha256,
            iteration: 0,
        }),
    ];
    changes.extend(start);
    store.write(changes)?;
    Ok(())
}

/// Writes a file of weights; while the disk refuses it, warns and waits. Returns its SHA-256.
///
/// # Errors
/// [`TrainerError::Store`] once the learner stops, [`TrainerError::Network`] if the weights cannot be written at all.
pub(crate) fn write_file(
    store: &DurableStore,
    mut write: impl FnMut() -> Result<String, NetError>,
) -> Result<String, TrainerError> {
    let written = store.retry("write weights", || match write() {
        Err(NetError::Io { path, source, .. }) => Err(StoreError::Io { path, cause: source.into() }),
        written => Ok(written),
    })?;
    Ok(written?)
}

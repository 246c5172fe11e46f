//! Which files of rejected networks are deleted: all but the newest. Nothing reads them again: what continues from a
//! rejected candidate's weights reads the checkpoint.

use shared::ids::NetworkId;
use store::files::RunFiles;
use store::{NetworkState, Reader, StoreError};
use tracing::warn;

/// Deletes the files.
pub(crate) struct RejectedNetworks {
    keep: u32,
    files: RunFiles,
    /// Files up to this network are gone.
    deleted_until: Option<NetworkId>,
}

impl RejectedNetworks {
    /// Keeps the newest `keep` of them; 0: all.
    pub(crate) fn new(keep: u32, files: RunFiles) -> Self {
        Self { keep, files, deleted_until: None }
    }

    /// Deletes those that are not kept. Returns how many files there were.
    pub(crate) fn delete_old(&mut self, reader: &Reader) -> Result<u64, StoreError> {
        if self.keep == 0 {
            return Ok(0);
        }
        let mut rejected = reader.networks()?;
        rejected.retain(|row| row.state == NetworkState::Rejected);
        let old = &rejected[..rejected.len().saturating_sub(self.keep as usize)];
        let mut count = 0;
        let deleted_until = self.deleted_until;
        for row in old.iter().filter(|row| Some(row.network.network_id) > deleted_until) {
            let path = self.files.dir().join(&row.network.file);
            match std::fs::remove_file(&path) {
                Ok(()) => count += 1,
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                Err(error) => {
                    warn!(file = %path.display(), %error, "the file of a rejected network cannot be deleted");
                    break;
                }
            }
            self.deleted_until = Some(row.network.network_id);
        }
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use store::{Change, NewNetwork, RunRow, Store};

    use super::*;

    #[test]
    fn the_newest_rejected_networks_and_all_others_stay() {
        let folder = tempfile::tempdir().expect("a folder");
        let files = RunFiles::new(folder.path());
        files.create().expect("folders");
        let [run_id, created_at, game, config] = ["r", "t", "{}", "{}"].map(str::to_owned);
        let run = RunRow { run_id, created_at, game, config, seed: 1, start_network: None };
        let store = Store::open(folder.path(), &run).expect("a store");
        let ids: Vec<NetworkId> = (1..=7).filter_map(NetworkId::new).collect();
        for &network_id in &ids {
            let file = RunFiles::network_path(network_id);
            std::fs::write(folder.path().join(&file), "weights").expect("a file");
            let network = NewNetwork { network_id, file, sha256: String::new(), training_step: 0 };
            let verdict = match network_id.get() {
                1 | 3 => vec![Change::Promote { network_id }],
                7 => vec![],
                _ => vec![Change::Reject { network_id }],
            };
            store.write([vec![Change::AddNetwork(network)], verdict].concat()).expect("stored");
        }
        let left = || -> Vec<u32> {
            ids.iter()
                .filter(|network_id| files.network(**network_id).exists())
                .map(|network_id| network_id.get())
                .collect()
        };
        let reader = store.reader().expect("a reader");
        let mut all = RejectedNetworks::new(0, files.clone());
        assert_eq!((all.delete_old(&reader).expect("looked"), left().len()), (0, 7));
        let mut two = RejectedNetworks::new(2, files.clone());
        assert_eq!((two.delete_old(&reader).expect("deleted"), left()), (2, vec![1, 3, 5, 6, 7]));
        assert_eq!(two.delete_old(&reader).expect("nothing more"), 0);
        store.write(vec![Change::Reject { network_id: ids[6] }]).expect("stored");
        assert_eq!((two.delete_old(&reader).expect("deleted"), left()), (1, vec![1, 3, 6, 7]));
    }
}

//! The networks that an inference server has fetched: files in a folder of its own, as many as it keeps ready.

use std::path::Path;

use proto::remote_inference_client::RemoteInferenceClient;
use sha2::{Digest, Sha256};
use shared::ids::{NetworkId, NetworkRef};
use shared::wire::{network_id_from_wire, network_ref_to_wire};
use store::files::RunFiles;
use tokio::io::AsyncWriteExt;
use tonic::Status;

use super::SessionError;
use super::session::AuthChannel;

/// What is there, by last use: the one used last at the end.
#[derive(Debug)]
pub(super) struct FetchedNetworks {
    files: RunFiles,
    ids: Vec<NetworkId>,
    count_max: usize,
}

impl FetchedNetworks {
    /// Begins with nothing, in an empty folder.
    pub(super) fn new(folder: &Path, count_max: usize) -> Self {
        Self { files: RunFiles::new(folder), ids: Vec::new(), count_max }
    }

    pub(super) fn files(&self) -> &RunFiles {
        &self.files
    }

    /// Returns whether a network is there, and notes that it is used.
    pub(super) fn use_network(&mut self, network_id: NetworkId) -> bool {
        let Some(index) = self.ids.iter().position(|id| *id == network_id) else { return false };
        self.ids[index..].rotate_left(1);
        true
    }

    /// Notes a network that has come, and deletes those that have not been used for longest.
    pub(super) fn add(&mut self, network_id: NetworkId) {
        self.ids.push(network_id);
        while self.ids.len() > self.count_max {
            let oldest = self.ids.remove(0);
            // One that cannot be deleted goes with the folder.
            let _ = std::fs::remove_file(self.files.network(oldest));
        }
    }
}

/// Fetches a network into the folder. Returns which one it is.
///
/// # Errors
/// [`SessionError`]: the learner does not send it, it cannot be kept, or it came damaged.
pub(super) async fn fetch(
    client: &mut RemoteInferenceClient<AuthChannel>,
    server: &str,
    network: NetworkRef,
    files: &RunFiles,
) -> Result<NetworkId, SessionError> {
    let request = proto::FetchNetworkRequest {
        network_id: network_ref_to_wire(network),
        server: server.to_owned(),
        protocol_version: proto::PROTOCOL_VERSION,
        domain_version: shared::DOMAIN_VERSION,
    };
    let mut pieces = client.fetch_network(request).await?.into_inner();
    let first = pieces.message().await?.ok_or(SessionError::Closed)?;
    let network_id = network_id_from_wire("network_id", first.network_id);
    let network_id = network_id.map_err(|error| Status::data_loss(error.to_string()))?;
    files.create().map_err(SessionError::Keep)?;
    let path = files.network(network_id);
    let unfinished = path.with_extension("part");
    let mut file = tokio::fs::File::create(&unfinished).await.map_err(SessionError::Keep)?;
    let (mut digest, expected) = (Sha256::new(), first.sha256.clone());
    let mut piece = Some(first);
    while let Some(proto::NetworkPiece { data, .. }) = piece {
        digest.update(&data);
        file.write_all(&data).await.map_err(SessionError::Keep)?;
        piece = pieces.message().await?;
    }
    file.flush().await.map_err(SessionError::Keep)?;
    let sha256: String = digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    if sha256 != expected {
        return Err(SessionError::Damaged);
    }
    tokio::fs::rename(&unfinished, &path).await.map_err(SessionError::Keep)?;
    Ok(network_id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_networks_used_last_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let mut fetched = FetchedNetworks::new(folder.path(), 2);
        fetched.files().create().unwrap();
        let id = |number| NetworkId::new(number).unwrap();
        for number in 1..=3 {
            std::fs::write(fetched.files().network(id(number)), "weights").unwrap();
        }
        fetched.add(id(1));
        fetched.add(id(2));
        assert!(fetched.use_network(id(1)) && !fetched.use_network(id(3)));
        fetched.add(id(3));
        assert_eq!(fetched.ids, [id(1), id(3)]);
        let is_there = |number| fetched.files().network(id(number)).exists();
        assert_eq!([1, 2, 3].map(is_there), [true, false, true]);
    }
}

//! `learner export-network`: writes a network anew, in the current format, half as large if it is to be published.

use std::path::PathBuf;

use anyhow::Context;
use learner::start_network::network_of;
use net::{Device, NetworkFile};
use runtime::exit;

/// Which network, and where to write it.
#[derive(Debug, Clone, clap::Args)]
pub struct ExportNetworkArgs {
    /// Network or checkpoint, or the folder of a training.
    #[arg(long, value_name = "FILE")]
    network: PathBuf,
    /// File to write.
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// Write kernels and matrices in half precision: half the size, for publication.
    #[arg(long)]
    half: bool,
}

/// Writes the network and prints what it plays.
///
/// # Errors
/// A network that cannot be read, a file that cannot be written.
pub fn export_network(args: &ExportNetworkArgs) -> anyhow::Result<()> {
    let source = network_of(&args.network);
    let file = source.file().context("--network ready: it is published already; name a file")?;
    let network = NetworkFile::read(file)?.load(Device::CPU)?;
    let sha256 = if args.half { network.save_half(&args.out)? } else { network.save(&args.out)? };
    let byte_count = args.out.metadata().context("look at what was written")?.len();
    let text = format!("{}: {}\n{byte_count} bytes, SHA-256 {sha256}\n", args.out.display(), network.spec());
    exit::print(&text).context("write to stdout")
}

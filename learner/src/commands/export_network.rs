//! `learner export-network`: writes a network anew, or the mean of several, in the current format, half as large if it is
//! to be published.

use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};
use net::{Device, NetworkFile};
use networks::NetworkSource;
use runtime::exit::{self, UsageError};

/// Which network, and where to write it.
#[derive(Debug, Clone, clap::Args)]
pub struct ExportNetworkArgs {
    /// Network or checkpoint, or the folder of a training; several, such as those of one run, are averaged: the mean of
    /// each weight is often better than any of them.
    #[arg(long, value_name = "FILE", required = true, num_args = 1..)]
    network: Vec<PathBuf>,
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
    let (first, others) = args.network.split_first().context("clap asks for one")?;
    let first = file_of(first)?.load(Device::CPU)?;
    let load = |path: &PathBuf| anyhow::Ok(file_of(path)?.load_as(first.spec(), Device::CPU)?);
    let others = others.iter().map(load).collect::<anyhow::Result<Vec<_>>>()?;
    let network = first.mean_with(&others)?;
    let is_replaceable = args.out.is_file() || !args.out.exists();
    ensure!(is_replaceable, UsageError(format!("--out {}: it exists and is not a regular file", args.out.display())));
    let sha256 = if args.half { network.save_half(&args.out)? } else { network.save(&args.out)? };
    let byte_count = args.out.metadata().context("look at what was written")?.len();
    let text = format!("{}: {}\n{byte_count} bytes, SHA-256 {sha256}\n", args.out.display(), network.spec());
    exit::print(&text).context("write to stdout")
}

fn file_of(path: &Path) -> anyhow::Result<NetworkFile> {
    let source = NetworkSource::from(path);
    let file = source.file().context("--network ready: it is published already; name a file")?;
    Ok(NetworkFile::read(file)?)
}

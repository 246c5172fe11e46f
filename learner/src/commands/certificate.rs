//! `learner certificate`: the files of a fleet that speaks TLS by certificates of its own.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context;
use learner::certificates::{FleetCertificates, PemPair};
use runtime::exit::{self, UsageError};

/// Who may read a key, and who a certificate.
const KEY_MODE: u32 = 0o600;
const CERTIFICATE_MODE: u32 = 0o644;
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// For which names, and where the files go.
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "Makes in DIR:\n  \
    authority.pem   what workers trust: --authority; and the learner, if workers show certificates: server.client_authority\n  \
    server.pem      with server.key: the learner's --certificate and --key\n  \
    worker.pem      with worker.key: the workers' --certificate and --key, for a learner that asks for them\n  \
    authority.key   makes further certificates: keep it away from all machines, or delete it\n\n\
    Existing files are never overwritten. Certificates cannot be revoked: to shut somebody out, make all of them again.")]
pub struct CertificateArgs {
    /// Folder to put the files in.
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Names and IP addresses by which workers reach the learner.
    #[arg(long, value_name = "NAME", num_args = 1.., required = true)]
    host: Vec<String>,
    /// Days for which the certificates are valid, 1 to 36500.
    #[arg(long, value_name = "NUMBER", default_value_t = 3650, value_parser = clap::value_parser!(u32).range(1..=36_500))]
    days: u32,
}

/// Makes the certificates and writes them.
///
/// # Errors
/// A name that cannot be one of a host, a file that is there already, a folder that cannot be written.
pub fn certificate(args: &CertificateArgs) -> anyhow::Result<()> {
    let certificates = FleetCertificates::make(&args.host, DAY * args.days);
    let certificates = certificates.map_err(|error| UsageError(format!("--host: {}", exit::one_line(&error))))?;
    let files = files_of(&certificates);
    if let Some((name, ..)) = files.iter().find(|(name, ..)| args.out.join(name).exists()) {
        let there = args.out.join(name);
        return Err(UsageError(format!("--out: {} is there already: name another folder", there.display())).into());
    }
    fs::create_dir_all(&args.out).with_context(|| format!("create {}", args.out.display()))?;
    for (name, text, mode) in files {
        let path = args.out.join(name);
        write_new(&path, text, mode).with_context(|| format!("write {}", path.display()))?;
    }
    let dir = args.out.display();
    let text = format!(
        "learner:  --certificate {dir}/server.pem --key {dir}/server.key\n\
         workers:  --learner https://{}:50051 --authority {dir}/authority.pem\n",
        args.host[0]
    );
    exit::print(&text).context("write to stdout")
}

fn files_of(certificates: &FleetCertificates) -> [(&'static str, &str, u32); 6] {
    let FleetCertificates { authority, server, worker } = certificates;
    let [authority, server, worker] =
        [authority, server, worker].map(|PemPair { certificate, key }| (certificate, key));
    [
        ("authority.pem", authority.0, CERTIFICATE_MODE),
        ("authority.key", authority.1, KEY_MODE),
        ("server.pem", server.0, CERTIFICATE_MODE),
        ("server.key", server.1, KEY_MODE),
        ("worker.pem", worker.0, CERTIFICATE_MODE),
        ("worker.key", worker.1, KEY_MODE),
    ]
}

/// Writes a file that was not there before, with its permissions from the first byte on.
fn write_new(path: &Path, text: &str, mode: u32) -> std::io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(mode).open(path)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

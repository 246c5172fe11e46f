//! TLS of both sides by rustls: the files with certificates and keys are read and checked once, at the start, and each
//! complaint names the setting that it is about.
//!
//! What is made of them: [`client`] a way to reach a learner, [`server`] a way to be reached.

pub mod client;
pub mod server;

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use tokio_rustls::rustls;
use tokio_rustls::rustls::pki_types::pem::{self, PemObject};
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tonic::transport::{Certificate, Identity};

/// Most of a file that is read, in bytes: all authorities that a system trusts have a fifth of that.
const FILE_BYTES_MAX: u64 = 1 << 20;

/// A setting of TLS, by which an error can be blamed on what the user wrote.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TlsSetting {
    /// The address of the learner.
    Address,
    /// The authority whose certificates the other side must show.
    Authority,
    /// The own certificate.
    Certificate,
    /// The key of the own certificate.
    Key,
}

/// Why there can be no TLS.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// A file cannot be read.
    #[error("read {}", path.display())]
    Read {
        /// What it was to be.
        setting: TlsSetting,
        /// The file.
        path: PathBuf,
        /// Why not.
        #[source]
        source: io::Error,
    },
    /// A file is not in PEM format, or what it holds is damaged.
    #[error("{}: not a file in PEM format", path.display())]
    Format {
        /// What it was to be.
        setting: TlsSetting,
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        #[source]
        source: pem::Error,
    },
    /// A file holds something else.
    #[error("{} holds no {what}", path.display())]
    Missing {
        /// What it was to be.
        setting: TlsSetting,
        /// The file.
        path: PathBuf,
        /// What is looked for.
        what: &'static str,
    },
    /// Certificate and key do not belong together, or are not usable.
    #[error("{} cannot be used with {}", certificate.display(), key.display())]
    Pair {
        /// The file of the certificate.
        certificate: PathBuf,
        /// The file of the key.
        key: PathBuf,
        /// What is wrong with them.
        #[source]
        source: rustls::Error,
    },
    /// A certificate is given without its key, or the other way round.
    #[error("certificate and key go together: one is given without the other")]
    Half {
        /// The one that is missing.
        setting: TlsSetting,
    },
    /// Certificates of the authority cannot be used.
    #[error("{}: not the certificate of an authority", path.display())]
    Authority {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        #[source]
        source: rustls::Error,
    },
    /// Files are given for an address that is not reached by TLS.
    #[error("is for addresses that begin with https://, and the learner's is {address}")]
    NotTls {
        /// What is given in vain.
        setting: TlsSetting,
        /// The learner's address.
        address: String,
    },
    /// The address cannot be reached by TLS.
    #[error(
        "{address} cannot be reached by TLS; without --authority, this machine must have certificates of authorities"
    )]
    Connector {
        /// The learner's address.
        address: String,
        /// Why not.
        #[source]
        source: tonic::transport::Error,
    },
    /// Clients cannot be checked.
    #[error("clients cannot be checked by {}", path.display())]
    ClientCheck {
        /// The file of the authority.
        path: PathBuf,
        /// Why not.
        #[source]
        source: rustls::server::VerifierBuilderError,
    },
}

impl TlsError {
    /// Returns the setting that is to blame.
    #[must_use]
    pub const fn setting(&self) -> TlsSetting {
        match self {
            Self::Read { setting, .. }
            | Self::Format { setting, .. }
            | Self::Missing { setting, .. }
            | Self::Half { setting }
            | Self::NotTls { setting, .. } => *setting,
            Self::Pair { .. } => TlsSetting::Certificate,
            Self::Authority { .. } | Self::ClientCheck { .. } => TlsSetting::Authority,
            Self::Connector { .. } => TlsSetting::Address,
        }
    }
}

/// Certificates of a file, as they are written and as they are.
struct CertificateFile {
    pem: Vec<u8>,
    certificates: Vec<CertificateDer<'static>>,
}

impl CertificateFile {
    fn read(setting: TlsSetting, path: &Path) -> Result<Self, TlsError> {
        let pem = read(setting, path)?;
        let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&pem).collect();
        let certificates = found.map_err(|source| TlsError::Format { setting, path: path.into(), source })?;
        if certificates.is_empty() {
            return Err(TlsError::Missing { setting, path: path.into(), what: "certificate" });
        }
        Ok(Self { pem, certificates })
    }

    /// Reads certificates of authorities, each of which must be one that can be trusted.
    fn read_authority(path: &Path) -> Result<(Self, rustls::RootCertStore), TlsError> {
        let file = Self::read(TlsSetting::Authority, path)?;
        let mut roots = rustls::RootCertStore::empty();
        for certificate in &file.certificates {
            let added = roots.add(certificate.clone());
            added.map_err(|source| TlsError::Authority { path: path.into(), source })?;
        }
        Ok((file, roots))
    }

    fn for_tonic(&self) -> Certificate {
        Certificate::from_pem(&self.pem)
    }
}

/// A certificate and its key.
struct Pair {
    certificate: CertificateFile,
    key_pem: Vec<u8>,
    key: PrivateKeyDer<'static>,
}

impl Pair {
    fn read(certificate: &Path, key: &Path) -> Result<Self, TlsError> {
        let certificate = CertificateFile::read(TlsSetting::Certificate, certificate)?;
        let key_pem = read(TlsSetting::Key, key)?;
        let found = PrivateKeyDer::from_pem_slice(&key_pem).map_err(|source| match source {
            pem::Error::NoItemsFound => {
                TlsError::Missing { setting: TlsSetting::Key, path: key.into(), what: "private key" }
            }
            source => TlsError::Format { setting: TlsSetting::Key, path: key.into(), source },
        });
        Ok(Self { certificate, key: found?, key_pem })
    }

    fn for_tonic(&self) -> Identity {
        Identity::from_pem(&self.certificate.pem, &self.key_pem)
    }
}

fn read(setting: TlsSetting, path: &Path) -> Result<Vec<u8>, TlsError> {
    let mut bytes = Vec::new();
    let read = File::open(path).and_then(|file| file.take(FILE_BYTES_MAX).read_to_end(&mut bytes));
    read.map_err(|source| TlsError::Read { setting, path: path.into(), source })?;
    Ok(bytes)
}

/// Returns what encrypts: ring, which needs neither cmake nor an assembler to be built.
fn provider() -> std::sync::Arc<rustls::crypto::CryptoProvider> {
    std::sync::Arc::new(rustls::crypto::ring::default_provider())
}

//! The certificate that a server shows, and which clients it lets in.

use std::path::PathBuf;
use std::sync::Arc;

use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::server::WebPkiClientVerifier;
use tokio_rustls::rustls::{self, ServerConfig};
use tonic::transport::{Error, Server, ServerTlsConfig};

use super::{CertificateFile, Pair, TlsError, provider};

/// What HTTP/1.1 is called when a connection is made.
const ALPN_HTTP1: &[u8] = b"http/1.1";

/// Files of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerTlsFiles {
    /// The certificate, and those between it and its authority.
    pub certificate: PathBuf,
    /// Its key.
    pub key: PathBuf,
    /// Certificate of the authority that vouches for clients; none: clients need no certificate.
    pub client_authority: Option<PathBuf>,
}

/// TLS of a server, ready to be used.
#[derive(Clone)]
pub struct ServerTls {
    grpc: ServerTlsConfig,
    http: TlsAcceptor,
}

impl ServerTls {
    /// Reads the files and checks that they belong together.
    ///
    /// # Errors
    /// [`TlsError`]: a file that cannot be read or is not PEM, or a key that does not belong to its certificate.
    pub fn read(files: &ServerTlsFiles) -> Result<Self, TlsError> {
        let pair = Pair::read(&files.certificate, &files.key)?;
        let mut grpc = ServerTlsConfig::new().identity(pair.for_tonic());
        if let Some(path) = &files.client_authority {
            let (file, roots) = CertificateFile::read_authority(path)?;
            WebPkiClientVerifier::builder_with_provider(roots.into(), provider())
                .build()
                .map_err(|source| TlsError::ClientCheck { path: path.clone(), source })?;
            grpc = grpc.client_ca_root(file.for_tonic());
        }
        let unusable = |source| {
            let ServerTlsFiles { certificate, key, .. } = files.clone();
            TlsError::Pair { certificate, key, source }
        };
        let config = ServerConfig::builder_with_provider(provider()).with_safe_default_protocol_versions();
        let config = config.map_err(unusable)?.with_no_client_auth();
        let mut http = config.with_single_cert(pair.certificate.certificates, pair.key).map_err(unusable)?;
        http.alpn_protocols.push(ALPN_HTTP1.into());
        Ok(Self { grpc, http: TlsAcceptor::from(Arc::new(http)) })
    }

    /// Makes a gRPC server one that speaks TLS.
    ///
    /// # Errors
    /// If the certificate is not usable after all.
    pub fn of_grpc(&self, server: Server) -> Result<Server, Error> {
        // tonic asks for the one of the process. An error says that there is one already.
        let _ = rustls::crypto::ring::default_provider().install_default();
        server.tls_config(self.grpc.clone())
    }

    /// Returns what accepts connections of browsers and monitors, which need no certificate.
    #[must_use]
    pub fn http(&self) -> &TlsAcceptor {
        &self.http
    }
}

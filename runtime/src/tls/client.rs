//! How a worker or a command reaches its learner: by TLS or not, as the address says.

use std::fmt;
use std::path::PathBuf;

use tonic::transport::{Channel, ClientTlsConfig, Endpoint, Error};

use super::{CertificateFile, Pair, TlsError, TlsSetting};
use crate::limits::Address;

/// Files of a client.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ClientTlsFiles {
    /// Certificate of the authority that vouches for the learner; none: those that this machine trusts.
    pub authority: Option<PathBuf>,
    /// The own certificate, for a learner that asks for one.
    pub certificate: Option<PathBuf>,
    /// Its key.
    pub key: Option<PathBuf>,
}

/// An address with all that it takes to connect to it.
#[derive(Debug, Clone)]
pub struct Target {
    address: Address,
    endpoint: Endpoint,
}

impl Target {
    /// Reads the files that the address needs.
    ///
    /// # Errors
    /// [`TlsError`] if one cannot be used, or is given for an address without TLS.
    pub fn new(address: Address, files: &ClientTlsFiles) -> Result<Self, TlsError> {
        let endpoint = address.endpoint();
        let Address::Tls(authority) = &address else {
            let given = [
                (TlsSetting::Authority, &files.authority),
                (TlsSetting::Certificate, &files.certificate),
                (TlsSetting::Key, &files.key),
            ];
            let in_vain = given.into_iter().find(|(_, file)| file.is_some());
            return match in_vain {
                Some((setting, _)) => Err(TlsError::NotTls { setting, address: address.to_string() }),
                None => Ok(Self { address, endpoint }),
            };
        };
        let tls = client_config(files)?.domain_name(host_of(authority));
        let endpoint = endpoint.tls_config(tls);
        let endpoint = endpoint.map_err(|source| TlsError::Connector { address: address.to_string(), source })?;
        Ok(Self { address, endpoint })
    }

    /// Connects.
    ///
    /// # Errors
    /// If there is nobody, or somebody else.
    pub async fn connect(&self) -> Result<Channel, Error> {
        self.endpoint.connect().await
    }

    /// Changes how it is connected to, such as how long an answer may take.
    #[must_use]
    pub fn with(self, change: impl FnOnce(Endpoint) -> Endpoint) -> Self {
        Self { endpoint: change(self.endpoint), ..self }
    }
}

/// What a failed connection says when the two sides do not agree on TLS, and what to do about it.
const HINTS: [(&str, &str); 4] = [
    ("h2 protocol error", "is that the learner's port, and is it https:// there?"),
    ("InvalidContentType", "the learner speaks no TLS: write http://"),
    ("UnknownIssuer", "name the certificate of the learner's authority: --authority FILE"),
    ("not valid for name", "name the learner as its certificate does"),
];

/// Returns why a connection failed, in one line, and what to do about it if the two sides do not agree on TLS.
#[must_use]
pub fn explain(cause: &str) -> String {
    let hint = HINTS.iter().find(|(said, _)| cause.contains(said));
    hint.map_or_else(|| cause.to_owned(), |(_, hint)| format!("{cause}; {hint}"))
}

impl fmt::Display for Target {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.address.fmt(formatter)
    }
}

fn client_config(files: &ClientTlsFiles) -> Result<ClientTlsConfig, TlsError> {
    let config = match &files.authority {
        Some(path) => ClientTlsConfig::new().ca_certificate(CertificateFile::read_authority(path)?.0.for_tonic()),
        None => ClientTlsConfig::new().with_native_roots(),
    };
    match (&files.certificate, &files.key) {
        (None, None) => Ok(config),
        (Some(certificate), Some(key)) => Ok(config.identity(Pair::read(certificate, key)?.for_tonic())),
        (Some(_), None) => Err(TlsError::Half { setting: TlsSetting::Key }),
        (None, Some(_)) => Err(TlsError::Half { setting: TlsSetting::Certificate }),
    }
}

/// Returns the name that the learner's certificate must have: an IPv6 address without its brackets.
fn host_of(authority: &str) -> &str {
    let host = authority.rsplit_once(':').map_or(authority, |(host, _)| host);
    host.trim_start_matches('[').trim_end_matches(']')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_two_sides_disagree_on_is_said_with_what_to_do() {
        assert_eq!(explain("connection refused"), "connection refused");
        let cause = "transport error: invalid peer certificate: UnknownIssuer";
        assert_eq!(
            explain(cause),
            format!("{cause}; name the certificate of the learner's authority: --authority FILE")
        );
    }
}

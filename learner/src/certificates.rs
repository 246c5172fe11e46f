//! Certificates for a fleet of one's own: an authority that nobody else knows, and by it a certificate for the learner
//! and one for its workers. They are made here; where they are kept is the business of the command.

use std::time::{Duration, SystemTime};

use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair, KeyUsagePurpose,
};

/// Clocks of workers may be this much behind that of the machine where the certificates are made.
const CLOCK_SKEW_MAX: Duration = Duration::from_secs(60 * 60);

/// A certificate and its key, in PEM format.
pub struct PemPair {
    /// The certificate.
    pub certificate: String,
    /// Its key: whoever has it is taken for its owner.
    pub key: String,
}

/// The certificates of a fleet.
pub struct FleetCertificates {
    /// What all members trust. Its key makes further certificates.
    pub authority: PemPair,
    /// What the learner shows.
    pub server: PemPair,
    /// What workers show to a learner that asks for it.
    pub worker: PemPair,
}

/// A certificate cannot be made.
#[derive(Debug, thiserror::Error)]
#[error("make the certificate of the {owner}")]
pub struct CertificateError {
    owner: &'static str,
    source: rcgen::Error,
}

impl FleetCertificates {
    /// Makes an authority, a certificate for a learner that is reached by these names and IP addresses, and one for
    /// workers.
    ///
    /// # Errors
    /// [`CertificateError`] if a name cannot be one of a host.
    pub fn make(hosts: &[String], valid_for: Duration) -> Result<Self, CertificateError> {
        let failed = |owner| move |source| CertificateError { owner, source };
        let (authority, issuer) = make_authority(valid_for).map_err(failed("authority"))?;
        let server = make_leaf("Alveare learner", hosts, ExtendedKeyUsagePurpose::ServerAuth, valid_for, &issuer);
        let worker = make_leaf("Alveare worker", &[], ExtendedKeyUsagePurpose::ClientAuth, valid_for, &issuer);
        Ok(Self { authority, server: server.map_err(failed("learner"))?, worker: worker.map_err(failed("workers"))? })
    }
}

fn make_authority(valid_for: Duration) -> Result<(PemPair, Issuer<'static, KeyPair>), rcgen::Error> {
    let (mut params, key) = (params("Alveare authority", &[], valid_for)?, KeyPair::generate()?);
    // It vouches for members, and for no further authority.
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    let pair = PemPair { certificate: params.self_signed(&key)?.pem(), key: key.serialize_pem() };
    Ok((pair, Issuer::new(params, key)))
}

fn make_leaf(
    name: &str,
    hosts: &[String],
    purpose: ExtendedKeyUsagePurpose,
    valid_for: Duration,
    issuer: &Issuer<'static, KeyPair>,
) -> Result<PemPair, rcgen::Error> {
    let (mut params, key) = (params(name, hosts, valid_for)?, KeyPair::generate()?);
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    params.extended_key_usages = vec![purpose];
    params.use_authority_key_identifier_extension = true;
    Ok(PemPair { certificate: params.signed_by(&key, issuer)?.pem(), key: key.serialize_pem() })
}

fn params(name: &str, hosts: &[String], valid_for: Duration) -> Result<CertificateParams, rcgen::Error> {
    let mut params = CertificateParams::new(hosts)?;
    let now = SystemTime::now();
    params.not_before = (now - CLOCK_SKEW_MAX).into();
    params.not_after = (now + valid_for).into();
    params.distinguished_name.push(DnType::CommonName, name);
    Ok(params)
}

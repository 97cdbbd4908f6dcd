//! The certificates that TLS trusts.
//!
//! Owns the configuration of TLS, which is made once. INVARIANT: a certificate that the person
//! names is trusted besides those that browsers trust; a file of theirs that cannot be read is an
//! error and not an empty list.
//! It connects to nothing. Read next: `connection.rs`.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use duet_runtime::driver::ToolFailure;
use tokio_rustls::rustls::pki_types::CertificateDer;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::{ClientConfig, RootCertStore, crypto};

use crate::tool::failure::Kind;

/// The file with further certificates.
static FILE: OnceLock<PathBuf> = OnceLock::new();

/// Trusts the certificates in a PEM file, too, such as those of a company. The first connection
/// with TLS reads it; later calls have no effect.
pub fn trust(file: PathBuf) {
    // The first file stays.
    let _ = FILE.set(file);
}

/// Returns the TLS configuration.
///
/// # Errors
/// `failed` if the file cannot be read or has no certificate.
pub(super) fn configuration() -> Result<Arc<ClientConfig>, ToolFailure> {
    static CONFIGURATION: OnceLock<Result<Arc<ClientConfig>, String>> = OnceLock::new();
    let made = CONFIGURATION.get_or_init(|| make(FILE.get().map(PathBuf::as_path)));
    made.clone().map_err(|why| Kind::Failed.because(why))
}

fn make(file: Option<&Path>) -> Result<Arc<ClientConfig>, String> {
    let mut roots = RootCertStore {
        roots: webpki_roots::TLS_SERVER_ROOTS.to_vec(),
    };
    if let Some(file) = file {
        let wrong = |why: String| format!("the certificates in `{}` cannot be used: {why}", file.display());
        let found = CertificateDer::pem_file_iter(file).and_then(Iterator::collect::<Result<Vec<_>, _>>);
        let found = found.map_err(|error| wrong(error.to_string()))?;
        if found.is_empty() {
            return Err(wrong("there are none".to_owned()));
        }
        for certificate in found {
            roots.add(certificate).map_err(|error| wrong(error.to_string()))?;
        }
    }
    let provider = Arc::new(crypto::ring::default_provider());
    let versions = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let versions = versions.map_err(|error| format!("TLS cannot be set up: {error}"))?;
    Ok(Arc::new(versions.with_root_certificates(roots).with_no_client_auth()))
}

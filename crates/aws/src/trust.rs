//! Trusted certificates of TLS connections: those of the operating system, or those of the file in `AWS_CA_BUNDLE`.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::{env, fmt, fs};

use aws_sdk_dynamodb::config::SharedHttpClient;
use aws_smithy_http_client::proxy::ProxyConfig;
use aws_smithy_http_client::tls::rustls_provider::CryptoMode;
use aws_smithy_http_client::tls::{Provider, TlsContext, TrustStore};
use aws_smithy_http_client::{Builder, ConnectorBuilder};
use rustls::RootCertStore;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;

/// Environment variable that the AWS tools use.
const VARIABLE: &str = "AWS_CA_BUNDLE";

/// The certificate file in `AWS_CA_BUNDLE` cannot be used.
#[derive(Debug)]
pub struct TrustError {
    file: PathBuf,
    reason: &'static str,
    source: Option<Box<dyn Error + Send + Sync>>,
}

impl fmt::Display for TrustError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, reason, source } = self;
        write!(f, "{VARIABLE} names {}, which {reason}", file.display())?;
        if let Some(source) = source {
            write!(f, " ({source})")?;
        }
        write!(f, ": name a file of PEM certificates, or unset {VARIABLE}")
    }
}

impl Error for TrustError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.source.as_ref().map(|source| &**source as &(dyn Error + 'static))
    }
}

/// Reason why a file is rejected, with its cause if there is one.
type Rejected = (&'static str, Option<Box<dyn Error + Send + Sync>>);

/// Returns a closure that adds the reason to a cause.
fn because<E: Error + Send + Sync + 'static>(reason: &'static str) -> impl FnOnce(E) -> Rejected {
    move |error| (reason, Some(error.into()))
}

/// Returns a client that trusts only the certificates in `AWS_CA_BUNDLE`; `None` if the variable is not set.
pub(crate) fn client() -> Result<Option<SharedHttpClient>, TrustError> {
    match env::var_os(VARIABLE).filter(|file| !file.is_empty()) {
        Some(file) => trusting(Path::new(&file)).map(Some),
        None => Ok(None),
    }
}

fn trusting(file: &Path) -> Result<SharedHttpClient, TrustError> {
    let failed = |(reason, source): Rejected| TrustError { file: file.to_owned(), reason, source };
    let pem = fs::read(file).map_err(because("cannot be read")).map_err(failed)?;
    check(&pem).map_err(failed)?;
    let store = TrustStore::empty().with_pem_certificate(pem);
    let context = TlsContext::builder().with_trust_store(store).build();
    let context = context.map_err(because("cannot be used")).map_err(failed)?;
    Ok(with_context(context))
}

/// Rejects files on which the SDK's client would panic later: it does not parse the file until the first connection.
fn check(pem: &[u8]) -> Result<(), Rejected> {
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(pem) {
        let certificate = certificate.map_err(because("is not valid PEM"))?;
        roots.add(certificate).map_err(because("has a certificate that is not valid"))?;
    }
    if roots.is_empty() { Err(("has no certificate", None)) } else { Ok(()) }
}

/// Builds the SDK's client with other certificates. It uses the proxy of the environment, as the default client does:
/// companies with their own certificates often have a proxy.
fn with_context(context: TlsContext) -> SharedHttpClient {
    Builder::new().build_with_connector_fn(move |settings, components| {
        let provider = Provider::Rustls(CryptoMode::AwsLc);
        let mut connector = ConnectorBuilder::default().tls_provider(provider).tls_context(context.clone());
        connector.set_connector_settings(settings.cloned());
        connector.set_sleep_impl(components.and_then(|components| components.sleep_impl()));
        connector.set_proxy_config(Some(ProxyConfig::from_env()));
        connector.build()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_without_usable_certificates_is_refused_with_its_name() {
        let folder = tempfile::tempdir().unwrap();
        for (content, reason) in [
            (None, "cannot be read"),
            (Some(""), "has no certificate"),
            (Some("-----BEGIN CERTIFICATE-----\n!!!!\n-----END CERTIFICATE-----\n"), "is not valid PEM"),
            (Some("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"), "has a certificate that is not"),
        ] {
            let file = folder.path().join("bundle.pem");
            match content {
                Some(content) => fs::write(&file, content).unwrap(),
                None => assert!(!file.exists()),
            }
            let error = trusting(&file).unwrap_err().to_string();
            assert!(error.contains(reason) && error.contains("bundle.pem"), "{error}");
        }
    }
}

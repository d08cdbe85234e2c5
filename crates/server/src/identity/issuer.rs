//! Setting of an OpenID provider.

use std::fmt;

use hyper::Uri;

use super::discovery::is_permitted;

/// OpenID provider whose tokens the server accepts, for given audiences.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Issuer {
    url: String,
    audiences: Vec<String>,
}

impl Issuer {
    /// Creates the setting. `url` is the provider's issuer identifier exactly as its tokens carry it in `iss`; a token
    /// must be for one of the `audiences`.
    ///
    /// # Errors
    /// The URL does not use https and is not on loopback, it has a query or a fragment, or there is no audience.
    pub fn new(url: &str, audiences: Vec<String>) -> Result<Self, IssuerError> {
        let parsed: Uri = url.parse().map_err(|_| IssuerError::Url(url.to_owned()))?;
        if !is_permitted(&parsed) || url.contains(['?', '#']) {
            return Err(IssuerError::Url(url.to_owned()));
        }
        if audiences.is_empty() {
            return Err(IssuerError::Audience(url.to_owned()));
        }
        Ok(Self { url: url.to_owned(), audiences })
    }

    /// Returns the issuer identifier.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    pub(crate) fn audiences(&self) -> &[String] {
        &self.audiences
    }
}

/// Reason why an issuer cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IssuerError {
    /// Not an https URL without query and fragment, nor an http URL on loopback.
    Url(String),
    /// No audience was given.
    Audience(String),
}

impl fmt::Display for IssuerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Url(url) => write!(
                f,
                "{url:?} is not an issuer: it must be an https URL without query and fragment; http is allowed on loopback only"
            ),
            Self::Audience(url) => write!(
                f,
                "no audience is configured for tokens of {url}: name the client id or API identifier that the provider puts into `aud` of tokens for this server, because it issues tokens for other applications too"
            ),
        }
    }
}

impl std::error::Error for IssuerError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn issuers_use_https_except_on_loopback() {
        for (url, good) in [
            ("https://tenant.eu.auth0.com/", true),
            ("https://cognito-idp.eu-west-1.amazonaws.com/eu-west-1_abc", true),
            ("https://login.example.com:8443/realms/main", true),
            ("http://127.0.0.1:3000", true),
            ("http://[::1]:3000/a", true),
            ("http://localhost:3000", true),
            ("http://login.example.com", false),
            ("http://localhost.example.com", false),
            ("http://127.0.0.1.example.com", false),
            ("ftp://login.example.com", false),
            ("login.example.com", false),
            ("https://login.example.com/?tenant=a", false),
            ("https://login.example.com/#a", false),
            ("https://user@login.example.com/", false),
            ("", false),
        ] {
            assert_eq!(Issuer::new(url, vec!["api".to_owned()]).is_ok(), good, "{url}");
        }
        assert!(matches!(Issuer::new("https://login.example.com", Vec::new()), Err(IssuerError::Audience(_))));
    }
}

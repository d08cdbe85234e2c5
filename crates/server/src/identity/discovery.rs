//! Documents of an OpenID provider: its configuration (OpenID Connect Discovery 1.0), and the lifetime of its keys.

use std::net::IpAddr;
use std::time::Duration;

use hyper::Uri;
use serde_json::Value;

/// Lifetime of keys whose answer does not name one.
const LIFETIME: Duration = Duration::from_secs(60 * 60);
/// Bounds of the lifetime that a provider may name: a shorter one would cause too many requests, and a longer one would
/// keep withdrawn keys too long.
const LIFETIME_MIN: Duration = Duration::from_secs(5 * 60);
const LIFETIME_MAX: Duration = Duration::from_secs(24 * 60 * 60);

/// Returns the URL of the provider's configuration.
pub(super) fn configuration_url(issuer: &str) -> String {
    format!("{}/.well-known/openid-configuration", issuer.trim_end_matches('/'))
}

/// Returns whether the server may connect to a URL: over https, or over http on loopback.
pub(super) fn is_permitted(url: &Uri) -> bool {
    let Some(host) = url.host() else { return false };
    let has_user = url.authority().is_some_and(|authority| authority.as_str().contains('@'));
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    let is_loopback = bare == "localhost" || bare.parse().is_ok_and(|address: IpAddr| address.is_loopback());
    !has_user && (url.scheme_str() == Some("https") || url.scheme_str() == Some("http") && is_loopback)
}

/// Returns the URL of the key set from the configuration, which must be the issuer's own.
///
/// # Errors
/// The reason why the configuration cannot be used.
pub(super) fn key_set_url(issuer: &str, configuration: &[u8]) -> Result<String, String> {
    let configuration: Value =
        serde_json::from_slice(configuration).map_err(|_| "its configuration is not JSON".to_owned())?;
    match configuration["issuer"].as_str() {
        Some(named) if named == issuer => {}
        Some(named) => return Err(format!("its configuration names the issuer {named:?}: configure exactly this URL")),
        None => return Err("its configuration has no `issuer`".to_owned()),
    }
    let url = configuration["jwks_uri"].as_str().ok_or("its configuration has no `jwks_uri`")?;
    let parsed: Option<Uri> = url.parse().ok();
    // A provider on https may not refer to a clear-text address.
    let secure = |parsed: &Uri| parsed.scheme_str() == Some("https") || issuer.starts_with("http://");
    match parsed.filter(|parsed| is_permitted(parsed) && secure(parsed)) {
        Some(_) => Ok(url.to_owned()),
        None => Err(format!("its `jwks_uri` {url:?} does not use https")),
    }
}

/// Returns how long to keep keys, from the header `Cache-Control` of the key set.
pub(super) fn lifetime(cache_control: Option<&str>) -> Duration {
    let Some(directives) = cache_control else { return LIFETIME };
    let mut directives = directives.split(',').map(|directive| directive.trim().to_ascii_lowercase());
    let mut lifetime = LIFETIME;
    if directives.clone().any(|directive| directive == "no-store" || directive == "no-cache") {
        return LIFETIME_MIN;
    }
    if let Some(seconds) = directives.find_map(|directive| directive.strip_prefix("max-age=").map(str::to_owned)) {
        lifetime = seconds.trim_matches('"').parse().map_or(LIFETIME, Duration::from_secs);
    }
    lifetime.clamp(LIFETIME_MIN, LIFETIME_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_configuration_belongs_to_the_issuer() {
        assert_eq!(configuration_url("https://a.example/"), "https://a.example/.well-known/openid-configuration");
        assert_eq!(configuration_url("https://a.example/b"), "https://a.example/b/.well-known/openid-configuration");
        for (issuer, text, good) in [
            ("https://a.example", r#"{"issuer":"https://a.example","jwks_uri":"https://keys.example/jwks"}"#, true),
            ("https://a.example/", r#"{"issuer":"https://a.example","jwks_uri":"https://a.example/jwks"}"#, false),
            ("https://a.example", r#"{"issuer":"https://b.example","jwks_uri":"https://a.example/jwks"}"#, false),
            ("https://a.example", r#"{"jwks_uri":"https://a.example/jwks"}"#, false),
            ("https://a.example", r#"{"issuer":"https://a.example"}"#, false),
            ("https://a.example", r#"{"issuer":"https://a.example","jwks_uri":"http://a.example/jwks"}"#, false),
            ("https://a.example", r#"{"issuer":"https://a.example","jwks_uri":"http://127.0.0.1/jwks"}"#, false),
            ("http://127.0.0.1", r#"{"issuer":"http://127.0.0.1","jwks_uri":"http://127.0.0.1/jwks"}"#, true),
            ("https://a.example", r#"{"issuer":"https://a.example","jwks_uri":"file:///etc/passwd"}"#, false),
            ("https://a.example", "[]", false),
            ("https://a.example", "<html>", false),
        ] {
            assert_eq!(key_set_url(issuer, text.as_bytes()).is_ok(), good, "{issuer} {text}");
        }
    }

    #[test]
    fn lifetimes_are_bounded() {
        for (header, seconds) in [
            (None, 3600),
            (Some("public, max-age=21600"), 21600),
            (Some("Max-Age=600"), 600),
            (Some("max-age=0"), 300),
            (Some("max-age=99999999"), 86400),
            (Some("max-age=99999999999999999999999"), 3600),
            (Some("no-cache, max-age=7200"), 300),
            (Some("private"), 3600),
        ] {
            assert_eq!(lifetime(header), Duration::from_secs(seconds), "{header:?}");
        }
    }
}

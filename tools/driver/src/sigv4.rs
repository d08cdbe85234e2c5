//! Signatures for DynamoDB's `POST /`, with AWS's documented example credentials.

#![expect(clippy::disallowed_methods, reason = "it signs for servers with the real clock")]

use std::time::SystemTime;

use aws_credential_types::Credentials;
use aws_sigv4::http_request::{SignableBody, SignableRequest, SigningSettings, sign};
use aws_sigv4::sign::v4;

/// The access key id of AWS's documentation, which ExtendDB accepts in its developer mode.
pub const ACCESS_KEY: &str = "AKIAIOSFODNN7EXAMPLE";
/// The secret that belongs to [`ACCESS_KEY`].
pub const SECRET_KEY: &str = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY";
/// The region that requests are signed for.
pub const REGION: &str = "us-east-1";

/// The content type of every request.
pub const CONTENT_TYPE: &str = "application/x-amz-json-1.0";

/// Signs requests for one time and one host.
#[derive(Debug)]
pub struct Signer {
    host: String,
    time: SystemTime,
    credentials: Credentials,
}

impl Signer {
    /// Creates a signer for requests sent now to the host (`name:port`).
    #[must_use]
    pub fn now(host: &str) -> Self {
        Self::at(host, SystemTime::now())
    }

    /// Creates a signer for requests sent at this time.
    #[must_use]
    pub fn at(host: &str, time: SystemTime) -> Self {
        let credentials = Credentials::new(ACCESS_KEY, SECRET_KEY, None, None, "documentation");
        Self { host: host.to_owned(), time, credentials }
    }

    /// Returns the headers that sign a body sent to a target such as `DynamoDB_20120810.GetItem`: names and values.
    #[must_use]
    pub fn headers(&self, target: &str, body: &[u8]) -> Vec<(String, String)> {
        let identity = self.credentials.clone().into();
        let parameters = v4::SigningParams::builder()
            .identity(&identity)
            .region(REGION)
            .name("dynamodb")
            .time(self.time)
            .settings(SigningSettings::default())
            .build()
            .expect("all parameters are set")
            .into();
        let url = format!("http://{}/", self.host);
        let signed = [("content-type", CONTENT_TYPE), ("host", &self.host), ("x-amz-target", target)];
        let request = SignableRequest::new("POST", url, signed.into_iter(), SignableBody::Bytes(body))
            .expect("a host and a port make a URL");
        let (instructions, _) = sign(request, &parameters).expect("a plain request can be signed").into_parts();
        instructions.headers().map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_request_is_signed_by_the_documented_algorithm() {
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1_794_742_573);
        let headers = Signer::at("127.0.0.1:8000", time).headers("DynamoDB_20120810.ListTables", b"{}");
        let value = |name: &str| headers.iter().find(|(header, _)| header == name).map(|(_, value)| value.as_str());
        assert_eq!(value("x-amz-date"), Some("20261115T113613Z"));
        // Computed with `hmac` and `hashlib` of Python's standard library.
        let expected = "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20261115/us-east-1/dynamodb/aws4_request, \
                        SignedHeaders=content-type;host;x-amz-date;x-amz-target, Signature=a9558966105b0d39d6101518b5bd52fcf13fa84cfde5929a3ed91934dfe60f6a";
        assert_eq!(value("authorization"), Some(expected));
    }
}

//! AWS Signature Version 4 for DynamoDB's `POST /`, with AWS's documented example credentials.
//!
//! Only what these requests need: an empty query, four signed headers, the body's hash. The signing key of a day
//! is derived once and kept.

#![expect(clippy::disallowed_methods, reason = "it signs for servers with the real clock")]

use std::fmt::Write;
use std::time::{SystemTime, UNIX_EPOCH};

use aws_lc_rs::{digest, hmac};

/// The access key id of AWS's documentation, which ExtendDB accepts in its developer mode.
pub const ACCESS_KEY: &str = "AKIAIOSFODNN7EXAMPLE";
/// The secret that belongs to [`ACCESS_KEY`].
pub const SECRET_KEY: &str = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY";
/// The region that requests are signed for.
pub const REGION: &str = "us-east-1";

const SIGNED_HEADERS: &str = "content-type;host;x-amz-date;x-amz-target";
/// The content type of every request.
pub const CONTENT_TYPE: &str = "application/x-amz-json-1.0";

/// Signs requests at one moment, to one host.
#[derive(Debug)]
pub struct Signer {
    host: String,
    timestamp: String,
    key: hmac::Tag,
}

impl Signer {
    /// A signer for requests sent now to the host (`name:port`).
    #[must_use]
    pub fn now(host: &str) -> Self {
        let elapsed = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |elapsed| elapsed.as_secs());
        Self::at(host, elapsed)
    }

    /// A signer for requests sent at a Unix time.
    #[must_use]
    pub fn at(host: &str, unix_secs: u64) -> Self {
        let timestamp = timestamp(unix_secs);
        let key = signing_key(&timestamp[..8]);
        Self { host: host.to_owned(), timestamp, key }
    }

    /// The value of `X-Amz-Date`.
    #[must_use]
    pub fn timestamp(&self) -> &str {
        &self.timestamp
    }

    /// The value of `Authorization` for a body sent to a target such as `DynamoDB_20120810.GetItem`.
    #[must_use]
    pub fn authorization(&self, target: &str, body: &[u8]) -> String {
        let scope = format!("{}/{REGION}/dynamodb/aws4_request", &self.timestamp[..8]);
        let canonical = format!(
            "POST\n/\n\ncontent-type:{CONTENT_TYPE}\nhost:{}\nx-amz-date:{}\nx-amz-target:{target}\n\n{SIGNED_HEADERS}\n{}",
            self.host,
            self.timestamp,
            hash(body)
        );
        let text = format!("AWS4-HMAC-SHA256\n{}\n{scope}\n{}", self.timestamp, hash(canonical.as_bytes()));
        let signature = hex(mac(self.key.as_ref(), text.as_bytes()).as_ref());
        format!(
            "AWS4-HMAC-SHA256 Credential={ACCESS_KEY}/{scope}, SignedHeaders={SIGNED_HEADERS}, Signature={signature}"
        )
    }
}

fn signing_key(date: &str) -> hmac::Tag {
    let secret = format!("AWS4{SECRET_KEY}");
    let date = mac(secret.as_bytes(), date.as_bytes());
    let region = mac(date.as_ref(), REGION.as_bytes());
    let service = mac(region.as_ref(), b"dynamodb");
    mac(service.as_ref(), b"aws4_request")
}

fn mac(key: &[u8], data: &[u8]) -> hmac::Tag {
    hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, key), data)
}

fn hash(data: &[u8]) -> String {
    hex(digest::digest(&digest::SHA256, data).as_ref())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        write!(text, "{byte:02x}").expect("writing to a string cannot fail");
        text
    })
}

/// `20261115T113000Z` from a Unix time: days to a civil date by counting 400-year eras from 0000-03-01.
fn timestamp(unix_secs: u64) -> String {
    let (days, secs) = (unix_secs / 86_400 + 719_468, unix_secs % 86_400);
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    format!("{year:04}{month:02}{day:02}T{:02}{:02}{:02}Z", secs / 3_600, secs / 60 % 60, secs % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timestamps_are_civil_dates() {
        assert_eq!(timestamp(0), "19700101T000000Z");
        assert_eq!(timestamp(951_782_400), "20000229T000000Z");
        assert_eq!(timestamp(1_794_742_573), "20261115T113613Z");
    }

    #[test]
    fn the_signing_key_is_the_one_of_the_documentation() {
        let derive = |service: &[u8]| {
            let date = mac(b"AWS4wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", b"20120215");
            let region = mac(date.as_ref(), b"us-east-1");
            let service = mac(region.as_ref(), service);
            hex(mac(service.as_ref(), b"aws4_request").as_ref())
        };
        assert_eq!(derive(b"iam"), "f4780e2d9f65fa895f9c67b32ce1baf0b0d8a43505a000a1a9e090d414db404d");
    }
}

//! Definition of every setting: its name, its help, and its parser.

use std::path::PathBuf;
use std::time::Duration;

use keyform::Durability;
use tracing::level_filters::LevelFilter;

use super::{AccessLog, Config, LogFormat, StoreKind};

/// Definition of one setting.
#[derive(Clone, Copy)]
pub(crate) struct Setting {
    /// Name in `keyform.toml`; flag and variable are derived from it.
    pub(crate) name: &'static str,
    /// Placeholder of the value in the help; empty for a switch.
    pub(crate) value: &'static str,
    /// Help text, one sentence.
    pub(crate) help: &'static str,
    /// Description of a valid value, for the message "… is not …".
    pub(crate) expected: &'static str,
    /// Parses and stores a value; returns `None` if it is invalid.
    pub(crate) set: fn(&mut Config, &str) -> Option<()>,
}

impl Setting {
    /// Returns the flag without its dashes.
    pub(crate) fn flag(&self) -> String {
        self.name.replace('_', "-")
    }

    /// Returns whether the value is a list: a repeated flag, or an array in the file.
    pub(crate) fn is_list(&self) -> bool {
        ["allowed_host", "cors_origin", "oidc_issuer", "oidc_audience", "trusted_proxy"].contains(&self.name)
    }

    /// Returns the name of the environment variable.
    pub(crate) fn variable(&self) -> String {
        format!("KEYFORM_{}", self.name.to_ascii_uppercase())
    }
}

macro_rules! settings {
    ($($name:ident, $value:literal, $help:literal, $expected:expr, $parse:expr;)*) => {
        [$(Setting {
            name: stringify!($name),
            value: $value,
            help: $help,
            expected: $expected,
            set: |config, text| {
                config.$name = $parse(text)?;
                Some(())
            },
        },)*]
    };
}

const SWITCH: &str = "true or false";
const DURATION: &str = "a duration such as 30s, 500ms or 2m";
const COUNT: &str = "a number greater than zero";
const TEXT: &str = "a text";

/// All settings, in the order of the help.
#[rustfmt::skip]
pub(crate) static SETTINGS: &[Setting] = &settings! {
    host, "ADDRESS", "Address or host name to listen on [default: 127.0.0.1]", TEXT, text;
    port, "PORT", "Port to listen on; 0 chooses a free one [default: 8000]", "a port: a number from 0 to 65535", number;
    allowed_host, "NAMES", "Host names that requests may use besides localhost and --host; repeat the flag or \
        separate names with commas", "host names such as keyform.test, separated by commas", names;
    cors_origin, "ORIGINS", "Origins of web pages that may call /v1 from a browser, such as https://app.example.com, \
        https://*.example.com or *; repeat the flag or separate origins with commas", "origins such as https://app.example.com, separated by commas", list;
    cors_credentials, "", "Let pages of --cors-origin send cookies and HTTP authentication", SWITCH, switch;
    tls_cert, "FILE", "Serve HTTPS with this certificate chain (PEM); needs --tls-key", "a file", some_path;
    tls_key, "FILE", "Private key of --tls-cert (PEM), readable by its owner only", "a file", some_path;
    trusted_proxy, "NETWORKS", "Networks of proxies, such as 10.0.0.0/8, whose X-Forwarded-For, X-Forwarded-Proto and \
        Forwarded headers name the client; repeat the flag or separate networks with commas", "networks such as 10.0.0.0/8, separated by commas", list;
    metrics_port, "PORT", "Separate port for /metrics, without credentials; 0 chooses a free one", "a port: a number from 0 to 65535", some_number;
    metrics_host, "ADDRESS", "Address or host name of --metrics-port [default: 127.0.0.1]", TEXT, some_text;
    data, "DIRECTORY", "Data directory, created if missing [default: ./keyform-data]", "a directory", path;
    files, "DIRECTORY", "Directory for data outside items, such as documents [default: DATA-files beside the data \
        directory; required with --store dynamodb]", "a directory", some_path;
    in_memory, "", "Keep everything in memory and nothing on disk", SWITCH, switch;
    durability, "MODE", "sync: writes survive a power cut; os: writes survive the end of the process [default: sync]", "sync or os", durability;
    encryption, "MODE", "on or off; fixed when the data directory is created [default: on]", "on or off", switch;
    cache_size, "SIZE", "Maximum memory for cached blocks [default: an eighth of the machine's memory]", "a size such as 2GB or 512MB", some_size;
    master_key_file, "FILE", "Master key file [default: master.key in the configuration folder]", "a file", some_path;
    credentials_file, "FILE", "File of access keys [default: credentials in the configuration folder]", "a file", some_path;
    jwt_key_file, "FILE", "Key that verifies the tokens of callers of the model API; also --jwt-key", "a file", some_path;
    oidc_issuer, "URL", "OpenID provider whose tokens are accepted, exactly as in `iss`; repeat the flag for several", "https URLs, separated by commas", list;
    oidc_audience, "AUDIENCE", "Audience (`aud`) that tokens of --oidc-issuer must be for; repeat the flag for several", "audiences, separated by commas", list;
    cursor_key_file, "FILE", "Key that encrypts cursors, the same for all instances [default: cursor.key in the \
        configuration folder]", "a file", some_path;
    field_keys_file, "FILE", "Keys of encrypted fields [default: field.keys in the configuration folder]; see \
        `keyform field-keys`", "a file", some_path;
    store, "STORE", "Store of the tables: embedded (a data directory), dynamodb or alternator [default: embedded]", "embedded, dynamodb or alternator", store;
    endpoint_url, "URL", "Endpoint URL of a store other than AWS itself, with --store dynamodb", "a URL", some_text;
    profile, "PROFILE", "Profile of the AWS configuration, with --store dynamodb", TEXT, some_text;
    without_transactions, "", "The store has no transactions: reject writes that need one", SWITCH, switch;
    store_connect_timeout, "TIME", "Timeout for connecting, with --store dynamodb [default: 3s]", DURATION, duration;
    store_request_timeout, "TIME", "Timeout of one attempt, with --store dynamodb [default: 10s]", DURATION, duration;
    store_deadline, "TIME", "Timeout of a request with all its attempts, with --store dynamodb [default: 30s]", DURATION, duration;
    region, "REGION", "AWS region; for a data directory, the region in ARNs and signatures [default: us-east-1]", "a region such as us-east-1", region;
    ttl_sweep_interval, "TIME", "Interval between scans for expired items [default: 1s]", DURATION, duration;
    workers, "NUMBER", "Number of threads that serve connections [default: one per core, at most 8]", COUNT, some_count;
    connections_max, "NUMBER", "Maximum number of connections; lower if the limit on open files requires it [default: \
        4096]", COUNT, count;
    connections_per_address_max, "NUMBER", "Maximum number of connections per client address [default: 512; no limit \
        on loopback]", COUNT, some_count;
    body_bytes_max, "SIZE", "Maximum size of a request body [default: 16MB]", "a size such as 16MB, 512KB or 1048576", size;
    idle_timeout, "TIME", "Timeout of an idle connection [default: 60s]", DURATION, duration;
    body_timeout, "TIME", "Timeout for receiving a request body [default: 30s]", DURATION, duration;
    write_timeout, "TIME", "Timeout for sending a response [default: 30s]", DURATION, duration;
    flow_timeout, "TIME", "Timeout of a flow; completed writes of a stopped flow stay [default: 30s]", DURATION, duration;
    drain_timeout, "TIME", "Timeout for running requests when the server stops [default: 10s]", DURATION, duration;
    log_format, "FORMAT", "human or json [default: human]", "human or json", log_format;
    log_level, "LEVEL", "off, error, warn, info, debug or trace [default: warn]", "off, error, warn, info, debug or trace", log_level;
    access_log, "MODE", "Log each request: on, off, or auto (on if the log goes to a terminal or is JSON) [default: auto]", "on, off or auto", access_log;
};

fn text(text: &str) -> Option<String> {
    (!text.trim().is_empty()).then(|| text.trim().to_owned())
}

fn some_text(given: &str) -> Option<Option<String>> {
    text(given).map(Some)
}

fn path(text: &str) -> Option<PathBuf> {
    (!text.is_empty()).then(|| PathBuf::from(text))
}

fn some_path(text: &str) -> Option<Option<PathBuf>> {
    path(text).map(Some)
}

fn number(text: &str) -> Option<u16> {
    text.parse().ok()
}

fn some_number(text: &str) -> Option<Option<u16>> {
    number(text).map(Some)
}

/// Parses a list. It may be empty, so that a stronger source can override a weaker one's list.
fn names(text: &str) -> Option<Vec<String>> {
    let names = text.split(',').map(str::trim).filter(|name| !name.is_empty());
    let plain = |name: &str| !name.contains(|symbol: char| symbol.is_whitespace() || symbol == '/');
    names.map(|name| plain(name).then(|| name.to_owned())).collect()
}

/// Parses a list of any texts without white space. It may be empty, as that of [`names`].
fn list(text: &str) -> Option<Vec<String>> {
    let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
    parts.map(|part| (!part.contains(char::is_whitespace)).then(|| part.to_owned())).collect()
}

fn count(text: &str) -> Option<usize> {
    text.parse().ok().filter(|count| *count > 0)
}

fn some_count(text: &str) -> Option<Option<usize>> {
    count(text).map(Some)
}

fn switch(text: &str) -> Option<bool> {
    match text.to_ascii_lowercase().as_str() {
        "true" | "on" | "yes" | "1" => Some(true),
        "false" | "off" | "no" | "0" => Some(false),
        _ => None,
    }
}

fn region(text: &str) -> Option<Option<String>> {
    let plain = |symbol: char| symbol.is_ascii_alphanumeric() || symbol == '-';
    (!text.is_empty() && text.chars().all(plain)).then(|| Some(text.to_owned()))
}

fn store(text: &str) -> Option<StoreKind> {
    match text {
        "embedded" => Some(StoreKind::Embedded),
        "dynamodb" => Some(StoreKind::DynamoDb),
        "alternator" => Some(StoreKind::Alternator),
        _ => None,
    }
}

fn durability(text: &str) -> Option<Durability> {
    match text {
        "sync" => Some(Durability::Sync),
        "os" => Some(Durability::Os),
        _ => None,
    }
}

/// Parses a duration such as `500ms`, `30s`, `2m` or `1h`; a number alone is in seconds.
pub(crate) fn duration(text: &str) -> Option<Duration> {
    let digits = text.trim_end_matches(|symbol: char| symbol.is_ascii_alphabetic());
    let amount: u64 = digits.parse().ok().filter(|amount| *amount > 0)?;
    match &text[digits.len()..] {
        "ms" => Some(Duration::from_millis(amount)),
        "" | "s" => Some(Duration::from_secs(amount)),
        "m" => Some(Duration::from_secs(amount.checked_mul(60)?)),
        "h" => Some(Duration::from_secs(amount.checked_mul(3600)?)),
        _ => None,
    }
}

fn size(text: &str) -> Option<usize> {
    let digits = text.trim_end_matches(|symbol: char| symbol.is_ascii_alphabetic());
    let amount: usize = digits.parse().ok().filter(|amount| *amount > 0)?;
    match text[digits.len()..].to_ascii_uppercase().as_str() {
        "" | "B" => Some(amount),
        "K" | "KB" | "KIB" => amount.checked_mul(1024),
        "M" | "MB" | "MIB" => amount.checked_mul(1024 * 1024),
        "G" | "GB" | "GIB" => amount.checked_mul(1024 * 1024 * 1024),
        _ => None,
    }
}

fn some_size(text: &str) -> Option<Option<usize>> {
    size(text).map(Some)
}

fn log_format(text: &str) -> Option<LogFormat> {
    match text {
        "human" => Some(LogFormat::Human),
        "json" => Some(LogFormat::Json),
        _ => None,
    }
}

fn log_level(text: &str) -> Option<LevelFilter> {
    text.parse().ok()
}

fn access_log(text: &str) -> Option<AccessLog> {
    match text {
        "auto" => Some(AccessLog::Auto),
        other => switch(other).map(|on| if on { AccessLog::On } else { AccessLog::Off }),
    }
}

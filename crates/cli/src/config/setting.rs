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
        self.name == "allowed_host"
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
    host, "ADDRESS", "The address or host name to listen on [default: 127.0.0.1]", TEXT, text;
    port, "PORT", "The port to listen on; 0 takes a free one [default: 8000]", "a port: a number from 0 to 65535", number;
    allowed_host, "NAMES", "Host names that requests may use besides localhost and --host; several times or with commas", "host names such as keyform.test, separated by commas", names;
    metrics_port, "PORT", "A port of its own for /metrics, without credentials; 0 takes a free one", "a port: a number from 0 to 65535", some_number;
    metrics_host, "ADDRESS", "The address or host name of --metrics-port [default: 127.0.0.1]", TEXT, some_text;
    data, "DIRECTORY", "The data directory, made when it is not there [default: ./keyform-data]", "a directory", path;
    files, "DIRECTORY", "What systems keep outside of items, such as documents [default: DATA-files beside the data directory; required with --store dynamodb]", "a directory", some_path;
    in_memory, "", "Keep everything in memory and nothing on disk", SWITCH, switch;
    durability, "MODE", "sync: a write survives a power cut; os: the end of the process [default: sync]", "sync or os", durability;
    encryption, "MODE", "on or off; decided when a data directory is made [default: on]", "on or off", switch;
    cache_size, "SIZE", "The most memory for data read from files [default: an eighth of the machine's]", "a size such as 2GB or 512MB", some_size;
    master_key_file, "FILE", "The master key [default: master.key in the configuration folder]", "a file", some_path;
    credentials_file, "FILE", "The access keys [default: credentials in the configuration folder]", "a file", some_path;
    jwt_key_file, "FILE", "What the tokens of the model API's callers are verified with; also --jwt-key", "a file", some_path;
    cursor_key_file, "FILE", "What cursors are signed with: the same for all copies [default: cursor.key in the configuration folder]", "a file", some_path;
    field_keys_file, "FILE", "The keys of encrypted fields [default: field.keys in the configuration folder]; see `keyform field-keys`", "a file", some_path;
    store, "STORE", "What holds the tables: embedded (a data directory), dynamodb or alternator [default: embedded]", "embedded, dynamodb or alternator", store;
    endpoint_url, "URL", "With --store dynamodb: an endpoint that is not AWS's own", "a URL", some_text;
    profile, "PROFILE", "With --store dynamodb: the profile of the AWS configuration", TEXT, some_text;
    without_transactions, "", "The store has no transactions: writes that need one are refused", SWITCH, switch;
    store_connect_timeout, "TIME", "With --store dynamodb: how long a connection may take [default: 3s]", DURATION, duration;
    store_request_timeout, "TIME", "With --store dynamodb: how long the store may take for an answer before it is asked again or given up [default: 10s]", DURATION, duration;
    store_deadline, "TIME", "With --store dynamodb: how long a request may take with all its attempts [default: 30s]", DURATION, duration;
    region, "REGION", "The region of DynamoDB; of a data directory, the one in ARNs and signatures [default: us-east-1]", "a region such as us-east-1", region;
    ttl_sweep_interval, "TIME", "How often expired items are looked for [default: 1s]", DURATION, duration;
    workers, "NUMBER", "How many threads serve connections [default: one for each core, 8 at most]", COUNT, some_count;
    connections_max, "NUMBER", "The most connections at a time; fewer if the limit on open files requires it [default: 4096]", COUNT, count;
    connections_per_address_max, "NUMBER", "The most connections of one client address [default: 512; no limit on loopback]", COUNT, some_count;
    body_bytes_max, "SIZE", "The largest request body [default: 16MB]", "a size such as 16MB, 512KB or 1048576", size;
    idle_timeout, "TIME", "How long a connection may wait with its next request [default: 60s]", DURATION, duration;
    body_timeout, "TIME", "How long a request body may take [default: 30s]", DURATION, duration;
    write_timeout, "TIME", "How long a client may take to read its answer [default: 30s]", DURATION, duration;
    flow_timeout, "TIME", "How long a flow of an application may take; it is stopped then, and what it has written stays [default: 30s]", DURATION, duration;
    drain_timeout, "TIME", "How long running requests may take when the server stops [default: 10s]", DURATION, duration;
    log_format, "FORMAT", "human or json [default: human]", "human or json", log_format;
    log_level, "LEVEL", "off, error, warn, info, debug or trace [default: warn]", "off, error, warn, info, debug or trace", log_level;
    access_log, "MODE", "Log each request: on, off, or auto (on a terminal, and as JSON) [default: auto]", "on, off or auto", access_log;
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

fn duration(text: &str) -> Option<Duration> {
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

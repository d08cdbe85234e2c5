//! Store of a command: a data directory, or DynamoDB.

use std::collections::BTreeMap;
use std::sync::Arc;

use clap::{Arg, ArgAction, ArgMatches};
use keyform::StoreError;
use keyform::aws::{Credentials, Options, Remote, Timeouts};
use keyform::{Database, Execute, OpenError};
use keyform_runtime::run;

use crate::config::{Config, ProcessContext};
use crate::failure::Failure;
use crate::{command, serve};

/// Settings that select the store.
const SETTINGS: [&str; 13] = [
    "data",
    "encryption",
    "master_key_file",
    "store",
    "endpoint_url",
    "region",
    "profile",
    "without_transactions",
    "store_connect_timeout",
    "store_request_timeout",
    "store_deadline",
    "cursor_key_file",
    "field_keys_file",
];

/// Default value of the variable `stage` in a data directory.
const STAGE: &str = "local";

/// Returns the arguments that select the store.
pub(crate) fn arguments() -> Vec<Arg> {
    let mut arguments = command::settings(&|setting| SETTINGS.contains(&setting.name));
    arguments.push(variable());
    arguments
}

/// Returns the argument for variables in table names.
pub(crate) fn variable() -> Arg {
    Arg::new("variable").long("set").value_name("NAME=VALUE").action(ArgAction::Append).help(
        "Value of a variable in table names, such as --set stage=dev; in a data directory `stage` defaults to `local`",
    )
}

/// Returns the flag for creating tables in a remote store, where they cost money and are not created by default.
pub(crate) fn create_tables() -> Arg {
    Arg::new("create-tables")
        .long("create-tables")
        .action(ArgAction::SetTrue)
        .help("Create missing tables, with --store dynamodb")
}

/// Returns the flag that accepts a model although it breaks existing items.
pub(crate) fn accept_breaking_model() -> Arg {
    Arg::new("accept-breaking-model").long("accept-breaking-model").action(ArgAction::SetTrue).help(
        "Accept the model even if it does not fit the items of the version that the store has accepted: they are no \
        longer found, and instances with that version stop",
    )
}

/// Returns the values of variables in table names.
pub(crate) fn variables(arguments: &ArgMatches) -> Result<BTreeMap<String, String>, Failure> {
    Ok(pairs(arguments, "variable")?.into_iter().collect())
}

/// Parses repeated `NAME=VALUE` arguments.
pub(crate) fn pairs(arguments: &ArgMatches, name: &str) -> Result<Vec<(String, String)>, Failure> {
    let given = arguments.get_many::<String>(name).into_iter().flatten();
    let pair = |text: &String| match text.split_once('=') {
        Some((name, value)) => Ok((name.to_owned(), value.to_owned())),
        None => Err(Failure::new(format!("`{text}` has no value: write {text}=VALUE"))),
    };
    given.map(pair).collect()
}

/// Returns the timeout arguments of remote stores that are named by a URL.
pub(crate) fn timeouts() -> Vec<Arg> {
    command::settings(&|setting| setting.name.starts_with("store_"))
}

/// Resolves the settings of the process and the arguments.
pub(crate) fn config(arguments: &ArgMatches) -> Result<Config, Failure> {
    Config::resolve(arguments, &ProcessContext::of_process())
}

/// Returns the settings for running models. In a data directory the variable `stage` has a default.
pub(crate) fn run_settings(
    config: &Config,
    mut variables: BTreeMap<String, String>,
    cursor_key: [u8; 32],
) -> run::RunSettings {
    if config.is_embedded() {
        variables.entry("stage".to_owned()).or_insert_with(|| STAGE.to_owned());
    }
    run::RunSettings {
        variables,
        cursor_key,
        without_transactions: config.lacks_transactions(),
        ..run::RunSettings::default()
    }
}

/// Help text on the names of stores.
pub(crate) const NAMES: &str = "A store is data:DIR (a data directory), dynamodb:REGION (AWS, with the credentials of \
    the environment; add ?profile=NAME for a profile), or http://HOST:PORT (an endpoint that speaks DynamoDB's \
    protocol; ?region=NAME, ?profile=NAME).";

/// Returns placeholder credentials for a server on this machine, which accepts any signature by default, if the
/// environment has none.
fn stand_in(address: &str) -> Option<Credentials> {
    let has_own = std::env::var_os("AWS_ACCESS_KEY_ID").is_some() || std::env::var_os("AWS_PROFILE").is_some();
    (is_here(address) && !has_own)
        .then(|| Credentials { access_key_id: "keyform".to_owned(), secret_access_key: "keyform".to_owned() })
}

/// Returns whether a URL names this machine. Another host can begin with the same text, as in `localhost.example.com`,
/// and a user name can precede the host.
fn is_here(url: &str) -> bool {
    let Some((_, rest)) = url.split_once("://") else { return false };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = match authority.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => host,
        _ => authority,
    };
    ["127.0.0.1", "localhost", "[::1]"].iter().any(|here| host.eq_ignore_ascii_case(here))
}

/// Open store.
pub(crate) enum OpenStore {
    /// Data directory.
    Embedded(Database),
    /// DynamoDB, or a compatible endpoint.
    Remote(Remote),
}

impl OpenStore {
    /// Opens the store that the arguments select.
    pub(crate) async fn open(arguments: &ArgMatches) -> Result<Self, Failure> {
        Self::open_at(&config(arguments)?).await
    }

    /// Opens the store that the settings select.
    pub(crate) async fn open_at(config: &Config) -> Result<Self, Failure> {
        if config.is_embedded() {
            return Ok(Self::Embedded(open(config)?));
        }
        Ok(Self::Remote(remote(config).await?))
    }

    /// Opens a store by name: `data:DIR`, `dynamodb:REGION`, `http://HOST:PORT`; see [`NAMES`].
    pub(crate) async fn named(text: &str, timeouts: Timeouts) -> Result<Self, Failure> {
        let (address, options) = text.split_once('?').unwrap_or((text, ""));
        if let Some(folder) = address.strip_prefix("data:") {
            return Ok(Self::Embedded(Database::open(folder)?));
        }
        let option = |wanted: &str| {
            let pairs = options.split('&').filter_map(|pair| pair.split_once('='));
            pairs.filter(|(name, _)| *name == wanted).map(|(_, value)| value.to_owned()).next_back()
        };
        let profile = option("profile");
        if let Some(region) = address.strip_prefix("dynamodb:") {
            let region = Some(region.to_owned()).filter(|region| !region.is_empty());
            let options = Options { region, profile, timeouts, ..Options::default() };
            return Ok(Self::Remote(Remote::connect(options).await?));
        }
        if address.starts_with("http://") || address.starts_with("https://") {
            let credentials = stand_in(address).filter(|_| profile.is_none());
            let endpoint_url = Some(address.to_owned());
            let options = Options { endpoint_url, region: option("region"), profile, credentials, timeouts };
            return Ok(Self::Remote(Remote::connect(options).await?));
        }
        Err(Failure::new(format!("`{text}` is not a store. {NAMES}")))
    }

    /// Returns the store as a trait object.
    pub(crate) fn store(&self) -> Arc<dyn Execute> {
        match self {
            Self::Embedded(database) => Arc::new(database.clone()),
            Self::Remote(remote) => Arc::new(remote.clone()),
        }
    }

    /// Returns whether the store is embedded. Only there are tables created without being requested, because they cost
    /// nothing.
    pub(crate) fn is_embedded(&self) -> bool {
        matches!(self, Self::Embedded(_))
    }

    /// Closes the store; an embedded one syncs to disk.
    pub(crate) fn close(self) -> Result<(), Failure> {
        match self {
            Self::Embedded(database) => Ok(database.close()?),
            Self::Remote(_) => Ok(()),
        }
    }
}

/// Connects to the endpoint of the settings.
pub(crate) async fn remote(config: &Config) -> Result<Remote, Failure> {
    let stand_in = config.endpoint_url.as_deref().and_then(stand_in);
    let options = Options {
        endpoint_url: config.endpoint_url.clone(),
        region: config.region.clone(),
        profile: config.profile.clone(),
        credentials: stand_in.filter(|_| config.profile.is_none()),
        timeouts: config.store_timeouts(),
    };
    Ok(Remote::connect(options).await?)
}

/// Opens the data directory. If a server uses it, the error explains how to go through the server.
fn open(config: &Config) -> Result<Database, Failure> {
    serve::open_with_notice(config, serve::options(config)?).map_err(|error| match error {
        OpenError::Store(in_use @ StoreError::InUse { .. }) => Failure::new(format!(
            "{in_use}. If that is `keyform serve`, use it: `keyform run … --server http://127.0.0.1:8000` calls a \
            model, `--store dynamodb --endpoint-url http://127.0.0.1:8000` accesses the tables"
        )),
        other => other.into(),
    })
}

#[cfg(test)]
mod tests {
    use super::is_here;

    #[test]
    fn only_the_whole_host_is_this_machine() {
        for url in [
            "http://127.0.0.1",
            "http://localhost:8000",
            "https://LOCALHOST/",
            "http://[::1]:8000/?a=b",
            "http://[::1]",
        ] {
            assert!(is_here(url), "{url}");
        }
        for url in [
            "http://localhost.example.com:8000",
            "http://127.0.0.1.example.com",
            "http://localhost@example.com",
            "http://localhost:80@example.com",
            "http://localhost:8000.example.com",
            "http://example.com/://localhost",
            "localhost",
            "",
        ] {
            assert!(!is_here(url), "{url}");
        }
    }
}

//! Where a command finds its tables: in a data directory, or on DynamoDB.

use std::collections::BTreeMap;
use std::sync::Arc;

use clap::{Arg, ArgAction, ArgMatches};
use keyform::aws::{Credentials, Options, Remote, Timeouts};
use keyform::runtime::run;
use keyform::store::StoreError;
use keyform::{Database, Execute, OpenError};

use crate::config::{Config, Surroundings};
use crate::failure::Failure;
use crate::{command, serve};

/// The settings that say where the tables are.
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

/// What the variable `stage` stands for in a data directory if nobody says it.
const STAGE: &str = "local";

/// The arguments that say where the tables are.
pub(crate) fn arguments() -> Vec<Arg> {
    let mut arguments = command::settings(&|setting| SETTINGS.contains(&setting.name));
    arguments.push(variable());
    arguments
}

/// A variable in the names of tables.
pub(crate) fn variable() -> Arg {
    Arg::new("variable").long("set").value_name("NAME=VALUE").action(ArgAction::Append).help(
        "Value of a variable in table names, such as --set stage=dev; in a data directory `stage` defaults to `local`",
    )
}

/// Tables elsewhere are made only when this is given.
pub(crate) fn create_tables() -> Arg {
    Arg::new("create-tables")
        .long("create-tables")
        .action(ArgAction::SetTrue)
        .help("Create missing tables, with --store dynamodb")
}

/// What the variables in the names of tables stand for.
pub(crate) fn variables(arguments: &ArgMatches) -> Result<BTreeMap<String, String>, Failure> {
    Ok(pairs(arguments, "variable")?.into_iter().collect())
}

/// `NAME=VALUE`, several of them.
pub(crate) fn pairs(arguments: &ArgMatches, name: &str) -> Result<Vec<(String, String)>, Failure> {
    let given = arguments.get_many::<String>(name).into_iter().flatten();
    let pair = |text: &String| match text.split_once('=') {
        Some((name, value)) => Ok((name.to_owned(), value.to_owned())),
        None => Err(Failure::new(format!("`{text}` has no value: write {text}=VALUE"))),
    };
    given.map(pair).collect()
}

/// The arguments that bound the waits for stores that are named by a text.
pub(crate) fn timeouts() -> Vec<Arg> {
    command::settings(&|setting| setting.name.starts_with("store_"))
}

/// The settings of a process, with those of the arguments.
pub(crate) fn config(arguments: &ArgMatches) -> Result<Config, Failure> {
    Config::resolve(arguments, &Surroundings::of_process())
}

/// How models run there. `variables` are those that were given: a data directory has a stage of its own.
pub(crate) fn run_settings(
    config: &Config,
    mut variables: BTreeMap<String, String>,
    cursor_key: [u8; 32],
) -> run::Settings {
    if config.is_embedded() {
        variables.entry("stage".to_owned()).or_insert_with(|| STAGE.to_owned());
    }
    run::Settings {
        variables,
        cursor_key,
        without_transactions: config.lacks_transactions(),
        ..run::Settings::default()
    }
}

/// How a store is named in one text.
pub(crate) const NAMES: &str = "A store is named by data:DIR (a data directory), dynamodb:REGION (AWS, with the credentials of the environment; \
                                add ?profile=NAME for a profile), or http://HOST:PORT (an endpoint that speaks DynamoDB's protocol; \
                                ?region=NAME, ?profile=NAME).";

/// A server on this machine takes any signature unless it was told otherwise: without credentials in the environment, some are made up.
fn stand_in(address: &str) -> Option<Credentials> {
    let host = address.split("://").nth(1)?;
    let is_here = ["127.0.0.1", "localhost", "[::1]"].iter().any(|here| host.starts_with(here));
    let has_own = std::env::var_os("AWS_ACCESS_KEY_ID").is_some() || std::env::var_os("AWS_PROFILE").is_some();
    (is_here && !has_own)
        .then(|| Credentials { access_key_id: "keyform".to_owned(), secret_access_key: "keyform".to_owned() })
}

/// A store that is open.
pub(crate) enum Place {
    /// A data directory.
    Embedded(Database),
    /// DynamoDB, or an endpoint that speaks its protocol.
    Remote(Remote),
}

impl Place {
    /// Opens what the arguments name.
    pub(crate) async fn open(arguments: &ArgMatches) -> Result<Self, Failure> {
        Self::open_at(&config(arguments)?).await
    }

    /// Opens what the settings name.
    pub(crate) async fn open_at(config: &Config) -> Result<Self, Failure> {
        if config.is_embedded() {
            return Ok(Self::Embedded(open(config)?));
        }
        Ok(Self::Remote(remote(config).await?))
    }

    /// Opens what a text names: `data:DIR`, `dynamodb:REGION`, `http://HOST:PORT`; see [`NAMES`].
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

    /// What runs its operations.
    pub(crate) fn store(&self) -> Arc<dyn Execute> {
        match self {
            Self::Embedded(database) => Arc::new(database.clone()),
            Self::Remote(remote) => Arc::new(remote.clone()),
        }
    }

    /// Tables are made without being asked for only where they cost nothing.
    pub(crate) fn is_embedded(&self) -> bool {
        matches!(self, Self::Embedded(_))
    }

    /// Closes it: what was written is on disk.
    pub(crate) fn close(self) -> Result<(), Failure> {
        match self {
            Self::Embedded(database) => Ok(database.close()?),
            Self::Remote(_) => Ok(()),
        }
    }
}

/// Connects to the endpoint that the settings name.
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

/// A directory that a server has open is reached through the server.
fn open(config: &Config) -> Result<Database, Failure> {
    Database::open_with(&config.data, serve::options(config)?).map_err(|error| match error {
        OpenError::Store(in_use @ StoreError::InUse { .. }) => Failure::new(format!(
            "{in_use}. If it is `keyform serve`, go through it: `keyform run … --server http://127.0.0.1:8000` \
             calls a model, `--store dynamodb --endpoint-url http://127.0.0.1:8000` reaches the tables"
        )),
        other => other.into(),
    })
}

//! Where a command finds its tables: in a data directory, or on DynamoDB.

use std::collections::BTreeMap;
use std::sync::Arc;

use clap::{Arg, ArgAction, ArgMatches};
use keyform::aws::{Options, Remote};
use keyform::{Database, Execute};

use crate::failure::Failure;

/// The arguments that say where the tables are.
pub(crate) fn arguments() -> Vec<Arg> {
    let only_remote = |name: &'static str| Arg::new(name).long(name).conflicts_with("data");
    vec![
        Arg::new("data").long("data").value_name("DIR").default_value("./keyform-data").help("The data directory"),
        Arg::new("store")
            .long("store")
            .value_name("STORE")
            .value_parser(["embedded", "dynamodb"])
            .default_value("embedded")
            .help("What holds the tables: a data directory, or DynamoDB (or an endpoint that speaks its protocol)"),
        only_remote("endpoint-url").value_name("URL").help("With --store dynamodb: an endpoint that is not AWS's own"),
        only_remote("region").value_name("REGION").help("With --store dynamodb: the region"),
        only_remote("profile")
            .value_name("PROFILE")
            .help("With --store dynamodb: the profile of the AWS configuration"),
        variable(),
    ]
}

/// A variable in the names of tables.
pub(crate) fn variable() -> Arg {
    Arg::new("variable")
        .long("set")
        .value_name("NAME=VALUE")
        .action(ArgAction::Append)
        .help("A variable in the names of tables: --set stage=dev")
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
        let text = |name| arguments.get_one::<String>(name).cloned();
        if text("store").as_deref() == Some("dynamodb") {
            let options = Options {
                endpoint_url: text("endpoint-url"),
                region: text("region"),
                profile: text("profile"),
                credentials: None,
            };
            return Ok(Self::Remote(Remote::connect(options).await));
        }
        Ok(Self::Embedded(Database::open(text("data").unwrap_or_default())?))
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

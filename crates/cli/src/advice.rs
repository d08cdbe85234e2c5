//! Flags that remedy an error of the library. Library errors carry data and name no flag, because a program that embeds
//! the library has none; the command adds the flag here.

use std::error::Error;

use keyform::KeyError;
use keyform::server::StartError;
use keyform::{ModelFileError, OpenError};
use keyform_runtime::accept::{NotAccepted, Reason};
use keyform_runtime::deploy::DeployError;
use keyform_runtime::evolve::MigrateError;
use keyform_transfer::{CopyError, RehearseError};

/// Returns which flag to use, from the error or the first of its causes that a flag remedies.
pub(crate) fn flag(error: &(dyn Error + 'static)) -> Option<String> {
    let mut cause = Some(error);
    while let Some(error) = cause {
        if let Some(flag) = of_one(error) {
            return Some(flag);
        }
        cause = error.source();
    }
    None
}

fn of_one(error: &(dyn Error + 'static)) -> Option<String> {
    let opening = || error.downcast_ref().and_then(opening);
    let key = || error.downcast_ref().and_then(key);
    let starting = || error.downcast_ref().and_then(starting);
    let deploying = || error.downcast_ref().and_then(deploying);
    let migrating = || error.downcast_ref().and_then(migrating);
    let model = || error.downcast_ref().and_then(model);
    let copying = || error.downcast_ref().and_then(copying);
    let accepting = || error.downcast_ref().and_then(accepting);
    let rehearsing = || error.downcast_ref().and_then(rehearsing);
    opening()
        .or_else(key)
        .or_else(starting)
        .or_else(deploying)
        .or_else(migrating)
        .or_else(model)
        .or_else(copying)
        .or_else(rehearsing)
        .or_else(accepting)
}

fn opening(error: &OpenError) -> Option<String> {
    match error {
        OpenError::Directory { .. } => Some("choose another directory with --data".to_owned()),
        OpenError::NoHome | OpenError::Store(_) | OpenError::Key(_) | OpenError::Catalog(_) => None,
    }
}

fn key(error: &KeyError) -> Option<String> {
    match error {
        KeyError::MasterMissing { .. } | KeyError::WrongMaster { .. } => {
            Some("name the file with --master-key-file or KEYFORM_MASTER_KEY_FILE".to_owned())
        }
        KeyError::DirectoryMissing { .. } => Some("name the data directory with --data".to_owned()),
        KeyError::Exposed { .. }
        | KeyError::Format { .. }
        | KeyError::RingMissing { .. }
        | KeyError::Foreign { .. }
        | KeyError::InUse { .. }
        | KeyError::Unknown { .. }
        | KeyError::Io { .. } => None,
    }
}

fn starting(error: &StartError) -> Option<String> {
    match error {
        StartError::WithoutTokens { .. } | StartError::ModelsClosed => {
            Some("pass the token key with --jwt-key-file".to_owned())
        }
        StartError::AllowedHost { .. } => Some("correct --allowed-host".to_owned()),
        StartError::CorsOrigin { .. } | StartError::CorsCredentials | StartError::CorsDevelopment => {
            Some("correct --cors-origin and --cors-credentials".to_owned())
        }
        StartError::TrustedProxy { .. } => Some("correct --trusted-proxy".to_owned()),
        StartError::Tls(_) => Some("correct --tls-cert and --tls-key".to_owned()),
        StartError::PortInUse { .. } => Some("choose the port with --port".to_owned()),
        StartError::Unprotected { .. } | StartError::UnknownHost { .. } | StartError::Io { .. } => None,
    }
}

fn deploying(error: &DeployError) -> Option<String> {
    match error {
        DeployError::NoValue { variable, .. } => Some(format!("add --set {variable}=VALUE")),
        DeployError::Refused | DeployError::TooLong { .. } | DeployError::Store { .. } => None,
    }
}

fn migrating(error: &MigrateError) -> Option<String> {
    match error {
        MigrateError::Variable(_) => Some(VALUE.to_owned()),
        MigrateError::Leased(_) => Some("take it over with --take-over".to_owned()),
        MigrateError::NoEvolution
        | MigrateError::LeaseLost
        | MigrateError::Phase(..)
        | MigrateError::Left(..)
        | MigrateError::NotAccepted(_)
        | MigrateError::Store(_) => None,
    }
}

const VALUE: &str = "set it with --set NAME=VALUE";

fn model(error: &ModelFileError) -> Option<String> {
    match error {
        ModelFileError::Variable(..) => Some(VALUE.to_owned()),
        ModelFileError::Handler(..) => Some("if another program runs it, pass --external-handlers".to_owned()),
        ModelFileError::Unreadable(..)
        | ModelFileError::Findings(..)
        | ModelFileError::Twice(..)
        | ModelFileError::Unrunnable(..)
        | ModelFileError::NotAccepted(..)
        | ModelFileError::Nameless(_)
        | ModelFileError::Handlers(..) => None,
    }
}

fn copying(error: &CopyError) -> Option<String> {
    let advice = match error {
        CopyError::NotEmpty(_) => "replace items with --overwrite",
        CopyError::Checkpoint(_) => "name another checkpoint with --checkpoint",
        CopyError::Differs { .. } => "follow changes with --follow",
        CopyError::Trimmed(_) => "see --segments and --write-units",
        CopyError::Format(_) => "name the format with --format",
        CopyError::NoTable(_)
        | CopyError::OtherKey(_)
        | CopyError::NoImages(_)
        | CopyError::Feed(_)
        | CopyError::Deploy(_)
        | CopyError::Store(_)
        | CopyError::File { .. }
        | CopyError::Stopped(_)
        | CopyError::Data(_) => return None,
    };
    Some(advice.to_owned())
}

fn accepting(error: &NotAccepted) -> Option<String> {
    match error.reason {
        Reason::Breaking(_) | Reason::Unfinished(_) | Reason::Unreadable(_) => {
            Some("accept it with --accept-breaking-model".to_owned())
        }
        Reason::Superseded => None,
    }
}

fn rehearsing(error: &RehearseError) -> Option<String> {
    match error {
        RehearseError::TooLarge { .. } => Some("rehearse in the store with --tables-prefix rehearsal-".to_owned()),
        RehearseError::Taken(table) => {
            Some(format!("remove it with `keyform deploy apply --destroy {table}`, or change --tables-prefix"))
        }
        RehearseError::Copy(_) | RehearseError::Migrate(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cause_that_a_flag_remedies_is_found_below_other_errors() {
        let error = RehearseError::Copy(CopyError::NotEmpty("orders".to_owned()));
        assert_eq!(flag(&error).as_deref(), Some("replace items with --overwrite"));
        assert_eq!(flag(&MigrateError::LeaseLost), None);
    }
}

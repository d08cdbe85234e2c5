//! The systems that come with the command, by name: their models and their code are part of it.

use std::path::Path;

use keyform::CallError;
use keyform::application::{Application, Host};

/// A system that comes with the command.
pub(crate) struct System {
    /// The name of its model.
    pub(crate) name: &'static str,
    /// The text of its model.
    pub(crate) text: &'static str,
    /// Whether it keeps content outside of items, and needs a directory for it.
    pub(crate) keeps_files: bool,
    /// The application on a host.
    pub(crate) application: fn(&Host) -> Result<Application, CallError>,
}

macro_rules! system {
    ($name:literal, $system:ident, keeps_files: $keeps_files:literal) => {
        System { name: $name, text: $system::MODEL, keeps_files: $keeps_files, application: $system::application }
    };
}

/// All of them, in the order of their names.
pub(crate) static SYSTEMS: [System; 5] = [
    system!("agencies", keyform_agencies, keeps_files: false),
    system!("discord", keyform_discord, keeps_files: false),
    system!("helpmaton", keyform_helpmaton, keeps_files: true),
    system!("t3nets", keyform_t3nets, keeps_files: false),
    system!("workspaces", keyform_workspaces, keeps_files: false),
];

/// Older forms of systems, which `evolve` leads from: they can be run, but are not served.
const OLDER: [(&str, &str); 1] = [("workspaces-v1", keyform_workspaces::legacy::MODEL)];

/// The system that is named so, unless there is a file of that name.
pub(crate) fn find(name: &str) -> Option<&'static System> {
    let system = SYSTEMS.iter().find(|system| system.name == name)?;
    (!Path::new(name).is_file()).then_some(system)
}

/// The model of a system, or of an older form of one, that is named so, unless there is a file of that name.
pub(crate) fn model(name: &str) -> Option<&'static str> {
    let older = OLDER.iter().find(|(older, _)| *older == name && !Path::new(name).is_file());
    find(name).map(|system| system.text).or(older.map(|(_, text)| *text))
}

#[cfg(test)]
mod tests {
    use keyform::language::Checked;

    use super::*;

    #[test]
    fn every_system_is_without_errors_and_called_by_its_name() {
        for System { name, text, .. } in &SYSTEMS {
            let checked = Checked::read(text);
            assert!(!checked.has_errors(), "{name}: {:?}", checked.diagnostics);
            assert_eq!(checked.model.name, *name);
        }
    }
}

//! Example systems built into the command: their models and their code.

use std::path::Path;

use keyform::CallError;
use keyform::application::Application;
use keyform::flow::Host;

/// Example system built into the command.
pub(crate) struct System {
    /// Name of the model.
    pub(crate) name: &'static str,
    /// Source of the model.
    pub(crate) text: &'static str,
    /// Set if the system stores files outside items, which needs a directory.
    pub(crate) keeps_files: bool,
    /// Creates the application on a host.
    pub(crate) application: fn(&Host) -> Result<Application, CallError>,
}

macro_rules! system {
    ($name:literal, $system:ident, keeps_files: $keeps_files:literal) => {
        System { name: $name, text: $system::MODEL, keeps_files: $keeps_files, application: $system::application }
    };
}

/// All example systems, sorted by name.
pub(crate) static SYSTEMS: [System; 5] = [
    system!("agencies", keyform_agencies, keeps_files: false),
    system!("discord", keyform_discord, keeps_files: false),
    system!("helpmaton", keyform_helpmaton, keeps_files: true),
    system!("t3nets", keyform_t3nets, keeps_files: false),
    system!("workspaces", keyform_workspaces, keeps_files: false),
];

/// Older forms of systems, from which `evolve` migrates. They can be run but are not served.
const OLDER: [(&str, &str); 1] = [("workspaces-v1", keyform_workspaces::legacy::MODEL)];

/// Returns the system with this name, unless there is a file with that name.
pub(crate) fn find(name: &str) -> Option<&'static System> {
    let system = SYSTEMS.iter().find(|system| system.name == name)?;
    (!Path::new(name).is_file()).then_some(system)
}

/// Returns the model of a system or an older form with this name, unless there is a file with that name.
pub(crate) fn model(name: &str) -> Option<&'static str> {
    let older = OLDER.iter().find(|(older, _)| *older == name && !Path::new(name).is_file());
    find(name).map(|system| system.text).or(older.map(|(_, text)| *text))
}

#[cfg(test)]
mod tests {
    use keyform_check::Checked;

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

//! The systems that come with the command, by name: their models are part of it.

use std::path::Path;

/// Each system's name and model.
pub(crate) const SYSTEMS: [(&str, &str); 5] = [
    ("agencies", include_str!("../../../systems/agencies/agencies.kf")),
    ("discord", include_str!("../../../systems/discord/discord.kf")),
    ("helpmaton", include_str!("../../../systems/helpmaton/helpmaton.kf")),
    ("t3nets", include_str!("../../../systems/t3nets/t3nets.kf")),
    ("workspaces", include_str!("../../../systems/workspaces/workspaces.kf")),
];

/// The model of a system that is named so, unless there is a file of that name.
pub(crate) fn find(name: &str) -> Option<&'static str> {
    let (_, text) = SYSTEMS.iter().find(|(system, _)| *system == name)?;
    (!Path::new(name).is_file()).then_some(text)
}

#[cfg(test)]
mod tests {
    use keyform::model::Checked;

    use super::*;

    #[test]
    fn every_system_is_without_errors_and_called_by_its_name() {
        for (name, text) in SYSTEMS {
            let checked = Checked::read(text);
            assert!(!checked.has_errors(), "{name}: {:?}", checked.diagnostics);
            assert_eq!(checked.model.name, name);
        }
    }
}

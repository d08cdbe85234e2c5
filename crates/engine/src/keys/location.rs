//! Where the master key of a user is kept.

use std::path::PathBuf;

/// The variable that names another place.
const VARIABLE: &str = "KEYFORM_MASTER_KEY_FILE";

/// The file with the user's master key: what `KEYFORM_MASTER_KEY_FILE` says, or else `keyform/master.key` in the user's
/// configuration folder. Nothing where the user has no home.
pub fn user_master_key_file() -> Option<PathBuf> {
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let folder = || variable("XDG_CONFIG_HOME").or_else(|| Some(variable("HOME")?.join(".config")));
    variable(VARIABLE).or_else(|| Some(folder()?.join("keyform").join("master.key")))
}

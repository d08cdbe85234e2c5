//! Path of a user's master key file.

use std::path::PathBuf;

/// Returns the path of the user's master key file: the value of `KEYFORM_MASTER_KEY_FILE`, or `master.key` in the
/// user's [`configuration_folder`]. `None` if the user has no home folder.
pub fn user_master_key_file() -> Option<PathBuf> {
    master_key_file(|name| std::env::var(name).ok())
}

/// Returns Keyform's folder in the user's configuration, from the environment variables that `variable` returns. An
/// empty variable counts as unset.
pub fn configuration_folder(variable: impl Fn(&str) -> Option<String>) -> Option<PathBuf> {
    let path = |name: &str| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let base = path("XDG_CONFIG_HOME").filter(|base| base.is_absolute());
    let base = base.or_else(|| Some(path("HOME")?.join(".config"))).or_else(|| path("APPDATA"))?;
    Some(base.join("keyform"))
}

fn master_key_file(variable: impl Fn(&str) -> Option<String>) -> Option<PathBuf> {
    let named = variable("KEYFORM_MASTER_KEY_FILE").filter(|file| !file.is_empty()).map(PathBuf::from);
    named.or_else(|| Some(configuration_folder(variable)?.join("master.key")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn master_key_is_where_the_user_says_or_in_the_configuration_folder() {
        let place = |variables: &[(&str, &str)]| {
            let value =
                |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| value.to_string());
            master_key_file(value).map(|file| file.display().to_string())
        };
        let home = ("HOME", "/home/ada");
        for (variables, expected) in [
            (&[("KEYFORM_MASTER_KEY_FILE", "/keys/mine"), home][..], Some("/keys/mine")),
            (&[("KEYFORM_MASTER_KEY_FILE", ""), home], Some("/home/ada/.config/keyform/master.key")),
            (&[("XDG_CONFIG_HOME", "/etc/ada"), home], Some("/etc/ada/keyform/master.key")),
            (&[("XDG_CONFIG_HOME", "relative"), home], Some("/home/ada/.config/keyform/master.key")),
            (&[], None),
        ] {
            assert_eq!(place(variables).as_deref(), expected, "{variables:?}");
        }
    }
}

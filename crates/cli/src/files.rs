//! Directory for system files outside items.

use std::fs::DirBuilder;
use std::path::PathBuf;

use crate::config::Config;
use crate::failure::Failure;
use crate::systems;

/// Returns the directory for these models, if any. An explicitly named directory is created now, so that a mistake is
/// reported at startup and not with the first document.
///
/// In memory, files end with the process, like the tables. A remote store outlives the process, so a
/// system that stores files is rejected there without a directory: its documents would be lost with every restart.
pub(crate) fn folder(config: &Config, models: &[String]) -> Result<Option<PathBuf>, Failure> {
    if let Some(folder) = config.files.as_ref().filter(|_| config.files_folder().is_some()) {
        let mut builder = DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(folder).map_err(|error| {
            Failure::new(format!("cannot create the directory {} of --files: {error}", folder.display()))
        })?;
    }
    let folder = config.files_folder();
    let mut named = models.iter().filter_map(|name| systems::find(name));
    match named.find(|system| system.keeps_files) {
        Some(system) if folder.is_none() && !config.is_embedded() => Err(Failure::new(format!(
            "{} keeps documents in files, which a remote store cannot hold: choose a directory with --files \
            DIRECTORY, KEYFORM_FILES or files = \"…\" in keyform.toml",
            system.name
        ))),
        _ => Ok(folder),
    }
}

//! The directory in which systems keep what does not fit into items.

use std::fs::DirBuilder;
use std::path::PathBuf;

use crate::config::Config;
use crate::failure::Failure;
use crate::systems;

/// Returns the directory for these models, if there is one. A directory that was named is made, so a mistake in it shows at the start and not with the first document.
///
/// In memory there is none, and content ends with the process as the tables do. A store elsewhere outlives the process: a system that keeps files is refused there without
/// a directory, because its documents would be lost with every restart.
pub(crate) fn folder(config: &Config, models: &[String]) -> Result<Option<PathBuf>, Failure> {
    if let Some(folder) = config.files.as_ref().filter(|_| config.files_folder().is_some()) {
        let mut builder = DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(folder).map_err(|error| {
            Failure::new(format!("the directory {} of --files cannot be made: {error}", folder.display()))
        })?;
    }
    let folder = config.files_folder();
    let mut named = models.iter().filter_map(|name| systems::find(name));
    match named.find(|system| system.keeps_files) {
        Some(system) if folder.is_none() && !config.is_embedded() => Err(Failure::new(format!(
            "{} keeps documents in files, which a store elsewhere cannot hold: name a directory for them with --files DIRECTORY, KEYFORM_FILES or files = \"…\" in keyform.toml",
            system.name
        ))),
        _ => Ok(folder),
    }
}

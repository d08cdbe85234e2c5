//! `keyform keys`: manages the master key file and the key ring of a data directory.

use keyform::SystemWorld;
use keyform_engine::encryption_keys::{self, KeyRing, MasterKeys};

use crate::config::Config;
use crate::failure::Failure;
use crate::{output, serve};

/// Creates a new master key and a new data key; with `rewrite`, also rewrites all data under the new key.
pub(crate) fn rotate(config: &Config, rewrite: bool) -> Result<(), Failure> {
    let file = config.master_key_file()?;
    let mut on_disk = config.clone();
    (on_disk.in_memory, on_disk.encryption) = (false, true);
    if rewrite && KeyRing::exists(&config.data) {
        // Open the directory first: if a server uses it, the rewrite would fail, and then no key must change.
        serve::open(&on_disk)?.close()?;
    }
    let done = encryption_keys::rotate(&config.data, &file, &SystemWorld)?;
    output::line(&format!(
        "Master key {new} now protects the keys of {data} (before: {old}).\n{file} keeps the older master key for \
        other data directories and backups: `keyform keys forget {old}` removes it.",
        data = config.data.display(),
        new = done.master,
        old = done.master_before,
        file = file.display(),
    ))?;
    if !rewrite {
        return output::line(&format!(
            "After the next start of the server, data is encrypted with data key {}; older files follow when they are \
            compacted.",
            done.data_key
        ));
    }
    let database = serve::open(&on_disk)?;
    database.compact()?;
    database.close()?;
    output::line(&format!("All data is now encrypted with data key {}.", done.data_key))
}

/// Shows the ids of the keys, never the keys themselves.
pub(crate) fn show(config: &Config) -> Result<(), Failure> {
    let file = config.master_key_file()?;
    let Some(masters) = MasterKeys::load(&file)? else {
        return output::line(&format!("No master key file at {} yet: the first start creates it.", file.display()));
    };
    let mut text = format!("master key file  {}\ncurrent          {}\n", file.display(), masters.current().id());
    for key in masters.older() {
        text.push_str(&format!("older            {}\n", key.id()));
    }
    text.push_str(&format!("data directory   {}\n", config.data.display()));
    if KeyRing::exists(&config.data) {
        let ring = KeyRing::load(&config.data, &masters)?;
        let others = ring.iter().filter(|(id, _)| *id != ring.current()).count();
        text.push_str(&format!("wrapped by       {}\n", ring.master()));
        text.push_str(&format!("data key         {} ({others} older)", ring.current()));
    } else {
        text.push_str("                 no key ring");
    }
    output::line(&text)
}

/// Removes an older master key.
pub(crate) fn forget(config: &Config, id: &str) -> Result<(), Failure> {
    let file = config.master_key_file()?;
    if let Some(masters) = MasterKeys::load(&file)?
        && KeyRing::exists(&config.data)
        && KeyRing::load(&config.data, &masters)?.master().to_string() == id
    {
        let data = config.data.display();
        return Err(Failure::new(format!(
            "master key {id} still protects the keys of {data}: run `keyform keys rotate` first"
        )));
    }
    MasterKeys::forget(&file, id)?;
    output::line(&format!("Removed master key {id} from {}.", file.display()))
}

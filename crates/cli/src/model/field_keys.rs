//! `keyform field-keys`: manages the keys of encrypted fields.

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use clap::{Arg, ArgMatches, Command};
use keyform::SystemWorld;
use keyform::runtime::run::{RunSettings, Runner};
use keyform_check::Checked;
use keyform_runtime::seal::{KeyId, Keyring};

use crate::failure::Failure;
use crate::key_files::field as field_keys;
use crate::open_store::{self, OpenStore};
use crate::output;

use super::source;

const MORE: &str = "Keyform encrypts fields before they reach any store, with the first key of the file in \
    KEYFORM_FIELD_KEYS_FILE or --field-keys-file, or of the variable KEYFORM_FIELD_KEYS (base64, separated by \
    commas). All keys of the file decrypt. To rotate: run `rotate`, restart the programs that use the file, run \
    `reseal`, then `forget` the older key.";

const RESEAL: &str = "Scans the tables and encrypts values of older keys with the current key. You can stop and \
    restart it at any time: it skips values that are done, and --from resumes where it ended.";

/// Returns the command with its subcommands.
pub(super) fn command() -> Command {
    let file = || Arg::new("file").value_name("FILE").required(true).help("File of field keys");
    let id =
        Arg::new("id").value_name("ID").required(true).help("Id of the key, as printed by `keyform field-keys show`");
    let model = Arg::new("file").value_name("MODEL").required(true).help("Model (.kf file)");
    let from = Arg::new("from").long("from").value_name("POINT").help("Position at which an interrupted run ended");
    Command::new("field-keys")
        .about("Create, show and rotate the keys of encrypted fields")
        .arg_required_else_help(true)
        .subcommand(Command::new("new").about("Create a file with one new key").arg(file()))
        .subcommand(Command::new("show").about("List key ids; never prints a key").arg(file()))
        .subcommand(Command::new("rotate").about("Add a new key, which encrypts from now on").arg(file()))
        .subcommand(Command::new("forget").about("Remove an older key").args([file(), id]))
        .subcommand(
            Command::new("reseal")
                .about("Re-encrypt all encrypted fields of a model with the newest key")
                .arg(model)
                .args(open_store::arguments())
                .arg(from)
                .after_help(RESEAL),
        )
        .after_help(MORE)
}

pub(super) fn run(arguments: &ArgMatches) -> Result<ExitCode, Failure> {
    let (name, arguments) = arguments.subcommand().ok_or_else(|| Failure::new("missing subcommand: see --help"))?;
    let text = |name| arguments.get_one::<String>(name).map_or("", String::as_str);
    let file = Path::new(text("file"));
    match name {
        "new" => show(file, &field_keys::create(file)?)?,
        "rotate" => show(file, &field_keys::rotate(file)?)?,
        "forget" => {
            let id = KeyId::from_text(text("id")).ok_or_else(|| {
                Failure::new(format!(
                    "{} is not a key id: see `keyform field-keys show {}`",
                    text("id"),
                    file.display()
                ))
            })?;
            show(file, &field_keys::forget(file, id)?)?;
        }
        "reseal" => reseal(arguments)?,
        _ => show(file, &field_keys::load(file)?)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Shows the ids of the keys.
fn show(file: &Path, ring: &Keyring) -> Result<(), Failure> {
    let mut text = format!("file   {}\nseals  {}", file.display(), ring.primary().id());
    for key in ring.older() {
        text.push_str(&format!("\nopens  {}", key.id()));
    }
    output::line(&text)
}

fn reseal(arguments: &ArgMatches) -> Result<(), Failure> {
    let path = arguments.get_one::<String>("file").map_or("", String::as_str);
    let checked = Checked::read(&source::read(path)?);
    if checked.has_errors() {
        return Err(Failure::new(format!("{path} has errors: see `keyform check {path}`")));
    }
    let from = arguments.get_one::<String>("from").cloned();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(reseal_all(Arc::new(checked), arguments, from))
}

async fn reseal_all(checked: Arc<Checked>, arguments: &ArgMatches, from: Option<String>) -> Result<(), Failure> {
    let config = open_store::config(arguments)?;
    let settings = open_store::run_settings(&config, open_store::variables(arguments)?, Default::default());
    let settings = RunSettings { field_keys: config.field_keys()?, ..settings };
    let store = OpenStore::open(arguments).await?;
    let runner = Runner::new(checked, store.store(), Arc::new(SystemWorld), settings)?;
    let (mut next, mut seen, mut changed) = (from, 0, 0);
    loop {
        let page = runner.reseal(next.as_deref()).await.map_err(|error| {
            let point = next.as_ref().map(|point| format!(" (resume with --from {point})")).unwrap_or_default();
            Failure::new(format!("{error}{point}"))
        })?;
        (seen, changed) = (seen + page.seen, changed + page.changed);
        next = page.next;
        let Some(point) = &next else { break };
        output::note(&format!("{seen} items seen, {changed} re-encrypted; --from {point}"));
    }
    store.close()?;
    output::line(&format!("{seen} items with encrypted fields, {changed} re-encrypted"))
}

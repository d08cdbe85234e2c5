//! Command-line arguments and their help.

use clap::{Arg, ArgAction, ArgMatches, Command, crate_version};

use crate::config::{SETTINGS, Setting};

const ABOUT: &str = "\
Keyform turns the schema document of your DynamoDB tables into a data layer: one .kf model is checked, run, served, \
documented, costed, deployed and migrated.";

const MORE: &str = "\
Without a command, `keyform` serves ./keyform-data and the example systems on 127.0.0.1:8000; it takes the flags of \
`keyform serve`.

`keyform COMMAND --help` describes a command. Settings are flags, KEYFORM_* variables or keys of keyform.toml, in that order.";

/// Groups of commands in the help.
const GROUPS: [(&str, &[&str]); 5] = [
    ("Model", &["check", "prove", "explain", "cost", "doc", "fmt", "lsp", "import", "generate", "model"]),
    ("Data", &["serve", "run", "watch", "copy", "export", "handlers"]),
    ("Change", &["deploy", "migrate"]),
    ("Keys and access", &["credentials", "token", "keys", "field-keys"]),
    ("More", &["demo", "version", "help"]),
];

const ROTATE: &str = "A running server uses the new data key after its next start; --rewrite needs exclusive access \
    to the data directory. The file keeps the older master key, because other data directories and backups may need \
    it.";

const SERVE: &str = "The patterns of a model are at /v1/{model}/{pattern}: GET for reads, POST for writes; \
    /v1/{model}/openapi.json describes them. Callers send a JSON Web Token that --jwt-key-file or the provider of --oidc-issuer verifies; without a \
    key and without credentials (development mode, on loopback only) the server takes the caller from the \
    X-Keyform-Caller header. The server reloads a model when its file changes. With --store dynamodb, the server \
    serves only the model API, and you can run any number of instances; it creates tables only with --create-tables.";

/// Returns the complete command.
pub(crate) fn command() -> Command {
    let command = commands();
    let overview = overview(&command);
    command.help_template(format!("{{about}}\n\n{{usage-heading}} {{usage}}\n\n{overview}\n{{options}}{{after-help}}"))
}

/// Formats the grouped list of commands; clap itself lists them in one group.
fn overview(command: &Command) -> String {
    let mut text = String::new();
    for (group, names) in GROUPS {
        text.push_str(&format!("{group}:\n"));
        for name in names {
            let about = command.find_subcommand(name).and_then(Command::get_about);
            let about = about.map_or_else(|| "Print the help of a command".to_owned(), ToString::to_string);
            text.push_str(&format!("  {name:<13}{about}\n"));
        }
        text.push('\n');
    }
    text
}

fn commands() -> Command {
    Command::new("keyform")
        .version(crate_version!())
        .about(ABOUT)
        .after_help(MORE)
        .args_conflicts_with_subcommands(true)
        // The flags of `serve` also work without the command; its own help lists them.
        .args(settings(&|_| true).into_iter().map(|flag| flag.hide(true)))
        .subcommand(serve())
        .subcommands(crate::model::commands())
        .subcommands([crate::copy::command(), crate::copy::export::command()])
        .subcommand(crate::demo::command())
        .subcommand(crate::lsp::command())
        .subcommand(keys())
        .subcommand(credentials())
        .subcommand(Command::new("version").about("Print the version"))
}

/// Returns the argument `id`.
pub(crate) fn id(arguments: &ArgMatches) -> &str {
    arguments.get_one::<String>("id").map(String::as_str).unwrap_or_default()
}

fn serve() -> Command {
    let files = Arg::new("models").value_name("MODELS").num_args(0..);
    let files = files.help("Models to serve: .kf files or names of example systems [default: all example systems]");
    let no_systems = Arg::new("no-systems").long("no-systems").action(ArgAction::SetTrue);
    let no_systems = no_systems.help("Do not serve the example systems");
    let external = Arg::new("external-handlers").long("external-handlers").action(ArgAction::SetTrue);
    let external = external.help("Serve models of files whose handlers another program runs");
    let demo = Arg::new("demo").long("demo").action(ArgAction::SetTrue).conflicts_with_all(["models", "no-systems"]);
    let demo = demo.help("Fill the example systems with sample data and print calls to try");
    Command::new("serve")
        .about("Serve the DynamoDB endpoint and the HTTP API of models (the default command)")
        .args([files, crate::open_store::variable(), crate::open_store::create_tables()])
        .args([crate::open_store::accept_breaking_model(), no_systems, external, demo])
        .args(settings(&|_| true))
        .after_help(SERVE)
}

fn keys() -> Command {
    let about = |setting: &Setting| ["data", "master_key_file"].contains(&setting.name);
    let id =
        Arg::new("id").value_name("ID").required(true).help("Id of the master key, as printed by `keyform keys show`");
    let rewrite = Arg::new("rewrite").long("rewrite").action(ArgAction::SetTrue);
    let rewrite = rewrite.help("Re-encrypt all data now instead of during later compactions");
    Command::new("keys")
        .about("Show and rotate the keys of encryption at rest")
        .arg_required_else_help(true)
        .subcommand(Command::new("show").about("List key ids; never prints a key").args(settings(&about)))
        .subcommand(
            Command::new("rotate")
                .about("Create a new master key and a new data key")
                .arg(rewrite)
                .args(settings(&about))
                .after_help(ROTATE),
        )
        .subcommand(
            Command::new("forget").about("Remove an older master key from the file").arg(id).args(settings(&about)),
        )
}

fn credentials() -> Command {
    let about = |setting: &Setting| setting.name == "credentials_file";
    let id = Arg::new("id").value_name("ACCESS_KEY_ID").help("Access key id");
    let secret = Arg::new("secret").value_name("SECRET").help("Secret; generated and shown once when omitted");
    let replace = Arg::new("replace")
        .long("replace")
        .action(ArgAction::SetTrue)
        .help("Replace the secret of an existing access key");
    let add = Command::new("add").about("Add an access key").args([id.clone(), secret, replace]);
    Command::new("credentials")
        .about("Manage the access keys that may sign requests")
        .arg_required_else_help(true)
        .subcommand(add.args(settings(&about)))
        .subcommand(Command::new("list").about("List the access key ids").args(settings(&about)))
        .subcommand(Command::new("remove").about("Remove an access key").arg(id.required(true)).args(settings(&about)))
}

/// Returns a flag for each selected setting, and `--config`.
pub(crate) fn settings(wanted: &dyn Fn(&Setting) -> bool) -> Vec<Arg> {
    let file =
        Arg::new("config").long("config").value_name("FILE").help("Configuration file [default: ./keyform.toml]");
    SETTINGS.iter().filter(|setting| wanted(setting)).map(flag).chain([file]).collect()
}

fn flag(setting: &Setting) -> Arg {
    let arg = Arg::new(setting.name).long(setting.flag()).help(setting.help);
    let arg = if setting.name == "jwt_key_file" { arg.alias("jwt-key") } else { arg };
    match setting.value {
        "" => arg.action(ArgAction::SetTrue),
        value if setting.is_list() => arg.value_name(value).action(ArgAction::Append),
        value => arg.value_name(value).allow_negative_numbers(true),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn help_lists_each_command_in_one_group() {
        let mut listed: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| *names).copied().collect();
        let command = commands();
        let mut commands: Vec<&str> = command.get_subcommands().map(Command::get_name).chain(["help"]).collect();
        listed.sort_unstable();
        commands.sort_unstable();
        assert_eq!(listed, commands);
    }
}

//! The arguments of the command, and its help.

use clap::{Arg, ArgAction, ArgMatches, Command, crate_version};

use crate::config::{SETTINGS, Setting};

const ABOUT: &str = "A DynamoDB-compatible database: any AWS SDK works against it unchanged.";
const MORE: &str = "\
Without a command, `keyform` serves: it opens ./keyform-data and listens on 127.0.0.1:8000.

Every setting can be given as a flag, as an environment variable (KEYFORM_PORT for --port), or in keyform.toml in the \
current directory (port = 8000). Flags win over the environment, which wins over the file.

Without credentials and without a token key the server is in development mode: it listens on loopback only, accepts any \
signature or none, and answers only requests for localhost and --allowed-host. `keyform credentials add` makes an access \
key; from then on every operation must be signed with one, and the model API needs --jwt-key-file.

Data is encrypted. The master key is kept outside of the data directory, in the user's configuration folder: keep a copy.";

const ROTATE: &str = "\
A server that runs takes the new data key at its next start; --rewrite needs the data directory for itself. The older \
master key stays in the file, because other data directories and backups may need it.";

const SERVE: &str = "\
The patterns of a model are at /v1/{model}/{pattern}: GET for reads, POST for writes; /v1/{model}/openapi.json describes \
them. Callers send a JSON Web Token that --jwt-key-file verifies; without a key and without credentials (development mode, on \
loopback only) the server takes the caller from the header X-Keyform-Caller. A model is read again when its file changes. With --store dynamodb the model API alone is served, \
in as many copies as wanted; tables are made only with --create-tables.";

/// The whole command.
pub(crate) fn command() -> Command {
    Command::new("keyform")
        .version(crate_version!())
        .about(ABOUT)
        .after_help(MORE)
        .args_conflicts_with_subcommands(true)
        .args(settings(&|_| true))
        .subcommand(serve())
        .subcommands(crate::model::commands())
        .subcommands([crate::copy::command(), crate::copy::export::command()])
        .subcommand(crate::demo::command())
        .subcommand(crate::lsp::command())
        .subcommand(keys())
        .subcommand(credentials())
        .subcommand(Command::new("version").about("Prints the version"))
}

/// The id that a command is about.
pub(crate) fn id(arguments: &ArgMatches) -> &str {
    arguments.get_one::<String>("id").map(String::as_str).unwrap_or_default()
}

fn serve() -> Command {
    let files = Arg::new("models").value_name("MODELS").num_args(0..);
    let files =
        files.help("Models to serve: .kf files, or names of the systems that come with keyform [default: all systems]");
    let no_systems = Arg::new("no-systems").long("no-systems").action(ArgAction::SetTrue);
    let no_systems = no_systems.help("Serve none of the systems that come with keyform");
    let demo = Arg::new("demo").long("demo").action(ArgAction::SetTrue).conflicts_with_all(["models", "no-systems"]);
    let demo = demo.help("Fill the systems that come with keyform with sample data, and tell what can be tried");
    Command::new("serve")
        .about("Serves a data directory (the default), and models as an HTTP API")
        .args([files, crate::place::variable(), crate::place::create_tables(), no_systems, demo])
        .args(settings(&|_| true))
        .after_help(SERVE)
}

fn keys() -> Command {
    let about = |setting: &Setting| ["data", "master_key_file"].contains(&setting.name);
    let id = Arg::new("id").value_name("ID").required(true).help("The master key, as `keyform keys show` names it");
    let rewrite = Arg::new("rewrite").long("rewrite").action(ArgAction::SetTrue);
    let rewrite = rewrite.help("Write all data anew under the new data key at once, instead of over time");
    Command::new("keys")
        .about("Shows and rotates the keys of encryption at rest")
        .arg_required_else_help(true)
        .subcommand(Command::new("show").about("Shows which keys there are, never the keys").args(settings(&about)))
        .subcommand(
            Command::new("rotate")
                .about("Makes a new master key and a new data key")
                .arg(rewrite)
                .args(settings(&about))
                .after_help(ROTATE),
        )
        .subcommand(
            Command::new("forget").about("Removes an older master key from the file").arg(id).args(settings(&about)),
        )
}

fn credentials() -> Command {
    let about = |setting: &Setting| setting.name == "credentials_file";
    let id = Arg::new("id").value_name("ACCESS_KEY_ID").help("The access key id");
    let secret = Arg::new("secret").value_name("SECRET").help("Its secret; made up and shown once when not given");
    let replace = Arg::new("replace")
        .long("replace")
        .action(ArgAction::SetTrue)
        .help("Gives an access key that is there already a new secret");
    let add = Command::new("add").about("Adds an access key").args([id.clone(), secret, replace]);
    Command::new("credentials")
        .about("Keeps the access keys that may use the server")
        .arg_required_else_help(true)
        .subcommand(add.args(settings(&about)))
        .subcommand(Command::new("list").about("Lists the access key ids").args(settings(&about)))
        .subcommand(Command::new("remove").about("Removes an access key").arg(id.required(true)).args(settings(&about)))
}

/// One flag for each of the settings wanted, and the one that names the file.
pub(crate) fn settings(wanted: &dyn Fn(&Setting) -> bool) -> Vec<Arg> {
    let file =
        Arg::new("config").long("config").value_name("FILE").help("The file with settings [default: ./keyform.toml]");
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

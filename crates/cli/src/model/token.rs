//! `keyform token`: signs a token for development and tests.

use std::process::ExitCode;
use std::time::Duration;

use clap::{Arg, ArgAction, ArgMatches, Command};
use keyform::SystemWorld;
use keyform::flow::TokenKeys;
use keyform_check::Checked;
use keyform_core::{Attributes, World};
use keyform_language::schema::Model;
use keyform_runtime::run::json;
use serde_json::{Map, Value};

use crate::config::{Config, ProcessContext, duration};
use crate::failure::Failure;
use crate::open_store::pairs;
use crate::{command, output};

use super::run::{text, typed_claims};
use super::{file, source};

const MORE: &str = "\
The key is the secret of --jwt-key-file (KEYFORM_JWT_KEY_FILE, jwt_key_file in keyform.toml), the same as the server's: \
`openssl rand -hex 32 > token.key && chmod 600 token.key` creates one. Claims with `from` in the model are written \
under the token's names.";

pub(super) fn command() -> Command {
    let claim = Arg::new("as").long("as").value_name("CLAIM=VALUE").action(ArgAction::Append);
    let expires = Arg::new("expires").long("expires").value_name("TIME").default_value("1h");
    Command::new("token")
        .about("Print a token for development, signed with --jwt-key-file")
        .arg(file())
        .arg(claim.help("Claim of the caller, as the model names it; repeat the flag for each"))
        .arg(expires.help("Lifetime of the token, such as 30s, 15m or 8h"))
        .args(command::settings(&|setting| setting.name == "jwt_key_file"))
        .after_help(MORE)
}

pub(super) fn run(arguments: &ArgMatches) -> Result<ExitCode, Failure> {
    let config = Config::resolve(arguments, &ProcessContext::of_process())?;
    let checked = Checked::read(&source::read(text(arguments, "file"))?);
    let claims = typed_claims(&checked, pairs(arguments, "as")?)?;
    let token = keys(&config)?.issue(in_token(&checked.model, &claims), lifetime(arguments)?, now());
    output::line(&token.ok_or_else(cannot_sign)?)?;
    Ok(ExitCode::SUCCESS)
}

fn keys(config: &Config) -> Result<TokenKeys, Failure> {
    let file = config.jwt_key_file.as_deref().ok_or_else(cannot_sign)?;
    Ok(TokenKeys::load(file)?)
}

fn cannot_sign() -> Failure {
    Failure::new(
        "there is no secret to sign a token with: pass the server's secret with --jwt-key-file. Public keys only verify; tokens of an identity provider come from the provider",
    )
}

fn lifetime(arguments: &ArgMatches) -> Result<Duration, Failure> {
    let given = text(arguments, "expires");
    let lifetime = duration(given).filter(|lifetime| lifetime.as_secs() > 0);
    lifetime.ok_or_else(|| Failure::new(format!("--expires {given} is not a lifetime such as 30s, 15m or 8h")))
}

fn now() -> std::time::SystemTime {
    let world: &dyn World = &SystemWorld;
    world.system_time()
}

/// Returns the claims where the server looks for them.
fn in_token(model: &Model, claims: &Attributes) -> Map<String, Value> {
    let mut written = Map::new();
    for (name, value) in claims {
        match model.caller.as_ref().and_then(|caller| caller.source(name)) {
            Some(source) => source.put(&mut written, json::to_json(value)),
            None => drop(written.insert(name.clone(), json::to_json(value))),
        }
    }
    written
}

//! `keyform credentials`: manages the access keys of the server.

use keyform_server::{Credentials, generate_credentials};

use crate::config::Config;
use crate::failure::Failure;
use crate::output;

/// Adds an access key. Generates the id and the secret that are not given, and displays a generated secret once.
/// Replaces the secret of an existing key only with `replace`, because its users would be locked out.
pub(crate) fn add(config: &Config, id: Option<&str>, secret: Option<&str>, replace: bool) -> Result<(), Failure> {
    let file = config.credentials_file()?;
    let mut credentials = Credentials::load(&file)?;
    let (fresh_id, fresh_secret) = generate_credentials();
    let id = id.unwrap_or(&fresh_id);
    if !replace && credentials.ids().any(|known| known == id) {
        return Err(Failure::new(format!(
            "access key {id} already exists in {}: pass --replace to give it a new secret",
            file.display()
        )));
    }
    credentials.add(id, secret.unwrap_or(&fresh_secret))?;
    credentials.save(&file)?;
    let mut text = format!("AWS_ACCESS_KEY_ID={id}");
    if secret.is_none() {
        text.push_str(&format!("\nAWS_SECRET_ACCESS_KEY={}", fresh_secret.as_str()));
    }
    output::line(&text)?;
    tell_about_restart(&file.display().to_string());
    Ok(())
}

/// Lists the ids of the access keys.
pub(crate) fn list(config: &Config) -> Result<(), Failure> {
    let file = config.credentials_file()?;
    let credentials = Credentials::load(&file)?;
    if credentials.is_empty() {
        return output::line(&format!(
            "No credentials in {}: without a token key the server accepts any signature, on loopback only.",
            file.display()
        ));
    }
    output::line(&credentials.ids().collect::<Vec<_>>().join("\n"))
}

/// Removes an access key.
pub(crate) fn remove(config: &Config, id: &str) -> Result<(), Failure> {
    let file = config.credentials_file()?;
    let mut credentials = Credentials::load(&file)?;
    if !credentials.remove(id) {
        return Err(Failure::new(format!(
            "no access key {id} in {}: list them with `keyform credentials list`",
            file.display()
        )));
    }
    credentials.save(&file)?;
    output::line(&format!("Removed access key {id}."))?;
    tell_about_restart(&file.display().to_string());
    Ok(())
}

fn tell_about_restart(file: &str) {
    output::note(&format!("Stored in {file}. A running server reads it at its next start."));
}

//! Precedence of the sources, and errors that name their source.

use std::path::Path;
use std::time::Duration;

use keyform::Durability;

use super::*;
use crate::command::command;

struct Case<'a> {
    flags: &'a [&'a str],
    environment: &'a [(&'a str, &'a str)],
    file: &'a str,
}

fn resolve(case: &Case<'_>) -> Result<Config, String> {
    let folder = tempfile::tempdir().unwrap();
    if !case.file.is_empty() {
        std::fs::write(folder.path().join("keyform.toml"), case.file).unwrap();
    }
    let environment = case.environment.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    let context = ProcessContext { environment: environment.collect(), directory: folder.path().to_owned() };
    let arguments = command().try_get_matches_from([&["keyform"], case.flags].concat()).unwrap();
    let place = folder.path().display().to_string();
    Config::resolve(&arguments, &context).map_err(|failure| failure.to_string().replace(&place, "DIR"))
}

fn port(flags: &[&str], environment: &[(&str, &str)], file: &str) -> u16 {
    resolve(&Case { flags, environment, file }).unwrap().port
}

fn refusal(flags: &[&str], environment: &[(&str, &str)], file: &str) -> String {
    resolve(&Case { flags, environment, file }).unwrap_err()
}

#[test]
fn flags_win_over_environment_over_file_over_default() {
    let (flag, variable, file) = (&["--port", "3"], [("KEYFORM_PORT", "2")], "port = 1");
    assert_eq!(port(flag, &variable, file), 3);
    assert_eq!(port(&[], &variable, file), 2);
    assert_eq!(port(&[], &[], file), 1);
    assert_eq!(port(&[], &[], ""), 8000);
    assert_eq!(port(&[], &[("KEYFORM_PORT", "")], file), 1);
}

#[test]
fn wrong_text_is_refused_with_its_source() {
    let expected = "is not a port: a number from 0 to 65535";
    assert_eq!(refusal(&["--port", "-1"], &[], ""), format!("--port -1 {expected}"));
    assert_eq!(refusal(&[], &[("KEYFORM_PORT", "abc")], ""), format!("KEYFORM_PORT=abc {expected}"));
    assert_eq!(refusal(&[], &[], "port = 70000"), format!("port = 70000 in DIR/keyform.toml {expected}"));
    assert_eq!(refusal(&[], &[], "port = [1]"), format!("port = [1] in DIR/keyform.toml {expected}"));
    assert_eq!(refusal(&["--durability", "maybe"], &[], ""), "--durability maybe is not sync or os");
}

#[test]
fn unknown_setting_is_refused_with_the_nearest_name() {
    assert_eq!(refusal(&[], &[], "prot = 1"), "prot in DIR/keyform.toml is not a setting: did you mean port?");
    assert_eq!(
        refusal(&[], &[], "ttl_interval = 1"),
        "ttl_interval in DIR/keyform.toml is not a setting: did you mean ttl_sweep_interval?"
    );
    assert!(refusal(&[], &[], "port =").starts_with("DIR/keyform.toml is not valid TOML"));
}

#[test]
fn every_setting_is_read_from_every_source() {
    let file = r#"
        host = "::1"
        data = "/srv/data"
        in_memory = true
        durability = "os"
        encryption = "off"
        region = "eu-west-1"
        ttl_sweep_interval = "250ms"
        workers = 3
        body_bytes_max = "1MB"
        idle_timeout = 5
        drain_timeout = "2m"
        cache_size = "2GB"
        store_connect_timeout = "1s"
        store_request_timeout = "2s"
        store_deadline = "500ms"
        log_format = "json"
        log_level = "debug"
        access_log = "on"
        master_key_file = "/etc/keyform/master.key"
    "#;
    let config = resolve(&Case { flags: &[], environment: &[], file }).unwrap();
    assert_eq!((config.host.as_str(), config.data.as_path()), ("::1", Path::new("/srv/data")));
    assert!(config.in_memory && !config.encryption);
    assert_eq!((config.durability, config.region()), (Durability::Os, "eu-west-1"));
    assert_eq!(config.ttl_sweep_interval, Duration::from_millis(250));
    assert_eq!((config.workers, config.body_bytes_max), (Some(3), 1024 * 1024));
    assert_eq!((config.idle_timeout, config.drain_timeout), (Duration::from_secs(5), Duration::from_secs(120)));
    assert_eq!(config.cache_size, Some(2 << 30));
    let timeouts = config.store_timeouts();
    let millis = [timeouts.connect, timeouts.request, timeouts.deadline].map(|time| time.as_millis());
    assert_eq!(millis, [1000, 2000, 500]);
    assert_eq!((config.log_format, config.log_level), (LogFormat::Json, LevelFilter::DEBUG));
    assert_eq!(config.access_log, AccessLog::On);
    assert_eq!(config.master_key_file().unwrap(), Path::new("/etc/keyform/master.key"));
    let by_variable = [("KEYFORM_IN_MEMORY", "1"), ("KEYFORM_ACCESS_LOG", "off")];
    let config = resolve(&Case { flags: &["serve", "--in-memory"], environment: &by_variable, file: "" }).unwrap();
    assert!(config.in_memory);
    assert_eq!(config.access_log, AccessLog::Off);
}

#[test]
fn key_files_are_in_the_configuration_folder() {
    for (environment, expected) in [
        (&[("HOME", "/home/ada")][..], "/home/ada/.config/keyform/master.key"),
        (&[("HOME", "/home/ada"), ("XDG_CONFIG_HOME", "/etc/ada")], "/etc/ada/keyform/master.key"),
        (&[("HOME", "/home/ada"), ("KEYFORM_MASTER_KEY_FILE", "/k")], "/k"),
    ] {
        let config = resolve(&Case { flags: &[], environment, file: "" }).unwrap();
        assert_eq!(config.master_key_file().unwrap(), Path::new(expected));
    }
    let homeless = resolve(&Case { flags: &[], environment: &[], file: "" }).unwrap();
    assert!(homeless.master_key_file().unwrap_err().to_string().contains("KEYFORM_MASTER_KEY_FILE"));
}

#[test]
fn files_are_beside_the_data_or_in_the_directory_that_was_named() {
    let folder = |flags: &[&str], file: &str| {
        let config = resolve(&Case { flags, environment: &[], file }).unwrap();
        config.files_folder().map(|folder| folder.display().to_string())
    };
    let elsewhere = ["--store", "dynamodb"];
    assert_eq!(folder(&["--data", "/srv/data"], "").as_deref(), Some("/srv/data-files"));
    assert_eq!(folder(&["--files", "/srv/files"], "").as_deref(), Some("/srv/files"));
    assert_eq!(folder(&[], "files = \"/srv/files\"").as_deref(), Some("/srv/files"));
    assert_eq!(folder(&["--in-memory", "--files", "/srv/files"], ""), None, "memory stays memory");
    assert_eq!(folder(&elsewhere, ""), None);
    assert_eq!(folder(&[&elsewhere[..], &["--in-memory"]].concat(), ""), None);
    assert_eq!(folder(&[&elsewhere[..], &["--files", "f"]].concat(), "").as_deref(), Some("f"));
    let variable = [("KEYFORM_FILES", "/srv/files")];
    let config = resolve(&Case { flags: &elsewhere, environment: &variable, file: "" }).unwrap();
    assert_eq!(config.files_folder().as_deref(), Some(Path::new("/srv/files")));
}

#[test]
fn named_file_must_be_there() {
    assert!(refusal(&["--config", "absent.toml"], &[], "").starts_with("cannot read DIR/absent.toml"));
}

#[test]
fn command_describes_itself_without_contradiction() {
    command().debug_assert();
}

#[test]
fn lists_come_from_flags_variables_and_arrays() {
    let names = |flags: &[&str], environment: &[(&str, &str)], file: &str| {
        resolve(&Case { flags, environment, file }).unwrap().allowed_host.join(" ")
    };
    assert_eq!(
        names(&["--allowed-host", "a.test", "--allowed-host", "b.test, c.test"], &[], ""),
        "a.test b.test c.test"
    );
    assert_eq!(names(&[], &[("KEYFORM_ALLOWED_HOST", "a.test,b.test")], "allowed_host = \"c.test\""), "a.test b.test");
    assert_eq!(names(&[], &[], "allowed_host = [\"a.test\", \"b.test\"]"), "a.test b.test");
    assert!(refusal(&[], &[], "allowed_host = [1]").contains("is not host names"));
    assert!(refusal(&["--allowed-host", "http://a.test"], &[], "").contains("is not host names"));
    assert!(refusal(&[], &[], "port = [\"1\"]").contains("is not a port"));
    let origins = ["--cors-origin", "https://a.test", "--cors-origin", "https://*.b.test,http://c.test:1"];
    let config =
        resolve(&Case { flags: &origins, environment: &[("KEYFORM_CORS_CREDENTIALS", "1")], file: "" }).unwrap();
    assert_eq!(config.cors_origin.join(" "), "https://a.test https://*.b.test http://c.test:1");
    assert!(config.cors_credentials);
    assert_eq!(refusal(&["--tls-cert", "c"], &[], ""), "--tls-cert needs the private key: pass --tls-key with it");
    assert_eq!(refusal(&["--tls-key", "k"], &[], ""), "--tls-key needs the certificate: pass --tls-cert with it");
    assert!(refusal(&["--metrics-host", "0.0.0.0"], &[], "").contains("--metrics-port"));
}

#[test]
fn an_issuer_needs_an_audience() {
    let issuer = ["--oidc-issuer", "https://login.example.com"];
    assert!(refusal(&issuer, &[], "").starts_with("--oidc-issuer needs --oidc-audience: pass the client id"));
    assert!(refusal(&["--oidc-audience", "api"], &[], "").ends_with("pass --oidc-issuer with it"));
    let file = "oidc_audience = [\"api\", \"https://api.example.com/\"]";
    let config = resolve(&Case { flags: &issuer, environment: &[], file }).unwrap();
    assert_eq!(config.issuers().unwrap().len(), 1);
    assert_eq!(config.oidc_audience, ["api", "https://api.example.com/"]);
    let file = "oidc_issuer = [\"http://login.example.com\"]\noidc_audience = [\"api\"]";
    let config = resolve(&Case { flags: &[], environment: &[], file }).unwrap();
    assert!(config.issuers().unwrap_err().to_string().contains("http is allowed on loopback only"));
}

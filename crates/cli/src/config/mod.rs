//! Settings from four sources: flags override the environment, which overrides `keyform.toml`, which overrides the
//! defaults.
//!
//! 1. `setting` lists each setting once: its name, its help, and its parser.
//! 2. `file` reads `keyform.toml` and rejects unknown names.
//! 3. [`Config::resolve`] applies the sources from the weakest to the strongest. Errors name the source of an invalid
//!    value.

mod file;
mod setting;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::ArgMatches;
use clap::parser::ValueSource;
use keyform::Durability;
use keyform::SystemWorld;
use keyform::aws::Timeouts;
use keyform::runtime::seal::Keyring;
use keyform_server::Issuer;
use tracing::level_filters::LevelFilter;

use crate::failure::Failure;
use crate::key_files::{cursor, field};
pub(crate) use setting::{SETTINGS, Setting, duration};

/// Resolved settings.
#[derive(Debug, Clone)]
pub(crate) struct Config {
    pub(crate) host: String,
    pub(crate) port: u16,
    pub(crate) allowed_host: Vec<String>,
    pub(crate) cors_origin: Vec<String>,
    pub(crate) cors_credentials: bool,
    pub(crate) trusted_proxy: Vec<String>,
    pub(crate) tls_cert: Option<PathBuf>,
    pub(crate) tls_key: Option<PathBuf>,
    pub(crate) metrics_port: Option<u16>,
    pub(crate) metrics_host: Option<String>,
    pub(crate) data: PathBuf,
    pub(crate) files: Option<PathBuf>,
    pub(crate) in_memory: bool,
    pub(crate) durability: Durability,
    pub(crate) encryption: bool,
    pub(crate) cache_size: Option<usize>,
    /// Location of the tables.
    pub(crate) store: StoreKind,
    pub(crate) endpoint_url: Option<String>,
    pub(crate) profile: Option<String>,
    pub(crate) without_transactions: bool,
    pub(crate) store_connect_timeout: Duration,
    pub(crate) store_request_timeout: Duration,
    pub(crate) store_deadline: Duration,
    pub(crate) region: Option<String>,
    pub(crate) ttl_sweep_interval: Duration,
    pub(crate) workers: Option<usize>,
    pub(crate) connections_max: usize,
    pub(crate) connections_per_address_max: Option<usize>,
    pub(crate) body_bytes_max: usize,
    pub(crate) idle_timeout: Duration,
    pub(crate) body_timeout: Duration,
    pub(crate) write_timeout: Duration,
    pub(crate) flow_timeout: Duration,
    pub(crate) drain_timeout: Duration,
    pub(crate) log_format: LogFormat,
    pub(crate) log_level: LevelFilter,
    pub(crate) access_log: AccessLog,
    pub(crate) master_key_file: Option<PathBuf>,
    pub(crate) credentials_file: Option<PathBuf>,
    pub(crate) jwt_key_file: Option<PathBuf>,
    pub(crate) oidc_issuer: Vec<String>,
    pub(crate) oidc_audience: Vec<String>,
    pub(crate) cursor_key_file: Option<PathBuf>,
    pub(crate) field_keys_file: Option<PathBuf>,
    /// User's configuration folder, if it can be determined.
    folder: Option<PathBuf>,
}

/// Kind of store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StoreKind {
    /// Data directory, or memory.
    Embedded,
    /// DynamoDB, or a fully compatible endpoint.
    DynamoDb,
    /// ScyllaDB Alternator, which has no transactions.
    Alternator,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LogFormat {
    Human,
    Json,
}

/// Access log mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AccessLog {
    Auto,
    On,
    Off,
}

/// Environment of a process; tests replace it.
#[derive(Debug, Default)]
pub(crate) struct ProcessContext {
    pub(crate) environment: BTreeMap<String, String>,
    /// Directory of `keyform.toml`.
    pub(crate) directory: PathBuf,
}

impl ProcessContext {
    /// Returns the environment of this process.
    pub(crate) fn of_process() -> Self {
        // Variables that are not UTF-8 cannot be settings.
        let text = |(name, value): (std::ffi::OsString, std::ffi::OsString)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        };
        Self { environment: std::env::vars_os().filter_map(text).collect(), directory: PathBuf::new() }
    }

    fn variable(&self, name: &str) -> Option<&str> {
        self.environment.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }

    /// Returns the user's configuration folder.
    fn folder(&self) -> Option<PathBuf> {
        keyform_engine::encryption_keys::configuration_folder(|name| self.variable(name).map(str::to_owned))
    }
}

impl Config {
    /// Resolves the settings from all sources.
    pub(crate) fn resolve(arguments: &ArgMatches, context: &ProcessContext) -> Result<Self, Failure> {
        let mut config = Self::defaults(context);
        let named = arguments.get_one::<String>("config").map(String::as_str);
        for (setting, text, source) in file::read(named.or(context.variable("KEYFORM_CONFIG")), context)? {
            config.apply(setting, &text, &source)?;
        }
        for setting in SETTINGS {
            if let Some(text) = context.variable(&setting.variable()) {
                config.apply(setting, text, &format!("{}={text}", setting.variable()))?;
            }
        }
        for setting in SETTINGS {
            if let Some(text) = flag(arguments, setting) {
                config.apply(setting, &text, &format!("--{} {text}", setting.flag()))?;
            }
        }
        config.refuse_contradictions()?;
        Ok(config)
    }

    fn refuse_contradictions(&self) -> Result<(), Failure> {
        match (&self.tls_cert, &self.tls_key) {
            (Some(_), None) => return Err(Failure::new("--tls-cert needs the private key: pass --tls-key with it")),
            (None, Some(_)) => return Err(Failure::new("--tls-key needs the certificate: pass --tls-cert with it")),
            (Some(_), Some(_)) | (None, None) => {}
        }
        if self.metrics_host.is_some() && self.metrics_port.is_none() {
            return Err(Failure::new(
                "--metrics-host is the address of the port for metrics: pass --metrics-port with it",
            ));
        }
        self.refuse_half_an_issuer()?;
        let given = [("--endpoint-url", &self.endpoint_url), ("--profile", &self.profile)];
        match given.iter().find(|(_, value)| value.is_some()) {
            Some((flag, _)) if self.is_embedded() => {
                Err(Failure::new(format!("{flag} says where DynamoDB is: give --store dynamodb with it")))
            }
            _ => Ok(()),
        }
    }

    fn refuse_half_an_issuer(&self) -> Result<(), Failure> {
        match (self.oidc_issuer.is_empty(), self.oidc_audience.is_empty()) {
            (true, true) | (false, false) => Ok(()),
            (false, true) => Err(Failure::new(
                "--oidc-issuer needs --oidc-audience: pass the client id or API identifier that the provider puts into `aud` of tokens for this server, because it issues tokens for other applications too",
            )),
            (true, false) => Err(Failure::new(
                "--oidc-audience is the audience of tokens of an OpenID provider: pass --oidc-issuer with it",
            )),
        }
    }

    /// Returns the OpenID providers, each with all audiences.
    pub(crate) fn issuers(&self) -> Result<Vec<Issuer>, Failure> {
        let issuer = |url: &String| Ok(Issuer::new(url, self.oidc_audience.clone())?);
        self.oidc_issuer.iter().map(issuer).collect()
    }

    /// Returns whether the tokens of callers can be verified.
    pub(crate) fn verifies_tokens(&self) -> bool {
        self.jwt_key_file.is_some() || !self.oidc_issuer.is_empty()
    }

    /// Returns the directory for system files outside items; `None` in memory, and for a remote store
    /// unless one is named, because there is no data directory to derive it from.
    pub(crate) fn files_folder(&self) -> Option<PathBuf> {
        match &self.files {
            _ if self.is_embedded() && self.in_memory => None,
            Some(folder) => Some(folder.clone()),
            None if self.is_embedded() => {
                let mut name = self.data.clone().into_os_string();
                name.push("-files");
                Some(PathBuf::from(name))
            }
            None => None,
        }
    }

    /// Returns whether the tables are in a data directory or in memory.
    pub(crate) fn is_embedded(&self) -> bool {
        self.store == StoreKind::Embedded
    }

    /// Returns the timeouts of a remote store.
    pub(crate) fn store_timeouts(&self) -> Timeouts {
        Timeouts {
            connect: self.store_connect_timeout,
            request: self.store_request_timeout,
            deadline: self.store_deadline,
        }
    }

    /// Returns whether the store lacks transactions.
    pub(crate) fn lacks_transactions(&self) -> bool {
        self.without_transactions || self.store == StoreKind::Alternator
    }

    /// Returns the region for ARNs and signatures.
    pub(crate) fn region(&self) -> &str {
        self.region.as_deref().unwrap_or("us-east-1")
    }

    /// Returns the key that encrypts cursors. A file that was named must exist; the one in the configuration folder is
    /// created. Without a home directory, and in memory, cursors are valid only in this process.
    pub(crate) fn cursor_key(&self) -> Result<[u8; cursor::KEY_BYTES], Failure> {
        match (&self.cursor_key_file, &self.folder) {
            (Some(file), _) => Ok(cursor::read(file)?),
            (None, Some(folder)) if !self.in_memory => Ok(cursor::read_or_make(&folder.join("cursor.key"))?),
            _ => Ok(cursor::random()),
        }
    }

    /// Returns the keys of encrypted fields: from the configured file or variable, otherwise from the file in the
    /// configuration folder. For a data directory that file is created, like the master key; in memory the keys end
    /// with the process. For a remote store nothing is created, because other instances would need the same keys: the
    /// operator must create them.
    pub(crate) fn field_keys(&self) -> Result<Option<Arc<Keyring>>, Failure> {
        let given = match &self.field_keys_file {
            Some(file) => Some(field::load(file)?),
            None => field::from_environment(|name| std::env::var(name).ok())?,
        };
        let ring = match (given, &self.folder) {
            (Some(ring), _) => Some(ring),
            (None, _) if self.in_memory => Some(Keyring::generate(&SystemWorld)),
            (None, Some(folder)) if self.is_embedded() => Some(field::load_or_create(&folder.join("field.keys"))?),
            (None, Some(folder)) if folder.join("field.keys").exists() => {
                Some(field::load(&folder.join("field.keys"))?)
            }
            (None, _) => None,
        };
        Ok(ring.map(Arc::new))
    }

    /// Returns the path of the master key file.
    pub(crate) fn master_key_file(&self) -> Result<PathBuf, Failure> {
        self.in_folder(self.master_key_file.as_ref(), "master.key", "--master-key-file or KEYFORM_MASTER_KEY_FILE")
    }

    /// Returns the path of the credentials file.
    pub(crate) fn credentials_file(&self) -> Result<PathBuf, Failure> {
        self.in_folder(self.credentials_file.as_ref(), "credentials", "--credentials-file or KEYFORM_CREDENTIALS_FILE")
    }

    fn in_folder(&self, named: Option<&PathBuf>, name: &str, how: &str) -> Result<PathBuf, Failure> {
        let place = named.cloned().or_else(|| self.folder.as_ref().map(|folder| folder.join(name)));
        place.ok_or_else(|| {
            Failure::new(format!(
                "cannot find the configuration folder for {name} because HOME is not set: pass the file with {how}"
            ))
        })
    }

    fn apply(&mut self, setting: &Setting, text: &str, source: &str) -> Result<(), Failure> {
        (setting.set)(self, text).ok_or_else(|| Failure::new(format!("{source} is not {}", setting.expected)))
    }

    fn defaults(context: &ProcessContext) -> Self {
        Self {
            host: "127.0.0.1".to_owned(),
            port: 8000,
            allowed_host: Vec::new(),
            cors_origin: Vec::new(),
            cors_credentials: false,
            trusted_proxy: Vec::new(),
            tls_cert: None,
            tls_key: None,
            metrics_port: None,
            metrics_host: None,
            data: PathBuf::from("./keyform-data"),
            files: None,
            in_memory: false,
            durability: Durability::Sync,
            encryption: true,
            cache_size: None,
            store: StoreKind::Embedded,
            endpoint_url: None,
            profile: None,
            without_transactions: false,
            store_connect_timeout: Timeouts::default().connect,
            store_request_timeout: Timeouts::default().request,
            store_deadline: Timeouts::default().deadline,
            region: None,
            ttl_sweep_interval: Duration::from_secs(1),
            workers: None,
            connections_max: 4096,
            connections_per_address_max: None,
            body_bytes_max: 16 * 1024 * 1024,
            idle_timeout: Duration::from_secs(60),
            body_timeout: Duration::from_secs(30),
            write_timeout: Duration::from_secs(30),
            flow_timeout: Duration::from_secs(30),
            drain_timeout: Duration::from_secs(10),
            log_format: LogFormat::Human,
            log_level: LevelFilter::WARN,
            access_log: AccessLog::Auto,
            master_key_file: None,
            credentials_file: None,
            jwt_key_file: None,
            oidc_issuer: Vec::new(),
            oidc_audience: Vec::new(),
            cursor_key_file: None,
            field_keys_file: None,
            folder: context.folder(),
        }
    }
}

/// Returns the text of a flag on the command line. Not every command has every flag.
fn flag(arguments: &ArgMatches, setting: &Setting) -> Option<String> {
    if !arguments.try_contains_id(setting.name).unwrap_or(false)
        || arguments.value_source(setting.name) != Some(ValueSource::CommandLine)
    {
        return None;
    }
    match setting.value {
        "" => Some("true".to_owned()),
        _ if setting.is_list() => {
            let given = arguments.get_many::<String>(setting.name)?;
            Some(given.map(String::as_str).collect::<Vec<_>>().join(","))
        }
        _ => arguments.get_one::<String>(setting.name).cloned(),
    }
}

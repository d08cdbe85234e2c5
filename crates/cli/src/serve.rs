//! `keyform serve`: opens the database or a remote store, serves it with its models, and shuts down gracefully.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;

use clap::ArgMatches;
use keyform::StoreError;
use keyform::flow::{Host, Tables, TokenKeys};
use keyform::runtime::run::Runner;
use keyform::server::{
    CorsSettings, Credentials, Limits, MetricsAddress, Models, Running, Server, ServerSettings, Timeouts, TlsFiles,
};
use keyform::{Database, Encryption, Execute, Ground, ModelFiles, OpenError, Options, Reload, SystemWorld};
use keyform_check::Checked;
use keyform_check::check::Target;
use keyform_language::Severity;
use keyform_language::bookkeeping::ANSWERS;
use keyform_server::Security;
use tokio::runtime::Runtime;

use crate::applications::Applications;
use crate::config::{Config, StoreKind};
use crate::failure::Failure;
use crate::remote_store::RemoteStore;
use crate::{files, logging, open_store, output, signals, systems};

/// Event of the main thread.
enum Event {
    Signal,
    /// SIGHUP: load the certificate again.
    Hangup,
    Stopped(usize),
}

/// Exit code after a second Ctrl-C, by shell convention (128 + SIGINT).
const INTERRUPTED: i32 = 130;

/// Placeholder for the server's URL in the sample data's instructions.
const SAMPLE_URL: &str = "http://127.0.0.1:8000";

/// Polling interval for changes of model files.
const RELOAD_INTERVAL: Duration = Duration::from_secs(1);

/// Arguments of `serve` beyond the settings.
#[derive(Default)]
pub(crate) struct Request {
    models: Vec<String>,
    variables: BTreeMap<String, String>,
    create_tables: bool,
    no_systems: bool,
    external_handlers: bool,
    demo: bool,
    accept_breaking: bool,
}

impl Request {
    /// Reads the arguments.
    pub(crate) fn of(arguments: &ArgMatches) -> Result<Self, Failure> {
        Ok(Self {
            models: arguments.get_many::<String>("models").into_iter().flatten().cloned().collect(),
            variables: open_store::variables(arguments)?,
            create_tables: arguments.get_flag("create-tables"),
            no_systems: arguments.get_flag("no-systems"),
            external_handlers: arguments.get_flag("external-handlers"),
            demo: arguments.get_flag("demo"),
            accept_breaking: arguments.get_flag("accept-breaking-model"),
        })
    }
}

/// Serves until a signal arrives.
pub(crate) fn run(config: &Config, request: &Request) -> Result<(), Failure> {
    logging::start(config);
    let folder = files::folder(config, &request.models)?;
    let (sender, events) = mpsc::channel();
    // Without TLS, SIGHUP keeps its default effect.
    let hangup = config.tls_cert.is_some().then_some((|| Event::Hangup) as fn() -> Event);
    signals::watch(sender.clone(), || Event::Signal, hangup)?;
    let stopped = move |cut_off| sender.send(Event::Stopped(cut_off)).is_ok();
    if config.is_embedded() {
        let database = open(config)?;
        let Offer { files, applications, token_keys } = offer(config, request, Arc::new(database.clone()), folder)?;
        let server = Server::bind(settings(config, files.models(), token_keys)?)?;
        let running = keyform::serve(server, &database)?;
        let told = begin(&applications, request, running.security())?;
        announce(&ready(config, &running), &running, files)?;
        tell(&told, &running)?;
        wait(&events, running, stopped);
        applications.stop();
        close(&database)?;
    } else {
        // This runtime must outlive the server, because it owns the connections to the store.
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
        let store: Arc<dyn Execute> = Arc::new(RemoteStore::connect(&runtime, config)?);
        let Offer { files, applications, token_keys } = offer(config, request, store.clone(), folder)?;
        check_tables(&runtime, &files, request)?;
        let running = keyform::serve_models(settings(config, files.models(), token_keys)?, store)?;
        let told = begin(&applications, request, running.security())?;
        announce(&ready_on_remote_store(config, &running), &running, files)?;
        tell(&told, &running)?;
        wait(&events, running, stopped);
        applications.stop();
    }
    tracing::info!("stopped");
    Ok(())
}

/// Prints the instructions for sample data, with this server's URL.
fn tell(lines: &[String], running: &Running) -> Result<(), Failure> {
    let url = running.url();
    lines.iter().try_for_each(|line| output::line(&line.replace(SAMPLE_URL, &url)))
}

/// Prints the ready lines and starts watching the model files.
fn announce(ready: &str, running: &Running, files: ModelFiles) -> Result<(), Failure> {
    let (names, url) = (files.models().names(), running.url());
    let models = match names.as_slice() {
        _ if !running.security().opens_models() => None,
        [] => None,
        [name] => Some(format!("{url}/v1/{name}")),
        names => Some(format!("{url}/v1/{{{}}}", names.join(","))),
    };
    let metrics = running.metrics_url().map(|url| format!("metrics: {url}"));
    let state = state(running.security(), running.takes_operations());
    // Write all lines at once: a program that waits for the first line then finds the others.
    let lines: Vec<String> = [Some(ready.to_owned()), models, metrics, Some(state)].into_iter().flatten().collect();
    output::line(&lines.join("\n"))?;
    watch(files);
    tracing::info!(url, "ready");
    Ok(())
}

/// Models and keys to serve.
struct Offer {
    files: ModelFiles,
    applications: Applications,
    token_keys: TokenKeys,
}

/// Loads the requested models or, without any, the example systems.
fn offer(
    config: &Config,
    request: &Request,
    store: Arc<dyn Execute>,
    files_folder: Option<PathBuf>,
) -> Result<Offer, Failure> {
    let mut settings = open_store::run_settings(config, request.variables.clone(), config.cursor_key()?);
    settings.field_keys = config.field_keys()?;
    settings.accept_breaking = request.accept_breaking;
    let tables = if config.is_embedded() { Tables::Made } else { Tables::Expected };
    let token_keys = token_keys(config)?;
    let host = Host::shared(store.clone()).with_tables(tables).with_options(settings.clone().into());
    let host = host.with_token_keys(token_keys.clone());
    let applications = Applications::on(match files_folder {
        Some(folder) => host.with_folder(folder),
        None => host,
    });
    let external_handlers = request.external_handlers;
    let ground = Ground { store, tables, settings, world: Arc::new(SystemWorld), external_handlers };
    let mut files = ModelFiles::open_on(&[], ground)?;
    for name in &request.models {
        match systems::find(name) {
            Some(system) => files.add_application(&applications.named(system)?)?,
            None => files.add_file(Path::new(name))?,
        }
    }
    if request.models.is_empty() {
        if !config.is_embedded() {
            return Err(Failure::new("no models to serve: a remote store is served only through models"));
        }
        include_systems(config, request, &files, &applications);
    }
    files.runners().for_each(|runner| report_lacks(config, runner));
    Ok(Offer { files, applications, token_keys })
}

/// Loads the token keys or, without a configured file, generates one for the lifetime of the process, so that tokens
/// issued by systems in development are accepted.
fn token_keys(config: &Config) -> Result<TokenKeys, Failure> {
    match config.jwt_key_file.as_deref() {
        Some(file) => Ok(TokenKeys::load(file)?),
        // A key that ends with the process would make tokens that other instances reject.
        None if config.verifies_tokens() => Ok(TokenKeys::default()),
        None => Ok(TokenKeys::made_up()),
    }
}

/// Registers the example systems. If others can reach the port, only with a token key to verify callers.
fn include_systems(config: &Config, request: &Request, files: &ModelFiles, applications: &Applications) {
    let reachable = !config.verifies_tokens() && !is_loopback(&config.host);
    if !request.no_systems && !reachable {
        applications.serve_when_called(&files.models());
    }
}

/// Returns the sentences about the security mode, with the flag that opens the model API.
fn state(security: Security, operations: bool) -> String {
    let text = security.describe(operations);
    match security {
        Security::SignedOperations => {
            format!("{text} Pass it with --jwt-key-file, or an OpenID provider with --oidc-issuer.")
        }
        Security::Development | Security::TokenCalls | Security::Full => text.to_owned(),
    }
}

/// Starts the jobs of systems and, if requested, writes sample data; returns its instructions.
fn begin(applications: &Applications, request: &Request, security: Security) -> Result<Vec<String>, Failure> {
    if request.demo && !security.opens_models() {
        return Err(Failure::new(format!("--demo shows calls of the model API. {}", state(security, true))));
    }
    let named = request.models.iter().filter_map(|name| systems::find(name));
    for system in named {
        applications.start(applications.named(system)?);
    }
    if request.models.is_empty() && !request.no_systems {
        applications.wake_the_used();
    }
    if request.demo { applications.make_samples() } else { Ok(Vec::new()) }
}

fn is_loopback(host: &str) -> bool {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    bare == "localhost" || bare.parse().is_ok_and(|address: IpAddr| address.is_loopback())
}

/// Logs at startup which patterns the store cannot run.
fn report_lacks(config: &Config, runner: &Runner) {
    let model = &runner.checked().model.name;
    for (write, why) in runner.not_runnable() {
        tracing::warn!(model, write, "will be refused: {why}");
    }
    if config.store == StoreKind::Alternator {
        let options = keyform_check::Options { target: Target::Alternator, ..Default::default() };
        let checked = Checked::read_with(&runner.checked().source, options);
        let lacks =
            checked.diagnostics.iter().filter(|found| found.code.0 == "W14" && found.severity != Severity::Error);
        lacks.for_each(|found| tracing::warn!(model, "{}", found.message));
    }
}

/// Checks that all tables exist in a remote store; creates them only if requested.
fn check_tables(runtime: &Runtime, files: &ModelFiles, request: &Request) -> Result<(), Failure> {
    let mut missing = Vec::new();
    for runner in files.runners() {
        if request.create_tables {
            for table in runtime.block_on(runner.create_tables())? {
                output::note(&format!("created table {table}"));
            }
            if runtime.block_on(runner.create_answer_table())? {
                output::note(&format!("created table {ANSWERS}"));
            }
        } else {
            missing.extend(runtime.block_on(runner.missing_tables())?);
        }
    }
    if missing.is_empty() {
        return Ok(());
    }
    Err(Failure::new(format!(
        "the store has no table {}: create it with `keyform deploy apply` or pass --create-tables",
        missing.join(", ")
    )))
}

/// Reloads models when their files change, for the lifetime of the process.
fn watch(mut files: ModelFiles) {
    if files.models().is_empty() {
        return;
    }
    thread::spawn(move || {
        loop {
            SystemWorld.pause(RELOAD_INTERVAL);
            for event in files.reload() {
                report(&event);
            }
        }
    });
}

/// Closes the database. A full disk does not make this a failure: all acknowledged writes are in the journal, which the
/// next start replays, and the callers of all others got an error (ADR 0029).
fn close(database: &Database) -> Result<(), Failure> {
    match database.close() {
        Err(error) if error.is_scarcity() => {
            tracing::warn!(%error, "stopped with a journal that the next start replays; no acknowledged write is lost");
            Ok(())
        }
        closed => Ok(closed?),
    }
}

fn report(event: &Reload) {
    match event {
        Reload::Changed { file, model, difference } => {
            tracing::warn!(model, file = %file.display(), "model reloaded: {difference}");
        }
        Reload::Kept { file, error } => {
            tracing::error!(file = %file.display(), "still serving the older version: {error}");
        }
    }
}

/// Waits for the first signal, then for the server to stop; a second signal ends the process immediately.
fn wait(events: &Receiver<Event>, running: Running, stopped: impl FnOnce(usize) -> bool + Send + 'static) {
    let mut running = Some((running, stopped));
    while let Ok(event) = events.recv() {
        match (event, running.take()) {
            (Event::Hangup, current) => {
                if let Some((current, _)) = &current {
                    current.reload_certificate();
                }
                running = current;
            }
            (Event::Signal, Some((running, stopped))) => {
                tracing::info!("stopping: waiting for running requests");
                thread::spawn(move || stopped(running.stop()));
            }
            (Event::Signal, None) => std::process::exit(INTERRUPTED),
            (Event::Stopped(0), _) => return,
            (Event::Stopped(cut_off), _) => {
                tracing::warn!(connections = cut_off, "requests did not end in time and were cancelled");
                return;
            }
        }
    }
}

/// Opens the database of the settings.
pub(crate) fn open(config: &Config) -> Result<Database, Failure> {
    if config.in_memory {
        return Ok(Database::in_memory_with(options(config)?));
    }
    open_with_notice(config, options(config)?).map_err(|error| match error {
        OpenError::Store(in_use @ StoreError::InUse { .. }) => {
            Failure::new(format!("{in_use}. Stop it, or choose another directory with --data"))
        }
        other => other.into(),
    })
}

/// Opens the data directory, and reports a master key file that this creates: losing the file loses the data.
pub(crate) fn open_with_notice(config: &Config, options: Options) -> Result<Database, OpenError> {
    let missing = config.master_key_file().ok().filter(|file| config.encryption && !file.exists());
    let database = Database::open_with(&config.data, options)?;
    if let Some(file) = missing.filter(|file| file.exists()) {
        output::note(&format!(
            "Created the master key file {}. Back it up: without it, the data in {} cannot be decrypted.",
            file.display(),
            config.data.display()
        ));
    }
    Ok(database)
}

/// Returns the options for opening the database.
pub(crate) fn options(config: &Config) -> Result<Options, Failure> {
    let mut options = Options {
        durability: config.durability,
        cache_bytes: config.cache_size,
        sweep_interval: Some(config.ttl_sweep_interval),
        ..Options::default()
    };
    options.settings.region = config.region().to_owned();
    if !config.in_memory {
        options.encryption =
            if config.encryption { Encryption::KeyFile(config.master_key_file()?) } else { Encryption::Off };
    }
    Ok(options)
}

fn settings(config: &Config, models: Models, token_keys: TokenKeys) -> Result<ServerSettings, Failure> {
    Ok(ServerSettings {
        host: config.host.clone(),
        port: config.port,
        allowed_hosts: config.allowed_host.clone(),
        cors: CorsSettings { origins: config.cors_origin.clone(), credentials: config.cors_credentials },
        trusted_proxies: config.trusted_proxy.clone(),
        tls: config
            .tls_cert
            .clone()
            .zip(config.tls_key.clone())
            .map(|(certificate, key)| TlsFiles { certificate, key }),
        metrics_address: config.metrics_port.map(|port| MetricsAddress {
            host: config.metrics_host.clone().unwrap_or_else(|| "127.0.0.1".to_owned()),
            port,
        }),
        region: config.region().to_owned(),
        credentials: load_credentials(config)?,
        models,
        token_keys,
        issuers: config.issuers()?,
        workers: config.workers.unwrap_or_else(|| ServerSettings::default().workers),
        limits: Limits {
            body_bytes_max: config.body_bytes_max,
            connections_max: config.connections_max,
            connections_per_address_max: config.connections_per_address_max,
            ..Limits::default()
        },
        timeouts: Timeouts {
            idle: config.idle_timeout,
            body: config.body_timeout,
            write: config.write_timeout,
            drain: config.drain_timeout,
            flow: config.flow_timeout,
            ..Timeouts::default()
        },
        ..ServerSettings::default()
    })
}

/// Loads the credentials. Without a home directory the result is empty. An explicitly named file must exist, because a typo
/// in its name would disable authentication.
fn load_credentials(config: &Config) -> Result<Credentials, Failure> {
    if let Some(file) = config.credentials_file.as_ref().filter(|file| !file.exists()) {
        return Err(Failure::new(format!(
            "no credentials file {}: create it with `keyform credentials add` and the same --credentials-file",
            file.display()
        )));
    }
    match config.credentials_file() {
        Ok(file) => Ok(Credentials::load(&file)?),
        Err(_) => Ok(Credentials::default()),
    }
}

/// Returns the ready line and a command to try.
fn ready(config: &Config, running: &Running) -> String {
    let url = running.url();
    let place = if config.in_memory { "in memory".to_owned() } else { format!("data in {}", config.data.display()) };
    let ready = format!("keyform is ready on {url} ({place})");
    if running.security().opens_operations() {
        // A new shell has neither a region nor credentials. Without configured credentials, any are accepted.
        let keys = match running.security() {
            Security::Development => "AWS_ACCESS_KEY_ID=local AWS_SECRET_ACCESS_KEY=local ",
            Security::SignedOperations | Security::TokenCalls | Security::Full => "",
        };
        let region = config.region();
        return format!(
            "{ready}\nAWS_ENDPOINT_URL_DYNAMODB={url} AWS_DEFAULT_REGION={region} {keys}aws dynamodb list-tables"
        );
    }
    ready
}

/// Returns the ready line of a server with a remote store.
fn ready_on_remote_store(config: &Config, running: &Running) -> String {
    let place = match (&config.endpoint_url, &config.region) {
        (Some(url), _) => url.clone(),
        (None, Some(region)) => format!("DynamoDB in {region}"),
        (None, None) => "DynamoDB".to_owned(),
    };
    format!("keyform is ready on {} (models on {place}; no DynamoDB endpoint here)", running.url())
}

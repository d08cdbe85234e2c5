//! `keyform serve`: opens the database, serves it, and ends well.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;

use clap::ArgMatches;
use keyform::server::{Credentials, Limits, Models, Running, Server, Settings, Timeouts, TokenKeys};
use keyform::{Database, Encryption, ModelFiles, Options, Reload};

use crate::config::Config;
use crate::failure::Failure;
use crate::{logging, output, place, signals};

/// What the main thread waits for.
enum Event {
    Signal,
    Stopped(usize),
}

/// The exit code after a second Ctrl-C, as shells expect it.
const INTERRUPTED: i32 = 130;

/// How often the files of models are looked at.
const RELOAD_INTERVAL: Duration = Duration::from_secs(1);

/// What is to be served besides the database.
#[derive(Default)]
pub(crate) struct Request {
    models: Vec<PathBuf>,
    variables: BTreeMap<String, String>,
}

impl Request {
    /// What the arguments ask for.
    pub(crate) fn of(arguments: &ArgMatches) -> Result<Self, Failure> {
        let texts = |name| arguments.get_many::<String>(name).into_iter().flatten();
        let variables = place::variables(arguments)?;
        Ok(Self { models: texts("models").map(PathBuf::from).collect(), variables })
    }
}

/// Serves until a signal comes.
pub(crate) fn run(config: &Config, request: &Request) -> Result<(), Failure> {
    logging::start(config);
    let (sender, events) = mpsc::channel();
    signals::watch(sender.clone(), || Event::Signal)?;
    let database = open(config)?;
    let files = ModelFiles::open(&request.models, &database, request.variables.clone())?;
    let server = Server::bind(settings(config, files.models())?)?;
    let running = keyform::serve(server, &database)?;
    output::line(&ready(config, &running))?;
    for name in files.models().names() {
        output::line(&format!("{}/v1/{name}", running.url()))?;
    }
    watch(files);
    tracing::info!(url = running.url(), "ready");
    wait(&events, running, move |cut_off| sender.send(Event::Stopped(cut_off)).is_ok());
    database.close()?;
    tracing::info!("stopped");
    Ok(())
}

/// Reads models again when their files change, as long as the process lives.
fn watch(mut files: ModelFiles) {
    if files.models().is_empty() {
        return;
    }
    thread::spawn(move || {
        loop {
            thread::sleep(RELOAD_INTERVAL);
            for event in files.reload() {
                report(&event);
            }
        }
    });
}

fn report(event: &Reload) {
    match event {
        Reload::Changed { file, model, difference } => {
            tracing::warn!(model, file = %file.display(), "model read again: {difference}");
        }
        Reload::Kept { file, error } => {
            tracing::error!(file = %file.display(), "the older version is still served: {error}");
        }
    }
}

/// Waits for the first signal, then for the server to end; a second signal ends the process at once.
fn wait(events: &Receiver<Event>, running: Running, stopped: impl FnOnce(usize) -> bool + Send + 'static) {
    let mut running = Some((running, stopped));
    while let Ok(event) = events.recv() {
        match (event, running.take()) {
            (Event::Signal, Some((running, stopped))) => {
                tracing::info!("stopping: running requests are finished first");
                thread::spawn(move || stopped(running.stop()));
            }
            (Event::Signal, None) => std::process::exit(INTERRUPTED),
            (Event::Stopped(0), _) => return,
            (Event::Stopped(cut_off), _) => {
                tracing::warn!(connections = cut_off, "requests did not end in time and were cut off");
                return;
            }
        }
    }
}

/// Opens the database that the settings name.
pub(crate) fn open(config: &Config) -> Result<Database, Failure> {
    let mut options = Options {
        durability: config.durability,
        cache_bytes: config.cache_size,
        sweep_interval: Some(config.ttl_sweep_interval),
        ..Options::default()
    };
    options.settings.region = config.region.clone();
    if config.in_memory {
        return Ok(Database::in_memory_with(options));
    }
    options.encryption =
        if config.encryption { Encryption::KeyFile(config.master_key_file()?) } else { Encryption::Off };
    Ok(Database::open_with(&config.data, options)?)
}

fn settings(config: &Config, models: Models) -> Result<Settings, Failure> {
    let token_keys = config.jwt_key_file.as_deref().map(TokenKeys::load).transpose()?.unwrap_or_default();
    Ok(Settings {
        host: config.host.clone(),
        port: config.port,
        region: config.region.clone(),
        credentials: load_credentials(config)?,
        models,
        token_keys,
        workers: config.workers.unwrap_or_else(|| Settings::default().workers),
        limits: Limits {
            body_bytes_max: config.body_bytes_max,
            connections_max: config.connections_max,
            ..Limits::default()
        },
        timeouts: Timeouts {
            idle: config.idle_timeout,
            body: config.body_timeout,
            write: config.write_timeout,
            drain: config.drain_timeout,
            ..Timeouts::default()
        },
        ..Settings::default()
    })
}

/// Without a home there is no place for credentials, and there are none. A file that was named must be there: a slip in its
/// name would let everybody in.
fn load_credentials(config: &Config) -> Result<Credentials, Failure> {
    if let Some(file) = config.credentials_file.as_ref().filter(|file| !file.exists()) {
        return Err(Failure::new(format!(
            "there is no credentials file {}: `keyform credentials add` with the same --credentials-file makes it",
            file.display()
        )));
    }
    match config.credentials_file() {
        Ok(file) => Ok(Credentials::load(&file)?),
        Err(_) => Ok(Credentials::default()),
    }
}

/// The ready line, and a line to paste.
fn ready(config: &Config, running: &Running) -> String {
    let url = running.url();
    let place = if config.in_memory { "in memory".to_owned() } else { format!("data in {}", config.data.display()) };
    format!("keyform is ready on {url} ({place})\nAWS_ENDPOINT_URL_DYNAMODB={url} aws dynamodb list-tables")
}

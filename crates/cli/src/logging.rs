//! Log on standard error, as text or JSON, with a separate switch for the access log.

use std::io::{self, IsTerminal as _};

use tracing::level_filters::LevelFilter;
use tracing_subscriber::Layer as _;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

use crate::config::{AccessLog, Config, LogFormat};

/// Starts the log and a panic hook that writes to it.
pub(crate) fn start(config: &Config) {
    let terminal = io::stderr().is_terminal();
    let access = if access_wanted(config, terminal) { LevelFilter::INFO } else { LevelFilter::OFF };
    let filter = Targets::new().with_default(config.log_level).with_target("keyform.access", access);
    let layer = tracing_subscriber::fmt::layer().with_writer(io::stderr);
    let registry = tracing_subscriber::registry();
    let started = match config.log_format {
        LogFormat::Json => registry.with(layer.json().flatten_event(true).with_filter(filter)).try_init(),
        LogFormat::Human => {
            let colours = terminal && std::env::var_os("NO_COLOR").is_none();
            registry.with(layer.with_ansi(colours).with_filter(filter)).try_init()
        }
    };
    // Only a second initialization fails; the first one then remains in use.
    drop(started);
    std::panic::set_hook(Box::new(|info| tracing::error!("{info}")));
}

/// Returns whether the access log is enabled; by default on a terminal or in JSON format.
fn access_wanted(config: &Config, terminal: bool) -> bool {
    match config.access_log {
        AccessLog::On => true,
        AccessLog::Off => false,
        AccessLog::Auto => terminal || config.log_format == LogFormat::Json,
    }
}

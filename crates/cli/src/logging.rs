//! The log: on standard error, for people or as JSON, with the access log switched separately.

use std::io::{self, IsTerminal as _};

use tracing::level_filters::LevelFilter;
use tracing_subscriber::Layer as _;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

use crate::config::{AccessLog, Config, LogFormat};

/// Starts the log. Panics go there too.
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
    // Only a second start fails, and then the first one serves.
    drop(started);
    std::panic::set_hook(Box::new(|info| tracing::error!("{info}")));
}

/// By default the access log is for somebody who watches, or for a collector of JSON.
fn access_wanted(config: &Config, terminal: bool) -> bool {
    match config.access_log {
        AccessLog::On => true,
        AccessLog::Off => false,
        AccessLog::Auto => terminal || config.log_format == LogFormat::Json,
    }
}

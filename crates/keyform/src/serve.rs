//! Serves a database or models over HTTP.

use std::sync::Arc;

use keyform_core::Execute;
use keyform_engine::Database;
use keyform_engine::store::StoreStats;
use keyform_server::{Figure, FigureKind, Probe, Running, Server, ServerSettings, StartError};

use crate::remote_probe::RemoteProbe;

/// Serves a database to any AWS SDK, on its own threads. Stopping the server does not close the database.
///
/// ```
/// use keyform::Database;
/// use keyform::server::{Server, ServerSettings};
///
/// # fn main() -> Result<(), keyform::server::StartError> {
/// let database = Database::in_memory();
/// let server = Server::bind(ServerSettings { port: 0, ..ServerSettings::default() })?;
/// let running = keyform::serve(server, &database)?;
/// assert!(running.url().starts_with("http://127.0.0.1:"));
/// running.stop();
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// A thread cannot be created.
pub fn serve(server: Server, database: &Database) -> Result<Running, StartError> {
    let probe = DatabaseProbe(database.clone());
    server.start(Arc::new(database.clone()), Some(Arc::new(probe)))
}

/// Serves only the model API, for models on a remote store such as DynamoDB. Operations at `POST /` are closed, because
/// any client would act with the permissions of this process. The server is stateless, so any number of instances may
/// run (ADR 0013).
///
/// # Errors
/// The port is in use, others can reach the address and there is no token key, or a thread cannot be created.
pub fn serve_models(settings: ServerSettings, store: Arc<dyn Execute>) -> Result<Running, StartError> {
    let probe = RemoteProbe::of(store.clone(), settings.world.clone());
    Server::bind(ServerSettings { operations: false, ..settings })?.start(store, Some(Arc::new(probe)))
}

/// Reports health and metrics of a database.
struct DatabaseProbe(Database);

impl Probe for DatabaseProbe {
    fn ready(&self) -> Result<(), String> {
        self.0.health().map_err(|error| error.to_string())
    }

    fn figures(&self) -> Vec<Figure> {
        figures(&self.0.store_stats())
    }
}

fn figures(stats: &StoreStats) -> Vec<Figure> {
    let counter = |name, help, value: u64| Figure { name, help, kind: FigureKind::Counter, value: value as f64 };
    let gauge = |name, help, value: u64| Figure { name, help, kind: FigureKind::Gauge, value: value as f64 };
    let files = stats.level_files.iter().sum::<usize>() as u64;
    vec![
        counter("keyform_store_commits_total", "Commits accepted.", stats.commits),
        counter("keyform_store_journal_frames_total", "Journal frames written.", stats.frames),
        counter("keyform_store_journal_syncs_total", "Syncs of the journal.", stats.syncs),
        counter("keyform_store_cache_hits_total", "Blocks found in the cache.", stats.cache_hits),
        counter("keyform_store_block_reads_total", "Blocks read from files.", stats.block_reads),
        counter(
            "keyform_store_filter_skips_total",
            "Lookups that a filter answered without reading a block.",
            stats.filter_skips,
        ),
        counter("keyform_store_flushes_total", "Memtables written to files.", stats.flushes),
        counter("keyform_store_compactions_total", "Compactions done.", stats.compactions),
        gauge("keyform_store_memtable_bytes", "Bytes in memtables.", stats.memtable_bytes),
        gauge("keyform_store_journal_bytes", "Bytes of the journal that a restart would replay.", stats.journal_bytes),
        gauge("keyform_store_table_bytes", "Bytes in table files.", stats.table_bytes),
        gauge("keyform_store_table_files", "Table files.", files),
        gauge("keyform_store_cache_bytes", "Bytes in the block cache.", stats.cache_bytes),
    ]
}

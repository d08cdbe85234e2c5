//! The handle that callers hold: opened on a directory or in memory, shared freely between threads and tasks.

use std::fmt;
use std::future::Future;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use keyform_core::execute::{BoxFuture, Watch};
use keyform_core::operation::SequenceNumber;
use keyform_core::{Error, Execute, Operation, Output};

use crate::background::Background;
use crate::catalog::Position;
use crate::engine::{Engine, Settings, Step, Waiting, store_failed};
use crate::env::{Env, SystemEnv};
use crate::keys::{self, KeyError};
use crate::store::{Durability, RealDisk, Store, StoreError, StoreOptions, StoreStats};

/// An open database. Cloning it shares it; the last clone closes it.
#[derive(Clone)]
pub struct Database {
    inner: Arc<Inner>,
}

struct Inner {
    engine: Arc<Engine>,
    background: Background,
}

/// How a database is opened.
#[derive(Clone)]
pub struct Options {
    /// Whether a write waits for the disk or only for the operating system.
    pub durability: Durability,
    /// Whether data on disk is encrypted, and with which master key.
    pub encryption: Encryption,
    /// The most that data read from files may take in memory; without it an eighth of the machine's or the container's.
    pub cache_bytes: Option<usize>,
    /// Where time and chance come from.
    pub env: Arc<dyn Env>,
    /// The region and account in ARNs.
    pub settings: Settings,
    /// How often expired items are looked for and old records trimmed; never by itself without it.
    pub sweep_interval: Option<Duration>,
}

/// Whether data on disk is encrypted, and with which master key.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Encryption {
    /// With the user's master key ([`keys::user_master_key_file`]), made if it is not there.
    #[default]
    UserKey,
    /// With the master key in this file, made if it is not there.
    KeyFile(PathBuf),
    /// Not at all.
    Off,
}

impl Encryption {
    fn master_key_file(self) -> Result<Option<PathBuf>, OpenError> {
        match self {
            Self::UserKey => keys::user_master_key_file().map(Some).ok_or(OpenError::NoHome),
            Self::KeyFile(file) => Ok(Some(file)),
            Self::Off => Ok(None),
        }
    }
}

impl Default for Options {
    fn default() -> Self {
        Self {
            durability: Durability::Sync,
            encryption: Encryption::default(),
            cache_bytes: None,
            env: Arc::new(SystemEnv),
            settings: Settings::default(),
            sweep_interval: Some(Duration::from_secs(1)),
        }
    }
}

/// Why a database cannot be opened.
#[derive(Debug)]
pub enum OpenError {
    /// The directory cannot be made or entered.
    Directory {
        /// Which.
        path: PathBuf,
        /// The operating system's error.
        source: io::Error,
    },
    /// There is no place for the user's master key.
    NoHome,
    /// The store refuses.
    Store(StoreError),
    /// The keys cannot be had.
    Key(KeyError),
    /// The catalog cannot be read.
    Catalog(Error),
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Directory { path, source } => {
                write!(f, "cannot use the data directory {}: {source}; give another with --data", path.display())
            }
            Self::NoHome => f.write_str(
                "there is no home folder to keep the master key in; set KEYFORM_MASTER_KEY_FILE to a file outside the data \
                 directory",
            ),
            Self::Store(error) => error.fmt(f),
            Self::Key(error) => error.fmt(f),
            Self::Catalog(error) => write!(f, "{}", error.message()),
        }
    }
}

impl std::error::Error for OpenError {}

impl From<StoreError> for OpenError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl From<KeyError> for OpenError {
    fn from(error: KeyError) -> Self {
        Self::Key(error)
    }
}

impl From<Error> for OpenError {
    fn from(error: Error) -> Self {
        Self::Catalog(error)
    }
}

impl Database {
    /// A database that lives as long as its handles.
    ///
    /// ```
    /// use keyform_core::operation::{ListTables, Operation};
    ///
    /// let database = keyform_engine::Database::in_memory();
    /// let output = database.execute_blocking(Operation::ListTables(ListTables::default()))?;
    /// # Ok::<(), keyform_core::Error>(())
    /// ```
    pub fn in_memory() -> Self {
        Self::in_memory_with(Options::default())
    }

    /// The same with other options.
    pub fn in_memory_with(options: Options) -> Self {
        Self::on(Store::in_memory(), options).expect("an empty store has an empty catalog")
    }

    /// The database in a directory, made if it is not there: synced, and encrypted with the user's master key.
    ///
    /// # Errors
    /// When the directory is another program's, another process has it, it is damaged, or the master key does not fit.
    pub fn open(directory: impl AsRef<Path>) -> Result<Self, OpenError> {
        Self::open_with(directory, Options::default())
    }

    /// The same with other options.
    ///
    /// # Errors
    /// As [`Database::open`].
    pub fn open_with(directory: impl AsRef<Path>, options: Options) -> Result<Self, OpenError> {
        let directory = directory.as_ref();
        let disk =
            RealDisk::new(directory).map_err(|source| OpenError::Directory { path: directory.to_owned(), source })?;
        let master_key_file = options.encryption.clone().master_key_file()?;
        let ring = master_key_file.map(|file| keys::open(directory, &file)).transpose()?;
        let neighbours = keys::KEY_RING_FILES.map(str::to_owned).to_vec();
        let mut store_options = StoreOptions { durability: options.durability, neighbours, ..StoreOptions::default() };
        store_options.block_cache_bytes = options.cache_bytes.unwrap_or(store_options.block_cache_bytes);
        let store = Store::open(Arc::new(disk), ring.map(|ring| ring.data_keys()), store_options)?;
        Self::on(store, options)
    }

    /// The database in a store that is open already.
    ///
    /// # Errors
    /// When the store's catalog cannot be read.
    pub fn on(store: Store, options: Options) -> Result<Self, OpenError> {
        let engine = Arc::new(Engine::open(store, options.env, options.settings)?);
        let background = Background::start(Arc::clone(&engine), options.sweep_interval);
        Ok(Self { inner: Arc::new(Inner { engine, background }) })
    }

    /// Runs an operation; a write is durable when the future is ready. The future needs no particular runtime.
    ///
    /// # Errors
    /// The service's.
    pub fn execute(&self, operation: Operation) -> impl Future<Output = Result<Output, Error>> + Send + use<> {
        let step = self.inner.engine.begin(operation);
        async move {
            match step? {
                Step::Done(output) => Ok(output),
                Step::Waiting(Waiting { commit, answer, marks }) => {
                    commit.await.map_err(|error| store_failed(&error))?;
                    drop(marks);
                    answer
                }
            }
        }
    }

    /// Runs an operation and waits for it.
    ///
    /// # Errors
    /// The service's.
    pub fn execute_blocking(&self, operation: Operation) -> Result<Output, Error> {
        match self.inner.engine.begin(operation)? {
            Step::Done(output) => Ok(output),
            Step::Waiting(Waiting { commit, answer, marks }) => {
                commit.wait().map_err(|error| store_failed(&error))?;
                drop(marks);
                answer
            }
        }
    }

    /// Does now what is done in the background from time to time: expiry, trimming, filling of new indexes.
    ///
    /// # Errors
    /// When the store fails.
    pub fn sweep(&self) -> Result<(), Error> {
        self.inner.background.run_now()
    }

    /// What the store has done and holds.
    pub fn store_stats(&self) -> StoreStats {
        self.inner.engine.store.stats()
    }

    /// Whether the database takes writes: after a failed sync it does not until it is opened anew; while disk space or
    /// descriptors are scarce it does not either, and takes them again by itself.
    ///
    /// # Errors
    /// The refusal that a write would get.
    pub fn health(&self) -> Result<(), StoreError> {
        self.inner.engine.health()
    }

    /// Writes all files anew, without what was overwritten or deleted, under the current data key. Takes time in
    /// proportion to the data; reads and writes go on.
    ///
    /// # Errors
    /// When a file cannot be read or written.
    pub fn compact(&self) -> Result<(), StoreError> {
        self.inner.engine.store.compact()
    }

    /// Ends background work, makes everything durable and lets go of the directory.
    ///
    /// # Errors
    /// When the last sync fails.
    pub fn close(&self) -> Result<(), StoreError> {
        self.inner.close()
    }
}

impl Inner {
    fn close(&self) -> Result<(), StoreError> {
        self.background.stop();
        self.engine.close()
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        // Whoever cares about the outcome calls `close`; here is nobody to tell.
        drop(self.close());
    }
}

impl Execute for Database {
    fn execute(&self, operation: Operation) -> BoxFuture<'_, Result<Output, Error>> {
        Box::pin(Database::execute(self, operation))
    }

    fn watch(&self) -> Option<&dyn Watch> {
        Some(self)
    }

    fn indexes_keep_up(&self) -> bool {
        true
    }
}

impl Watch for Database {
    fn latest(&self) -> SequenceNumber {
        Position::last_of(self.inner.engine.store.durable()).sequence()
    }

    fn changed(&self, since: SequenceNumber) -> BoxFuture<'_, ()> {
        let seqno = Position::of_sequence(since).map_or(0, |position| position.seqno);
        Box::pin(self.inner.engine.store.changed(seqno))
    }
}

impl fmt::Debug for Database {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Database").finish_non_exhaustive()
    }
}

//! The public database handle: opened on a directory or in memory, shared between threads and tasks.

use std::fmt;
use std::future::Future;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use keyform_core::execute::{BoxFuture, Watch};
use keyform_core::operation::{Request, SequenceNumber};
use keyform_core::{Error, Execute, Operation, Output, World};

use crate::background::Background;
use crate::catalog::Position;
use crate::encryption_keys::{self, KeyError};
use crate::engine::{Engine, EngineSettings, Started, Waiting, store_failed};
use crate::store::{Durability, RealDisk, Store, StoreError, StoreOptions, StoreStats};

/// Open database. Clones share it; dropping the last clone closes it.
#[derive(Clone)]
pub struct Database {
    inner: Arc<Inner>,
}

struct Inner {
    engine: Arc<Engine>,
    background: Background,
}

/// Options for opening a database.
#[derive(Clone)]
pub struct Options {
    /// Point at which a write is acknowledged: after the disk sync, or when the operating system has the data.
    pub durability: Durability,
    /// Encryption at rest, and the master key to use.
    pub encryption: Encryption,
    /// Upper limit of the block cache in bytes. `None` means an eighth of the memory of the machine or container.
    pub cache_bytes: Option<usize>,
    /// Clock and randomness; the real ones by default.
    pub world: Arc<dyn World>,
    /// Region and account shown in ARNs, and the limits of stream shards.
    pub settings: EngineSettings,
    /// Interval of background work such as expiry and trimming. `None` starts no background thread; work then runs only
    /// in [`Database::sweep`].
    pub sweep_interval: Option<Duration>,
}

/// Encryption at rest, and the master key to use.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Encryption {
    /// Encrypts with the user's master key ([`encryption_keys::user_master_key_file`]); creates it when missing.
    #[default]
    UserKey,
    /// Encrypts with the master key in this file; creates the file when missing.
    KeyFile(PathBuf),
    /// Stores data unencrypted, protected by checksums only.
    Off,
}

impl Encryption {
    fn master_key_file(self) -> Result<Option<PathBuf>, OpenError> {
        match self {
            Self::UserKey => encryption_keys::user_master_key_file().map(Some).ok_or(OpenError::NoHome),
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
            world: keyform_world::system(),
            settings: EngineSettings::default(),
            sweep_interval: Some(Duration::from_secs(1)),
        }
    }
}

/// Error opening a database.
#[derive(Debug)]
pub enum OpenError {
    /// The data directory cannot be created or read.
    Directory {
        /// Path of the data directory.
        path: PathBuf,
        /// Error of the operating system.
        source: io::Error,
    },
    /// The user has no home folder in which to keep the master key.
    NoHome,
    /// The store cannot be opened.
    Store(StoreError),
    /// The master key file or the key ring cannot be used.
    Key(KeyError),
    /// The catalog of tables cannot be read.
    Catalog(Error),
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Directory { path, source } => {
                write!(f, "cannot use the data directory {}: {source}", path.display())
            }
            Self::NoHome => f.write_str(
                "no home directory for the master key; set KEYFORM_MASTER_KEY_FILE to a file outside the data \
                directory",
            ),
            Self::Store(error) => error.fmt(f),
            Self::Key(error) => error.fmt(f),
            Self::Catalog(error) => write!(f, "{}", error.message()),
        }
    }
}

impl std::error::Error for OpenError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Directory { source, .. } => Some(source),
            Self::Store(error) => Some(error),
            Self::Key(error) => Some(error),
            Self::Catalog(error) => Some(error),
            Self::NoHome => None,
        }
    }
}

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
    /// Creates a database in memory; its data is lost when the last handle is dropped.
    ///
    /// ```
    /// use keyform_core::operation::ListTables;
    ///
    /// let database = keyform_engine::Database::in_memory();
    /// let output = database.call_blocking(ListTables::default())?;
    /// assert_eq!(output.tables.len(), 0);
    /// # Ok::<(), keyform_core::Error>(())
    /// ```
    pub fn in_memory() -> Self {
        Self::in_memory_with(Options::default())
    }

    /// Creates a database in memory with the given options; `durability`, `encryption` and `cache_bytes` have no
    /// effect.
    pub fn in_memory_with(options: Options) -> Self {
        Self::on(Store::in_memory(), options).expect("an empty store has an empty catalog")
    }

    /// Opens the database in a directory, synced and encrypted with the user's master key. Creates it when missing.
    ///
    /// # Errors
    /// When the directory belongs to another program, is in use, or is damaged, or when the master key does not match.
    pub fn open(directory: impl AsRef<Path>) -> Result<Self, OpenError> {
        Self::open_with(directory, Options::default())
    }

    /// Opens the database in a directory with the given options.
    ///
    /// # Errors
    /// See [`Database::open`].
    pub fn open_with(directory: impl AsRef<Path>, options: Options) -> Result<Self, OpenError> {
        let directory = directory.as_ref();
        let disk =
            RealDisk::new(directory).map_err(|source| OpenError::Directory { path: directory.to_owned(), source })?;
        let master_key_file = options.encryption.clone().master_key_file()?;
        let ring = master_key_file.map(|file| encryption_keys::open(directory, &file, &*options.world)).transpose()?;
        let neighbours = encryption_keys::KEY_RING_FILES.map(str::to_owned).to_vec();
        let world = Arc::clone(&options.world);
        let mut store_options =
            StoreOptions { durability: options.durability, neighbours, world, ..StoreOptions::default() };
        store_options.block_cache_bytes = options.cache_bytes.unwrap_or(store_options.block_cache_bytes);
        let store = Store::open(Arc::new(disk), ring.map(|ring| ring.data_keys()), store_options)?;
        Self::on(store, options)
    }

    /// Opens the database in an open store.
    ///
    /// # Errors
    /// When the store's catalog cannot be read.
    pub fn on(store: Store, options: Options) -> Result<Self, OpenError> {
        let engine = Arc::new(Engine::open(store, options.world, options.settings)?);
        let background = Background::start(Arc::clone(&engine), options.sweep_interval);
        Ok(Self { inner: Arc::new(Inner { engine, background }) })
    }

    /// Runs an operation. A write is durable when the future resolves. The future does not depend on an async runtime.
    ///
    /// # Errors
    /// The errors of DynamoDB for this operation, or `InternalServerError` when the store fails.
    pub fn execute(&self, operation: Operation) -> impl Future<Output = Result<Output, Error>> + Send + use<> {
        let step = self.inner.engine.begin(operation);
        async move {
            match step? {
                Started::Done(output) => Ok(output),
                Started::Waiting(Waiting { commit, answer, marks }) => {
                    commit.await.map_err(|error| store_failed(&error))?;
                    drop(marks);
                    answer
                }
            }
        }
    }

    /// Runs an operation and blocks the thread until it is done. A write is then durable.
    ///
    /// # Errors
    /// The errors of DynamoDB for this operation, or `InternalServerError` when the store fails.
    pub fn execute_blocking(&self, operation: Operation) -> Result<Output, Error> {
        match self.inner.engine.begin(operation)? {
            Started::Done(output) => Ok(output),
            Started::Waiting(Waiting { commit, answer, marks }) => {
                commit.wait().map_err(|error| store_failed(&error))?;
                drop(marks);
                answer
            }
        }
    }

    /// Runs a request and returns its response. A write is durable when the future resolves. The future does not depend
    /// on an async runtime.
    ///
    /// # Errors
    /// The errors of DynamoDB for this operation, or `InternalServerError` when the store fails.
    pub fn call<R: Request>(&self, request: R) -> impl Future<Output = Result<R::Output, Error>> + Send + use<R> {
        let answer = self.execute(request.into());
        async move { R::from_output(answer.await?) }
    }

    /// Runs a request, blocks the thread until it is done and returns its response. A write is then durable.
    ///
    /// # Errors
    /// The errors of DynamoDB for this operation, or `InternalServerError` when the store fails.
    pub fn call_blocking<R: Request>(&self, request: R) -> Result<R::Output, Error> {
        R::from_output(self.execute_blocking(request.into())?)
    }

    /// Runs one full pass of background work now: expiry, trimming of streams and tokens, filling of new indexes.
    ///
    /// # Errors
    /// The first error of a task; the remaining tasks run anyway.
    pub fn sweep(&self) -> Result<(), Error> {
        self.inner.background.run_now()
    }

    /// Returns the store's counters and sizes.
    pub fn store_stats(&self) -> StoreStats {
        self.inner.engine.store.stats()
    }

    /// Checks that the database accepts writes. After a failed sync it rejects them until it is reopened. While disk
    /// space or file descriptors are exhausted it rejects them too, and recovers by itself.
    ///
    /// # Errors
    /// The error that a write would get.
    pub fn health(&self) -> Result<(), StoreError> {
        self.inner.engine.health()
    }

    /// Rewrites all files under the current data key and drops overwritten and deleted data. The time it takes is
    /// proportional to the data; reads and writes continue.
    ///
    /// # Errors
    /// When a file cannot be read or written.
    pub fn compact(&self) -> Result<(), StoreError> {
        self.inner.engine.store.compact()
    }

    /// Stops background work, makes everything durable and releases the directory.
    ///
    /// # Errors
    /// When the last sync fails, or the store had failed before.
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
        // `drop` cannot return the error. Callers that need it call `close`.
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

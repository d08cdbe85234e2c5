//! The engine under test: in memory, or on a simulated disk whose power can be cut.

use std::sync::Arc;

use keyform_core::{Error, Operation, Output};
use keyform_engine::store::{DataKeys, Durability, PowerCut, SimDisk, Store, StoreOptions};
use keyform_engine::{Database, OpenError, Options};
use keyform_world::testing::ManualWorld;

/// Database owned by a test, with its disk and its clock.
pub struct Subject {
    /// Name in reports.
    pub name: &'static str,
    pub database: Database,
    /// Simulated disk; `None` in memory.
    pub disk: Option<SimDisk>,
    pub env: ManualWorld,
    /// True if the item counts are exact; after a crash they are not, until the background has recounted.
    pub counted: bool,
}

impl Subject {
    pub fn in_memory(now_ms: u64) -> Self {
        let env = ManualWorld::at_ms(now_ms);
        Self { name: "memory", database: Database::in_memory_with(options(&env)), disk: None, env, counted: true }
    }

    pub fn on_disk(now_ms: u64) -> Self {
        let (env, disk) = (ManualWorld::at_ms(now_ms), SimDisk::new());
        let database = open(&disk, &env).unwrap();
        Self { name: "disk", database, disk: Some(disk), env, counted: true }
    }

    /// Runs an operation and waits for it.
    pub fn run(&self, operation: &Operation) -> Result<Output, Error> {
        self.database.execute_blocking(operation.clone())
    }

    /// Runs the background work.
    pub fn sweep(&mut self) -> Result<(), Error> {
        self.counted = true;
        self.database.sweep()
    }

    /// Closes and reopens the database; does nothing in memory.
    pub fn reopen(&mut self) {
        if let Some(disk) = self.disk.clone() {
            self.database.close().unwrap();
            self.database = open(&disk, &self.env).unwrap();
        }
    }

    /// Cuts the power and opens the database from what the disk kept.
    pub fn cut_power(&mut self, cut: PowerCut) {
        if let Some(disk) = self.disk.take() {
            let after = disk.cut_power(cut);
            self.database = open(&after, &self.env).unwrap();
            self.disk = Some(after);
            self.counted = false;
        }
    }
}

/// Opens the database on a disk, with small files, so that there are many.
pub fn open(disk: &SimDisk, env: &ManualWorld) -> Result<Database, OpenError> {
    open_with(disk, env, Durability::Sync)
}

/// Opens the database with the given durability.
pub fn open_with(disk: &SimDisk, env: &ManualWorld, durability: Durability) -> Result<Database, OpenError> {
    let store_options = StoreOptions {
        durability,
        memtable_bytes: 8 << 10,
        journal_bytes: 24 << 10,
        idle_ms: 1000,
        idle_journal_bytes: 256,
        block_bytes: 1 << 10,
        table_bytes: 8 << 10,
        level0_files: 2,
        level1_bytes: 16 << 10,
        block_cache_bytes: 64 << 10,
        journal_reserve_bytes: 2 << 10,
        ..StoreOptions::default()
    };
    let keys = Some(DataKeys::new(1, [7; 32]));
    Database::on(Store::open(Arc::new(disk.clone()), keys, store_options)?, options(env))
}

fn options(env: &ManualWorld) -> Options {
    Options { world: Arc::new(env.clone()), sweep_interval: None, ..Options::default() }
}

/// Polls a future on this thread, which sleeps in between.
pub fn block_on<T>(future: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
    struct Unpark(std::thread::Thread);
    impl std::task::Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Arc::new(Unpark(std::thread::current())).into();
    let mut context = std::task::Context::from_waker(&waker);
    let mut future = std::pin::pin!(future);
    loop {
        match future.as_mut().poll(&mut context) {
            std::task::Poll::Ready(outcome) => return outcome,
            std::task::Poll::Pending => std::thread::park(),
        }
    }
}

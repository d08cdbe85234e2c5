//! Database in memory or on a simulated disk, with a clock that tests control, and helpers for common operations.

use std::fmt::Debug;
use std::sync::Arc;

use keyform_core::operation::{
    ChangeRecord, CreateTable, DeleteItem, DescribeStream, DescribeTable, GetRecords, GetShardIterator, PageOutput,
    PutItem, Request, Scan, Shard, ShardPosition, StreamDescription, UpdateTable,
};
use keyform_core::table::{GlobalIndex, GlobalIndexDescription, KeySchema, Projection, ScalarType, TableDescription};
use keyform_core::{AttributeValue, Attributes, Error};
use keyform_engine::EngineSettings;
use keyform_engine::store::{DataKeys, PowerCut, SimDisk, Store, StoreOptions};
use keyform_engine::{Database, Options};
use keyform_world::testing::ManualWorld;

/// Initial time of the clock.
pub const START_MS: u64 = 1_794_700_000_000;
/// Name of the table in most tests.
pub const TABLE: &str = "things";

/// Database under test, which can be reopened if it is on a disk.
pub struct World {
    pub database: Database,
    pub env: ManualWorld,
    disk: Option<SimDisk>,
    settings: EngineSettings,
    store_options: StoreOptions,
}

/// Runs a test in memory and on disk and compares the results.
pub fn on_both<T: PartialEq + Debug>(test: impl Fn(&mut World) -> T) {
    let in_memory = test(&mut World::in_memory());
    let on_disk = test(&mut World::on_disk());
    assert_eq!(in_memory, on_disk, "the answers in memory and on disk differ");
}

impl World {
    pub fn in_memory() -> Self {
        Self::new(None, EngineSettings::default(), StoreOptions::default())
    }

    pub fn on_disk() -> Self {
        Self::on_disk_with(StoreOptions::default())
    }

    pub fn on_disk_with(store_options: StoreOptions) -> Self {
        Self::new(Some(SimDisk::new()), EngineSettings::default(), store_options)
    }

    pub fn disk(&self) -> &SimDisk {
        self.disk.as_ref().unwrap()
    }

    pub fn with_settings(&self, settings: EngineSettings) -> Self {
        Self::new(self.disk.as_ref().map(|_| SimDisk::new()), settings, self.store_options.clone())
    }

    fn new(disk: Option<SimDisk>, settings: EngineSettings, store_options: StoreOptions) -> Self {
        let env = ManualWorld::at_ms(START_MS);
        Self { database: open(disk.as_ref(), &env, &settings, &store_options), env, disk, settings, store_options }
    }

    /// Closes and reopens the database; does nothing in memory.
    pub fn reopen(&mut self) {
        if let Some(disk) = &self.disk {
            self.database.close().unwrap();
            self.database = open(Some(disk), &self.env, &self.settings, &self.store_options);
        }
    }

    /// Cuts the power and opens the rest; does nothing in memory.
    pub fn cut_power(&mut self) {
        if let Some(disk) = &mut self.disk {
            let left = disk.cut_power(PowerCut::DropAll);
            *disk = left;
            self.database = open(Some(disk), &self.env, &self.settings, &self.store_options);
        }
    }

    pub fn run<R: Request>(&self, request: R) -> Result<R::Output, Error> {
        self.database.call_blocking(request)
    }

    pub fn sweep(&self) {
        self.database.sweep().unwrap();
    }

    pub fn create(&self, request: CreateTable) -> TableDescription {
        *self.run(request).unwrap()
    }

    pub fn describe(&self) -> TableDescription {
        *self.run(DescribeTable { table: TABLE.to_owned() }).unwrap()
    }

    pub fn update(&self, request: UpdateTable) -> Result<TableDescription, Error> {
        self.run(UpdateTable { table: TABLE.to_owned(), ..request }).map(|table| *table)
    }

    pub fn index(&self, name: &str) -> Option<GlobalIndexDescription> {
        self.describe().global_indexes.into_iter().find(|index| index.index.name == name)
    }

    pub fn put(&self, item: Attributes) {
        let request = PutItem { table: TABLE.to_owned(), item, ..PutItem::default() };
        self.run(request).unwrap();
    }

    pub fn delete(&self, key: Attributes) {
        let request = DeleteItem { table: TABLE.to_owned(), key, ..DeleteItem::default() };
        self.run(request).unwrap();
    }

    /// Returns all items of the table or an index, sorted.
    pub fn scan(&self, index: Option<&str>) -> Vec<Attributes> {
        let page = self.try_scan(index).unwrap();
        let mut items: Vec<Attributes> = page.items.unwrap().iter().map(|item| item.to_attributes()).collect();
        items.sort_by_key(|item| format!("{item:?}"));
        items
    }

    pub fn try_scan(&self, index: Option<&str>) -> Result<PageOutput, Error> {
        let request = Scan { index: index.map(str::to_owned), ..Scan::of(TABLE) };
        self.run(request)
    }

    pub fn stream(&self) -> StreamDescription {
        let arn = self.describe().stream.unwrap().arn;
        self.stream_of(&arn)
    }

    pub fn stream_of(&self, arn: &str) -> StreamDescription {
        let request = DescribeStream { arn: arn.to_owned(), ..DescribeStream::default() };
        self.run(request).unwrap()
    }

    pub fn iterator(&self, shard: &Shard, position: ShardPosition) -> Result<String, Error> {
        let request = GetShardIterator { arn: self.stream().arn, shard: shard.id.clone(), position };
        self.run(request)
    }

    pub fn records(
        &self,
        iterator: String,
        limit: Option<usize>,
    ) -> Result<(Vec<ChangeRecord>, Option<String>), Error> {
        let output = self.run(GetRecords { iterator, limit })?;
        Ok((output.records, output.next))
    }

    /// Returns all records of all shards, parents before children.
    pub fn all_records(&self) -> Vec<ChangeRecord> {
        let mut all = Vec::new();
        for shard in self.stream().shards {
            let mut iterator = Some(self.iterator(&shard, ShardPosition::TrimHorizon).unwrap());
            while let Some(next) = iterator {
                let (records, next) = self.records(next, None).unwrap();
                iterator = next.filter(|_| !records.is_empty());
                all.extend(records);
            }
        }
        all
    }
}

/// Opens the store on a disk.
pub fn open_store(disk: &SimDisk) -> Store {
    open_store_with(disk, &StoreOptions::default())
}

fn open_store_with(disk: &SimDisk, options: &StoreOptions) -> Store {
    let keys = Some(DataKeys::new(1, [7; 32]));
    Store::open(Arc::new(disk.clone()), keys, options.clone()).unwrap()
}

fn open(
    disk: Option<&SimDisk>,
    env: &ManualWorld,
    settings: &EngineSettings,
    store_options: &StoreOptions,
) -> Database {
    let store = disk.map_or_else(Store::in_memory, |disk| open_store_with(disk, store_options));
    let options = Options {
        world: Arc::new(env.clone()),
        settings: settings.clone(),
        sweep_interval: None,
        ..Options::default()
    };
    Database::on(store, options).unwrap()
}

/// Builds an item from names and values.
pub fn item<const N: usize>(attributes: [(&str, AttributeValue); N]) -> Attributes {
    attributes.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// Returns a table with the string partition key `pk`.
pub fn simple_table() -> CreateTable {
    CreateTable {
        attributes: [("pk".to_owned(), ScalarType::S)].into(),
        key: KeySchema { partition: vec!["pk".to_owned()], sort: Vec::new() },
        ..CreateTable::named(TABLE)
    }
}

/// Returns a global index on one attribute.
pub fn global_index(name: &str, attribute: &str) -> GlobalIndex {
    GlobalIndex {
        name: name.to_owned(),
        key: KeySchema { partition: vec![attribute.to_owned()], sort: Vec::new() },
        projection: Projection::All,
        throughput: None,
        on_demand: None,
        warm: None,
    }
}

pub fn message<T: Debug>(result: Result<T, Error>) -> String {
    result.unwrap_err().to_string()
}

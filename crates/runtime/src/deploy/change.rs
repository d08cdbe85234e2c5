//! A single change of a table: its request and its description.

use keyform_core::Operation;
use keyform_core::operation::{
    CreateTable, DeleteTable, GlobalIndexChange, StreamChange, TimeToLive, UpdateContinuousBackups, UpdateTable,
    UpdateTimeToLive,
};
use keyform_core::table::{
    AttributeDefinitions, BillingMode, GlobalIndex, KeySchema, LocalIndex, Projection, SseSpecification, StreamView,
    TableClass, Throughput,
};

/// Change of a table.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// Creates the table.
    CreateTable(Box<CreateTable>),
    /// Deletes the table with its items.
    DeleteTable,
    /// Waits for an index that another deploy started to create.
    AwaitIndex(String),
    /// Changes billing of the table and its indexes.
    Billing {
        /// New billing mode, if it changes.
        mode: Option<BillingMode>,
        /// New provisioned capacity of the table, if it changes.
        table: Option<Throughput>,
        /// New provisioned capacity of indexes, where it changes.
        indexes: Vec<(String, Throughput)>,
    },
    /// Changes the storage class.
    Class(TableClass),
    /// Changes encryption at rest.
    Encryption(SseSpecification),
    /// Enables or disables deletion protection.
    Protection(bool),
    /// Enables the stream.
    StreamOn(StreamView),
    /// Disables the stream.
    StreamOff,
    /// Creates and backfills an index.
    CreateIndex {
        /// Index to create.
        index: Box<GlobalIndex>,
        /// Types of its key attributes.
        attributes: AttributeDefinitions,
    },
    /// Deletes an index.
    DeleteIndex(String),
    /// Enables TTL on this attribute.
    ExpiryOn(String),
    /// Disables TTL on this attribute.
    ExpiryOff(String),
    /// Enables or disables point-in-time recovery.
    Recovery(bool),
}

impl Change {
    /// Returns the request that makes the change; `None` for waiting.
    #[must_use]
    pub fn operation(&self, table: &str) -> Option<Operation> {
        let table = table.to_owned();
        let update = || UpdateTable { table: table.clone(), ..UpdateTable::default() };
        let expiry = |attribute: &String, enabled| {
            let setting = TimeToLive { attribute: attribute.clone(), enabled };
            UpdateTimeToLive { table: table.clone(), setting }.into()
        };
        Some(match self {
            Self::CreateTable(create) => (**create).clone().into(),
            Self::DeleteTable => DeleteTable { table }.into(),
            Self::AwaitIndex(_) => return None,
            Self::ExpiryOn(attribute) => expiry(attribute, true),
            Self::ExpiryOff(attribute) => expiry(attribute, false),
            Self::Recovery(recovery) => UpdateContinuousBackups { table, recovery: *recovery }.into(),
            Self::Billing { mode, table, indexes } => {
                let indexes = indexes.iter().map(|(name, units)| other_units(name, *units)).collect();
                UpdateTable { billing: *mode, throughput: *table, indexes, ..update() }.into()
            }
            Self::Class(class) => UpdateTable { class: Some(*class), ..update() }.into(),
            Self::Encryption(sse) => UpdateTable { sse: Some(sse.clone()), ..update() }.into(),
            Self::Protection(on) => UpdateTable { deletion_protected: Some(*on), ..update() }.into(),
            Self::StreamOn(view) => UpdateTable { stream: Some(StreamChange::Enable(*view)), ..update() }.into(),
            Self::StreamOff => UpdateTable { stream: Some(StreamChange::Disable), ..update() }.into(),
            Self::CreateIndex { index, attributes } => {
                let indexes = vec![GlobalIndexChange::Create((**index).clone())];
                UpdateTable { attributes: attributes.clone(), indexes, ..update() }.into()
            }
            Self::DeleteIndex(name) => {
                let indexes = vec![GlobalIndexChange::Delete { name: name.clone() }];
                UpdateTable { indexes, ..update() }.into()
            }
        })
    }

    /// Returns the name of the change in JSON output.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::CreateTable(_) => "create_table",
            Self::DeleteTable => "delete_table",
            Self::AwaitIndex(_) => "await_index",
            Self::Billing { .. } => "billing",
            Self::Class(_) => "class",
            Self::Encryption(_) => "encryption",
            Self::Protection(_) => "protection",
            Self::StreamOn(_) => "stream_on",
            Self::StreamOff => "stream_off",
            Self::CreateIndex { .. } => "create_index",
            Self::DeleteIndex(_) => "delete_index",
            Self::ExpiryOn(_) => "expiry_on",
            Self::ExpiryOff(_) => "expiry_off",
            Self::Recovery(_) => "recovery",
        }
    }

    /// Returns whether the change loses data.
    #[must_use]
    pub fn destroys(&self) -> bool {
        matches!(self, Self::DeleteTable | Self::DeleteIndex(_) | Self::StreamOff | Self::Recovery(false))
    }

    /// Describes the change for people.
    #[must_use]
    pub fn words(&self) -> String {
        match self {
            Self::CreateTable(create) => table_words(create),
            Self::DeleteTable => "delete the table with all its items".to_owned(),
            Self::AwaitIndex(name) => format!("wait until the index {name} is backfilled"),
            Self::Billing { mode, table, indexes } => billing_words(*mode, *table, indexes),
            Self::Class(class) => format!("change the storage class to {}", class.name()),
            Self::Encryption(sse) => format!("encrypt {}", encryption_words(sse)),
            Self::Protection(true) => "enable deletion protection".to_owned(),
            Self::Protection(false) => "disable deletion protection".to_owned(),
            Self::StreamOn(view) => format!("enable the stream with {}", view.name()),
            Self::StreamOff => "disable the stream".to_owned(),
            Self::CreateIndex { index, .. } => format!("create the {} and backfill it", global_words(index)),
            Self::DeleteIndex(name) => format!("delete the index {name}"),
            Self::ExpiryOn(attribute) => format!("enable expiry by {attribute}"),
            Self::ExpiryOff(attribute) => format!("disable expiry by {attribute}"),
            Self::Recovery(true) => "enable point-in-time recovery".to_owned(),
            Self::Recovery(false) => "disable point-in-time recovery".to_owned(),
        }
    }
}

fn other_units(name: &str, units: Throughput) -> GlobalIndexChange {
    GlobalIndexChange::Update { name: name.to_owned(), throughput: Some(units), on_demand: None, warm: None }
}

fn table_words(create: &CreateTable) -> String {
    let mut words = vec![format!("create the table: key {}", key_words(&create.key))];
    words.extend(create.global_indexes.iter().map(global_words));
    words.extend(create.local_indexes.iter().map(local_words));
    words.push(match create.throughput {
        Some(units) => format!("provisioned {} reads and {} writes a second", units.read, units.write),
        None => "on demand".to_owned(),
    });
    words.extend(create.stream.map(|view| format!("a stream with {}", view.name())));
    words.extend(create.sse.as_ref().map(|sse| format!("encrypted {}", encryption_words(sse))));
    words.extend(create.class.filter(|class| *class != TableClass::Standard).map(|class| class.name().to_owned()));
    words.extend(create.deletion_protected.then(|| "deletion protection".to_owned()));
    words.join(", ")
}

/// Formats a key as `pk, sk`; several attributes of one part are joined by `+`.
pub(super) fn key_words(key: &KeySchema) -> String {
    let partition = key.partition.join(" + ");
    if key.sort.is_empty() { partition } else { format!("{partition}, {}", key.sort.join(" + ")) }
}

fn global_words(index: &GlobalIndex) -> String {
    format!("index {} ({}){}", index.name, key_words(&index.key), projection_words(&index.projection))
}

fn local_words(index: &LocalIndex) -> String {
    format!("local index {} ({}){}", index.name, key_words(&index.key), projection_words(&index.projection))
}

pub(super) fn projection_words(projection: &Projection) -> String {
    match projection {
        Projection::All => String::new(),
        Projection::KeysOnly => " with keys only".to_owned(),
        Projection::Include(names) => format!(" with {}", names.join(", ")),
    }
}

fn encryption_words(sse: &SseSpecification) -> String {
    match (&sse.kms_key, sse.enabled) {
        (_, false) => "with the key that DynamoDB owns".to_owned(),
        (None, true) => "with the AWS managed KMS key of the account".to_owned(),
        (Some(key), true) => format!("with the KMS key {key}"),
    }
}

fn billing_words(mode: Option<BillingMode>, table: Option<Throughput>, indexes: &[(String, Throughput)]) -> String {
    if mode == Some(BillingMode::PayPerRequest) {
        return "switch to on-demand billing".to_owned();
    }
    let units = |units: Throughput| format!("{} reads and {} writes", units.read, units.write);
    let table = table.map(|given| format!("{} for the table", units(given)));
    let indexes = indexes.iter().map(|(name, given)| format!("{} for the index {name}", units(*given)));
    format!("provision {}", table.into_iter().chain(indexes).collect::<Vec<_>>().join(", "))
}

//! Syntax tree of a model: every word of the file with its position, documentation and comments.
//!
//! The formatter and the JSON form both use this tree, so it loses nothing but white space (ADR 0008). Names are not
//! resolved here; see [`schema`](crate::schema).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::span::Span;
use crate::types::{self, Stage};

pub use super::operator::BinaryOp;
pub use crate::scalar::Bounds;

/// A whole file.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Document {
    /// Declarations in source order, including `model`.
    pub declarations: Vec<Declaration>,
    /// Comments after the last declaration.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tail: Vec<String>,
}

/// Documentation, comments and layout of a line.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Notes {
    /// True if an empty line precedes it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub gap: bool,
    /// Comments before it, without the slashes. A lone line break represents an empty line between two comments.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub comments: Vec<String>,
    /// Documentation lines, without the slashes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub docs: Vec<String>,
    /// Comment at the end of the line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trailing: Option<String>,
}

impl Notes {
    /// Returns true if there are no comments, no documentation and no empty line.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// A name with its position. Empty if the name is missing, which the parser has reported.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(from = "String", into = "String")]
#[schemars(with = "String")]
pub struct Name {
    /// Name without backticks.
    pub text: String,
    /// Source range, backticks included.
    pub span: Span,
}

impl From<String> for Name {
    fn from(text: String) -> Self {
        Self { text, span: Span::default() }
    }
}

impl From<Name> for String {
    fn from(name: Name) -> Self {
        name.text
    }
}

/// A quoted string with its position (quotes included).
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(from = "String", into = "String")]
#[schemars(with = "String")]
pub struct Text {
    /// Content without quotes, escapes decoded.
    pub text: String,
    /// Source range, quotes included.
    pub span: Span,
}

impl Text {
    /// Returns the offsets of the bytes that the file writes with an escape.
    ///
    /// `"`, `\\` and line breaks are escaped in the file and take two bytes there; all other characters are unchanged.
    #[must_use]
    pub fn escapes(&self) -> Vec<usize> {
        let escaped = |byte: u8| matches!(byte, b'"' | b'\\' | b'\n' | b'\r');
        self.text.bytes().enumerate().filter(|(_, byte)| escaped(*byte)).map(|(at, _)| at).collect()
    }

    /// Returns true if the closing quote is missing, which the lexer has reported.
    #[must_use]
    pub fn is_unclosed(&self) -> bool {
        self.span.end.saturating_sub(self.span.start) == self.text.len() + self.escapes().len() + 1
    }
}

impl From<String> for Text {
    fn from(text: String) -> Self {
        Self { text, span: Span::default() }
    }
}

impl From<Text> for String {
    fn from(text: Text) -> Self {
        text.text
    }
}

/// A line of the file with its comments.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Line<T> {
    /// Comments and documentation.
    #[serde(default, skip_serializing_if = "Notes::is_empty")]
    pub notes: Notes,
    /// Content of the line.
    #[serde(flatten)]
    pub value: T,
    /// Source range from its first token to its last.
    #[serde(skip)]
    pub span: Span,
}

/// Lines between two braces.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Block<T> {
    /// Lines in source order.
    pub lines: Vec<Line<T>>,
    /// Comments before the closing brace.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tail: Vec<String>,
}

impl<T> Default for Block<T> {
    fn default() -> Self {
        Self { lines: Vec::new(), tail: Vec::new() }
    }
}

/// A declaration with its comments.
pub type Declaration = Line<DeclarationKind>;

/// Kind of a declaration.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", tag = "declare", content = "value")]
pub enum DeclarationKind {
    /// `model NAME`
    Model(Name),
    /// `caller f: type, …`
    Caller(Vec<CallerField>),
    /// `table NAME "physical" { … }`
    Table(Table),
    /// `shape NAME { … }`
    Shape(Shape),
    /// `entity NAME in TABLE with SHAPE { … }`
    Entity(Entity),
    /// `guard NAME(params) = exists ENTITY(keys) where …`
    Guard(Guard),
    /// `read NAME(params) -> RESULT clauses`
    Read(Read),
    /// `write NAME(params) -> ENTITY clauses { … }`
    Write(Write),
    /// `on ENTITY events -> target`
    On(On),
    /// `evolve ENTITY { … }`
    Evolve(Evolve),
    /// `allow CODE "reason"`
    Allow(Allow),
}

/// A claim of the caller's token.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CallerField {
    /// Name of the claim.
    pub name: Name,
    /// Type of the claim.
    #[serde(rename = "type")]
    pub kind: TypeRef,
    /// `from "claim"`: place of the claim in the token, if it has another name there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<ClaimFrom>,
    /// `global "reason"`: the claim marks operators, whose permission has no scope.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub global: Option<Text>,
}

/// `from "claim" split`: place of a claim in the token.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ClaimFrom {
    /// Name of the claim, or path of names separated by dots.
    pub claim: Text,
    /// `split`: a string is a list of words separated by spaces.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub split: bool,
}

/// `unscoped ENTITY "reason"`: the pattern reaches items of the entity outside the caller's scope.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Unscoped {
    /// Entity of the items.
    pub entity: Name,
    /// Reason that these items are for every caller.
    pub reason: Text,
}

/// `allow CODE "reason"`
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Allow {
    /// Code of the suppressed warning.
    pub code: Name,
    /// Reason for suppressing it.
    pub reason: Text,
}

/// A table declaration.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Table {
    /// Name in the model.
    pub name: Name,
    /// Name in the store, possibly with variables.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub physical: Option<Text>,
    /// Keys, indexes and settings.
    pub body: Block<TableEntry>,
}

/// A line of a table.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", tag = "entry", content = "value")]
pub enum TableEntry {
    /// `key pk, sk`
    Key(Vec<KeyAttribute>),
    /// `index NAME (…)`, `local index NAME (…)`
    Index(Index),
    /// `tag ATTRIBUTE`
    Tag(Name),
    /// `ttl ATTRIBUTE`
    Ttl(Name),
    /// `stream VIEW`
    Stream(StreamView),
    /// `encryption owned | managed | kms "key"`
    Encryption(Encryption),
    /// `billing on_demand | provisioned R reads, W writes`
    Billing(Billing),
    /// `class standard | infrequent`
    Class(TableClass),
    /// `recovery`
    Recovery,
    /// `protected`
    Protected,
    /// `allow CODE "reason"`
    Allow(Allow),
}

/// A key attribute, optionally with its type.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct KeyAttribute {
    /// Name of the attribute in the store.
    pub name: Name,
    /// Declared type; inferred from the templates if absent.
    #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<KeyType>,
}

/// Type of a key attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum KeyType {
    /// DynamoDB type S.
    String,
    /// DynamoDB type N.
    Number,
    /// DynamoDB type B.
    Binary,
}

/// A secondary index. Several attributes of one key are joined by `+`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Index {
    /// Name in the model.
    pub name: Name,
    /// Name in the store, if it differs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub physical: Option<Text>,
    /// `local index`
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub local: bool,
    /// Partition key attributes; empty for a local index.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub partition: Vec<KeyAttribute>,
    /// Sort key attributes, if any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sort: Vec<KeyAttribute>,
    /// Declared projection; everything if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub projection: Option<Projection>,
    /// True if items without the index keys are intentionally not in the index.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub sparse: bool,
}

/// Attributes that an index stores.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Projection {
    /// All attributes.
    All,
    /// Keys only.
    Keys,
    /// Keys and these attributes.
    Include(Vec<Name>),
}

/// Content of a stream record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StreamView {
    /// Item before and after the change.
    NewAndOld,
    /// Item after the change.
    New,
    /// Item before the change.
    Old,
    /// Keys only.
    Keys,
}

/// Encryption at rest.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Encryption {
    /// Key owned by the service.
    Owned,
    /// Key in the account, managed by the service.
    Managed,
    /// Customer-managed KMS key.
    Kms(Text),
}

/// Billing mode of a table.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Billing {
    /// Pay per request.
    OnDemand,
    /// Provisioned capacity.
    Provisioned {
        /// Read units per second.
        reads: u64,
        /// Write units per second.
        writes: u64,
    },
}

/// Storage class of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum TableClass {
    /// Standard class, the default.
    Standard,
    /// Infrequent access: cheaper storage, more expensive requests.
    Infrequent,
}

/// A group of fields that entities share.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Shape {
    /// Name of the shape.
    pub name: Name,
    /// Fields of the shape.
    pub body: Block<Field>,
}

/// An item type.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Entity {
    /// Name of the entity.
    pub name: Name,
    /// Table that stores its items.
    pub table: Name,
    /// Shapes whose fields it includes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shapes: Vec<Name>,
    /// Keys, fields and volume.
    pub body: Block<EntityEntry>,
}

/// A line of an entity.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", tag = "entry", content = "value")]
pub enum EntityEntry {
    /// `tag "Value"`
    Tag(Text),
    /// `key "…", "…"` (no index named) or `INDEX "…", "…"`
    Key(EntityKey),
    /// `name: type flags = default`
    Field(Field),
    /// `volume …`
    Volume(Volume),
    /// `allow CODE "reason"`
    Allow(Allow),
}

/// Templates of an entity for the table's key or an index key.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct EntityKey {
    /// Index; absent for the table's key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub index: Option<Name>,
    /// Source of the partition key.
    pub partition: KeySource,
    /// Source of the sort key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sort: Option<KeySource>,
}

/// Source of a key: a template, or one field per attribute of a key with several attributes.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum KeySource {
    /// `"USER#{userId}"`
    Template(Text),
    /// `(tenantId, region)`
    Fields(Vec<Name>),
}

/// `name: type flags = default`
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Field {
    /// Field name and attribute name.
    pub name: Name,
    /// Type of the field.
    #[serde(rename = "type")]
    pub kind: TypeRef,
    /// Flags in source order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flags: Vec<Flag>,
    /// Default value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<Expr>,
}

/// A flag of a field with its position.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(from = "FlagKind", into = "FlagKind")]
#[schemars(with = "FlagKind")]
pub struct Flag {
    /// Kind of the flag.
    pub kind: FlagKind,
    /// Source range.
    pub span: Span,
}

impl From<FlagKind> for Flag {
    fn from(kind: FlagKind) -> Self {
        Self { kind, span: Span::default() }
    }
}

impl From<Flag> for FlagKind {
    fn from(flag: Flag) -> Self {
        flag.kind
    }
}

/// Kind of a flag.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum FlagKind {
    /// `unique`, `unique per a, b`
    Unique(Vec<Name>),
    /// `version`
    Version,
    /// `created`
    Created,
    /// `updated`
    Updated,
    /// `immutable`
    Immutable,
    /// `secret`
    Secret,
    /// `encrypted`
    Encrypted,
    /// `personal`
    Personal,
    /// `id`
    Id,
    /// `cascade`
    Cascade,
    /// `restrict`
    Restrict,
    /// `keep`
    Keep,
    /// `snapshot`
    Snapshot,
    /// `refresh`
    Refresh,
    /// `internal`
    Internal,
    /// `bearer`
    Bearer,
    /// `grants`
    Grants,
}

/// A type in source form.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TypeRef {
    /// Kind of the type.
    pub kind: TypeKind,
    /// `?`: the attribute may be absent.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub optional: bool,
    /// `| null`: the attribute may be stored as NULL.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub null: bool,
    /// Source range.
    #[serde(skip)]
    pub span: Span,
}

/// Kind of a type: a type, or a word that names none.
#[derive(Clone, Debug)]
pub enum TypeKind {
    /// A type; [`Type::Unknown`] if it is missing.
    Type(Type),
    /// An unknown type, which the parser has reported.
    Unknown(Name),
}

/// A type in source form.
pub type Type = types::Type<Written>;

/// Stage of a parsed document: references are names.
#[derive(Clone, Copy, Debug)]
pub enum Written {}

impl Stage for Written {
    type Text = Text;
    type Element = TypeRef;
    type Field = Field;
    type Entity = Name;
    type RefField = Option<Name>;
    type CopyField = Name;
    type Plain = ();
}

impl From<Type> for TypeKind {
    fn from(kind: Type) -> Self {
        Self::Type(kind)
    }
}

/// Declared volume of an entity, for cost estimates.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Volume {
    /// `2M items`
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub items: Option<u64>,
    /// `600 bytes`
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// `max 4 KB`
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes_max: Option<u64>,
    /// `300 per partition`
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub per_partition: Option<u64>,
    /// `max 20K per partition`
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub per_partition_max: Option<u64>,
    /// `top 4%`
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub top_percent: Option<f64>,
    /// `lives 30d`, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lives_secs: Option<u64>,
}

/// A guard declaration.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Guard {
    /// Name of the guard.
    pub name: Name,
    /// Parameters in source order.
    pub parameters: Vec<Parameter>,
    /// Item that must exist.
    pub item: ItemRef,
    /// Condition the item must meet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub condition: Option<Expr>,
}

/// `Entity(keys)`: an item addressed by its key.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ItemRef {
    /// Entity of the item.
    pub entity: Name,
    /// Values of the key fields, positional or named.
    pub keys: Vec<Argument>,
    /// Source range.
    #[serde(skip)]
    pub span: Span,
}

/// An argument, positional or named.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Argument {
    /// Name of the field, for a named argument.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<Name>,
    /// Value of the argument.
    pub value: Expr,
}

/// A parameter of a guard, read or write.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Parameter {
    /// Name of the field it refers to.
    pub field: Name,
    /// Comparison between the arguments and the field.
    pub test: Test,
    /// Declared type; taken from the field if absent.
    #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<TypeRef>,
    /// Source range.
    #[serde(skip)]
    pub span: Span,
}

/// Comparison between a parameter and its field; names are those of the arguments.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Test {
    /// `userId`
    Equal,
    /// `createdAt > after`
    After(Name),
    /// `createdAt >= from`
    From(Name),
    /// `createdAt < before`
    Before(Name),
    /// `createdAt <= until`
    Until(Name),
    /// `createdAt between from and to`
    Between(Name, Name),
    /// `name begins prefix`
    Begins(Name),
    /// `userId in userIds`
    In(Name),
}

/// A read declaration.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Read {
    /// Name of the read.
    pub name: Name,
    /// Parameters in source order.
    pub parameters: Vec<Parameter>,
    /// Declared result.
    pub result: ReadResult,
    /// Clauses in source order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub clauses: Vec<Line<ReadClause>>,
}

/// Result of a read.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum ReadResult {
    /// `E`, `[E]`, `A + [B]`
    Parts(Vec<ResultPart>),
    /// `count E`
    Count(Name),
}

/// One entity of a read's result.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ResultPart {
    /// Returned entity.
    pub entity: Name,
    /// Cardinality of the entity.
    pub number: Number,
}

/// Cardinality of an entity in a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Number {
    /// `E`
    One,
    /// `E?`
    Maybe,
    /// `[E]`
    Many,
}

/// A clause of a read.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", tag = "clause", content = "value")]
pub enum ReadClause {
    /// `via INDEX`
    Via(Name),
    /// `newest first`
    NewestFirst,
    /// `oldest first`
    OldestFirst,
    /// `ordered by FIELD`, `ordered by FIELD descending`
    Ordered {
        /// Field to order by.
        field: Name,
        /// True for descending order.
        descending: bool,
    },
    /// `page 50`
    Page(u64),
    /// `all`
    All,
    /// `strong`
    Strong,
    /// `where …`
    Where(Expr),
    /// `select (a, b)`
    Select(Vec<Name>),
    /// `scan`
    Scan,
    /// `with expired`
    WithExpired,
    /// `key "PK", "SK"`
    Key(KeyCondition),
    /// `400/s`
    Rate(Rate),
    /// `allow …`
    Permit(Permission),
    /// `unscoped ENTITY "reason"`
    Unscoped(Unscoped),
    /// `allow CODE "reason"`
    Allow(Allow),
}

/// An explicit key condition.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct KeyCondition {
    /// Test of the partition key.
    pub partition: KeyTest,
    /// Test of the sort key, if it is limited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sort: Option<KeyTest>,
}

/// A comparison of a key attribute with templates.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum KeyTest {
    /// `"T"`
    Equal(Text),
    /// `begins "T"`
    Begins(Text),
    /// `> "T"`
    After(Text),
    /// `>= "T"`
    From(Text),
    /// `< "T"`
    Before(Text),
    /// `<= "T"`
    Until(Text),
    /// `between "T" and "U"`
    Between(Text, Text),
}

/// Peak rate of calls.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Rate {
    /// Number of calls.
    pub count: f64,
    /// Unit of time.
    pub per: RateUnit,
}

/// Unit of time of a rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum RateUnit {
    /// `/s`
    Second,
    /// `/min`
    Minute,
    /// `/hour`
    Hour,
    /// `/day`
    Day,
}

/// Callers that may call a pattern.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Permission {
    /// Every caller.
    Public,
    /// Rust code only, no external caller.
    System,
    /// Callers for which the condition holds.
    When(Expr),
    /// `allow held CONDITION`: the guards are conditions of the write's request.
    Held(Expr),
    /// `allow CONDITION before "reason"`: the guards are read before the request, although they might change meanwhile.
    Before(Expr, Text),
}

impl Permission {
    /// Returns the condition, if there is one.
    #[must_use]
    pub fn condition(&self) -> Option<&Expr> {
        match self {
            Self::Public | Self::System => None,
            Self::When(condition) | Self::Held(condition) | Self::Before(condition, _) => Some(condition),
        }
    }
}

/// A write declaration.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Write {
    /// Name of the write.
    pub name: Name,
    /// Parameters in source order.
    pub parameters: Vec<Parameter>,
    /// Returned entity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<Name>,
    /// Clauses in source order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub clauses: Vec<Line<WriteClause>>,
    /// Steps in source order.
    pub body: Block<Step>,
}

/// A clause of a write.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", tag = "clause", content = "value")]
pub enum WriteClause {
    /// `idempotent`
    Idempotent,
    /// `batch`
    Batch,
    /// `50/s`
    Rate(Rate),
    /// `allow CODE "reason"`
    Allow(Allow),
}

/// A step of a write.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", tag = "step", content = "value")]
pub enum Step {
    /// `let x = readName(args) else Outcome`, `let id = ulid()`
    Let(Let),
    /// `allow …`
    Permit(Permission),
    /// `unscoped ENTITY "reason"`
    Unscoped(Unscoped),
    /// `allow CODE "reason"`
    Allow(Allow),
    /// `require CONDITION else Outcome`
    Require(Require),
    /// `create`, `put`, `update`, `upsert`, `delete`, `check`
    Action(Action),
    /// `for x in list max 20 { … }`
    For(For),
}

/// `let x = readName(args) else Outcome`, `let id = ulid()`
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Let {
    /// Bound name.
    pub name: Name,
    /// A call of a read, or a value.
    pub value: Expr,
    /// Outcome if the read finds nothing.
    #[serde(default, rename = "else", skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Name>,
}

/// `require CONDITION else Outcome`
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Require {
    /// Condition that must hold.
    pub condition: Expr,
    /// Outcome if the condition does not hold.
    #[serde(default, rename = "else", skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Name>,
}

/// `for x in list max 20 { … }`
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct For {
    /// Name bound to the current element.
    pub name: Name,
    /// List to iterate over.
    pub list: Expr,
    /// Maximum number of elements.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<u64>,
    /// Steps per element.
    pub body: Block<Step>,
}

/// An action on one item.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Action {
    /// Operation of the action.
    pub verb: Verb,
    /// True for `replace`: a `put` that states that it overwrites.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub replace: bool,
    /// Item; with keys for `update`, `upsert`, `delete` and `check`, without for `create` and `put`.
    pub item: ItemRef,
    /// Changed fields.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<Line<Change>>,
    /// `exists` or `absent` after `check`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub presence: Option<Presence>,
    /// `if CONDITION else Outcome`, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,
    /// Outcome if the item unexpectedly exists or does not exist.
    #[serde(default, rename = "else", skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Name>,
}

/// Operation of an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Verb {
    /// Puts an item that must not exist.
    Create,
    /// Puts an item, replacing an existing one.
    Put,
    /// Updates an item that must exist.
    Update,
    /// Updates an item or creates it.
    Upsert,
    /// Deletes an item.
    Delete,
    /// Checks a condition without changing the item.
    Check,
}

/// Required presence of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Presence {
    /// The item must exist.
    Exists,
    /// The item must not exist.
    Absent,
}

/// `if CONDITION else Outcome`
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Condition {
    /// Comments and documentation.
    #[serde(default, skip_serializing_if = "Notes::is_empty")]
    pub notes: Notes,
    /// Condition that must hold.
    pub condition: Expr,
    /// Outcome if the condition does not hold.
    #[serde(default, rename = "else", skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Name>,
}

/// A change of a field within an action.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", tag = "change", content = "value")]
pub enum Change {
    /// `path = expr`
    Set(Expr, Expr),
    /// `path += expr`
    Increase(Expr, Expr),
    /// `path -= expr`
    Decrease(Expr, Expr),
    /// `append path expr`
    Append(Expr, Expr),
    /// `add path expr`
    Add(Expr, Expr),
    /// `remove path expr`
    Take(Expr, Expr),
    /// `remove path`
    Remove(Expr),
}

/// A consumer of an entity's change events.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct On {
    /// Entity whose changes it receives.
    pub entity: Name,
    /// Kinds of changes it receives.
    pub events: Vec<Event>,
    /// Receiver of the events.
    pub target: Target,
    /// `needs old, new`
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub needs: Vec<Image>,
}

/// Kind of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Event {
    /// Item created.
    Insert,
    /// Item changed.
    Modify,
    /// Item deleted by a caller.
    Remove,
    /// Item expired.
    Expire,
}

/// An item image in a stream record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Image {
    /// Item before the change.
    Old,
    /// Item after the change.
    New,
}

/// Receiver of change events.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Target {
    /// `live read(fields)`
    Live(Name, Vec<Name>),
    /// `handler name`
    Handler(Name),
}

/// Migration of stored items of an entity to its current form.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Evolve {
    /// Entity to migrate.
    pub entity: Name,
    /// Differences of the old form.
    pub body: Block<EvolveEntry>,
}

/// A line of a migration.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", tag = "entry", content = "value")]
pub enum EvolveEntry {
    /// `from table NAME`
    Table(Name),
    /// `from key "…", "…"`, `from INDEX "…", "…"`
    Key(EntityKey),
    /// `rename old -> new`
    Rename(Name, Name),
    /// `set field = expr`
    Set(Name, Expr),
    /// `allow CODE "reason"`
    Allow(Allow),
}

/// An expression with its position.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(from = "ExprKind", into = "ExprKind")]
#[schemars(with = "ExprKind")]
pub struct Expr {
    /// Operation and operands.
    pub kind: Box<ExprKind>,
    /// Source range.
    pub span: Span,
}

impl From<ExprKind> for Expr {
    fn from(kind: ExprKind) -> Self {
        Self { kind: Box::new(kind), span: Span::default() }
    }
}

impl From<Expr> for ExprKind {
    fn from(expr: Expr) -> Self {
        *expr.kind
    }
}

/// Kind of an expression.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum ExprKind {
    /// `"text"`
    Text(String),
    /// `12`, `1.5`, as written
    Number(String),
    /// `30d`, in seconds
    Duration(u64),
    /// `true`, `false`
    Bool(bool),
    /// `none`
    None,
    /// `[a, b]`
    List(Vec<Expr>),
    /// `{ a = b }`, `{}`
    Record(Vec<(Name, Expr)>),
    /// `name`
    Name(Name),
    /// `of.name`
    Member(Expr, Name),
    /// `of[key]`
    Element(Expr, Expr),
    /// `name(args)`
    Call(Name, Vec<Argument>),
    /// `not a`
    Not(Expr),
    /// `a and b`, `a = b`, `a + b`, …
    Binary(BinaryOp, Expr, Expr),
    /// `x between a and b`
    Between(Expr, Expr, Expr),
    /// `x in (a, b)`
    In(Expr, Vec<Expr>),
    /// `x is none`
    IsNone(Expr),
    /// `x is some`
    IsSome(Expr),
    /// `absent`: the item does not exist
    Absent,
    /// `exists`: the item exists
    Exists,
}

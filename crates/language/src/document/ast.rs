//! Syntax tree of a model: every word of the file with its position, documentation and comments.
//!
//! The formatter and the JSON form both use this tree, so it loses nothing but white space (ADR 0008). Names are not
//! resolved here; see [`schema`](crate::schema).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::span::Span;

/// A whole file.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Document {
    /// The declarations in the order of the file, `model` among them.
    pub declarations: Vec<Declaration>,
    /// Comments after the last declaration.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tail: Vec<String>,
}

/// What stands around a line: documentation, comments, an empty line before.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Notes {
    /// An empty line stands before it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub gap: bool,
    /// Comments before it, without the slashes. A line break alone stands for an empty line between two of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub comments: Vec<String>,
    /// Lines of documentation, without the slashes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub docs: Vec<String>,
    /// The comment at the end of its line.
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

/// A name as it is written, with its place. It is empty where the author forgot it, which has been reported.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(from = "String", into = "String")]
#[schemars(with = "String")]
pub struct Name {
    /// The name.
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

/// A quoted text, with its place (the quotes included).
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
    /// Returns the source range of a byte range of [`Text::text`].
    ///
    /// `"`, `\\` and line breaks are escaped in the file and take two bytes there; all other characters are unchanged.
    #[must_use]
    pub fn place(&self, start: usize, end: usize) -> Span {
        let begin = self.span.start + 1;
        Span::new(begin + self.written(start), begin + self.written(end))
    }

    /// Returns true if the closing quote is missing, which the lexer has reported.
    #[must_use]
    pub fn is_unclosed(&self) -> bool {
        self.span.end.saturating_sub(self.span.start) == self.written(self.text.len()) + 1
    }

    /// Returns the source length in bytes of the first `length` bytes of the content.
    fn written(&self, length: usize) -> usize {
        let escaped = |byte: &&u8| matches!(byte, b'"' | b'\\' | b'\n' | b'\r');
        length + self.text.as_bytes().iter().take(length).filter(escaped).count()
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

/// A line of the file with what stands around it.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Line<T> {
    /// What stands around it.
    #[serde(default, skip_serializing_if = "Notes::is_empty")]
    pub notes: Notes,
    /// Content of the line.
    #[serde(flatten)]
    pub value: T,
    /// Source range from its first token to its last.
    #[serde(skip)]
    pub span: Span,
}

/// The lines between two braces.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Block<T> {
    /// The lines.
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
    /// The claim.
    pub name: Name,
    /// Its type.
    #[serde(rename = "type")]
    pub kind: TypeRef,
}

/// `allow CODE "reason"`
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Allow {
    /// The code of the finding.
    pub code: Name,
    /// Why it is accepted.
    pub reason: Text,
}

/// A table.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Table {
    /// Its name in the model.
    pub name: Name,
    /// Its name in the store, perhaps with variables.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub physical: Option<Text>,
    /// What it has.
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

/// A key attribute, perhaps with its type.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct KeyAttribute {
    /// The attribute.
    pub name: Name,
    /// Its type, if the author gave one.
    #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<KeyType>,
}

/// The types a key attribute can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum KeyType {
    /// S
    String,
    /// N
    Number,
    /// B
    Binary,
}

/// An index of a table. The attributes of a key with several are joined by `+`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Index {
    /// Its name in the model.
    pub name: Name,
    /// Its name in the store, if that differs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub physical: Option<Text>,
    /// `local index`
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub local: bool,
    /// The attributes of the partition key; none for a local index.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub partition: Vec<KeyAttribute>,
    /// The attributes of the sort key, if it has one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sort: Vec<KeyAttribute>,
    /// What it copies, if the author said so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub projection: Option<Projection>,
    /// Items without its keys are meant to be missing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub sparse: bool,
}

/// What an index copies of an item.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Projection {
    /// Everything.
    All,
    /// The keys.
    Keys,
    /// The keys and these attributes.
    Include(Vec<Name>),
}

/// What a stream record holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StreamView {
    /// The item before and after.
    NewAndOld,
    /// The item after.
    New,
    /// The item before.
    Old,
    /// The keys.
    Keys,
}

/// How a table is encrypted at rest.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Encryption {
    /// By a key of the service.
    Owned,
    /// By the account's key that the service manages.
    Managed,
    /// By this key.
    Kms(Text),
}

/// How a table is paid.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Billing {
    /// By the request.
    OnDemand,
    /// By units a second.
    Provisioned {
        /// Read units a second.
        reads: u64,
        /// Write units a second.
        writes: u64,
    },
}

/// The storage class of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum TableClass {
    /// The default.
    Standard,
    /// Cheaper storage, dearer requests.
    Infrequent,
}

/// Fields that entities share.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Shape {
    /// Its name.
    pub name: Name,
    /// Its fields.
    pub body: Block<Field>,
}

/// An item type.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Entity {
    /// Its name.
    pub name: Name,
    /// The table its items are in.
    pub table: Name,
    /// The shapes whose fields it has.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shapes: Vec<Name>,
    /// Its keys, fields and figures.
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

/// The templates of an entity for the table's key or an index's.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct EntityKey {
    /// The index; none for the table's own key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub index: Option<Name>,
    /// What fills the partition key.
    pub partition: KeySource,
    /// What fills the sort key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sort: Option<KeySource>,
}

/// What fills a key: a template, or fields for the attributes of a key with several.
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
    /// Its name, which is its attribute's.
    pub name: Name,
    /// Its type.
    #[serde(rename = "type")]
    pub kind: TypeRef,
    /// Its flags in the order they are written.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flags: Vec<Flag>,
    /// What it is if nobody says otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<Expr>,
}

/// A flag of a field, with its place.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(from = "FlagKind", into = "FlagKind")]
#[schemars(with = "FlagKind")]
pub struct Flag {
    /// Which.
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
}

/// A type as it is written.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TypeRef {
    /// Which.
    pub kind: Type,
    /// `?`: the attribute may be absent.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub optional: bool,
    /// `| null`: NULL may be stored.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub null: bool,
    /// Source range.
    #[serde(skip)]
    pub span: Span,
}

/// Lower and upper bounds, both included. Of text in characters, of collections in elements, of numbers the values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Bounds {
    /// The least.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min: Option<i64>,
    /// The most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<i64>,
}

/// The types.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Type {
    /// `string`, `string(1..32)`
    String(Bounds),
    /// `slug`, `slug(3..63)`
    Slug(Bounds),
    /// `int`, `int(0..100)`
    Int(Bounds),
    /// `number`
    Number,
    /// `bool`
    Bool,
    /// `binary`, `binary(32)`
    Binary(Bounds),
    /// `ulid`
    Ulid,
    /// `uuid`
    Uuid,
    /// `email`
    Email,
    /// `url`
    Url,
    /// `timestamp`
    Timestamp,
    /// `datetime`
    Datetime,
    /// `epoch`
    Epoch,
    /// `epoch_ms`
    EpochMs,
    /// `date`
    Date,
    /// `money`
    Money,
    /// `"a" | "b"`
    OneOf(Vec<Text>),
    /// `list<T>`, `list<T>(..50)`
    List(Box<TypeRef>, Bounds),
    /// `map<T>`, `map<T>(..50)`
    Map(Box<TypeRef>, Bounds),
    /// `set<T>`, `set<T>(..50)`
    Set(Box<TypeRef>, Bounds),
    /// `json`
    Json,
    /// `{ nested: fields }`
    Record(Vec<Field>),
    /// `ref Entity`, `ref Entity.field`
    Ref(Name, Option<Name>),
    /// `copy Entity.field`
    Copy(Name, Name),
    /// A word that is no type; it has been reported.
    Unknown(Name),
}

/// The figures of an entity.
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

/// A guard.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Guard {
    /// Its name.
    pub name: Name,
    /// Its parameters.
    pub parameters: Vec<Parameter>,
    /// The item that must exist.
    pub item: ItemRef,
    /// What must hold of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub condition: Option<Expr>,
}

/// `Entity(keys)`: an item by its key.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ItemRef {
    /// The entity.
    pub entity: Name,
    /// The values of its key's fields, in order or by name.
    pub keys: Vec<Argument>,
    /// Source range.
    #[serde(skip)]
    pub span: Span,
}

/// An argument, perhaps by name.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Argument {
    /// The field it is for, if it is given by name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<Name>,
    /// Its value.
    pub value: Expr,
}

/// A parameter of a guard, read or write.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Parameter {
    /// The field it is about.
    pub field: Name,
    /// How the argument (or arguments) limit the field.
    pub test: Test,
    /// Its type, if the author gave one.
    #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<TypeRef>,
    /// Source range.
    #[serde(skip)]
    pub span: Span,
}

/// How a parameter limits its field; names are the arguments'.
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

/// A read.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Read {
    /// Its name.
    pub name: Name,
    /// Its parameters.
    pub parameters: Vec<Parameter>,
    /// What it returns.
    pub result: ReadResult,
    /// Its clauses in the order they are written.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub clauses: Vec<Line<ReadClause>>,
}

/// What a read returns.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum ReadResult {
    /// `E`, `[E]`, `A + [B]`
    Parts(Vec<ResultPart>),
    /// `count E`
    Count(Name),
}

/// A part of what a read returns.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ResultPart {
    /// The entity.
    pub entity: Name,
    /// How many of it.
    pub number: Number,
}

/// How many items of an entity a read returns.
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
        /// The field.
        field: Name,
        /// Backwards.
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
    /// `allow CODE "reason"`
    Allow(Allow),
}

/// A key condition in so many words.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct KeyCondition {
    /// The partition key's value.
    pub partition: KeyTest,
    /// The sort key's, if it is limited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sort: Option<KeyTest>,
}

/// A test of a key attribute against templates.
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

/// A rate at its peak.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Rate {
    /// How many.
    pub count: f64,
    /// In what time.
    pub per: RateUnit,
}

/// The time of a rate.
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

/// Who may call a pattern.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Permission {
    /// Everyone.
    Public,
    /// Only code, never a caller.
    System,
    /// Those of whom this holds.
    When(Expr),
}

/// A write.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Write {
    /// Its name.
    pub name: Name,
    /// Its parameters.
    pub parameters: Vec<Parameter>,
    /// The entity it returns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<Name>,
    /// Its clauses.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub clauses: Vec<Line<WriteClause>>,
    /// Its steps.
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
    /// The name.
    pub name: Name,
    /// A call of a read, or a value.
    pub value: Expr,
    /// The outcome if there is nothing.
    #[serde(default, rename = "else", skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Name>,
}

/// `require CONDITION else Outcome`
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Require {
    /// What must hold.
    pub condition: Expr,
    /// The outcome if it does not.
    #[serde(default, rename = "else", skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Name>,
}

/// `for x in list max 20 { … }`
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct For {
    /// The name of an element.
    pub name: Name,
    /// The list.
    pub list: Expr,
    /// How many elements it has at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<u64>,
    /// What is done for each.
    pub body: Block<Step>,
}

/// An action on one item.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Action {
    /// Which.
    pub verb: Verb,
    /// The item: with keys for `update`, `upsert`, `delete` and `check`, without for `create` and `put`.
    pub item: ItemRef,
    /// What is set.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<Line<Change>>,
    /// `exists` or `absent` after `check`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub presence: Option<Presence>,
    /// `if CONDITION else Outcome`, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,
    /// The outcome if the item's presence is not as it must be.
    #[serde(default, rename = "else", skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Name>,
}

/// What an action does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Verb {
    /// Puts an item that must not exist.
    Create,
    /// Puts an item.
    Put,
    /// Changes an item that must exist.
    Update,
    /// Changes or makes an item.
    Upsert,
    /// Deletes an item.
    Delete,
    /// Looks at an item.
    Check,
}

/// Whether an item is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Presence {
    /// It is.
    Exists,
    /// It is not.
    Absent,
}

/// `if CONDITION else Outcome`
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Condition {
    /// What stands around it.
    #[serde(default, skip_serializing_if = "Notes::is_empty")]
    pub notes: Notes,
    /// What must hold.
    pub condition: Expr,
    /// The outcome if it does not.
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

/// What a change of an entity triggers.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct On {
    /// The entity.
    pub entity: Name,
    /// The kinds of changes.
    pub events: Vec<Event>,
    /// What happens.
    pub target: Target,
    /// `needs old, new`
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub needs: Vec<Image>,
}

/// A kind of change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Event {
    /// An item came.
    Insert,
    /// An item changed.
    Modify,
    /// A caller deleted an item.
    Remove,
    /// An item's time was over.
    Expire,
}

/// An image of a stream record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Image {
    /// The item before.
    Old,
    /// The item after.
    New,
}

/// What a change goes to.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Target {
    /// `live read(fields)`
    Live(Name, Vec<Name>),
    /// `handler name`
    Handler(Name),
}

/// How older items of an entity become the new form.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Evolve {
    /// The entity.
    pub entity: Name,
    /// What was different.
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

/// An expression with its place.
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
    /// `absent`: the item is not there
    Absent,
    /// `exists`: the item is there
    Exists,
}

/// The operators between two expressions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum BinaryOp {
    /// `or`
    Or,
    /// `and`
    And,
    /// `=`
    Equal,
    /// `!=`
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    LessEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterEqual,
    /// `begins`
    Begins,
    /// `contains`
    Contains,
    /// `+`
    Plus,
    /// `-`
    Minus,
}

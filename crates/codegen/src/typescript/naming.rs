//! Names of types and methods.

use crate::client::names::{self, Names};
use crate::client::{Call, Client, Kind, ObjectId};
use keyform_language::scalar::generated::{BYTES, TypeScriptName};
use keyform_language::schema::EntityId;

/// Names of the runtime. If a model has the same name, the runtime's is renamed.
pub(super) const OWN: &[&str] = &[
    "Arguments",
    "CallError",
    "CallOptions",
    "Caller",
    "ClientOptions",
    "Connection",
    "Decimal",
    "Decode",
    "Decoders",
    "Follow",
    "Json",
    "Live",
    "LiveChange",
    "LiveChanges",
    "LiveConnection",
    "LiveEntry",
    "LiveEvent",
    "LiveItem",
    "LiveItems",
    "LiveItemsOptions",
    "LiveLost",
    "LiveMessage",
    "LiveMoment",
    "LiveOptions",
    "LivePage",
    "LiveReads",
    "LiveSocket",
    "LiveSocketConstructor",
    "Messages",
    "Outcome",
    "Outcomes",
    "Page",
    "Pages",
    "Problem",
    "Refused",
    "Unreachable",
    "Whole",
    "WriteOptions",
];

/// Names that the generated code uses with their TypeScript meaning.
const GLOBAL: &[&str] = &[
    "AbortController",
    "AbortSignal",
    "Array",
    "AsyncGenerator",
    "AsyncIterable",
    "BigInt",
    "Date",
    "Error",
    "ErrorOptions",
    "Function",
    "Iterable",
    "JSON",
    "Math",
    "NaN",
    "Number",
    "Object",
    "Promise",
    "Readonly",
    "ReadonlySet",
    "Record",
    "RequestInit",
    "Response",
    "Set",
    "String",
    "Symbol",
    "TypeError",
    "URL",
    "URLSearchParams",
    "Uint8Array",
];

/// Additional such names that live reads use.
const GLOBAL_LIVE: &[&str] =
    &["AsyncIterableIterator", "IteratorResult", "Map", "ReadonlyMap", "ReturnType", "WebSocket"];

/// Properties that every object inherits.
pub(super) const INHERITED: &[&str] = &[
    "constructor",
    "hasOwnProperty",
    "isPrototypeOf",
    "propertyIsEnumerable",
    "toLocaleString",
    "toString",
    "valueOf",
];

/// Methods with a special meaning in JavaScript.
const METHODS: &[&str] = &["then", "toJSON"];

/// Names of one client.
pub(super) struct Naming {
    /// Types of the model.
    pub(super) types: Names,
    pub(super) class: String,
    /// Class of live reads, and the property of the client that holds it.
    pub(super) live_class: String,
    pub(super) live: String,
    ids: Vec<(EntityId, String)>,
    /// Names of the objects, in order.
    pub(super) names: Vec<String>,
    /// Names of each call.
    pub(super) calls: Vec<CallNames>,
}

/// Names of one call.
pub(super) struct CallNames {
    pub(super) method: String,
    /// Method of the live read.
    pub(super) live: String,
    pub(super) arguments: String,
    pub(super) parts: String,
}

impl Naming {
    pub(super) fn of(client: &Client<'_>) -> Self {
        let mut types = Names::without(&[GLOBAL, if client.is_live() { GLOBAL_LIVE } else { &[] }].concat());
        let objects = client.objects.iter().map(|object| types.take(&object.name)).collect();
        let ids = client.ids.iter().map(|(entity, name)| (*entity, types.take(name))).collect();
        let class = types.take(&names::pascal(&format!("{} client", client.model)));
        let live_class = types.take(&names::pascal(&format!("{} live", client.model)));
        let mut methods = Names::without(&[INHERITED, METHODS].concat());
        let mut live_methods = Names::without(&[INHERITED, METHODS].concat());
        let mut call = |call: &Call<'_>| CallNames {
            method: methods.take(&names::camel(call.name)),
            live: live_methods.take(&names::camel(call.name)),
            arguments: types.take(&names::pascal(&format!("{} arguments", call.name))),
            parts: types.take(&names::pascal(&format!("{} answer", call.name))),
        };
        let calls = client.calls.iter().map(&mut call).collect();
        let live = methods.take("live");
        Self { types, class, live_class, live, ids, names: objects, calls }
    }

    /// Returns the name of a runtime type, after a possible renaming.
    pub(super) fn own(&self, name: &str) -> String {
        if self.types.has(name) { format!("Keyform{name}") } else { name.to_owned() }
    }

    pub(super) fn object(&self, id: ObjectId) -> &str {
        &self.names[id.index()]
    }

    pub(super) fn id(&self, entity: EntityId) -> &str {
        self.ids.iter().find(|(id, _)| *id == entity).map_or("string", |(_, name)| name)
    }

    /// Returns the type of a result.
    pub(super) fn kind(&self, kind: &Kind) -> String {
        match kind {
            Kind::Scalar(scalar) => self.scalar(scalar.typescript.name),
            Kind::Id(entity) => self.id(*entity).to_owned(),
            Kind::OneOf(texts) if texts.is_empty() => "never".to_owned(),
            Kind::OneOf(texts) => texts.iter().map(|text| super::quoted(text)).collect::<Vec<_>>().join(" | "),
            Kind::List(of) => format!("readonly {}[]", self.element(of)),
            // A set compares arrays of bytes by identity.
            Kind::Set(of) if **of == Kind::Scalar(&BYTES) => "readonly Uint8Array[]".to_owned(),
            Kind::Set(of) => format!("ReadonlySet<{}>", self.kind(of)),
            Kind::Map(of) => format!("{{ readonly [name: string]: {} }}", self.kind(of)),
            Kind::Object(object) => self.object(*object).to_owned(),
            Kind::Json => self.own("Json"),
        }
    }

    fn element(&self, kind: &Kind) -> String {
        let text = self.kind(kind);
        if text.contains(' ') { format!("({text})") } else { text }
    }

    /// Returns the type of an argument, which may accept more than a result can be.
    pub(super) fn argument(&self, kind: &Kind) -> String {
        match kind {
            Kind::Scalar(scalar) => self.scalar(scalar.typescript.argument.unwrap_or(scalar.typescript.name)),
            kind => self.kind(kind),
        }
    }

    fn scalar(&self, name: TypeScriptName) -> String {
        match name {
            TypeScriptName::Language(name) => name.to_owned(),
            TypeScriptName::Module(name) => self.own(name),
        }
    }
}

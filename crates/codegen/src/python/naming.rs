//! Names of classes, methods, fields and arguments.

use crate::client::names::{self, Names};
use crate::client::{Call, Client, Kind, Member, ObjectId};
use keyform_language::schema::EntityId;

/// Classes of the runtime. If a model has a class of the same name, the runtime's is renamed.
pub(super) const OWN: &[&str] = &[
    "CallError",
    "Caller",
    "Live",
    "LiveChange",
    "LiveChanges",
    "LiveItem",
    "LiveItems",
    "LivePage",
    "LiveRemoval",
    "Outcome",
    "Page",
    "Pages",
    "Problem",
    "Refused",
    "Transport",
    "Unreachable",
];

/// Names that the generated code uses with their Python meaning.
const GLOBAL: &[&str] = &[
    "AbstractSet",
    "Any",
    "AssertionError",
    "BaseException",
    "Callable",
    "ConnectionError",
    "Exception",
    "False",
    "Generator",
    "Generic",
    "Iterator",
    "Literal",
    "Mapping",
    "NewType",
    "None",
    "OSError",
    "Sequence",
    "True",
    "TypeVar",
    "ValueError",
];

/// Python keywords, and names that types or defaults within a class refer to.
const RESERVED: &[&str] = &[
    "and",
    "as",
    "assert",
    "async",
    "await",
    "bool",
    "break",
    "bytes",
    "class",
    "continue",
    "decimal",
    "def",
    "del",
    "dict",
    "dt",
    "elif",
    "else",
    "except",
    "field",
    "finally",
    "float",
    "for",
    "from",
    "frozenset",
    "global",
    "if",
    "import",
    "in",
    "int",
    "is",
    "lambda",
    "list",
    "nonlocal",
    "not",
    "or",
    "pass",
    "raise",
    "return",
    "self",
    "str",
    "try",
    "tuple",
    "while",
    "with",
    "yield",
];

/// Names of one client.
pub(super) struct Naming {
    /// Classes of the model.
    pub(super) types: Names,
    pub(super) class: String,
    /// Class of live reads, and the attribute of the client that holds it.
    pub(super) live_class: String,
    pub(super) live: String,
    /// Class and decoder of each object, in order.
    pub(super) objects: Vec<(String, String)>,
    ids: Vec<(EntityId, String)>,
    /// Names of each call.
    pub(super) calls: Vec<CallNames>,
}

/// Names of one call.
pub(super) struct CallNames {
    pub(super) method: String,
    pub(super) arguments: Vec<String>,
    /// Parameter for the idempotency key.
    pub(super) key: String,
    pub(super) parts: String,
    /// Method of the live read, and its additional parameters.
    pub(super) live: String,
    pub(super) live_token: String,
    pub(super) live_tries: String,
}

impl Naming {
    pub(super) fn of(client: &Client<'_>) -> Self {
        let mut types = Names::without(GLOBAL);
        let mut readers = Names::default();
        let mut object = |name: &str| {
            let reader = readers.take(&format!("_decode_{}", names::snake(name)));
            (types.take(name), reader)
        };
        let objects = client.objects.iter().map(|found| object(&found.name)).collect();
        let ids = client.ids.iter().map(|(entity, name)| (*entity, types.take(name))).collect();
        let class = types.take(&names::pascal(&format!("{} client", client.model)));
        let live_class = types.take(&names::pascal(&format!("{} live", client.model)));
        let mut methods = Names::without(RESERVED);
        let mut live_methods = Names::without(RESERVED);
        let mut call = |call: &Call<'_>| {
            let mut inside = Names::without(RESERVED);
            CallNames {
                method: methods.take(&names::snake(call.name)),
                arguments: call.arguments.iter().map(|argument| inside.take(&names::snake(argument.name))).collect(),
                key: inside.take("idempotency_key"),
                parts: types.take(&names::pascal(&format!("{} answer", call.name))),
                live: live_methods.take(&names::snake(call.name)),
                live_token: inside.take("token"),
                live_tries: inside.take("tries_max"),
            }
        };
        let calls = client.calls.iter().map(&mut call).collect();
        let live = methods.take("live");
        Self { types, class, live_class, live, objects, ids, calls }
    }

    /// Returns the name of a runtime class, after a possible renaming.
    pub(super) fn own(&self, name: &str) -> String {
        if self.types.has(name) { format!("Keyform{name}") } else { name.to_owned() }
    }

    pub(super) fn object(&self, id: ObjectId) -> &str {
        &self.objects[id.index()].0
    }

    pub(super) fn id(&self, entity: EntityId) -> &str {
        self.ids.iter().find(|(id, _)| *id == entity).map_or("str", |(_, name)| name)
    }

    /// Returns the type of a result.
    pub(super) fn kind(&self, kind: &Kind) -> String {
        match kind {
            Kind::Scalar(scalar) => scalar.python.name.to_owned(),
            Kind::Id(entity) => self.id(*entity).to_owned(),
            Kind::OneOf(texts) => {
                format!("Literal[{}]", texts.iter().map(|text| super::quoted(text)).collect::<Vec<_>>().join(", "))
            }
            Kind::List(of) => format!("list[{}]", self.kind(of)),
            Kind::Set(of) => format!("frozenset[{}]", self.kind(of)),
            Kind::Map(of) => format!("dict[str, {}]", self.kind(of)),
            Kind::Object(object) => self.object(*object).to_owned(),
            Kind::Json => "Any".to_owned(),
        }
    }

    /// Returns the type of an argument.
    pub(super) fn argument(&self, kind: &Kind) -> String {
        match kind {
            Kind::Scalar(scalar) => scalar.python.argument.unwrap_or(scalar.python.name).to_owned(),
            Kind::List(of) => format!("Sequence[{}]", self.argument(of)),
            Kind::Set(of) => format!("AbstractSet[{}]", self.argument(of)),
            Kind::Map(of) => format!("Mapping[str, {}]", self.argument(of)),
            kind => self.kind(kind),
        }
    }
}

/// Returns the names of the fields of a class.
pub(super) fn fields(members: &[Member]) -> Vec<String> {
    let mut inside = Names::without(RESERVED);
    members.iter().map(|member| inside.take(&names::snake(&member.name))).collect()
}

/// Returns the names of the parts of an answer, such as `channel` and `messages`.
pub(super) fn parts(wanted: &[(String, bool)]) -> Vec<String> {
    let mut inside = Names::without(RESERVED);
    let name = |(name, many): &(String, bool)| {
        let one = names::snake(name);
        inside.take(&if *many { names::plural(&one) } else { one })
    };
    wanted.iter().map(name).collect()
}

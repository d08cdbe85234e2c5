//! Type names in generated Rust, TypeScript and Python. They are words here: the code generators decide what to do with
//! them.

/// Type of a scalar in generated Rust.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RustType {
    /// Path of the owned type.
    pub name: &'static str,
    /// Way of passing a value to a function.
    pub passed: Passed,
    /// Form of an entity's id of this type; `None` if ids of this type have no type of their own.
    pub id: Option<RustId>,
}

/// Way of passing a value to a Rust function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Passed {
    /// By value.
    Copied,
    /// As `&str`.
    Text,
    /// By reference.
    Referred,
}

/// Own Rust type of an entity's id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RustId {
    /// Newtype of `String` by `text_id!`, with this variant of `keyform::typed::Form`.
    Text(&'static str),
    /// Newtype of `i64` by `int_id!`.
    Number,
}

impl RustType {
    /// `String`
    pub(super) const STRING: Self = Self { name: "String", passed: Passed::Text, id: None };

    /// Creates a type that is passed by value.
    pub(super) const fn copied(name: &'static str) -> Self {
        Self { name, passed: Passed::Copied, id: None }
    }

    /// Creates a type that is passed by reference.
    pub(super) const fn referred(name: &'static str) -> Self {
        Self { name, passed: Passed::Referred, id: None }
    }

    /// Adds the type of an entity's id.
    pub(super) const fn with_id(self, id: RustId) -> Self {
        Self { id: Some(id), ..self }
    }
}

/// Type of a scalar in generated clients, by its JSON encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClientType {
    /// Type in the generated TypeScript client.
    pub typescript: TypeScript,
    /// Type in the generated Python client.
    pub python: Python,
}

/// TypeScript type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TypeScript {
    /// Type of a result.
    pub name: TypeScriptName,
    /// Type of an argument, if it accepts more than a result can be.
    pub argument: Option<TypeScriptName>,
    /// Decoder of the JSON value; `None` if it is used as it is.
    pub decoder: Option<&'static str>,
}

/// Name of a TypeScript type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TypeScriptName {
    /// Type of the language.
    Language(&'static str),
    /// Type that the generated module declares. It is renamed if the model uses the name.
    Module(&'static str),
}

/// Python type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Python {
    /// Type of a result.
    pub name: &'static str,
    /// Type of an argument, if it accepts more than a result can be.
    pub argument: Option<&'static str>,
    /// Decoder of the JSON value; `None` if it is used as it is.
    pub decoder: Option<&'static str>,
}

impl TypeScript {
    /// Creates a type of the language whose JSON value is used as it is.
    pub(super) const fn language(name: &'static str) -> Self {
        Self { name: TypeScriptName::Language(name), argument: None, decoder: None }
    }

    /// Creates a type of the generated module whose JSON value is used as it is.
    pub(super) const fn module(name: &'static str) -> Self {
        Self { name: TypeScriptName::Module(name), argument: None, decoder: None }
    }

    /// Adds the decoder.
    pub(super) const fn decoded(self, decoder: &'static str) -> Self {
        Self { decoder: Some(decoder), ..self }
    }
}

impl Python {
    /// Creates a type whose JSON value is used as it is.
    pub(super) const fn new(name: &'static str) -> Self {
        Self { name, argument: None, decoder: None }
    }

    /// Adds the decoder.
    pub(super) const fn decoded(self, decoder: &'static str) -> Self {
        Self { decoder: Some(decoder), ..self }
    }
}

/// String: the JSON value is used as it is.
pub static TEXT: ClientType = ClientType { typescript: TypeScript::language("string"), python: Python::new("str") };

/// Integer within ±(2⁵³ − 1): a JSON number.
pub static SMALL_INTEGER: ClientType =
    ClientType { typescript: TypeScript::language("number"), python: Python::new("int") };

/// Bytes in base64.
pub static BYTES: ClientType = ClientType {
    typescript: TypeScript::language("Uint8Array").decoded("decode.bytes"),
    python: Python::new("bytes").decoded("base64.b64decode"),
};

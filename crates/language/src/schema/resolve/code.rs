//! Codes of unresolved names and types, in one list. `docs/rules/N.md` explains each.

use crate::diagnostic::Code;

/// A code with its title.
#[derive(Clone, Copy, Debug)]
pub struct NameCode {
    /// Public code such as `N04`.
    pub code: Code,
    /// Short title of the finding.
    pub title: &'static str,
}

macro_rules! codes {
    ($($name:ident = $code:literal, $title:literal;)*) => {
        $(pub(super) const $name: Code = Code($code);)*

        /// Codes of this pass, in order.
        pub const CODES: &[NameCode] = &[$(NameCode { code: Code($code), title: $title },)*];
    };
}

codes! {
    MODEL = "N01", "missing or duplicate lines of the model";
    TWICE = "N02", "duplicate declaration";
    REPEATED = "N03", "duplicate name or line within a declaration";
    TABLE = "N04", "unknown table";
    SHAPE = "N05", "unknown shape";
    ENTITY = "N06", "unknown entity";
    INDEX = "N07", "unknown index";
    FIELD = "N08", "unknown field";
    READ = "N09", "unknown read";
    CALL = "N10", "unknown function or guard";
    NAME = "N11", "unknown name";
    UNTYPED = "N12", "parameter of unknown type";
    CYCLE = "N13", "circular references";
    NO_ID = "N14", "reference to an entity without an id";
    KEY = "N15", "templates do not match the key";
    FORMAT = "N16", "unknown or unsuitable format";
    ITEM = "N17", "incomplete key of an item";
    ARGUMENTS = "N18", "wrong number of arguments";
    FLAG = "N19", "flag does not fit the type";
    EARLY = "N20", "use before the read";
    PLACE = "N21", "not allowed here";
    CALLER = "N22", "unknown claim of the caller";
    NO_ALLOW = "N23", "pattern without `allow`";
    ATTRIBUTE = "N24", "index projects an unknown attribute";
    VALUE = "N25", "value does not fit the field";
    STORE_NAME = "N26", "the store refuses the name of the table";
}

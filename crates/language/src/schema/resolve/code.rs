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
    MODEL = "N01", "the model's own lines are missing or repeated";
    TWICE = "N02", "two declarations have one name";
    REPEATED = "N03", "a name or a line is given twice within a declaration";
    TABLE = "N04", "no such table";
    SHAPE = "N05", "no such shape";
    ENTITY = "N06", "no such entity";
    INDEX = "N07", "no such index";
    FIELD = "N08", "no such field";
    READ = "N09", "no such read";
    CALL = "N10", "no such function or guard";
    NAME = "N11", "a name that means nothing here";
    UNTYPED = "N12", "a parameter whose type is unknown";
    CYCLE = "N13", "references that go round in a circle";
    NO_ID = "N14", "a reference to an entity without an id";
    KEY = "N15", "templates that do not match the key";
    FORMAT = "N16", "a format that does not exist or does not fit";
    ITEM = "N17", "an item that is not named by its whole key";
    ARGUMENTS = "N18", "a wrong number of arguments";
    FLAG = "N19", "a flag that the type cannot have";
    EARLY = "N20", "something read is used before it is read";
    PLACE = "N21", "something that cannot stand here";
    CALLER = "N22", "a claim of the caller that nobody declares";
    NO_ALLOW = "N23", "a pattern that does not say whom it allows";
    ATTRIBUTE = "N24", "an index copies an attribute that no entity has";
    VALUE = "N25", "a value that the field cannot have";
}

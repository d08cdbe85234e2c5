//! PartiQL's reserved words. An attribute with such a name must be in double quotes.

/// Returns whether the word is a keyword, ignoring case.
pub(super) fn is_keyword(word: &str) -> bool {
    let lower = word.to_ascii_lowercase();
    KEYWORDS.binary_search(&lower.as_str()).is_ok()
}

/// Returns whether the keyword can be a function name.
pub(super) fn is_function_keyword(word: &str) -> bool {
    FUNCTIONS.iter().any(|name| name.eq_ignore_ascii_case(word))
}

/// Returns whether the keyword is an operator.
pub(super) fn is_operator_keyword(word: &str) -> bool {
    OPERATORS.iter().any(|name| name.eq_ignore_ascii_case(word))
}

/// Returns whether the keyword ends a list of columns.
pub(super) fn ends_select_list(word: &str) -> bool {
    SELECT_LIST_ENDS.iter().any(|name| name.eq_ignore_ascii_case(word))
}

const OPERATORS: [&str; 10] = ["and", "between", "except", "in", "intersect", "is", "like", "not", "or", "union"];

const SELECT_LIST_ENDS: [&str; 7] = ["delete", "from", "remove", "select", "set", "update", "where"];

const FUNCTIONS: [&str; 16] = [
    "avg",
    "bag",
    "bit_length",
    "char_length",
    "character_length",
    "count",
    "exists",
    "list",
    "lower",
    "max",
    "min",
    "octet_length",
    "sexp",
    "size",
    "sum",
    "upper",
];

/// Sorted for binary search.
#[rustfmt::skip]
const KEYWORDS: &[&str] = &[
    "absolute", "action", "add", "all", "allocate", "alter", "and", "any", "are", "as", "asc", "assertion", "at",
    "authorization", "avg", "bag", "begin", "between", "bigint", "bit", "bit_length", "blob", "bool", "boolean", "by",
    "can_cast", "can_lossless_cast", "cascade", "cascaded", "case", "cast", "catalog", "char", "char_length",
    "character", "character_length", "check", "clob", "close", "coalesce", "collate", "collation", "column", "commit",
    "conflict", "connect", "connection", "constraint", "constraints", "continue", "convert", "corresponding", "count",
    "create", "cross", "current", "current_date", "current_time", "current_timestamp", "current_user", "cursor",
    "date", "date_add", "date_diff", "deallocate", "dec", "decimal", "declare", "default", "deferrable", "deferred",
    "delete", "desc", "describe", "descriptor", "diagnostics", "disconnect", "distinct", "do", "domain", "double",
    "drop", "else", "end", "escape", "except", "exception", "exec", "execute", "exists", "external", "extract",
    "false", "fetch", "first", "float", "for", "foreign", "found", "from", "full", "get", "global", "go", "goto",
    "grant", "group", "having", "identity", "immediate", "in", "index", "indicator", "initially", "inner", "input",
    "insensitive", "insert", "int", "int2", "int4", "int8", "integer", "integer2", "integer4", "integer8",
    "intersect", "interval", "into", "is", "isolation", "join", "key", "language", "last", "left", "let", "level",
    "like", "limit", "list", "local", "lower", "match", "max", "min", "missing", "modified", "module", "names",
    "national", "natural", "nchar", "new", "next", "no", "not", "nothing", "null", "nullif", "numeric",
    "octet_length", "of", "offset", "old", "on", "only", "open", "option", "or", "order", "outer", "output",
    "overlaps", "pad", "partial", "pivot", "position", "precision", "prepare", "preserve", "primary", "prior",
    "privileges", "procedure", "public", "read", "real", "references", "relative", "remove", "restrict", "returning",
    "revoke", "right", "rollback", "rows", "schema", "scroll", "section", "select", "session", "session_user", "set",
    "sexp", "size", "smallint", "some", "space", "sql", "sqlcode", "sqlerror", "sqlstate", "string", "struct",
    "substring", "sum", "symbol", "system_user", "table", "temporary", "then", "time", "timestamp", "to",
    "transaction", "translate", "translation", "trim", "true", "tuple", "union", "unique", "unknown", "unpivot",
    "update", "upper", "usage", "user", "using", "value", "values", "varchar", "varying", "view", "when", "whenever",
    "where", "with", "work", "write", "zone",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keywords_are_sorted_and_found_in_any_case() {
        assert!(KEYWORDS.is_sorted_by(|a, b| a < b));
        assert!(is_keyword("Select") && is_keyword("VALUE") && is_keyword("key") && is_keyword("zone"));
        assert!(!is_keyword("pk") && !is_keyword("data") && !is_keyword("name") && !is_keyword("status"));
    }
}

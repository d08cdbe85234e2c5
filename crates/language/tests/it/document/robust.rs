//! Robustness: the parser terminates without panicking on any text, and keeps its laws where the text is a model.

use keyform_language::document::{parse, print};
use proptest::prelude::*;

use super::{checks, models};

/// Fragments that random near-models are composed of.
const PIECES: [&str; 48] = [
    "model x\n",
    "caller ",
    "table T {\n",
    "entity E in T {\n",
    "shape S {\n",
    "read r(",
    "write w(",
    "guard g(",
    "on E insert -> ",
    "evolve E {\n",
    "allow ",
    "key ",
    "index ",
    "local ",
    "\"a#{b}\"",
    "\"",
    "`",
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    "<",
    ">",
    ">=",
    "=",
    "->",
    ",",
    ":",
    "?",
    "|",
    "..",
    ".",
    "1",
    "30d",
    "400/s",
    "// c\n",
    "/// d\n",
    "\n",
    "\n\n",
    " ",
    "name",
    "string",
    " and ",
    " else X",
    "-",
    "é",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn any_text(text in "\\PC{0,200}") {
        checks::model(text.as_bytes());
    }

    #[test]
    fn any_sequence_of_pieces(pieces in prop::collection::vec(0..PIECES.len(), 0..80)) {
        let text: String = pieces.into_iter().map(|piece| PIECES[piece]).collect();
        checks::model(text.as_bytes());
    }

    #[test]
    fn any_mutation_of_a_model(
        number in any::<prop::sample::Index>(),
        from in any::<prop::sample::Index>(),
        edits in prop::collection::vec((any::<prop::sample::Index>(), 0..12_usize, 0..PIECES.len(), any::<bool>()), 1..6),
    ) {
        let all = models::all();
        let source = &number.get(&all).1;
        // A window of the file keeps a case short.
        let chars: Vec<char> = source.chars().collect();
        let start = from.index(chars.len());
        let mut chars: Vec<char> = chars[start..(start + 1500).min(chars.len())].to_vec();
        for (place, length, piece, insert) in edits {
            let at = if chars.is_empty() { 0 } else { place.index(chars.len()) };
            let end = (at + length).min(chars.len());
            let new: Vec<char> = if insert { PIECES[piece].chars().collect() } else { Vec::new() };
            chars.splice(at..end, new);
        }
        checks::model(chars.into_iter().collect::<String>().as_bytes());
    }
}

/// Counts the comments of a text, including documentation.
fn comments(text: &str) -> usize {
    keyform_language::document::lexer::lex(text).comments.len()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn comments_anywhere_survive(
        number in any::<prop::sample::Index>(),
        places in prop::collection::vec((any::<prop::sample::Index>(), any::<bool>()), 1..12),
    ) {
        let all = models::all();
        let source = &number.get(&all).1;
        let tokens = keyform_language::document::lexer::lex(source).tokens;
        // A comment at the end of a line or before it changes nothing. One within a line breaks the line, which may be
        // a syntax error.
        let mut inserted: Vec<(usize, bool)> = places
            .into_iter()
            .map(|(place, within)| {
                let starts: Vec<usize> = tokens.iter().filter(|token| within || token.first).map(|token| token.span.start).collect();
                (*place.get(&starts), within)
            })
            .collect();
        inserted.sort_unstable();
        inserted.dedup_by_key(|(at, _)| *at);
        let mut text = source.clone();
        for (number, (at, _)) in inserted.iter().enumerate().rev() {
            // Keeps the indentation of the line, which decides the declaration an `allow` belongs to.
            let start = source[..*at].rfind('\n').map_or(0, |end| end + 1);
            let indentation = Some(&source[start..*at]).filter(|before| before.trim().is_empty()).unwrap_or_default();
            text.insert_str(*at, &format!("// inserted {number}\n{indentation}"));
        }
        let (document, mistakes) = parse(&text);
        prop_assert!(!mistakes.is_empty() || comments(&print(&document)) == comments(&text), "{}", print(&document));
        prop_assert!(mistakes.is_empty() || inserted.iter().any(|(_, within)| *within), "{mistakes:#?}");
        checks::model(text.as_bytes());
    }
}

#[test]
fn deep_nesting_is_a_mistake_and_not_a_crash() {
    let deep = |open: &str, close: &str| format!("{}{}", open.repeat(20_000), close.repeat(20_000));
    let texts = [
        format!("model x read r() -> [E] where {}", deep("(", ")")),
        format!("model x read r() -> [E] where {}", deep("not ", "")),
        format!("model x read r() -> [E] where a{}", deep(".b", "")),
        format!("model x read r() -> [E] where a{}", deep("[a", "]")),
        format!("model x read r() -> [E] where a{}", deep(" + a", "")),
        format!("model x read r() -> [E] where a{}", deep(" and a", "")),
        format!("model x read r() -> [E] where {}", deep("f(", ")")),
        format!("model x shape S {{ a: {} }}", deep("list<", ">")),
        format!("model x shape S {{ a: {} }}", deep("{ a: ", "}")),
        format!("model x write w() {{ {} }}", deep("for x in y {\n", "}")),
        format!("model x {}", deep("{", "}")),
        format!("model x {}", deep("entity E in T {\n", "}")),
    ];
    for text in texts {
        let (_, mistakes) = parse(&text);
        assert!(!mistakes.is_empty(), "{}", &text[..60]);
        assert!(mistakes.len() < 20_010, "{}: {} mistakes", &text[..60], mistakes.len());
    }
}

#[test]
fn the_deepest_nesting_that_is_allowed_survives_all_forms() {
    let deep = |open: &str, middle: &str, close: &str, times: usize| {
        format!("{}{middle}{}", open.repeat(times), close.repeat(times))
    };
    checks::model(format!("model x read r() -> [E] where {}", deep("not ", "a", "", 60)).as_bytes());
    checks::model(format!("model x read r() -> [E] where {}", deep("f(", "a", ")", 60)).as_bytes());
    checks::model(format!("model x shape S {{ a: {} }}", deep("list<", "ulid", ">", 60)).as_bytes());
    checks::model(format!("model x shape S {{ a: {} }}", deep("{ a: ", "ulid", " }", 60)).as_bytes());
    checks::model(format!("model x write w() {{ {} }}", deep("for x in y {\n", "put E {}", "}", 60)).as_bytes());
    checks::model(format!("model x read r() -> [E] where a{}", " and a".repeat(60)).as_bytes());
}

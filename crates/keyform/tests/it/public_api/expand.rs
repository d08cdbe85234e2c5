//! Expansion of `macro_rules!` with one arm, for items that a library declares by a macro, such as the enums of all
//! operations. Fragments: `ident`, `literal`, `ty`, and `meta` at the end of a group.

use std::collections::BTreeMap;

use proc_macro2::{Group, TokenStream, TokenTree};

/// Tokens of a fragment, or one entry per repetition.
#[derive(Clone)]
enum Binding {
    Tokens(Vec<TokenTree>),
    Repeated(Vec<Bindings>),
}

type Bindings = BTreeMap<String, Binding>;

/// Part of a matcher or of a transcriber.
enum Part {
    /// `$name`, in a matcher with its fragment.
    Name(String, String),
    /// `$( … ) separator operator`; the separator may be absent.
    Repeat(Vec<TokenTree>, Option<char>),
    Token(TokenTree),
}

/// Returns the items of a call; `None` if the macro or the call has another form.
pub(super) fn expand(definition: TokenStream, call: TokenStream) -> Option<TokenStream> {
    let rule: Vec<TokenTree> = definition.into_iter().collect();
    let [TokenTree::Group(matcher), TokenTree::Punct(_), TokenTree::Punct(_), TokenTree::Group(body), ..] =
        rule.as_slice()
    else {
        return None;
    };
    let input: Vec<TokenTree> = call.into_iter().collect();
    let (bindings, end) = matched(&trees(matcher), &input, 0)?;
    (end == input.len()).then(|| transcribed(&trees(body), &bindings).into_iter().collect())
}

fn trees(group: &Group) -> Vec<TokenTree> {
    group.stream().into_iter().collect()
}

fn is_mark(tree: Option<&TokenTree>, mark: char) -> bool {
    matches!(tree, Some(TokenTree::Punct(its)) if its.as_char() == mark)
}

/// Returns the part that begins at a position, and where it ends.
fn part(pattern: &[TokenTree], at: usize) -> (Part, usize) {
    if !is_mark(pattern.get(at), '$') {
        return (Part::Token(pattern[at].clone()), at + 1);
    }
    match &pattern[at + 1] {
        TokenTree::Group(inner) => {
            let TokenTree::Punct(mark) = &pattern[at + 2] else { panic!("a repetition has an operator") };
            match mark.as_char() {
                '*' | '+' | '?' => (Part::Repeat(trees(inner), None), at + 3),
                separator => (Part::Repeat(trees(inner), Some(separator)), at + 4),
            }
        }
        name if is_mark(pattern.get(at + 2), ':') => match pattern.get(at + 3) {
            Some(TokenTree::Ident(fragment)) => (Part::Name(name.to_string(), fragment.to_string()), at + 4),
            _ => (Part::Name(name.to_string(), String::new()), at + 2),
        },
        name => (Part::Name(name.to_string(), String::new()), at + 2),
    }
}

/// Matches a pattern against the beginning of an input, without backtracking. Returns where the match ends.
fn matched(pattern: &[TokenTree], input: &[TokenTree], mut at: usize) -> Option<(Bindings, usize)> {
    let mut bindings = Bindings::new();
    let mut next = 0;
    while next < pattern.len() {
        let (part, after) = part(pattern, next);
        next = after;
        match part {
            Part::Name(name, fragment) => {
                let end = fragment_end(&fragment, input, at)?;
                bindings.insert(name, Binding::Tokens(input[at..end].to_vec()));
                at = end;
            }
            Part::Repeat(inner, separator) => {
                let (repeated, end) = matched_often(&inner, separator, input, at);
                for name in names(&inner) {
                    bindings.insert(name, Binding::Repeated(repeated.clone()));
                }
                at = end;
            }
            Part::Token(expected) => {
                bindings.extend(matched_token(&expected, input.get(at)?)?);
                at += 1;
            }
        }
    }
    Some((bindings, at))
}

fn matched_often(
    inner: &[TokenTree],
    separator: Option<char>,
    input: &[TokenTree],
    mut at: usize,
) -> (Vec<Bindings>, usize) {
    let mut repeated = Vec::new();
    while let Some((bindings, end)) = matched(inner, input, at).filter(|(_, end)| *end > at) {
        repeated.push(bindings);
        at = end;
        match separator {
            Some(mark) if is_mark(input.get(at), mark) => at += 1,
            Some(_) => break,
            None => {}
        }
    }
    (repeated, at)
}

fn matched_token(expected: &TokenTree, actual: &TokenTree) -> Option<Bindings> {
    match (expected, actual) {
        (TokenTree::Group(expected), TokenTree::Group(actual)) if expected.delimiter() == actual.delimiter() => {
            let input = trees(actual);
            let (bindings, end) = matched(&trees(expected), &input, 0)?;
            (end == input.len()).then_some(bindings)
        }
        (TokenTree::Group(_), _) | (_, TokenTree::Group(_)) => None,
        _ => (expected.to_string() == actual.to_string()).then(Bindings::new),
    }
}

fn fragment_end(fragment: &str, input: &[TokenTree], at: usize) -> Option<usize> {
    match (fragment, input.get(at)?) {
        ("ident", TokenTree::Ident(_)) | ("literal", TokenTree::Literal(_)) => Some(at + 1),
        ("meta", _) => Some(input.len()),
        ("ty", _) => Some((at..input.len()).find(|at| is_mark(input.get(*at), ',')).unwrap_or(input.len())),
        _ => None,
    }
}

/// Returns the names that a pattern binds.
fn names(pattern: &[TokenTree]) -> Vec<String> {
    let (mut found, mut next) = (Vec::new(), 0);
    while next < pattern.len() {
        let (part, after) = part(pattern, next);
        next = after;
        match part {
            Part::Name(name, _) => found.push(name),
            Part::Repeat(inner, _) => found.extend(names(&inner)),
            Part::Token(TokenTree::Group(group)) => found.extend(names(&trees(&group))),
            Part::Token(_) => {}
        }
    }
    found
}

fn transcribed(body: &[TokenTree], bindings: &Bindings) -> Vec<TokenTree> {
    let (mut out, mut next) = (Vec::new(), 0);
    while next < body.len() {
        let (part, after) = part(body, next);
        match part {
            // In a transcriber, a colon after a name is a token of its own.
            Part::Name(name, fragment) => {
                next = if fragment.is_empty() { after } else { after - 2 };
                if let Some(Binding::Tokens(tokens)) = bindings.get(&name) {
                    out.extend(tokens.iter().cloned());
                }
                continue;
            }
            // A separator in a transcriber separates list entries, and items parse without it.
            Part::Repeat(inner, _) => {
                for inner_bindings in repeated(&inner, bindings) {
                    out.extend(transcribed(&inner, &inner_bindings));
                }
            }
            Part::Token(TokenTree::Group(group)) => {
                let inner = transcribed(&trees(&group), bindings).into_iter().collect();
                out.push(Group::new(group.delimiter(), inner).into());
            }
            Part::Token(tree) => out.push(tree),
        }
        next = after;
    }
    out
}

/// Returns the bindings of each repetition, by the first repeated name in it.
fn repeated(inner: &[TokenTree], bindings: &Bindings) -> Vec<Bindings> {
    let by = names(inner).into_iter().find_map(|name| match bindings.get(&name) {
        Some(Binding::Repeated(repeated)) => Some(repeated.clone()),
        Some(Binding::Tokens(_)) | None => None,
    });
    let inside = by.unwrap_or_default().into_iter();
    inside.map(|its| bindings.clone().into_iter().chain(its).collect()).collect()
}

#[test]
fn a_macro_with_nested_repetitions_is_expanded() {
    let definition = "($($(#[$doc:meta])* $group:ident { $($name:ident -> $of:ty,)+ })+) => { \
        $(pub enum $group { $($name($of),)+ })+ $($(pub struct $name { pub size: $of })+)+ };";
    let call = "#[first] #[second = 1] Small { One -> u8, Two -> Vec<u8>, } Large { Three -> u64, }";
    let expected = "pub enum Small { One(u8), Two(Vec<u8>), } pub enum Large { Three(u64), } \
        pub struct One { pub size: u8 } pub struct Two { pub size: Vec<u8> } pub struct Three { pub size: u64 }";
    let tokens = |text: &str| text.parse::<TokenStream>().expect("the text has tokens");
    let expanded = expand(tokens(definition), tokens(call)).expect("the call matches");
    assert_eq!(expanded.to_string(), tokens(expected).to_string());
    assert!(expand(tokens(definition), tokens("Small [ One ]")).is_none());
}

//! Splits the text of an expression into tokens. The lexer never fails: a character outside the language becomes a
//! [`TokenKind::Unknown`] token, which no grammar accepts, so that the parser reports it at its position.

use super::ast::Comparator;

/// A token with its position in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Token<'t> {
    pub(crate) kind: TokenKind,
    pub(crate) text: &'t str,
    /// Byte offset of the first character.
    pub(crate) start: usize,
}

impl Token<'_> {
    /// Returns the byte offset after the last character.
    pub(crate) fn end(&self) -> usize {
        self.start + self.text.len()
    }

    /// Returns whether the token is this keyword, ignoring case.
    pub(crate) fn is_keyword(&self, keyword: &str) -> bool {
        self.kind == TokenKind::Keyword && self.text.eq_ignore_ascii_case(keyword)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TokenKind {
    /// A function or attribute name.
    Word,
    /// A reserved word of the grammar.
    Keyword,
    /// `#name`
    Name,
    /// `:value`
    Value,
    /// Decimal digits.
    Number,
    Comparator(Comparator),
    Open,
    Close,
    OpenIndex,
    CloseIndex,
    Comma,
    Dot,
    Plus,
    Minus,
    /// A character that is not part of the language.
    Unknown,
}

/// Splits a text into tokens. A word that matches one of `keywords`, ignoring case, becomes a keyword.
pub(crate) fn tokens<'t>(text: &'t str, keywords: &[&str]) -> Vec<Token<'t>> {
    let mut tokens = Vec::with_capacity(text.len() / 4 + 1);
    let mut start = 0;
    while let Some(first) = text[start..].chars().next() {
        if matches!(first, ' ' | '\t' | '\r' | '\n') {
            start += 1;
            continue;
        }
        let (mut kind, length) = next_token(&text[start..], first);
        let token = &text[start..start + length];
        if kind == TokenKind::Word && keywords.iter().any(|keyword| keyword.eq_ignore_ascii_case(token)) {
            kind = TokenKind::Keyword;
        }
        tokens.push(Token { kind, text: token, start });
        start += length;
    }
    tokens
}

fn next_token(rest: &str, first: char) -> (TokenKind, usize) {
    match first {
        'a'..='z' | 'A'..='Z' => (TokenKind::Word, word_length(rest)),
        '0'..='9' => (TokenKind::Number, length_of(rest, |byte| byte.is_ascii_digit())),
        '#' | ':' => placeholder(rest, first),
        '<' | '>' | '=' => comparator(rest),
        '(' => (TokenKind::Open, 1),
        ')' => (TokenKind::Close, 1),
        '[' => (TokenKind::OpenIndex, 1),
        ']' => (TokenKind::CloseIndex, 1),
        ',' => (TokenKind::Comma, 1),
        '.' => (TokenKind::Dot, 1),
        '+' => (TokenKind::Plus, 1),
        '-' => (TokenKind::Minus, 1),
        other => (TokenKind::Unknown, other.len_utf8()),
    }
}

fn placeholder(rest: &str, sigil: char) -> (TokenKind, usize) {
    match word_length(&rest[1..]) {
        0 => (TokenKind::Unknown, 1),
        length if sigil == '#' => (TokenKind::Name, 1 + length),
        length => (TokenKind::Value, 1 + length),
    }
}

fn comparator(rest: &str) -> (TokenKind, usize) {
    let (comparator, length) = match rest.as_bytes() {
        [b'<', b'>', ..] => (Comparator::NotEqual, 2),
        [b'<', b'=', ..] => (Comparator::LessOrEqual, 2),
        [b'>', b'=', ..] => (Comparator::GreaterOrEqual, 2),
        [b'<', ..] => (Comparator::Less, 1),
        [b'>', ..] => (Comparator::Greater, 1),
        _ => (Comparator::Equal, 1),
    };
    (TokenKind::Comparator(comparator), length)
}

fn word_length(rest: &str) -> usize {
    length_of(rest, |byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

fn length_of(rest: &str, belongs: impl Fn(u8) -> bool) -> usize {
    rest.bytes().take_while(|byte| belongs(*byte)).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_cut_into_tokens() {
        for (text, expected) in [
            ("", &[][..]),
            (" \t\r\n", &[]),
            ("a=:b", &["a", "=", ":b"]),
            ("#a1.b_c[10]", &["#a1", ".", "b_c", "[", "10", "]"]),
            ("a<=b<>c>=d", &["a", "<=", "b", "<>", "c", ">=", "d"]),
            ("1a", &["1", "a"]),
            ("_a a_1 #_", &["_", "a", "a_1", "#_"]),
            ("a-b @ é#", &["a", "-", "b", "@", "é", "#"]),
        ] {
            let found: Vec<&str> = tokens(text, &["and"]).iter().map(|token| token.text).collect();
            assert_eq!(found, expected, "{text}");
        }
    }
}

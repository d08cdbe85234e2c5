//! JSON strings. Runs of characters without escapes are copied as a whole, both when reading and when writing.

use std::borrow::Cow;

/// Parses a string after its opening quote. Returns the string and the number of bytes up to and including its
/// closing quote.
pub(crate) fn read(rest: &str) -> Option<(Cow<'_, str>, usize)> {
    let length = run_length(rest);
    match rest.as_bytes().get(length)? {
        b'"' => Some((Cow::Borrowed(&rest[..length]), length + 1)),
        b'\\' => read_escaped(rest, length).map(|(string, length)| (Cow::Owned(string), length)),
        _ => None,
    }
}

/// Appends a string with its quotes.
pub(crate) fn write(out: &mut Vec<u8>, string: &str) {
    out.push(b'"');
    let mut rest = string;
    loop {
        let length = run_length(rest);
        out.extend_from_slice(&rest.as_bytes()[..length]);
        match rest.as_bytes().get(length) {
            None => break,
            Some(&byte) => write_escape(out, byte),
        }
        rest = &rest[length + 1..];
    }
    out.push(b'"');
}

/// Returns the number of leading bytes that need no escape: no quote, backslash or control character.
fn run_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(chunk) = bytes.get(at..).and_then(|rest| rest.first_chunk::<8>()) {
        if word_is_special(u64::from_le_bytes(*chunk)) {
            break;
        }
        at += 8;
    }
    bytes[at..].iter().position(|&byte| is_special(byte)).map_or(bytes.len(), |offset| at + offset)
}

fn is_special(byte: u8) -> bool {
    byte < 0x20 || byte == b'"' || byte == b'\\'
}

/// Returns whether one of eight bytes may be special; a false positive only costs time. The subtraction sets the high
/// bit of each byte that is below the subtrahend; bytes whose own high bit is set are masked out.
fn word_is_special(word: u64) -> bool {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGHS: u64 = 0x8080_8080_8080_8080;
    let below = |word: u64, limit: u64| word.wrapping_sub(ONES * limit) & !word;
    let control = below(word, 0x20);
    let quote = below(word ^ (ONES * u64::from(b'"')), 1);
    let backslash = below(word ^ (ONES * u64::from(b'\\')), 1);
    (control | quote | backslash) & HIGHS != 0
}

fn read_escaped(rest: &str, first: usize) -> Option<(String, usize)> {
    let mut string = String::with_capacity(first + 16);
    let mut at = 0;
    loop {
        let length = run_length(&rest[at..]);
        string.push_str(&rest[at..at + length]);
        at += length;
        match rest.as_bytes().get(at)? {
            b'"' => return Some((string, at + 1)),
            b'\\' => at += read_escape(&rest[at..], &mut string)?,
            _ => return None,
        }
    }
}

/// Parses one escape (two for a surrogate pair). Returns the number of bytes it takes.
fn read_escape(rest: &str, string: &mut String) -> Option<usize> {
    let simple = match rest.as_bytes().get(1)? {
        b'"' => '"',
        b'\\' => '\\',
        b'/' => '/',
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        b'n' => '\n',
        b'r' => '\r',
        b't' => '\t',
        b'u' => return read_unicode(rest, string),
        _ => return None,
    };
    string.push(simple);
    Some(2)
}

/// Parses a `\u` escape. A lone surrogate is not a character and has no UTF-8 encoding. DynamoDB rejects it as
/// malformed JSON; a replacement character would make two different strings equal.
fn read_unicode(rest: &str, string: &mut String) -> Option<usize> {
    let first = hex_unit(rest)?;
    let second = rest.get(6..).and_then(hex_unit);
    if let (0xd800..0xdc00, Some(low @ 0xdc00..0xe000)) = (first, second) {
        string.push(char::from_u32(0x10000 + ((first - 0xd800) << 10) + (low - 0xdc00))?);
        return Some(12);
    }
    string.push(char::from_u32(first)?);
    Some(6)
}

/// Parses the code unit of `\uXXXX`.
fn hex_unit(text: &str) -> Option<u32> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    if !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    u32::from_str_radix(digits, 16).ok()
}

fn write_escape(out: &mut Vec<u8>, byte: u8) {
    match byte {
        b'"' => out.extend_from_slice(b"\\\""),
        b'\\' => out.extend_from_slice(b"\\\\"),
        b'\n' => out.extend_from_slice(b"\\n"),
        b'\r' => out.extend_from_slice(b"\\r"),
        b'\t' => out.extend_from_slice(b"\\t"),
        0x8 => out.extend_from_slice(b"\\b"),
        0xc => out.extend_from_slice(b"\\f"),
        _ => write_control(out, byte),
    }
}

fn write_control(out: &mut Vec<u8>, byte: u8) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    out.extend_from_slice(b"\\u00");
    out.push(HEX[usize::from(byte >> 4)]);
    out.push(HEX[usize::from(byte & 15)]);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(json: &str, expected: Option<&str>) {
        assert_eq!(read(json).map(|(string, _)| string.into_owned()).as_deref(), expected, "{json}");
    }

    #[test]
    fn escapes_are_read() {
        check(r#"plain and long enough for words""#, Some("plain and long enough for words"));
        check(r#"a\"b\\c\/d\b\f\n\r\t""#, Some("a\"b\\c/d\u{8}\u{c}\n\r\t"));
        check(r#"\u00e9\ud83d\ude00x""#, Some("é😀x"));
        check(r#"\ud83d\ude00\ud83d\ude00""#, Some("😀😀"));
        check(r#"\u12""#, None);
        check(r#"\q""#, None);
        check("no end", None);
        check("line\nbreak\"", None);
    }

    #[test]
    fn half_a_surrogate_pair_is_refused() {
        for json in
            [r#"\ud800""#, r#"\ud83dx""#, r#"\udc00""#, r#"\ude00\ud83d""#, r#"\ud83d\ud83d\ude00""#, r#"\uD83D\n""#]
        {
            check(json, None);
        }
    }

    #[test]
    fn what_is_written_is_read_again() {
        for string in ["", "plain", "quote\" slash\\ control\u{1} é 😀 \u{7f}", "12345678\n12345678\""] {
            let mut out = Vec::new();
            write(&mut out, string);
            let json = String::from_utf8(out).expect("strings stay UTF-8");
            check(&json[1..], Some(string));
        }
    }
}

//! JSON writer that appends members and elements and inserts the commas.

use std::fmt::Write as _;

use super::escape;

/// Appends JSON to a buffer.
pub(crate) struct Writer<'a> {
    out: &'a mut Vec<u8>,
}

impl<'a> Writer<'a> {
    pub(crate) fn new(out: &'a mut Vec<u8>) -> Self {
        Self { out }
    }

    /// Writes an object; `fill` writes its members, each after its [`Writer::name`].
    pub(crate) fn object(&mut self, fill: impl FnOnce(&mut Writer<'_>)) {
        self.out.push(b'{');
        fill(self);
        self.out.push(b'}');
    }

    /// Writes an array with one element for each of `elements`.
    pub(crate) fn array<T>(
        &mut self,
        elements: impl IntoIterator<Item = T>,
        mut element: impl FnMut(&mut Writer<'_>, T),
    ) {
        self.out.push(b'[');
        for value in elements {
            self.separate();
            element(self, value);
        }
        self.out.push(b']');
    }

    /// Writes the name of the next member, escaped as needed.
    pub(crate) fn name(&mut self, name: &str) {
        self.separate();
        escape::write(self.out, name);
        self.out.push(b':');
    }

    /// Writes a string, escaped as needed.
    pub(crate) fn string(&mut self, string: &str) {
        escape::write(self.out, string);
    }

    /// Writes a string that needs no escapes.
    pub(crate) fn plain(&mut self, string: impl std::fmt::Display) {
        self.out.push(b'"');
        self.text(format_args!("{string}"));
        self.out.push(b'"');
    }

    /// Writes bytes as a base64 string.
    pub(crate) fn base64(&mut self, bytes: &[u8]) {
        self.out.push(b'"');
        let start = self.out.len();
        self.out.resize(start + bytes.len().div_ceil(3) * 4, 0);
        let written =
            base64::Engine::encode_slice(&base64::engine::general_purpose::STANDARD, bytes, &mut self.out[start..]);
        debug_assert_eq!(written.ok(), Some(self.out.len() - start));
        self.out.push(b'"');
    }

    /// Writes `true` or `false`.
    pub(crate) fn boolean(&mut self, value: bool) {
        self.out.extend_from_slice(if value { b"true" } else { b"false" });
    }

    /// Writes a number with at least one decimal: `1.0`, `0.5`.
    pub(crate) fn decimal(&mut self, number: f64) {
        self.text(format_args!("{number:?}"));
    }

    /// Writes a member that is an object.
    pub(crate) fn object_member(&mut self, name: &str, fill: impl FnOnce(&mut Writer<'_>)) {
        self.name(name);
        self.object(fill);
    }

    /// Writes a member that is a string.
    pub(crate) fn string_member(&mut self, name: &str, string: &str) {
        self.name(name);
        self.string(string);
    }

    /// Writes a member that is a string without escapes.
    pub(crate) fn plain_member(&mut self, name: &str, string: impl std::fmt::Display) {
        self.name(name);
        self.plain(string);
    }

    /// Writes a member that is a boolean.
    pub(crate) fn boolean_member(&mut self, name: &str, value: bool) {
        self.name(name);
        self.boolean(value);
    }

    /// Writes a member that is an unsigned integer.
    pub(crate) fn whole_member(&mut self, name: &str, number: u64) {
        self.name(name);
        self.text(format_args!("{number}"));
    }

    /// Writes a member that is a signed integer.
    pub(crate) fn signed_member(&mut self, name: &str, number: i64) {
        self.name(name);
        self.text(format_args!("{number}"));
    }

    /// Writes a member that is a number with at least one decimal.
    pub(crate) fn decimal_member(&mut self, name: &str, number: f64) {
        self.name(name);
        self.decimal(number);
    }

    /// Writes a member that is a timestamp: seconds since the Unix epoch with three decimals.
    pub(crate) fn moment_member(&mut self, name: &str, milliseconds: u64) {
        self.name(name);
        self.text(format_args!("{}.{:03}", milliseconds / 1000, milliseconds % 1000));
    }

    fn text(&mut self, text: std::fmt::Arguments<'_>) {
        let written = Text(self.out).write_fmt(text);
        debug_assert!(written.is_ok(), "appending to a vector cannot fail");
    }

    /// Writes a comma unless this is the first member or element. The last byte is an opening bracket only directly
    /// after one was written, because strings end with their quote.
    fn separate(&mut self) {
        if !matches!(self.out.last(), Some(b'{' | b'[') | None) {
            self.out.push(b',');
        }
    }
}

/// Adapter for appending formatted text to a buffer.
struct Text<'a>(&'a mut Vec<u8>);

impl std::fmt::Write for Text<'_> {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        self.0.extend_from_slice(text.as_bytes());
        Ok(())
    }
}

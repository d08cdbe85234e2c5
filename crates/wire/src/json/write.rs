//! A writer: members and elements are appended, commas come by themselves.

use std::fmt::Write as _;

use super::escape;

/// Appends JSON to a buffer.
pub(crate) struct Writer<'a> {
    out: &'a mut Vec<u8>,
}

impl<'a> Writer<'a> {
    /// Appends to `out`.
    pub(crate) fn new(out: &'a mut Vec<u8>) -> Self {
        Self { out }
    }

    /// An object whose members `fill` writes, each after its [`Writer::name`].
    pub(crate) fn object(&mut self, fill: impl FnOnce(&mut Writer<'_>)) {
        self.out.push(b'{');
        fill(self);
        self.out.push(b'}');
    }

    /// An array with one element for each of `elements`.
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

    /// The name of the next member; any string.
    pub(crate) fn name(&mut self, name: &str) {
        self.separate();
        escape::write(self.out, name);
        self.out.push(b':');
    }

    /// A string.
    pub(crate) fn string(&mut self, string: &str) {
        escape::write(self.out, string);
    }

    /// A string that needs no escape.
    pub(crate) fn plain(&mut self, string: impl std::fmt::Display) {
        self.out.push(b'"');
        self.text(format_args!("{string}"));
        self.out.push(b'"');
    }

    /// A string of base64.
    pub(crate) fn base64(&mut self, bytes: &[u8]) {
        self.out.push(b'"');
        let start = self.out.len();
        self.out.resize(start + bytes.len().div_ceil(3) * 4, 0);
        let written =
            base64::Engine::encode_slice(&base64::engine::general_purpose::STANDARD, bytes, &mut self.out[start..]);
        debug_assert_eq!(written.ok(), Some(self.out.len() - start));
        self.out.push(b'"');
    }

    /// `true` or `false`.
    pub(crate) fn boolean(&mut self, value: bool) {
        self.out.extend_from_slice(if value { b"true" } else { b"false" });
    }

    /// A number with at least one decimal: `1.0`, `0.5`.
    pub(crate) fn decimal(&mut self, number: f64) {
        self.text(format_args!("{number:?}"));
    }

    /// A member that is an object.
    pub(crate) fn object_member(&mut self, name: &str, fill: impl FnOnce(&mut Writer<'_>)) {
        self.name(name);
        self.object(fill);
    }

    /// A member that is a string.
    pub(crate) fn string_member(&mut self, name: &str, string: &str) {
        self.name(name);
        self.string(string);
    }

    /// A member that is a string without escapes.
    pub(crate) fn plain_member(&mut self, name: &str, string: impl std::fmt::Display) {
        self.name(name);
        self.plain(string);
    }

    /// A member that is a boolean.
    pub(crate) fn boolean_member(&mut self, name: &str, value: bool) {
        self.name(name);
        self.boolean(value);
    }

    /// A member that is a whole number.
    pub(crate) fn whole_member(&mut self, name: &str, number: u64) {
        self.name(name);
        self.text(format_args!("{number}"));
    }

    /// A member that is a whole number and may be below zero.
    pub(crate) fn signed_member(&mut self, name: &str, number: i64) {
        self.name(name);
        self.text(format_args!("{number}"));
    }

    /// A member that is a number with at least one decimal.
    pub(crate) fn decimal_member(&mut self, name: &str, number: f64) {
        self.name(name);
        self.decimal(number);
    }

    /// A member that is a moment: seconds of the Unix epoch with three decimals.
    pub(crate) fn moment_member(&mut self, name: &str, milliseconds: u64) {
        self.name(name);
        self.text(format_args!("{}.{:03}", milliseconds / 1000, milliseconds % 1000));
    }

    fn text(&mut self, text: std::fmt::Arguments<'_>) {
        let written = Text(self.out).write_fmt(text);
        debug_assert!(written.is_ok(), "appending to a vector cannot fail");
    }

    /// A comma, unless this is the first member or element.
    fn separate(&mut self) {
        if !matches!(self.out.last(), Some(b'{' | b'[') | None) {
            self.out.push(b',');
        }
    }
}

/// A buffer that formatted text is appended to.
struct Text<'a>(&'a mut Vec<u8>);

impl std::fmt::Write for Text<'_> {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        self.0.extend_from_slice(text.as_bytes());
        Ok(())
    }
}

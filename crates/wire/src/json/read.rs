//! Pull reader: the caller requests the value it expects next and the reader advances. Only
//! strings with escapes are copied.
//!
//! ```text
//! {"TableName":"t","Key":{…},"Bogus":[1,2]}
//!  object(|reader, name| match name { "TableName" => reader.string(), …, _ => reader.skip() })
//! ```
//!
//! Malformed JSON yields DynamoDB's SerializationException. The reader does not recurse: [`Reader::skip`] keeps its
//! own stack, so that deep nesting cannot overflow the call stack.

use std::borrow::Cow;

use keyform_core::Error;
use keyform_core::error::request;

use super::escape;

/// Kind of the next value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Null,
    True,
    False,
    Number,
    String,
    Array,
    Object,
}

/// Position in a JSON text.
pub(crate) struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Reader<'a> {
    /// Creates a reader at the start of a body.
    pub(crate) fn new(body: &'a [u8]) -> Result<Self, Error> {
        let text = std::str::from_utf8(body).map_err(|_| request::malformed_json())?;
        Ok(Self { text, at: 0 })
    }

    /// Skips white space and returns the kind of the next value without consuming it.
    pub(crate) fn peek(&mut self) -> Result<Kind, Error> {
        match self.next_byte()? {
            b'n' => Ok(Kind::Null),
            b't' => Ok(Kind::True),
            b'f' => Ok(Kind::False),
            b'"' => Ok(Kind::String),
            b'[' => Ok(Kind::Array),
            b'{' => Ok(Kind::Object),
            b'-' | b'0'..=b'9' => Ok(Kind::Number),
            _ => Err(request::malformed_json()),
        }
    }

    /// Consumes `null`, `true` or `false`, as returned by [`Reader::peek`].
    pub(crate) fn literal(&mut self, kind: Kind) -> Result<(), Error> {
        let word = match kind {
            Kind::Null => "null",
            Kind::True => "true",
            _ => "false",
        };
        self.next_byte()?;
        if !self.rest().starts_with(word) {
            return Err(request::malformed_json());
        }
        self.at += word.len();
        Ok(())
    }

    /// Consumes a number and returns its text.
    pub(crate) fn number(&mut self) -> Result<&'a str, Error> {
        self.next_byte()?;
        let rest = self.rest();
        let length = rest.bytes().position(|byte| !is_number_byte(byte)).unwrap_or(rest.len());
        let number = &rest[..length];
        if !is_number(number) {
            return Err(request::malformed_json());
        }
        self.at += length;
        Ok(number)
    }

    /// Consumes a string.
    pub(crate) fn string(&mut self) -> Result<Cow<'a, str>, Error> {
        self.expect(b'"')?;
        let (string, length) = escape::read(self.rest()).ok_or_else(request::malformed_json)?;
        self.at += length;
        Ok(string)
    }

    /// Consumes an object; `field` must consume the value of each member.
    pub(crate) fn object(
        &mut self,
        mut field: impl FnMut(&mut Self, Cow<'a, str>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        self.expect(b'{')?;
        if self.accept(b'}')? {
            return Ok(());
        }
        loop {
            let name = self.string()?;
            self.expect(b':')?;
            field(self, name)?;
            if self.accept(b'}')? {
                return Ok(());
            }
            self.expect(b',')?;
        }
    }

    /// Consumes an array; `element` must consume each element.
    pub(crate) fn array(&mut self, mut element: impl FnMut(&mut Self) -> Result<(), Error>) -> Result<(), Error> {
        self.expect(b'[')?;
        if self.accept(b']')? {
            return Ok(());
        }
        loop {
            element(self)?;
            if self.accept(b']')? {
                return Ok(());
            }
            self.expect(b',')?;
        }
    }

    /// Consumes one value of any kind and depth.
    pub(crate) fn skip(&mut self) -> Result<(), Error> {
        let mut closers: Vec<u8> = Vec::new();
        loop {
            match self.peek()? {
                kind @ (Kind::Null | Kind::True | Kind::False) => self.literal(kind)?,
                Kind::Number => drop(self.number()?),
                Kind::String => drop(self.string()?),
                Kind::Array => {
                    self.expect(b'[')?;
                    if !self.accept(b']')? {
                        closers.push(b']');
                        continue;
                    }
                }
                Kind::Object => {
                    self.expect(b'{')?;
                    if !self.accept(b'}')? {
                        closers.push(b'}');
                        self.name()?;
                        continue;
                    }
                }
            }
            if self.close(&mut closers)? {
                return Ok(());
            }
        }
    }

    /// Checks that only white space follows.
    pub(crate) fn end(&mut self) -> Result<(), Error> {
        match self.rest().bytes().all(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r')) {
            true => Ok(()),
            false => Err(request::malformed_json()),
        }
    }

    /// Closes the containers that end after a value. Returns true if the outermost value is complete, false if
    /// another value follows.
    fn close(&mut self, closers: &mut Vec<u8>) -> Result<bool, Error> {
        while let Some(&closer) = closers.last() {
            if !self.accept(closer)? {
                self.expect(b',')?;
                if closer == b'}' {
                    self.name()?;
                }
                return Ok(false);
            }
            closers.pop();
        }
        Ok(true)
    }

    fn name(&mut self) -> Result<(), Error> {
        self.string()?;
        self.expect(b':')
    }

    fn expect(&mut self, byte: u8) -> Result<(), Error> {
        if self.accept(byte)? { Ok(()) } else { Err(request::malformed_json()) }
    }

    fn accept(&mut self, byte: u8) -> Result<bool, Error> {
        let found = self.next_byte()? == byte;
        self.at += usize::from(found);
        Ok(found)
    }

    /// Skips white space and returns the next byte without consuming it.
    fn next_byte(&mut self) -> Result<u8, Error> {
        let bytes = self.text.as_bytes();
        loop {
            match bytes.get(self.at) {
                Some(b' ' | b'\t' | b'\n' | b'\r') => self.at += 1,
                Some(&byte) => return Ok(byte),
                None => return Err(request::malformed_json()),
            }
        }
    }

    /// Returns the remaining text. `at` is always on a character boundary, because only ASCII
    /// is consumed byte by byte.
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }
}

fn is_number_byte(byte: u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E')
}

/// Returns whether the text matches JSON's number grammar.
fn is_number(text: &str) -> bool {
    let unsigned = text.strip_prefix('-').unwrap_or(text);
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent.strip_prefix(['+', '-']).unwrap_or(exponent))),
        None => (unsigned, None),
    };
    let (whole, fraction) = match mantissa.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (mantissa, None),
    };
    let leading_zero = whole.len() > 1 && whole.starts_with('0');
    is_digits(whole) && !leading_zero && fraction.is_none_or(is_digits) && exponent.is_none_or(is_digits)
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn skips(text: &str) -> bool {
        let mut reader = Reader::new(text.as_bytes()).expect("test texts are UTF-8");
        reader.skip().and_then(|()| reader.end()).is_ok()
    }

    #[test]
    fn skip_accepts_exactly_json() {
        for text in ["{}", " [ ] ", r#"{"a":[1,{"b":null}],"c":"\u00e9\n"}"#, "-0.5e+10", "true", r#""""#, "[[],[],{}]"]
        {
            assert!(skips(text), "{text}");
        }
        for text in
            ["", "{", "[1,]", "{,}", r#"{"a"}"#, "01", "1.", "-", "tru", "nulll", "\"\n\"", r#""\x""#, "[1 2]", "{} x"]
        {
            assert!(!skips(text), "{text}");
        }
    }

    #[test]
    fn skip_bears_any_depth() {
        let deep = "[".repeat(200_000);
        assert!(!skips(&deep));
        assert!(skips(&format!("{deep}{}", "]".repeat(200_000))));
    }
}

//! Finds the boundaries of requests in a byte stream, more strictly than hyper does.
//!
//! A proxy and a server that disagree on the end of a request let a client smuggle a second one past the proxy. hyper
//! accepts, and hides from the service, some of the forms that parsers disagree on. This module rejects them:
//! - a line that ends with LF alone;
//! - `Content-Length` twice, even with the same value, or together with `Transfer-Encoding`;
//! - `Transfer-Encoding` twice, or with a value other than `chunked`.
//!
//! hyper itself rejects folded lines, a space before the colon, a non-numeric length and control characters.
//!
//! ```text
//! POST / HTTP/1.1 CRLF  content-length: 2 CRLF  CRLF  {}  GET …
//! └───────────── Head ─────────────────────────────┘ Body └ Head
//! ```

/// Bytes kept of a line: enough for a framing header or a chunk size.
const LINE_BYTES_MAX: usize = 64;

/// Reason for rejecting a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Defect {
    BareLineFeed,
    ContentLength,
    TransferEncoding,
    LengthAndEncoding,
    ChunkSize,
    ChunkEnd,
}

/// Parser state of one connection.
#[derive(Debug, Default)]
pub(crate) struct Framing {
    part: Part,
    line: Line,
    /// Set after the request line.
    begun: bool,
    length: Option<u64>,
    chunked: bool,
}

/// Part of a request that the next byte belongs to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Part {
    #[default]
    Head,
    Body {
        left: u64,
    },
    ChunkSize,
    Chunk {
        left: u64,
    },
    ChunkEnd,
    Trailer,
}

/// Beginning of an incomplete line.
#[derive(Debug)]
struct Line {
    bytes: [u8; LINE_BYTES_MAX],
    /// Length of the whole line so far; may exceed the bytes kept.
    length: usize,
    last: u8,
}

impl Default for Line {
    fn default() -> Self {
        Self { bytes: [0; LINE_BYTES_MAX], length: 0, last: 0 }
    }
}

impl Line {
    fn push(&mut self, bytes: &[u8]) {
        let Some(last) = bytes.last() else { return };
        let kept = self.length.min(LINE_BYTES_MAX);
        let more = bytes.len().min(LINE_BYTES_MAX - kept);
        self.bytes[kept..kept + more].copy_from_slice(&bytes[..more]);
        self.length += bytes.len();
        self.last = *last;
    }

    /// Returns the kept bytes of the line without its CR.
    fn text(&self) -> &[u8] {
        &self.bytes[..self.length.saturating_sub(1).min(LINE_BYTES_MAX)]
    }

    fn is_whole(&self) -> bool {
        self.length <= LINE_BYTES_MAX
    }

    fn clear(&mut self) {
        (self.length, self.last) = (0, 0);
    }
}

impl Framing {
    /// Parses the next bytes.
    ///
    /// # Errors
    /// The position of the first byte that must not be processed, and the defect.
    pub(crate) fn follow(&mut self, bytes: &[u8]) -> Result<(), (usize, Defect)> {
        let mut position = 0;
        while position < bytes.len() {
            let rest = &bytes[position..];
            let taken = match self.part {
                Part::Body { left } => self.skip(left, rest),
                Part::Chunk { left } => self.skip(left, rest),
                Part::Head | Part::ChunkSize | Part::ChunkEnd | Part::Trailer => {
                    let end = rest.iter().position(|byte| *byte == b'\n');
                    self.line.push(&rest[..end.unwrap_or(rest.len())]);
                    if let Some(end) = end {
                        self.end_line().map_err(|defect| (position + end, defect))?;
                    }
                    end.map_or(rest.len(), |end| end + 1)
                }
            };
            position += taken;
        }
        Ok(())
    }

    /// Returns whether the connection is between two requests.
    pub(crate) fn is_idle(&self) -> bool {
        self.part == Part::Head && !self.begun && self.line.length == 0
    }

    /// Skips available body bytes and returns their number.
    fn skip(&mut self, left: u64, rest: &[u8]) -> usize {
        let taken = usize::try_from(left).unwrap_or(usize::MAX).min(rest.len());
        let left = left - taken as u64;
        self.part = match self.part {
            Part::Chunk { .. } if left == 0 => Part::ChunkEnd,
            Part::Chunk { .. } => Part::Chunk { left },
            _ if left == 0 => Part::Head,
            _ => Part::Body { left },
        };
        taken
    }

    fn end_line(&mut self) -> Result<(), Defect> {
        if self.line.last != b'\r' {
            return Err(Defect::BareLineFeed);
        }
        let is_empty = self.line.length == 1;
        match self.part {
            Part::Head if is_empty && self.begun => self.end_head(),
            // Skip empty lines before a request, as RFC 9112 recommends.
            Part::Head if is_empty => {}
            Part::Head if self.begun => self.header()?,
            Part::Head => self.begun = true,
            Part::ChunkSize => self.part = self.chunk_size()?,
            Part::ChunkEnd if is_empty => self.part = Part::ChunkSize,
            Part::ChunkEnd => return Err(Defect::ChunkEnd),
            Part::Trailer if is_empty => self.end_body(),
            Part::Trailer => {}
            Part::Body { .. } | Part::Chunk { .. } => unreachable!("bodies have no lines"),
        }
        self.line.clear();
        Ok(())
    }

    fn header(&mut self) -> Result<(), Defect> {
        let line = self.line.text();
        let Some(colon) = line.iter().position(|byte| *byte == b':') else { return Ok(()) };
        let (name, value) = (&line[..colon], line[colon + 1..].trim_ascii());
        if name.eq_ignore_ascii_case(b"content-length") {
            let length = Some(value).filter(|_| self.line.is_whole()).and_then(|digits| number(digits, 10));
            if self.length.is_some() || length.is_none() {
                return Err(Defect::ContentLength);
            }
            self.length = length;
        } else if name.eq_ignore_ascii_case(b"transfer-encoding") {
            if self.chunked || !self.line.is_whole() || !value.eq_ignore_ascii_case(b"chunked") {
                return Err(Defect::TransferEncoding);
            }
            self.chunked = true;
        }
        if self.chunked && self.length.is_some() { Err(Defect::LengthAndEncoding) } else { Ok(()) }
    }

    fn end_head(&mut self) {
        self.part = match self.length.take() {
            _ if self.chunked => Part::ChunkSize,
            Some(left) if left > 0 => Part::Body { left },
            _ => Part::Head,
        };
        (self.chunked, self.begun) = (false, false);
    }

    fn chunk_size(&self) -> Result<Part, Defect> {
        let line = self.line.text();
        let digits = line.split(|byte| *byte == b';').next().unwrap_or_default().trim_ascii_end();
        match number(digits, 16) {
            Some(0) => Ok(Part::Trailer),
            Some(left) => Ok(Part::Chunk { left }),
            None => Err(Defect::ChunkSize),
        }
    }

    fn end_body(&mut self) {
        self.part = Part::Head;
    }
}

/// Parses a number that consists of digits only: no sign, no spaces.
fn number(digits: &[u8], radix: u32) -> Option<u64> {
    let plain = digits.iter().all(|byte| char::from(*byte).is_digit(radix));
    std::str::from_utf8(digits).ok().filter(|_| plain).and_then(|digits| u64::from_str_radix(digits, radix).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Parses the text in pieces of every size; the outcome must not depend on the size.
    fn outcome(text: &str) -> Result<bool, (usize, Defect)> {
        let follow = |size: usize| {
            let mut framing = Framing::default();
            for (number, piece) in text.as_bytes().chunks(size).enumerate() {
                framing.follow(piece).map_err(|(position, defect)| (number * size + position, defect))?;
            }
            Ok(framing.is_idle())
        };
        let whole = follow(text.len().max(1));
        for size in 1..text.len() {
            assert_eq!(follow(size), whole, "{text:?} in pieces of {size}");
        }
        whole
    }

    #[test]
    fn requests_are_followed_to_their_ends() {
        for (text, idle) in [
            ("GET / HTTP/1.1\r\nhost: a\r\n\r\n", true),
            ("\r\n\r\nGET / HTTP/1.1\r\n\r\n", true),
            ("GET / HTTP/1.1\r\nhost: a\r\n", false),
            ("POST / HTTP/1.1\r\ncontent-length: 5\r\n\r\n\n\n\n\n\n", true),
            ("POST / HTTP/1.1\r\nContent-Length:5\r\n\r\n\n\n\n", false),
            ("POST / HTTP/1.1\r\ncontent-length: 0\r\n\r\nGET / HTTP/1.1\r\n\r\n", true),
            (
                "POST / HTTP/1.1\r\ntransfer-encoding: Chunked\r\n\r\n3\r\n\n\n\n\r\nA;x=y\r\n0123456789\r\n0\r\n\r\n",
                true,
            ),
            ("POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n0\r\na: b\r\n\r\nGET / HTTP/1.1\r\n\r\n", true),
            ("POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n0\r\na: b\r\n", false),
        ] {
            assert_eq!(outcome(text), Ok(idle), "{text:?}");
        }
        let long = format!("GET /{} HTTP/1.1\r\nx: {}\r\n\r\n", "a".repeat(200), "b".repeat(200));
        assert_eq!(outcome(&long), Ok(true));
    }

    #[test]
    fn forms_that_parsers_disagree_on_are_defects() {
        for (text, expected) in [
            ("GET / HTTP/1.1\nhost: a\n\n", Defect::BareLineFeed),
            ("GET / HTTP/1.1\r\nhost: a\n\r\n", Defect::BareLineFeed),
            ("GET / HTTP/1.1\r\nhost: a\r\n\n", Defect::BareLineFeed),
            ("\nGET / HTTP/1.1\r\n\r\n", Defect::BareLineFeed),
            ("POST / HTTP/1.1\r\ncontent-length: 1\r\n\r\nx\nGET", Defect::BareLineFeed),
            ("P / HTTP/1.1\r\ncontent-length: 1\r\nContent-Length: 1\r\n\r\nx", Defect::ContentLength),
            ("P / HTTP/1.1\r\ncontent-length: 1, 1\r\n\r\nx", Defect::ContentLength),
            ("P / HTTP/1.1\r\ncontent-length: +1\r\n\r\nx", Defect::ContentLength),
            ("P / HTTP/1.1\r\ncontent-length:\r\n\r\nx", Defect::ContentLength),
            ("P / HTTP/1.1\r\ncontent-length: 99999999999999999999\r\n\r\nx", Defect::ContentLength),
            ("P / HTTP/1.1\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n", Defect::LengthAndEncoding),
            ("P / HTTP/1.1\r\ntransfer-encoding: chunked\r\ncontent-length: 5\r\n\r\n", Defect::LengthAndEncoding),
            ("P / HTTP/1.1\r\ntransfer-encoding: gzip, chunked\r\n\r\n", Defect::TransferEncoding),
            (
                "P / HTTP/1.1\r\ntransfer-encoding: chunked\r\ntransfer-encoding: chunked\r\n\r\n",
                Defect::TransferEncoding,
            ),
            ("P / HTTP/1.1\r\ntransfer-encoding: identity\r\n\r\n", Defect::TransferEncoding),
            ("P / HTTP/1.1\r\ntransfer-encoding: \x0bchunked\r\n\r\n", Defect::TransferEncoding),
            ("P / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n-1\r\n", Defect::ChunkSize),
            ("P / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n\r\n", Defect::ChunkSize),
            ("P / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n0x1\r\n", Defect::ChunkSize),
            ("P / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n1\nx\r\n", Defect::BareLineFeed),
            ("P / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n1\r\nxy\r\n", Defect::ChunkEnd),
            ("P / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n11111111111111111\r\n", Defect::ChunkSize),
        ] {
            assert_eq!(outcome(text).map_err(|(_, defect)| defect), Err(expected), "{text:?}");
        }
        let padded = format!("P / HTTP/1.1\r\ncontent-length: {}1\r\n\r\n", " ".repeat(80));
        assert_eq!(outcome(&padded).map_err(|(_, defect)| defect), Err(Defect::ContentLength));
    }
}

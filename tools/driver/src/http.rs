//! HTTP/1.1 as far as a DynamoDB client needs it: one request at a time over a kept-alive connection.
//!
//! [`request`] makes the bytes of a signed request, [`answer_in`] finds a whole answer in a buffer (so that an
//! event loop may use it), and [`Connection`] does both, blocking, with a timeout.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use crate::sigv4::{CONTENT_TYPE, Signer};

const TIMEOUT: Duration = Duration::from_secs(30);
const ANSWER_BYTES_MAX: usize = 64 << 20;

/// Returns the bytes of a signed `POST /` to a target such as `DynamoDB_20120810.GetItem`.
#[must_use]
pub fn request(signer: &Signer, host: &str, target: &str, body: &[u8]) -> Vec<u8> {
    let mut head = format!(
        "POST / HTTP/1.1\r\nHost: {host}\r\nContent-Type: {CONTENT_TYPE}\r\nX-Amz-Target: {target}\r\nContent-Length: {}\r\n",
        body.len()
    );
    for (name, value) in signer.headers(target, body) {
        head.extend([&name, ": ", &value, "\r\n"]);
    }
    head.push_str("\r\n");
    [head.as_bytes(), body].concat()
}

/// A complete answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The HTTP status.
    pub status: u16,
    /// The body, with any chunking removed.
    pub body: Vec<u8>,
}

/// Returns the complete answer at the start of the buffer and its length in bytes, or `None` while bytes are missing.
///
/// # Errors
/// Returns an error if the bytes are not an HTTP answer.
pub fn answer_in(buffer: &[u8]) -> io::Result<Option<(Answer, usize)>> {
    let Some(end) = find(buffer, b"\r\n\r\n") else { return Ok(None) };
    let head = std::str::from_utf8(&buffer[..end]).map_err(|_| bad("the head is not text"))?;
    let (status, framing) = parse_head(head)?;
    let start = end + 4;
    let framed = match framing {
        Framing::Length(length) => buffer.get(start..start + length).map(|body| (body.to_vec(), start + length)),
        Framing::Chunked => chunks(&buffer[start..])?.map(|(body, taken)| (body, start + taken)),
    };
    Ok(framed.map(|(body, taken)| (Answer { status, body }, taken)))
}

/// Returns the status of the complete answer at the start of the buffer and its length in bytes, or `None` while bytes
/// are missing. Unlike [`answer_in`] it copies nothing, which a load generator needs.
///
/// # Errors
/// Returns an error if the bytes are not an HTTP answer.
pub fn answer_end(buffer: &[u8]) -> io::Result<Option<(u16, usize)>> {
    let Some(end) = find(buffer, b"\r\n\r\n") else { return Ok(None) };
    let head = std::str::from_utf8(&buffer[..end]).map_err(|_| bad("the head is not text"))?;
    match parse_head(head)? {
        (status, Framing::Length(length)) if buffer.len() >= end + 4 + length => Ok(Some((status, end + 4 + length))),
        (_, Framing::Length(_)) => Ok(None),
        (status, Framing::Chunked) => Ok(chunks(&buffer[end + 4..])?.map(|(_, taken)| (status, end + 4 + taken))),
    }
}

enum Framing {
    Length(usize),
    Chunked,
}

fn parse_head(head: &str) -> io::Result<(u16, Framing)> {
    let mut lines = head.split("\r\n");
    let first = lines.next().unwrap_or_default();
    let status = first.split(' ').nth(1).and_then(|text| text.parse().ok()).ok_or_else(|| bad("no status"))?;
    let mut framing = Framing::Length(0);
    for (name, value) in lines.filter_map(|line| line.split_once(':')) {
        if name.eq_ignore_ascii_case("content-length") {
            framing = Framing::Length(value.trim().parse().map_err(|_| bad("bad length"))?);
        } else if name.eq_ignore_ascii_case("transfer-encoding") && value.trim().eq_ignore_ascii_case("chunked") {
            framing = Framing::Chunked;
            break;
        }
    }
    Ok((status, framing))
}

fn chunks(mut rest: &[u8]) -> io::Result<Option<(Vec<u8>, usize)>> {
    let whole = rest.len();
    let mut body = Vec::new();
    loop {
        let Some(end) = find(rest, b"\r\n") else { return Ok(None) };
        let size = std::str::from_utf8(&rest[..end]).ok().and_then(|text| usize::from_str_radix(text.trim(), 16).ok());
        let size = size.ok_or_else(|| bad("bad chunk size"))?;
        let Some(chunk) = rest.get(end + 2..end + 2 + size + 2) else { return Ok(None) };
        body.extend_from_slice(&chunk[..size]);
        rest = &rest[end + 2 + size + 2..];
        if size == 0 {
            return Ok(Some((body, whole - rest.len())));
        }
    }
}

fn find(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    haystack.windows(needle.len()).position(|window| window == needle)
}

fn bad(text: &str) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, text)
}

/// A kept-alive connection that is opened when it is first needed and again after the server closed it.
#[derive(Debug)]
pub struct Connection {
    address: SocketAddr,
    host: String,
    stream: Option<TcpStream>,
    buffer: Vec<u8>,
}

impl Connection {
    /// Creates a connection to an address; sends nothing yet.
    #[must_use]
    pub fn to(address: SocketAddr) -> Self {
        Self { address, host: address.to_string(), stream: None, buffer: Vec::new() }
    }

    /// Signs and sends one request and reads its answer.
    ///
    /// # Errors
    /// Returns an error if the server cannot be reached, closes the connection before it answers, or takes over 30
    /// seconds.
    pub fn call(&mut self, target: &str, body: &[u8]) -> io::Result<Answer> {
        let bytes = request(&Signer::now(&self.host), &self.host, target, body);
        self.exchange(&bytes)
    }

    /// Sends the bytes of a request and reads its answer. Opens a kept connection again, once, if the server closed it
    /// before it answered anything.
    ///
    /// # Errors
    /// Same as [`Connection::call`].
    pub fn exchange(&mut self, bytes: &[u8]) -> io::Result<Answer> {
        let kept = self.stream.is_some();
        match self.exchange_once(bytes) {
            Err(error) if kept && was_closed(&error) => self.exchange_once(bytes),
            outcome => outcome,
        }
    }

    fn exchange_once(&mut self, bytes: &[u8]) -> io::Result<Answer> {
        let outcome = self.try_exchange(bytes);
        if outcome.is_err() {
            self.stream = None;
        }
        outcome
    }

    fn try_exchange(&mut self, bytes: &[u8]) -> io::Result<Answer> {
        let mut stream = match self.stream.take() {
            Some(stream) => stream,
            None => open(self.address)?,
        };
        self.buffer.clear();
        stream.write_all(bytes)?;
        let answer = read_answer(&mut stream, &mut self.buffer)?;
        self.stream = Some(stream);
        Ok(answer)
    }
}

fn open(address: SocketAddr) -> io::Result<TcpStream> {
    let stream = TcpStream::connect_timeout(&address, TIMEOUT)?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(TIMEOUT))?;
    stream.set_write_timeout(Some(TIMEOUT))?;
    Ok(stream)
}

fn was_closed(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::BrokenPipe | ErrorKind::ConnectionReset | ErrorKind::ConnectionAborted)
        || error.kind() == ErrorKind::UnexpectedEof
}

fn read_answer(stream: &mut TcpStream, buffer: &mut Vec<u8>) -> io::Result<Answer> {
    let mut part = [0; 16 << 10];
    loop {
        let read = stream.read(&mut part)?;
        if read == 0 {
            return Err(io::Error::new(ErrorKind::UnexpectedEof, "the server closed the connection"));
        }
        buffer.extend_from_slice(&part[..read]);
        if let Some((answer, _)) = answer_in(buffer)? {
            return Ok(answer);
        }
        if buffer.len() > ANSWER_BYTES_MAX {
            return Err(bad("the answer is too long"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whole(text: &str) -> Option<(u16, String, usize)> {
        let found = answer_in(text.as_bytes()).expect("an answer");
        found.map(|(answer, taken)| (answer.status, String::from_utf8(answer.body).expect("text"), taken))
    }

    #[test]
    fn an_answer_with_a_length_is_found_when_it_is_whole() {
        let text = "HTTP/1.1 400 Bad Request\r\nContent-Length: 5\r\n\r\nhello";
        assert_eq!(whole(&text[..text.len() - 1]), None);
        assert_eq!(whole(&format!("{text}next")), Some((400, "hello".to_owned(), text.len())));
    }

    #[test]
    fn a_chunked_answer_is_joined() {
        let text = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n";
        assert_eq!(whole(&text[..text.len() - 2]), None);
        assert_eq!(whole(text), Some((200, "abcde".to_owned(), text.len())));
    }

    #[test]
    fn what_is_no_answer_is_an_error() {
        assert!(answer_in(b"nonsense\r\n\r\n").is_err());
    }
}

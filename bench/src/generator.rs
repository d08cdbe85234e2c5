//! Load generator: one thread, kept-alive connections, one request in flight on each; the next is sent when the answer
//! is complete.

use std::io::{self, ErrorKind, Read, Write};
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use keyform_driver::http::answer_end;
use mio::net::TcpStream;
use mio::{Events, Interest, Poll, Token};

/// Results of a measurement.
#[derive(Debug, Default)]
pub struct Sample {
    /// Times between sending a request and having its complete answer, unsorted.
    pub latencies: Vec<Duration>,
    /// Number of answers other than 200.
    pub refused: usize,
    /// The first of those, as a hint.
    pub refusal: Option<String>,
    /// Duration of the measurement.
    pub elapsed: Duration,
}

/// Connections to a server and the requests to send over them in turn.
pub struct Load<'a> {
    poll: Poll,
    lanes: Vec<Lane>,
    requests: &'a [Vec<u8>],
    next: usize,
}

struct Lane {
    stream: TcpStream,
    request: usize,
    written: usize,
    buffer: Vec<u8>,
    sent: Instant,
    busy: bool,
}

impl<'a> Load<'a> {
    /// Opens the connections.
    pub fn open(address: SocketAddr, connections: usize, requests: &'a [Vec<u8>]) -> io::Result<Self> {
        let poll = Poll::new()?;
        let mut lanes = Vec::with_capacity(connections);
        for number in 0..connections {
            let stream = std::net::TcpStream::connect(address)?;
            stream.set_nodelay(true)?;
            stream.set_nonblocking(true)?;
            let mut stream = TcpStream::from_std(stream);
            poll.registry().register(&mut stream, Token(number), Interest::READABLE | Interest::WRITABLE)?;
            lanes.push(Lane { stream, request: 0, written: 0, buffer: Vec::new(), sent: Instant::now(), busy: false });
        }
        Ok(Self { poll, lanes, requests, next: 0 })
    }

    /// Keeps all connections busy for this time, then waits for the last answers.
    pub fn run(&mut self, duration: Duration) -> io::Result<Sample> {
        let mut sample = Sample::default();
        let mut events = Events::with_capacity(256);
        let began = Instant::now();
        for lane in 0..self.lanes.len() {
            self.start(lane)?;
        }
        while self.lanes.iter().any(|lane| lane.busy) {
            self.poll.poll(&mut events, Some(Duration::from_secs(10)))?;
            if events.is_empty() {
                return Err(io::Error::new(ErrorKind::TimedOut, "no answer for ten seconds"));
            }
            let ready: Vec<usize> = events.iter().map(|event| event.token().0).collect();
            for lane in ready {
                self.advance(lane, began, duration, &mut sample)?;
            }
        }
        sample.elapsed = began.elapsed();
        Ok(sample)
    }

    fn start(&mut self, number: usize) -> io::Result<()> {
        let lane = &mut self.lanes[number];
        lane.request = self.next % self.requests.len();
        self.next += 1;
        (lane.written, lane.busy, lane.sent) = (0, true, Instant::now());
        lane.write(&self.requests[lane.request])
    }

    fn advance(&mut self, number: usize, began: Instant, duration: Duration, sample: &mut Sample) -> io::Result<()> {
        let lane = &mut self.lanes[number];
        if !lane.busy {
            return Ok(());
        }
        lane.write(&self.requests[lane.request])?;
        let Some(status) = lane.read()? else { return Ok(()) };
        sample.latencies.push(lane.sent.elapsed());
        if status != 200 {
            sample.refused += 1;
            sample.refusal.get_or_insert_with(|| String::from_utf8_lossy(&lane.buffer).into_owned());
        }
        lane.buffer.clear();
        lane.busy = false;
        if began.elapsed() < duration { self.start(number) } else { Ok(()) }
    }
}

impl Lane {
    fn write(&mut self, request: &[u8]) -> io::Result<()> {
        while self.written < request.len() {
            match self.stream.write(&request[self.written..]) {
                Ok(count) => self.written += count,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Returns the status once the answer is complete. Reads the socket until it is empty, as edge-triggered events
    /// require.
    fn read(&mut self) -> io::Result<Option<u16>> {
        let mut part = [0; 64 << 10];
        loop {
            match self.stream.read(&mut part) {
                Ok(0) => return Err(io::Error::new(ErrorKind::UnexpectedEof, "the server closed a connection")),
                Ok(count) => self.buffer.extend_from_slice(&part[..count]),
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) => return Err(error),
            }
        }
        Ok(answer_end(&self.buffer)?.map(|(status, _)| status))
    }
}

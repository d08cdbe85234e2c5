//! Live reads under load: memory of idle subscriptions, and deliveries per second on two cores, over real WebSockets on
//! loopback. Server, writers and clients share one process and its cores, so the numbers include all of them.
//!
//! `live [subscriptions] [seconds]`: a tenth of the subscriptions follow busy channels, the others idle channels.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use keyform::Database;
use keyform_check::Checked;
use keyform::runtime::run::{Call, Runner, RunSettings};
use keyform::SystemWorld;
use keyform::flow::Tables;
use keyform::server::{Limits, Models, Running, Served, Server, ServerSettings};

const MODEL: &str = r#"
model chat

table Chat "chat" {
  key    pk, sk
  stream new_and_old
}

entity Message in Chat {
  key "CHANNEL#{channelId}", "MSG#{messageId}"

  messageId: ulid = ulid()
  channelId: slug(1..20)
  content:   string(1..400)

  volume 1M items, 300 bytes
}

read messages(channelId) -> [Message] ordered by messageId descending page 20  allow public

write post(channelId, content) {
  allow public
  create Message {}
}
"#;

/// Subscriptions on one connection.
const EACH: usize = 100;
/// Subscribers of each busy channel.
const AUDIENCE: usize = 10;

struct Measured {
    delivered: AtomicU64,
    /// Delays in milliseconds, with the number of occurrences.
    delays: std::sync::Mutex<BTreeMap<u64, u64>>,
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let subscriptions: usize = arguments.next().and_then(|text| text.parse().ok()).unwrap_or(10_000);
    let seconds: u64 = arguments.next().and_then(|text| text.parse().ok()).unwrap_or(10);
    let database = Database::in_memory();
    let runner = runner(&database);
    let running = serve(&database, &runner);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(runner.create_tables()).expect("tables");

    let measured = Arc::new(Measured { delivered: AtomicU64::new(0), delays: Default::default() });
    let over = Arc::new(AtomicBool::new(false));
    let busy = (subscriptions / 10 / AUDIENCE).max(1);
    subscribe(&running.address().to_string(), subscriptions, busy, &measured, &over);
    idle();
    let (begin, cpu) = (Instant::now(), cpu_seconds());
    let posts = post(&runtime, &runner, busy, Duration::from_secs(seconds));
    report(&measured, posts, begin, cpu);
    over.store(true, Ordering::Relaxed);
    running.stop();
}

fn runner(database: &Database) -> Runner {
    let checked = Arc::new(Checked::read(MODEL));
    let runner = Runner::new(checked, Arc::new(database.clone()), Arc::new(SystemWorld), RunSettings::default());
    runner.expect("the model has no errors")
}

fn serve(database: &Database, runner: &Runner) -> Running {
    let models = Models::default();
    models.put(Served::new(runner.clone(), Tables::Made));
    let limits = Limits { live_subscriptions_max: EACH, live_buffer_bytes: 16 << 20, ..Limits::default() };
    let settings = ServerSettings { port: 0, workers: 2, models, limits, ..ServerSettings::default() };
    keyform::serve(Server::bind(settings).expect("a port"), database).expect("threads")
}

/// Creates the subscriptions and the threads that follow them; prints their memory.
fn subscribe(address: &str, subscriptions: usize, busy: usize, measured: &Arc<Measured>, over: &Arc<AtomicBool>) {
    let (before, begin) = (memory_bytes(), Instant::now());
    for connection in 0..subscriptions.div_ceil(EACH) {
        let mut stream = connect(address);
        for number in connection * EACH..((connection + 1) * EACH).min(subscriptions) {
            subscribe_to(&mut stream, number, busy);
        }
        let (measured, over) = (measured.clone(), over.clone());
        std::thread::spawn(move || follow(stream, &measured, &over));
    }
    let connections = subscriptions.div_ceil(EACH);
    println!("{subscriptions} subscriptions on {connections} connections after {:.1} s", begin.elapsed().as_secs_f64());
    let each = (memory_bytes() - before) as f64 / 1024.0 / subscriptions as f64;
    println!("memory: {each:.1} KB for each, clients included");
}

/// Every tenth subscription follows a busy channel.
fn subscribe_to(stream: &mut TcpStream, number: usize, busy: usize) {
    let channel = if number % 10 == 0 { format!("busy{}", number / 10 % busy) } else { format!("idle{number}") };
    let text =
        format!(r#"{{"type":"subscribe","id":"{number}","read":"messages","arguments":{{"channelId":"{channel}"}}}}"#);
    send(stream, &text);
    let page = receive(stream).expect("a page");
    assert!(page.contains("\"page\""), "{page}");
}

/// Prints the cost of idle subscriptions.
fn idle() {
    let cpu = cpu_seconds();
    std::thread::sleep(Duration::from_secs(3));
    println!("idle: {:.1} % of a core", (cpu_seconds() - cpu) / 3.0 * 100.0);
}

/// Posts at a steady pace, and prints the number of posts; each is delivered to ten subscribers.
fn post(runtime: &tokio::runtime::Runtime, runner: &Runner, busy: usize, time: Duration) -> u64 {
    let rate = std::env::var("KEYFORM_LIVE_POSTS").ok().and_then(|text| text.parse().ok()).unwrap_or(1_000_u64);
    let (begin, mut posts) = (Instant::now(), 0_u64);
    while begin.elapsed() < time {
        let due = (begin.elapsed().as_secs_f64() * rate as f64) as u64;
        while posts < due {
            let arguments = [
                ("channelId".to_owned(), format!("busy{}", posts % busy as u64).as_str().into()),
                ("content".to_owned(), format!("{:020} {}", now_micros(), "x".repeat(180)).as_str().into()),
            ];
            let call = Call { arguments: arguments.into(), ..Call::default() };
            runtime.block_on(runner.write("post", &call)).expect("a post");
            posts += 1;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    posts
}

/// Waits for the last deliveries, and prints their number and delays.
fn report(measured: &Measured, posts: u64, begin: Instant, cpu: f64) {
    let wanted = posts * AUDIENCE as u64;
    let end = Instant::now() + Duration::from_secs(10);
    while measured.delivered.load(Ordering::Relaxed) < wanted && Instant::now() < end {
        std::thread::sleep(Duration::from_millis(1));
    }
    let took = begin.elapsed().as_secs_f64();
    let delivered = measured.delivered.load(Ordering::Relaxed);
    let rate = delivered as f64 / took;
    println!("{posts} posts, {delivered} of {wanted} deliveries in {took:.1} s: {rate:.0} a second");
    println!("processor: {:.0} % of a core, clients and writer included", (cpu_seconds() - cpu) / took * 100.0);
    let delays = measured.delays.lock().expect("no holder of the lock panics");
    for share in [0.5, 0.99, 1.0] {
        println!("{:>4.0} % within {} ms", share * 100.0, percentile(&delays, share));
    }
}

fn follow(mut stream: TcpStream, measured: &Measured, over: &AtomicBool) {
    let mut delays: BTreeMap<u64, u64> = BTreeMap::new();
    while let Some(text) = receive(&mut stream) {
        // Changes that occur together are one message.
        for (at, _) in text.match_indices("\"content\":\"") {
            let sent: u64 = text[at + 11..at + 31].parse().unwrap_or(0);
            *delays.entry(now_micros().saturating_sub(sent) / 1000).or_default() += 1;
            measured.delivered.fetch_add(1, Ordering::Relaxed);
        }
        let mut all = measured.delays.lock().expect("no holder of the lock panics");
        for (delay, count) in std::mem::take(&mut delays) {
            *all.entry(delay).or_default() += count;
        }
        if over.load(Ordering::Relaxed) {
            return;
        }
    }
}

fn percentile(delays: &BTreeMap<u64, u64>, share: f64) -> u64 {
    let wanted = (delays.values().sum::<u64>() as f64 * share) as u64;
    let mut seen = 0;
    for (delay, count) in delays {
        seen += count;
        if seen >= wanted {
            return *delay;
        }
    }
    0
}

fn connect(address: &str) -> TcpStream {
    let mut stream = TcpStream::connect(address).expect("a connection");
    stream.set_nodelay(true).expect("a socket");
    let head = format!(
        "GET /v1/chat/live HTTP/1.1\r\nhost: {address}\r\nupgrade: websocket\r\nconnection: upgrade\r\nsec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).expect("a handshake");
    let mut answer = Vec::new();
    while !answer.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte).expect("an answer");
        answer.push(byte[0]);
    }
    assert!(answer.starts_with(b"HTTP/1.1 101"), "{}", String::from_utf8_lossy(&answer));
    stream
}

/// Encodes a short text as one frame; a mask of zeros leaves it unchanged.
fn send(stream: &mut TcpStream, text: &str) {
    let mut frame = vec![0x81];
    match text.len() {
        length @ 0..126 => frame.push(0x80 | length as u8),
        length => {
            frame.push(0x80 | 126);
            frame.extend_from_slice(&(length as u16).to_be_bytes());
        }
    }
    frame.extend_from_slice(&[0; 4]);
    frame.extend_from_slice(text.as_bytes());
    stream.write_all(&frame).expect("a frame");
}

/// Returns the next text; answers pings.
fn receive(stream: &mut TcpStream) -> Option<String> {
    loop {
        let mut head = [0; 2];
        stream.read_exact(&mut head).ok()?;
        let length = match head[1] & 0x7f {
            126 => {
                let mut bytes = [0; 2];
                stream.read_exact(&mut bytes).ok()?;
                u64::from(u16::from_be_bytes(bytes))
            }
            127 => {
                let mut bytes = [0; 8];
                stream.read_exact(&mut bytes).ok()?;
                u64::from_be_bytes(bytes)
            }
            short => u64::from(short),
        };
        let mut body = vec![0; length as usize];
        stream.read_exact(&mut body).ok()?;
        match head[0] & 0x0f {
            1 => return String::from_utf8(body).ok(),
            9 => stream.write_all(&[0x8a, 0x80, 0, 0, 0, 0]).ok()?,
            8 => {
                eprintln!("closed: {}", String::from_utf8_lossy(body.get(2..).unwrap_or_default()));
                return None;
            }
            _ => {}
        }
    }
}

fn now_micros() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_micros() as u64)
}

fn memory_bytes() -> u64 {
    let pages = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    pages.split(' ').nth(1).and_then(|pages| pages.parse::<u64>().ok()).unwrap_or(0) * 4096
}

fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks = |at: usize| fields.get(at).and_then(|text| text.parse::<f64>().ok()).unwrap_or(0.0);
    (ticks(11) + ticks(12)) / 100.0
}

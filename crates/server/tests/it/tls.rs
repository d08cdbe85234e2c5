//! HTTPS: handshake, negotiated protocol, renewal of the certificate, and errors of its files.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use keyform_server::{Running, Server, ServerSettings, Timeouts, TlsError, TlsFiles};
use keyform_world::testing::ManualWorld;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use tempfile::TempDir;

use crate::support::{Client, settings, start};

type Encrypted = StreamOwned<ClientConnection, TcpStream>;

/// Writes a new certificate for localhost and its key; returns the certificate.
fn renew(folder: &Path) -> CertificateDer<'static> {
    let pair = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    write_key(folder, &pair.signing_key.serialize_pem(), 0o600);
    fs::write(folder.join("cert.pem"), pair.cert.pem()).unwrap();
    CertificateDer::from_pem_slice(pair.cert.pem().as_bytes()).unwrap()
}

fn write_key(folder: &Path, text: &str, mode: u32) {
    let file = folder.join("key.pem");
    fs::write(&file, text).unwrap();
    #[cfg(unix)]
    fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(mode)).unwrap();
    #[cfg(not(unix))]
    let _ = mode;
}

fn files(folder: &Path) -> Option<TlsFiles> {
    Some(TlsFiles { certificate: folder.join("cert.pem"), key: folder.join("key.pem") })
}

fn connect(server: &Running, trusted: &CertificateDer<'static>, protocols: &[&str]) -> std::io::Result<Encrypted> {
    let mut roots = RootCertStore::empty();
    roots.add(trusted.clone()).unwrap();
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let mut config = config.with_root_certificates(roots).with_no_client_auth();
    config.alpn_protocols = protocols.iter().map(|name| name.as_bytes().to_vec()).collect();
    let name = ServerName::try_from("localhost").unwrap();
    let stream = TcpStream::connect(server.address())?;
    stream.set_read_timeout(Some(Duration::from_secs(10)))?;
    let mut stream = StreamOwned::new(ClientConnection::new(Arc::new(config), name).unwrap(), stream);
    while stream.conn.is_handshaking() {
        stream.conn.complete_io(&mut stream.sock)?;
    }
    Ok(stream)
}

/// Returns the status of a request for the liveness of the server.
fn probe(stream: &mut Encrypted, host: &str) -> u16 {
    write!(stream, "GET /healthz HTTP/1.1\r\nhost: {host}\r\n\r\n").unwrap();
    let mut answer = Vec::new();
    while !answer.ends_with(b"ok\n") && !answer.ends_with(b"}") {
        let mut piece = [0; 1024];
        let length = stream.read(&mut piece).unwrap();
        assert!(length > 0, "{}", String::from_utf8_lossy(&answer));
        answer.extend_from_slice(&piece[..length]);
    }
    String::from_utf8(answer).unwrap().split(' ').nth(1).unwrap().parse().unwrap()
}

#[test]
fn https_is_served_with_the_protocol_that_the_client_prefers() {
    let folder = TempDir::new().unwrap();
    let certificate = renew(folder.path());
    let server = start(ServerSettings { tls: files(folder.path()), ..settings() });
    assert!(server.url().starts_with("https://127.0.0.1:"));
    for (offered, chosen) in [
        (&["h2", "http/1.1"][..], Some("h2")),
        (&["http/1.1", "h2"], Some("h2")),
        (&["http/1.1"], Some("http/1.1")),
        (&[], None),
    ] {
        let mut stream = connect(&server, &certificate, offered).unwrap();
        assert_eq!(stream.conn.alpn_protocol(), chosen.map(str::as_bytes), "{offered:?}");
        if chosen != Some("h2") {
            assert_eq!([probe(&mut stream, "localhost"), probe(&mut stream, "localhost")], [200; 2]);
            assert_eq!(probe(&mut stream, "evil.example"), 421);
        }
    }
    assert!(connect(&server, &certificate, &["gopher"]).is_err());
    assert!(
        connect(&server, &renew(TempDir::new().unwrap().path()), &[]).is_err(),
        "another certificate is not trusted"
    );
    assert_eq!(server.stop(), 0);
}

#[test]
fn plain_http_and_garbage_are_closed() {
    let folder = TempDir::new().unwrap();
    renew(folder.path());
    let server = start(ServerSettings { tls: files(folder.path()), ..settings() });
    let mut plain = Client::connect(&server);
    let answer = plain.get("/healthz");
    assert_eq!((answer.status, answer.header("connection")), (400, Some("close")));
    assert!(answer.text().contains("https://"), "{}", answer.text());
    assert!(plain.is_closed());
    for garbage in [&b"\0\x01\x02"[..], b"\x16\x03\x01\0\x05hello", b"\x16\x03\x01\xff\xff\x01"] {
        let mut client = Client::connect(&server);
        client.send(garbage);
        let mut rest = Vec::new();
        // The server may send an alert; it may have closed or reset the connection already.
        drop(client.stream.get_mut().shutdown(std::net::Shutdown::Write));
        drop(client.stream.read_to_end(&mut rest));
        assert!(rest.len() < 64, "{rest:?}");
    }
}

#[test]
fn a_handshake_has_a_timeout() {
    let folder = TempDir::new().unwrap();
    renew(folder.path());
    let timeouts = Timeouts { handshake: Duration::from_millis(20), ..Timeouts::default() };
    let server = start(ServerSettings { tls: files(folder.path()), timeouts, ..settings() });
    for sent in [&b""[..], b"\x16\x03\x01"] {
        let mut client = Client::connect(&server);
        client.send(sent);
        assert!(client.is_closed(), "{sent:?}");
    }
}

#[test]
fn a_renewed_certificate_is_used_for_new_connections() {
    let folder = TempDir::new().unwrap();
    let first = renew(folder.path());
    let world = ManualWorld::at_ms(1_700_000_000_000);
    let server = start(ServerSettings { tls: files(folder.path()), world: Arc::new(world.clone()), ..settings() });
    let mut old = connect(&server, &first, &[]).unwrap();
    assert_eq!(probe(&mut old, "localhost"), 200);
    let second = renew(folder.path());
    assert!(connect(&server, &first, &[]).is_ok(), "not loaded before the server looks");
    let renewed = (0..1000).any(|_| {
        world.advance(Duration::from_secs(2));
        connect(&server, &second, &[]).is_ok()
    });
    assert!(renewed);
    assert!(connect(&server, &first, &[]).is_err());

    // A broken pair keeps the current one, also on request.
    let key = fs::read_to_string(folder.path().join("key.pem")).unwrap();
    for broken in ["", "no key", &rcgen::KeyPair::generate().unwrap().serialize_pem()] {
        write_key(folder.path(), broken, 0o600);
        server.reload_certificate();
        assert!(connect(&server, &second, &[]).is_ok(), "{broken}");
    }
    write_key(folder.path(), &key, 0o600);
    let third = renew(folder.path());
    server.reload_certificate();
    assert!(connect(&server, &third, &[]).is_ok());
}

#[test]
fn a_server_does_not_start_with_files_that_it_cannot_use() {
    let folder = TempDir::new().unwrap();
    let refusal = || match Server::bind(ServerSettings { tls: files(folder.path()), ..settings() }).unwrap_err() {
        keyform_server::StartError::Tls(error) => error,
        other => panic!("{other}"),
    };
    assert!(matches!(refusal(), TlsError::Io { .. }));
    renew(folder.path());
    let key = fs::read_to_string(folder.path().join("key.pem")).unwrap();
    write_key(folder.path(), &rcgen::KeyPair::generate().unwrap().serialize_pem(), 0o600);
    assert!(matches!(refusal(), TlsError::Mismatch { .. }));
    write_key(folder.path(), "no key", 0o600);
    assert!(matches!(refusal(), TlsError::NoKey { .. }));
    #[cfg(unix)]
    {
        write_key(folder.path(), &key, 0o644);
        assert!(refusal().to_string().contains("chmod 600"));
    }
    write_key(folder.path(), &key, 0o600);
    fs::write(folder.path().join("cert.pem"), "").unwrap();
    assert!(matches!(refusal(), TlsError::NoCertificate { .. }));
}

//! Checks before routing: hosts, origins, and which APIs are open when only one of credentials and token key is
//! configured.

use crate::support::{self, Answer, Client, settings, start};
use keyform_flow::TokenKeys;
use keyform_server::{Credentials, MetricsAddress, Running, Security, Server, ServerSettings, StartError};

const PATHS: [(&str, &str); 8] = [
    ("POST", "/"),
    ("GET", "/"),
    ("GET", "/v1"),
    ("POST", "/v1/notes/add"),
    ("GET", "/healthz"),
    ("GET", "/readyz"),
    ("GET", "/metrics"),
    ("GET", "/absent"),
];

fn credentials() -> Credentials {
    Credentials::new([("AKIDEXAMPLE".to_owned(), "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY".to_owned())])
}

fn token_keys() -> TokenKeys {
    TokenKeys::secret(b"0123456789abcdef0123456789abcdef").unwrap()
}

fn send(server: &Running, method: &str, target: &str, headers: &str) -> Answer {
    let head = format!(
        "{method} {target} HTTP/1.1\r\nx-amz-target: DynamoDB_20120810.ListTables\r\ncontent-length: 2\r\n{headers}\r\n"
    );
    Client::connect(server).request(&head, b"{}")
}

/// Sends a WebSocket handshake.
fn handshake(server: &Running, headers: &str) -> Answer {
    let upgrade = "connection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
    let head = format!("GET /v1/notes/live HTTP/1.1\r\n{upgrade}{headers}\r\n");
    Client::connect(server).request(&head, b"")
}

#[test]
fn development_answers_for_its_own_hosts_on_every_path() {
    let allowed_hosts = vec!["keyform.test".to_owned()];
    let server = start(ServerSettings { allowed_hosts, ..settings() });
    let port = server.address().port();
    for (host, expected) in [
        ("localhost", None),
        ("localhost:8000", None),
        ("LOCALHOST.:1", None),
        ("app.localhost", None),
        ("127.0.0.1", None),
        ("127.9.9.9:8000", None),
        ("[::1]:8000", None),
        ("keyform.test", None),
        ("evil.example", Some(421)),
        ("localhost.evil.example", Some(421)),
        ("127.0.0.1.evil.example", Some(421)),
        ("127.1", Some(421)),
        ("2130706433", Some(421)),
        ("0.0.0.0", Some(421)),
        ("10.0.0.1", Some(421)),
        ("localhost@evil.example", Some(400)),
        ("evil.example@localhost", Some(400)),
        ("localhost evil.example", Some(400)),
        ("localhost,evil.example", Some(400)),
        ("", Some(400)),
    ] {
        for (method, path) in PATHS {
            let same_site = send(&server, method, path, &format!("host: {host}\r\norigin: http://{host}\r\n"));
            let plain = send(&server, method, path, &format!("host: {host}\r\n"));
            for answer in [&same_site, &plain] {
                match expected {
                    Some(status) => assert_eq!(answer.status, status, "{host} {method} {path}"),
                    None => assert!(![400, 403, 421].contains(&answer.status), "{host} {method} {path}: {answer:?}"),
                }
            }
        }
        let live = handshake(&server, &format!("host: {host}\r\norigin: http://{host}\r\n")).status;
        assert_eq!(live, expected.unwrap_or(404), "{host}");
    }
    let refused = send(&server, "POST", "/", &format!("host: evil.example:{port}\r\n"));
    assert!(refused.text().contains("add evil.example to its allowed hosts"), "{}", refused.text());
    assert_eq!(refused.header("connection"), Some("close"));
}

#[test]
fn development_refuses_pages_of_strangers_on_every_path() {
    let server = start(settings());
    for (headers, expected) in [
        ("", None),
        ("origin: http://localhost:3000\r\n", None),
        ("origin: https://app.localhost\r\n", None),
        ("origin: http://127.0.0.1:5173\r\nsec-fetch-site: cross-site\r\n", None),
        ("sec-fetch-site: same-origin\r\n", None),
        ("sec-fetch-site: none\r\n", None),
        ("origin: http://evil.example\r\n", Some(403)),
        ("origin: https://localhost.evil.example\r\n", Some(403)),
        ("origin: http://localhost@evil.example\r\n", Some(403)),
        ("origin: http://localhost/evil\r\n", Some(403)),
        ("origin: null\r\n", Some(403)),
        ("origin:\r\n", Some(403)),
        ("origin: file://\r\n", Some(403)),
        ("origin: chrome-extension://localhost\r\n", Some(403)),
        ("origin: http://localhost\r\norigin: http://evil.example\r\n", Some(403)),
        ("sec-fetch-site: cross-site\r\n", Some(403)),
        ("sec-fetch-site: same-origin\r\nsec-fetch-site: cross-site\r\n", Some(403)),
    ] {
        for (method, path) in PATHS {
            for kind in ["", "content-type: text/plain\r\n"] {
                let answer = send(&server, method, path, &format!("host: localhost\r\n{headers}{kind}"));
                match expected {
                    Some(status) => assert_eq!(answer.status, status, "{headers:?} {method} {path}"),
                    None => {
                        assert!(![400, 403, 421].contains(&answer.status), "{headers:?} {method} {path}: {answer:?}")
                    }
                }
            }
        }
        let live = handshake(&server, &format!("host: localhost\r\n{headers}")).status;
        assert_eq!(live, expected.unwrap_or(404), "{headers:?}");
    }
}

#[test]
fn a_target_with_a_host_of_its_own_names_the_same_one() {
    let server = start(settings());
    for (target, host, expected) in [
        ("http://localhost/healthz", "localhost:9", 200),
        ("http://LOCALHOST:80/healthz", "localhost", 200),
        ("http://evil.example/healthz", "localhost", 400),
        ("http://localhost/healthz", "evil.example", 400),
        ("http://evil.example/healthz", "evil.example", 421),
        ("http://evil@localhost/healthz", "localhost", 400),
        ("//evil.example/healthz", "localhost", 404),
    ] {
        let answer = send(&server, "GET", target, &format!("host: {host}\r\n"));
        assert_eq!(answer.status, expected, "{target} {host}: {answer:?}");
    }
}

#[test]
fn one_host_is_wanted_in_every_state() {
    for settings in [settings(), ServerSettings { credentials: credentials(), token_keys: token_keys(), ..settings() }]
    {
        let server = start(settings);
        for (method, path) in PATHS {
            assert_eq!(send(&server, method, path, "").status, 400, "{path}");
            assert_eq!(send(&server, method, path, "host: localhost\r\nHost: localhost\r\n").status, 400, "{path}");
        }
    }
    let old = "GET /healthz HTTP/1.0\r\n\r\n";
    assert_eq!(Client::connect(&start(settings())).request(old, b"").status, 400);
    let secured = start(ServerSettings { credentials: credentials(), ..settings() });
    assert_eq!(Client::connect(&secured).request(old, b"").status, 200);
}

#[test]
fn a_signature_counts_for_more_than_a_host() {
    let server = start(ServerSettings { credentials: credentials(), ..settings() });
    let answer = send(&server, "POST", "/", "host: db.example\r\norigin: https://app.example\r\n");
    assert!(answer.text().contains("MissingAuthenticationToken"), "{}", answer.text());
    let allowed_hosts = vec!["db.example".to_owned()];
    let narrow = start(ServerSettings { credentials: credentials(), allowed_hosts, ..settings() });
    for (path, host, expected) in [
        ("/", "db.example", 200),
        ("/", "10.0.0.7", 421),
        ("/v1", "10.0.0.7", 421),
        ("/healthz", "10.0.0.7", 200),
        ("/readyz", "10.0.0.7", 200),
    ] {
        assert_eq!(send(&narrow, "GET", path, &format!("host: {host}\r\n")).status, expected, "{path} {host}");
    }
    // A token key only, on loopback: the host list applies.
    let tokens = start(ServerSettings { token_keys: token_keys(), ..settings() });
    assert_eq!(send(&tokens, "GET", "/v1", "host: evil.example\r\n").status, 421);
    assert_eq!(send(&tokens, "GET", "/v1", "host: localhost\r\norigin: https://app.example\r\n").status, 200);
}

#[test]
fn a_half_without_protection_is_closed_beside_one_that_has_it() {
    let states = [
        (Credentials::default(), TokenKeys::default(), Security::Development),
        (Credentials::default(), TokenKeys::made_up(), Security::Development),
        (credentials(), TokenKeys::default(), Security::SignedOperations),
        (credentials(), TokenKeys::made_up(), Security::SignedOperations),
        (Credentials::default(), token_keys(), Security::TokenCalls),
        (credentials(), token_keys(), Security::Full),
    ];
    for (credentials, token_keys, security) in states {
        let server = start(ServerSettings { credentials, token_keys, ..settings() });
        assert_eq!(server.security(), security);
        let host = "host: localhost\r\n";
        let caller = "host: localhost\r\nx-keyform-caller: userId=ada\r\ncontent-type: application/json\r\n";
        let operation = send(&server, "POST", "/", host);
        let (list, call) = (send(&server, "GET", "/v1", host), send(&server, "POST", "/v1/notes/add", caller));
        let (live, metrics) = (handshake(&server, host), send(&server, "GET", "/metrics", host));
        let expected = match security {
            Security::Development => [200, 200, 404, 404, 200],
            Security::SignedOperations => [400, 403, 403, 403, 401],
            Security::TokenCalls => [403, 200, 404, 404, 403],
            Security::Full => [400, 200, 404, 404, 401],
        };
        let found = [&operation, &list, &call, &live, &metrics].map(|answer| answer.status);
        assert_eq!(found, expected, "{security:?}");
        match security {
            Security::SignedOperations => assert!(call.text().contains("configure a token key"), "{}", call.text()),
            Security::TokenCalls => {
                assert!(operation.text().contains("keyform credentials add"), "{}", operation.text());
                assert!(operation.text().contains("#AccessDeniedException"), "{}", operation.text());
            }
            Security::Development | Security::Full => {}
        }
        for probe in ["/healthz", "/readyz"] {
            assert_eq!(send(&server, "GET", probe, host).status, 200, "{security:?}");
        }
    }
}

#[test]
fn an_address_for_others_needs_what_it_serves_protected() {
    let reachable = |settings: ServerSettings| Server::bind(ServerSettings { host: "0.0.0.0".to_owned(), ..settings });
    let open = |operations| reachable(ServerSettings { operations, ..settings() }).unwrap_err();
    assert!(matches!(open(true), StartError::Unprotected { .. }));
    assert!(matches!(open(false), StartError::WithoutTokens { .. }));
    for settings in [
        ServerSettings { credentials: credentials(), ..settings() },
        ServerSettings { token_keys: token_keys(), ..settings() },
        ServerSettings { token_keys: token_keys(), operations: false, ..settings() },
    ] {
        let server = reachable(settings).unwrap().start(std::sync::Arc::new(support::Stub::default()), None).unwrap();
        for probe in ["/healthz", "/readyz"] {
            assert_eq!(send(&server, "GET", probe, "host: 10.1.2.3:8000\r\n").status, 200);
        }
    }
}

#[test]
fn metrics_are_read_with_an_access_key() {
    let server = start(ServerSettings { credentials: credentials(), ..settings() });
    // AKIDEXAMPLE with its secret; with a wrong secret; an unknown key.
    for (given, expected) in [
        ("QUtJREVYQU1QTEU6d0phbHJYVXRuRkVNSS9LN01ERU5HK2JQeFJmaUNZRVhBTVBMRUtFWQ==", 200),
        ("QUtJREVYQU1QTEU6d3Jvbmc=", 401),
        ("QUtJREVYQU1QTEU6", 401),
        ("QUtJREVYQU1QTEU=", 401),
        ("b3RoZXI6d3Jvbmc=", 401),
        ("%%%", 401),
        ("", 401),
    ] {
        let headers = format!("host: localhost\r\nauthorization: Basic {given}\r\n");
        let answer = send(&server, "GET", "/metrics", &headers);
        assert_eq!(answer.status, expected, "{given}");
        assert_eq!(answer.text().contains("keyform_uptime_seconds"), expected == 200);
    }
    let answer = send(&server, "GET", "/metrics", "host: localhost\r\n");
    assert_eq!(answer.header("www-authenticate"), Some("Basic realm=\"keyform metrics\""));
}

#[test]
fn metrics_have_a_port_of_their_own_when_asked_for() {
    let metrics_address = Some(MetricsAddress { host: "127.0.0.1".to_owned(), port: 0 });
    let server = start(ServerSettings { credentials: credentials(), metrics_address, ..settings() });
    assert_eq!(send(&server, "GET", "/metrics", "host: localhost\r\n").status, 404);
    let url = server.metrics_url().unwrap();
    let address = url.strip_prefix("http://").unwrap().strip_suffix("/metrics").unwrap().to_owned();
    let ask = |method: &str, path: &str, host: &str| {
        let request = format!("{method} {path} HTTP/1.1\r\nhost: {host}\r\n\r\n");
        Client::to(address.parse().unwrap()).request(&request, b"")
    };
    assert!(ask("GET", "/metrics", &address).text().contains("keyform_uptime_seconds"));
    for (method, path, host, expected) in [
        ("GET", "/healthz", "localhost", 200),
        ("GET", "/readyz", "localhost", 200),
        ("POST", "/metrics", "localhost", 405),
        ("POST", "/", "localhost", 405),
        ("GET", "/", "localhost", 404),
        ("GET", "/v1", "localhost", 404),
        ("GET", "/metrics", "evil.example", 421),
    ] {
        assert_eq!(ask(method, path, host).status, expected, "{method} {path} {host}");
    }
    assert_eq!(server.stop(), 0);
    assert!(std::net::TcpStream::connect(address).is_err());
}

#[test]
fn metrics_on_all_addresses_of_a_development_machine_answer_no_foreign_name() {
    let started = |settings: ServerSettings| {
        let metrics_address = Some(MetricsAddress { host: "0.0.0.0".to_owned(), port: 0 });
        start(ServerSettings { metrics_address, ..settings })
    };
    let ask = |server: &Running, host: &str| {
        let url = server.metrics_url().unwrap();
        let port = url.strip_suffix("/metrics").unwrap().rsplit(':').next().unwrap().to_owned();
        let request = format!("GET /metrics HTTP/1.1\r\nhost: {host}\r\n\r\n");
        Client::to(format!("127.0.0.1:{port}").parse().unwrap()).request(&request, b"").status
    };
    let allowed_hosts = vec!["host.docker.internal".to_owned()];
    let server = started(ServerSettings { allowed_hosts, ..settings() });
    for (host, expected) in
        [("localhost", 200), ("192.0.2.7:9100", 200), ("host.docker.internal", 200), ("evil.example", 421)]
    {
        assert_eq!(ask(&server, host), expected, "{host}");
    }
    // A published server is reached by the name that its network gives it.
    assert_eq!(ask(&started(ServerSettings { credentials: credentials(), ..settings() }), "keyform"), 200);
}

#[test]
fn a_name_that_is_no_host_is_refused_at_the_start() {
    for name in ["http://keyform.test", "keyform.test:8000", "*", ""] {
        let refused = Server::bind(ServerSettings { allowed_hosts: vec![name.to_owned()], ..settings() }).unwrap_err();
        assert!(refused.to_string().contains("an allowed host is"), "{refused}");
    }
}

//! Web pages of other origins: preflights, CORS headers of the model API, and origins of WebSocket handshakes.

use crate::support::{Answer, Client, settings, start};
use keyform_flow::TokenKeys;
use keyform_server::{CorsSettings, Credentials, Running, Server, ServerSettings};

const APP: &str = "https://app.example.com";

fn with_origins(origins: &[&str], credentials: bool) -> ServerSettings {
    let origins = origins.iter().map(|origin| (*origin).to_owned()).collect();
    ServerSettings { cors: CorsSettings { origins, credentials }, ..settings() }
}

fn published(settings: ServerSettings) -> ServerSettings {
    let token_keys = TokenKeys::secret(b"0123456789abcdef0123456789abcdef").unwrap();
    ServerSettings { token_keys, credentials: Credentials::new([("id".to_owned(), "secret".to_owned())]), ..settings }
}

fn ask(server: &Running, method: &str, path: &str, origin: &str, headers: &str) -> Answer {
    let head = format!("{method} {path} HTTP/1.1\r\nhost: localhost\r\norigin: {origin}\r\n{headers}\r\n");
    Client::connect(server).request(&head, b"")
}

fn preflight(server: &Running, path: &str, origin: &str) -> Answer {
    let wanted = "access-control-request-method: POST\r\naccess-control-request-headers: authorization\r\n";
    ask(server, "OPTIONS", path, origin, wanted)
}

fn handshake(server: &Running, origin: &str) -> u16 {
    let upgrade = "connection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
    ask(server, "GET", "/v1/notes/live", origin, upgrade).status
}

/// Returns the names of the CORS headers of an answer.
fn shared(answer: &Answer) -> Vec<&str> {
    answer.headers.iter().map(|(name, _)| name.as_str()).filter(|name| name.starts_with("access-control-")).collect()
}

#[test]
fn a_preflight_of_an_allowed_origin_is_answered_before_the_call() {
    for settings in [with_origins(&[APP], true), published(with_origins(&[APP], true))] {
        let server = start(settings);
        for path in ["/v1", "/v1/notes", "/v1/notes/openapi.json", "/v1/notes/add"] {
            let answer = preflight(&server, path, APP);
            assert_eq!(answer.status, 204, "{path}: {answer:?}");
            for (name, value) in [
                ("access-control-allow-origin", APP),
                ("access-control-allow-credentials", "true"),
                ("access-control-allow-methods", "GET, POST"),
                ("access-control-max-age", "600"),
                ("vary", "Origin, Access-Control-Request-Method, Access-Control-Request-Headers"),
            ] {
                assert_eq!(answer.header(name), Some(value), "{path} {name}");
            }
            let headers = answer.header("access-control-allow-headers").unwrap();
            assert!(headers.contains("Authorization") && headers.contains("Idempotency-Key"), "{headers}");
        }
    }
}

#[test]
fn other_origins_and_other_paths_get_no_cors_headers() {
    let server = start(published(with_origins(&[APP, "https://*.pages.example"], false)));
    for origin in ["https://evil.example", "http://app.example.com", "https://app.example.com:8443", "null", ""] {
        let refused = preflight(&server, "/v1/notes/add", origin);
        assert_eq!((refused.status, shared(&refused)), (403, vec![]), "{origin}");
        assert!(refused.header("vary").unwrap().starts_with("Origin"), "{origin}");
        let call = ask(&server, "GET", "/v1", origin, "");
        assert_eq!((call.status, shared(&call), call.header("vary")), (200, vec![], Some("Origin")), "{origin}");
    }
    for (method, path) in
        [("GET", "/"), ("GET", "/healthz"), ("GET", "/readyz"), ("GET", "/metrics"), ("OPTIONS", "/"), ("GET", "/v1x")]
    {
        let answer = ask(&server, method, path, APP, "access-control-request-method: POST\r\n");
        assert_eq!((shared(&answer), answer.header("vary")), (vec![], None), "{method} {path}");
    }
    assert_eq!(ask(&server, "GET", "/v1", &format!("{APP}\r\norigin: {APP}"), "").header("vary"), Some("Origin"));
    assert_eq!(shared(&ask(&server, "GET", "/v1", &format!("{APP}\r\norigin: {APP}"), "")), Vec::<&str>::new());
}

#[test]
fn answers_and_problems_are_readable_for_an_allowed_origin() {
    let server = start(published(with_origins(&[APP, "https://*.pages.example"], false)));
    for (origin, path, status) in
        [(APP, "/v1", 200), ("https://pr-7.pages.example", "/v1", 200), (APP, "/v1/absent/call", 404)]
    {
        let answer = ask(&server, "GET", path, origin, "");
        assert_eq!(answer.status, status);
        assert_eq!(answer.header("access-control-allow-origin"), Some(origin));
        assert_eq!(answer.header("access-control-allow-credentials"), None);
        assert_eq!(answer.header("vary"), Some("Origin"));
        assert!(answer.header("access-control-expose-headers").unwrap().contains("X-Amzn-RequestId"));
    }
    let all = start(published(with_origins(&["*"], false)));
    assert_eq!(ask(&all, "GET", "/v1", "https://any.example", "").header("access-control-allow-origin"), Some("*"));
    let none = start(published(settings()));
    assert_eq!(ask(&none, "GET", "/v1", APP, "").header("vary"), None);
    assert_eq!(preflight(&none, "/v1", APP).status, 403);
}

#[test]
fn an_allowed_origin_opens_only_the_model_api_in_development() {
    let server = start(with_origins(&[APP], false));
    for (method, path, expected) in [
        ("GET", "/v1", 200),
        ("POST", "/", 403),
        ("GET", "/", 403),
        ("GET", "/metrics", 403),
        ("GET", "/healthz", 403),
        ("OPTIONS", "/", 403),
    ] {
        assert_eq!(ask(&server, method, path, APP, "").status, expected, "{method} {path}");
        assert_eq!(ask(&server, method, path, "https://evil.example", "").status, 403, "{method} {path}");
    }
    let rebound = format!("GET /v1 HTTP/1.1\r\nhost: app.example.com\r\norigin: {APP}\r\n\r\n");
    assert_eq!(Client::connect(&server).request(&rebound, b"").status, 421);
}

#[test]
fn live_reads_accept_the_same_origins() {
    // An accepted handshake gets as far as the unknown model.
    let server = start(published(with_origins(&[APP], false)));
    for (origin, expected) in [
        (APP, 404),
        ("http://localhost", 404),
        ("https://localhost", 404),
        ("https://localhost:444", 403),
        ("http://localhost:3000", 403),
        ("https://evil.example", 403),
        ("null", 403),
        ("http://localhost\r\norigin: https://evil.example", 403),
    ] {
        assert_eq!(handshake(&server, origin), expected, "{origin}");
    }
    let development = start(with_origins(&[APP], false));
    assert_eq!(handshake(&development, APP), 404);
    assert_eq!(handshake(&development, "https://evil.example"), 403);
}

#[test]
fn contradictory_settings_are_refused_at_the_start() {
    let refusal = |settings| Server::bind(settings).unwrap_err().to_string();
    for origin in ["app.example.com", "https://app.example.com/", "null", "https://*"] {
        assert!(refusal(with_origins(&[origin], false)).contains("is not an origin"), "{origin}");
    }
    assert!(refusal(with_origins(&["*"], false)).contains("development mode"));
    assert!(refusal(published(with_origins(&["*"], true))).contains("without `*`"));
    assert!(refusal(published(with_origins(&[], true))).contains("need a list of origins"));
}

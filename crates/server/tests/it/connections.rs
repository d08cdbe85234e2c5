//! Connections beyond a limit are refused, and health probes on them are answered.

use crate::support::{Answer, Client, settings, start};
use keyform_server::{Limits, Running};

fn server(connections_max: usize, connections_per_address_max: Option<usize>) -> Running {
    let limits = Limits { connections_max, connections_per_address_max, ..Limits::default() };
    start(keyform_server::ServerSettings { limits, ..settings() })
}

fn get(server: &Running, path: &str) -> Answer {
    Client::connect(server).get(path)
}

#[test]
fn probes_are_answered_when_all_connections_are_in_use() {
    let server = server(1, None);
    let mut first = Client::connect(&server);
    assert_eq!(first.list_tables("", 1).status, 200);
    assert_eq!((get(&server, "/healthz").status, get(&server, "/healthz").text()), (200, "ok\n".to_owned()));
    let readiness = get(&server, "/readyz");
    assert_eq!((readiness.status, readiness.text().as_str()), (503, "not ready: every connection is in use\n"));
    let refused = Client::connect(&server).list_tables("", 1);
    assert_eq!(
        (refused.status, refused.header("connection"), refused.header("retry-after")),
        (503, Some("close"), Some("1"))
    );
    assert_eq!(refused.text(), r#"{"message":"every connection is in use: try again later"}"#);
    let page = first.get("/metrics").text();
    assert!(page.contains("keyform_connections_refused_total{limit=\"total\"} 4\n"), "{page}");
    assert_eq!(first.list_tables("", 1).status, 200, "the connection within the limit goes on");
}

#[test]
fn a_client_beyond_its_share_still_learns_that_the_server_is_ready() {
    let server = server(10, Some(1));
    let mut first = Client::connect(&server);
    assert_eq!(first.list_tables("", 1).status, 200);
    let refused = Client::connect(&server).list_tables("", 1);
    assert_eq!(refused.text(), r#"{"message":"this client has too many connections: try again later"}"#);
    assert_eq!((get(&server, "/healthz").status, get(&server, "/readyz").status), (200, 200));
    assert!(first.get("/metrics").text().contains("keyform_connections_refused_total{limit=\"address\"} 3\n"));
}

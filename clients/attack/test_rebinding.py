"""Hostile web pages against a server on a developer's machine: DNS rebinding and cross-site requests."""

import json

import pytest

from browser import Site, visit
from keys import credentials_file, token_key_file
from raw import status

TARGET = "X-Amz-Target: DynamoDB_20120810.ListTables\r\n"
UPGRADE = (
    "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
)
USER = "01KKP2T8SN0000000000000000"
# Status of a legitimate request, by method and path.
PATHS = {
    ("POST", "/"): 200,
    ("GET", "/"): 200,
    ("GET", "/v1"): 200,
    ("GET", "/v1/discord"): 200,
    ("GET", "/v1/discord/openapi.json"): 200,
    ("POST", "/v1/discord/createServer"): 200,
    ("GET", "/v1/discord/live"): 101,
    ("GET", "/healthz"): 200,
    ("GET", "/readyz"): 200,
    ("GET", "/metrics"): 200,
    ("GET", "/absent"): 404,
    ("OPTIONS", "/"): 405,
}
HOSTS = {
    "localhost": None,
    "localhost:{port}": None,
    "LOCALHOST.:{port}": None,
    "console.localhost:{port}": None,
    "127.0.0.1:{port}": None,
    "127.8.9.10": None,
    "[::1]:{port}": None,
    "keyform.test:{port}": None,
    "evil.example": 421,
    "evil.example:{port}": 421,
    "EVIL.example.:{port}": 421,
    "localhost.evil.example:{port}": 421,
    "evil-localhost:{port}": 421,
    "127.0.0.1.nip.io:{port}": 421,
    "127.1:{port}": 421,
    "0177.0.0.1:{port}": 421,
    "0x7f.0.0.1:{port}": 421,
    "2130706433:{port}": 421,
    "0.0.0.0:{port}": 421,
    "[::]:{port}": 421,
    "[::ffff:7f00:1]:{port}": 421,
    "192.168.1.10:{port}": 421,
    "localhost@evil.example:{port}": 400,
    "evil.example@localhost:{port}": 400,
    "localhost#@evil.example": 400,
    "localhost%2eevil.example": 400,
    "localhost%00.evil.example": 400,
    "localhost/evil.example": 400,
    "localhost\\evil.example": 400,
    "localhost:{port}:evil.example": 400,
    "localhost evil.example": 400,
    "localhost, evil.example": 400,
    "[::1": 400,
    "[::1]evil.example": 400,
    "[::1%25lo]": 400,
}
ORIGINS = {
    None: None,
    "http://localhost:3000": None,
    "https://127.0.0.1": None,
    "http://[::1]:3000": None,
    "http://keyform.test": None,
    "http://evil.example": 403,
    "http://localhost.evil.example": 403,
    "http://localhost@evil.example": 403,
    "http://evil.example#localhost": 403,
    "null": 403,
    "": 403,
    "localhost": 403,
    "file://localhost": 403,
    "http://127.0.0.1.evil.example": 403,
    "http://localhost http://evil.example": 403,
}


def request(method, path, headers):
    upgrade = UPGRADE if path.endswith("/live") else ""
    body = '{"name": "mine"}' if "createServer" in path else "{}" if method == "POST" else ""
    caller = f"X-Keyform-Caller: userId={USER}\r\nContent-Type: application/json\r\n"
    head = f"{method} {path} HTTP/1.1\r\n{headers}{upgrade}{caller}{TARGET}Content-Length: {len(body)}\r\n"
    if not upgrade:
        head += "Connection: close\r\n"
    return (head + "\r\n" + body).encode("latin-1")


@pytest.fixture
def server(serve):
    return serve("--in-memory", "--allowed-host", "keyform.test", "--allowed-host", "other.test")


def test_hosts_on_every_path(server):
    for host, refused in HOSTS.items():
        host = host.format(port=server.port)
        for (method, path), honest in PATHS.items():
            for origin in ("", f"Origin: http://{host}\r\n"):
                found = status(server.port, request(method, path, f"Host: {host}\r\n{origin}"))
                assert found == (refused or honest), (host, origin, method, path)


def test_origins_on_every_path(server):
    for origin, refused in ORIGINS.items():
        for (method, path), honest in PATHS.items():
            given = "" if origin is None else f"Origin: {origin}\r\n"
            found = status(server.port, request(method, path, f"Host: localhost\r\n{given}"))
            assert found == (refused or honest), (origin, method, path)


def test_requests_of_other_sites_without_an_origin(server):
    for (method, path), honest in PATHS.items():
        for site, expected in (("same-origin", honest), ("same-site", honest), ("none", honest), ("cross-site", 403)):
            found = status(server.port, request(method, path, f"Host: localhost\r\nSec-Fetch-Site: {site}\r\n"))
            assert found == expected, (site, method, path)


def test_targets_with_a_host_of_their_own(server):
    for target, host, expected in (
        ("http://localhost/", "localhost", 200),
        ("http://evil.example/", "evil.example", 421),
        ("http://evil.example/", "localhost", 400),
        ("http://localhost/", "evil.example", 400),
        ("http://user@localhost/", "localhost", 400),
        ("https://evil.example:443/healthz", "localhost", 400),
    ):
        assert status(server.port, request("GET", target, f"Host: {host}\r\n")) == expected, target
    connect = b"CONNECT evil.example:80 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    assert status(server.port, connect) == 400


def test_the_refusal_says_what_to_do(server):
    refused = server.dynamodb("ListTables", {}, {"Host": "evil.example"})
    assert refused.status == 421 and "add evil.example to its allowed hosts" in refused.json["message"]
    refused = server.dynamodb("ListTables", {}, {"Origin": "https://evil.example"})
    assert refused.status == 403 and "localhost" in refused.json["message"]


def test_forwarded_names_do_not_help(server):
    for name in ("X-Forwarded-Host", "Forwarded", "X-Host", "X-Original-Host"):
        value = "host=localhost" if name == "Forwarded" else "localhost"
        assert server.dynamodb("ListTables", {}, {"Host": "evil.example", name: value}).status == 421


def test_with_credentials_the_signature_decides(serve, tmp_path):
    server = serve("--in-memory", *credentials_file(tmp_path), *token_key_file(tmp_path))
    assert server.dynamodb("ListTables", {}, {"Host": "db.example"}).status == 400
    assert server.request("GET", "/v1", headers={"Host": "api.example", "Origin": "https://app.example"}).status == 200
    assert server.call("discord", "createServer", {"name": "x"}, caller=f"userId={USER}").status == 401


ATTACK = """
  const dynamodb = (operation, body) => send('/', {
    method: 'POST', body: JSON.stringify(body),
    headers: { 'X-Amz-Target': 'DynamoDB_20120810.' + operation, 'Content-Type': 'application/x-amz-json-1.0' },
  });
  await attempt('list', () => dynamodb('ListTables', {}));
  await attempt('delete', () => dynamodb('DeleteTable', { TableName: 'precious' }));
  await attempt('call', () => send('/v1/discord/createServer', {
    method: 'POST', body: '{"name": "mine"}',
    headers: { 'X-Keyform-Caller': 'userId=01KKP2T8SN0000000000000000', 'Content-Type': 'application/json' },
  }));
  for (const path of ['/v1', '/metrics', '/healthz', '/readyz', '/absent']) await attempt(path, () => send(path));
  await attempt('live', () => follow('ws://' + location.host + '/v1/discord/live'));
"""
TABLE = {
    "TableName": "precious",
    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
    "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
    "BillingMode": "PAY_PER_REQUEST",
}


def rebind(server, folder):
    """Opens a page of evil.example in Chromium, whose name then resolves to the server; returns the results of the page's requests."""
    assert server.dynamodb("CreateTable", TABLE).status == 200
    site = Site(target_port=server.port)
    try:
        return visit(site, site.page("/attack.html", ATTACK, "evil.example"), folder, ["evil.example"])
    finally:
        site.close()


def test_chromium_cannot_rebind(serve, tmp_path):
    server = serve("--in-memory")
    results = rebind(server, tmp_path)
    assert results.pop("live") == "refused"
    assert {name: answer["status"] for name, answer in results.items()} == dict.fromkeys(results, 421)
    assert len(results) == 8
    assert server.dynamodb("ListTables", {}).json == {"TableNames": ["precious"]}


def test_chromium_can_do_all_of_it_under_a_name_that_is_allowed(serve, tmp_path):
    """With the host name allowed, the same page succeeds: the attack above fails only because of the name."""
    server = serve("--in-memory", "--allowed-host", "evil.example")
    results = rebind(server, tmp_path)
    assert results["live"] == "open"
    assert json.loads(results["list"]["text"]) == {"TableNames": ["precious"]}
    assert [results[name]["status"] for name in ("delete", "call", "/v1", "/metrics")] == [200] * 4
    assert "precious" not in server.dynamodb("ListTables", {}).json["TableNames"]


CROSS_SITE = """
  const server = 'http://127.0.0.1:PORT', options = { method: 'POST', mode: 'no-cors', body: '{"name": "mine"}' };
  await attempt('operation', () => fetch(server + '/', options).then(() => 'sent'));
  await attempt('call', () => fetch(server + '/v1/discord/createServer', options).then(() => 'sent'));
  await attempt('header', () => send(server + '/', { method: 'POST', headers: { 'X-Amz-Target': 'DynamoDB_20120810.ListTables' }, body: '{}' }));
  await attempt('read', () => send(server + '/v1'));
  await attempt('image', () => new Promise((resolve) => {
    const image = new Image();
    image.onload = image.onerror = () => resolve('sent');
    image.src = server + '/v1/discord/inviteByCode?code=abcdefgh';
  }));
  await attempt('live', () => follow('ws://127.0.0.1:PORT/v1/discord/live'));
"""


@pytest.mark.parametrize("host, live", [("evil.example", "refused"), ("localhost", "open")])
def test_chromium_from_another_site(serve, tmp_path, host, live):
    """A page sends requests to the server's own address. The page on localhost, whose WebSocket is accepted, is the control."""
    server = serve("--in-memory", "--access-log", "on", "--log-level", "info")
    site = Site()
    try:
        page = site.page("/cross.html", CROSS_SITE.replace("PORT", str(server.port)), host)
        results = visit(site, page, tmp_path, ["evil.example"])
    finally:
        site.close()
    assert results["live"] == live
    assert (results["header"], results["read"]) == ("error", "error"), "answers are not for pages of other origins"
    if host == "evil.example":
        assert "createServer" not in server.err and "operation=" not in server.err, "no request came further than the gate"

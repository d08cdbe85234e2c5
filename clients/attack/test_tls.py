"""HTTPS and HTTP/2: host checks and limits over h2, live reads over TLS, renewal of the certificate under open connections."""

import http.client
import json
import os
import signal
import socket
import ssl
import struct
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor

import h2.config
import h2.connection
import h2.errors
import h2.events
import h2.settings
import httpx
import pytest
import trustme

from keys import credentials_file, signed, token, token_key_file
from raw import status
from server import BINARY

USER = "01KKP2T8SN0000000000000000"
CALLER = {"X-Keyform-Caller": f"userId={USER}"}


class Authority:
    """A certificate authority and the files of a server's certificate."""

    def __init__(self, folder):
        self.authority, self.folder = trustme.CA(), folder
        self.flags = ["--tls-cert", str(folder / "cert.pem"), "--tls-key", str(folder / "key.pem")]
        self.renew()

    def renew(self):
        """Replaces both files, each atomically, as ACME clients do."""
        issued = self.authority.issue_cert("localhost", "127.0.0.1")
        for name, blobs in (("key.pem", [issued.private_key_pem]), ("cert.pem", issued.cert_chain_pems)):
            temporary = self.folder / f"{name}.new"
            temporary.write_bytes(b"".join(blob.bytes() for blob in blobs))
            temporary.chmod(0o600)
            temporary.rename(self.folder / name)

    def context(self, *protocols):
        context = ssl.create_default_context()
        self.authority.configure_trust(context)
        if protocols:
            context.set_alpn_protocols(list(protocols))
        return context

    def connect(self, port, *protocols):
        plain = socket.create_connection(("127.0.0.1", port), timeout=20)
        return self.context(*protocols).wrap_socket(plain, server_hostname="localhost")


@pytest.fixture
def authority(tmp_path):
    return Authority(tmp_path)


def test_the_banner_and_calls_over_both_protocols(serve, authority):
    server = serve("--in-memory", *authority.flags)
    assert f"https://127.0.0.1:{server.port}" in server.out and "http://" not in server.out
    for http2, version in ((True, "HTTP/2"), (False, "HTTP/1.1")):
        with httpx.Client(http2=http2, verify=authority.context(), base_url=f"https://localhost:{server.port}") as client:
            made = client.post("/v1/discord/createServer", json={"name": version}, headers=CALLER)
            assert (made.status_code, made.http_version, made.json()["name"]) == (200, version, version)
            listed = client.get("/v1/discord/serversOfUser", params={"userId": USER}, headers=CALLER)
            assert listed.status_code == 200, listed.text
            tables = {"X-Amz-Target": "DynamoDB_20120810.ListTables", "Content-Type": "application/x-amz-json-1.0"}
            assert client.post("/", content=b"{}", headers=tables).status_code == 200
            assert client.get("/healthz").text == "ok\n"
            assert client.get("/healthz", headers={"Host": "evil.example"}).status_code == 421


def test_many_requests_on_one_connection(serve, authority):
    server = serve("--in-memory", *authority.flags)
    body = {"name": "x" * 50, "iconUrl": "https://example.com/" + "y" * 500}
    with httpx.Client(http2=True, verify=authority.context(), base_url=f"https://localhost:{server.port}") as client:
        with ThreadPoolExecutor(64) as pool:
            call = lambda _: client.post("/v1/discord/createServer", json=body, headers=CALLER).status_code  # noqa: E731
            assert list(pool.map(call, range(200))) == [200] * 200


def test_signed_operations_over_http2(serve, authority, tmp_path):
    server = serve("--in-memory", *authority.flags, *credentials_file(tmp_path), *token_key_file(tmp_path))
    headers = {"X-Amz-Target": "DynamoDB_20120810.ListTables", "Content-Type": "application/x-amz-json-1.0"}
    headers = signed(server, "POST", "/", b"{}", headers)
    with httpx.Client(http2=True, verify=authority.context(), base_url=f"https://127.0.0.1:{server.port}") as client:
        answer = client.post("/", content=b"{}", headers=headers)
        assert (answer.status_code, answer.http_version) == (200, "HTTP/2"), answer.text
        bearer = {"Authorization": f"Bearer {token(userId=USER)}"}
        assert client.post("/v1/discord/createServer", json={"name": "x"}, headers=bearer).status_code == 200
        assert client.post("/v1/discord/createServer", json={"name": "x"}, headers=CALLER).status_code == 401


class Raw:
    """An HTTP/2 connection that sends what no library would."""

    def __init__(self, authority, port):
        self.socket = authority.connect(port, "h2")
        config = h2.config.H2Configuration(
            validate_outbound_headers=False, normalize_outbound_headers=False, header_encoding="utf-8"
        )
        self.h2 = h2.connection.H2Connection(config)
        self.h2.initiate_connection()
        self.flush()

    def flush(self):
        self.socket.sendall(self.h2.data_to_send())

    def send(self, headers, body=None):
        stream = self.h2.get_next_available_stream_id()
        self.h2.send_headers(stream, headers, end_stream=body is None)
        if body is not None:
            self.h2.send_data(stream, body, end_stream=True)
        self.flush()
        return stream

    def outcome(self, stream):
        """Returns the status of a stream, "reset", or "closed" if the connection ends."""
        while True:
            try:
                data = self.socket.recv(65536)
            except (ConnectionError, ssl.SSLError):
                return "closed"
            if not data:
                return "closed"
            for event in self.h2.receive_data(data):
                if isinstance(event, h2.events.ResponseReceived) and event.stream_id == stream:
                    return int(dict(event.headers)[":status"])
                if isinstance(event, h2.events.StreamReset) and event.stream_id == stream:
                    return "reset"
                if isinstance(event, h2.events.ConnectionTerminated):
                    return "closed"
            self.flush()


def head(authority="localhost", method="GET", path="/healthz", *more):
    fields = [(":method", method), (":scheme", "https"), (":path", path)]
    return fields + ([(":authority", authority)] if authority else []) + list(more)


def test_hosts_over_http2(serve, authority):
    server = serve("--in-memory", *authority.flags)
    for fields, expected in (
        (head("localhost"), 200),
        (head(f"127.0.0.1:{server.port}"), 200),
        (head("localhost", "GET", "/healthz", ("host", "localhost")), 200),
        (head(None, "GET", "/healthz", ("host", "localhost")), 200),
        (head("evil.example"), 421),
        (head("localhost.evil.example"), 421),
        (head("evil.example", "POST", "/"), 421),
        (head("localhost", "GET", "/healthz", ("host", "evil.example")), 400),
        (head("evil.example", "GET", "/healthz", ("host", "localhost")), 400),
        (head("localhost", "GET", "/healthz", ("host", "localhost"), ("host", "localhost")), 400),
        (head(None), 400),
        (head("localhost", "GET", "/v1", ("origin", "https://evil.example")), 403),
        (head("localhost", "GET", "/v1", ("sec-fetch-site", "cross-site")), 403),
        (head("localhost", "GET", "/healthz", *[(f"x-{number}", "x") for number in range(101)]), 431),
        (head("localhost", "GET", "/healthz", ("x-long", "x" * 40_000)), 431),
    ):
        raw = Raw(authority, server.port)
        found = raw.outcome(raw.send(fields))
        assert found == expected, (fields[:6], found)


def test_bodies_over_http2(serve, authority):
    server = serve("--in-memory", "--body-bytes-max", "100KB", *authority.flags)
    target = ("x-amz-target", "DynamoDB_20120810.ListTables")
    announced = head("localhost", "POST", "/", target, ("content-length", "200000"))
    raw = Raw(authority, server.port)
    stream = raw.h2.get_next_available_stream_id()
    raw.h2.send_headers(stream, announced)
    raw.flush()
    assert raw.outcome(stream) == 413
    # A body without an announced length is cut off at the limit.
    stream = raw.h2.get_next_available_stream_id()
    raw.h2.send_headers(stream, head("localhost", "POST", "/", target))
    raw.flush()
    for _ in range(4):
        raw.h2.send_data(stream, b" " * 15_000)
    raw.flush()
    while raw.h2.local_flow_control_window(stream) < 50_000:
        raw.h2.receive_data(raw.socket.recv(65536))
    for _ in range(3):
        raw.h2.send_data(stream, b" " * 15_000)
    raw.flush()
    assert raw.outcome(stream) == 413
    assert raw.outcome(raw.send(head("localhost", "POST", "/", target), b"{}")) == 200


def test_framing_over_http2(serve, authority):
    """Forms that HTTP/2 forbids because a proxy could translate them into another request."""
    server = serve("--in-memory", *authority.flags)
    post = ("localhost", "POST", "/")
    for fields, body in (
        (head(*post, ("transfer-encoding", "chunked")), b"{}"),
        (head(*post, ("connection", "close")), b"{}"),
        (head(*post, ("upgrade", "websocket")), b"{}"),
        (head(*post, ("content-length", "1")), b"{}"),
        (head(*post, ("content-length", "3")), b"{}"),
        (head(*post, ("content-length", "2"), ("content-length", "3")), b"{}"),
        (head(*post, ("X-Upper", "x")), b"{}"),
        (head(*post, ("x-line", "x\r\nhost: evil.example")), b"{}"),
        (head("user@localhost"), None),
    ):
        raw = Raw(authority, server.port)
        found = raw.outcome(raw.send(fields, body))
        assert found in ("reset", "closed", 400), (fields[4:], found)
    assert server.process.poll() is None


def test_rapid_reset(serve, authority):
    """A client that cancels every request at once (CVE-2023-44487) is disconnected."""
    server = serve("--in-memory", *authority.flags)
    raw = Raw(authority, server.port)
    try:
        for _ in range(5000):
            stream = raw.h2.get_next_available_stream_id()
            raw.h2.send_headers(stream, head(), end_stream=True)
            raw.h2.reset_stream(stream, h2.errors.ErrorCodes.CANCEL)
        raw.flush()
        stream = raw.send(head())
        assert raw.outcome(stream) == "closed"
    except (ConnectionError, ssl.SSLError):
        pass  # Disconnected while it was sending.
    fresh = Raw(authority, server.port)
    assert fresh.outcome(fresh.send(head())) == 200


def test_a_client_that_does_not_read_is_disconnected(serve, authority):
    server = serve("--in-memory", "--write-timeout", "500ms", *authority.flags)
    raw = Raw(authority, server.port)
    raw.h2.update_settings({h2.settings.SettingCodes.INITIAL_WINDOW_SIZE: 0})
    raw.flush()
    stream = raw.send(head("localhost", "GET", "/v1/discord/openapi.json"))
    assert raw.outcome(stream) == 200
    begin = time.monotonic()
    while raw.socket.recv(65536):
        assert time.monotonic() < begin + 15
    assert time.monotonic() < begin + 15


def frame(message):
    """Returns a masked text frame."""
    body, mask = json.dumps(message).encode(), b"\1\2\3\4"
    length = bytes([0x80 | len(body)]) if len(body) < 126 else bytes([0x80 | 126]) + struct.pack(">H", len(body))
    return b"\x81" + length + mask + bytes(byte ^ mask[place % 4] for place, byte in enumerate(body))


def test_live_reads_over_tls(serve, authority):
    server = serve("--in-memory", *authority.flags)
    upgrade = (
        "GET /v1/discord/live HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
        "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
        f"X-Keyform-Caller: userId={USER}\r\n\r\n"
    )
    with authority.connect(server.port, "http/1.1") as live:
        live.sendall(upgrade.encode())
        assert b"101 Switching Protocols" in live.recv(65536)
        live.sendall(frame({"type": "subscribe", "id": "s", "read": "serversOfUser", "arguments": {"userId": USER}}))
        received = b""
        while b'"page"' not in received:
            received += live.recv(65536)
        with httpx.Client(http2=True, verify=authority.context()) as client:
            url = f"https://localhost:{server.port}/v1/discord/createServer"
            assert client.post(url, json={"name": "one"}, headers=CALLER).status_code == 200
        while b'"insert"' not in received:
            received += live.recv(65536)


def test_plain_http_is_told_to_use_https(serve, authority):
    server = serve("--in-memory", *authority.flags)
    assert status(server.port, b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n") == 400
    assert status(server.port, b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999\r\n\r\n" + b"x" * 99999) == 400


def serial(authority, port):
    with authority.connect(port) as connection:
        return connection.getpeercert()["serialNumber"]


@pytest.mark.parametrize("told", [False, True], ids=["by-itself", "by-signal"])
def test_renewal_under_open_connections(serve, authority, told):
    server = serve("--in-memory", "--log-level", "info", *authority.flags)
    first = serial(authority, server.port)
    old = http.client.HTTPSConnection("localhost", server.port, context=authority.context(), timeout=20)
    with httpx.Client(http2=True, verify=authority.context(), base_url=f"https://localhost:{server.port}") as client:
        answers = lambda: (old.request("GET", "/healthz"), old.getresponse().read(), client.get("/healthz").text)[1:]  # noqa: E731
        assert answers() == (b"ok\n", "ok\n")
        socket_before = old.sock
        authority.renew()
        if told:
            server.process.send_signal(signal.SIGHUP)
        end = time.monotonic() + 15
        while serial(authority, server.port) == first:
            assert time.monotonic() < end, server.err
            time.sleep(0.1)
        assert answers() == (b"ok\n", "ok\n") and old.sock is socket_before
        renewed = serial(authority, server.port)
        (authority.folder / "cert.pem").write_text("broken")
        if told:
            server.process.send_signal(signal.SIGHUP)
        while "still using the previous certificate" not in server.err:
            assert time.monotonic() < end + 15, server.err
            time.sleep(0.1)
        assert serial(authority, server.port) == renewed
        assert answers() == (b"ok\n", "ok\n")
    assert server.stop() == 0


def test_files_that_cannot_be_used_are_refused_at_the_start(authority, tmp_path):
    def refusal(*flags):
        command = [BINARY, "serve", "--in-memory", "--port", "0", *flags]
        variables = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
        ended = subprocess.run(command, capture_output=True, text=True, timeout=30, env=variables, cwd=tmp_path)
        assert ended.returncode == 2
        return ended.stderr

    assert "pass --tls-key with it" in refusal(*authority.flags[:2])
    assert "pass --tls-cert with it" in refusal(*authority.flags[2:])
    (tmp_path / "key.pem").chmod(0o644)
    assert "chmod 600" in refusal(*authority.flags)
    (tmp_path / "key.pem").chmod(0o600)
    other = trustme.CA().issue_cert("localhost")
    (tmp_path / "key.pem").write_bytes(other.private_key_pem.bytes())
    assert "does not fit the certificate" in refusal(*authority.flags)

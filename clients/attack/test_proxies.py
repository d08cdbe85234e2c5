"""Addresses that proxies name: believed from trusted proxies only, for rate limits, connection limits and the log."""

import socket

from test_throttle import PASSWORD

PROXY, STRANGER = "127.0.0.7", "127.0.0.8"


def log_in(server, source, forwarded):
    headers = {"Content-Type": "application/json", **forwarded}
    who = {"email": "absent@example.com", "password": PASSWORD}
    return server.request("POST", "/v1/discord/logIn", who, headers, source=source).status


def until_limited(server, source, forwarded, tries=40):
    """Returns the number of attempts before the first 429."""
    for count in range(tries):
        if log_in(server, source, forwarded(count)) == 429:
            return count
    return tries


def test_rate_limits_count_the_client_that_a_trusted_proxy_names(serve):
    server = serve("--in-memory", "--trusted-proxy", PROXY)
    one = until_limited(server, PROXY, lambda _: {"X-Forwarded-For": "203.0.113.1"})
    assert 5 <= one < 40
    assert log_in(server, PROXY, {"X-Forwarded-For": "203.0.113.2"}) != 429, "another client has its own limit"
    claimed = {"X-Forwarded-For": "198.51.100.1, 203.0.113.1"}
    assert log_in(server, PROXY, claimed) == 429, "what the client claims does not count"


def test_a_stranger_cannot_choose_its_address(serve):
    for header in ("X-Forwarded-For", "Forwarded"):
        server = serve("--in-memory", "--trusted-proxy", PROXY)
        value = "for=203.0.113.{}" if header == "Forwarded" else "203.0.113.{}"
        assert until_limited(server, STRANGER, lambda count: {header: value.format(count)}) < 40


def test_the_log_and_the_connection_limit_use_the_address(serve):
    flags = ["--access-log", "on", "--log-level", "info", "--connections-per-address-max", "2"]
    server = serve("--in-memory", "--trusted-proxy", "127.0.0.0/29", *flags)
    idle = [socket.create_connection(("127.0.0.1", server.port), source_address=(PROXY, 0)) for _ in range(5)]
    headers = {"Forwarded": 'for="203.0.113.9:1234";proto=https'}
    assert server.request("GET", "/v1", headers=headers, source=PROXY).status == 200, "a proxy has no limit of its own"
    assert "client=203.0.113.9" in server.err.replace("\x1b[0m", "").replace("\x1b[2m", "").replace("\x1b[3m", "")
    upgrade = (
        "GET /v1/discord/live HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
        "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nX-Forwarded-For: 203.0.113.5\r\n\r\n"
    )
    for connection, expected in zip(idle, (b"101", b"101", b"503")):
        connection.sendall(upgrade.encode())
        assert connection.recv(65536).split(b" ")[1] == expected
    assert server.request("GET", "/v1", headers={"X-Forwarded-For": "203.0.113.5"}, source=PROXY).status == 503
    assert server.request("GET", "/v1", headers={"X-Forwarded-For": "203.0.113.6"}, source=PROXY).status == 200
    for connection in idle:
        connection.close()

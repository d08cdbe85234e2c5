"""Malformed and oversized HTTP requests, and a server that stops under load."""

import os
import signal
import socket
import time

import pytest

from raw import exchange, read_all, status, statuses

GOOD = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
LIST = (
    b"POST / HTTP/1.1\r\nHost: localhost\r\nX-Amz-Target: DynamoDB_20120810.ListTables\r\nContent-Length: 2\r\n"
    b"Connection: close\r\n\r\n{}"
)
HEAD = b"POST / HTTP/1.1\r\nHost: localhost\r\nX-Amz-Target: DynamoDB_20120810.ListTables\r\n"


@pytest.fixture
def server(serve):
    return serve("--in-memory", "--no-systems")


MALFORMED = {
    "no host": b"GET / HTTP/1.1\r\n\r\n",
    "empty host": b"GET / HTTP/1.1\r\nHost:\r\n\r\n",
    "two hosts": b"GET / HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n",
    "two hosts in one": b"GET / HTTP/1.1\r\nHost: localhost, localhost\r\n\r\n",
    "host with a user": b"GET / HTTP/1.1\r\nHost: a@localhost\r\n\r\n",
    "host and target differ": b"GET http://localhost/ HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
    "bare LF everywhere": b"GET / HTTP/1.1\nHost: localhost\n\n",
    "bare LF after a header": b"GET / HTTP/1.1\r\nHost: localhost\nX: y\r\n\r\n",
    "bare LF at the end": b"GET / HTTP/1.1\r\nHost: localhost\r\n\n",
    "bare LF after the request line": b"GET / HTTP/1.1\nHost: localhost\r\n\r\n",
    "bare LF before the request": b"\nGET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "bare CR in a value": b"GET / HTTP/1.1\r\nHost: localhost\r\nX: a\rb\r\n\r\n",
    "NUL in a value": b"GET / HTTP/1.1\r\nHost: localhost\r\nX: a\0b\r\n\r\n",
    "folded line": b"GET / HTTP/1.1\r\nHost: localhost\r\nX: a\r\n b\r\n\r\n",
    "space before the colon": b"GET / HTTP/1.1\r\nHost : localhost\r\n\r\n",
    "no colon": b"GET / HTTP/1.1\r\nHost: localhost\r\nX\r\n\r\n",
    "length and encoding": HEAD + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
    "encoding and length": HEAD + b"Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
    "two lengths": HEAD + b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{} ",
    "one length twice": HEAD + b"Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}",
    "list of lengths": HEAD + b"Content-Length: 2, 2\r\n\r\n{}",
    "length with a sign": HEAD + b"Content-Length: +2\r\n\r\n{}",
    "negative length": HEAD + b"Content-Length: -2\r\n\r\n{}",
    "hexadecimal length": HEAD + b"Content-Length: 0x2\r\n\r\n{}",
    "huge length": HEAD + b"Content-Length: 99999999999999999999\r\n\r\n{}",
    "unknown encoding": HEAD + b"Transfer-Encoding: gzip, chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
    "encoding in disguise": HEAD + b"Transfer-Encoding: xchunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
    "encoding twice": HEAD + b"Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
    "encoding of an old version": HEAD.replace(b"1.1", b"1.0") + b"Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
    "chunk with a bare LF": HEAD + b"Transfer-Encoding: chunked\r\n\r\n2\n{}\r\n0\r\n\r\n",
    "chunk with a sign": HEAD + b"Transfer-Encoding: chunked\r\n\r\n+2\r\n{}\r\n0\r\n\r\n",
    "chunk that is longer than its size": HEAD + b"Transfer-Encoding: chunked\r\n\r\n1\r\n{}\r\n0\r\n\r\n",
    "chunk without a size": HEAD + b"Transfer-Encoding: chunked\r\n\r\n;x\r\n{}\r\n0\r\n\r\n",
    "control character in the target": b"GET /\x01 HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "unknown version": b"GET / HTTP/1.7\r\nHost: localhost\r\n\r\n",
    "no version": b"GET /\r\nHost: localhost\r\n\r\n",
    "noise": bytes(range(256)),
}


@pytest.mark.parametrize("name", MALFORMED)
def test_malformed_requests_are_refused_and_end_the_connection(server, name):
    # The request after the malformed one, on the same connection, is the one that an attacker would smuggle in.
    answer = exchange(server.port, GOOD + MALFORMED[name] + GOOD)
    assert statuses(answer) == [200, 400], answer


def test_a_refusal_does_not_depend_on_how_the_bytes_arrive(server):
    for name in ("bare LF everywhere", "length and encoding", "one length twice", "chunk with a bare LF", "two hosts"):
        with socket.create_connection(("127.0.0.1", server.port), timeout=10) as connection:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            try:
                for byte in MALFORMED[name]:
                    connection.sendall(bytes([byte]))
            except OSError:
                pass  # Refused before the end.
            assert statuses(read_all(connection)) == [400], name


def test_honest_requests_share_a_connection(server):
    chunked = HEAD + b"Transfer-Encoding: chunked\r\n\r\n2;name=value\r\n{\n\r\n1\r\n}\r\n0\r\nTrailer: x\r\n\r\n"
    sized = HEAD + b"Content-Length: 6\r\n\r\n{\n\n\n\n}"
    assert statuses(exchange(server.port, GOOD + chunked + b"\r\n" + sized + GOOD)) == [200, 200, 200, 200]


@pytest.mark.parametrize(
    "head",
    [
        b"X-Long: " + b"a" * 1_000_000 + b"\r\n",
        b"".join(b"X-%d: a\r\n" % number for number in range(10_000)),
        b"".join(b"X-%d: %s\r\n" % (number, b"a" * 1000) for number in range(90)),
        b"Cookie: " + b"a" * 40_000 + b"\r\n",
    ],
    ids=["long line", "many lines", "long lines", "cookie"],
)
def test_heads_are_bounded(server, head):
    assert status(server.port, b"GET / HTTP/1.1\r\nHost: localhost\r\n" + head + b"\r\n") == 431


def test_long_targets_are_refused(server):
    for length in (40_000, 1_000_000):
        assert status(server.port, b"GET /" + b"a" * length + b" HTTP/1.1\r\nHost: localhost\r\n\r\n") in (414, 431)


def test_a_head_that_never_ends_does_not_grow_the_server(server):
    before = server.resident_bytes()
    connections = [socket.create_connection(("127.0.0.1", server.port), timeout=10) for _ in range(100)]
    for connection in connections:
        try:
            connection.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + b"a" * 500_000)
        except OSError:
            pass  # Refused before the end.
    assert [statuses(read_all(connection)) for connection in connections] == [[431]] * 100
    for connection in connections:
        connection.close()
    assert server.resident_bytes() - before < 64 * 1024 * 1024


def test_a_refused_body_does_not_cut_the_answer_off(server):
    """The client sends a body that is too large before it reads the answer, as most libraries do."""
    head = b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 20000000\r\n\r\n"
    assert status(server.port, head + b"a" * 20_000_000) == 413
    assert status(server.port, head.replace(b"localhost", b"evil.example") + b"a" * 20_000_000) == 421


@pytest.mark.parametrize("stop", [signal.SIGTERM, signal.SIGINT])
def test_connections_that_wait_at_a_stop_are_answered(server, stop):
    """Clients connect and send while SIGSTOP suspends the process, so they are in its accept queue when it gets the signal."""
    os.kill(server.process.pid, signal.SIGSTOP)
    connections = []
    for _ in range(800):
        connection = socket.create_connection(("127.0.0.1", server.port), timeout=10)
        connection.sendall(LIST)
        connections.append(connection)
    os.kill(server.process.pid, stop)
    os.kill(server.process.pid, signal.SIGCONT)
    answers = [statuses(read_all(connection)) for connection in connections]
    assert all(answer in ([200], [503]) for answer in answers), [answer for answer in answers if len(answer) != 1]
    assert server.process.wait(30) == 0


def test_a_silent_connection_does_not_hold_up_a_stop(server):
    silent = [socket.create_connection(("127.0.0.1", server.port), timeout=10) for _ in range(50)]
    begin = time.monotonic()
    assert server.stop() == 0
    assert time.monotonic() - begin < 15
    for connection in silent:
        connection.close()

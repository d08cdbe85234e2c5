"""Requests as bytes on a socket, for forms that no HTTP library sends."""

import re
import socket


def exchange(port, data, timeout=10):
    """Sends the bytes; returns everything that the server answers until it closes the connection or the read times out."""
    with socket.create_connection(("127.0.0.1", port), timeout=timeout) as connection:
        try:
            connection.sendall(data)
            connection.shutdown(socket.SHUT_WR)
        except OSError:
            pass  # The server has closed the connection already; its answer can still be read.
        return read_all(connection)


def read_all(connection):
    received = b""
    try:
        while piece := connection.recv(65536):
            received += piece
    except (ConnectionResetError, TimeoutError):
        pass
    return received


def statuses(answer):
    """Returns the status codes of all responses in the bytes."""
    return [int(code) for code in re.findall(rb"HTTP/1\.1 (\d{3}) ", answer)]


def status(port, data, **options):
    """Returns the status of the only response."""
    answer = exchange(port, data, **options)
    found = statuses(answer)
    assert len(found) == 1, answer
    return found[0]

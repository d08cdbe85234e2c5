"""Fixtures of the attack suite: servers that a test starts as an operator would, and that stop when the test ends."""

import pytest

from server import Server


@pytest.fixture
def serve(tmp_path):
    """Returns a function that starts `keyform serve` with the given arguments and returns a running `Server`."""
    started = []

    def start(*arguments, **options):
        folder = tmp_path / f"server-{len(started)}"
        folder.mkdir()
        server = Server(folder, arguments, **options)
        started.append(server)
        return server.wait_until_ready()

    yield start
    for server in started:
        server.kill()

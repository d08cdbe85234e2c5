"""A flood of log-ins in a small container: the server survives, answers each, and returns the memory."""

import collections
import os
import re
import threading
import time
from pathlib import Path

import pytest

LIMIT = 512 * 1024 * 1024
# Room for the server itself and a few hashes of 19 MB. Unbounded hashing would need more than the whole container.
PEAK_MAX = 256 * 1024 * 1024
AFTERWARDS_MAX = 128 * 1024 * 1024
LOGINS = 100


class Container:
    """A memory limit like that of a container: a control group of version 1 or 2 or, without the permission to create one, `prlimit`."""

    def __init__(self):
        name = f"keyform-attack-{os.getpid()}-{time.monotonic_ns()}"
        self.folder, self.prefix = None, ("prlimit", f"--data={LIMIT}")
        for parent, limit in [("/sys/fs/cgroup/memory", "memory.limit_in_bytes"), ("/sys/fs/cgroup", "memory.max")]:
            folder = Path(parent, name)
            try:
                folder.mkdir()
                (folder / limit).write_text(str(LIMIT))
            except OSError:
                if folder.is_dir():
                    folder.rmdir()
                continue
            self.folder = folder
            # The shell joins the group before it executes the server, so that the group counts all of the server's memory.
            self.prefix = ("sh", "-c", f'echo $$ > {folder}/cgroup.procs; exec "$@"', "sh")
            return

    def kills(self):
        """Returns the number of processes that the kernel has killed for lack of memory."""
        for name in ("memory.oom_control", "memory.events"):
            if self.folder and (self.folder / name).exists():
                found = re.search(r"oom_kill (\d+)", (self.folder / name).read_text())
                return int(found[1]) if found else 0
        return 0

    def close(self):
        if self.folder:
            self.folder.rmdir()


@pytest.fixture
def container(request):
    container = Container()
    request.addfinalizer(container.close)
    return container


@pytest.fixture
def small_server(container, serve):
    server = serve("--in-memory", prefix=container.prefix)
    yield server
    # The group can be removed only after the process has ended.
    server.kill()


def peak_bytes(server):
    status = Path(f"/proc/{server.process.pid}/status").read_text()
    return int(re.search(r"VmHWM:\s+(\d+) kB", status)[1]) * 1024


def flood(server, count):
    """Sends concurrent log-ins; returns the number of answers by status."""
    answers, start = collections.Counter(), threading.Barrier(count)

    def log_in(number):
        arguments = {"email": f"user{number}@example.com", "password": "not the password"}
        start.wait()
        try:
            # Each log-in comes from its own address, so that the limit per client does not make the flood harmless.
            source = f"127.0.1.{number + 1}"
            answers[server.call("discord", "logIn", arguments, timeout=120, source=source).status] += 1
        except OSError as error:
            answers[repr(error)] += 1

    threads = [threading.Thread(target=log_in, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return answers


def wait_until(holds, seconds):
    end = time.monotonic() + seconds
    while not holds() and time.monotonic() < end:
        time.sleep(0.1)
    return holds()


def test_a_flood_of_logins_fits_a_small_container(small_server, container):
    # Two rounds, to show that memory does not accumulate.
    for _ in range(2):
        answers = flood(small_server, LOGINS)
        assert small_server.process.poll() is None, f"killed: {small_server.err}"
        assert sum(answers.values()) == LOGINS and set(answers) <= {200, 401, 409, 429, 503}, answers
    assert container.kills() == 0
    assert peak_bytes(small_server) < PEAK_MAX
    returned = wait_until(lambda: small_server.resident_bytes() < AFTERWARDS_MAX, 30)
    assert returned, f"{small_server.resident_bytes() >> 20} MB are kept"
    assert small_server.request("GET", "/healthz").status == 200
    # The server still computes hashes for later callers.
    later = small_server.call("discord", "logIn", {"email": "later@example.com", "password": "not the password"})
    assert later.status in {401, 409, 429}, later

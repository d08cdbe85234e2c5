"""A full disk: the server rejects writes with the reason, continues to read, and accepts writes when space is available again."""

import os
import shutil
import subprocess
import time
from pathlib import Path

import pytest

SIZE = 128 * 1024 * 1024
KEY = {"AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
       "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}], "BillingMode": "PAY_PER_REQUEST"}


class SmallDisk:
    """A file system of a fixed size in its own mount namespace, so that nothing remains after the test."""

    def __init__(self, folder):
        self.folder = folder
        root = os.geteuid() == 0
        mount = f'mount -t tmpfs -o size={SIZE} tmpfs "$0" && echo mounted && exec sleep 900'
        command = ["unshare", "-m" if root else "-rm", "sh", "-c", mount, str(folder)]
        self.holder = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        if self.holder.stdout.readline() != "mounted\n":
            pytest.skip("this account may not mount a file system, not even in a namespace of its own")
        enter = ["-m"] if root else ["-U", "--preserve-credentials", "-m"]
        self.prefix = ("nsenter", "-t", str(self.holder.pid), *enter)
        self.inside = Path(f"/proc/{self.holder.pid}/root{folder}")
        # All servers on this disk share one key, which is stored outside it.
        self.arguments = ("--data", str(folder / "data"), "--master-key-file", str(folder.parent / "master.key"))

    def fill(self, left=0):
        """Uses up all space except `left` bytes."""
        with open(self.inside / "ballast", "wb") as ballast:
            free = shutil.disk_usage(self.inside).free - left
            os.posix_fallocate(ballast.fileno(), 0, free // 4096 * 4096)

    def free(self):
        (self.inside / "ballast").unlink()

    def close(self):
        self.holder.kill()
        self.holder.wait()


@pytest.fixture
def disk(tmp_path, request):
    folder = tmp_path / "small-disk"
    folder.mkdir()
    disk = SmallDisk(folder)
    request.addfinalizer(disk.close)
    return disk


def put(server, number, size=100_000):
    item = {"pk": {"S": str(number)}, "v": {"S": str(number) * (size // len(str(number)))}}
    return server.dynamodb("PutItem", {"TableName": "items", "Item": item})


def put_until_refused(server, first, count=400):
    """Writes until a write is rejected; returns the acknowledged numbers and the rejection."""
    acknowledged = []
    for number in range(first, first + count):
        answer = put(server, number)
        if answer.status != 200:
            return acknowledged, answer
        acknowledged.append(number)
    raise AssertionError(f"{count} writes fit on a full disk")


def check_items(server, numbers):
    for number in numbers:
        found = server.dynamodb("GetItem", {"TableName": "items", "Key": {"pk": {"S": str(number)}}})
        assert found.status == 200 and found.json["Item"]["v"]["S"].startswith(str(number)), (number, found)


def eventually(holds, seconds=30):
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "it did not come back"
        time.sleep(0.1)


def test_a_full_disk_refuses_writes_and_takes_them_again(serve, disk):
    server = serve(*disk.arguments, prefix=disk.prefix)
    assert server.dynamodb("CreateTable", {"TableName": "items", **KEY}).status == 200
    acknowledged = list(range(20))
    assert all(put(server, number).status == 200 for number in acknowledged)

    for round in range(2):
        # In the second round, space runs out in the middle of the store's work.
        disk.fill(left=round * 1_000_000)
        more, refusal = put_until_refused(server, 1000 * (round + 1))
        acknowledged += more
        assert refusal.status in {500, 503} and b"o space left" in refusal.body, refusal
        assert server.request("GET", "/healthz").status == 200
        readiness = server.request("GET", "/readyz")
        assert readiness.status == 503 and b"o space left" in readiness.body, readiness
        check_items(server, acknowledged)
        assert server.dynamodb("Scan", {"TableName": "items", "Select": "COUNT"}).status == 200

        disk.free()
        eventually(lambda: put(server, f"back-{round}").status == 200)
        acknowledged.append(f"back-{round}")
        eventually(lambda: server.request("GET", "/readyz").status == 200)
        check_items(server, acknowledged)

    # Neither a clean stop nor a kill loses an acknowledged write.
    assert server.stop() == 0
    second = serve(*disk.arguments, prefix=disk.prefix)
    check_items(second, acknowledged)
    assert put(second, "second").status == 200
    second.kill()
    check_items(serve(*disk.arguments, prefix=disk.prefix), [*acknowledged, "second"])


def test_a_stop_on_a_full_disk_loses_nothing_and_is_no_failure(serve, disk):
    server = serve(*disk.arguments, prefix=disk.prefix)
    assert server.dynamodb("CreateTable", {"TableName": "items", **KEY}).status == 200
    acknowledged = list(range(20))
    assert all(put(server, number).status == 200 for number in acknowledged)
    disk.fill()
    more, _ = put_until_refused(server, 1000)
    assert server.stop() == 0, server.err
    assert "WARN" in server.err and "no acknowledged write is lost" in server.err, server.err
    disk.free()
    check_items(serve(*disk.arguments, prefix=disk.prefix), [*acknowledged, *more])


def test_a_server_on_a_full_disk_starts_and_reads(serve, disk):
    first = serve(*disk.arguments, prefix=disk.prefix)
    assert first.dynamodb("CreateTable", {"TableName": "items", **KEY}).status == 200
    assert all(put(first, number).status == 200 for number in range(20))
    disk.fill()
    first.kill()
    second = serve(*disk.arguments, prefix=disk.prefix)
    check_items(second, range(20))
    assert second.request("GET", "/healthz").status == 200
    disk.free()
    eventually(lambda: put(second, 20).status == 200)
    check_items(second, range(21))

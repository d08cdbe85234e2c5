"""Damaged and missing files of a data directory, and a lock file deleted by hand."""

import base64
import random
import re
import shutil
import time

import pytest

from server import Server

PLAIN = ("--encryption", "off")
TABLE = "Things"
# Upper bound for each request: the server answers at once, and the client does not retry.
SECONDS = 5


def create(server):
    answer = server.dynamodb(
        "CreateTable",
        {
            "TableName": TABLE,
            "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
            "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
            "BillingMode": "PAY_PER_REQUEST",
        },
    )
    assert answer.status == 200, answer


def put(server, name, text="text", **options):
    item = {"pk": {"S": name}, "text": {"S": text}}
    return server.dynamodb("PutItem", {"TableName": TABLE, "Item": item}, **options)


def get(server, name, **options):
    return server.dynamodb("GetItem", {"TableName": TABLE, "Key": {"pk": {"S": name}}}, **options)


def journals(server):
    return sorted(server.data.glob("*.journal"))


@pytest.fixture
def again(tmp_path):
    """Returns a function that starts another server on a data directory, without waiting for it."""
    started = []

    def start(server, *arguments):
        folder = tmp_path / f"again-{len(started)}"
        folder.mkdir()
        # The keys of the first server, if it has any.
        if (server.folder / "config").exists():
            shutil.copytree(server.folder / "config", folder / "config")
        started.append(Server(folder, arguments, data=server.data))
        return started[-1]

    yield start
    for server in started:
        server.kill()


def refusal(server):
    """Returns the error message of a server that must not start."""
    assert server.process.wait(SECONDS * 2) == 2, server.err
    return server.err


def flip(path, offset):
    content = bytearray(path.read_bytes())
    content[offset] ^= 1
    path.write_bytes(content)


def last_byte(path):
    """Returns the position of the last byte that is not zero: the end of the last frame, without preallocated space."""
    return len(path.read_bytes().rstrip(b"\0")) - 1


@pytest.mark.parametrize("arguments", [(), PLAIN], ids=["encrypted", "plain"])
def test_damaged_last_frame_is_a_warning_with_byte_counts(serve, again, arguments):
    server = serve(*arguments)
    create(server)
    assert put(server, "first").status == 200
    assert put(server, "last", "x" * 100).status == 200
    server.kill()
    journal = journals(server)[-1]
    flip(journal, last_byte(journal) - 5)
    restarted = again(server, *arguments).wait_until_ready()
    warning = next(line for line in restarted.err.splitlines() if "may have been acknowledged" in line)
    assert "WARN" in warning and journal.name in warning
    position, kept, dropped = (
        int(re.search(rf"{name}=(\d+)", warning)[1]) for name in ("position", "bytes_kept", "bytes_dropped")
    )
    assert position == kept == journal.stat().st_size and dropped > 100
    assert "Item" in get(restarted, "first").json
    assert "Item" not in get(restarted, "last").json
    assert put(restarted, "next").status == 200


def test_torn_last_frame_is_no_warning(serve, again):
    """The end of the frame was never written: the preallocated space is still zeros."""
    server = serve(*PLAIN)
    create(server)
    assert put(server, "first").status == 200
    assert put(server, "last", "x" * 1000).status == 200
    server.kill()
    journal = journals(server)[-1]
    content = journal.read_bytes()
    kept = last_byte(journal) - 500
    journal.write_bytes(content[:kept] + bytes(len(content) - kept))
    restarted = again(server, *PLAIN).wait_until_ready()
    assert "WARN" not in restarted.err
    assert "Item" in get(restarted, "first").json


def test_a_truncated_journal_is_a_warning_with_byte_counts(serve, again):
    server = serve(*PLAIN)
    create(server)
    assert put(server, "first").status == 200
    assert put(server, "last", "x" * 1000).status == 200
    server.kill()
    journal = journals(server)[-1]
    content = journal.read_bytes()[: last_byte(journal) - 500]
    journal.write_bytes(content)
    restarted = again(server, *PLAIN).wait_until_ready()
    warning = next(line for line in restarted.err.splitlines() if "bytes were removed" in line)
    assert "WARN" in warning and journal.name in warning
    kept, dropped = (int(re.search(rf"{name}=(\d+)", warning)[1]) for name in ("bytes_kept", "bytes_dropped"))
    assert kept + dropped == len(content) and dropped > 400
    assert "Item" in get(restarted, "first").json


def test_missing_newest_journal_is_noticed_after_a_kill(serve, again):
    server = serve(*PLAIN)
    create(server)
    assert put(server, "only").status == 200
    server.kill()
    newest = journals(server)[-1]
    newest.rename(server.folder / "aside")
    message = refusal(again(server, *PLAIN))
    assert newest.name in message and "missing" in message and "backup" in message
    (server.folder / "aside").rename(newest)
    assert "Item" in get(again(server, *PLAIN).wait_until_ready(), "only").json


def test_emptied_newest_journal_is_noticed_after_a_kill(serve, again):
    server = serve(*PLAIN)
    create(server)
    assert put(server, "only").status == 200
    server.kill()
    newest = journals(server)[-1]
    newest.write_bytes(b"")
    assert newest.name in refusal(again(server, *PLAIN))


@pytest.mark.parametrize("removed", [False, True], ids=["lock there", "lock removed"])
def test_second_server_is_refused_with_the_process_of_the_first(serve, again, removed):
    server = serve(*PLAIN)
    create(server)
    if removed:
        (server.data / "LOCK").unlink()
    message = refusal(again(server, *PLAIN))
    assert f"is in use by process {server.process.pid}" in message and "--data" in message, message
    assert put(server, "still").status == 200
    server.kill()
    assert "Item" in get(again(server, *PLAIN).wait_until_ready(), "still").json


def fill_tables(server, items):
    """Writes more than a memtable holds, so that there are table files, and stops the server."""
    create(server)
    # Text that does not compress, so that the files are as large as the items.
    text = base64.b64encode(random.Random(1).randbytes(7500)).decode()
    for number in range(0, items, 25):
        batch = [
            {"PutRequest": {"Item": {"pk": {"S": f"thing {each}"}, "text": {"S": f"{each} {text}"}}}}
            for each in range(number, number + 25)
        ]
        assert server.dynamodb("BatchWriteItem", {"RequestItems": {TABLE: batch}}).status == 200
    end = time.monotonic() + 60
    while not list(server.data.glob("*.table")):
        assert time.monotonic() < end, "no table was written"
        put(server, "more", text)
    assert server.stop() == 0


def test_damaged_block_fails_its_requests_at_once(serve, again):
    arguments = (*PLAIN, "--log-level", "warn")
    server = serve(*arguments)
    items = 4000
    fill_tables(server, items)
    for table in server.data.glob("*.table"):
        content = bytearray(table.read_bytes())
        # Blocks in the middle hold items; the catalog is at the beginning, the root of the index at the end.
        for offset in range(len(content) * 2 // 5, len(content) * 3 // 5, 50_000):
            content[offset] ^= 1
        table.write_bytes(content)
    restarted = again(server, *arguments).wait_until_ready()
    statuses = {200: 0, 500: 0}
    for number in range(0, items, 10):
        answer = get(restarted, f"thing {number}", timeout=SECONDS)
        statuses[answer.status] += 1
        if answer.status == 200:
            assert answer.json["Item"]["text"]["S"].startswith(f"{number} ")
        else:
            assert "InternalServerError" in answer.json["__type"]
    assert statuses[500] > 0 and statuses[200] > 0, statuses
    for operation, body in (
        ("Scan", {"TableName": TABLE}),
        ("PutItem", {"TableName": TABLE, "Item": {"pk": {"S": "new"}}}),
        ("DescribeTable", {"TableName": TABLE}),
    ):
        assert restarted.dynamodb(operation, body, timeout=SECONDS).status in (200, 500), operation
    assert restarted.request("GET", "/readyz", timeout=SECONDS).status == 200
    assert "ERROR" in restarted.err and "damaged" in restarted.err


def test_table_file_that_is_gone_is_named(serve, again):
    server = serve(*PLAIN)
    fill_tables(server, 4000)
    table = next(server.data.glob("*.table"))
    table.unlink()
    message = refusal(again(server, *PLAIN))
    assert table.name in message and "missing" in message


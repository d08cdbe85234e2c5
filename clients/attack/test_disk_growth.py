"""Overwrites, counters and short-lived tables must not fill the disk or the memory."""

import concurrent.futures
import http.client
import json
import os
import time
from pathlib import Path

from server import Server

MEGABYTE = 1 << 20
JOURNAL_MAX = 128 * MEGABYTE
SPACE_MAX = 256 * MEGABYTE
# Several times the maximum size of the journal, so that a journal that is never cut would exceed it.
TRAFFIC = 400 * MEGABYTE
SECONDS_MAX = 60
KEYS = 1000
ITEM_BYTES = 60_000
BATCH = 25


def sizes(folder: Path):
    """Returns the total size of the files in a folder, by extension."""
    found = {}
    for entry in os.scandir(folder):
        try:
            found[Path(entry.name).suffix] = found.get(Path(entry.name).suffix, 0) + entry.stat().st_size
        except FileNotFoundError:
            pass  # The store removes files while it runs.
    return found


def used(folder: Path):
    return sum(sizes(folder).values())


def eventually(condition, seconds=60):
    """Waits until the condition holds or the time is up; returns whether it holds."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.1)
    return condition()


class Client:
    """DynamoDB operations over one connection that stays open."""

    def __init__(self, server: Server):
        self.connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)

    def __call__(self, operation, **body):
        headers = {"X-Amz-Target": f"DynamoDB_20120810.{operation}", "Content-Type": "application/x-amz-json-1.0"}
        self.connection.request("POST", "/", json.dumps(body), headers)
        response = self.connection.getresponse()
        answer = json.loads(response.read())
        assert response.status == 200, f"{operation}: {response.status} {answer}"
        return answer


def create(client, name, **more):
    client(
        "CreateTable",
        TableName=name,
        AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
        KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
        BillingMode="PAY_PER_REQUEST",
        **more,
    )


def noise(length):
    """Returns text that hardly compresses."""
    return os.urandom(length // 2).hex()


def overwrite(server, watch):
    """Overwrites a thousand small items and fifty large ones up to TRAFFIC bytes or SECONDS_MAX; returns the bytes written."""
    client, large, end = Client(server), noise(ITEM_BYTES), time.monotonic() + SECONDS_MAX
    written, number = 0, 0
    while written < TRAFFIC and time.monotonic() < end:
        keys = [f"large-{(number + place) % 50}" for place in range(BATCH - 5)]
        keys += [f"small-{(number * 5 + place) % KEYS}" for place in range(5)]
        puts = [
            {"PutRequest": {"Item": {"pk": {"S": key}, "n": {"N": str(number)}, "data": {"S": large if key[0] == "l" else "x"}}}}
            for key in keys
        ]
        client("BatchWriteItem", RequestItems={"things": puts})
        number += BATCH - 5
        written += (BATCH - 5) * ITEM_BYTES
        watch()
    return written


def test_overwrites_do_not_fill_the_disk(serve):
    server = serve()
    create(Client(server), "things")
    most = {"journal": 0, "all": 0}

    def watch():
        found = sizes(server.data)
        most["journal"] = max(most["journal"], found.get(".journal", 0))
        most["all"] = max(most["all"], sum(found.values()))

    written = overwrite(server, watch)
    live = 50 * ITEM_BYTES + KEYS * 100
    print(f"{written >> 20} MB written, at most {most['journal'] >> 20} MB of journal and {most['all'] >> 20} MB in all")
    assert written > 2 * JOURNAL_MAX, "the machine is too slow for this test to show anything"
    assert most["journal"] <= JOURNAL_MAX
    assert most["all"] <= 3 * live + SPACE_MAX

    # When the server is idle, the journal becomes a table.
    busy = used(server.data)
    assert eventually(lambda: sizes(server.data).get(".journal", 0) <= MEGABYTE), sizes(server.data)
    assert used(server.data) <= min(busy, 3 * live + 64 * MEGABYTE)

    # After a kill in the middle of writing, the journal to replay is bounded, and shrinks after the restart.
    client = Client(server)
    for number in range(20):
        puts = [{"PutRequest": {"Item": {"pk": {"S": f"large-{place}"}, "data": {"S": noise(ITEM_BYTES)}}}} for place in range(BATCH)]
        client("BatchWriteItem", RequestItems={"things": puts})
    server.kill()
    assert sizes(server.data).get(".journal", 0) <= JOURNAL_MAX
    again = serve(data=server.data, environment=keys_of(server))
    assert eventually(lambda: sizes(server.data).get(".journal", 0) <= MEGABYTE), sizes(server.data)
    assert "Item" in Client(again)("GetItem", TableName="things", Key={"pk": {"S": "large-7"}})

    # After a regular stop, there is nothing to replay.
    Client(again)("PutItem", TableName="things", Item={"pk": {"S": "last"}})
    assert again.stop() == 0
    assert sizes(server.data).get(".journal", 0) == 0, sizes(server.data)
    assert used(server.data) <= 3 * live + 64 * MEGABYTE
    third = serve(data=server.data, environment=keys_of(server))
    assert "Item" in Client(third)("GetItem", TableName="things", Key={"pk": {"S": "last"}})


def keys_of(server):
    """Returns the environment in which another server finds the keys of this one."""
    return {"HOME": str(server.folder), "XDG_CONFIG_HOME": str(server.folder / "config")}


def test_counters_do_not_fill_the_disk(serve):
    server = serve("--durability", "os")
    create(Client(server), "things")

    def count(worker):
        client, end = Client(server), time.monotonic() + 10
        done = 0
        while time.monotonic() < end:
            client(
                "UpdateItem",
                TableName="things",
                Key={"pk": {"S": f"counter-{worker}-{done % 20}"}},
                UpdateExpression="ADD hits :one",
                ExpressionAttributeValues={":one": {"N": "1"}},
            )
            done += 1
        return done

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        done = sum(pool.map(count, range(4)))
    assert done > 500
    assert server.stop() == 0
    assert sizes(server.data).get(".journal", 0) == 0
    assert used(server.data) < MEGABYTE, f"{done} updates of 80 counters: {sizes(server.data)}"


def test_tables_that_come_and_go_leave_memory_where_it_was(serve):
    server = serve("--durability", "os")

    def come_and_go(client, name):
        create(client, name, StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"})
        client("PutItem", TableName=name, Item={"pk": {"S": "a"}, "data": {"S": "x" * 100}})
        client("DeleteTable", TableName=name)

    def rounds(client, prefix, count, seconds):
        end, done = time.monotonic() + seconds, 0
        while done < count and time.monotonic() < end:
            come_and_go(client, f"{prefix}-{done % 7}")
            done += 1
        return done

    client = Client(server)
    # Warm up: every server allocates threads, buffers and the first memtable once.
    rounds(client, "warm", 500, 20)
    before = server.resident_bytes()
    done = rounds(client, "table", 3000, 45)
    grown = server.resident_bytes() - before
    print(f"{done} tables came and went; memory grew by {grown >> 10} KB")
    assert done > 500, "the machine is too slow for this test to show anything"
    # A stream that stays in memory takes about 2 KB with its record; memtables and journal stay below 32 MB.
    assert grown < 24 * MEGABYTE
    assert client("ListTables")["TableNames"] == []

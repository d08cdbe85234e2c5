"""Idle connections do not use up the file descriptors that the store needs, and probes are always answered."""

import http.client
import json
import os
import re
import resource
import socket
import subprocess
import time
from pathlib import Path

import pytest

USUAL = ("prlimit", "--nofile=1024:1024")
KEY = {"AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
       "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}], "BillingMode": "PAY_PER_REQUEST"}


@pytest.fixture(autouse=True)
def many_descriptors():
    """The attacker needs more descriptors than the server."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


class Idle:
    """Connections that send nothing."""

    def __init__(self, server):
        self.server, self.sockets = server, []

    def open(self, count, source="127.0.0.1"):
        for _ in range(count):
            address = ("127.0.0.1", self.server.port)
            self.sockets.append(socket.create_connection(address, timeout=30, source_address=(source, 0)))

    def close(self):
        for one in self.sockets:
            one.close()
        self.sockets = []


@pytest.fixture
def idle():
    made = []

    def make(server):
        made.append(Idle(server))
        return made[-1]

    yield make
    for one in made:
        one.close()


class Kept:
    """A client that keeps its connection open, as every SDK does."""

    def __init__(self, server):
        self.connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=120)

    def dynamodb(self, operation, body):
        headers = {"X-Amz-Target": f"DynamoDB_20120810.{operation}", "Content-Type": "application/x-amz-json-1.0"}
        self.connection.request("POST", "/", json.dumps(body), headers)
        answer = self.connection.getresponse()
        content = answer.read()
        assert answer.status == 200, content
        return json.loads(content)


def write_until_files_are_made(client, first):
    """Writes more than a memtable holds, so that the store has to open files for tables and for the journal."""
    for number in range(first, first + 120):
        client.dynamodb("PutItem", {"TableName": "items", "Item": {"pk": {"S": str(number)}, "v": {"S": "x" * 390_000}}})


def log_of(server):
    return re.sub(r"\x1b\[[0-9;]*m", "", server.err)


def eventually(holds, seconds=30):
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "it did not come back"
        time.sleep(0.1)


def processor_seconds(server):
    fields = Path(f"/proc/{server.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def test_idle_connections_leave_the_store_its_descriptors(serve, idle):
    server = serve("--durability", "os", prefix=USUAL)
    assert "connections_max does not fit" in log_of(server)
    client = Kept(server)
    client.dynamodb("CreateTable", {"TableName": "items", **KEY})
    crowd = idle(server)
    crowd.open(1300)
    write_until_files_are_made(client, 0)
    used = len(os.listdir(f"/proc/{server.process.pid}/fd"))
    assert used < 1024 - 100, f"{used} descriptors are in use"
    refused = server.dynamodb("ListTables", {})
    assert refused.status == 503 and refused.headers["connection"] == "close", refused
    assert "retry-after" in refused.headers
    assert server.request("GET", "/healthz").status == 200
    readiness = server.request("GET", "/readyz")
    assert readiness.status == 503 and b"connection" in readiness.body, readiness
    crowd.close()
    eventually(lambda: server.request("GET", "/readyz").status == 200)
    assert server.dynamodb("ListTables", {}).json == {"TableNames": ["items"]}
    write_until_files_are_made(client, 120)
    assert client.dynamodb("GetItem", {"TableName": "items", "Key": {"pk": {"S": "7"}}})["Item"]["pk"] == {"S": "7"}


def test_a_refused_flood_is_cheap_to_log(serve, idle):
    server = serve("--in-memory", "--connections-max", "10")
    crowd = idle(server)
    crowd.open(1000)
    assert server.request("GET", "/healthz").status == 200
    lines = [line for line in log_of(server).splitlines() if "connection refused: too many" in line]
    assert 1 <= len(lines) <= 30, len(lines)


def test_the_soft_limit_is_raised_to_the_hard_one(serve, idle):
    server = serve("--in-memory", prefix=("prlimit", "--nofile=256:4096"))
    limits = Path(f"/proc/{server.process.pid}/limits").read_text()
    assert re.search(r"Max open files\s+4096\s+4096", limits), limits
    idle(server).open(600)
    assert server.dynamodb("ListTables", {}).status == 200


def test_one_address_cannot_take_all_connections(serve, idle):
    server = serve("--in-memory", "--connections-per-address-max", "10")
    crowd = idle(server)
    crowd.open(10, source="127.0.0.2")
    refused = server.dynamodb("ListTables", {}, source="127.0.0.2")
    assert refused.status == 503 and b"this client has too many connections" in refused.body, refused
    # The limit of one client affects neither its probes nor other clients.
    for path in ("/healthz", "/readyz"):
        assert server.request("GET", path, source="127.0.0.2").status == 200
    assert server.dynamodb("ListTables", {}, source="127.0.0.3").status == 200
    crowd.close()
    eventually(lambda: server.dynamodb("ListTables", {}, source="127.0.0.2").status == 200)


def test_no_descriptor_left_is_survived_and_a_probe_is_answered(serve, idle):
    server = serve("--durability", "os", prefix=USUAL)
    client = Kept(server)
    client.dynamodb("CreateTable", {"TableName": "items", **KEY})
    idle(server).open(40)
    assert server.request("GET", "/healthz").status == 200
    taken = {int(name) for name in os.listdir(f"/proc/{server.process.pid}/fd")}
    limit = next(number for number in range(1024) if number not in taken)
    subprocess.run(["prlimit", "--pid", str(server.process.pid), f"--nofile={limit}:1024"], check=True)
    before = processor_seconds(server)
    crowd = idle(server)
    crowd.open(20)
    assert server.request("GET", "/healthz").status == 200
    readiness = server.request("GET", "/readyz")
    assert readiness.status == 503 and b"descriptor" in readiness.body, readiness
    time.sleep(2)
    assert processor_seconds(server) - before < 1, "the server spins"
    subprocess.run(["prlimit", "--pid", str(server.process.pid), "--nofile=1024:1024"], check=True)
    crowd.close()
    eventually(lambda: server.request("GET", "/readyz").status == 200)
    write_until_files_are_made(client, 0)
    assert "cannot accept a connection" in log_of(server)


def test_background_work_without_descriptors_is_retried(serve, idle):
    """Flushes fail while no file can be opened. Writes succeed again once files can be opened, without a restart or a lost write."""
    server = serve("--durability", "os", prefix=USUAL)
    client = Kept(server)
    client.dynamodb("CreateTable", {"TableName": "items", **KEY})
    idle(server).open(40)
    assert server.request("GET", "/healthz").status == 200
    taken = {int(name) for name in os.listdir(f"/proc/{server.process.pid}/fd")}
    limit = next(number for number in range(1024) if number not in taken)
    subprocess.run(["prlimit", "--pid", str(server.process.pid), f"--nofile={limit}:1024"], check=True)
    acknowledged, refused = [], None
    # A write may wait for the flush instead of being rejected.
    client.connection.sock.settimeout(5)
    for number in range(400):
        try:
            item = {"pk": {"S": str(number)}, "v": {"S": "x" * 390_000}}
            client.dynamodb("PutItem", {"TableName": "items", "Item": item})
            acknowledged.append(number)
        except (AssertionError, OSError) as error:
            refused = error
            break
    subprocess.run(["prlimit", "--pid", str(server.process.pid), "--nofile=1024:1024"], check=True)

    def takes_writes():
        item = {"pk": {"S": "afterwards"}, "v": {"S": "x"}}
        return server.dynamodb("PutItem", {"TableName": "items", "Item": item}).status == 200

    eventually(takes_writes)
    assert refused is not None, "400 writes of 390 KB fit into memory"
    eventually(lambda: server.request("GET", "/readyz").status == 200)
    for number in acknowledged:
        found = server.dynamodb("GetItem", {"TableName": "items", "Key": {"pk": {"S": str(number)}}}).json
        assert "Item" in found, f"{number} is lost"

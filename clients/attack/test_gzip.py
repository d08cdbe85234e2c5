"""Gzip bodies that expand to far more than their size, and gzip answers."""

import functools
import gzip
import json
import re
import threading
import zlib
from pathlib import Path

MEGABYTE = 1024 * 1024
USER = "01JD3M5N6P7Q8R9S0T1V2W3X4Y"


@functools.cache
def bomb(megabytes, members=1):
    """Returns gzip that expands to this many megabytes of spaces, in this many members."""
    packing, piece = zlib.compressobj(9, zlib.DEFLATED, 31), b" " * MEGABYTE
    packed = [packing.compress(piece) for _ in range(megabytes // members)]
    return b"".join([*packed, packing.flush()]) * members


def attacks():
    return {
        "one member": (bomb(512), 413),
        "many members": (bomb(512, members=64), 413),
        "empty members before": (gzip.compress(b"") * 100_000 + bomb(64), 413),
        "nested": (gzip.compress(bomb(512)), 400),
        "deep value": (gzip.compress(b'{"TableName":' + b"[" * 8_000_000), 400),
        "cut off": (bomb(512)[:-1000], 413),
        "not gzip": (b"\x1f\x8b" + b"\0" * 1000, 400),
    }


def send(server, path, body):
    headers = {"Content-Encoding": "gzip", "Content-Type": "application/json", "X-Keyform-Caller": f"userId={USER}"}
    if path == "/":
        headers |= {"X-Amz-Target": "DynamoDB_20120810.GetItem", "Content-Type": "application/x-amz-json-1.0"}
    return server.request("POST", path, body, headers, timeout=120)


def peak_bytes(server):
    status = Path(f"/proc/{server.process.pid}/status").read_text()
    return int(re.search(r"VmHWM:\s+(\d+) kB", status)[1]) * 1024


def test_bombs_are_refused_everywhere(serve):
    server = serve("--in-memory")
    for path in ("/", "/v1/discord/createServer", "/v1/discord/register"):
        for name, (body, status) in attacks().items():
            answer = send(server, path, body)
            assert answer.status == status, (path, name, answer)
    assert peak_bytes(server) < 256 * MEGABYTE
    assert server.dynamodb("ListTables", {}).status == 200


def test_sixty_four_bombs_at_once_fit_into_a_small_container(serve):
    limit = 512 * MEGABYTE
    server = serve("--in-memory", "--workers", "4")
    body, answers = bomb(1024), []

    def attack(number):
        answers.append(send(server, "/" if number % 2 else "/v1/discord/register", body))

    threads = [threading.Thread(target=attack, args=(number,)) for number in range(64)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert {answer.status for answer in answers} == {413}, answers[:3]
    assert len(answers) == 64
    # The compressed bodies alone are 64 MB; expanded, they would be 64 GB.
    assert peak_bytes(server) < limit // 2
    assert server.dynamodb("ListTables", {}).status == 200


def test_largest_bodies_that_are_allowed_share_the_memory(serve):
    """Bodies of the maximum size, compressed to a thousandth: not bombs, but the most expensive valid requests."""
    server = serve("--in-memory", "--workers", "4")
    values = b'{"L":[]},' * (15 * MEGABYTE // 9)
    body = gzip.compress(b'{"TableName":"Things","Item":{"pk":{"L":[' + values + b'{"L":[]}]}}}')
    headers = {
        "Content-Encoding": "gzip",
        "X-Amz-Target": "DynamoDB_20120810.PutItem",
        "Content-Type": "application/x-amz-json-1.0",
    }
    answers = []
    threads = [
        threading.Thread(target=lambda: answers.append(server.request("POST", "/", body, headers, timeout=170)))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(170)
    assert {answer.status for answer in answers} == {400}, answers[:3]
    assert peak_bytes(server) < 1024 * MEGABYTE


def test_answers_shrink_well(serve):
    server = serve("--in-memory")
    table = {
        "TableName": "Things",
        "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}],
        "AttributeDefinitions": [{"AttributeName": name, "AttributeType": "S"} for name in ("pk", "sk")],
        "BillingMode": "PAY_PER_REQUEST",
    }
    assert server.dynamodb("CreateTable", table).status == 200
    words = "the meeting was moved to Thursday please bring your notes and a laptop because demo works".split()
    state = 7

    def draw(limit):
        nonlocal state
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        return (state >> 33) % limit

    for number in range(300):
        text = " ".join(words[draw(len(words))] for _ in range(20))
        item = {
            "pk": {"S": "CHANNEL#01JD3M5N6P7Q8R9S0T1V2W3X4Y"},
            "sk": {"S": f"MSG#{draw(2**31):08X}{draw(2**31):08X}{number:05}"},
            "content": {"S": text},
            "createdAt": {"S": f"2026-11-16T08:{draw(60):02}:11.{draw(1000):03}Z"},
            "likes": {"N": str(draw(1000))},
        }
        assert server.dynamodb("PutItem", {"TableName": "Things", "Item": item}).status == 200
    query = {
        "TableName": "Things",
        "KeyConditionExpression": "pk = :pk",
        "ExpressionAttributeValues": {":pk": {"S": "CHANNEL#01JD3M5N6P7Q8R9S0T1V2W3X4Y"}},
    }
    plain = server.dynamodb("Query", query)
    packed = server.dynamodb("Query", query, headers={"Accept-Encoding": "gzip"})
    assert packed.headers["content-encoding"] == "gzip"
    assert json.loads(gzip.decompress(packed.body)) == plain.json
    assert len(plain.body) > 70_000 and len(packed.body) * 4 < len(plain.body), (len(packed.body), len(plain.body))

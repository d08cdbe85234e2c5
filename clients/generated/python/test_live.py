"""Live reads of the generated clients, against a real server at KEYFORM_URL and against servers that stop."""

from __future__ import annotations

import base64
import hashlib
import hmac
import itertools
import json
import os
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

import discord
import everything
from everything import (
    Caller,
    EverythingClient,
    LiveChange,
    LiveChanges,
    LiveItems,
    LivePage,
    LiveRemoval,
    Page,
    Problem,
    Thing,
    ThingId,
    Unreachable,
)
from served import Served

URL = os.environ.get("KEYFORM_URL", "http://127.0.0.1:8000")
NOBODY = ThingId("01KKP2T8SN0000000000000000")
_count = itertools.count()


def fresh(url: str = URL) -> tuple[EverythingClient, str]:
    """Returns a client with a caller of its own, so that tests do not share items."""
    owner = f"live-{os.getpid()}-{next(_count)}"
    return EverythingClient(url, caller=Caller(user_id=owner, role="writer")), owner


def page(live: LiveItems[Thing]) -> LivePage[Thing]:
    event = next(live)
    assert isinstance(event, LivePage)
    return event


def change(live: LiveItems[Thing]) -> tuple[LiveChange[Thing] | LiveRemoval, str]:
    """Returns the next change with its token; skips events that carry only a token."""
    for event in live:
        assert isinstance(event, LiveChanges)
        if event.changes:
            assert len(event.changes) == 1
            return event.changes[0], event.token
    raise AssertionError("it ended")


def test_a_page_an_insert_a_change_and_a_removal() -> None:
    client, owner = fresh()
    first = client.create_thing(title="first", price=9007199254740993, blob=b"\x00\xff", nothing="x")
    with client.live.things(owner=owner) as live:
        begun = page(live)
        assert ([entry.item for entry in begun.items], begun.cursor, begun.reset) == ([first], None, None)
        second = client.create_thing(title="second", labels={"a", "b"}, nothing="x")
        inserted, _ = change(live)
        assert isinstance(inserted, LiveChange)
        assert (inserted.kind, inserted.item) == ("insert", second)
        renamed = client.rename(thing_id=first.thing_id, title="renamed", expected=1)
        modified, _ = change(live)
        assert isinstance(modified, LiveChange)
        assert (modified.kind, modified.item, modified.key) == ("modify", renamed, begun.items[0].key)
        assert abs((modified.at - renamed.updated_at).total_seconds()) < 60
        client.delete(thing_id=second.thing_id)
        removed, _ = change(live)
        assert isinstance(removed, LiveRemoval)
        assert (removed.key, removed.change is None) == (inserted.key, False)
    assert list(live) == []


def test_one_item_and_a_count() -> None:
    client, owner = fresh()
    with client.live.then(owner=owner) as counts:
        assert next(counts) == 0
        made = client.create_thing(title="one", nothing="x")
        assert next(counts) == 1
        with client.live.thing(thing_id=made.thing_id) as things:
            assert next(things) == made
            renamed = client.rename(thing_id=made.thing_id, title="other", expected=1)
            assert next(things) == renamed
            client.delete(thing_id=made.thing_id)
            assert next(things) is None
        assert next(counts) == 0
    with client.live.thing(thing_id=NOBODY) as nothing:
        assert next(nothing) is None


def test_several_entities_and_snapshots() -> None:
    client, _ = fresh()
    thing_id = client.create_thing(title="parts", nothing="x").thing_id
    with client.live.thing_with_pages(thing_id=thing_id) as live:
        snapshots = live.snapshots()
        assert [type(item) for item in next(snapshots).values()] == [Thing]
        client.import_(thing_id=thing_id, number=1, text="one")
        assert [item.text for item in next(snapshots).values() if isinstance(item, Page)] == ["one"]
        client.rename(thing_id=thing_id, title="whole", expected=1)
        thing, one = next(snapshots).values()
        assert isinstance(thing, Thing) and isinstance(one, Page)
        assert (thing.title, one.text) == ("whole", "one")


def test_it_goes_on_where_a_token_left_off() -> None:
    client, owner = fresh()
    with client.live.things(owner=owner) as live:
        token = page(live).token
    client.create_thing(title="meanwhile", nothing="x")
    with client.live.things(owner=owner, token=token) as live:
        missed, _ = change(live)
        assert isinstance(missed, LiveChange) and missed.item.title == "meanwhile"
    other, other_owner = fresh()
    with pytest.raises(Problem) as caught:
        next(other.live.things(owner=other_owner, token=token))
    assert caught.value.kind == "token"


@pytest.fixture
def served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Served]:
    """Starts a server that gets another port at each start. Clients find it again, but only at their second attempt."""
    server = Served(tmp_path)
    connections = itertools.count()

    class Found(everything._Socket):
        def __init__(self, pattern: str, url: str, headers: Mapping[str, str], timeout: float) -> None:
            if next(connections) == 1:
                raise ConnectionRefusedError("still down")
            super().__init__(pattern, f"{server.url}/v1/everything/live", headers, timeout)

    monkeypatch.setattr(everything, "_Socket", Found)
    yield server
    server.kill()


@pytest.mark.parametrize("end", [Served.stop, Served.kill])
def test_it_goes_on_after_the_server_was_restarted(served: Served, end: Callable[[Served], None]) -> None:
    client, owner = fresh(served.url)
    with client.live.things(owner=owner) as live:
        assert page(live).items == []
        first = client.create_thing(title="before", nothing="x")
        before, _ = change(live)

        def restart() -> None:
            end(served)
            served.start()
            again = EverythingClient(served.url, caller=Caller(user_id=owner, role="writer"))
            again.rename(thing_id=first.thing_id, title="after", expected=1)

        # Restart in another thread, while this client keeps reading and closes its end of the connection.
        restarting = threading.Thread(target=restart)
        restarting.start()
        modified, _ = change(live)
        restarting.join()
        assert isinstance(modified, LiveChange)
        assert (modified.kind, modified.key, modified.item.title) == ("modify", before.key, "after")
        again = EverythingClient(served.url, caller=Caller(user_id=owner, role="writer"))
        again.delete(thing_id=first.thing_id)
        removed, _ = change(live)
        assert (isinstance(removed, LiveRemoval), removed.key) == (True, before.key)


def test_a_count_goes_on_after_the_server_was_restarted(served: Served) -> None:
    client, owner = fresh(served.url)
    client.create_thing(title="first", nothing="x")
    with client.live.then(owner=owner) as counts:
        assert next(counts) == 1
        served.kill()
        served.start()
        again = EverythingClient(served.url, caller=Caller(user_id=owner, role="writer"))
        again.create_thing(title="second", nothing="x")
        assert next(counts) == 2


def test_the_reasons_of_the_server() -> None:
    client, _ = fresh()
    with pytest.raises(Problem) as caught:
        next(client.live.things(owner="somebody-else"))
    assert (caught.value.status, caught.value.kind, caught.value.pattern) == (403, "forbidden", "things")
    with pytest.raises(Problem) as caught:
        next(client.live.thing(thing_id=ThingId("no")))
    assert (caught.value.status, caught.value.kind) == (400, "arguments")
    with pytest.raises(Problem) as caught:
        next(EverythingClient(URL).live.things(owner="x"))
    assert (caught.value.status, caught.value.kind) == (401, "unauthenticated")
    with pytest.raises(Problem) as caught:
        next(EverythingClient(f"{URL}/nowhere").live.things(owner="x"))
    assert caught.value.status == 404
    away = EverythingClient("http://127.0.0.1:9", tries_max=2)
    with pytest.raises(Unreachable) as lost:
        next(away.live.things(owner="x"))
    assert isinstance(lost.value.__cause__, OSError)


def test_a_caller_who_may_no_longer_read() -> None:
    owner, guest = (f"01KKP2T8SN{os.getpid():016}", f"01KKP2T8SN1{os.getpid():015}")
    host = discord.DiscordClient(URL, caller=discord.Caller(user_id=owner))
    visitor = discord.DiscordClient(URL, caller=discord.Caller(user_id=guest))
    server = host.create_server(name="Engines")
    invite = host.create_invite(server_id=server.server_id)
    visitor.join_by_invite(invite_code=invite.invite_code)
    with visitor.live.channels_of_server(server_id=server.server_id) as live:
        assert isinstance(next(live), discord.LivePage)
        channel = host.create_channel(server_id=server.server_id, name="talk")
        told = next(live)
        assert isinstance(told, discord.LiveChanges) and isinstance(told.changes[0], discord.LiveChange)
        assert told.changes[0].item == channel
        host.remove_member(user_id=discord.UserId(guest), server_id=server.server_id)
        with pytest.raises(discord.Problem) as caught:
            list(live)
        assert (caught.value.status, caught.value.kind) == (403, "forbidden")


def test_another_thread_ends_it() -> None:
    client, owner = fresh()
    live = client.live.things(owner=owner)
    page(live)
    thread = threading.Thread(target=live.close)
    thread.start()
    assert all(isinstance(event, LiveChanges) for event in live)
    thread.join()
    with pytest.raises(StopIteration):
        next(live)


def signed(secret: bytes, claims: dict[str, object]) -> str:
    parts = [json.dumps(part).encode() for part in ({"alg": "HS256", "typ": "JWT"}, claims)]
    text = ".".join(base64.urlsafe_b64encode(part).rstrip(b"=").decode() for part in parts)
    seal = hmac.new(secret, text.encode(), hashlib.sha256).digest()
    return f"{text}.{base64.urlsafe_b64encode(seal).rstrip(b'=').decode()}"


def test_tokens_of_callers(tmp_path: Path) -> None:
    secret = b"a secret that only this test and its server know"
    key = tmp_path / "jwt.key"
    key.write_bytes(secret)
    key.chmod(0o600)
    served = Served(tmp_path, "--jwt-key-file", str(key))
    renewed = threading.Event()
    # The server tolerates a clock difference of 30 seconds: the first token expires in two.
    ends = iter([time.time() - 28, time.time() + 600])

    def token() -> str:
        until = next(ends)
        if until > time.time():
            renewed.set()
        return signed(secret, {"userId": "ada", "role": "writer", "exp": until})

    def write() -> None:
        renewed.wait(60)
        lasting = signed(secret, {"userId": "ada", "role": "writer", "exp": time.time() + 600})
        EverythingClient(served.url, token=lasting).create_thing(title="known", nothing="x")

    writer = threading.Thread(target=write)
    writer.start()
    try:
        with EverythingClient(served.url, token=token).live.things(owner="ada") as live:
            assert page(live).items == []
            inserted, _ = change(live)
            assert isinstance(inserted, LiveChange) and inserted.item.title == "known"
        writer.join()
        with pytest.raises(Problem) as caught:
            next(EverythingClient(served.url, token="no.such.token").live.things(owner="ada"))
        assert (caught.value.status, caught.value.kind) == (401, "unauthenticated")
    finally:
        served.kill()


def frame(opcode: int, payload: bytes, last: bool = True) -> bytes:
    size = len(payload)
    head = bytes([(0x80 if last else 0) | opcode])
    if size < 126:
        return head + bytes([size]) + payload
    if size < 65536:
        return head + bytes([126]) + size.to_bytes(2, "big") + payload
    return head + bytes([127]) + size.to_bytes(8, "big") + payload


class Spoken:
    """A server that sends given bytes, and records what it receives after the handshake."""

    def __init__(self, sent: bytes) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}/v1/x/live"
        self.heard = b""
        self._thread = threading.Thread(target=self._serve, args=(sent,))
        self._thread.start()

    def _serve(self, sent: bytes) -> None:
        with self._listener, self._listener.accept()[0] as connection:
            asked = b""
            while b"\r\n\r\n" not in asked:
                asked += connection.recv(4096)
            key = asked.split(b"Sec-WebSocket-Key: ")[1].split(b"\r\n")[0]
            accept = base64.b64encode(hashlib.sha1(key + b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11").digest())
            answer = b"HTTP/1.1 101 Switching Protocols\r\nSec-WebSocket-Accept: " + accept + b"\r\n\r\n"
            connection.sendall(answer + sent)
            while found := connection.recv(65536):
                self.heard += found

    def end(self) -> bytes:
        self._thread.join()
        return self.heard


def unmasked(sent: bytes) -> tuple[int, bytes]:
    """Returns opcode and text of the first frame that a client sent."""
    size, at = sent[1] & 0x7F, 2
    assert sent[1] & 0x80
    if size == 126:
        size, at = int.from_bytes(sent[2:4], "big"), 4
    elif size == 127:
        size, at = int.from_bytes(sent[2:10], "big"), 10
    mask, payload = sent[at : at + 4], sent[at + 4 : at + 4 + size]
    return sent[0], bytes(byte ^ mask[place % 4] for place, byte in enumerate(payload))


@pytest.mark.parametrize("size", [0, 1, 125, 126, 65535, 65536, 300_000])
def test_frames_of_every_length(size: int) -> None:
    text = ("ä文x" * size)[:size]
    server = Spoken(frame(0x1, text.encode()))
    client = everything._Socket("x", server.url, {}, 10)
    assert client.receive() == text.encode()
    client.send(text)
    client.close()
    assert unmasked(server.end()) == (0x81, text.encode())


def test_messages_in_pieces_and_pings_between_them() -> None:
    cut = "gr\u00f6\u00dfe".encode()
    pieces = frame(0x1, cut[:3], last=False) + frame(0x9, b"there?") + frame(0x0, cut[3:5], last=False) + frame(0x0, cut[5:])
    server = Spoken(pieces + frame(0xA, b"unasked") + frame(0x1, b"next") + frame(0x8, (1001).to_bytes(2, "big") + b"bye"))
    client = everything._Socket("x", server.url, {}, 10)
    assert (client.receive().decode(), client.receive()) == ("größe", b"next")
    with pytest.raises(ConnectionError, match="bye"):
        client.receive()
    client.close()
    assert unmasked(server.end()) == (0x8A, b"there?")


@pytest.mark.parametrize(
    "wrong",
    [
        b"\xc1\x00",  # a reserved bit
        b"\x81\x80\x00\x00\x00\x00",  # a mask, which a server must not use
        b"\x09\x00",  # a fragmented ping
        b"\x89\x7e\x00\x80",  # a ping that is too long
        b"\x82\x00",  # a binary message
        b"\x81\x7f\x7f\xff\xff\xff\xff\xff\xff\xff",  # too long
        b"\x81\x05abc",  # cut off
    ],
)
def test_frames_that_the_protocol_does_not_have(wrong: bytes) -> None:
    server = Spoken(wrong + (frame(0x8, b"") if wrong != b"\x81\x05abc" else b""))
    client = everything._Socket("x", server.url, {}, 10)
    if wrong == b"\x81\x05abc":
        client.leave()
    with pytest.raises(ConnectionError):
        client.receive()
    client.close()
    server.end()


def test_headers_are_one_line_each() -> None:
    with pytest.raises(ValueError):
        everything._Socket("x", f"{URL}/v1/everything/live", {"X": "a\r\nY: b"}, 10)


def test_a_server_that_speaks_no_websocket_there() -> None:
    with pytest.raises(Problem):
        everything._Socket("x", f"{URL}/v1/everything/nothing", {}, 10)
    with pytest.raises(Problem) as caught:
        everything._Socket("x", f"{URL}/v1", {}, 10)
    assert caught.value.kind == "answer"

"""The generated client of a model with every type, against a real server at KEYFORM_URL."""

from __future__ import annotations

import datetime as dt
import itertools
import os
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Literal

import pytest

from everything import (
    Caller,
    EverythingClient,
    KeyformPage,
    Problem,
    Refused,
    Thing,
    ThingAddress,
    ThingAddressParts,
    ThingId,
    Unreachable,
    _send,
)

URL = os.environ.get("KEYFORM_URL", "http://127.0.0.1:8000")
NOBODY = ThingId("01KKP2T8SN0000000000000000")
_count = itertools.count()


def fresh(role: Literal["reader", "writer"] = "writer", **options: Any) -> tuple[EverythingClient, str]:
    """Returns a client with a caller of its own, so that tests do not share items."""
    owner = f"python-{os.getpid()}-{next(_count)}"
    return EverythingClient(URL, caller=Caller(user_id=owner, role=role), **options), owner


def test_every_type_comes_back_as_it_was_given() -> None:
    client, owner = fresh()
    time = dt.datetime(2026, 10, 31, 12, 0, 0, 7000, tzinfo=dt.timezone.utc)
    address = ThingAddress(
        street_name="Long Street 1", zip_code="8000", since=time, parts=[ThingAddressParts(amount=10**20)]
    )
    made = client.create_thing(
        title="Größe, 文 and \U0001f600",
        handle="a-b_c.d",
        count=12345678901234567890123,
        small=-5,
        ratio=Decimal("3.14159265358979323846264338327950288"),
        price=9007199254740993,
        currency="CHF",
        on=False,
        blob=b"\x00\xff\x80\n",
        external="6f9619ff-8b86-4011-b42d-00c04fc964ff",
        mail=" Ada@Example.com ",
        link="https://example.com/a?b=c",
        happened_at=time.astimezone(dt.timezone(dt.timedelta(hours=5))),
        written_as="2026-10-31T12:00:00+02:00",
        expires=1793448000,
        precise=1793448000123,
        day=dt.date(2026, 10, 31),
        state='it\'s "old"',
        tags=["x", "[y]"],
        stamps=[time],
        prices={"big": 123456789012345678, "small": 5},
        labels={"a", "b"},
        numbers={1, Decimal("2.5"), 12345678901234567890},
        blobs={b"\x01", b"\x02\x03"},
        anything={"a": [1, None, "x", {"b": True}]},
        address=address,
        nothing="x",
        with_space="space",
        constructor="built",
        class_="first",
        list_="items",
        größe=9,
        dt_="dt",
        secret_key="hush",
    )
    read = client.thing(thing_id=made.thing_id)
    assert read == made
    assert made == Thing(
        thing_id=made.thing_id,
        owner=owner,
        title="Größe, 文 and \U0001f600",
        handle="a-b_c.d",
        count=12345678901234567890123,
        small=-5,
        ratio=Decimal("3.14159265358979323846264338327950288"),
        price=9007199254740993,
        currency="CHF",
        on=False,
        blob=b"\x00\xff\x80\n",
        external="6f9619ff-8b86-4011-b42d-00c04fc964ff",
        mail="ada@example.com",
        link="https://example.com/a?b=c",
        happened_at=time,
        written_as="2026-10-31T12:00:00+02:00",
        expires=1793448000,
        precise=1793448000123,
        day=dt.date(2026, 10, 31),
        state='it\'s "old"',
        tags=["x", "[y]"],
        stamps=[time],
        prices={"big": 123456789012345678, "small": 5},
        labels=frozenset({"a", "b"}),
        numbers=frozenset({Decimal(1), Decimal("2.5"), Decimal(12345678901234567890)}),
        blobs=frozenset({b"\x01", b"\x02\x03"}),
        anything={"a": [1, None, "x", {"b": True}]},
        address=address,
        nothing="x",
        with_space="space",
        constructor="built",
        class_="first",
        list_="items",
        größe=9,
        dt_="dt",
        created_at=made.created_at,
        updated_at=made.created_at,
        version=1,
    )
    assert abs(made.created_at - dt.datetime.now(dt.timezone.utc)) < dt.timedelta(minutes=1)


def test_what_is_left_out_is_absent_and_defaults_are_made() -> None:
    client, _ = fresh()
    made = client.create_thing(title="bare", nothing="x")
    assert (made.handle, made.count, made.on, made.state) == (None, 0, True, "new")


def test_one_item_or_none_or_a_problem() -> None:
    client, _ = fresh()
    assert client.constructor(thing_id=NOBODY) is None
    with pytest.raises(Problem) as caught:
        client.thing(thing_id=NOBODY)
    assert (caught.value.status, caught.value.kind, caught.value.pattern) == (404, "not-found", "thing")
    with pytest.raises(Problem) as caught:
        client.thing(thing_id=ThingId("no"))
    assert (caught.value.status, caught.value.kind) == (400, "arguments")
    with pytest.raises(Problem) as caught:
        fresh("reader")[0].create_thing(title="x", nothing="x")
    assert (caught.value.status, caught.value.kind) == (403, "forbidden")


def test_pages_are_followed_to_their_end() -> None:
    client, owner = fresh()
    for title in "abcdefg":
        client.create_thing(title=title, nothing="x")
    assert "".join(thing.title for thing in client.things(owner=owner)) == "gfedcba"
    first: KeyformPage[Thing] = client.things(owner=owner).page()
    second = client.things(owner=owner).page(first.cursor)
    assert [len(first.items), [thing.title for thing in second.items]] == [3, ["d", "c", "b"]]
    assert [len(page.items) for page in client.things(owner=owner).pages()][:3] == [3, 3, 1]
    with pytest.raises(Problem) as caught:
        client.things(owner=owner).page("made up")
    assert caught.value.kind == "cursor"
    assert client.then(owner=owner) == 7
    assert len(client.things_since(owner=owner, since=first.items[0].created_at)) >= 1
    assert client.titles(owner=owner).page().items[0].title == "a"
    assert len(client.class_(thing_ids=[thing.thing_id for thing in first.items])) == 3


def test_an_item_with_its_parts_and_a_write_that_keeps_what_is_there() -> None:
    client, _ = fresh()
    thing_id = client.create_thing(title="parts", nothing="x").thing_id
    for number in range(3):
        page = client.import_(thing_id=thing_id, number=number, text=f"page {number}")
        assert page is not None and page.number == number
    assert client.import_(thing_id=thing_id, number=1, text="again") is None
    answer = client.thing_with_pages(thing_id=thing_id)
    assert (answer.thing.title, [page.text for page in answer.pages]) == ("parts", ["page 0", "page 1", "page 2"])
    nothing = client.maybe_with_pages(thing_id=NOBODY)
    assert (nothing.thing, nothing.pages) == (None, [])
    assert len(client.pages_between(thing_id=thing_id, from_=1, to=2).page().items) == 2


def test_arguments_of_a_query() -> None:
    from everything import ListLike

    client, owner = fresh()
    client.create_thing(title="[odd", handle="h", anything="text", nothing="x")

    def ask(among: list[str], words: set[str], data: Any) -> int:
        like = ListLike(on=True, at=dt.datetime.now(dt.timezone.utc))
        return len(client.list_(owner=owner, like=like, among=among, words=words, data=data).page().items)

    assert ask(["[odd"], {"h"}, "text") == 1
    assert ask(["[odd", "b", "c"], {"h", "i"}, "text") == 1
    assert ask(["odd"], {"h"}, "text") == 0
    assert ask([], {"h"}, "text") == 0
    assert ask(["[odd"], {"h"}, 5) == 0


def test_refusals_have_names() -> None:
    client, _ = fresh()
    thing_id = client.create_thing(title="first", nothing="x").thing_id
    second = client.rename(thing_id=thing_id, title="second", expected=1)
    assert (second.title, second.version) == ("second", 2)
    with pytest.raises(Refused) as caught:
        client.rename(thing_id=thing_id, title="third", expected=1)
    assert (caught.value.outcome, caught.value.item["title"]) == ("Changed", "second")
    client.delete(thing_id=thing_id)
    with pytest.raises(Refused) as caught:
        client.delete(thing_id=thing_id)
    assert caught.value.outcome == "UnknownThing"


def test_a_write_that_is_tried_again_applies_once() -> None:
    client, owner = fresh()
    thing_id = client.create_thing(title="once", nothing="x").thing_id
    keys: list[str] = []

    def losing(
        method: str, url: str, headers: Mapping[str, str], body: bytes | None, timeout: float
    ) -> tuple[int, Mapping[str, str], bytes]:
        keys.append(headers["Idempotency-Key"])
        answer = _send(method, url, headers, body, timeout)
        if len(keys) == 1:
            raise ConnectionResetError("the answer is lost on its way")
        return (503, {"Retry-After": "0"}, b"") if len(keys) == 2 else answer

    shaky = EverythingClient(URL, caller=Caller(user_id=owner, role="writer"), transport=losing)
    assert shaky.raise_(thing_id=thing_id, by=5).count == 5
    assert (len(keys), len(set(keys))) == (3, 1)
    client.raise_(thing_id=thing_id, by=1, idempotency_key="same")
    assert client.raise_(thing_id=thing_id, by=1, idempotency_key="same").count == 6
    with pytest.raises(Problem) as caught:
        client.raise_(thing_id=thing_id, by=2, idempotency_key="same")
    assert caught.value.status == 422


def test_a_server_that_does_not_answer() -> None:
    client = EverythingClient("http://127.0.0.1:9", tries_max=2, timeout=0.5)
    with pytest.raises(Unreachable) as caught:
        client.then(owner="x")
    assert isinstance(caught.value.__cause__, OSError)


def test_a_connection_whose_fields_are_words_of_the_language() -> None:
    client, _ = fresh()
    thing_id = client.create_thing(title="from", nothing="x").thing_id
    made = client.connect(from_=thing_id, self_="me")
    assert (made.from_, made.self_, len(made.code)) == (thing_id, "me", 10)


def test_who_calls_cannot_be_mixed_with_other_claims() -> None:
    client = EverythingClient(URL, caller=Caller(user_id="a; role=writer", role="reader"))
    with pytest.raises(ValueError):
        client.then(owner="x")

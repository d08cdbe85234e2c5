"""The generated clients of random models: every kind of step, each followed by a read, against a real server."""

from __future__ import annotations

import importlib
import json
import os
import re
import urllib.request
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

URL = os.environ.get("KEYFORM_URL", "http://127.0.0.1:8000")
DRAWN = Path(__file__).parent.parent / "drawn"
NAMES = sorted(path.stem for path in DRAWN.glob("*.kf"))


def stored(name: str, key: str) -> Any:
    """Returns an item as the server sends it."""
    with urllib.request.urlopen(f"{URL}/v1/{name}/thing?id={key}") as answer:
        return json.loads(answer.read() or "null", parse_float=Decimal)


@pytest.mark.parametrize("name", NAMES)
def test_what_steps_write_is_read_back(name: str) -> None:
    module: Any = importlib.import_module(name)
    client: Any = getattr(module, f"{name.capitalize()}Client")(URL)
    # Another suite may have used the same server.
    for key in ("a", "b"):
        client.drop(id=key)
    successes: set[str] = set()
    calls: list[dict[str, Any]] = json.loads((DRAWN / f"{name}.json").read_text())
    for call in calls:
        pattern, arguments = call["pattern"], call["arguments"]
        try:
            getattr(client, pattern)(**arguments)
            successes.add(pattern)
        except module.Refused:
            pass
        except module.Problem as problem:
            assert problem.status == 400, f"{call}: {problem}"
        for key in ("a", "b"):
            item = client.thing(id=key)
            plain = None if item is None else module._plain(item)
            assert sent(plain) == sent(stored(name, key)), f"{call}: {item}"
    assert {"make", "replace", "set", "drop"} <= successes
    assert len(successes) > len({call["pattern"] for call in calls}) // 2, successes


def sent(value: Any) -> Any:
    """Returns a value with the names and numbers of the answer, without absent fields, and with lists sorted: a set has
    no order."""
    if isinstance(value, dict):
        return {re.sub("_(.)", lambda it: it[1].upper(), name): sent(of) for name, of in value.items() if of is not None}
    if isinstance(value, list):
        return sorted((sent(of) for of in value), key=str)
    # Clients send numbers as texts if they may have more digits than a float.
    return str(value) if isinstance(value, (int, Decimal)) and not isinstance(value, bool) else value

"""A client of the model `notes` over HTTP.

Notes that people write.

Printed by `keyform generate python`: change the model, not this file.
"""

from __future__ import annotations

import base64
import datetime as dt
import decimal
import hashlib
import http.client
import json
import os
import random
import socket
import ssl
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any, Generic, Literal, NewType, TypeVar


NoteId = NewType("NoteId", str)


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """A note."""

    note_id: NoteId
    user_id: str
    text: str
    """What it says."""
    tags: frozenset[str] | None = None
    price: int | None = None
    created_at: dt.datetime
    version: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """What a caller's token proves."""

    user_id: str = field(metadata={"name": "userId"})


Outcome = Literal[
    "Conflict",
    "NoteExists",
    "UnknownNote",
]
"""The names by which some write is refused."""


…

def _decode_note(value: Any) -> Note:
    return Note(
        note_id=NoteId(value["noteId"]),
        user_id=value["userId"],
        text=value["text"],
        tags=_optional(_set(_same), value.get("tags")),
        price=_optional(int, value.get("price")),
        created_at=_time(value["createdAt"]),
        version=value["version"],
    )


class NotesLive:
    """The reads of the model `notes` that can be followed: what is there, then every change of it."""

    def __init__(self, connection: _Connection) -> None:
        self._connection = connection

    def note(self, *, user_id: str, note_id: NoteId, tries_max: int | None = None) -> Live[Note | None]:
        """One note.

        Tells the item, or ``None`` while there is none, and again whenever that changes. :class:`Live` says when it ends.

        :param tries_max: how often in a row a lost connection is made again; 12 times if nothing is said
        """
        return Live(
            self._connection,
            "note",
            {"userId": user_id, "noteId": note_id},
            _live_one(_decode_note),
            None,
            tries_max,
        )

    def notes(self, *, user_id: str, token: str | None = None, tries_max: int | None = None) -> LiveItems[Note]:
        """The notes of somebody, the newest first.

        Tells a page of what is there, then each insert, change and removal, also beyond the page. :class:`Live` says when it ends.

        :param token: goes on after the event that had this token, if that is not too long ago
        :param tries_max: how often in a row a lost connection is made again; 12 times if nothing is said
        """
        return LiveItems(self._connection, "notes", {"userId": user_id}, {"Note": _decode_note}, token, tries_max)

    def note_count(self, *, user_id: str, tries_max: int | None = None) -> Live[int]:
        """How many notes somebody has.

        Tells how many there are, and again whenever that changes. :class:`Live` says when it ends.

        :param tries_max: how often in a row a lost connection is made again; 12 times if nothing is said
        """
        return Live(self._connection, "noteCount", {"userId": user_id}, _live_count(), None, tries_max)


class NotesClient:
    """Calls the patterns of the model `notes`."""

    def __init__(
        self,
        base_url: str,
        *,
        token: str | Callable[[], str] | None = None,
        caller: Caller | None = None,
        timeout: float = 10.0,
        tries_max: int = 4,
        headers: Mapping[str, str] | None = None,
        transport: Transport | None = None,
    ) -> None:
        """A client of the server at a URL.

        :param token: the bearer token, or what gives it before each request
        :param caller: who calls, for a server in development that has no key to verify tokens with
        :param timeout: how many seconds one try may take
        :param tries_max: how often a call is tried if the network fails or the server is busy
        :param headers: more headers for every request
        :param transport: what sends requests; ``urllib`` if nothing is said
        """
        claims = None if caller is None else {"userId": caller.user_id}
        self._connection = _Connection("notes", base_url, token, claims, timeout, tries_max, headers, transport)
        self.live = NotesLive(self._connection)
        """Reads that are followed: what is there, then every change of it."""

    def note(self, *, user_id: str, note_id: NoteId) -> Note | None:
        """One note.

        - GetItem of table Notes
        - `pk = "USER#{userId}"`
        - `sk = "NOTE#{noteId}"`
        - 0.5 read units
        """
        return _optional(_decode_note, self._connection.get("note", {"userId": user_id, "noteId": note_id}))

    def notes(self, *, user_id: str) -> Pages[Note]:
        """The notes of somebody, the newest first.

        - Query of table Notes
        - `pk = "USER#{userId}"`
        - `sk begins with "NOTE#"`
        - from the largest sort key to the smallest, 20 items a page
        - 1.5 read units
        """
        def read(_cursor: str | None) -> Page[Note]:
            return _page(_decode_note, self._connection.get("notes", {"userId": user_id, "cursor": _cursor}))

        return Pages(read)

    def note_count(self, *, user_id: str) -> int:
        """How many notes somebody has.

        - Query of table Notes, which only counts
        - `pk = "USER#{userId}"`
        - `sk begins with "NOTE#"`
        - 6.5 read units
        """
        return int(self._connection.get("noteCount", {"userId": user_id})["count"])

    def add_note(
        self,
        *,
        text: str,
        tags: AbstractSet[str] | None = None,
        price: int | None = None,
        idempotency_key: str | None = None,
    ) -> Note:
        """Writes a note.

        - PutItem
          - Put Note, which must not be there yet, else NoteExists
        - 1 write unit

        :raises Refused: ``NoteExists``, ``Conflict``
        """
        return _decode_note(self._connection.post("addNote", {"text": text, "tags": tags, "price": price}, idempotency_key))

    def delete_note(self, *, note_id: NoteId, idempotency_key: str | None = None) -> None:
        """Deletes a note.

        - DeleteItem
          - Delete Note; on 1 condition, else UnknownNote
        - 1 write unit

        :raises Refused: ``UnknownNote``, ``Conflict``
        """
        self._connection.post("deleteNote", {"noteId": note_id}, idempotency_key)

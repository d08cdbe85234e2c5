@dataclass(frozen=True, slots=True, kw_only=True)
class LiveItem(Generic[_T]):
    """An item of a live read."""

    key: str
    """Identifies the item in pages and changes."""
    item: _T
    expires: int | None = None
    """Last second of the Unix epoch in which the item is part of the result, if it leaves without a write."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LivePage(Generic[_T]):
    """The initial result, which replaces everything received before."""

    items: list[LiveItem[_T]]
    cursor: str | None
    """Cursor for more items, to be passed to the read itself; ``None`` if these are all."""
    token: str
    """Token to resume after this event."""
    reset: str | None = None
    """Reason why the result starts again, if it does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveChange(Generic[_T]):
    """An item that was added to the result or changed."""

    kind: Literal["insert", "modify"]
    key: str
    item: _T
    at: dt.datetime
    change: str | None = None
    """Id of the change in the table's stream."""
    expires: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveRemoval:
    """An item that left the result."""

    key: str
    at: dt.datetime
    change: str | None = None
    """Id of the change in the table's stream; ``None`` if the item left because of its time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveChanges(Generic[_T]):
    """Changes, in order; empty if only the token is new."""

    changes: list[LiveChange[_T] | LiveRemoval]
    token: str
    """Token to resume after this event."""


_LIVE_PROTOCOL = "keyform.live.v1"
_LIVE_TRIES_MAX = 12
_LIVE_SILENCE = 60.0
"""The server sends a message at least every 20 seconds."""
_LIVE_MESSAGE_MAX = 64 * 1024 * 1024
_LIVE_CLOSES_FOR_GOOD = (1002, 1003, 1007, 1009)
"""Close codes after which a retry does not help."""
_LIVE_PASSES = ("busy", "slow", "store", "too-many", "unavailable")
"""Temporary problems, after which a retry helps."""
_LIVE_STATUS = {
    "arguments": 400,
    "message": 400,
    "token": 400,
    "unauthenticated": 401,
    "forbidden": 403,
    "not-found": 404,
    "unknown-path": 404,
    "too-many": 429,
    "internal": 500,
    "not-runnable": 501,
    "store": 502,
    "busy": 503,
    "slow": 503,
    "unavailable": 503,
}
"""HTTP status of each problem."""


_L = TypeVar("_L", bound="Live[Any]")


class Live(Generic[_T]):
    """A live read: iterate over it for its events. It connects when the iteration begins.

    A lost connection is opened again and resumes. The read ends when it is closed, as by the end of a ``with`` statement, or
    with an error: :class:`Problem` if the server rejects it, for instance because the caller may no longer read this, and
    :class:`Unreachable` if no connection can be opened.
    """

    def __init__(
        self,
        connection: _Connection,
        pattern: str,
        arguments: Mapping[str, Any],
        told: Callable[[Any], list[_T]],
        token: str | None,
        tries_max: int | None,
    ) -> None:
        given = {name: _plain(value) for name, value in arguments.items() if value is not None}
        self._connection = connection
        self._pattern = pattern
        self._subscribe = {"type": "subscribe", "id": "live", "read": pattern, "arguments": given, "token": token}
        self._told = told
        self._tries_max = tries_max
        self._socket: _Socket | None = None
        self._closed = threading.Event()
        self._events = self._run()

    def __iter__(self) -> Iterator[_T]:
        return self

    def __next__(self) -> _T:
        return next(self._events)

    def __enter__(self: _L) -> _L:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Ends the read. Another thread may call this while one waits for the next event."""
        self._closed.set()
        if self._socket is not None:
            self._socket.leave()
        try:
            self._events.close()
        except ValueError:
            # Another thread waits inside and will see the flag.
            pass

    def _run(self) -> Generator[_T, None, None]:
        has_begun = False
        tries = 0
        while not self._closed.is_set():
            tries += 1
            try:
                for message in self._connected():
                    self._subscribe["token"] = message["token"]
                    has_begun, tries = True, 0
                    yield from self._told(message)
            except (OSError, http.client.HTTPException, Problem) as error:
                if self._closed.is_set():
                    return
                tries_max = _LIVE_TRIES_MAX if has_begun else self._connection._tries_max
                self._pass(error, has_begun, tries, tries_max if self._tries_max is None else self._tries_max)
            self._closed.wait(_backoff(max(1, tries)))

    def _pass(self, error: Exception, has_begun: bool, tries: int, tries_max: int) -> None:
        """Raises the error unless a retry may help."""
        kind = error.kind if isinstance(error, Problem) else None
        if has_begun and kind == "token":
            # The server has loaded another model: a new page replaces everything received before.
            self._subscribe["token"] = None
        elif tries == 0 and kind == "unauthenticated":
            # The caller's token has expired, and there may be a new one.
            pass
        elif kind is not None and (kind not in _LIVE_PASSES or tries >= tries_max):
            raise error
        elif tries >= tries_max:
            raise Unreachable(self._pattern, f"no connection after {tries} attempts: {error}") from error

    def _connected(self) -> Iterator[Any]:
        """Yields the events of one connection."""
        connection = self._connection
        headers = {**connection._headers, **connection._who()}
        self._socket = _Socket(self._pattern, f"{connection._base}/live", headers, connection._timeout)
        try:
            self._socket.send(json.dumps(self._subscribe, allow_nan=False))
            while not self._closed.is_set():
                message = _live_message(self._socket.receive())
                if message["type"] in ("error", "ended"):
                    status = _LIVE_STATUS.get(message["code"], 500)
                    raise Problem(self._pattern, status, message["code"], message["detail"])
                yield message
        finally:
            self._socket.close()


class LiveItems(Live[LivePage[_T] | LiveChanges[_T]]):
    """A live read of items: a page, then all changes of the result. See :class:`Live` for its end."""

    def __init__(
        self,
        connection: _Connection,
        pattern: str,
        arguments: Mapping[str, Any],
        decoders: Mapping[str, Callable[[Any], _T]],
        token: str | None,
        tries_max: int | None,
    ) -> None:
        super().__init__(connection, pattern, arguments, _live_events(decoders), token, tries_max)

    def snapshots(self) -> Iterator[dict[str, _T]]:
        """Yields all items by key, after the page and after each change. New items come last, regardless of the order of the read."""
        items: dict[str, _T] = {}
        for event in self:
            if isinstance(event, LivePage):
                items = {entry.key: entry.item for entry in event.items}
            elif event.changes:
                items = dict(items)
                for change in event.changes:
                    if isinstance(change, LiveRemoval):
                        items.pop(change.key, None)
                    else:
                        items[change.key] = change.item
            else:
                continue
            yield items


class _Socket:
    """A WebSocket (RFC 6455) for text messages; the standard library has none."""

    def __init__(self, pattern: str, url: str, headers: Mapping[str, str], timeout: float) -> None:
        self._pattern = pattern
        self._sending = threading.Lock()
        parts = urllib.parse.urlsplit(url)
        secure = parts.scheme == "https"
        self._socket = socket.create_connection((parts.hostname or "", parts.port or (443 if secure else 80)), timeout)
        try:
            if secure:
                context = ssl.create_default_context()
                self._socket = context.wrap_socket(self._socket, server_hostname=parts.hostname)
            self._file = self._socket.makefile("rb")
            self._shake_hands(parts.netloc.rpartition("@")[2], parts.path, headers)
            self._socket.settimeout(_LIVE_SILENCE)
        except BaseException:
            self.close()
            raise

    def _shake_hands(self, host: str, path: str, headers: Mapping[str, str]) -> None:
        key = base64.b64encode(os.urandom(16)).decode()
        asked = {
            **headers,
            "Host": host,
            "Connection": "Upgrade",
            "Upgrade": "websocket",
            "Sec-WebSocket-Version": "13",
            "Sec-WebSocket-Key": key,
            "Sec-WebSocket-Protocol": _LIVE_PROTOCOL,
        }
        if any(letter in text for text in asked.values() for letter in "\r\n"):
            raise ValueError("a header must be one line")
        lines = [f"GET {path} HTTP/1.1", *(f"{name}: {value}" for name, value in asked.items()), "", ""]
        self._socket.sendall("\r\n".join(lines).encode("latin-1"))
        version, status = (self._file.readline(65536).split(None, 2) + [b"", b""])[:2]
        if not (version.startswith(b"HTTP/1.") and status.isdigit()):
            raise ConnectionError("the server does not speak HTTP/1.1")
        answered = http.client.parse_headers(self._file)
        if int(status) != 101:
            self._refused(int(status), int(answered.get("content-length") or 0))
        accept = hashlib.sha1((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").encode()).digest()
        if answered.get("sec-websocket-accept") != base64.b64encode(accept).decode():
            raise ConnectionError("the server does not speak WebSocket")

    def _refused(self, status: int, size: int) -> None:
        body = self._file.read(min(size, 65536))
        if status in (429, 502, 503, 504):
            raise ConnectionError(f"the server answered {status}")
        _answer(self._pattern, status, body)
        raise Problem(self._pattern, status, "answer", "the server does not speak WebSocket")

    def send(self, text: str) -> None:
        """Sends a message."""
        self._send(0x1, text.encode())

    def receive(self) -> bytes:
        """Returns the next message; answers pings meanwhile."""
        message = b""
        while True:
            is_last, opcode, payload = self._frame()
            if opcode == 0x8:
                self._say_goodbye(payload)
            elif opcode == 0x9:
                self._send(0xA, payload)
            elif opcode in (0x0, 0x1):
                message += payload
                if is_last:
                    return message
                if len(message) > _LIVE_MESSAGE_MAX:
                    raise ConnectionError("a message is too long")
            elif opcode != 0xA:
                raise ConnectionError(f"a frame of the kind {opcode} is not text")

    def _say_goodbye(self, payload: bytes) -> None:
        code = int.from_bytes(payload[:2], "big") if len(payload) >= 2 else 1005
        reason = payload[2:].decode(errors="replace") or f"the connection was closed with {code}"
        try:
            self._send(0x8, payload[:2])
        except OSError:
            # The server has already closed the connection.
            pass
        if code == 4001:
            raise Problem(self._pattern, 401, "unauthenticated", reason)
        if code in _LIVE_CLOSES_FOR_GOOD:
            raise Problem(self._pattern, 400, "message", reason)
        raise ConnectionError(reason)

    def _frame(self) -> tuple[bool, int, bytes]:
        """Returns a frame: whether it is the last of its message, its opcode and its payload."""
        first, second = self._exactly(2)
        size = second & 0x7F
        if first & 0x70 or second & 0x80 or (first & 0x8 and (size > 125 or not first & 0x80)):
            raise ConnectionError("invalid frame")
        if size > 125:
            size = int.from_bytes(self._exactly(2 if size == 126 else 8), "big")
        if size > _LIVE_MESSAGE_MAX:
            raise ConnectionError("a message is too long")
        return bool(first & 0x80), first & 0xF, self._exactly(size)

    def _exactly(self, size: int) -> bytes:
        found = self._file.read(size)
        if len(found) < size:
            raise ConnectionError("the connection ended")
        return found

    def _send(self, opcode: int, payload: bytes) -> None:
        size = len(payload)
        if size < 126:
            head = bytes([0x80 | opcode, 0x80 | size])
        elif size < 65536:
            head = bytes([0x80 | opcode, 0x80 | 126]) + size.to_bytes(2, "big")
        else:
            head = bytes([0x80 | opcode, 0x80 | 127]) + size.to_bytes(8, "big")
        mask = os.urandom(4)
        masked = bytes(byte ^ mask[at % 4] for at, byte in enumerate(payload))
        with self._sending:
            self._socket.sendall(head + mask + masked)

    def leave(self) -> None:
        """Ends the connection, possibly while another thread waits for the next message."""
        try:
            self._send(0x8, (1000).to_bytes(2, "big"))
            self._socket.shutdown(socket.SHUT_RDWR)
        except (OSError, ValueError):
            # Already closed.
            pass

    def close(self) -> None:
        """Frees the socket. Only the reading thread calls this."""
        self.leave()
        if hasattr(self, "_file"):
            self._file.close()
        self._socket.close()


def _live_message(text: bytes) -> Any:
    try:
        return json.loads(text, parse_float=decimal.Decimal)
    except ValueError as error:
        raise ConnectionError("the message is not JSON") from error


def _live_time(milliseconds: int) -> dt.datetime:
    return dt.datetime.fromtimestamp(0, dt.timezone.utc) + dt.timedelta(milliseconds=milliseconds)


def _live_events(
    decoders: Mapping[str, Callable[[Any], _T]],
) -> Callable[[Any], list[LivePage[_T] | LiveChanges[_T]]]:
    def item(entry: Any) -> LiveItem[_T]:
        expires = _optional(int, entry.get("expires"))
        return LiveItem(key=entry["key"], item=decoders[entry["entity"]](entry["item"]), expires=expires)

    def change(entry: Any) -> LiveChange[_T] | LiveRemoval:
        at, change = _live_time(entry["at"]), entry.get("change")
        if entry["kind"] == "remove":
            return LiveRemoval(key=entry["key"], at=at, change=change)
        new = item(entry)
        return LiveChange(kind=entry["kind"], key=new.key, item=new.item, at=at, change=change, expires=new.expires)

    def told(message: Any) -> list[LivePage[_T] | LiveChanges[_T]]:
        token = message["token"]
        if message["type"] == "page":
            items = [item(entry) for entry in message["items"]]
            return [LivePage(items=items, cursor=message["cursor"], token=token, reset=message.get("reset"))]
        if message["type"] == "changes":
            return [LiveChanges(changes=[change(entry) for entry in message["changes"]], token=token)]
        return []

    return told


def _live_one(decoder: Callable[[Any], _T]) -> Callable[[Any], list[_T | None]]:
    # While one item replaces another, there may be two for a moment: the last one counts.
    items: dict[str, _T] = {}

    def told(message: Any) -> list[_T | None]:
        if message["type"] == "page":
            items.clear()
        for entry in message.get("items") or message.get("changes") or []:
            items.pop(entry["key"], None)
            if "item" in entry:
                items[entry["key"]] = decoder(entry["item"])
        has_news = message["type"] == "page" or message.get("changes")
        return [next(reversed(items.values()), None)] if has_news else []

    return told


def _live_count() -> Callable[[Any], list[int]]:
    last: int | None = None

    def told(message: Any) -> list[int]:
        nonlocal last
        kinds = [change["kind"] for change in message.get("changes", [])]
        before, last = last, message.get("count", last or 0) + kinds.count("insert") - kinds.count("remove")
        return [] if last == before else [last]

    return told

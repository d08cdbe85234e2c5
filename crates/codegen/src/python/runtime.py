class CallError(Exception):
    """A call that did not succeed."""

    def __init__(self, pattern: str, message: str) -> None:
        super().__init__(f"{pattern}: {message}")
        self.pattern = pattern
        """Name of the pattern that was called."""


class Unreachable(CallError):
    """No answer: the network failed, or the request timed out. ``__cause__`` is the last failure."""


class Problem(CallError):
    """The server rejected the call."""

    def __init__(self, pattern: str, status: int, kind: str, detail: str) -> None:
        super().__init__(pattern, detail)
        self.status = status
        """HTTP status."""
        self.kind = kind
        """Kind of the problem: ``arguments``, ``unauthenticated``, ``forbidden``, ``not-found``, ``busy``, …"""
        self.detail = detail
        """What is wrong with this call."""


class Refused(Problem):
    """A write that its model refused, with the outcome that the model declares."""

    def __init__(self, pattern: str, status: int, kind: str, detail: str, outcome: Outcome, item: Any) -> None:
        super().__init__(pattern, status, kind, detail)
        self.outcome: Outcome = outcome
        """Name of the outcome."""
        self.item = item
        """The current item as JSON, if it caused the refusal."""


_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Page(Generic[_T]):
    """Items of one page, and the cursor of the next."""

    items: list[_T]
    cursor: str | None
    """Cursor of the next page; ``None`` on the last page."""
    broken: int = 0
    """Number of items that were left out because they do not fit the model."""


class Pages(Generic[_T]):
    """The items of a read, page by page: iterate over it for all items. It sends no request before the first use."""

    def __init__(self, read: Callable[[str | None], Page[_T]]) -> None:
        self._read = read

    def page(self, cursor: str | None = None) -> Page[_T]:
        """Returns one page: the first, or the one after a cursor."""
        return self._read(cursor)

    def pages(self, cursor: str | None = None) -> Iterator[Page[_T]]:
        """Yields all pages, from the first or from the one after a cursor."""
        while True:
            page = self._read(cursor)
            yield page
            if page.cursor is None:
                return
            cursor = page.cursor

    def __iter__(self) -> Iterator[_T]:
        for page in self.pages():
            yield from page.items


Transport = Callable[[str, str, Mapping[str, str], bytes | None, float], tuple[int, Mapping[str, str], bytes]]
"""Sends a request (method, URL, headers, body, timeout in seconds) and returns status, headers and body.

Errors other than :class:`OSError` and :class:`http.client.HTTPException` are not retried.
"""


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Does not follow redirects: a token must reach only the server it was meant for."""

    def redirect_request(self, *args: Any, **options: Any) -> None:
        return None


_opener = urllib.request.build_opener(_NoRedirect)


def _send(
    method: str, url: str, headers: Mapping[str, str], body: bytes | None, timeout: float
) -> tuple[int, Mapping[str, str], bytes]:
    request = urllib.request.Request(url, data=body, headers=dict(headers), method=method)
    try:
        with _opener.open(request, timeout=timeout) as response:
            return response.status, dict(response.headers.items()), response.read()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, dict(error.headers.items()), error.read()


class _Connection:
    """Sends requests, retries them if that may help, and parses the answers."""

    def __init__(
        self,
        model: str,
        base_url: str,
        token: str | Callable[[], str] | None,
        caller: Mapping[str, Any] | None,
        timeout: float,
        tries_max: int,
        headers: Mapping[str, str] | None,
        transport: Transport | None,
    ) -> None:
        self._base = f"{base_url.rstrip('/')}/v1/{_quoted(model)}"
        self._token = token
        self._caller = caller
        self._timeout = timeout
        self._tries_max = max(1, tries_max)
        self._headers = dict(headers or {})
        self._transport = transport or _send

    def get(self, pattern: str, arguments: Mapping[str, Any], as_json: Sequence[str] = ()) -> Any:
        query = urllib.parse.urlencode(list(_query(arguments, as_json)))
        url = f"{self._base}/{_quoted(pattern)}" + (f"?{query}" if query else "")
        return self._call(pattern, "GET", url, {}, None)

    def post(self, pattern: str, arguments: Mapping[str, Any], idempotency_key: str | None) -> Any:
        given = {name: _plain(value) for name, value in arguments.items() if value is not None}
        body = json.dumps(given, allow_nan=False).encode()
        # All attempts have the same key, so the write is applied once.
        headers = {"Content-Type": "application/json", "Idempotency-Key": idempotency_key or uuid.uuid4().hex}
        return self._call(pattern, "POST", f"{self._base}/{_quoted(pattern)}", headers, body)

    def _call(self, pattern: str, method: str, url: str, headers: Mapping[str, str], body: bytes | None) -> Any:
        for tries in range(1, self._tries_max + 1):
            sent = {"Accept": "application/json", **self._headers, **self._who(), **headers}
            wait: float | None = None
            try:
                status, answered, text = self._transport(method, url, sent, body, self._timeout)
            except (OSError, http.client.HTTPException) as error:
                if tries == self._tries_max:
                    raise Unreachable(pattern, f"no answer after {tries} attempts: {error}") from error
            else:
                if status not in (429, 503) or tries == self._tries_max:
                    return _answer(pattern, status, text)
                wait = _retry_after(answered)
            time.sleep(_backoff(tries) if wait is None else wait)
        raise AssertionError("the last try returns or raises")

    def _who(self) -> dict[str, str]:
        if self._token is not None:
            return {"Authorization": f"Bearer {self._token if isinstance(self._token, str) else self._token()}"}
        if self._caller is None:
            return {}
        claims = {name: _text(value) for name, value in self._caller.items() if value is not None}
        for name, text in claims.items():
            if ";" in text or not (text.isascii() and text.isprintable()):
                raise ValueError(f"the caller's {name} cannot be sent in a header")
        return {"X-Keyform-Caller": "; ".join(f"{name}={text}" for name, text in claims.items())}


def _answer(pattern: str, status: int, text: bytes) -> Any:
    if status == 204:
        return None
    try:
        body = json.loads(text, parse_float=decimal.Decimal)
    except ValueError:
        body = None
        if 200 <= status < 300:
            raise Problem(pattern, status, "answer", "the answer is not JSON") from None
    if 200 <= status < 300:
        return body
    problem: dict[str, Any] = body if isinstance(body, dict) else {}
    kind = str(problem.get("type", "unknown")).removeprefix("urn:keyform:problem:")
    detail = str(problem.get("detail", f"the server answered {status}"))
    if "outcome" in problem:
        raise Refused(pattern, status, kind, detail, problem["outcome"], problem.get("item"))
    raise Problem(pattern, status, kind, detail)


def _retry_after(headers: Mapping[str, str]) -> float | None:
    text = {name.lower(): value for name, value in headers.items()}.get("retry-after", "")
    return min(float(text), 5.0) if text.isdecimal() else None


def _backoff(tries: int) -> float:
    return float(min(0.1 * 2 ** (tries - 1), 5.0) * random.uniform(0.5, 1.0))


def _quoted(name: str) -> str:
    return urllib.parse.quote(name, safe="")


def _query(arguments: Mapping[str, Any], as_json: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Repeats the name for each element of a list; values that are neither strings nor numbers are JSON."""
    for name, value in arguments.items():
        if value is None:
            continue
        plain = _plain(value)
        texts = [_text(part) for part in plain] if isinstance(plain, list) and _is_flat(value) else []
        if name in as_json or (isinstance(plain, list) and not (texts[1:] or (texts and not texts[0].startswith("[")))):
            yield name, json.dumps(plain)
        elif texts:
            yield from ((name, text) for text in texts)
        else:
            yield name, _text(plain)


def _is_flat(value: Any) -> bool:
    return not isinstance(value, AbstractSet) and not any(isinstance(_plain(part), (list, dict)) for part in value)


def _text(value: Any) -> str:
    plain = _plain(value)
    return plain if isinstance(plain, str) else json.dumps(plain)


def _plain(value: Any) -> Any:
    """Encodes a value for the API: times and bytes as strings, sets as lists, large numbers as digits."""
    if value is None or isinstance(value, (bool, str, float)):
        return value
    if isinstance(value, int):
        return value if abs(value) < 2**53 else str(value)
    if isinstance(value, decimal.Decimal):
        return str(value)
    if isinstance(value, (bytes, bytearray)):
        return base64.b64encode(value).decode()
    if isinstance(value, dt.datetime):
        return _time_text(value)
    if isinstance(value, dt.date):
        return value.isoformat()
    if isinstance(value, Mapping):
        return {name: _plain(part) for name, part in value.items()}
    if is_dataclass(value) and not isinstance(value, type):
        return {
            field.metadata.get("name", field.name): _plain(part)
            for field in fields(value)
            if (part := getattr(value, field.name)) is not None
        }
    return [_plain(part) for part in value]


def _time_text(value: dt.datetime) -> str:
    if value.tzinfo is None:
        raise ValueError("a time needs a time zone: datetime.now(timezone.utc)")
    return value.astimezone(dt.timezone.utc).replace(tzinfo=None).isoformat(timespec="milliseconds") + "Z"


def _time(value: Any) -> dt.datetime:
    return dt.datetime.fromisoformat(value.removesuffix("Z")).replace(tzinfo=dt.timezone.utc)


def _optional(of: Callable[[Any], _T], value: Any) -> _T | None:
    return None if value is None else of(value)


def _decimal(value: Any) -> decimal.Decimal:
    return decimal.Decimal(value)


def _list(of: Callable[[Any], _T]) -> Callable[[Any], list[_T]]:
    return lambda value: [of(part) for part in value]


def _set(of: Callable[[Any], _T]) -> Callable[[Any], frozenset[_T]]:
    return lambda value: frozenset(of(part) for part in value)


def _map(of: Callable[[Any], _T]) -> Callable[[Any], dict[str, _T]]:
    return lambda value: {name: of(part) for name, part in value.items()}


def _same(value: Any) -> Any:
    return value


def _page(of: Callable[[Any], _T], value: Any) -> Page[_T]:
    return Page([of(item) for item in value["items"]], value["cursor"], value.get("broken", 0))

"""Rate limits, per account and per client address, on guesses of passwords, tokens and invite codes and on floods of mails."""

import http.client
import json
import re
import socket
import time
from concurrent.futures import ThreadPoolExecutor

PASSWORD = "correct horse battery"


class Allowed:
    """Number of attempts that a rate allows from now on: a burst, and one more per elapsed period, however slow the test is."""

    def __init__(self, burst, every):
        self.burst, self.every, self.begin = burst, every, time.monotonic()

    def check(self, count, statuses):
        assert count <= self.burst + (time.monotonic() - self.begin) / self.every + 1, statuses
        assert count >= min(self.burst, len(statuses)), statuses


def send(server, flow, arguments, source="127.0.0.1", token=None, method="POST", caller=None):
    """Calls a flow or a pattern from the given client address; returns status, Retry-After and body."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60, source_address=(source, 0))
    try:
        headers = {"Content-Type": "application/json"}
        if token:
            headers["Authorization"] = f"Bearer {token}"
        if caller:
            headers["X-Keyform-Caller"] = caller
        body = json.dumps(arguments) if method == "POST" else None
        connection.request(method, f"/v1/{flow}", body, headers)
        response = connection.getresponse()
        content = response.read()
        retry = response.getheader("Retry-After")
        return response.status, retry, json.loads(content) if content else None
    finally:
        connection.close()


def register(server, name, source="127.0.0.9"):
    who = {"email": f"{name}@example.com", "username": name, "password": PASSWORD}
    status, _, session = send(server, "discord/register", who, source)
    assert status == 200, session
    return session["token"]


def log_in(server, name, password, source="127.0.0.1"):
    return send(server, "discord/logIn", {"email": f"{name}@example.com", "password": password}, source)


def assert_throttled(answer):
    status, retry, problem = answer
    assert status == 429, answer
    assert int(retry) >= 1, answer
    assert problem["type"] == "urn:keyform:problem:throttled" and problem["status"] == 429, answer


def test_password_guesses_are_few(serve):
    server = serve("--in-memory")
    register(server, "ada")
    allowed = Allowed(10, 30)
    answers = [log_in(server, "ada", f"wrong guess {number}") for number in range(150)]
    # The right password also counts as a guess, and another spelling of the address is the same account.
    answers += [log_in(server, name, PASSWORD) for name in ["ada", " ADA", "Ada"] * 5]
    statuses = [status for status, _, _ in answers]
    assert statuses[:10] == [409] * 10
    allowed.check(len(statuses) - statuses.count(429), statuses)
    assert_throttled(next(answer for answer in answers if answer[0] == 429))
    # The owner, at another address, is not locked out.
    assert log_in(server, "ada", PASSWORD, "127.0.0.2")[0] == 200


def test_concurrent_guesses_do_not_slip_through(serve):
    server = serve("--in-memory")
    register(server, "ada")
    allowed = Allowed(10, 30)
    with ThreadPoolExecutor(64) as pool:
        answers = list(pool.map(lambda number: log_in(server, "ada", f"wrong guess {number}"), range(64)))
    statuses = [status for status, _, _ in answers]
    assert set(statuses) <= {409, 429}, statuses
    allowed.check(statuses.count(409), statuses)


def test_many_addresses_share_the_limit_of_the_account(serve):
    server = serve("--in-memory")
    register(server, "ada")
    allowed = Allowed(20, 10)
    statuses = [log_in(server, "ada", "wrong guess", f"127.0.1.{number % 100 + 1}")[0] for number in range(100)]
    allowed.check(statuses.count(409), statuses)


def test_a_success_resets_nothing(serve):
    server = serve("--in-memory")
    register(server, "eve")
    register(server, "ada")
    statuses, allowed = [], Allowed(10, 30)
    for number in range(40):
        statuses.append(log_in(server, "ada", f"wrong guess {number}")[0])
        log_in(server, "eve", PASSWORD)
    allowed.check(statuses.count(409), statuses)


def test_a_password_is_guessed_in_one_count(serve):
    """Changing a password verifies the old one: it counts as a log-in, in both directions."""
    server = serve("--in-memory")
    token = register(server, "ada")
    change = {"password": "wrong guess", "newPassword": "another horse battery"}
    allowed = Allowed(10, 30)
    statuses = [send(server, "discord/changeMyPassword", change, token=token)[0] for _ in range(30)]
    statuses += [log_in(server, "ada", "wrong guess")[0] for _ in range(30)]
    allowed.check(statuses.count(409), statuses)
    eve = register(server, "eve")
    allowed = Allowed(10, 30)
    statuses = [log_in(server, "eve", "wrong guess")[0] for _ in range(30)]
    statuses += [send(server, "discord/changeMyPassword", change, token=eve)[0] for _ in range(30)]
    allowed.check(statuses.count(409), statuses)


# Each of them looks like an address, or is delivered to the same mailbox.
SPELLINGS = [
    "ada@example.com.",
    "ada\u200b@example.com",
    "ada@exam\u00adple.com",
    "\uff41da@example.com",
    "ada@\uff45xample.com",
    "ada@example\u3002com",
    "ada\u0301@example.com",
]


def test_a_mailbox_has_one_spelling(serve):
    server = serve("--in-memory")
    register(server, "ada")
    for number, spelling in enumerate(SPELLINGS):
        who = {"email": spelling, "username": f"ada{number}", "password": PASSWORD}
        assert send(server, "discord/register", who)[0] == 400, spelling
        assert send(server, "discord/logIn", {"email": spelling, "password": PASSWORD})[0] == 400, spelling
        assert send(server, "helpmaton/requestSignIn", {"email": spelling})[0] == 400, spelling
        assert send(server, "helpmaton/signIn", {"email": spelling, "token": "0"})[0] == 400, spelling
    # No attempt counted for the real address, and none created another account.
    assert log_in(server, "ada", PASSWORD)[0] == 200


def test_who_waits_as_told_gets_through(serve):
    server = serve("--in-memory")
    register(server, "ada")
    while (answer := log_in(server, "ada", "wrong guess"))[0] != 429:
        pass
    assert_throttled(answer)
    assert int(answer[1]) <= 30
    time.sleep(int(answer[1]))
    assert log_in(server, "ada", PASSWORD)[0] == 200


def test_a_throttled_guess_costs_no_hash(serve):
    """At most four threads hash, and 16 callers wait for each: if refusals cost a hash, some would be answered with 503."""
    server = serve("--in-memory")
    register(server, "ada")
    while log_in(server, "ada", "wrong guess")[0] != 429:
        pass
    allowed = Allowed(0, 30)
    with ThreadPoolExecutor(100) as pool:
        statuses = list(pool.map(lambda _: log_in(server, "ada", "wrong guess")[0], range(1000)))
    assert set(statuses) <= {409, 429}, set(statuses)
    allowed.check(statuses.count(409), statuses)
    # The same for accounts without earlier guesses.
    with ThreadPoolExecutor(100) as pool:
        statuses = list(pool.map(lambda number: log_in(server, f"stranger{number}", "guess", "127.0.0.77")[0], range(100)))
    assert 503 in statuses, set(statuses)


def test_invite_codes_are_not_guessed(serve):
    server = serve("--in-memory")
    token = register(server, "ada")
    allowed = Allowed(20, 10)
    statuses = [
        send(server, "discord/joinByInvite", {"inviteCode": f"guess{number:05}"}, token=token)[0] for number in range(100)
    ]
    assert statuses[:20] == [409] * 20
    allowed.check(statuses.count(409), statuses)
    # Reading an invite needs no account, so the server counts by client address.
    allowed = Allowed(100, 1)
    answers = [
        send(server, f"discord/inviteByCode?inviteCode=guess{number:05}", None, "127.0.0.3", method="GET")
        for number in range(300)
    ]
    allowed.check(sum(status == 200 for status, _, _ in answers), [status for status, _, _ in answers])
    assert_throttled(next(answer for answer in answers if answer[0] == 429))


def test_an_invite_code_is_guessed_in_one_count(serve):
    """The flow `join` and the patterns that take a code count together."""
    server = serve("--in-memory")
    ada = "userId=ada00000-0000-4000-8000-000000000001"
    allowed, statuses = Allowed(20, 10), []
    for number in range(30):
        code = {"code": f"guess{number:011}"}
        statuses.append(send(server, "workspaces/join", code, caller=ada)[0])
        statuses.append(send(server, "workspaces/joinByInvite", code, caller=ada)[0])
    allowed.check(statuses.count(409), statuses)
    assert set(statuses) == {409, 429}


def test_many_addresses_guess_few_codes(serve):
    """Codes with the same first characters share a limit for all clients; viewing an invite needs no account."""
    server = serve("--in-memory")
    views = [
        ("workspaces", lambda number, source: send(server, "workspaces/aboutInvite", {"code": f"zz{number:014}"}, source)[0]),
        ("discord", lambda number, source: send(server, f"discord/inviteByCode?inviteCode=zz{number:08}", None, source, method="GET")[0]),
    ]
    for model, view in views:
        allowed = Allowed(200, 1)
        statuses = [view(number, f"127.1.{number // 200}.{number % 200 + 1}") for number in range(400)]
        refused = statuses.count(429)
        allowed.check(len(statuses) - refused, statuses)
        assert refused > 0, model


def test_live_reads_guess_no_invite_codes(serve):
    """A subscription returns the result of its read, so it counts as a guess."""
    server = serve("--in-memory")
    allowed, pages, refused = Allowed(100, 1), 0, 0
    for connection in range(3):
        with live(server, "discord") as connected:
            for number in range(60):
                read = {"type": "subscribe", "id": str(number), "read": "inviteByCode"}
                send_text(connected, {**read, "arguments": {"inviteCode": f"guess{connection}{number:04}"}})
            for _ in range(60):
                answer = receive_text(connected)
                pages += answer["type"] == "page"
                refused += answer.get("code") == "throttled"
    allowed.check(pages, range(180))
    assert refused == 180 - pages, (pages, refused)


def live(server, model):
    connection = socket.create_connection(("127.0.0.1", server.port), timeout=30)
    handshake = (
        f"GET /v1/{model}/live HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
        "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    )
    connection.sendall(handshake.encode())
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        head += exactly(connection, 1)
    assert b" 101 " in head, head
    return connection


def send_text(connection, message):
    """Sends a masked text frame of up to 64 KB; a mask of zeros leaves the text unchanged."""
    content = json.dumps(message).encode()
    connection.sendall(b"\x81" + bytes([0x80 | 126]) + len(content).to_bytes(2, "big") + bytes(4) + content)


def receive_text(connection):
    while True:
        kind, length = exactly(connection, 2)
        if length >= 126:
            length = int.from_bytes(exactly(connection, 2 if length == 126 else 8), "big")
        content = exactly(connection, length)
        if kind == 0x81:
            return json.loads(content)


def exactly(connection, count):
    content = b""
    while len(content) < count:
        part = connection.recv(count - len(content))
        assert part, "the connection was closed"
        content += part
    return content


def test_an_address_is_not_flooded_with_mails(serve):
    server = serve("--in-memory")
    spellings = ["ada@example.com", "ADA@example.com", " ada@Example.com "]
    allowed = Allowed(5, 300)
    answers = [send(server, "helpmaton/requestSignIn", {"email": spellings[number % 3]}) for number in range(200)]
    statuses = [status for status, _, _ in answers]
    allowed.check(statuses.count(200), statuses)
    assert_throttled(answers[-1])
    # Nor do many clients exceed the limit, and other addresses still get their mail.
    answers = [send(server, "helpmaton/requestSignIn", {"email": spellings[0]}, f"127.0.2.{number + 1}") for number in range(50)]
    statuses += [status for status, _, _ in answers]
    allowed.check(statuses.count(200), statuses)
    assert send(server, "helpmaton/requestSignIn", {"email": "grace@example.com"})[0] == 200


def test_sign_in_tokens_and_keys_are_not_guessed(serve):
    server = serve("--in-memory")
    guess = {"email": "ada@example.com", "token": "0" * 64}
    allowed = Allowed(10, 30)
    statuses = [send(server, "helpmaton/signIn", guess)[0] for _ in range(100)]
    allowed.check(statuses.count(409), statuses)
    allowed = Allowed(100, 1)
    statuses = [
        send(server, "helpmaton/acceptInvitationAsGuest", {"token": f"{number:064}"}, "127.0.0.4")[0] for number in range(300)
    ]
    allowed.check(statuses.count(409), statuses)


def test_invitations_and_sign_ins_share_a_mailbox(serve):
    """Invitations count as mails to the address, and leave its owner some sign-ins."""
    server = serve("--in-memory", "--demo")
    ada = "userId=ada00000-0000-4000-8000-000000000001; email=ada@example.com"
    invite = {"workspaceId": "ada00000-0000-4000-8000-000000000002", "email": "grace@example.org"}
    invited, mailed = Allowed(3, 600), Allowed(5, 300)
    invites = [send(server, "helpmaton/inviteByEmail", invite, caller=ada)[0] for _ in range(20)]
    invited.check(len(invites) - invites.count(429), invites)
    sign_ins = [send(server, "helpmaton/requestSignIn", {"email": "grace@example.org"})[0] for _ in range(20)]
    assert 2 <= sign_ins.count(200), sign_ins
    mailed.check(len(invites) - invites.count(429) + sign_ins.count(200), [*invites, *sign_ins])


def test_a_flood_of_made_up_keys_grows_nothing_and_resets_nothing(serve):
    server = serve("--in-memory")
    register(server, "ada")
    allowed = Allowed(10, 30)
    guesses = [log_in(server, "ada", "wrong guess")[0] for _ in range(20)]
    before = server.resident_bytes()

    def ask(number):
        email = f"made-up-{number}@example.com"
        return send(server, "helpmaton/signIn", {"email": email, "token": "0"}, f"127.{number % 200 + 1}.0.{number // 200 % 200 + 1}")[0]

    with ThreadPoolExecutor(16) as pool:
        statuses = list(pool.map(ask, range(4000)))
    assert set(statuses) <= {409, 429}, set(statuses)
    # The table is allocated at startup; any growth is memory that requests need anyway.
    assert server.resident_bytes() - before < 48 * 1024 * 1024
    guesses += [log_in(server, "ada", "wrong guess")[0] for _ in range(20)]
    allowed.check(guesses.count(409), guesses)


def test_the_openapi_document_says_so(serve):
    server = serve("--in-memory")
    document = server.request("GET", "/v1/discord/openapi.json").json
    for path, method in [("logIn", "post"), ("joinByInvite", "post"), ("inviteByCode", "get")]:
        responses = document["paths"][f"/v1/discord/{path}"][method]["responses"]
        assert re.search("attempts", responses["429"]["description"])
        assert "Retry-After" in responses["429"]["headers"]

"""Only credentials or only a token key is configured: the unprotected endpoint must not expose the data."""

import os
import subprocess

import pytest

from keys import basic, credentials_file, signed, token, token_key_file
from server import BINARY

TARGET = {"Content-Type": "application/x-amz-json-1.0"}
USER = "01KKP2T8SN0000000000000000"
MODEL = """model notes

table Notes "notes" {
  key pk
}

entity Note in Notes {
  key "NOTE#{noteId}"
  noteId: ulid = ulid()
  text:   string(1..100)
}

write add(text) -> Note { create Note {} else NoteExists }
"""


def flags(folder, credentials, token_key):
    return (credentials_file(folder) if credentials else []) + (token_key_file(folder) if token_key else [])


def operation(server, name, body, sign=False):
    headers = {**TARGET, "X-Amz-Target": f"DynamoDB_20120810.{name}"}
    content = body.encode()
    return server.request("POST", "/", content, signed(server, "POST", "/", content, headers) if sign else headers)


def handshake(server):
    headers = {
        "Connection": "Upgrade",
        "Upgrade": "websocket",
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
    }
    return server.request("GET", "/v1/discord/live", headers=headers)


# Statuses that an attacker without any secret gets, by configuration: an operation, the list of models, a call with a forged caller, a live
# WebSocket, metrics.
TABLE = [
    (False, False, [200, 200, 200, 101, 200], "Development mode"),
    (True, False, [400, 403, 403, 403, 401], "/v1) is closed"),
    (False, True, [403, 200, 401, 101, 403], "(POST /) are closed"),
    (True, True, [400, 200, 401, 101, 401], "must be signed, and calls of models must carry a token"),
]


@pytest.mark.parametrize("credentials, token_key, expected, shown", TABLE)
def test_the_half_without_protection_is_closed(serve, tmp_path, credentials, token_key, expected, shown):
    server = serve("--in-memory", *flags(tmp_path, credentials, token_key))
    found = [
        operation(server, "ListTables", "{}").status,
        server.request("GET", "/v1").status,
        server.call("discord", "createServer", {"name": "mine"}, caller=f"userId={USER}").status,
        handshake(server).status,
        server.request("GET", "/metrics").status,
    ]
    assert found == expected
    assert shown in server.out
    for probe in ("/healthz", "/readyz"):
        assert server.request("GET", probe).status == 200


def test_a_scan_for_password_hashes_needs_credentials(serve, tmp_path):
    server = serve("--in-memory", *flags(tmp_path, credentials=False, token_key=True))
    body = {"email": "ada@example.com", "username": "ada", "password": "correct horse battery staple"}
    assert server.call("discord", "signUpWithPassword", body).status in (200, 404)
    refused = operation(server, "ListTables", "{}")
    assert refused.status == 403
    assert "keyform credentials add" in refused.json["message"]
    for name in ("Scan", "DescribeEndpoints", "NoSuchOperation", ""):
        assert operation(server, name, '{"TableName": "discord-local"}').status == 403


def test_each_half_works_for_those_who_have_its_secret(serve, tmp_path):
    server = serve("--in-memory", *flags(tmp_path, credentials=True, token_key=True))
    assert operation(server, "ListTables", "{}", sign=True).status == 200
    assert server.call("discord", "createServer", {"name": "mine"}, token=token(userId=USER)).status == 200
    forged = token("another-secret-that-is-as-long-as-the-first", userId=USER)
    assert server.call("discord", "createServer", {"name": "mine"}, token=forged).status == 401


def test_a_closed_model_api_does_not_know_tokens_either(serve, tmp_path):
    server = serve("--in-memory", *flags(tmp_path, credentials=True, token_key=False))
    for path in ("/v1", "/v1/", "/v1/discord", "/v1/discord/openapi.json", "/v1/discord/createServer", "/v1/discord/live"):
        refused = server.request("GET", path, headers={"Authorization": f"Bearer {token(userId=USER)}"})
        assert refused.status == 403, path
        assert "configure a token key" in refused.json["detail"]
    assert "/v1/" not in server.out.replace("(/v1)", ""), "paths that are closed are not advertised"


def start_and_fail(folder, *arguments):
    """Runs a `keyform serve` that must not start; returns its error message."""
    command = [BINARY, "serve", "--port", "0", "--in-memory", *arguments]
    variables = {"PATH": os.environ["PATH"], "HOME": str(folder), "AWS_ACCESS_KEY_ID": "x", "AWS_SECRET_ACCESS_KEY": "x"}
    ended = subprocess.run(command, cwd=folder, env=variables, capture_output=True, text=True, timeout=60)
    assert ended.returncode == 2, ended
    return ended.stderr


def test_models_that_could_not_be_called_are_refused_at_the_start(tmp_path):
    (tmp_path / "notes.kf").write_text(MODEL)
    message = start_and_fail(tmp_path, "notes.kf", *flags(tmp_path, credentials=True, token_key=False))
    assert "--jwt-key-file" in message


def test_sample_data_of_a_closed_model_api_is_refused(tmp_path):
    assert "--jwt-key-file" in start_and_fail(tmp_path, "--demo", *flags(tmp_path, credentials=True, token_key=False))


def test_settings_in_a_file_count_like_flags(serve, tmp_path):
    key = token_key_file(tmp_path)[1]
    file = tmp_path / "settings.toml"
    file.write_text(f'jwt_key_file = "{key}"\nallowed_host = ["keyform.test", "127.0.0.1"]\n')
    server = serve("--in-memory", "--config", str(file))
    assert operation(server, "ListTables", "{}").status == 403
    assert server.request("GET", "/v1", headers={"Host": "keyform.test"}).status == 200
    assert server.request("GET", "/v1", headers={"Host": "other.test"}).status == 421


def test_an_address_for_others_is_refused_in_development(tmp_path):
    assert "keyform credentials add" in start_and_fail(tmp_path, "--host", "0.0.0.0", "--no-systems")
    (tmp_path / "notes.kf").write_text(MODEL)
    assert "--jwt-key-file" in start_and_fail(tmp_path, "--host", "0.0.0.0", "notes.kf")


def test_models_on_a_store_elsewhere_need_a_token(serve, tmp_path):
    store = serve("--in-memory", "--no-systems")
    (tmp_path / "notes.kf").write_text(MODEL)
    elsewhere = [str(tmp_path / "notes.kf"), "--store", "dynamodb", "--endpoint-url", store.url, "--create-tables"]
    aws = {"AWS_ACCESS_KEY_ID": "x", "AWS_SECRET_ACCESS_KEY": "x"}
    server = serve(*elsewhere, *token_key_file(tmp_path), environment=aws)
    assert server.call("notes", "add", {"text": "one"}, caller="userId=ada").status == 401
    assert server.call("notes", "add", {"text": "one"}, token=token(userId="ada")).status == 200
    assert operation(server, "ListTables", "{}").status == 404
    assert server.request("GET", "/metrics").status == 403
    assert "Secured" in server.out


def test_metrics_are_for_the_operator(serve, tmp_path):
    server = serve("--in-memory", "--host", "0.0.0.0", "--no-systems", *flags(tmp_path, credentials=True, token_key=False))
    assert server.request("GET", "/metrics").status == 401
    assert server.request("GET", "/metrics", headers=basic(secret="wrong")).status == 401
    assert server.request("GET", "/metrics", headers={"Authorization": f"Bearer {token(userId=USER)}"}).status == 401
    for headers in (basic(), signed(server, "GET", "/metrics")):
        page = server.request("GET", "/metrics", headers=headers)
        assert page.status == 200 and b"keyform_uptime_seconds" in page.body
    # A signature for another path is not valid here.
    assert server.request("GET", "/metrics", headers=signed(server, "GET", "/other")).status == 401
    # Probes of a cluster use the address of the machine, and the answer contains only the state.
    for probe, body in (("/healthz", b"ok\n"), ("/readyz", b"ready\n")):
        answer = server.request("GET", probe, headers={"Host": "10.1.2.3:8000"})
        assert (answer.status, answer.body) == (200, body)


def test_metrics_on_a_port_of_their_own(serve, tmp_path):
    server = serve("--in-memory", "--metrics-port", "0", *flags(tmp_path, credentials=True, token_key=True))
    line = next(line for line in server.out.splitlines() if line.startswith("metrics: "))
    assert server.request("GET", "/metrics", headers=basic()).status == 404
    server.port = int(line.split(":")[-1].split("/")[0])
    assert b"keyform_uptime_seconds" in server.request("GET", "/metrics").body
    assert server.request("GET", "/metrics", headers={"Host": "evil.example"}).status == 421
    assert operation(server, "ListTables", "{}").status == 405
    assert server.request("GET", "/v1").status == 404

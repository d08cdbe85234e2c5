"""Other accounts on the machine cannot read any file that the server and its commands write, whatever the umask."""

import stat
import subprocess

import pytest

from server import BINARY

OPEN_UMASK = ("sh", "-c", 'umask 0; exec "$@"', "sh")
KEY = {"AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
       "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}], "BillingMode": "PAY_PER_REQUEST"}


def exposed(folder):
    """Returns the paths below a folder that grant any permission to the group or to others."""
    return {str(path): oct(path.stat().st_mode) for path in sorted(folder.rglob("*"))
            if stat.S_IMODE(path.stat().st_mode) & 0o077}


def run(folder, *arguments):
    command = [*OPEN_UMASK, BINARY, *map(str, arguments)]
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(folder), "XDG_CONFIG_HOME": str(folder / "config")}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr


def fill(server):
    created = server.dynamodb("CreateTable", {"TableName": "notes", **KEY})
    assert created.status == 200, created
    for number in range(20):
        item = {"pk": {"S": str(number)}, "text": {"S": "private" * 100}}
        assert server.dynamodb("PutItem", {"TableName": "notes", "Item": item}).status == 200


@pytest.mark.parametrize("encryption", ["on", "off"])
def test_data_and_keys_are_for_the_owner_alone(serve, encryption):
    server = serve("--encryption", encryption, prefix=OPEN_UMASK)
    fill(server)
    # Calling a system creates the other keys: for cursors and for encrypted fields.
    server.call("discord", "logIn", {"email": "ada@example.com", "password": "a wrong password"})
    server.call("helpmaton", "requestSignIn", {"email": "ada@example.com"})
    written = [server.data, *server.data.rglob("*")]
    assert len(written) > 3, written
    assert stat.S_IMODE(server.data.stat().st_mode) == 0o700
    kept = {name: mode for name, mode in exposed(server.folder).items() if not name.endswith(("/out", "/err"))}
    assert kept == {}
    assert server.stop() == 0
    kept = {name: mode for name, mode in exposed(server.folder).items() if not name.endswith(("/out", "/err"))}
    assert kept == {}


def test_exports_checkpoints_and_key_files_are_for_the_owner_alone(serve, tmp_path):
    server = serve("--encryption", "off")
    fill(server)
    folder = tmp_path / "work"
    folder.mkdir()
    url = f"{server.url}?region=us-east-1"
    environment = folder / ".aws"
    environment.mkdir(mode=0o700)
    (environment / "credentials").write_text("[default]\naws_access_key_id = a\naws_secret_access_key = b\n")
    (environment / "credentials").chmod(0o600)
    for format, output in [("jsonl", "notes.jsonl"), ("csv", "notes.csv"), ("s3", "backup"), ("jsonl", "notes.jsonl.gz")]:
        run(folder, "export", "notes", "--from", url, "--format", format, "-o", output)
    run(folder, "copy", "--from", url, "--to", "data:copied", "--checkpoint", folder / "copy.json")
    run(folder, "credentials", "add", "--credentials-file", folder / "keys" / "credentials")
    # Overwriting a file of an earlier export that others could read tightens its mode.
    (folder / "notes.csv").chmod(0o666)
    run(folder, "export", "notes", "--from", url, "--format", "csv", "-o", "notes.csv")
    assert len(list(folder.rglob("*"))) > 15
    assert exposed(folder) == {}


def test_a_wide_data_directory_is_tightened_at_the_next_start(serve):
    first = serve("--encryption", "off")
    fill(first)
    assert first.stop() == 0
    first.data.chmod(0o777)
    for path in first.data.iterdir():
        path.chmod(0o666)
    second = serve("--encryption", "off", data=first.data)
    assert exposed(first.data) == {} and stat.S_IMODE(first.data.stat().st_mode) == 0o700
    assert second.dynamodb("GetItem", {"TableName": "notes", "Key": {"pk": {"S": "7"}}}).json["Item"]

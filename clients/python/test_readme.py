"""The examples of the README work as shown: the commands of the AWS CLI, if it is installed, and the boto3 code."""

import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

README = pathlib.Path(__file__).resolve().parents[2] / "README.md"
FIRST = {"pk": {"S": "CHANNEL#1"}, "sk": {"S": "MSG#001"}, "text": {"S": "hello"}}


def block(language, having):
    blocks = re.findall(rf"```{language}\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    (found,) = [text for text in blocks if having in text]
    return found


def commands():
    """Returns the shell block without its `export` lines: the test sets the endpoint and the credentials itself."""
    text = block("sh", "aws dynamodb create-table")
    return "\n".join(line for line in text.splitlines() if not line.startswith("export "))


def run(command, **options):
    return subprocess.run(
        command, check=True, capture_output=True, text=True, timeout=120, env=os.environ, **options
    ).stdout


@pytest.fixture
def chat(client):
    """Name of the README's table, which is deleted after the test."""
    yield "Chat"
    client.delete_table(TableName="Chat")


def make_chat_as_the_commands_do(client):
    if shutil.which("aws"):
        shown = run(["bash", "-euo", "pipefail", "-c", commands()])
        assert '"hello"' in shown
        return
    keys = {"pk": "HASH", "sk": "RANGE"}
    client.create_table(
        TableName="Chat",
        AttributeDefinitions=[{"AttributeName": name, "AttributeType": "S"} for name in keys],
        KeySchema=[{"AttributeName": name, "KeyType": kind} for name, kind in keys.items()],
        BillingMode="PAY_PER_REQUEST",
    )
    client.put_item(TableName="Chat", Item=FIRST)


def test_the_first_table_of_the_readme(client, chat):
    make_chat_as_the_commands_do(client)
    assert client.get_item(TableName=chat, Key={name: FIRST[name] for name in ("pk", "sk")})["Item"] == FIRST
    shown = run([sys.executable, "-c", block("python", "import boto3")])
    assert shown == "['and again', 'hello']\n"

"""The server reads or rejects every member of every request that the SDK can send, and ignores none.

The SDK's model of the service lists the members. `crates/wire/tests/members.txt` is that list for the operations that the
server has; with KEYFORM_BLESS=1 this suite rewrites it. A newer SDK with a new member fails here until the member is
implemented or listed in `crates/wire/src/request/unsupported.rs`.
"""

import http.client
import json
import os
import urllib.parse
from pathlib import Path

import boto3
import pytest
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.loaders import Loader

LIST = Path(__file__).parents[2] / "crates/wire/tests/members.txt"
SERVICES = ("dynamodb", "dynamodbstreams")
# An invalid value for each type of member.
WRONG = {"string": 1, "blob": 1, "timestamp": [], "boolean": 1, "integer": "x", "long": "x", "list": "x", "map": "x", "structure": "x"}


def post(target, body):
    """Sends one signed request over raw HTTP, because the SDK does not send a value of the wrong type."""
    url = os.environ["AWS_ENDPOINT_URL_DYNAMODB"].rstrip("/") + "/"
    request = AWSRequest("POST", url, data=body, headers={"Content-Type": "application/x-amz-json-1.0"})
    request.headers["X-Amz-Target"] = target
    session = boto3.session.Session()
    SigV4Auth(session.get_credentials(), "dynamodb", session.region_name).add_auth(request)
    address = urllib.parse.urlparse(url)
    connection = http.client.HTTPConnection(address.hostname, address.port, timeout=20)
    try:
        connection.request("POST", "/", body=body, headers=dict(request.headers.items()))
        response = connection.getresponse()
        return response.status, json.loads(response.read())
    finally:
        connection.close()


def members(shapes, name, path, inside):
    """Yields the paths and types of all members below a shape; stops where a structure contains itself."""
    shape = shapes[name]
    match shape["type"]:
        case "structure" if name not in inside:
            for member, reference in shape["members"].items():
                below = f"{path}.{member}".removeprefix(".")
                yield below, shapes[reference["shape"]]["type"]
                yield from members(shapes, reference["shape"], below, inside | {name})
        case "list":
            yield from members(shapes, shape["member"]["shape"], f"{path}[]", inside)
        case "map":
            yield from members(shapes, shape["value"]["shape"], f"{path}{{}}", inside)


def is_served(target):
    return "UnknownOperationException" not in post(target, b"{}")[1].get("__type", "")


def lines():
    """Yields target, path and type of every member of every operation that the server has."""
    for service in SERVICES:
        model = Loader().load_service_model(service, "service-2")
        for name, operation in sorted(model["operations"].items()):
            target = f"{model['metadata']['targetPrefix']}.{name}"
            if "input" in operation and is_served(target):
                for path, kind in sorted(members(model["shapes"], operation["input"]["shape"], "", frozenset())):
                    yield f"{target} {path} {kind}"


def body_with(path, value):
    """Returns a body that contains only this member."""
    for part in reversed(path.split(".")):
        while part.endswith(("[]", "{}")):
            value = [value] if part.endswith("[]") else {"abc": value}
            part = part[:-2]
        value = {part: value}
    return json.dumps(value).encode()


def test_the_list_is_that_of_the_sdk():
    current = "".join(f"{line}\n" for line in lines())
    if os.environ.get("KEYFORM_BLESS"):
        LIST.write_text(current)
    assert current == LIST.read_text()


@pytest.mark.parametrize("target", sorted({line.split()[0] for line in LIST.read_text().splitlines()}))
def test_every_member_is_read_or_refused(target):
    for line in LIST.read_text().splitlines():
        listed, path, kind = line.split()
        if listed == target:
            status, answer = post(target, body_with(path, WRONG[kind]))
            message = answer.get("message") or answer.get("Message") or ""
            names = [part.rstrip("[]{}") for part in path.split(".")]
            refused = [f"One or more parameter values were invalid: {name} is not supported" for name in names]
            assert status == 400 and (answer["__type"].endswith("#SerializationException") or message in refused), line


def test_what_no_model_knows_is_ignored():
    status, answer = post("DynamoDB_20120810.ListTables", b'{"Limit": 1, "NoSuchMember": {"x": [1, "y", null]}}')
    assert status == 200, answer


def test_a_member_that_is_null_is_as_good_as_absent():
    status, answer = post("DynamoDB_20120810.UpdateTable", b'{"TableName": "absent", "VectorIndexUpdates": null}')
    assert status == 400 and "not supported" not in answer["message"], answer

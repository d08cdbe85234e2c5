"""The HTTP layer below the SDK: compressed bodies, health, checksums, concurrency, hostile input."""

import gzip
import http.client
import json
import os
import urllib.parse
import zlib
from concurrent.futures import ThreadPoolExecutor

import boto3
import pytest
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest


def connect():
    url = urllib.parse.urlparse(os.environ["AWS_ENDPOINT_URL_DYNAMODB"])
    return http.client.HTTPConnection(url.hostname, url.port, timeout=20)


def post(operation, body, headers=(), connection=None):
    """Sends one signed request over raw HTTP; returns the response and its body as received."""
    url = os.environ["AWS_ENDPOINT_URL_DYNAMODB"].rstrip("/") + "/"
    request = AWSRequest("POST", url, data=body, headers={"Content-Type": "application/x-amz-json-1.0"})
    request.headers["X-Amz-Target"] = f"DynamoDB_20120810.{operation}"
    for name, value in headers:
        request.headers[name] = value
    session = boto3.session.Session()
    SigV4Auth(session.get_credentials(), "dynamodb", session.region_name).add_auth(request)
    connection = connection or connect()
    connection.request("POST", "/", body=body, headers=dict(request.headers.items()))
    response = connection.getresponse()
    return response, response.read()


@pytest.fixture
def table(make_table):
    table = make_table()
    with table.batch_writer() as batch:
        for number in range(50):
            batch.put_item(Item={"pk": str(number), "text": "compressible " * 20})
    return table


def scan_of(table):
    return json.dumps({"TableName": table.name}).encode()


def test_a_gzip_request_is_understood(table):
    body = gzip.compress(scan_of(table))
    response, answer = post("Scan", body, [("Content-Encoding", "gzip")])
    assert response.status == 200, answer
    assert json.loads(answer)["Count"] == 50


def test_a_gzip_answer_is_sent_to_those_who_ask(table):
    response, answer = post("Scan", scan_of(table), [("Accept-Encoding", "gzip")])
    assert response.headers["Content-Encoding"] == "gzip"
    assert json.loads(gzip.decompress(answer))["Count"] == 50


def test_nobody_gets_gzip_unasked(table):
    response, answer = post("Scan", scan_of(table), [("Accept-Encoding", "identity")])
    assert "Content-Encoding" not in response.headers
    assert json.loads(answer)["Count"] == 50


def test_a_broken_gzip_body_is_a_clean_error(table):
    response, _ = post("Scan", b"\x1f\x8b not gzip", [("Content-Encoding", "gzip")])
    assert response.status == 400


def test_the_checksum_is_that_of_the_body(table):
    response, answer = post("Scan", scan_of(table), [("Accept-Encoding", "identity")])
    assert int(response.headers["x-amz-crc32"]) == zlib.crc32(answer)
    assert response.headers["Content-Type"] == "application/x-amz-json-1.0"
    assert response.headers["x-amzn-requestid"]


def test_one_connection_serves_many_requests(table):
    connection = connect()
    answers = [post("Scan", scan_of(table), connection=connection)[0].status for _ in range(20)]
    assert answers == [200] * 20


def test_an_unknown_operation_is_never_a_success():
    response, answer = post("InventSomething", b"{}")
    assert response.status == 400
    assert json.loads(answer)["__type"].endswith("UnknownOperationException")


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"null", b'{"TableName": 5}', b"\xff\xfe", b"{" * 100_000, b"[" * 100_000])
def test_malformed_bodies_are_clean_errors(body):
    response, answer = post("Scan", body)
    assert response.status == 400
    assert "__type" in json.loads(answer)


@pytest.mark.parametrize("expression", ["(" * 4000, "NOT " * 1000, "a" + ".a" * 2000, "a" + "[0]" * 1300, "size(" * 800])
def test_deep_expressions_are_clean_errors(table, expression):
    body = json.dumps({"TableName": table.name, "FilterExpression": expression}).encode()
    response, answer = post("Scan", body)
    assert response.status == 400, answer
    assert post("ListTables", b"{}")[0].status == 200


def test_health_pages_answer():
    for path in ("/", "/healthz", "/readyz", "/metrics"):
        connection = connect()
        connection.request("GET", path)
        response = connection.getresponse()
        response.read()
        assert response.status == 200, path


def test_hot_counters_lose_nothing_under_concurrency(table):
    def add(_):
        for _ in range(25):
            table.meta.client.update_item(
                TableName=table.name,
                Key={"pk": "hot"},
                UpdateExpression="ADD hits :one",
                ExpressionAttributeValues={":one": 1},
            )

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(add, range(8)))
    assert table.get_item(Key={"pk": "hot"}, ConsistentRead=True)["Item"]["hits"] == 200


def test_only_one_of_many_conditional_puts_wins(client, table):
    def claim(number):
        try:
            table.put_item(Item={"pk": "lock", "owner": number}, ConditionExpression="attribute_not_exists(pk)")
            return number
        except client.exceptions.ConditionalCheckFailedException:
            return None

    with ThreadPoolExecutor(8) as pool:
        winners = [winner for winner in pool.map(claim, range(32)) if winner is not None]
    assert len(winners) == 1
    assert table.get_item(Key={"pk": "lock"}, ConsistentRead=True)["Item"]["owner"] == winners[0]

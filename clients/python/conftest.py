"""Fixtures for the boto3 suite.

The SDK finds the server as for any user: by AWS_ENDPOINT_URL_DYNAMODB and AWS_ENDPOINT_URL_DYNAMODB_STREAMS in the
environment. The suite does not depend on which server answers.
"""

import itertools
import os
import time

import boto3
import pytest

_names = itertools.count()


@pytest.fixture(scope="session")
def client():
    return boto3.client("dynamodb")


@pytest.fixture(scope="session")
def resource():
    return boto3.resource("dynamodb")


@pytest.fixture(scope="session")
def streams():
    return boto3.client("dynamodbstreams")


@pytest.fixture
def make_table(client, resource):
    """Returns a function that creates a table, waits for it, and removes it after the test."""
    made = []

    def make(hash_type="S", range_type=None, name=None, **options):
        name = name or f"py-{os.getpid()}-{next(_names)}"
        definitions = [{"AttributeName": "pk", "AttributeType": hash_type}]
        schema = [{"AttributeName": "pk", "KeyType": "HASH"}]
        if range_type:
            definitions.append({"AttributeName": "sk", "AttributeType": range_type})
            schema.append({"AttributeName": "sk", "KeyType": "RANGE"})
        definitions += options.pop("more_definitions", [])
        client.create_table(
            TableName=name,
            AttributeDefinitions=definitions,
            KeySchema=schema,
            **{"BillingMode": "PAY_PER_REQUEST", **options},
        )
        made.append(name)
        wait_for_table(client, name)
        return resource.Table(name)

    yield make
    for name in made:
        try:
            client.delete_table(TableName=name)
        except client.exceptions.ResourceNotFoundException:
            pass


def wait_for_table(client, name):
    client.get_waiter("table_exists").wait(
        TableName=name, WaiterConfig={"Delay": 1, "MaxAttempts": 30}
    )


def poll(probe, seconds):
    """Calls the probe until its result is true or the time is up; returns the last result."""
    end = time.monotonic() + seconds
    while not (found := probe()) and time.monotonic() < end:
        time.sleep(0.05)
    return found


def read_stream(streams, stream_arn):
    """Returns all records of a stream, shard by shard, from the oldest."""
    records = []
    for shard in all_shards(streams, stream_arn):
        records += read_shard(streams, stream_arn, shard["ShardId"])
    return records


def all_shards(streams, stream_arn):
    shards, start = [], {}
    while True:
        page = streams.describe_stream(StreamArn=stream_arn, **start)["StreamDescription"]
        shards += page["Shards"]
        if "LastEvaluatedShardId" not in page:
            return shards
        start = {"ExclusiveStartShardId": page["LastEvaluatedShardId"]}


def read_shard(streams, stream_arn, shard_id, kind="TRIM_HORIZON", **options):
    iterator = streams.get_shard_iterator(
        StreamArn=stream_arn, ShardId=shard_id, ShardIteratorType=kind, **options
    )["ShardIterator"]
    records = []
    while iterator:
        page = streams.get_records(ShardIterator=iterator)
        records += page["Records"]
        if not page["Records"]:
            break
        iterator = page.get("NextShardIterator")
    return records

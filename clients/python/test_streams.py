"""Streams: the records of every kind of change, iterators, and TTL deletions as the service reports them."""

import time

import pytest
from botocore.exceptions import ClientError

from conftest import all_shards, poll, read_shard, read_stream


@pytest.fixture
def streamed(client, make_table):
    def make(view="NEW_AND_OLD_IMAGES"):
        table = make_table(StreamSpecification={"StreamEnabled": True, "StreamViewType": view})
        return table, client.describe_table(TableName=table.name)["Table"]["LatestStreamArn"]

    return make


def change(table):
    table.put_item(Item={"pk": "a", "v": 1})
    table.put_item(Item={"pk": "a", "v": 1})
    table.update_item(Key={"pk": "a"}, UpdateExpression="SET v = :v", ExpressionAttributeValues={":v": 2})
    table.delete_item(Key={"pk": "a"})
    table.delete_item(Key={"pk": "a"})


def read_at_least(streams, arn, count):
    """Waits for at least this many records and returns all of them; new records need not be readable at once."""
    found = []

    def enough():
        found[:] = read_stream(streams, arn)
        return len(found) >= count

    poll(enough, 10)
    return found


def test_every_change_is_a_record_and_what_changes_nothing_is_none(streams, streamed):
    table, arn = streamed()
    change(table)
    records = read_at_least(streams, arn, 3)
    assert [record["eventName"] for record in records] == ["INSERT", "MODIFY", "REMOVE"]
    one, two = {"pk": {"S": "a"}, "v": {"N": "1"}}, {"pk": {"S": "a"}, "v": {"N": "2"}}
    images = [(r["dynamodb"].get("OldImage"), r["dynamodb"].get("NewImage")) for r in records]
    assert images == [(None, one), (one, two), (two, None)]
    for record in records:
        assert record["eventSource"] == "aws:dynamodb" and record["eventID"]
        assert record["dynamodb"]["Keys"] == {"pk": {"S": "a"}}
        assert record["dynamodb"]["SizeBytes"] > 0
        assert "userIdentity" not in record
    numbers = [int(record["dynamodb"]["SequenceNumber"]) for record in records]
    assert numbers == sorted(set(numbers))


@pytest.mark.parametrize(
    ("view", "old", "new"),
    [("KEYS_ONLY", False, False), ("NEW_IMAGE", False, True), ("OLD_IMAGE", True, False), ("NEW_AND_OLD_IMAGES", True, True)],
)
def test_view_types(streams, streamed, view, old, new):
    table, arn = streamed(view)
    table.put_item(Item={"pk": "a", "v": 1})
    table.put_item(Item={"pk": "a", "v": 2})
    modified = poll(lambda: [r for r in read_stream(streams, arn) if r["eventName"] == "MODIFY"], 10)[0]["dynamodb"]
    assert ("OldImage" in modified, "NewImage" in modified) == (old, new)
    assert modified["StreamViewType"] == view


def test_a_consumer_resumes_after_a_sequence_number(streams, streamed):
    table, arn = streamed("KEYS_ONLY")
    for number in range(10):
        table.put_item(Item={"pk": "same", "v": number})
    shard = next(s["ShardId"] for s in all_shards(streams, arn) if read_shard(streams, arn, s["ShardId"]))
    records = read_shard(streams, arn, shard)
    fourth = records[3]["dynamodb"]["SequenceNumber"]
    at = read_shard(streams, arn, shard, "AT_SEQUENCE_NUMBER", SequenceNumber=fourth)
    after = read_shard(streams, arn, shard, "AFTER_SEQUENCE_NUMBER", SequenceNumber=fourth)
    assert (at, after) == (records[3:], records[4:])


def test_latest_sees_only_what_comes(streams, streamed):
    table, arn = streamed()
    table.put_item(Item={"pk": "before"})
    iterators = [
        streams.get_shard_iterator(StreamArn=arn, ShardId=shard["ShardId"], ShardIteratorType="LATEST")["ShardIterator"]
        for shard in all_shards(streams, arn)
        if "EndingSequenceNumber" not in shard["SequenceNumberRange"]
    ]
    table.put_item(Item={"pk": "after"})

    def fetch():
        pages = [streams.get_records(ShardIterator=iterator) for iterator in iterators]
        return [record["dynamodb"]["Keys"]["pk"]["S"] for page in pages for record in page["Records"]]

    assert poll(fetch, 10) == ["after"]


def test_transactions_and_batches_are_recorded(client, streams, streamed):
    table, arn = streamed("KEYS_ONLY")
    puts = [{"Put": {"TableName": table.name, "Item": {"pk": {"S": f"t{number}"}}}} for number in range(3)]
    client.transact_write_items(TransactItems=puts)
    with table.batch_writer() as batch:
        for number in range(3):
            batch.put_item(Item={"pk": f"b{number}"})
    keys = [record["dynamodb"]["Keys"]["pk"]["S"] for record in read_at_least(streams, arn, 6)]
    assert sorted(keys) == ["b0", "b1", "b2", "t0", "t1", "t2"]


def test_streams_are_listed_and_described(streams, streamed):
    table, arn = streamed()
    assert [stream["StreamArn"] for stream in streams.list_streams(TableName=table.name)["Streams"]] == [arn]
    description = streams.describe_stream(StreamArn=arn)["StreamDescription"]
    assert (description["StreamStatus"], description["TableName"]) == ("ENABLED", table.name)
    assert description["Shards"] and description["KeySchema"] == [{"AttributeName": "pk", "KeyType": "HASH"}]


def test_bad_iterators_are_refused(streams, streamed):
    _, arn = streamed()
    with pytest.raises(ClientError) as raised:
        streams.get_records(ShardIterator="not-an-iterator")
    assert raised.value.response["Error"]["Code"] == "ValidationException"
    shard = all_shards(streams, arn)[0]["ShardId"]
    with pytest.raises(ClientError) as raised:
        streams.get_shard_iterator(StreamArn=arn, ShardId=shard, ShardIteratorType="AT_SEQUENCE_NUMBER")
    assert raised.value.response["Error"]["Code"] == "ValidationException"


def test_expired_items_are_deleted_by_the_service(client, streams, streamed):
    table, arn = streamed()
    client.update_time_to_live(
        TableName=table.name, TimeToLiveSpecification={"AttributeName": "expires", "Enabled": True}
    )
    now = int(time.time())
    table.put_item(Item={"pk": "old", "expires": now - 60})
    table.put_item(Item={"pk": "young", "expires": now + 3600})
    table.put_item(Item={"pk": "text", "expires": str(now - 60)})
    table.put_item(Item={"pk": "ancient", "expires": now - 6 * 365 * 86400})
    removed = poll(lambda: [r for r in read_stream(streams, arn) if r["eventName"] == "REMOVE"], 20)
    assert [record["dynamodb"]["Keys"]["pk"]["S"] for record in removed] == ["old"]
    assert removed[0]["userIdentity"] == {"PrincipalId": "dynamodb.amazonaws.com", "Type": "Service"}
    assert removed[0]["dynamodb"]["OldImage"]["expires"] == {"N": str(now - 60)}
    assert sorted(item["pk"] for item in table.scan()["Items"]) == ["ancient", "text", "young"]

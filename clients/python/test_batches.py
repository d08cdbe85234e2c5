"""BatchWriteItem and BatchGetItem with the retry loops that SDK users write."""

import pytest
from botocore.exceptions import ClientError


@pytest.fixture
def tables(make_table):
    return make_table(), make_table(range_type="N")


def write_all(client, requests):
    """Writes until nothing is unprocessed; gives up after 20 rounds."""
    for _ in range(20):
        requests = client.batch_write_item(RequestItems=requests)["UnprocessedItems"]
        if not requests:
            return
    raise AssertionError("unprocessed items remain")


def read_all(client, requests):
    """Reads until no key is unprocessed; gives up after 20 rounds."""
    found = {}
    for _ in range(20):
        answer = client.batch_get_item(RequestItems=requests)
        for table, items in answer["Responses"].items():
            found.setdefault(table, []).extend(items)
        requests = answer["UnprocessedKeys"]
        if not requests:
            return found
    raise AssertionError("unprocessed keys remain")


def test_a_batch_spans_tables_and_kinds(client, tables):
    first, second = (table.name for table in tables)
    write_all(
        client,
        {
            first: [{"PutRequest": {"Item": {"pk": {"S": str(n)}}}} for n in range(12)],
            second: [{"PutRequest": {"Item": {"pk": {"S": "p"}, "sk": {"N": str(n)}}}} for n in range(13)],
        },
    )
    write_all(client, {first: [{"DeleteRequest": {"Key": {"pk": {"S": "0"}}}}, {"PutRequest": {"Item": {"pk": {"S": "x"}}}}]})
    found = read_all(
        client,
        {
            first: {"Keys": [{"pk": {"S": str(n)}} for n in range(12)] + [{"pk": {"S": "x"}}]},
            second: {"Keys": [{"pk": {"S": "p"}, "sk": {"N": str(n)}} for n in range(14)], "ProjectionExpression": "sk"},
        },
    )
    assert sorted(item["pk"]["S"] for item in found[first]) == sorted([str(n) for n in range(1, 12)] + ["x"])
    assert sorted(int(item["sk"]["N"]) for item in found[second]) == list(range(13))


def test_a_read_over_16_mb_returns_unprocessed_keys(client, make_table):
    table = make_table()
    body = "x" * 380_000
    with table.batch_writer() as batch:
        for number in range(50):
            batch.put_item(Item={"pk": str(number), "body": body})
    keys = [{"pk": {"S": str(number)}} for number in range(50)]
    first = client.batch_get_item(RequestItems={table.name: {"Keys": keys}})
    assert 0 < len(first["UnprocessedKeys"][table.name]["Keys"]) < 50
    found = read_all(client, {table.name: {"Keys": keys}})
    assert len({item["pk"]["S"] for item in found[table.name]}) == 50


def test_the_batch_writer_writes_hundreds(client, tables):
    table = tables[1]
    with table.batch_writer(overwrite_by_pkeys=["pk", "sk"]) as batch:
        for number in range(200):
            batch.put_item(Item={"pk": "many", "sk": number % 150, "turn": number})
    rows = table.scan()["Items"]
    assert len(rows) == 150 and max(row["turn"] for row in rows) == 199


@pytest.mark.parametrize(
    ("requests", "text"),
    [
        ([{"PutRequest": {"Item": {"pk": {"S": "a"}}}}] * 2, "Provided list of item keys contains duplicates"),
        ([{"PutRequest": {"Item": {"pk": {"S": str(n)}}}} for n in range(26)], "25"),
        ([{"PutRequest": {"Item": {"other": {"S": "a"}}}}], "The provided key element does not match the schema"),
    ],
)
def test_bad_batches_write_nothing(client, tables, requests, text):
    table = tables[0]
    with pytest.raises(ClientError) as raised:
        client.batch_write_item(RequestItems={table.name: requests})
    assert raised.value.response["Error"]["Code"] == "ValidationException"
    assert text in raised.value.response["Error"]["Message"]
    assert table.scan()["Count"] == 0


def test_a_batch_get_of_101_keys_is_refused(client, tables):
    keys = [{"pk": {"S": str(number)}} for number in range(101)]
    with pytest.raises(ClientError) as raised:
        client.batch_get_item(RequestItems={tables[0].name: {"Keys": keys}})
    assert raised.value.response["Error"]["Code"] == "ValidationException"

"""Queries and scans: order, ranges, Limit, 1 MB pages, paginators, segments, indexes."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from boto3.dynamodb.conditions import Attr, Key
from botocore.exceptions import ClientError


@pytest.fixture
def table(make_table):
    table = make_table(
        range_type="N",
        more_definitions=[{"AttributeName": "kind", "AttributeType": "S"}, {"AttributeName": "score", "AttributeType": "N"}],
        GlobalSecondaryIndexes=[
            {
                "IndexName": "by-kind",
                "KeySchema": [{"AttributeName": "kind", "KeyType": "HASH"}, {"AttributeName": "score", "KeyType": "RANGE"}],
                "Projection": {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["note"]},
            }
        ],
        LocalSecondaryIndexes=[
            {
                "IndexName": "by-score",
                "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "score", "KeyType": "RANGE"}],
                "Projection": {"ProjectionType": "KEYS_ONLY"},
            }
        ],
    )
    with table.batch_writer() as batch:
        for partition in ("a", "b"):
            for number in range(-10, 15):
                batch.put_item(
                    Item={
                        "pk": partition,
                        "sk": number,
                        "kind": "even" if number % 2 == 0 else "odd",
                        "score": 1000 - number,
                        "note": f"{partition}{number}",
                        "more": "not projected",
                    }
                )
    return table


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        (Key("sk").eq(3), [3]),
        (Key("sk").lt(-8), [-10, -9]),
        (Key("sk").lte(-8), [-10, -9, -8]),
        (Key("sk").gt(12), [13, 14]),
        (Key("sk").gte(12), [12, 13, 14]),
        (Key("sk").between(-1, 2), [-1, 0, 1, 2]),
        (Key("sk").eq(99), []),
    ],
)
@pytest.mark.parametrize("forward", [True, False])
def test_sort_key_conditions(table, condition, expected, forward):
    found = table.query(KeyConditionExpression=Key("pk").eq("a") & condition, ScanIndexForward=forward)
    assert [int(item["sk"]) for item in found["Items"]] == (expected if forward else expected[::-1])


def test_the_paginator_walks_all_pages_of_a_limit(client, table):
    pages = list(
        client.get_paginator("query").paginate(
            TableName=table.name,
            KeyConditionExpression="pk = :p",
            ExpressionAttributeValues={":p": {"S": "a"}},
            PaginationConfig={"PageSize": 7},
        )
    )
    assert [page["Count"] for page in pages] == [7, 7, 7, 4]
    assert [int(item["sk"]["N"]) for page in pages for item in page["Items"]] == list(range(-10, 15))


def test_a_page_that_ends_exactly_at_the_limit_still_has_a_next_key(table):
    page = table.query(KeyConditionExpression=Key("pk").eq("a"), Limit=25)
    assert page["LastEvaluatedKey"] == {"pk": "a", "sk": 14}
    rest = table.query(KeyConditionExpression=Key("pk").eq("a"), Limit=25, ExclusiveStartKey=page["LastEvaluatedKey"])
    assert rest["Items"] == [] and "LastEvaluatedKey" not in rest


def test_limit_counts_before_the_filter(table):
    found = table.query(KeyConditionExpression=Key("pk").eq("a"), FilterExpression=Attr("kind").eq("odd"), Limit=5)
    assert (found["Count"], found["ScannedCount"]) == (2, 5)
    assert found["LastEvaluatedKey"]["sk"] == -6


def test_pages_end_at_one_megabyte(client, make_table):
    table = make_table(range_type="N")
    with table.batch_writer() as batch:
        for number in range(30):
            batch.put_item(Item={"pk": "big", "sk": number, "body": "x" * 100_000})
    pages = list(
        client.get_paginator("query").paginate(
            TableName=table.name, KeyConditionExpression="pk = :p", ExpressionAttributeValues={":p": {"S": "big"}}
        )
    )
    # The page ends at the item that crosses 1 MB; the server may include or exclude that item.
    assert [page["Count"] for page in pages] in ([11, 11, 8], [10, 10, 10], [10, 10, 10, 0])
    scanned = sum(page["Count"] for page in client.get_paginator("scan").paginate(TableName=table.name, Select="COUNT"))
    assert scanned == 30


def test_a_global_index_pages_with_both_keys(table):
    found, start = [], {}
    while True:
        page = table.query(
            IndexName="by-kind",
            KeyConditionExpression=Key("kind").eq("odd") & Key("score").gt(0),
            ScanIndexForward=False,
            Limit=4,
            **start,
        )
        found += page["Items"]
        if "LastEvaluatedKey" not in page:
            break
        assert set(page["LastEvaluatedKey"]) == {"pk", "sk", "kind", "score"}
        start = {"ExclusiveStartKey": page["LastEvaluatedKey"]}
    assert len(found) == 24
    assert [item["score"] for item in found] == sorted((item["score"] for item in found), reverse=True)
    assert all(set(item) == {"pk", "sk", "kind", "score", "note"} for item in found)


def test_a_local_index_fetches_what_it_does_not_project(table):
    found = table.query(IndexName="by-score", KeyConditionExpression=Key("pk").eq("b"), Limit=2)
    assert [set(item) for item in found["Items"]] == [{"pk", "sk", "score"}] * 2
    whole = table.query(
        IndexName="by-score", KeyConditionExpression=Key("pk").eq("b"), Select="ALL_ATTRIBUTES", Limit=1, ConsistentRead=True
    )
    assert whole["Items"][0]["more"] == "not projected"


def test_an_index_follows_updates_and_deletes(table):
    table.update_item(
        Key={"pk": "a", "sk": 1}, UpdateExpression="SET kind = :k", ExpressionAttributeValues={":k": "moved"}
    )
    table.delete_item(Key={"pk": "a", "sk": 3})
    table.update_item(Key={"pk": "a", "sk": 5}, UpdateExpression="REMOVE score")
    moved = table.query(IndexName="by-kind", KeyConditionExpression=Key("kind").eq("moved"))
    odd = table.query(IndexName="by-kind", KeyConditionExpression=Key("kind").eq("odd"))
    assert [item["note"] for item in moved["Items"]] == ["a1"]
    assert odd["Count"] == 21


def test_parallel_scan_sees_each_item_once(client, table):
    def segment(number):
        pages = client.get_paginator("scan").paginate(
            TableName=table.name, Segment=number, TotalSegments=4, PaginationConfig={"PageSize": 3}
        )
        return [(item["pk"]["S"], item["sk"]["N"]) for page in pages for item in page["Items"]]

    with ThreadPoolExecutor(4) as pool:
        found = [key for part in pool.map(segment, range(4)) for key in part]
    assert len(found) == 50 and len(set(found)) == 50


def test_a_scan_filters_and_counts(table):
    found = table.scan(FilterExpression=Attr("sk").gte(10), Select="COUNT")
    assert (found["Count"], found["ScannedCount"]) == (10, 50)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"KeyConditionExpression": "sk = :p"}, "Query condition missed key schema element: pk"),
        ({"KeyConditionExpression": "pk = :p", "IndexName": "nope"}, "The table does not have the specified index: nope"),
        ({"KeyConditionExpression": "pk = :p", "FilterExpression": "sk = :p"}, "Primary key attribute"),
        ({"KeyConditionExpression": "pk = :q"}, ":q"),
    ],
)
def test_queries_that_cannot_work_say_why(table, options, text):
    with pytest.raises(ClientError) as raised:
        table.query(ExpressionAttributeValues={":p": "a"}, **options)
    error = raised.value.response["Error"]
    assert error["Code"] == "ValidationException" and text in error["Message"]


def test_consistent_reads_are_refused_on_a_global_index(table):
    with pytest.raises(ClientError, match="Consistent reads are not supported on global secondary indexes"):
        table.query(IndexName="by-kind", KeyConditionExpression=Key("kind").eq("odd"), ConsistentRead=True)

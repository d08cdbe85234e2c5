"""Reading and writing single items with every type and every update function."""

from decimal import Decimal

import pytest
from boto3.dynamodb.conditions import Attr
from boto3.dynamodb.types import Binary
from botocore.exceptions import ClientError

EVERYTHING = {
    "string": "naïve ☃ 𝄞",
    "empty_string": "",
    "integer": Decimal("12345678901234567890123456789012345678"),
    "negative": Decimal("-1E-37"),
    "tiny": Decimal("1E-128"),
    "zero": Decimal("0"),
    "binary": Binary(bytes(range(256))),
    "empty_binary": Binary(b""),
    "yes": True,
    "no": False,
    "nothing": None,
    "strings": {"a", "b", "ü"},
    "numbers": {Decimal("1"), Decimal("2.5"), Decimal("-3")},
    "binaries": {Binary(b"\x00"), Binary(b"\xff")},
    "list": ["x", Decimal("1"), [], {}, None, [["deep"]]],
    "map": {"a": {"b": {"c": [Decimal("1"), {"d": "e"}]}}},
}


@pytest.fixture
def table(make_table):
    return make_table()


def test_every_type_comes_back_as_it_was_written(table):
    item = {"pk": "all", **EVERYTHING}
    table.put_item(Item=item)
    assert table.get_item(Key={"pk": "all"}, ConsistentRead=True)["Item"] == item


@pytest.mark.parametrize(
    ("written", "read"),
    [("1.50", "1.5"), ("1e-130", "0." + "0" * 129 + "1"), ("9.9e125", "99" + "0" * 124), ("1e3", "1000"), ("-0", "0"), ("000123", "123"), ("+7", "7"), (".5", "0.5"), ("0e10", "0")],
)
def test_numbers_are_kept_in_their_plain_form(client, table, written, read):
    client.put_item(TableName=table.name, Item={"pk": {"S": "n"}, "n": {"N": written}})
    assert client.get_item(TableName=table.name, Key={"pk": {"S": "n"}})["Item"]["n"] == {"N": read}


@pytest.mark.parametrize("bad", ["", "abc", "1e126", "1e-131", "1" * 39, "NaN", "0x1"])
def test_what_is_no_number_is_refused(client, table, bad):
    with pytest.raises(ClientError) as raised:
        client.put_item(TableName=table.name, Item={"pk": {"S": "n"}, "n": {"N": bad}})
    assert raised.value.response["Error"]["Code"] == "ValidationException"


def test_number_arithmetic_keeps_38_digits(table):
    nines = Decimal("9" * 37 + "8")
    table.put_item(Item={"pk": "n", "n": nines})
    changed = table.update_item(
        Key={"pk": "n"}, UpdateExpression="SET n = n + :one", ExpressionAttributeValues={":one": 1}, ReturnValues="UPDATED_NEW"
    )
    assert changed["Attributes"]["n"] == Decimal("9" * 38)


def test_update_functions_together(table):
    table.put_item(
        Item={"pk": "u", "n": 1, "tags": {"a", "b"}, "log": ["one"], "doc": {"x": 1, "y": [1, 2, 3]}, "stale": "gone"}
    )
    changed = table.update_item(
        Key={"pk": "u"},
        UpdateExpression=(
            "SET #log = list_append(#log, :two), made = if_not_exists(made, :now), doc.z = :now, doc.y[1] = :now, n = n - :now "
            "REMOVE stale, doc.x ADD #tags :c DELETE absent :c"
        ),
        ExpressionAttributeNames={"#log": "log", "#tags": "tags"},
        ExpressionAttributeValues={":two": ["two"], ":now": 99, ":c": {"c"}},
        ReturnValues="ALL_NEW",
    )
    assert changed["Attributes"] == {
        "pk": "u",
        "n": -98,
        "made": 99,
        "tags": {"a", "b", "c"},
        "log": ["one", "two"],
        "doc": {"y": [1, 99, 3], "z": 99},
    }


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        ("NONE", None),
        ("ALL_OLD", {"pk": "r", "a": 1, "b": 2}),
        ("UPDATED_OLD", {"a": 1}),
        ("ALL_NEW", {"pk": "r", "a": 10, "b": 2, "c": 3}),
        ("UPDATED_NEW", {"a": 10, "c": 3}),
    ],
)
def test_return_values(table, mode, expected):
    table.put_item(Item={"pk": "r", "a": 1, "b": 2})
    changed = table.update_item(
        Key={"pk": "r"},
        UpdateExpression="SET a = :a, c = :c",
        ExpressionAttributeValues={":a": 10, ":c": 3},
        ReturnValues=mode,
    )
    assert changed.get("Attributes") == expected


def test_add_makes_a_counter_from_nothing(table):
    for expected in (5, 10):
        changed = table.update_item(
            Key={"pk": "counter"}, UpdateExpression="ADD hits :n", ExpressionAttributeValues={":n": 5}, ReturnValues="UPDATED_NEW"
        )
        assert changed["Attributes"] == {"hits": expected}


def test_a_set_that_loses_its_last_member_disappears(table):
    table.put_item(Item={"pk": "s", "tags": {"a"}})
    changed = table.update_item(
        Key={"pk": "s"}, UpdateExpression="DELETE tags :t", ExpressionAttributeValues={":t": {"a"}}, ReturnValues="ALL_NEW"
    )
    assert changed["Attributes"] == {"pk": "s"}


def test_a_projection_picks_nested_parts(table):
    table.put_item(Item={"pk": "p", "doc": {"a": {"b": 1, "c": 2}}, "list": [10, 20, 30], "name": "reserved"})
    found = table.get_item(
        Key={"pk": "p"},
        ProjectionExpression="doc.a.b, #l[2], #l[0], #n, absent.x",
        ExpressionAttributeNames={"#l": "list", "#n": "name"},
    )
    assert found["Item"] == {"doc": {"a": {"b": 1}}, "list": [10, 30], "name": "reserved"}


def test_a_conditional_put_reports_the_item_that_was_in_the_way(client, table):
    table.put_item(Item={"pk": "c", "v": 1})
    with pytest.raises(client.exceptions.ConditionalCheckFailedException) as raised:
        table.put_item(
            Item={"pk": "c", "v": 2},
            ConditionExpression=Attr("pk").not_exists(),
            ReturnValuesOnConditionCheckFailure="ALL_OLD",
        )
    response = raised.value.response
    assert response["Error"]["Message"] == "The conditional request failed"
    assert response["Item"] == {"pk": {"S": "c"}, "v": {"N": "1"}}
    assert table.get_item(Key={"pk": "c"})["Item"]["v"] == 1


@pytest.mark.parametrize(
    ("condition", "holds"),
    [
        (Attr("n").eq(5), True),
        (Attr("n").between(5, 6), True),
        (Attr("n").gt(5), False),
        (Attr("s").begins_with("he"), True),
        (Attr("s").contains("ell"), True),
        (Attr("s").is_in(["hello", "x"]), True),
        (Attr("s").size().eq(5), True),
        (Attr("list").contains(2), True),
        (Attr("list").size().lt(3), False),
        (Attr("set").contains("a"), True),
        (Attr("doc.x").exists(), True),
        (Attr("doc.y").exists(), False),
        (Attr("s").attribute_type("S"), True),
        (~Attr("n").eq(5) | Attr("s").ne("x"), True),
        (Attr("n").eq("5"), False),
        (Attr("missing").ne(1), True),
    ],
)
def test_conditions(client, table, condition, holds):
    table.put_item(Item={"pk": "c", "n": 5, "s": "hello", "list": [1, 2, 3], "set": {"a"}, "doc": {"x": 1}})
    try:
        table.delete_item(Key={"pk": "c"}, ConditionExpression=condition)
        passed = True
    except client.exceptions.ConditionalCheckFailedException:
        passed = False
    assert passed is holds


def test_optimistic_locking(client, table):
    table.put_item(Item={"pk": "doc", "version": 1})

    def save(expected_version):
        table.update_item(
            Key={"pk": "doc"},
            UpdateExpression="SET version = version + :one",
            ConditionExpression="version = :seen",
            ExpressionAttributeValues={":one": 1, ":seen": expected_version},
        )

    save(1)
    with pytest.raises(client.exceptions.ConditionalCheckFailedException):
        save(1)
    save(2)
    assert table.get_item(Key={"pk": "doc"})["Item"]["version"] == 3


def test_an_item_of_400_kb_fits_and_one_byte_more_does_not(table):
    fits = 400 * 1024 - len("pk") - len("k") - len("v")
    table.put_item(Item={"pk": "k", "v": "x" * fits})
    with pytest.raises(ClientError, match="Item size has exceeded the maximum allowed size"):
        table.put_item(Item={"pk": "k", "v": "x" * (fits + 1)})


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ({}, "The provided key element does not match the schema"),
        ({"pk": 1}, "The provided key element does not match the schema"),
        ({"pk": "a", "more": "b"}, "The provided key element does not match the schema"),
        ({"pk": ""}, "One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty string value. Key: pk"),
    ],
)
def test_keys_must_match_the_schema(table, key, text):
    with pytest.raises(ClientError) as raised:
        table.get_item(Key=key)
    assert raised.value.response["Error"] == {"Code": "ValidationException", "Message": text}


def test_errors_carry_what_an_sdk_needs(client):
    with pytest.raises(client.exceptions.ResourceNotFoundException) as raised:
        client.get_item(TableName="no-such-table", Key={"pk": {"S": "a"}})
    metadata = raised.value.response["ResponseMetadata"]
    assert metadata["HTTPStatusCode"] == 400
    assert metadata["RequestId"]
    assert "x-amz-crc32" in metadata["HTTPHeaders"]


def test_consumed_capacity_follows_the_sizes(table):
    written = table.put_item(Item={"pk": "c", "v": "x" * 3000}, ReturnConsumedCapacity="TOTAL")
    assert written["ConsumedCapacity"] == {"TableName": table.name, "CapacityUnits": 3.0}
    for consistent, units in ((False, 0.5), (True, 1.0)):
        read = table.get_item(Key={"pk": "c"}, ConsistentRead=consistent, ReturnConsumedCapacity="TOTAL")
        assert read["ConsumedCapacity"]["CapacityUnits"] == units


def test_the_legacy_parameters_still_work(client, table):
    key = {"pk": {"S": "legacy"}}
    client.update_item(
        TableName=table.name,
        Key=key,
        AttributeUpdates={"n": {"Action": "ADD", "Value": {"N": "2"}}, "s": {"Action": "PUT", "Value": {"S": "x"}}},
        Expected={"n": {"Exists": False}},
    )
    found = client.get_item(TableName=table.name, Key=key, AttributesToGet=["n", "s"])["Item"]
    assert found == {"n": {"N": "2"}, "s": {"S": "x"}}
    condition = {"ComparisonOperator": "EQ", "AttributeValueList": [{"S": "legacy"}]}
    rows = client.query(TableName=table.name, KeyConditions={"pk": condition})
    assert rows["Count"] == 1

"""Hostile and unusual requests of the DynamoDB protocol: the server stores nothing that the service would reject, and never hangs."""

import json
import time

import pytest

KEY = {"pk": {"S": "a"}}
LONGEST_NAME = 65535


@pytest.fixture
def server(serve):
    server = serve("--in-memory", "--ttl-sweep-interval", "100ms")
    create(server, "things")
    return server


def create(server, name, **more):
    body = {
        "TableName": name,
        "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
        "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
        "BillingMode": "PAY_PER_REQUEST",
        **more,
    }
    return server.dynamodb("CreateTable", body)


def items(server, table="things"):
    return server.dynamodb("Scan", {"TableName": table}).json["Items"]


def refused(response, kind, text=""):
    assert response.status == 400, response
    assert response.json["__type"].endswith("#" + kind), response
    assert text in (response.json.get("message") or response.json.get("Message") or ""), response
    return True


def test_members_that_are_not_supported_are_refused_and_make_no_table(server):
    index = {"IndexName": "vec", "VectorAttribute": {"AttributeName": "v"}, "Dimensions": 3, "DistanceFunction": "COSINE"}
    for member, value in (("VectorIndexes", [index]), ("ResourcePolicy", "{}"), ("GlobalTableSourceArn", "arn:aws:x")):
        response = create(server, "other", **{member: value})
        assert refused(response, "ValidationException", f"{member} is not supported")
    assert server.dynamodb("ListTables", {}).json["TableNames"] == ["things"]
    assert create(server, "other", NoSuchMember=[1], VectorIndexes=None).status == 200


def test_legacy_key_conditions_stand_beside_expressions(server):
    server.dynamodb("PutItem", {"TableName": "things", "Item": {**KEY, "n": {"N": "1"}, "o": {"N": "2"}}})
    query = {
        "TableName": "things",
        "KeyConditions": {"pk": {"ComparisonOperator": "EQ", "AttributeValueList": [{"S": "a"}]}},
        "FilterExpression": "n = :n",
        "ExpressionAttributeValues": {":n": {"N": "1"}},
        "ProjectionExpression": "o",
    }
    response = server.dynamodb("Query", query)
    assert response.status == 200 and response.json["Items"] == [{"o": {"N": "2"}}], response
    both = {**query, "KeyConditionExpression": "n = :n"}
    assert refused(server.dynamodb("Query", both), "ValidationException", "Non-expression parameters: {KeyConditions} ")


@pytest.mark.parametrize("operator", ["CONTAINS", "NOT_CONTAINS", "BEGINS_WITH", "LT", "LE", "GT", "GE", "IN"])
@pytest.mark.parametrize("value", [{"L": []}, {"M": {}}, {"SS": ["a"]}, {"BOOL": True}, {"NULL": True}])
def test_a_legacy_condition_with_an_operand_of_the_wrong_type_writes_nothing(server, operator, value):
    condition = {"x": {"ComparisonOperator": operator, "AttributeValueList": [value]}}
    text = f"ComparisonOperator {operator} is not valid for {next(iter(value))} AttributeValue type"
    put = {"TableName": "things", "Item": KEY, "Expected": condition}
    assert refused(server.dynamodb("PutItem", put), "ValidationException", text)
    update = {"TableName": "things", "Key": KEY, "AttributeUpdates": {"y": {"Value": {"S": "y"}}}, "Expected": condition}
    assert refused(server.dynamodb("UpdateItem", update), "ValidationException", text)
    scan = {"TableName": "things", "ScanFilter": condition}
    assert refused(server.dynamodb("Scan", scan), "ValidationException", text)
    assert items(server) == []


def name_requests(name):
    """Returns every request that could store an attribute or a map entry with this name."""
    named, nested = {name: {"S": "x"}}, {"map": {"L": [{"M": {name: {"S": "x"}}}]}}
    table = {"TableName": "things"}
    for attributes in (named, nested):
        item = {**KEY, **attributes}
        yield "PutItem", {**table, "Item": item}
        yield "BatchWriteItem", {"RequestItems": {"things": [{"PutRequest": {"Item": item}}]}}
        yield "TransactWriteItems", {"TransactItems": [{"Put": {**table, "Item": item}}]}
        yield "ExecuteStatement", {"Statement": "INSERT INTO things VALUE ?", "Parameters": [{"M": item}]}
    yield "UpdateItem", {**table, "Key": KEY, "AttributeUpdates": {name: {"Value": {"S": "x"}}}}
    yield "UpdateItem", {**table, "Key": KEY, "AttributeUpdates": {"a": {"Value": nested["map"]}}}
    update = {
        **table,
        "Key": KEY,
        "UpdateExpression": "SET #n = :v",
        "ExpressionAttributeNames": {"#n": name},
        "ExpressionAttributeValues": {":v": {"S": "x"}},
    }
    yield "UpdateItem", update
    yield "TransactWriteItems", {"TransactItems": [{"Update": update}]}
    value = {"ExpressionAttributeNames": {"#n": "a"}, "ExpressionAttributeValues": {":v": nested["map"]}}
    yield "UpdateItem", {**update, **value}
    statement = "UPDATE things SET a = ? WHERE pk = 'a'"
    yield "ExecuteStatement", {"Statement": statement, "Parameters": [nested["map"]]}


@pytest.mark.parametrize("name", ["", "n" * (LONGEST_NAME + 1)], ids=["empty", "long"])
def test_no_way_stores_a_name_that_the_service_refuses(server, name):
    for operation, body in name_requests(name):
        response = server.dynamodb(operation, body)
        assert response.status == 400, (operation, json.dumps(body)[:200], response)
    assert items(server) == []


def test_empty_names_of_literals_are_refused(server):
    for statement in (
        "INSERT INTO things VALUE {'pk': 'a', '': 1}",
        "INSERT INTO things VALUE {'pk': 'a', 'm': {'': 1}}",
        "UPDATE things SET \"\" = 1 WHERE pk = 'a'",
    ):
        assert server.dynamodb("ExecuteStatement", {"Statement": statement}).status == 400, statement
    assert items(server) == []


def test_key_names_have_at_most_255_bytes(server):
    for name in ("", "k" * 256, "é" * 128):
        body = {
            "AttributeDefinitions": [{"AttributeName": name, "AttributeType": "S"}],
            "KeySchema": [{"AttributeName": name, "KeyType": "HASH"}],
        }
        assert refused(create(server, "other", **body), "ValidationException", "Member must have length")


def test_large_items_are_deleted_in_one_transaction(server):
    keys = [{"pk": {"S": str(number)}} for number in range(11)]
    for key in keys:
        item = {**key, "text": {"S": "x" * 390_000}}
        assert server.dynamodb("PutItem", {"TableName": "things", "Item": item}).status == 200
    checks = [
        {"ConditionCheck": {"TableName": "things", "Key": key, "ConditionExpression": "attribute_exists(pk)"}} for key in keys
    ]
    assert server.dynamodb("TransactWriteItems", {"TransactItems": checks}).status == 200
    deletes = [{"Delete": {"TableName": "things", "Key": key}} for key in keys]
    response = server.dynamodb("TransactWriteItems", {"TransactItems": deletes})
    assert response.status == 200, response
    assert items(server) == []


def test_an_expiry_time_with_a_fraction_expires(server):
    setting = {"TableName": "things", "TimeToLiveSpecification": {"AttributeName": "ends", "Enabled": True}}
    assert server.dynamodb("UpdateTimeToLive", setting).status == 200
    ends = {"fraction": f"{int(time.time()) - 100}.5", "later": f"{int(time.time()) + 1000}.5", "negative": "-1.5", "huge": "9e125"}
    for name, value in ends.items():
        item = {"pk": {"S": name}, "ends": {"N": value}}
        assert server.dynamodb("PutItem", {"TableName": "things", "Item": item}).status == 200
    end = time.monotonic() + 20
    while len(items(server)) > 3 and time.monotonic() < end:
        time.sleep(0.05)
    assert sorted(item["pk"]["S"] for item in items(server)) == ["huge", "later", "negative"]


ABSURD = ["1e400", "-1e400", "1e999999999", "1" + "0" * 400, "9" * 100_000, "2147483648", "-2147483649", "1e", "NaN", "0x1", "01"]


@pytest.mark.parametrize("number", ABSURD, ids=lambda number: number[:12])
def test_absurd_numbers_are_refused_at_once(server, number):
    for operation, body in (
        ("Query", '{"TableName":"things","KeyConditionExpression":"pk = :p","ExpressionAttributeValues":{":p":{"S":"a"}},"Limit":%s}'),
        ("Scan", '{"TableName":"things","Limit":%s}'),
        ("Scan", '{"TableName":"things","Segment":%s,"TotalSegments":4}'),
        ("Scan", '{"TableName":"things","Segment":0,"TotalSegments":%s}'),
        ("ListTables", '{"Limit":%s}'),
        ("ExecuteStatement", '{"Statement":"SELECT * FROM things","Limit":%s}'),
    ):
        response = server.dynamodb(operation, (body % number).encode(), timeout=10)
        assert refused(response, "SerializationException"), operation
    assert server.dynamodb("Scan", b'{"TableName":"things","Limit":1e2}').status == 200


BAD_STRINGS = {
    "high surrogate": rb"\ud800",
    "low surrogate": rb"\udc00",
    "swapped surrogates": rb"\ude00\ud83d",
    "surrogate and letter": rb"\ud83dx",
    "surrogate in UTF-8": b"\xed\xa0\x80",
    "overlong slash": b"\xc0\xaf",
    "overlong nul": b"\xc0\x80",
    "cut character": b"\xe2\x82",
    "stray continuation": b"\x80",
    "beyond Unicode": b"\xf4\x90\x80\x80",
    "raw control": b"\x01",
    "unknown escape": rb"\q",
    "short escape": rb"\u12",
}


@pytest.mark.parametrize("bad", BAD_STRINGS.values(), ids=BAD_STRINGS.keys())
def test_strings_that_are_no_unicode_are_refused_in_every_position(server, bad):
    for operation, body in (
        ("PutItem", b'{"TableName":"things","Item":{"pk":{"S":"%s"}}}'),
        ("PutItem", b'{"TableName":"things","Item":{"pk":{"S":"a"},"%s":{"S":"x"}}}'),
        ("PutItem", b'{"TableName":"things","Item":{"pk":{"S":"a"},"m":{"M":{"%s":{"S":"x"}}}}}'),
        ("PutItem", b'{"TableName":"things","Item":{"pk":{"S":"a"},"s":{"SS":["%s"]}}}'),
        ("PutItem", b'{"TableName":"things","Item":{"pk":{"S":"a"}},"%s":1}'),
        ("PutItem", b'{"TableName":"things","Item":{"pk":{"S":"a"}},"Unknown":["%s"]}'),
        ("PutItem", b'{"TableName":"things","Item":{"pk":{"S":"a","%s":1}}}'),
        ("PutItem", b'{"TableName":"things%s","Item":{"pk":{"S":"a"}}}'),
        ("ExecuteStatement", b"{\"Statement\":\"INSERT INTO things VALUE {'pk': '%s'}\"}"),
    ):
        response = server.dynamodb(operation, body.replace(b"%s", bad))
        assert refused(response, "SerializationException"), (operation, body)
    assert items(server) == []


def test_a_surrogate_pair_is_a_character(server):
    body = rb'{"TableName":"things","Item":{"pk":{"S":"\ud83d\ude00"}}}'
    assert server.dynamodb("PutItem", body).status == 200
    assert items(server) == [{"pk": {"S": "😀"}}]

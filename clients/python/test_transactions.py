"""Transactions: all or nothing, cancellation reasons, idempotency, conflicts."""

import uuid
from concurrent.futures import ThreadPoolExecutor

import pytest
from botocore.exceptions import ClientError


@pytest.fixture
def table(make_table):
    return make_table()


def put(table, key, **options):
    return {"Put": {"TableName": table.name, "Item": {"pk": {"S": key}}, **options}}


def add(table, key, amount, **options):
    return {
        "Update": {
            "TableName": table.name,
            "Key": {"pk": {"S": key}},
            "UpdateExpression": "ADD balance :n",
            "ExpressionAttributeValues": {":n": {"N": str(amount)}, **options.pop("values", {})},
            **options,
        }
    }


def balance(table, key):
    return table.get_item(Key={"pk": key}, ConsistentRead=True)["Item"]["balance"]


def test_money_moves_or_stays(client, table):
    table.put_item(Item={"pk": "from", "balance": 100})
    table.put_item(Item={"pk": "to", "balance": 0})

    def move(amount):
        client.transact_write_items(
            TransactItems=[
                add(table, "from", -amount, values={":a": {"N": str(amount)}}, ConditionExpression="balance >= :a"),
                add(table, "to", amount),
            ]
        )

    move(70)
    with pytest.raises(client.exceptions.TransactionCanceledException):
        move(70)
    assert (balance(table, "from"), balance(table, "to")) == (30, 70)


def test_cancellation_reasons_stand_in_the_order_of_the_actions(client, table):
    table.put_item(Item={"pk": "there", "v": 1})
    with pytest.raises(client.exceptions.TransactionCanceledException) as raised:
        client.transact_write_items(
            TransactItems=[
                put(table, "new"),
                put(
                    table,
                    "there",
                    ConditionExpression="attribute_not_exists(pk)",
                    ReturnValuesOnConditionCheckFailure="ALL_OLD",
                ),
                {
                    "ConditionCheck": {
                        "TableName": table.name,
                        "Key": {"pk": {"S": "absent"}},
                        "ConditionExpression": "attribute_exists(pk)",
                    }
                },
            ]
        )
    response = raised.value.response
    assert response["Error"]["Message"] == (
        "Transaction cancelled, please refer cancellation reasons for specific reasons "
        "[None, ConditionalCheckFailed, ConditionalCheckFailed]"
    )
    failed = {"Code": "ConditionalCheckFailed", "Message": "The conditional request failed"}
    assert response["CancellationReasons"] == [
        {"Code": "None"},
        {**failed, "Item": {"pk": {"S": "there"}, "v": {"N": "1"}}},
        failed,
    ]
    assert "Item" not in table.get_item(Key={"pk": "new"})


def test_a_token_makes_a_retry_harmless(client, table):
    token = str(uuid.uuid4())
    for _ in range(3):
        client.transact_write_items(TransactItems=[add(table, "counter", 5)], ClientRequestToken=token)
    assert balance(table, "counter") == 5
    with pytest.raises(client.exceptions.IdempotentParameterMismatchException):
        client.transact_write_items(TransactItems=[add(table, "counter", 6)], ClientRequestToken=token)


def test_transact_get_reads_one_moment(client, table):
    table.put_item(Item={"pk": "a", "balance": 1, "x": "y"})
    answer = client.transact_get_items(
        TransactItems=[
            {"Get": {"TableName": table.name, "Key": {"pk": {"S": "a"}}, "ProjectionExpression": "balance"}},
            {"Get": {"TableName": table.name, "Key": {"pk": {"S": "missing"}}}},
        ]
    )
    assert answer["Responses"] == [{"Item": {"balance": {"N": "1"}}}, {}]


def test_101_actions_are_refused(client, table):
    with pytest.raises(ClientError) as raised:
        client.transact_write_items(TransactItems=[put(table, str(n)) for n in range(101)])
    assert raised.value.response["Error"]["Code"] == "ValidationException"


def test_100_actions_fit(client, table):
    client.transact_write_items(TransactItems=[put(table, str(n)) for n in range(100)])
    assert table.scan(Select="COUNT")["Count"] == 100


def test_one_item_may_appear_once(client, table):
    with pytest.raises(ClientError) as raised:
        client.transact_write_items(TransactItems=[put(table, "a"), add(table, "a", 1)])
    assert raised.value.response["Error"]["Message"] == (
        "Transaction request cannot include multiple operations on one item"
    )


def test_concurrent_transfers_keep_the_sum(client, table):
    """Concurrent writers transfer between four accounts and retry conflicts as SDK users do; the total never changes."""
    accounts = [f"account-{number}" for number in range(4)]
    for account in accounts:
        table.put_item(Item={"pk": account, "balance": 100})

    def worker(seed):
        for turn in range(10):
            source, target = accounts[(seed + turn) % 4], accounts[(seed + turn * 3 + 1) % 4]
            if source != target:
                retry(lambda: client.transact_write_items(TransactItems=[add(table, source, -1), add(table, target, 1)]))

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(worker, range(4)))
    assert sum(balance(table, account) for account in accounts) == 400


def retry(action):
    for _ in range(100):
        try:
            return action()
        except ClientError as error:
            reasons = error.response.get("CancellationReasons", [])
            if not any(reason["Code"] == "TransactionConflict" for reason in reasons):
                raise
    raise AssertionError("a hundred conflicts in a row")

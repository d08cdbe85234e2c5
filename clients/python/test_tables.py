"""Table management: waiters, indexes added to a table with data, protection, tags, limits, TTL settings."""

import pytest
from boto3.dynamodb.conditions import Key
from botocore.exceptions import ClientError

from conftest import poll, wait_for_table

GSI = {
    "IndexName": "by-city",
    "KeySchema": [{"AttributeName": "city", "KeyType": "HASH"}],
    "Projection": {"ProjectionType": "ALL"},
}


def index_status(client, name):
    indexes = client.describe_table(TableName=name)["Table"].get("GlobalSecondaryIndexes", [])
    return {index["IndexName"]: index["IndexStatus"] for index in indexes}


def test_a_table_appears_and_disappears(client, make_table):
    table = make_table()
    description = client.describe_table(TableName=table.name)["Table"]
    assert description["TableStatus"] == "ACTIVE"
    assert description["KeySchema"] == [{"AttributeName": "pk", "KeyType": "HASH"}]
    assert description["TableArn"].endswith(f":table/{table.name}")
    assert description["BillingModeSummary"]["BillingMode"] == "PAY_PER_REQUEST"
    client.delete_table(TableName=table.name)
    client.get_waiter("table_not_exists").wait(TableName=table.name, WaiterConfig={"Delay": 1, "MaxAttempts": 30})
    with pytest.raises(client.exceptions.ResourceNotFoundException):
        client.describe_table(TableName=table.name)


def test_a_table_cannot_be_made_twice(client, make_table):
    table = make_table()
    with pytest.raises(client.exceptions.ResourceInUseException):
        make_table(name=table.name)


def test_tables_are_listed_in_pages(client, make_table):
    names = sorted(make_table().name for _ in range(5))
    pages = list(client.get_paginator("list_tables").paginate(PaginationConfig={"PageSize": 2}))
    listed = [name for page in pages for name in page["TableNames"]]
    assert all(len(page["TableNames"]) <= 2 for page in pages)
    assert listed == sorted(listed) and set(names) <= set(listed)


def test_an_index_is_added_to_a_table_with_data_and_removed(client, make_table):
    table = make_table()
    with table.batch_writer() as batch:
        for number in range(100):
            item = {"pk": str(number), "n": number}
            if number % 4:
                item["city"] = f"city-{number % 4}"
            batch.put_item(Item=item)
    client.update_table(
        TableName=table.name,
        AttributeDefinitions=[
            {"AttributeName": "pk", "AttributeType": "S"},
            {"AttributeName": "city", "AttributeType": "S"},
        ],
        GlobalSecondaryIndexUpdates=[{"Create": GSI}],
    )
    wait_for_table(client, table.name)
    assert poll(lambda: index_status(client, table.name) == {"by-city": "ACTIVE"}, 30)
    found = table.query(IndexName="by-city", KeyConditionExpression=Key("city").eq("city-3"))
    assert found["Count"] == 25
    assert table.scan(IndexName="by-city", Select="COUNT")["Count"] == 75
    client.update_table(TableName=table.name, GlobalSecondaryIndexUpdates=[{"Delete": {"IndexName": "by-city"}}])
    assert poll(lambda: index_status(client, table.name) == {}, 30)
    with pytest.raises(ClientError, match="does not have the specified index"):
        table.query(IndexName="by-city", KeyConditionExpression=Key("city").eq("city-3"))


def test_a_protected_table_cannot_be_deleted(client, make_table):
    table = make_table(DeletionProtectionEnabled=True)
    with pytest.raises(ClientError) as raised:
        client.delete_table(TableName=table.name)
    assert raised.value.response["Error"]["Code"] == "ValidationException"
    client.update_table(TableName=table.name, DeletionProtectionEnabled=False)
    wait_for_table(client, table.name)
    client.delete_table(TableName=table.name)


def test_billing_mode_changes(client, make_table):
    table = make_table(BillingMode="PROVISIONED", ProvisionedThroughput={"ReadCapacityUnits": 5, "WriteCapacityUnits": 6})
    throughput = client.describe_table(TableName=table.name)["Table"]["ProvisionedThroughput"]
    assert (throughput["ReadCapacityUnits"], throughput["WriteCapacityUnits"]) == (5, 6)
    client.update_table(TableName=table.name, BillingMode="PAY_PER_REQUEST")
    wait_for_table(client, table.name)
    description = client.describe_table(TableName=table.name)["Table"]
    assert description["BillingModeSummary"]["BillingMode"] == "PAY_PER_REQUEST"


def test_tags_are_kept(client, make_table):
    table = make_table(Tags=[{"Key": "stage", "Value": "test"}])
    arn = client.describe_table(TableName=table.name)["Table"]["TableArn"]
    client.tag_resource(ResourceArn=arn, Tags=[{"Key": "team", "Value": "a"}, {"Key": "stage", "Value": "prod"}])
    client.untag_resource(ResourceArn=arn, TagKeys=["team"])
    assert client.list_tags_of_resource(ResourceArn=arn)["Tags"] == [{"Key": "stage", "Value": "prod"}]


def test_time_to_live_settings(client, make_table):
    table = make_table()
    assert client.describe_time_to_live(TableName=table.name)["TimeToLiveDescription"] == {"TimeToLiveStatus": "DISABLED"}
    specification = {"AttributeName": "expires", "Enabled": True}
    answer = client.update_time_to_live(TableName=table.name, TimeToLiveSpecification=specification)
    assert answer["TimeToLiveSpecification"] == specification
    status = client.describe_time_to_live(TableName=table.name)["TimeToLiveDescription"]
    assert status["AttributeName"] == "expires" and status["TimeToLiveStatus"] in ("ENABLING", "ENABLED")


def test_limits_endpoints_and_backups_are_described(client, make_table):
    table = make_table()
    assert client.describe_limits()["AccountMaxReadCapacityUnits"] > 0
    assert client.describe_endpoints()["Endpoints"][0]["CachePeriodInMinutes"] > 0
    backups = client.describe_continuous_backups(TableName=table.name)["ContinuousBackupsDescription"]
    assert backups["ContinuousBackupsStatus"] in ("ENABLED", "DISABLED")


def test_multi_attribute_index_keys(client, make_table):
    table = make_table(
        more_definitions=[
            {"AttributeName": name, "AttributeType": kind}
            for name, kind in (("tenant", "S"), ("region", "S"), ("day", "N"), ("id", "S"))
        ],
        GlobalSecondaryIndexes=[
            {
                "IndexName": "multi",
                "KeySchema": [
                    {"AttributeName": "tenant", "KeyType": "HASH"},
                    {"AttributeName": "region", "KeyType": "HASH"},
                    {"AttributeName": "day", "KeyType": "RANGE"},
                    {"AttributeName": "id", "KeyType": "RANGE"},
                ],
                "Projection": {"ProjectionType": "ALL"},
            }
        ],
    )
    with table.batch_writer() as batch:
        for number in range(12):
            batch.put_item(
                Item={"pk": str(number), "tenant": "t", "region": f"r{number % 2}", "day": number // 4, "id": f"i{number:02}"}
            )
    found = table.query(
        IndexName="multi",
        KeyConditionExpression=Key("tenant").eq("t") & Key("region").eq("r1") & Key("day").eq(1) & Key("id").gt("i05"),
    )
    assert [item["id"] for item in found["Items"]] == ["i07"]
    day = table.query(
        IndexName="multi", KeyConditionExpression=Key("tenant").eq("t") & Key("region").eq("r0") & Key("day").gte(1)
    )
    assert [item["id"] for item in day["Items"]] == ["i04", "i06", "i08", "i10"]

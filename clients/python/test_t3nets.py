"""The t3nets data layer as in its schema document: two tables, four item types, every example query."""

import json

import pytest

TENANT = "outlocks"


@pytest.fixture
def conversations(make_table):
    return make_table(range_type="S")


@pytest.fixture
def tenants(make_table):
    table = make_table(
        range_type="S",
        more_definitions=[
            {"AttributeName": "gsi1pk", "AttributeType": "S"},
            {"AttributeName": "gsi1sk", "AttributeType": "S"},
        ],
        GlobalSecondaryIndexes=[
            {
                "IndexName": "channel-mapping",
                "KeySchema": [
                    {"AttributeName": "gsi1pk", "KeyType": "HASH"},
                    {"AttributeName": "gsi1sk", "KeyType": "RANGE"},
                ],
                "Projection": {"ProjectionType": "ALL"},
            }
        ],
    )
    with table.batch_writer() as batch:
        for item in tenant_items(TENANT) + tenant_items("default"):
            batch.put_item(Item=item)
    return table


def tenant_items(tenant_id):
    users = [
        {
            "pk": f"TENANT#{tenant_id}",
            "sk": f"USER#{user}",
            "user_id": user,
            "email": f"{user}@{tenant_id}.example",
            "display_name": user.title(),
            "role": "admin" if user == "admin" else "member",
            "channel_identities": json.dumps({"teams": "aad-id", "slack": "U12345"}),
        }
        for user in ("admin", "ana", "zoe")
    ]
    channel = f"CHANNEL#teams#bot-{tenant_id}"
    mapping = {
        "pk": f"TENANT#{tenant_id}",
        "sk": channel,
        "gsi1pk": channel,
        "gsi1sk": f"TENANT#{tenant_id}",
    }
    return [tenant_metadata(tenant_id), mapping, *users]


def tenant_metadata(tenant_id):
    settings = {"ai_provider": "bedrock", "max_tokens_per_message": 4096, "enabled_channels": ["dashboard"]}
    return {
        "pk": f"TENANT#{tenant_id}",
        "sk": "META",
        "tenant_id": tenant_id,
        "name": tenant_id.title(),
        "status": "active",
        "created_at": "2026-02-21T14:30:00Z",
        "settings": json.dumps(settings),
    }


def test_get_tenant_by_id(tenants):
    item = tenants.get_item(Key={"pk": f"TENANT#{TENANT}", "sk": "META"})["Item"]
    assert item == tenant_metadata(TENANT)


def test_resolve_tenant_from_channel(tenants):
    channel_type, channel_id = "teams", f"bot-{TENANT}"
    found = tenants.query(
        IndexName="channel-mapping",
        KeyConditionExpression="gsi1pk = :channel_key",
        ExpressionAttributeValues={":channel_key": f"CHANNEL#{channel_type}#{channel_id}"},
    )
    assert [item["gsi1sk"] for item in found["Items"]] == [f"TENANT#{TENANT}"]


def test_resolve_unknown_channel_finds_nothing(tenants):
    found = tenants.query(
        IndexName="channel-mapping",
        KeyConditionExpression="gsi1pk = :channel_key",
        ExpressionAttributeValues={":channel_key": "CHANNEL#slack#nobody"},
    )
    assert found["Items"] == [] and found["Count"] == 0 and "LastEvaluatedKey" not in found


def test_list_all_users_in_a_tenant(tenants):
    found = tenants.query(
        KeyConditionExpression="pk = :pk AND begins_with(sk, :prefix)",
        ExpressionAttributeValues={":pk": f"TENANT#{TENANT}", ":prefix": "USER#"},
    )
    assert [item["user_id"] for item in found["Items"]] == ["admin", "ana", "zoe"]


def test_find_user_by_email(tenants):
    found = tenants.query(
        KeyConditionExpression="pk = :pk AND begins_with(sk, :prefix)",
        FilterExpression="email = :email",
        ExpressionAttributeValues={
            ":pk": f"TENANT#{TENANT}",
            ":prefix": "USER#",
            ":email": f"ana@{TENANT}.example",
        },
    )
    assert [item["user_id"] for item in found["Items"]] == ["ana"]
    assert (found["Count"], found["ScannedCount"]) == (1, 3)


def test_the_index_is_sparse(tenants):
    rows = tenants.scan(IndexName="channel-mapping")["Items"]
    assert sorted(row["gsi1sk"] for row in rows) == ["TENANT#default", f"TENANT#{TENANT}"]


def test_a_conversation_is_saved_read_and_cleared(conversations):
    key = {"pk": "default", "sk": "conv-abc-123"}
    turns = []
    for number, text in enumerate(("what's the sprint status?", "Here's your current sprint...")):
        turns.append({"role": "user" if number % 2 == 0 else "assistant", "content": text})
        conversations.put_item(
            Item={
                **key,
                "messages": json.dumps(turns),
                "updated_at": "2026-02-21T14:30:00Z",
                "ttl": 1743004200,
            }
        )
    saved = conversations.get_item(Key=key)["Item"]
    assert json.loads(saved["messages"]) == turns and saved["ttl"] == 1743004200
    conversations.delete_item(Key=key)
    assert "Item" not in conversations.get_item(Key=key)


def test_a_tenant_is_moved_to_another_status(tenants):
    changed = tenants.update_item(
        Key={"pk": f"TENANT#{TENANT}", "sk": "META"},
        UpdateExpression="SET #s = :suspended",
        ConditionExpression="#s = :active",
        ExpressionAttributeNames={"#s": "status"},
        ExpressionAttributeValues={":suspended": "suspended", ":active": "active"},
        ReturnValues="ALL_NEW",
    )
    assert changed["Attributes"]["status"] == "suspended"

"""The example code of the t3nets schema document, against the served system.

The four examples are functions with the document's own requests; only the origin of `table` is adapted. The system has written all other data through its
model API, and it reads what the examples write directly to the table.
"""

import uuid
from datetime import datetime, timezone

import boto3

from model_api import System

resource = boto3.resource("dynamodb")
table = resource.Table("tenants")
conversations = resource.Table("conversations")


# "Get tenant by ID"
def get_tenant_by_id(tenant_id):
    return table.get_item(Key={
        'pk': f'TENANT#{tenant_id}',
        'sk': 'META'
    })


# "Resolve tenant from channel". Items are in the index because they have both of its keys; with `gsi1pk` alone, as in the document, it would be empty.
def resolve_tenant_from_channel(channel_type, channel_id):
    return table.query(
        IndexName='channel-mapping',
        KeyConditionExpression='gsi1pk = :channel_key',
        ExpressionAttributeValues={
            ':channel_key': f'CHANNEL#{channel_type}#{channel_id}'
        }
    )


# "List all users in a tenant"
def list_all_users(tenant_id):
    return table.query(
        KeyConditionExpression='pk = :pk AND begins_with(sk, :prefix)',
        ExpressionAttributeValues={
            ':pk': f'TENANT#{tenant_id}',
            ':prefix': 'USER#'
        }
    )


# "Find user by email (scan with filter)". Addresses are stored in lower case, so the argument must be in lower case too.
def find_user_by_email(tenant_id, email):
    return table.query(
        KeyConditionExpression='pk = :pk AND begins_with(sk, :prefix)',
        FilterExpression='email = :email',
        ExpressionAttributeValues={
            ':pk': f'TENANT#{tenant_id}',
            ':prefix': 'USER#',
            ':email': email
        }
    )


def put_user(tenant_id, user_id, email):
    """Writes a user as in the document, except that identities are a map instead of a string, and the index keys are those of an e-mail address."""
    now = datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.000Z")
    table.put_item(Item={
        'pk': f'TENANT#{tenant_id}', 'sk': f'USER#{user_id}',
        'gsi1pk': f'EMAIL#{tenant_id}#{email}', 'gsi1sk': f'USER#{user_id}',
        'entity_type': 'User', 'tenant_id': tenant_id, 'user_id': user_id, 'email': email,
        'display_name': 'Linus', 'role': 'member', 'channel_identities': {'slack': 'U12345'},
        'created_at': now, 'updated_at': now,
    })


def make_tenant():
    """Creates a tenant with a channel and two users through the system."""
    tenant = f"team-{uuid.uuid4().hex[:10]}"
    operator = System("t3nets", tenant_id="operators", user_id="support", operator=True)
    operator.write("onboardTenant", tenant_id=tenant, name="Outlocks", user_id="admin", email=f"Admin@{tenant}.example", display_name="Ada",
                   settings={"enabled_skills": ["sprint_status"]})
    admin = System("t3nets", tenant_id=tenant, user_id="admin")
    admin.write("finishOnboarding")
    admin.write("createUser", tenant_id=tenant, user_id="grace", email=f"grace@{tenant}.example", display_name="Grace")
    admin.write("connectChannel", channel_type="teams", channel_id=f"azure-bot-{tenant}")
    return tenant, admin


def examples(tenant, admin):
    item = get_tenant_by_id(tenant)["Item"]
    assert (item["name"], item["status"], item["settings"]["messages_per_day"]) == ("Outlocks", "active", 1000), item
    mapped = resolve_tenant_from_channel("teams", f"azure-bot-{tenant}")["Items"]
    assert [mapping["pk"] for mapping in mapped] == [f"TENANT#{tenant}"], mapped
    put_user(tenant, "linus", f"linus@{tenant}.example")
    users = [user["user_id"] for user in list_all_users(tenant)["Items"]]
    assert users == ["admin", "grace", "linus"], users
    for user in users:
        found = find_user_by_email(tenant, f"{user}@{tenant}.example")["Items"]
        assert [item["user_id"] for item in found] == [user], found
    assert find_user_by_email(tenant, "nobody@example.com")["Items"] == []
    known = admin.read("userByEmail", tenant_id=tenant, email=f"LINUS@{tenant}.example")
    assert known["channel_identities"] == {"slack": "U12345"}, known


def conversation_patterns(tenant):
    """The table "Access Patterns" of conversations: get, save, clear by the key, which contains the user; otherwise all users of a tenant would share it."""
    grace = System("t3nets", tenant_id=tenant, user_id="grace")
    key = {"pk": tenant, "sk": "grace#conv-abc-123"}
    assert "Item" not in conversations.get_item(Key=key)
    for number in range(3):
        grace.write("recordTurn", conversation_id="conv-abc-123", user_message=f"question {number}", answer=f"answer {number}")
    head = conversations.get_item(Key=key)["Item"]
    thirty_days = int(datetime.fromisoformat(head["updated_at"].replace("Z", "+00:00")).timestamp()) + 30 * 86400
    assert (head["turns"], abs(int(head["ttl"]) - thirty_days) <= 1) == (3, True), head
    turns = conversations.query(
        KeyConditionExpression="pk = :thread",
        ExpressionAttributeValues={":thread": f"{tenant}#grace#{head['thread_id']}"},
    )["Items"]
    assert [turn["user_message"] for turn in turns] == ["question 0", "question 1", "question 2"], turns
    messages = grace.write("history", conversation_id="conv-abc-123")["messages"]
    assert messages[-1] == {"role": "assistant", "content": "answer 2"}, messages
    conversations.delete_item(Key=key)
    assert grace.write("history", conversation_id="conv-abc-123")["messages"] == [], "the system finds it cleared"


if __name__ == "__main__":
    made, administrator = make_tenant()
    examples(made, administrator)
    conversation_patterns(made)
    print("t3nets: the four examples agree with the system")

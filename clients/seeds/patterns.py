"""The access patterns of the documents that have no example code, against the served systems.

Each row is a key condition from the document, which boto3 sends, and the items written by the system that it must find. A note explains where a
documented defect changes the condition. Usage: `python patterns.py agencies workspaces helpmaton`
"""

import sys
import uuid
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone

import boto3

from model_api import System, as_code

resource = boto3.resource("dynamodb")


@dataclass
class Pattern:
    """A documented access pattern: table or index, condition, and the expected values of the attribute `name`."""

    document: str
    table: str
    condition: dict
    name: str
    expected: list
    index: str | None = None
    order: str = "forward"
    note: str = ""
    filters: dict = field(default_factory=dict)

    def found(self):
        """Returns the values of `name` in all pages of the store's answer."""
        table = resource.Table(self.table)
        if self.index is None and self.order == "get":
            item = table.get_item(Key=self.condition).get("Item")
            return [item[self.name]] if item else []
        request = query(self.condition, self.filters)
        if self.index:
            request["IndexName"] = self.index
        request["ScanIndexForward"] = self.order != "backward"
        items = []
        while True:
            page = table.query(**request)
            items += page["Items"]
            if "LastEvaluatedKey" not in page:
                return [item[self.name] for item in items]
            request["ExclusiveStartKey"] = page["LastEvaluatedKey"]

    def check(self):
        found = self.found()
        assert found == self.expected, f"{self.document}: {found}, not {self.expected}"


def query(condition, filters):
    """Builds a request from a condition: a string means equality, a tuple starts with its operator. Aliases every name, because many are reserved words."""
    names, values = {}, {}

    def said(name, wanted):
        alias = f"#n{len(names)}"
        names[alias] = name
        places = [f":v{len(values) + place}" for place in range(len(wanted) - 1 if isinstance(wanted, tuple) else 1)]
        values.update(zip(places, wanted[1:] if isinstance(wanted, tuple) else [wanted]))
        if not isinstance(wanted, tuple):
            return f"{alias} = {places[0]}"
        if wanted[0] == "begins":
            return f"begins_with({alias}, {places[0]})"
        if wanted[0] == "between":
            return f"{alias} BETWEEN {places[0]} AND {places[1]}"
        return f"{alias} {wanted[0]} {places[0]}"

    request = {"KeyConditionExpression": " AND ".join(said(*pair) for pair in condition.items())}
    if filters:
        request["FilterExpression"] = " AND ".join(said(*pair) for pair in filters.items())
    return request | {"ExpressionAttributeNames": names, "ExpressionAttributeValues": values}


def get(document, table, key, name, expected, note=""):
    return Pattern(document, table, key, name, [expected], order="get", note=note)


def agencies():
    person = f"person-{uuid.uuid4()}"
    ada = System("agencies", idpid=person, admin=False)
    first, second = (ada.write("createAgency", name=name)["agencyId"] for name in ["Harbour & Sons", "North Light"])
    members = sorted(f"member-{number}-{person}" for number in range(3))
    for member in members:
        ada.write("addMember", agencyId=first, idpid=member)
    table = "agencies-local"
    # 1. and 2. Create, update, delete by PK and SK: the system reads what is written directly to the table; the writer has to update the count of members.
    written_past = f"zz-past-{person}"
    now = datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.000Z")
    stamps = {"created": now, "createdBy": person, "modified": now, "modifiedBy": person}
    resource.Table(table).put_item(Item={
        "PK": f"AGENCY#{first}", "SK": f"MEMBER#{written_past}", "type": "Member", "agencyId": first, "idpid": written_past, **stamps,
    })
    resource.Table(table).update_item(
        Key={"PK": f"AGENCY#{first}", "SK": f"AGENCY#{first}"},
        UpdateExpression="SET #name = :name ADD members :one",
        ExpressionAttributeNames={"#name": "name"}, ExpressionAttributeValues={":name": "Harbour & Daughters", ":one": 1},
    )
    access = System("agencies", idpid=written_past, admin=False).write("authorise", agencyId=first)
    assert access == {"allowed": True, "isMember": True, "status": "active"}, access
    mine = ada.write("myAgencies")["items"]
    assert [agency["name"] for agency in mine] == ["Harbour & Daughters", "North Light"], mine
    yield get("3. Read an Agency by ID", table, {"PK": f"AGENCY#{first}", "SK": f"AGENCY#{first}"}, "name", "Harbour & Daughters",
              note="a Query of a full key in the document")
    yield Pattern("4. List Members by Agency ID", table, {"PK": f"AGENCY#{first}", "SK": ("begins", "MEMBER#")}, "idpid", members + [person, written_past])
    listed = Pattern("5. List All Agencies", table, {"type": "Agency"}, "agencyId", [], index="GSI1")
    assert [agency for agency in listed.found() if agency in (first, second)] == [first, second], "in the order of creation"
    yield Pattern("6. List Members by idpid", table, {"idpid": person}, "agencyId", [first, second], index="GSI2")
    resource.Table(table).delete_item(Key={"PK": f"AGENCY#{first}", "SK": f"MEMBER#{written_past}"})
    resource.Table(table).update_item(
        Key={"PK": f"AGENCY#{first}", "SK": f"AGENCY#{first}"}, UpdateExpression="ADD members :one", ExpressionAttributeValues={":one": -1},
    )
    root = System("agencies", idpid="root", admin=True)
    assert root.write("dissolve", agencyId=first) == {"membersRemoved": 4}
    yield Pattern("1. Delete Agencies: nothing is left", table, {"PK": f"AGENCY#{first}"}, "SK", [])


def workspaces():
    owner, member = str(uuid.uuid4()), str(uuid.uuid4())
    ada, grace = System("workspaces", userId=owner), System("workspaces", userId=member)
    first, second = sorted(ada.write("createWorkspace", name=name)["workspaceId"] for name in ["Papers", "Recipes"])
    code = ada.write("createInvite", workspaceId=first)["code"]
    grace.write("joinByInvite", code=code)
    items = sorted(ada.write("createItem", workspaceId=first, title=f"Item {number}", content="…")["itemId"] for number in range(3))
    ada.write("setSetting", workspaceId=first, name="theme", value="dark")
    table = "workspaces-local"
    whole = [f"ITEM#{item}" for item in items] + [f"MEMBER#{user}" for user in sorted([owner, member])] + ["SET#theme", "WORKSPACE"]
    yield Pattern("Load full workspace", table, {"PK": f"WORKSPACE#{first}"}, "SK", whole)
    yield Pattern("List user's workspaces", table, {"GSI1PK": f"USER#{owner}", "GSI1SK": ("begins", "WORKSPACE#")}, "workspaceId", [first, second],
                  index="GSI1", note="each once: the workspace's own entry is not in the index")
    yield get("Check membership", table, {"PK": f"WORKSPACE#{first}", "SK": f"MEMBER#{member}"}, "role", "member")
    yield Pattern("List items in workspace", table, {"PK": f"WORKSPACE#{first}", "SK": ("begins", "ITEM#")}, "itemId", items)
    yield get("Resolve invite code", table, {"PK": f"INVITE#{code}", "SK": "INVITE"}, "workspaceId", first)
    resource.Table(table).delete_item(Key={"PK": f"WORKSPACE#{first}", "SK": f"MEMBER#{member}"})
    assert grace.read("workspacesOfUser", userId=member)["items"] == [], "the system sees at once who was removed past it"


def helpmaton():
    user, subscription, workspace, agent = (str(uuid.uuid4()) for _ in range(4))
    email = f"{user}@example.com"
    ada = System("helpmaton", userId=user, email=email)
    # The first call creates the tables.
    assert ada.read("workspacesOfUser", userId=user)["items"] == []
    as_code("helpmaton", "signUp", id=user, email=email, name="Ada", subscriptionId=subscription)
    ada.write("createWorkspace", workspaceId=workspace, subscriptionId=subscription, name="Papers")
    ada.write("createAgent", workspaceId=workspace, agentId=agent, name="Clerk", systemPrompt="Be brief.")
    yield from accounts(user, email, subscription)
    yield from workspace_tables(ada, user, workspace, subscription)
    yield from agent_tables(ada, workspace, agent)
    yield from resources_of_workspace(ada, workspace)
    yield from money(user, workspace, agent)
    yield from plan_and_people(ada, user, workspace, subscription, agent)
    yield from secrets_of_user(user)


def accounts(user, email, subscription):
    request = str(uuid.uuid4())
    as_code("helpmaton", "linkAccount", userId=user, provider="github", identifier="583231", token="opaque")
    as_code("helpmaton", "logWebhook", requestId=request, userId=user, key=str(uuid.uuid4()), body="{}")
    yield Pattern("next-auth: look up user by email", "next-auth", {"gsi1pk": email}, "id", [user], index="GSI2")
    yield get("next-auth: get user by ID", "next-auth", {"pk": f"users/{user}", "sk": "user"}, "email", email)
    yield Pattern("next-auth: get account by provider", "next-auth", {"pk": f"users/{user}", "sk": ("begins", "accounts/github/")}, "identifier", ["583231"],
                  note="the account's own id is part of the key: two accounts of one provider would overwrite each other")
    yield get("webhook-logs: retrieve log", "webhook-logs", {"pk": request, "sk": "log"}, "requestId", request, note="the table has a sort key")
    yield get("subscription: get subscription", "subscription", {"pk": f"subscriptions/{subscription}", "sk": "subscription"}, "userId", user)
    yield Pattern("subscription: get user subscription", "subscription", {"userId": user}, "subscriptionId", [subscription], index="byUserId")


def workspace_tables(ada, user, workspace, subscription):
    ref = f"workspaces/{workspace}"
    yield get("workspace: get workspace", "workspace", {"pk": ref, "sk": "workspace"}, "name", "Papers")
    yield Pattern("workspace: list by subscription", "workspace", {"subscriptionId": subscription}, "workspaceId", [workspace], index="bySubscriptionId")
    yield get("permission: get user permission", "permission", {"pk": ref, "sk": f"users/{user}"}, "type", 3)
    yield Pattern("permission: list permissions for resource", "permission", {"pk": ref}, "userId", [user])
    yield Pattern("permission: find user permissions by type", "permission", {"sk": f"users/{user}", "resourceType": "workspaces"}, "workspaceId", [workspace],
                  index="byResourceTypeAndEntityId", note="the index's two keys have changed places: its partitions would be two")


def agent_tables(ada, workspace, agent):
    conversation = str(uuid.uuid4())
    key = ada.write("issueAgentKey", workspaceId=workspace, agentId=agent)["keyId"]
    as_code("helpmaton", "startConversation", workspaceId=workspace, agentId=agent, conversationId=conversation, conversationType="test")
    ada.write("createStreamServer", workspaceId=workspace, agentId=agent, allowedOrigins=["https://example.com"])
    ref = f"{workspace}/{agent}"
    yield get("agent: get agent", "agent", {"pk": f"agents/{ref}", "sk": "agent"}, "name", "Clerk")
    yield Pattern("agent: list agents in workspace", "agent", {"workspaceId": workspace}, "agentId", [agent], index="byWorkspaceId")
    yield get("agent-key: get agent key", "agent-key", {"pk": f"agent-keys/{ref}/{key}", "sk": "key"}, "keyId", key)
    yield Pattern("agent-key: list keys for agent", "agent-key", {"agentId": agent}, "keyId", [key], index="byAgentId")
    yield get("agent-conversations: get conversation", "agent-conversations", {"pk": f"conversations/{ref}/{conversation}", "sk": "conversation"},
              "conversationType", "test", note="the table has a sort key")
    yield Pattern("agent-conversations: list for agent", "agent-conversations", {"agentId": agent}, "conversationId", [conversation], index="byAgentId")
    yield get("agent-stream-servers: get config", "agent-stream-servers", {"pk": f"stream-servers/{ref}", "sk": "config"}, "allowedOrigins",
              ["https://example.com"])


def resources_of_workspace(ada, workspace):
    ada.write("setWorkspaceApiKey", workspaceId=workspace, provider="google", key="a-key")
    files = [{"name": "Notes", "text": "0123456789"}]
    document = ada.write("uploadDocuments", workspaceId=workspace, folder="drafts", files=files)[0]["documentId"]
    smtp = {"host": "mail.example.com", "port": 587, "secure": True, "username": "ada", "password": "secret", "fromEmail": "ada@example.com"}
    channel = ada.write("addChannel", workspaceId=workspace, type="email", name="Alerts", config={"address": "ops@example.com"})["channelId"]
    ada.write("connectEmail", workspaceId=workspace, type="smtp", name="Post", config=smtp)
    server = ada.write("addMcpServer", workspaceId=workspace, name="Files", url="https://mcp.example.com", authType="none")["serverId"]
    of_workspace = {"workspaceId": workspace}
    yield get("workspace-api-key: get", "workspace-api-key", {"pk": f"workspace-api-keys/{workspace}/google", "sk": "key"}, "provider", "google",
              note="one for each provider")
    yield Pattern("workspace-api-key: query by workspace", "workspace-api-key", of_workspace, "provider", ["google"], index="byWorkspaceId")
    yield get("workspace-document: get", "workspace-document", {"pk": f"workspace-documents/{workspace}/{document}", "sk": "document"}, "name", "Notes")
    yield Pattern("workspace-document: list", "workspace-document", of_workspace, "documentId", [document], index="byWorkspaceId")
    yield Pattern("workspace-document: filter by folder", "workspace-document", of_workspace, "documentId", [document], index="byWorkspaceId",
                  filters={"folderPath": "drafts"})
    yield get("output_channel: get", "output_channel", {"pk": f"output-channels/{workspace}/{channel}", "sk": "channel"}, "name", "Alerts")
    yield Pattern("output_channel: list", "output_channel", of_workspace, "channelId", [channel], index="byWorkspaceId")
    yield get("email-connection: get", "email-connection", {"pk": f"email-connections/{workspace}", "sk": "connection"}, "name", "Post")
    yield Pattern("email-connection: query by workspace", "email-connection", of_workspace, "name", ["Post"], index="byWorkspaceId")
    yield get("mcp-server: get", "mcp-server", {"pk": f"mcp-servers/{workspace}/{server}", "sk": "server"}, "name", "Files")
    yield Pattern("mcp-server: list", "mcp-server", of_workspace, "serverId", [server], index="byWorkspaceId")


def money(user, workspace, agent):
    reservation = str(uuid.uuid4())
    expires = int(datetime.now(timezone.utc).timestamp()) + 900
    hour = expires // 3600 * 3600
    as_code("helpmaton", "creditPurchase", workspaceId=workspace, entryId=f"order-{workspace}", amount=5_000_000_000, paidCurrency="usd")
    as_code("helpmaton", "reserveCredits", reservationId=reservation, workspaceId=workspace, agentId=agent, amount=1_000_000_000, expires=expires,
            expiresHour=hour, workspaceRoom=9_000_000_000, agentRoom=9_000_000_000)
    for day in ["2026-03-01", "2026-03-02", "2026-04-01"]:
        as_code("helpmaton", "saveUsage", workspaceId=workspace, date=day, agentId=agent, provider="google", payer="platform", modelName="gemini", userId=user,
                usesByok="false", inputTokens=1, outputTokens=2, totalTokens=3, costUsd=4, costEur=5, costGbp=6)
    march = ("between", "2026-03-01", "2026-03-31")
    yield get("credit-reservations: get", "credit-reservations", {"pk": f"credit-reservations/{reservation}"}, "reservedAmount", 1_000_000_000)
    expired = Pattern("credit-reservations: clean up expired", "credit-reservations", {"expiresHour": hour, "expires": ("<", expires + 1)}, "reservationId", [],
                      index="byExpiresHour", note="`expires` is the index's sort key: a condition where the document filters")
    assert reservation in expired.found()
    yield Pattern("token-usage-aggregates: get workspace aggregate", "token-usage-aggregates", {"pk": f"aggregates/{workspace}/2026-03-01"}, "agentId", [agent],
                  note="a row for each agent, model, provider and payer, so it is a Query")
    yield Pattern("token-usage-aggregates: get agent aggregate", "token-usage-aggregates",
                  {"pk": f"aggregates/{workspace}/2026-03-01", "sk": ("begins", f"{agent}/")}, "totalTokens", [3])
    for index, name, value in [("byWorkspaceIdAndDate", "workspaceId", workspace), ("byAgentIdAndDate", "agentId", agent)]:
        yield Pattern(f"token-usage-aggregates: list by {name}", "token-usage-aggregates", {name: value, "date": march}, "date", ["2026-03-01", "2026-03-02"],
                      index=index)


def plan_and_people(ada, user, workspace, subscription, agent):
    invite = str(uuid.uuid4())
    now = datetime.now(timezone.utc).replace(minute=0, second=0, microsecond=0)
    hours = [(now - timedelta(hours=back)).strftime("%Y-%m-%dT%H:%M:%S.000Z") for back in [2, 1, 0]]
    for hour in hours:
        as_code("helpmaton", "countRequest", subscriptionId=subscription, hourTimestamp=hour)
    as_code("helpmaton", "invite", workspaceId=workspace, inviteId=invite, email="grace@example.com", tokenHash="a" * 64, permissionLevel=1, invitedBy=user)
    ada.write("requestTrialCredit", workspaceId=workspace)
    yield get("trial-credit-requests: get", "trial-credit-requests", {"pk": f"trial-credit-requests/{workspace}", "sk": "request"}, "userId", user)
    yield get("llm-request-buckets: get bucket", "llm-request-buckets", {"pk": f"llm-request-buckets/{subscription}/{hours[0]}"}, "count", 1)
    yield Pattern("llm-request-buckets: list", "llm-request-buckets", {"subscriptionId": subscription, "hourTimestamp": ("between", hours[1], hours[2])},
                  "hourTimestamp", hours[1:], index="bySubscriptionIdAndHour")
    yield get("workspace-invite: get", "workspace-invite", {"pk": f"workspace-invites/{workspace}/{invite}", "sk": "invite"}, "email", "grace@example.com")
    yield Pattern("workspace-invite: list", "workspace-invite", {"workspaceId": workspace}, "inviteId", [invite], index="byWorkspaceId")


def secrets_of_user(user):
    key, token, family = (str(uuid.uuid4()) for _ in range(3))
    key_hash, token_hash = uuid.uuid4().hex * 2, uuid.uuid4().hex * 2
    as_code("helpmaton", "createApiKey", userId=user, keyId=key, keyHash="h", keySalt="s", keyLookupHash=key_hash, keyPrefix="hmat_1234567", name="CI")
    as_code("helpmaton", "createRefreshToken", userId=user, tokenId=token, familyId=family, tokenHash="h", tokenSalt="s", tokenLookupHash=token_hash)
    for table, prefix, name, value, hashed, index, lookup in [
        ("user-api-key", "user-api-keys", "keyId", key, key_hash, "byKeyHash", "keyLookupHash"),
        ("user-refresh-token", "user-refresh-tokens", "tokenId", token, token_hash, "byTokenHash", "tokenLookupHash"),
    ]:
        yield get(f"{table}: get", table, {"pk": f"{prefix}/{user}", "sk": value}, name, value)
        yield Pattern(f"{table}: look up by hash", table, {lookup: hashed}, name, [value], index=index)
        yield Pattern(f"{table}: list", table, {"pk": f"{prefix}/{user}"}, name, [value])


SYSTEMS = {"agencies": agencies, "workspaces": workspaces, "helpmaton": helpmaton}

if __name__ == "__main__":
    for system in sys.argv[1:] or SYSTEMS:
        count = 0
        for pattern in SYSTEMS[system]():
            pattern.check()
            count += 1
        print(f"{system}: {count} documented access patterns agree with the system")

"""A refused write shows the stored item only to callers who may read it."""

from pathlib import Path

MODEL = Path(__file__).parents[2] / "crates/keyform/tests/refusals.kf"
ADA, EVE = "01JD3M5N6P7Q8R9S0T1V2W3X4Y", "01JD3M5N6P7Q8R9S0T1V2W3X4Z"


def user(name):
    return f"userId={name}"


def refused(response, outcome):
    assert response.status == 409, response
    assert response.json["outcome"] == outcome, response
    return response.json.get("item")


def test_discord_does_not_show_the_connection_of_another_user(serve):
    server = serve("--in-memory")
    made = server.call("discord", "createServer", {"name": "Engines"}, caller=user(ADA)).json
    path = f"/v1/discord/channelsOfServer?serverId={made['serverId']}"
    channel = server.request("GET", path, headers={"X-Keyform-Caller": user(ADA)}).json["items"][0]["channelId"]
    connection = {"connectionId": "conn-of-ada", "channelId": channel}
    assert server.call("discord", "connect", connection, caller=user(ADA)).status == 200

    foreign = server.call("discord", "stopListening", connection, caller=user(EVE))
    assert refused(foreign, "NotConnected") is None
    for secret in (ADA, made["serverId"], "connectedAt"):
        assert secret not in foreign.body.decode(), foreign

    # Eve may not read the channel, so no refusal of another write shows her the connection.
    assert server.call("discord", "connect", connection, caller=user(EVE)).status == 403
    own = server.call("discord", "stopListening", connection, caller=user(ADA))
    assert own.status == 204


def test_discord_shows_what_everyone_with_the_code_may_read(serve):
    server = serve("--in-memory")
    made = server.call("discord", "createServer", {"name": "Engines"}, caller=user(ADA)).json
    invite = server.call("discord", "createInvite", {"serverId": made["serverId"], "maxUses": 1}, caller=user(ADA)).json
    code = {"inviteCode": invite["inviteCode"]}
    assert server.call("discord", "joinByInvite", code, caller=user(EVE)).status == 200
    late = server.call("discord", "joinByInvite", code, caller=user("01JD3M5N6P7Q8R9S0T1V2W3X50"))
    assert refused(late, "InviteUsedUp")["uses"] == 1


def test_agencies_shows_an_agency_to_its_members_only(serve):
    server = serve("--in-memory")

    def call(pattern, arguments, idpid, admin="false"):
        return server.call("agencies", pattern, arguments, caller=f"idpid={idpid}; admin={admin}")

    agency = call("createAgency", {"name": "Secret Service"}, "ada").json
    change = {"agencyId": agency["agencyId"], "name": "Taken over", "status": "active", "expected": 99}
    assert refused(call("updateAgency", change, "ada"), "Changed")["name"] == "Secret Service"
    assert refused(call("updateAgency", change, "root", "true"), "Changed")["name"] == "Secret Service"
    stranger = call("updateAgency", change, "eve")
    assert stranger.status == 403
    assert "Secret Service" not in stranger.body.decode()
    unknown = call("updateAgency", {**change, "agencyId": "01JD3M5N6P7Q8R9S0T1V2W3X4Y"}, "root", "true")
    assert refused(unknown, "UnknownAgency") is None


def test_no_write_of_an_unseen_model_shows_an_item_of_another(serve):
    server = serve("--in-memory", str(MODEL))

    def call(pattern, arguments, name):
        return server.call("refusals", pattern, arguments, caller=f"userId={name}; admin=false")

    stored = {
        "addNote": {"noteId": "n1", "text": "hidden words", "pin": "x4711"},
        "addProfile": {"profileId": "p1", "name": "Ada", "phone": "hidden words"},
        "addTicket": {"ticketId": "t1", "code": "hidden-words"},
        "takeLock": {"lockId": "l1"},
    }
    for pattern, arguments in stored.items():
        assert call(pattern, arguments, "ada").status == 204
    assert call("useTicket", {"ticketId": "t1"}, "ada").status == 204
    other = {"text": "other", "phone": "other", "code": "other", "pin": "other"}
    attacks = [(pattern, {name: other.get(name, value) for name, value in arguments.items()}) for pattern, arguments in stored.items()]
    attacks += [
        ("removeNote", {"noteId": "n1"}),
        ("editNote", {"noteId": "n1", "text": "other", "expected": 7}),
        ("useTicket", {"ticketId": "t1"}),
        ("redeem", {"ticketId": "t1", "given": "guess"}),
    ]
    for pattern, arguments in attacks:
        response = call(pattern, arguments, "eve")
        assert response.status == 409, (pattern, response)
        assert "item" not in response.json, (pattern, response)
        assert b"hidden" not in response.body and b"ada" not in response.body, (pattern, response)
    own = call("addNote", stored["addNote"], "ada")
    assert refused(own, "Exists")["text"] == "hidden words"
    assert "pin" not in own.json["item"]

"""Work that must not run forever: an agency whose member count is wrong, and callers that disconnect."""

import json
import socket
import time

ADMIN = "idpid=root; admin=true"


def found(server, people):
    agency = server.call("agencies", "createAgency", {"name": "Engines"}, caller="idpid=ada; admin=false").json
    for number in range(people):
        member = {"agencyId": agency["agencyId"], "idpid": f"p{number:04}"}
        assert server.call("agencies", "addMember", member, caller="idpid=ada; admin=false").status == 200
    return agency["agencyId"]


def agency_table(server):
    names = server.dynamodb("ListTables", {}).json["TableNames"]
    return next(name for name in names if name.startswith("agencies"))


def miscount(server, agency, members):
    """Corrupts the member count of an agency, as an import or a script that bypasses the model would."""
    key = {"S": f"AGENCY#{agency}"}
    answer = server.dynamodb(
        "UpdateItem",
        {
            "TableName": agency_table(server),
            "Key": {"PK": key, "SK": key},
            "UpdateExpression": "SET members = :members",
            "ExpressionAttributeValues": {":members": {"N": str(members)}},
        },
    )
    assert answer.status == 200, answer


def test_a_dissolution_with_a_wrong_counter_ends(serve):
    server = serve("--in-memory")
    for counted in (1_000_000, 51, 50, 7, 0, -3):
        agency = found(server, 5)
        miscount(server, agency, counted)
        answer = server.call("agencies", "dissolve", {"agencyId": agency}, caller=ADMIN, timeout=20)
        assert (answer.status, answer.json["outcome"]) == (409, "Miscounted"), (counted, answer)
        assert "members" in answer.json["detail"]
    assert server.request("GET", "/healthz").status == 200


def test_the_server_is_idle_after_a_dissolution_failed(serve):
    server = serve("--in-memory")
    agency = found(server, 3)
    miscount(server, agency, 1_000_000)
    server.call("agencies", "dissolve", {"agencyId": agency}, caller=ADMIN, timeout=20)
    before = cpu_ticks(server)
    time.sleep(1)
    assert cpu_ticks(server) - before < 50, "half a second of a processor in a second without requests"


def test_a_corrected_counter_lets_the_dissolution_end(serve):
    server = serve("--in-memory")
    agency = found(server, 3)
    miscount(server, agency, 40)
    assert server.call("agencies", "dissolve", {"agencyId": agency}, caller=ADMIN).status == 409
    miscount(server, agency, 4)
    answer = server.call("agencies", "dissolve", {"agencyId": agency}, caller=ADMIN)
    assert (answer.status, answer.json) == (200, {"membersRemoved": 4})


def test_a_caller_that_leaves_stops_its_dissolution(serve):
    server = serve()
    agency = found(server, 400)
    body = json.dumps({"agencyId": agency}).encode()
    head = (
        f"POST /v1/agencies/dissolve HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nContent-Type: application/json\r\n"
        f"X-Keyform-Caller: {ADMIN}\r\nContent-Length: {len(body)}\r\n\r\n"
    ).encode()
    with socket.create_connection(("127.0.0.1", server.port)) as connection:
        connection.sendall(head + body)
    # The server continues to serve, and another call deletes the remaining members, however many there are.
    answer = server.call("agencies", "dissolve", {"agencyId": agency}, caller=ADMIN)
    assert answer.status == 200, answer
    gone = server.call("agencies", "dissolve", {"agencyId": agency}, caller=ADMIN)
    assert (gone.status, gone.json) == (200, {"membersRemoved": 0})


def test_a_flow_stops_at_its_deadline(serve):
    server = serve("--in-memory", "--flow-timeout", "1s")
    who = {"email": "ada@example.com", "username": "ada", "password": "correct horse battery"}
    token = server.call("discord", "register", who).json["token"]
    place = server.call("discord", "createServer", {"name": "Engines"}, token=token).json
    overview = server.call("discord", "serverOverview", {"serverId": place["serverId"]}, token=token).json
    channel = overview["channels"][0]["channelId"]
    connection = server.call("discord", "openConnection", {"channelId": channel}, token=token).json
    hear = {"connectionId": connection["connectionId"], "after": 1_000_000, "waitSeconds": 20}
    begin = time.monotonic()
    answer = server.call("discord", "nextEvents", hear, token=token)
    assert (answer.status, answer.json["type"]) == (504, "urn:keyform:problem:deadline"), answer
    assert time.monotonic() - begin < 15


def cpu_ticks(server):
    with open(f"/proc/{server.process.pid}/stat") as stat:
        fields = stat.read().rsplit(") ", 1)[1].split()
    return int(fields[11]) + int(fields[12])

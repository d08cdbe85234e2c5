"""Attacks on helpmaton by signed-in users: on accounts and documents of other users, and on leftovers of deletions.

The server has a token key and credentials, so only bearer tokens identify callers. The tests read mailed tokens from the log.
"""

import hashlib
import json
import os
import re
import stat
import subprocess
import time
import uuid
from urllib.parse import urlencode

import pytest

from server import BINARY, Server

#: Workspace of the sample data, and its owner, who has the largest plan.
WORKSPACE = "ada00000-0000-4000-8000-000000000002"
OWNER = "ada@example.com"

#: Environment of a server whose store is on this machine: the SDK must not ask a cloud for its region.
NO_CLOUD = {"AWS_REGION": "us-east-1", "AWS_EC2_METADATA_DISABLED": "true"}

#: Fields that no caller may set or see: storage keys, and hashes of tokens and keys.
HIDDEN = {"s3Key", "objectKey", "bodyS3Key", "tokenHash", "tokenSalt", "tokenLookupHash", "keyHash", "keySalt", "keyLookupHash"}


def hidden_names(value):
    """Returns the names in a JSON value that no caller may see."""
    if isinstance(value, dict):
        return {name for name in value if name in HIDDEN}.union(*(hidden_names(part) for part in value.values()))
    return set().union(*(hidden_names(part) for part in value)) if isinstance(value, list) else set()


def guarded(folder):
    """Returns the arguments of a server that requires tokens from callers and signatures from clients."""
    key, credentials = folder / "token.key", folder / "credentials"
    key.write_text("a secret that is only for this test, 32 bytes long")
    key.chmod(0o600)
    subprocess.run([BINARY, "credentials", "add", "AKIAIOSFODNN7EXAMPLE", "--credentials-file", credentials], check=True, stdout=subprocess.DEVNULL)
    return ["--jwt-key-file", str(key), "--credentials-file", str(credentials), "--log-level", "info", "--access-log", "off"]


class Api:
    """helpmaton on a server, and the mails that it sends."""

    def __init__(self, server):
        self.server = server

    def post(self, pattern, bearer=None, /, **arguments):
        return self.server.call("helpmaton", pattern, arguments, token=bearer)

    def get(self, pattern, bearer, /, **arguments):
        return self.server.request("GET", f"/v1/helpmaton/{pattern}?{urlencode(arguments)}", headers={"Authorization": f"Bearer {bearer}"})

    def mailed(self, kind, address, seconds=10):
        """Returns the token that was last mailed to an address."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            lines = [line for line in self.server.err.splitlines() if f"mail: {kind}" in line and address in line]
            if lines:
                return re.search(r"[0-9a-f]{64}", lines[-1])[0]
            time.sleep(0.02)
        raise AssertionError(f"nothing was mailed to {address}:\n{self.server.err}")

    def sign_in(self, address):
        """Signs in by mail; returns the access token of the session."""
        assert self.post("requestSignIn", email=address).status == 200
        session = self.post("signIn", email=address, token=self.mailed("sign in", address))
        assert session.status == 200, session
        return session.json["accessToken"]

    def workspace(self, token):
        made = self.post("openWorkspace", token, name="Engines")
        assert made.status == 200, made
        return made.json["workspaceId"]

    def upload(self, token, workspace, text):
        made = self.post("uploadDocuments", token, workspaceId=workspace, folder="plans", files=[{"name": "plan.md", "text": text}])
        assert made.status == 200, made
        return made.json[0]["documentId"]


@pytest.fixture
def api(serve, tmp_path):
    return Api(serve("--demo", *guarded(tmp_path)))


def refusal(answer):
    """Returns the outcome of a refusal, or else the status."""
    return answer.json.get("outcome", answer.status) if answer.status == 409 else answer.status


def files_below(folder):
    return [path for path in folder.rglob("*") if path.is_file()] if folder.exists() else []


def test_an_owner_who_chooses_the_token_of_an_invitation_takes_over_no_account(api):
    ada = api.sign_in(OWNER)
    chosen = "ab" * 32
    victim = "victim@example.org"
    hashed = hashlib.sha256(chosen.encode()).hexdigest()
    invite = {"workspaceId": WORKSPACE, "inviteId": str(uuid.uuid4()), "email": victim, "tokenHash": hashed, "permissionLevel": 1}
    owner_id = json.loads(api.post("members", ada, workspaceId=WORKSPACE).body)["items"][0]["userId"]
    for arguments in [invite, {**invite, "invitedBy": owner_id}]:
        assert api.post("invite", ada, **arguments).status == 403
    assert refusal(api.post("acceptInvitationAsGuest", token=chosen)) == "UnknownInvite"
    assert refusal(api.post("invitation", token=chosen)) == "UnknownInvite"


def test_the_token_of_an_invitation_is_only_in_the_mail(api):
    ada, victim = api.sign_in(OWNER), "victim@example.org"
    invited = api.post("inviteByEmail", ada, workspaceId=WORKSPACE, email=victim, level=1)
    assert invited.status == 200, invited
    mailed = api.mailed("an invitation", victim)
    seen = [
        invited,
        api.post("pendingInvites", ada, workspaceId=WORKSPACE),
        api.get("inviteById", ada, workspaceId=WORKSPACE, inviteId=invited.json["inviteId"]),
        api.get("invitesForWorkspace", ada, workspaceId=WORKSPACE),
    ]
    for answer in seen:
        assert answer.status == 200 and victim.encode() in answer.body, answer
        assert mailed.encode() not in answer.body and hashlib.sha256(mailed.encode()).hexdigest().encode() not in answer.body
        assert not hidden_names(answer.json), answer
    # Another user who obtains the token does not own the address; the account that the token creates belongs to the mailbox.
    mallory = api.sign_in("mallory@example.org")
    assert refusal(api.post("acceptInvitation", mallory, token=mailed)) == "OtherAddress"
    for wrong in ["", mailed[:-1], mailed.upper(), mailed[::-1], "0" * 64]:
        assert refusal(api.post("acceptInvitationAsGuest", token=wrong)) == "UnknownInvite"
    session = api.post("acceptInvitationAsGuest", token=mailed)
    assert session.status == 200, session
    assert refusal(api.post("acceptInvitationAsGuest", token=mailed)) == "AlreadyAccepted"


def test_an_invitation_opens_no_account_that_is_there(api):
    ada, victim = api.sign_in(OWNER), "victim@example.org"
    own = api.sign_in(victim)
    invited = api.post("inviteByEmail", ada, workspaceId=WORKSPACE, email=victim.upper(), level=2)
    assert invited.status == 200, invited
    token = api.mailed("an invitation", victim)
    assert refusal(api.post("acceptInvitationAsGuest", token=token)) == "SignInFirst"
    # Without the token not even the invited user can accept, and a withdrawn token is invalid.
    victim_id = api.post("mySubscription", own).json["ownerId"]
    for pattern in ["acceptInvite", "acceptOwnerInvite", "answerInvite"]:
        raw = {"workspaceId": WORKSPACE, "inviteId": invited.json["inviteId"], "member": victim_id}
        assert api.post(pattern, own, **raw).status == 403
    assert api.post("withdrawInvite", ada, workspaceId=WORKSPACE, inviteId=invited.json["inviteId"]).status < 300
    assert refusal(api.post("acceptInvitation", own, token=token)) == "UnknownInvite"


def test_no_caller_gives_hashes_tokens_or_proofs(api):
    ada = api.sign_in(OWNER)
    ada_id = api.post("mySubscription", ada).json["ownerId"]
    some, hashed = str(uuid.uuid4()), "0" * 64
    planted = {
        "signUp": {"id": some, "email": "a@example.org", "subscriptionId": some},
        "verifyEmail": {"id": ada_id},
        "linkAccount": {"userId": ada_id, "provider": "github", "identifier": "1"},
        "issueVerification": {"identifier": "bob@example.com", "token": hashed},
        "useVerification": {"identifier": "bob@example.com", "token": hashed},
        "createApiKey": {"userId": ada_id, "keyHash": "h", "keySalt": "s", "keyLookupHash": hashed, "keyPrefix": "hmat_1234567"},
        "createRefreshToken": {"userId": ada_id, "familyId": some, "tokenHash": "h", "tokenSalt": "s", "tokenLookupHash": hashed},
        "rotateRefreshToken": {"userId": ada_id, "usedTokenId": some, "tokenId": some, "tokenHash": "h", "tokenSalt": "s", "tokenLookupHash": hashed},
        "createAgentKey": {"workspaceId": WORKSPACE, "agentId": some, "key": some, "keyHash": hashed, "by": ada_id},
        "logWebhook": {"userId": ada_id, "key": some, "body": "", "bodyS3Key": "workspaces/x"},
        "stageObject": {"objectKey": "workspaces/x", "workspace": WORKSPACE},
        "claimObject": {"objectKey": "workspaces/x"},
        "forgetObject": {"objectKey": "workspaces/x"},
        "forgetDocument": {"workspaceId": WORKSPACE, "documentId": some},
    }
    for pattern, arguments in planted.items():
        assert api.post(pattern, ada, **arguments).status == 403, pattern
        assert api.post(pattern, **arguments).status in (401, 403), pattern


def test_no_answer_and_no_argument_has_a_storage_key_or_a_hash(api):
    """Checks arguments and answers in the OpenAPI document of the whole API."""
    described = api.server.request("GET", "/v1/helpmaton/openapi.json").json
    assert len(described["paths"]) > 100
    for path, methods in described["paths"].items():
        parameters = {parameter["name"] for operation in methods.values() for parameter in operation.get("parameters", [])}
        assert not hidden_names(methods) and not parameters & HIDDEN, path
    assert not hidden_names(described.get("components", {}))


def test_documents_of_another_workspace_are_neither_read_nor_destroyed(api):
    ada, mallory = api.sign_in(OWNER), api.sign_in("mallory@example.org")
    document = api.upload(ada, WORKSPACE, "the secret plan")
    own = api.workspace(mallory)
    mine = api.upload(mallory, own, "mine")
    mallory_id = api.post("mySubscription", mallory).json["ownerId"]
    # Assume that the attacker knows the key: read it from the disk.
    files = api.server.folder / "data-files"
    (victim_file,) = [path for path in files_below(files) if b"secret plan" in path.read_bytes()]
    key = str(victim_file.relative_to(files / "helpmaton"))
    create = {
        "workspaceId": own, "documentId": str(uuid.uuid4()), "name": "x", "filename": "x.md", "folderPath": "", "s3Key": key,
        "contentType": "text/markdown", "size": 1,
    }
    replace = {"workspaceId": own, "documentId": mine, "s3Key": key, "newSize": 4, "growth": 0, "expectedVersion": 1}
    delete = {"workspaceId": own, "documentId": mine}
    for pattern, arguments in [("createDocument", create), ("replaceContent", replace), ("deleteDocument", delete)]:
        assert api.post(pattern, mallory, **arguments).status == 403, pattern
        assert api.post(pattern, mallory, **arguments, by=mallory_id).status == 403, pattern
    foreign = {"workspaceId": WORKSPACE, "documentId": document}
    assert api.get("documentById", mallory, **foreign).status == 403
    assert api.get("documentsInWorkspace", mallory, workspaceId=WORKSPACE).status == 403
    for flow in ["documentText", "removeDocument"]:
        assert api.post(flow, mallory, **foreign).status == 403, flow
    assert api.post("editDocument", mallory, **foreign, text="gone").status == 403
    # The attacker's workspace does not contain the document of another workspace, and flows take no keys.
    assert refusal(api.post("documentText", mallory, workspaceId=own, documentId=document)) == "UnknownDocument"
    assert refusal(api.post("removeDocument", mallory, workspaceId=own, documentId=document)) == "UnknownDocument"
    assert api.post("editDocument", mallory, workspaceId=own, documentId=mine, text="x", s3Key=key).status == 400
    assert api.post("documentText", ada, **foreign).json == "the secret plan"


def test_no_answer_about_a_document_says_where_it_is_stored(api):
    ada = api.sign_in(OWNER)
    document = api.upload(ada, WORKSPACE, "text")
    at = {"workspaceId": WORKSPACE, "documentId": document}
    answers = [
        api.get("documentById", ada, **at),
        api.get("documentsInWorkspace", ada, workspaceId=WORKSPACE),
        api.get("documentsInFolder", ada, workspaceId=WORKSPACE, folderPath="plans"),
        api.post("editDocument", ada, **at, text="more text"),
        api.post("editDocument", ada, **at, name="b", folder=""),
    ]
    assert [answer.status for answer in answers] == [200] * 5
    for answer in answers:
        assert not hidden_names(answer.json) and b"workspaces/" not in answer.body, answer


def test_readers_and_former_members_neither_change_nor_read_documents(api):
    ada, reader = api.sign_in(OWNER), api.sign_in("reader@example.org")
    document = api.upload(ada, WORKSPACE, "the plan")
    invite(api, ada, "reader@example.org", reader)
    reader_id = api.post("mySubscription", reader).json["ownerId"]
    at = {"workspaceId": WORKSPACE, "documentId": document}
    writes = [
        ("uploadDocuments", {"workspaceId": WORKSPACE, "files": [{"name": "x.md", "text": "x"}]}),
        ("editDocument", {**at, "text": "x"}),
        ("editDocument", {**at, "name": "x"}),
        ("removeDocument", at),
        ("moveDocument", {**at, "name": "x", "filename": "x.md", "folderPath": "", "expectedVersion": 1, "by": reader_id}),
        ("deleteDocument", {**at, "by": reader_id}),
        ("replaceContent", {**at, "s3Key": "x", "newSize": 8, "growth": 0, "expectedVersion": 1, "by": reader_id}),
    ]

    def try_all():
        for pattern, arguments in writes:
            assert api.post(pattern, reader, **arguments).status == 403, pattern

    try_all()
    assert api.post("documentText", reader, **at).json == "the plan"
    assert api.post("removeAccess", ada, workspaceId=WORKSPACE, user="reader@example.org").status == 200
    try_all()
    assert api.post("documentText", reader, **at).status == 403
    assert api.get("documentById", reader, **at).status == 403
    assert api.get("documentsInWorkspace", reader, workspaceId=WORKSPACE).status == 403
    assert api.post("documentText", ada, **at).json == "the plan"


def invite(api, owner, address, bearer):
    """Invites a user and accepts the invitation as that user."""
    invited = api.post("inviteByEmail", owner, workspaceId=WORKSPACE, email=address, level=1)
    assert invited.status == 200, invited
    accepted = api.post("acceptInvitation", bearer, token=api.mailed("an invitation", address))
    assert accepted.status == 200, accepted


def test_no_one_learns_which_addresses_have_an_account(api):
    """The owner of a workspace tries addresses in all flows that take one."""
    victim, mallory = "victim@example.org", api.sign_in("mallory@example.org")
    api.sign_in(victim)
    workspace = api.workspace(mallory)
    subscription = api.post("mySubscription", mallory).json["subscriptionId"]
    flows = [
        ("giveAccess", {"workspaceId": workspace, "level": 1}),
        ("ensureAccess", {"workspaceId": workspace, "level": 1}),
        ("changeAccess", {"workspaceId": workspace, "level": 1}),
        ("removeAccess", {"workspaceId": workspace}),
        ("makeManager", {"subscriptionId": subscription}),
        ("dismissManager", {"subscriptionId": subscription}),
    ]
    for flow, arguments in flows:
        known, unknown = (api.post(flow, mallory, **arguments, user=user) for user in (victim, "nobody@example.org"))
        assert (known.status, known.json) == (unknown.status, unknown.json), flow
        assert refusal(known) == "UnknownUser", flow


def test_no_one_is_made_a_manager_without_agreeing(api):
    """A manager has no subscription of their own, so making a user a manager moves them into another user's subscription."""
    ada, victim = api.sign_in(OWNER), api.sign_in("reader@example.org")
    invite(api, ada, "reader@example.org", victim)
    before = api.post("mySubscription", victim).json
    subscription = api.post("mySubscription", ada).json["subscriptionId"]
    victim_id = before["ownerId"]
    for pattern in ["acceptManagement", "giveSeat"]:
        assert api.post(pattern, ada, subscriptionId=subscription, userId=victim_id).status == 403, pattern
    api.post("makeManager", ada, subscriptionId=subscription, user="reader@example.org")
    api.post("addManager", ada, subscriptionId=subscription, userId=victim_id)
    assert api.post("mySubscription", victim).json == before
    assert api.get("subscriptionById", victim, subscriptionId=subscription).status == 403


def test_no_caller_skips_the_checks_of_a_flow(api):
    ada = api.sign_in(OWNER)
    by = api.post("mySubscription", ada).json["ownerId"]
    at = {"workspaceId": WORKSPACE, "by": by}
    for pattern, arguments in [
        ("createChannel", {"channelId": str(uuid.uuid4()), "type": "slack", "name": "x", "config": {"webhookUrl": "file:///etc/passwd"}}),
        ("changeChannel", {"channelId": str(uuid.uuid4()), "name": "x", "config": {}, "expectedVersion": 1}),
        ("setEmailConnection", {"type": "smtp", "name": "x", "config": {}}),
        ("createMcpServer", {"serverId": str(uuid.uuid4()), "name": "x", "url": "file:///etc/passwd", "authType": "none", "config": {}}),
        ("changeMcpServer", {"serverId": str(uuid.uuid4()), "name": "x", "url": "x", "authType": "none", "config": {}, "expectedVersion": 1}),
        ("moveDocument", {"documentId": str(uuid.uuid4()), "name": "x", "filename": "../x", "folderPath": "/", "expectedVersion": 1}),
        ("deleteConversation", {"agentId": str(uuid.uuid4()), "conversationId": str(uuid.uuid4())}),
    ]:
        assert api.post(pattern, ada, **at, **arguments).status == 403, pattern


def test_a_deleted_document_is_gone_from_the_disk_and_its_files_are_closed_to_others(api):
    ada = api.sign_in(OWNER)
    files = api.server.folder / "data-files"
    before = api.post("mySubscription", ada).json
    document = api.upload(ada, WORKSPACE, "first text")
    (first,) = files_below(files)
    assert api.post("editDocument", ada, workspaceId=WORKSPACE, documentId=document, text="second text").status == 200
    (second,) = files_below(files)
    assert second != first and second.read_text() == "second text"
    for path in [files, *files.rglob("*")]:
        rights = stat.S_IMODE(path.stat().st_mode)
        assert rights == (0o700 if path.is_dir() else 0o600), f"{path}: {rights:o}"
    during = api.post("mySubscription", ada).json
    assert during["documentBytesLeft"] == before["documentBytesLeft"] - len("second text")
    assert api.post("removeDocument", ada, workspaceId=WORKSPACE, documentId=document).status == 200
    assert files_below(files) == []
    after = api.post("mySubscription", ada).json
    assert after == before
    assert refusal(api.post("documentText", ada, workspaceId=WORKSPACE, documentId=document)) == "UnknownDocument"


def remote(folder, store, *more):
    return ["helpmaton", "--store", "dynamodb", "--endpoint-url", store.url, "--create-tables", *guarded(folder), *more]


def test_helpmaton_on_a_remote_store_does_not_start_without_a_directory_for_documents(serve, tmp_path):
    store = serve("--in-memory", "--no-systems")
    folder = tmp_path / "refused"
    folder.mkdir()
    server = Server(folder, remote(folder, store), environment=NO_CLOUD)
    try:
        assert server.process.wait(30) == 2
    finally:
        server.kill()
    assert len(server.err.strip().splitlines()) == 1 and "--files DIRECTORY" in server.err, server.err


@pytest.mark.parametrize("how", ["flag", "variable", "file"])
def test_documents_on_a_remote_store_outlive_the_server(serve, tmp_path, how):
    store = serve("--in-memory", "--no-systems")
    keys, files, config = tmp_path / "field.keys", tmp_path / "documents", tmp_path / "keyform.toml"
    subprocess.run([BINARY, "field-keys", "new", keys], check=True, stdout=subprocess.DEVNULL)
    config.write_text(f'files = "{files}"\n')
    given = {"flag": ["--files", str(files)], "variable": [], "file": ["--config", str(config)]}[how]
    environment = {**NO_CLOUD, "KEYFORM_FILES": str(files)} if how == "variable" else NO_CLOUD
    arguments = remote(tmp_path, store, "--field-keys-file", str(keys), *given)
    api = Api(serve(*arguments, environment=environment))
    token = api.sign_in("grace@example.org")
    workspace = api.workspace(token)
    document = api.upload(token, workspace, "a compiler")
    (stored,) = files_below(files)
    assert stat.S_IMODE(os.stat(stored).st_mode) == 0o600
    api.server.kill()
    api = Api(serve(*arguments, environment=environment))
    assert api.post("documentText", token, workspaceId=workspace, documentId=document).json == "a compiler"
    assert api.post("removeDocument", token, workspaceId=workspace, documentId=document).status == 200
    assert files_below(files) == []


def test_in_memory_writes_no_documents_to_disk(serve, tmp_path):
    files = tmp_path / "documents"
    api = Api(serve("--demo", "--in-memory", "--files", str(files), *guarded(tmp_path)))
    ada = api.sign_in(OWNER)
    document = api.upload(ada, WORKSPACE, "kept in memory")
    assert api.post("documentText", ada, workspaceId=WORKSPACE, documentId=document).json == "kept in memory"
    assert not files.exists() and files_below(api.server.folder / "data-files") == []

"""Credentials and tokens of an operator."""

import base64
import hashlib
import hmac
import json
import os
import subprocess
import time

from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from server import BINARY

ACCESS_KEY, SECRET = "AKATTACKSUITE0000000", "an-access-key-secret-of-the-attack-suite"
TOKEN_SECRET = "a-token-secret-of-the-attack-suite-0123456789"


def credentials_file(folder):
    """Creates a credentials file as an operator does; returns the flags that name it."""
    file = folder / "credentials"
    command = [BINARY, "credentials", "add", ACCESS_KEY, SECRET, "--credentials-file", str(file)]
    subprocess.run(command, check=True, capture_output=True, env={"PATH": os.environ["PATH"], "HOME": str(folder)})
    return ["--credentials-file", str(file)]


def token_key_file(folder):
    file = folder / "token.key"
    file.write_text(TOKEN_SECRET)
    file.chmod(0o600)
    return ["--jwt-key-file", str(file)]


def token(secret=TOKEN_SECRET, **claims):
    """Returns a token with these claims, valid for an hour."""

    def encoded(value):
        return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=")

    signed = encoded({"alg": "HS256"}) + b"." + encoded({"exp": int(time.time()) + 3600, **claims})
    seal = hmac.new(secret.encode(), signed, hashlib.sha256).digest()
    return (signed + b"." + base64.urlsafe_b64encode(seal).rstrip(b"=")).decode()


def signed(server, method, path, body=b"", headers=None):
    """Returns the headers of a request signed with the access key."""
    request = AWSRequest(method=method, url=f"{server.url}{path}", data=body, headers=dict(headers or {}))
    SigV4Auth(Credentials(ACCESS_KEY, SECRET), "dynamodb", "us-east-1").add_auth(request)
    return {**dict(request.headers), "Host": server.url.removeprefix("http://")}


def basic(access_key=ACCESS_KEY, secret=SECRET):
    return {"Authorization": "Basic " + base64.b64encode(f"{access_key}:{secret}".encode()).decode()}

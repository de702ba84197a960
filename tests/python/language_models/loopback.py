"""A server on the loopback address that answers as a function says, for the tests of whatever sends requests."""

import contextlib
import socket
import struct
import threading
from collections.abc import Callable
from contextlib import ExitStack
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple


class Request(NamedTuple):
    """What a server was asked."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes


Reply = tuple[int, dict[str, str], bytes]


class Loopback(ThreadingHTTPServer):
    """Keeps every request and replies as a function of it says; the status 0 resets the connection."""

    daemon_threads = True
    request_queue_size = 64

    def __init__(self, respond: Callable[..., Reply]) -> None:
        self.respond = respond
        self.requests: list[Request] = []
        super().__init__(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server_port}"


class Handler(BaseHTTPRequestHandler):
    """Hands every request to its server."""

    protocol_version = "HTTP/1.1"
    server: Loopback

    def handle_request(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
        request = Request(self.command, self.path, dict(self.headers.items()), body)
        self.server.requests.append(request)
        status, headers, content = self.server.respond(*request)
        if status == 0:
            # no orderly end: the client sees "connection reset by peer"
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.connection.close()
            self.close_connection = True
            return
        self.send_response(status)
        for name, value in ({"Content-Length": str(len(content))} | headers).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    do_GET = do_POST = do_PUT = handle_request  # noqa: N815

    def log_message(self, *_: Any) -> None:
        pass

    def finish(self) -> None:
        # the socket may have been closed on purpose
        with contextlib.suppress(OSError, ValueError):
            super().finish()


def start_server(stack: ExitStack, server: Any) -> Any:
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    stack.callback(server.server_close)
    stack.callback(server.shutdown)
    return server

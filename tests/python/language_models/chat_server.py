"""A chat endpoint on the loopback address, for the tests of whatever asks a language model."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Answer = Callable[[dict[str, Any], int], tuple[int, dict[str, str], bytes]]


def completion(value: Any) -> tuple[int, dict[str, str], bytes]:
    """Return a reply of the protocol whose message is ``value`` as JSON, or as it is when it is a text."""
    text = value if isinstance(value, str) else json.dumps(value)
    body = {
        "choices": [{"message": {"role": "assistant", "content": text}}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 20},
    }
    return 200, {}, json.dumps(body).encode()


class Server:
    """A chat endpoint that answers as a function says and keeps what it was asked."""

    def __init__(self, answer: Answer) -> None:
        self.requests: list[tuple[dict[str, str], dict[str, Any]]] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                outer.requests.append((dict(self.headers), body))
                status, headers, content = answer(body, len(outer.requests))
                if status == 0:  # the line goes dead
                    self.connection.close()
                    return
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *_: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/v1"
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()


@contextmanager
def serving() -> Iterator[Callable[[Answer], Server]]:
    """Yield a function that starts servers, and stop them all in the end."""
    servers: list[Server] = []

    def start(answer: Answer) -> Server:
        servers.append(Server(answer))
        return servers[-1]

    yield start
    for server in servers:
        server.server.shutdown()
        server.server.server_close()

"""A chat endpoint on the loopback address, for the tests of whatever asks a language model."""

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from loopback import Loopback, Reply, start_server

Answer = Callable[[dict[str, Any], int], Reply]


def completion(value: Any) -> Reply:
    """Return a reply of the protocol whose message is ``value`` as JSON, or as it is when it is a text."""
    text = value if isinstance(value, str) else json.dumps(value)
    body = {
        "choices": [{"message": {"role": "assistant", "content": text}}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 20},
    }
    return 200, {}, json.dumps(body).encode()


class Server(Loopback):
    """A chat endpoint that answers as a function of what it is asked and of how often it was."""

    def __init__(self, answer: Answer) -> None:
        super().__init__(lambda method, path, headers, body: answer(json.loads(body), len(self.requests)))
        self.url += "/v1"

    @property
    def asked(self) -> list[dict[str, Any]]:
        return [json.loads(request.body) for request in self.requests]


@contextmanager
def serving() -> Iterator[Callable[[Answer], Server]]:
    with ExitStack() as stack:
        yield lambda answer: start_server(stack, Server(answer))

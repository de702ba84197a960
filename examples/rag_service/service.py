"""A small RAG service over the demo's documents, and what goes wrong with real ones, on request.

It retrieves chunks by BM25 or with the packaged MiniLM, answers with sentences of what it found, and declines when it
found nothing that fits. With RAG_SERVICE_LLM_URL a language model behind an OpenAI-compatible endpoint writes the
answer. ``--fault`` makes a share of the requests fail; which ones is a hash of question, sample and attempt, so that
two runs fail alike.

Usage: ``python examples/rag_service/service.py --port 8321 --fault server_error=0.05``; nothing but the standard
library is needed (``--retrieval minilm`` needs hcat).
"""

import argparse
import hashlib
import json
import math
import os
import re
import socket
import struct
import sys
import threading
import time
import urllib.request
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Protocol

CHUNKS = Path(__file__).resolve().parents[2] / "demo" / "logs" / "chunks.jsonl"
REFUSAL = "I am sorry, but I cannot answer this: our documents do not contain that information."

#: Kinds of faults, in the order in which their shares are laid on the hash.
FAULTS = (
    "too_many_requests",  # 429 with Retry-After
    "server_error",  # 500
    "slow",  # the answer comes after --slow-seconds
    "truncated",  # 200, and the JSON ends in the middle
    "wrong_types",  # 200, and the answer is a list, the contexts are a text
    "missing_answer",  # 200, and the answer's field is not there
    "reset",  # the connection is reset before any reply
)

MAXIMUM_REQUEST_BYTES = 1 << 20
_WORD = re.compile(r"\w+")
_SENTENCE_BORDER = re.compile(r"(?<=[.!?])\s+")


@dataclass(frozen=True)
class Chunk:
    """A passage of the knowledge base."""

    chunk_id: str
    text: str


@dataclass(frozen=True)
class Hit:
    """A chunk that was found; confidence lies in 0 to 1 and is compared with the retriever's cut-off."""

    chunk: Chunk
    score: float
    confidence: float


class Retriever(Protocol):
    """Finds chunks."""

    cut_off: float

    def search(self, question: str, top: int) -> list[Hit]:
        """Return the ``top`` best chunks, best first."""


class BM25:
    """Okapi BM25 (Robertson and Zaragoza 2009), k1 = 1.2, b = 0.75.

    The confidence is the share of the question's words, weighted by their rarity, that the chunk holds.
    """

    cut_off = 0.25

    def __init__(self, chunks: Sequence[Chunk]) -> None:
        self._chunks = chunks
        self._counts = [Counter(split_words(chunk.text)) for chunk in chunks]
        lengths = [sum(counts.values()) for counts in self._counts]
        mean = sum(lengths) / len(lengths)
        self._norms = [1.2 * (0.25 + 0.75 * length / mean) for length in lengths]
        self._documents_with = Counter(word for counts in self._counts for word in counts)

    def weigh(self, word: str) -> float:
        """Return the rarity of a word."""
        count = self._documents_with[word]
        return math.log(1 + (len(self._chunks) - count + 0.5) / (count + 0.5))

    def search(self, question: str, top: int) -> list[Hit]:
        """Return the ``top`` best chunks, best first; ties keep the order of the file."""
        words = sorted(set(split_words(question)))
        whole = sum(map(self.weigh, words)) or 1.0
        hits = []
        for chunk, counts, norm in zip(self._chunks, self._counts, self._norms, strict=True):
            found = [word for word in words if counts[word]]
            score = sum(self.weigh(word) * counts[word] * 2.2 / (counts[word] + norm) for word in found)
            hits.append(Hit(chunk, round(score, 6), sum(map(self.weigh, found)) / whole))
        return sorted(hits, key=lambda hit: -hit.score)[:top]


class MiniLM:
    """Cosine between embeddings of the packaged all-MiniLM-L6-v2, which is also the confidence."""

    cut_off = 0.35

    def __init__(self, chunks: Sequence[Chunk]) -> None:
        from hcat.encoders.embedding import embed_texts, resolve_encoder

        self._chunks = chunks
        self._embed = embed_texts(resolve_encoder("packaged", "", "cpu", "auto"), batch_tokens=0)
        self._lock = threading.Lock()
        self._vectors = self._embed([chunk.text for chunk in chunks])

    def search(self, question: str, top: int) -> list[Hit]:
        """Return the ``top`` best chunks, best first; ties keep the order of the file."""
        with self._lock:
            similarities = self._vectors @ self._embed([question])[0]
        hits = [
            Hit(chunk, round(float(value), 6), float(value))
            for chunk, value in zip(self._chunks, similarities, strict=True)
        ]
        return sorted(hits, key=lambda hit: -hit.score)[:top]


RETRIEVERS: Mapping[str, Callable[[Sequence[Chunk]], Retriever]] = {"bm25": BM25, "minilm": MiniLM}


def split_words(text: str) -> list[str]:
    """Return the words of a text in lower case."""
    return _WORD.findall(text.casefold())


def read_chunks(path: Path = CHUNKS) -> list[Chunk]:
    """Return the chunks of a JSON Lines file."""
    records = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return [Chunk(record["chunk_id"], record["text"]) for record in records]


def answer_by_rule(question: str, hits: Sequence[Hit], cut_off: float) -> str | None:
    """Return the two sentences of the two best chunks that share most words with the question.

    None where the best chunk is below the cut-off: then the service declines.
    """
    if not hits or hits[0].confidence < cut_off:
        return None
    asked = set(split_words(question))
    sentences = [sentence for hit in hits[:2] for sentence in _SENTENCE_BORDER.split(hit.chunk.text)]
    shares = [len(asked & set(split_words(sentence))) for sentence in sentences]
    best = sorted(range(len(sentences)), key=lambda place: (-shares[place], place))[:2]
    return " ".join(sentences[place] for place in sorted(best))


@dataclass(frozen=True)
class LanguageModel:
    """A model behind an OpenAI-compatible endpoint (``<url>/chat/completions``)."""

    url: str
    model: str
    key: str = field(default="", repr=False)
    timeout_seconds: float = 60.0

    def answer(self, question: str, hits: Sequence[Hit]) -> str:
        """Return the model's answer from the chunks that were found."""
        contexts = "\n\n".join(hit.chunk.text for hit in hits)
        messages = [
            {
                "role": "system",
                "content": f"Answer from this context only. If it does not hold the answer, say so.\n\n{contexts}",
            },
            {"role": "user", "content": question},
        ]
        request = urllib.request.Request(
            f"{self.url.rstrip('/')}/chat/completions",
            data=json.dumps({"model": self.model, "messages": messages, "temperature": 0}).encode(),
            headers={"Content-Type": "application/json"}
            | ({"Authorization": f"Bearer {self.key}"} if self.key else {}),
        )
        with urllib.request.urlopen(request, timeout=self.timeout_seconds) as response:
            return str(json.load(response)["choices"][0]["message"]["content"])


@dataclass
class Faults:
    """What goes wrong, and how often.

    Parameters
    ----------
    shares : mapping of str to float
        Kind of :data:`FAULTS` -> share of the requests; together at most 1.
    faulty_attempts : int
        Attempts of a question that may fail; every later one is answered.
    retry_after : str
        What the header of a 429 says: seconds or an HTTP date.
    slow_seconds : float
        How long a slow answer takes.
    """

    shares: Mapping[str, float] = field(default_factory=dict)
    faulty_attempts: int = 3
    retry_after: str = "1"
    slow_seconds: float = 5.0

    def choose(self, question: str, sample: int, attempt: int) -> str | None:
        """Return the fault of an attempt (from 1), or None: always the same for the same attempt."""
        if attempt > self.faulty_attempts:
            return None
        key = json.dumps([question, sample, attempt]).encode()
        drawn = int.from_bytes(hashlib.sha256(key).digest()[:6], "big") / 2**48
        for kind in FAULTS:
            drawn -= self.shares.get(kind, 0.0)
            if drawn < 0:
                return kind
        return None


class Service(ThreadingHTTPServer):
    """The service; ``received`` keeps (question, sample, fault) of every request in the order of arrival."""

    daemon_threads = True
    # the standard library's 5 would reset connections of a client that opens many at once
    request_queue_size = 128

    def __init__(
        self,
        address: tuple[str, int],
        retriever: Retriever,
        *,
        faults: Faults | None = None,
        token: str = "",
        language_model: LanguageModel | None = None,
    ) -> None:
        super().__init__(address, Handler)
        self.retriever, self.faults, self.token = retriever, faults or Faults(), token
        self.language_model = language_model
        self.received: list[tuple[str, int, str | None]] = []
        self._attempts: Counter[tuple[str, int]] = Counter()
        self._lock = threading.Lock()

    def receive(self, question: str, sample: int) -> str | None:
        """Note a request and return the fault that it gets."""
        with self._lock:
            self._attempts[question, sample] += 1
            fault = self.faults.choose(question, sample, self._attempts[question, sample])
            self.received.append((question, sample, fault))
        return fault

    def answer(self, question: str, top: int) -> dict[str, Any]:
        """Return the reply to a question."""
        hits = self.retriever.search(question, top)
        answer = answer_by_rule(question, hits, self.retriever.cut_off)
        if answer is not None and self.language_model is not None:
            answer = self.language_model.answer(question, hits)
        return {
            "answer": REFUSAL if answer is None else answer,
            "refused": answer is None,
            "contexts": [{"chunk_id": hit.chunk.chunk_id, "text": hit.chunk.text, "score": hit.score} for hit in hits],
        }

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of clients that hang up; that is theirs to do."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class Handler(BaseHTTPRequestHandler):
    """``POST /ask`` with ``{"question": text, "sample": integer, "top": integer}``; ``GET /health``."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: Service

    def do_GET(self) -> None:
        """Answer a look whether the service is there."""
        if self.path == "/health":
            self._reply(200, {"status": "ok"})
        else:
            self._reply(404, {"error": "there is POST /ask and GET /health"})

    def do_POST(self) -> None:
        """Answer a question, or fail on request."""
        length = int(self.headers.get("Content-Length", "0"))
        if length > MAXIMUM_REQUEST_BYTES:
            self.close_connection = True
            self._reply(413, {"error": "the request is too long"})
            return
        body = self.rfile.read(length)
        if self.server.token and self.headers.get("Authorization") != f"Bearer {self.server.token}":
            self._reply(401, {"error": "the bearer token is missing or wrong"})
            return
        try:
            request = json.loads(body)
            question, sample, top = request["question"], int(request.get("sample", 0)), int(request.get("top", 4))
            if not isinstance(question, str) or not question.strip():
                raise ValueError("question must be a text")
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            self._reply(400, {"error": f"the request cannot be read: {error}"})
            return
        fault = self.server.receive(question, sample)
        if fault == "too_many_requests":
            self._reply(429, {"error": "too many requests"}, {"Retry-After": self.server.faults.retry_after})
        elif fault == "server_error":
            self._reply(500, {"error": "out of order"})
        elif fault == "reset":
            self._reset()
        else:
            if fault == "slow":
                time.sleep(self.server.faults.slow_seconds)
            self._answer(question, top, fault)

    def _answer(self, question: str, top: int, fault: str | None) -> None:
        try:
            reply = self.server.answer(question, top)
        except (OSError, ValueError, LookupError) as error:
            self._reply(502, {"error": f"the language model does not answer: {type(error).__name__}"})
            return
        if fault == "wrong_types":
            reply |= {"answer": [reply["answer"]], "contexts": "none"}
        elif fault == "missing_answer":
            del reply["answer"]
        content = json.dumps(reply, ensure_ascii=False).encode()
        self._send(200, content[: len(content) // 2] if fault == "truncated" else content, {})

    def _reply(self, status: int, reply: Mapping[str, Any], headers: Mapping[str, str] | None = None) -> None:
        self._send(status, json.dumps(reply).encode(), headers or {})

    def _send(self, status: int, content: bytes, headers: Mapping[str, str]) -> None:
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", "Content-Length": str(len(content)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def _reset(self) -> None:
        # linger 0: closing sends a reset instead of an orderly end
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        os.close(self.connection.detach())
        self.close_connection = True

    def log_message(self, format: str, *arguments: Any) -> None:
        """Keep still: the questions of a test set are nobody's business here."""


def read_shares(texts: Sequence[str]) -> dict[str, float]:
    """Return the shares of ``kind=share`` texts.

    Raises
    ------
    ValueError
        If a kind is unknown, or the shares do not lie in 0 to 1 together.
    """
    shares: dict[str, float] = {}
    for text in texts:
        kind, _, share = text.partition("=")
        if kind not in FAULTS:
            raise ValueError(f"a fault must be one of {', '.join(FAULTS)}, got {kind}")
        shares[kind] = float(share)
    if any(share < 0 for share in shares.values()) or sum(shares.values()) > 1:
        raise ValueError(f"the shares of faults must lie in 0 to 1 together, got {sum(shares.values()):g}")
    return shares


def main() -> None:
    """Serve until Ctrl-C."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--port", type=int, default=8321)
    parser.add_argument("--chunks", type=Path, default=CHUNKS, help="JSON Lines with chunk_id and text")
    parser.add_argument("--retrieval", choices=sorted(RETRIEVERS), default="bm25")
    parser.add_argument("--fault", action="append", default=[], metavar="KIND=SHARE", help=", ".join(FAULTS))
    parser.add_argument("--faulty-attempts", type=int, default=Faults.faulty_attempts)
    parser.add_argument("--retry-after", default=Faults.retry_after)
    parser.add_argument("--slow-seconds", type=float, default=Faults.slow_seconds)
    arguments = parser.parse_args()
    try:
        shares = read_shares(arguments.fault)
    except ValueError as error:
        parser.error(str(error))
    url = os.environ.get("RAG_SERVICE_LLM_URL", "")
    model = os.environ.get("RAG_SERVICE_LLM_MODEL", "")
    service = Service(
        ("127.0.0.1", arguments.port),
        RETRIEVERS[arguments.retrieval](read_chunks(arguments.chunks)),
        faults=Faults(shares, arguments.faulty_attempts, arguments.retry_after, arguments.slow_seconds),
        token=os.environ.get("RAG_SERVICE_TOKEN", ""),
        language_model=LanguageModel(url, model, os.environ.get("RAG_SERVICE_LLM_KEY", "")) if url else None,
    )
    print(f"serving on http://127.0.0.1:{service.server_address[1]}/ask", flush=True)
    try:
        service.serve_forever()
    except KeyboardInterrupt:
        print(f"{len(service.received)} requests")


if __name__ == "__main__":
    main()

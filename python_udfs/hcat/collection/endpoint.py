"""The description of an endpoint: a small YAML file, checked strictly, with secrets only from the environment.

Every message names the file, the key, the expected value and the value found. Values of headers are never shown.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import yaml

from hcat.collection.paths import JsonPath, describe_type, parse_path
from hcat.engine.http import Limits, keeps_secrets
from hcat.engine.keys import hash_text

METHODS: Final = ("GET", "POST", "PUT")
PLACEHOLDERS: Final = (
    "query",
    "query_id",
    "sample_index",
    "interaction_id",
    "application",
    "application_version",
)
"""Names for ``{{...}}``; each stands for a whole value and never for a part of a text."""

HEADER_PLACEHOLDERS: Final = ("interaction_id",)
"""A header holds only ASCII, so only names whose values are always ASCII are allowed."""

_PLACEHOLDER = re.compile(r"\{\{\s*(\w+)\s*\}\}")
_VARIABLE = re.compile(r"\$\{([^}]*)\}")
_VARIABLE_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_HEADER_VALUE = re.compile(r"[\x20-\x7e]*")
_SECRET_NAME = re.compile(r"authorization|cookie|token|secret|password|credential|api[-_]?key|^key$", re.IGNORECASE)
# the transport sets these itself
_RESERVED_HEADERS = {"host", "content-length", "transfer-encoding", "connection"}
_SHOWN_CHARACTERS = 60


class EndpointError(ValueError):
    """The description of an endpoint is invalid; the message is one line."""


@dataclass(frozen=True, slots=True)
class Request:
    """The request for a query.

    Parameters
    ----------
    method : str
        One of :data:`METHODS`.
    shown_url, url : str
        URL as written, with ``${NAME}``, and with the values of the environment.
    shown_headers, headers : mapping of str to str
        Headers in both forms.
    shown_parameters, parameters : mapping of str to value
        Parameters of the query string in both forms.
    body : JSON value or None
        Template whose placeholders are whole values; with None, no body is sent.
    """

    method: str
    shown_url: str
    shown_headers: Mapping[str, str]
    shown_parameters: Mapping[str, Any]
    body: Any
    # with values of the environment: these hold secrets and must not be printed
    url: str = field(repr=False)
    headers: Mapping[str, str] = field(repr=False)
    parameters: Mapping[str, Any] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Refusal:
    """How the service marks a refusal, and which text is then the answer.

    Parameters
    ----------
    path : JsonPath
        Place of the mark; a reply without it is not a refusal.
    equals : bool, str or number
        Value of the mark in a refusal.
    answer : JsonPath or None
        Place of the text that the customer saw; None means the usual place of answers.
    text : str or None
        Text that the customer saw, if the reply does not hold it.
    """

    path: JsonPath
    equals: Any
    answer: JsonPath | None = None
    text: str | None = None


@dataclass(frozen=True, slots=True)
class Response:
    """Where a reply holds the columns of the raw contract; None means that it does not hold them.

    Parameters
    ----------
    answer : JsonPath
        Text of the answer.
    contexts, chunk_ids, scores : JsonPath or None
        Lists of equal length, in the order of retrieval.
    refusal : Refusal or None
        How a refusal is marked.
    error : JsonPath or None
        Place where the service reports an error.
    """

    answer: JsonPath
    contexts: JsonPath | None = None
    chunk_ids: JsonPath | None = None
    scores: JsonPath | None = None
    refusal: Refusal | None = None
    error: JsonPath | None = None


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A checked description.

    Parameters
    ----------
    application, application_version : str
        The application under test; both are written to every interaction.
    request, response, limits
        The sections of the file.
    endpoint_hash : str
        Hash of method, parameters, body and response. Answers with different hashes must not be mixed. URL, headers
        and limits are not part of it.
    secrets : tuple of str
        Values of the environment in headers and parameters; they are removed from everything that is written or shown.
    hidden : tuple of str
        Values of the environment in the URL; they are removed from messages. An answer may name its own host.
    """

    application: str
    application_version: str
    request: Request
    response: Response
    limits: Limits
    endpoint_hash: str
    secrets: tuple[str, ...] = field(repr=False)
    hidden: tuple[str, ...] = field(repr=False)


def read_endpoint(path: Path, environment: Mapping[str, str]) -> Endpoint:
    """Return the endpoint that a YAML file describes."""
    top = _Section(str(path), "", _load(path), environment)
    application = top.text("application")
    version = top.resolve("application_version", top.text("application_version"), "open")
    request = _read_request(top.section("request"))
    response = _read_response(top.section("response"))
    limits = _read_limits(top.section("limits", is_required=False))
    top.finish()
    definition = {
        "method": request.method,
        "parameters": request.shown_parameters,
        "body": request.body,
        "response": asdict(response),
    }
    return Endpoint(
        application,
        version,
        request,
        response,
        limits,
        hash_text(json.dumps(definition, sort_keys=True)),
        tuple(sorted(set(top.taken["secrets"]))),
        tuple(sorted(set(top.taken["hidden"]))),
    )


def fill(template: Any, values: Mapping[str, Any]) -> Any:
    """Return a template with each placeholder replaced by its value; placeholders inside values stay as they are."""
    if isinstance(template, str):
        match = _PLACEHOLDER.fullmatch(template)
        return values[match[1]] if match else template
    if isinstance(template, Mapping):
        return {key: fill(item, values) for key, item in template.items()}
    if isinstance(template, list):
        return [fill(item, values) for item in template]
    return template


def fill_resolved(shown: Mapping[str, Any], resolved: Mapping[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """Return headers or parameters to send, with placeholders filled."""
    return {
        name: fill(template, values)
        if isinstance(template, str) and _PLACEHOLDER.fullmatch(template)
        else resolved[name]
        for name, template in shown.items()
    }


# ---------------------------------------------------------------------------------------------------------------------
# Reading the file


def _load(path: Path) -> Any:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise EndpointError(f"{path} must be UTF-8, got other bytes at position {error.start}") from None
    try:
        _check_keys(yaml.compose(text, Loader=yaml.SafeLoader), set())
        return yaml.safe_load(text)
    except yaml.MarkedYAMLError as error:
        line = f", line {error.problem_mark.line + 1}" if error.problem_mark else ""
        raise EndpointError(f"{path}{line}: {error.problem}") from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise EndpointError(f"{path} must be YAML, got: {_show(error)}") from None


def _check_keys(node: Any, seen: set[int]) -> None:
    """Raise an error for a repeated key, of which YAML would take the last, and for a placeholder without quotes."""
    if id(node) in seen or not isinstance(node, yaml.CollectionNode):
        return
    seen.add(id(node))
    if isinstance(node, yaml.SequenceNode):
        for item in node.value:
            _check_keys(item, seen)
        return
    keys: set[str] = set()
    for key, item in node.value:
        problem = None
        if not isinstance(key, yaml.ScalarNode):
            problem = 'a key must be a text; a placeholder needs quotes: "{{query}}"'
        elif key.value in keys:
            problem = f"the key {_show(key.value)} stands here twice"
        if problem:
            raise yaml.MarkedYAMLError(problem=problem, problem_mark=key.start_mark)
        keys.add(key.value)
        _check_keys(item, seen)


class _Section:
    """One mapping of the file, with its place in the file and the keys that were read so far."""

    def __init__(
        self,
        file: str,
        key: str,
        mapping: Any,
        environment: Mapping[str, str],
        taken: dict[str, list[str]] | None = None,
    ) -> None:
        self.file, self.key, self.environment = file, key, environment
        # values taken from the environment, shared by all sections
        self.taken = {"secrets": [], "hidden": [], "open": []} if taken is None else taken
        if not isinstance(mapping, dict):
            raise EndpointError(f"{self._name()} must be keys with values, got {_found(mapping)}")
        self.mapping = mapping
        self.known: list[str] = []

    def _name(self, key: str | None = None) -> str:
        parts = [part for part in (self.key, key) if part]
        return f"{self.file}: {'.'.join(parts)}" if parts else self.file

    def fail(self, key: str, expected: str, found: str) -> EndpointError:
        """Return the error for a key."""
        return EndpointError(f"{self._name(key)} must be {expected}, got {found}")

    def has(self, key: str) -> bool:
        """Return whether the key has a value."""
        self.known.append(key)
        return self.mapping.get(key) is not None

    def section(self, key: str, *, is_required: bool = True) -> _Section:
        """Return the section of a key; an empty one if it is optional and missing."""
        if not self.has(key):
            if is_required:
                raise self.fail(key, "given", "nothing")
            return _Section(self.file, f"{self.key}.{key}".strip("."), {}, self.environment, self.taken)
        name = f"{self.key}.{key}".strip(".")
        return _Section(self.file, name, self.mapping[key], self.environment, self.taken)

    def text(self, key: str) -> str:
        """Return a required text."""
        if not self.has(key):
            raise self.fail(key, "given", "nothing")
        value = self.mapping[key]
        if not isinstance(value, str) or not value.strip():
            raise self.fail(key, "a text" if isinstance(value, str) else "a text in quotes", _found(value))
        return value

    def resolve(self, key: str, text: str, kind: str) -> str:
        """Return a text with each ``${NAME}`` replaced by its value in the environment."""

        def look_up(match: re.Match[str]) -> str:
            name = match[1]
            if not _VARIABLE_NAME.fullmatch(name):
                raise self.fail(key, "a text with ${NAME} of an environment variable", f"${{{_show(name)}}}")
            value = self.environment.get(name, "")
            if not value:
                raise EndpointError(f"{self._name(key)} needs the environment variable {name}, which is not set")
            self.taken[kind].append(value)
            return value

        return _VARIABLE.sub(look_up, text)

    def number(self, key: str, default: float, low: float, high: float) -> float:
        """Return a number in [low, high]."""
        if not self.has(key):
            return default
        value = self.mapping[key]
        expected = f"a number from {low:g} to {high:g}"
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            raise self.fail(key, expected, _found(value))
        if not low <= value <= high:
            raise self.fail(key, expected, str(value))
        return float(value)

    def integer(self, key: str, default: int, low: int, high: int) -> int:
        """Return an integer in [low, high]."""
        if self.has(key) and not (type(self.mapping[key]) is int and low <= self.mapping[key] <= high):
            raise self.fail(key, f"an integer from {low} to {high}", _found(self.mapping[key]))
        return int(self.mapping[key]) if self.has(key) else default

    def path(self, key: str, *, is_list: bool) -> JsonPath | None:
        """Return the JSON path of a key; None if the key is missing."""
        if not self.has(key):
            return None
        value = self.mapping[key]
        expected = f"a JSON path such as {'$.contexts[*].text' if is_list else '$.answer'}"
        if not isinstance(value, str):
            raise self.fail(key, expected, _found(value))
        try:
            path = parse_path(value)
        except ValueError as error:
            raise self.fail(key, expected, f"{_found(value)}: {error}") from None
        if path.is_list != is_list:
            raise self.fail(key, f"{expected}, {'with' if is_list else 'without'} [*]", _found(value))
        return path

    def finish(self) -> None:
        """Raise an error for keys that were never read, because they are unknown."""
        for key in self.mapping:
            if key not in self.known:
                known = ", ".join(dict.fromkeys(self.known))
                raise EndpointError(f"{self._name()} must hold only {known}, got the key {_show(key)}")


def _read_request(section: _Section) -> Request:
    method = section.text("method")
    if method not in METHODS:
        raise section.fail("method", f"one of {', '.join(METHODS)}", _found(method))
    shown_url = section.text("url")
    url = _check_url(section, shown_url)
    shown_headers, headers = _read_headers(section.section("headers", is_required=False))
    shown_parameters, parameters = _read_parameters(section.section("parameters", is_required=False))
    body = section.mapping["body"] if section.has("body") else None
    if method == "GET" and body is not None:
        raise section.fail("body", "left out with the method GET", _found(body))
    _check_template(section, "body", body, PLACEHOLDERS, is_body=True)
    section.finish()
    secret = _find_secret(shown_url, {"headers": shown_headers, "parameters": shown_parameters})
    if secret and not keeps_secrets(url):
        raise EndpointError(
            f"{section.file}: request.url is http, and {secret} could be read on the way: use https (http works to this"
            " machine only)"
        )
    named = _placeholders(body) | _placeholders(shown_parameters)
    if "query" not in named:
        raise EndpointError(
            f"{section.file}: request.body or request.parameters must hold {{{{query}}}}, "
            f"got {_list_placeholders(named) or 'no placeholder'}"
        )
    return Request(method, shown_url, shown_headers, shown_parameters, body, url, headers, parameters)


def _check_url(section: _Section, shown: str) -> str:
    if "{{" in shown:
        raise section.fail("url", "without placeholders, which belong in body or parameters", _found(shown))
    if "?" in shown or "#" in shown:
        raise section.fail("url", "without a query string, which belongs in request.parameters", _found(shown))
    url = section.resolve("url", shown, "hidden")
    # the URL as written, without values of the environment
    found = _found(shown)
    try:
        parts = urlsplit(url)
        has_host, _ = bool(parts.hostname), parts.port
    except ValueError:
        has_host, parts = False, urlsplit("")
    if parts.scheme not in ("http", "https") or not has_host or not _HEADER_VALUE.fullmatch(url) or " " in url:
        raise section.fail("url", "an http or https URL with a host", found)
    if parts.username is not None or parts.password is not None:
        raise section.fail("url", "without user and password, which belong in a header", "a URL with them")
    return url


def _find_secret(shown_url: str, values: Mapping[str, Mapping[str, Any]]) -> str | None:
    """Return where the request holds a value of the environment, other than in the name of its host; None if
    nowhere."""
    path = shown_url.partition("://")[2] or shown_url
    if _VARIABLE.search(path.partition("/")[2]):
        return "the path of the URL"
    named = ((place, name, value) for place, section in values.items() for name, value in section.items())
    return next((f"{place}.{name}" for place, name, value in named if _VARIABLE.search(str(value))), None)


def _read_headers(section: _Section) -> tuple[dict[str, str], dict[str, str]]:
    shown: dict[str, str] = {}
    resolved: dict[str, str] = {}
    for name in section.mapping:
        if not isinstance(name, str) or not _HEADER_NAME.fullmatch(name):
            raise EndpointError(f"{section._name()} must hold names of headers, got {_show(name)}")
        if name.lower() in _RESERVED_HEADERS:
            raise section.fail(name, "left to the transport", "a value")
        if name.lower() in {known.lower() for known in shown}:
            raise section.fail(name, "given once", "two spellings of it")
        value = section.mapping[name]
        if not isinstance(value, str):
            raise section.fail(name, "a text", describe_type(value))
        _check_template(section, name, value, HEADER_PLACEHOLDERS, is_hidden=True)
        _require_variable(section, name, value)
        resolved[name] = section.resolve(name, value, "secrets")
        if not _HEADER_VALUE.fullmatch(resolved[name]) or resolved[name] != resolved[name].strip():
            raise section.fail(name, "printable ASCII without blanks at its ends", "something else (not shown)")
        shown[name] = value
    return shown, resolved


def _read_parameters(section: _Section) -> tuple[dict[str, Any], dict[str, Any]]:
    shown: dict[str, Any] = {}
    resolved: dict[str, Any] = {}
    for name, value in section.mapping.items():
        if not isinstance(name, str):
            raise EndpointError(f"{section._name()} must hold names of parameters, got {_show(name)}")
        if not isinstance(value, str | int | float) or (isinstance(value, float) and not math.isfinite(value)):
            raise section.fail(name, "a text, a number, true or false", describe_type(value))
        shown[name] = resolved[name] = value
        if isinstance(value, str):
            _check_template(section, name, value, PLACEHOLDERS)
            _require_variable(section, name, value)
            resolved[name] = section.resolve(name, value, "secrets")
    return shown, resolved


def _require_variable(section: _Section, name: str, value: str) -> None:
    if _SECRET_NAME.search(name) and not (_VARIABLE.search(value) or _PLACEHOLDER.fullmatch(value)):
        raise section.fail(name, "taken from the environment with ${NAME}", "a literal value (not shown)")


def _check_template(
    section: _Section,
    key: str,
    template: Any,
    allowed: Sequence[str],
    *,
    is_body: bool = False,
    is_hidden: bool = False,
) -> None:
    """Raise an error for texts that only look like a placeholder, and for secrets in a body."""
    if isinstance(template, Mapping):
        for name, item in template.items():
            if not isinstance(name, str) or "{{" in name:
                raise section.fail(key, "an object whose keys are plain texts", f"the key {_show(name)}")
            _check_template(section, f"{key}.{name}", item, allowed, is_body=is_body)
    elif isinstance(template, list):
        for number, item in enumerate(template):
            _check_template(section, f"{key}[{number}]", item, allowed, is_body=is_body)
    elif isinstance(template, str):
        found = "something else (not shown)" if is_hidden else _found(template)
        match = _PLACEHOLDER.fullmatch(template)
        if match and match[1] not in allowed:
            raise section.fail(key, f"one of the placeholders {_list_placeholders(allowed)}", found)
        if not match and "{{" in template:
            raise section.fail(key, "one placeholder and nothing else, or a text without {{", found)
        if is_body and _VARIABLE.search(template):
            raise section.fail(key, "without ${...}: values of the environment belong in request.headers", found)
    elif isinstance(template, float) and not math.isfinite(template):
        raise section.fail(key, "a JSON value", str(template))
    elif template is not None and not isinstance(template, bool | int | float):
        # a YAML date or binary value
        raise section.fail(key, "a JSON value; a date needs quotes", type(template).__name__)


def _read_response(section: _Section) -> Response:
    answer = section.path("answer", is_list=False)
    if answer is None:
        raise section.fail("answer", "a JSON path such as $.answer", "nothing")
    contexts = section.path("contexts", is_list=True)
    chunk_ids = section.path("chunk_ids", is_list=True)
    scores = section.path("scores", is_list=True)
    if scores and not (contexts or chunk_ids):
        raise section.fail("scores", "given with contexts or chunk_ids", "without them")
    refusal = _read_refusal(section.section("refusal")) if section.has("refusal") else None
    error = section.path("error", is_list=False)
    section.finish()
    return Response(answer, contexts, chunk_ids, scores, refusal, error)


def _read_refusal(section: _Section) -> Refusal:
    path = section.path("path", is_list=False)
    if path is None:
        raise section.fail("path", "a JSON path such as $.refused", "nothing")
    equals = section.mapping["equals"] if section.has("equals") else True
    if not isinstance(equals, bool | int | float | str):
        raise section.fail("equals", "true, false, a number or a text", _found(equals))
    answer = section.path("answer", is_list=False)
    text = section.text("text") if section.has("text") else None
    if answer and text:
        raise section.fail("text", "left out where refusal.answer is given", "both")
    section.finish()
    return Refusal(path, equals, answer, text)


def _read_limits(section: _Section) -> Limits:
    default = Limits()
    limits = Limits(
        concurrency=section.integer("concurrency", default.concurrency, 1, 256),
        timeout_seconds=section.number("timeout_seconds", default.timeout_seconds, 0.01, 3600),
        attempts=section.integer("attempts", default.attempts, 1, 20),
        backoff_seconds=section.number("backoff_seconds", default.backoff_seconds, 0, 3600),
        backoff_maximum_seconds=section.number("backoff_maximum_seconds", default.backoff_maximum_seconds, 0, 3600),
        retry_after_maximum_seconds=section.number(
            "retry_after_maximum_seconds", default.retry_after_maximum_seconds, 0, 86_400
        ),
        requests_per_second=(
            section.number("requests_per_second", 0.0, 0.001, 10_000) if section.has("requests_per_second") else None
        ),
        stop_after_failures=section.integer("stop_after_failures", default.stop_after_failures, 1, 1_000_000_000),
    )
    section.finish()
    return limits


def _placeholders(template: Any) -> set[str]:
    if isinstance(template, str):
        match = _PLACEHOLDER.fullmatch(template)
        return {match[1]} if match else set()
    items = template.values() if isinstance(template, Mapping) else template if isinstance(template, list) else ()
    return {name for item in items for name in _placeholders(item)}


def _list_placeholders(names: Sequence[str] | set[str]) -> str:
    return ", ".join(f"{{{{{name}}}}}" for name in sorted(names))


def _show(value: object) -> str:
    """Return a value of the file on one line, shortened to :data:`_SHOWN_CHARACTERS` characters."""
    text = " ".join(str(value).split())
    return text if len(text) <= _SHOWN_CHARACTERS else text[:_SHOWN_CHARACTERS] + "…"


def _found(value: Any) -> str:
    if isinstance(value, str):
        return f"'{_show(value)}'" if value.strip() else "an empty text"
    if isinstance(value, bool):
        return f"the value {str(value).lower()}"
    if isinstance(value, int | float):
        return f"the number {value}"
    return describe_type(value)

"""The description of an endpoint: a small YAML file, checked strictly, with secrets only from the environment."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Final, Literal, NoReturn
from urllib.parse import urlsplit

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field, ValidationError, model_validator
from pydantic_core import ErrorDetails

from hcat.collection.paths import JsonPath, describe_type, parse_path
from hcat.engine.http import Limits, keeps_secrets
from hcat.engine.keys import hash_text
from hcat.engine.yaml_files import Part, load_yaml, show_value

PLACEHOLDERS: Final = ("query", "query_id", "sample_index", "interaction_id", "application", "application_version")
"""Names for ``{{...}}``; each stands for a whole value and never for a part of a text."""

_PLACEHOLDER = re.compile(r"\{\{\s*(\w+)\s*\}\}")
_VARIABLE = re.compile(r"\$\{([^}]*)\}")
_VARIABLE_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_HEADER_VALUE = re.compile(r"[\x20-\x7e]*")
_SECRET_NAME = re.compile(r"authorization|cookie|token|secret|password|credential|api[-_]?key|^key$", re.IGNORECASE)
# the transport sets these itself
_RESERVED_HEADERS = {"host", "content-length", "transfer-encoding", "connection"}
_HIDDEN: Final = "something else (not shown)"


class _KeyError(ValueError):
    """What is wrong at a key below the one that is checked."""

    def __init__(self, says: str, key: str = "") -> None:
        super().__init__(says)
        self.key = key


def _fail(expected: str, found: str, key: str = "") -> NoReturn:
    raise _KeyError(f"must be {expected}, got {found}", key)


# The shape of the file. The description of a field says what is expected of its type


class _Section(Part):
    """Some keys of the file; a number is no text here."""

    model_config = ConfigDict(coerce_numbers_to_str=False, strict=True)


def _check_text(text: str) -> str:
    return text if text.strip() else _fail("a text", "an empty text")


def _check_written_url(url: str) -> str:
    if "{{" in url:
        _fail("without placeholders, which belong in body or parameters", _found(url))
    if "?" in url or "#" in url:
        _fail("without a query string, which belongs in request.parameters", _found(url))
    return url


def _check_path(value: Any, *, is_list: bool) -> JsonPath:
    expected = f"a JSON path such as {'$.contexts[*].text' if is_list else '$.answer'}"
    if not isinstance(value, str):
        _fail(expected, _found(value))
    try:
        path = parse_path(value)
    except ValueError as error:
        _fail(expected, f"{_found(value)}: {error}")
    if path.is_list != is_list:
        _fail(f"{expected}, {'with' if is_list else 'without'} [*]", _found(value))
    return path


def _check_headers(headers: dict[Any, Any]) -> dict[str, str]:
    known: set[str] = set()
    for name, value in headers.items():
        if not isinstance(name, str) or not _HEADER_NAME.fullmatch(name):
            raise _KeyError(f"must hold names of headers, got {show_value(name)}")
        if name.lower() in _RESERVED_HEADERS:
            _fail("left to the transport", "a value", name)
        if name.lower() in known:
            _fail("given once", "two spellings of it", name)
        known.add(name.lower())
        if not isinstance(value, str):
            _fail("a text", describe_type(value), name)
        # a header holds only ASCII, as this value always is
        _check_template(value, ("interaction_id",), name, is_hidden=True)
        _require_variable(name, value)
    return headers


def _check_parameters(parameters: dict[Any, Any]) -> dict[str, Any]:
    for name, value in parameters.items():
        if not isinstance(name, str):
            raise _KeyError(f"must hold names of parameters, got {show_value(name)}")
        if not isinstance(value, str | int | float) or (isinstance(value, float) and not math.isfinite(value)):
            _fail("a text, a number, true or false", describe_type(value), name)
        if isinstance(value, str):
            _check_template(value, PLACEHOLDERS, name)
            _require_variable(name, value)
    return parameters


def _require_variable(name: str, value: str) -> None:
    if _SECRET_NAME.search(name) and not (_VARIABLE.search(value) or _PLACEHOLDER.fullmatch(value)):
        _fail("taken from the environment with ${NAME}", "a literal value (not shown)", name)


def _check_template(
    template: Any, allowed: Collection[str], key: str = "", *, is_body: bool = False, is_hidden: bool = False
) -> Any:
    """Return a template; refuse texts that only look like a placeholder, and secrets in a body."""
    if isinstance(template, Mapping):
        for name, item in template.items():
            if not isinstance(name, str) or "{{" in name:
                _fail("an object whose keys are plain texts", f"the key {show_value(name)}", key)
            _check_template(item, allowed, f"{key}.{name}".strip("."), is_body=is_body)
    elif isinstance(template, list):
        for number, item in enumerate(template):
            _check_template(item, allowed, f"{key}[{number}]", is_body=is_body)
    elif isinstance(template, str):
        found = _HIDDEN if is_hidden else _found(template)
        match = _PLACEHOLDER.fullmatch(template)
        if match and match[1] not in allowed:
            _fail(f"one of the placeholders {_list_placeholders(allowed)}", found, key)
        if not match and "{{" in template:
            _fail("one placeholder and nothing else, or a text without {{", found, key)
        if is_body and _VARIABLE.search(template):
            _fail("without ${...}: values of the environment belong in request.headers", found, key)
    elif isinstance(template, float) and not math.isfinite(template):
        _fail("a JSON value", str(template), key)
    elif template is not None and not isinstance(template, bool | int | float):
        # a YAML date or binary value
        _fail("a JSON value; a date needs quotes", type(template).__name__, key)
    return template


def _check_mark(value: Any) -> Any:
    is_mark = isinstance(value, bool | int | float | str)
    return value if is_mark else _fail("true, false, a number or a text", _found(value))


_Text = Annotated[str, AfterValidator(_check_text)]
_Place = Annotated[JsonPath, BeforeValidator(partial(_check_path, is_list=False))]
_Places = Annotated[JsonPath, BeforeValidator(partial(_check_path, is_list=True))]


class Request(_Section):
    """The request for a query, as written: ``${NAME}`` and placeholders stand as they are."""

    method: Literal["GET", "POST", "PUT"] = Field(description="one of GET, POST, PUT")
    url: Annotated[_Text, AfterValidator(_check_written_url)] = Field(description="a text in quotes")
    headers: Annotated[dict[Any, Any], AfterValidator(_check_headers)] = Field({})
    parameters: Annotated[dict[Any, Any], AfterValidator(_check_parameters)] = Field({})
    #: Its placeholders are whole values; with None, no body is sent.
    body: Annotated[Any, AfterValidator(partial(_check_template, allowed=PLACEHOLDERS, is_body=True))] = None

    @model_validator(mode="after")
    def _get_without_body(self) -> Request:
        if self.method == "GET" and self.body is not None:
            _fail("left out with the method GET", _found(self.body), "body")
        return self


class Refusal(_Section):
    """How the service marks a refusal, and which text is then the answer."""

    #: A reply without this place is not a refusal.
    path: _Place
    equals: Annotated[Any, AfterValidator(_check_mark)] = True
    #: Place of the text that the customer saw, where it is not the usual one, or that text.
    answer: _Place | None = None
    text: _Text | None = Field(None, description="a text in quotes")

    @model_validator(mode="after")
    def _have_one_text(self) -> Refusal:
        return _fail("left out where refusal.answer is given", "both", "text") if self.answer and self.text else self


class Response(_Section):
    """Where a reply holds the columns of the raw contract; None means that it does not hold them."""

    answer: _Place
    #: Lists of equal length, in the order of retrieval.
    contexts: _Places | None = None
    chunk_ids: _Places | None = None
    scores: _Places | None = None
    refusal: Refusal | None = None
    #: Place where the service reports an error.
    error: _Place | None = None

    @model_validator(mode="after")
    def _score_something(self) -> Response:
        if self.scores and not (self.contexts or self.chunk_ids):
            _fail("given with contexts or chunk_ids", "without them", "scores")
        return self


_DEFAULT: Final = Limits()


def _count(default: int, low: int, high: int) -> Any:
    return Field(default, ge=low, le=high, description=f"an integer from {low} to {high}")


def _amount(default: float | None, low: float, high: float) -> Any:
    return Field(default, ge=low, le=high, allow_inf_nan=False, description=f"a number from {low:g} to {high:g}")


class _Limits(_Section):
    concurrency: int = _count(_DEFAULT.concurrency, 1, 256)
    timeout_seconds: float = _amount(_DEFAULT.timeout_seconds, 0.01, 3600)
    attempts: int = _count(_DEFAULT.attempts, 1, 20)
    backoff_seconds: float = _amount(_DEFAULT.backoff_seconds, 0, 3600)
    backoff_maximum_seconds: float = _amount(_DEFAULT.backoff_maximum_seconds, 0, 3600)
    retry_after_maximum_seconds: float = _amount(_DEFAULT.retry_after_maximum_seconds, 0, 86_400)
    requests_per_second: float | None = _amount(_DEFAULT.requests_per_second, 0.001, 10_000)
    stop_after_failures: int = _count(_DEFAULT.stop_after_failures, 1, 1_000_000_000)


class _File(_Section):
    application: _Text = Field(description="a text in quotes")
    application_version: _Text = Field(description="a text in quotes")
    request: Request
    response: Response
    limits: _Limits = _Limits()


#: Place in the file -> its keys.
_SECTIONS: Final[dict[tuple[Any, ...], type[_Section]]] = {
    (): _File,
    ("request",): Request,
    ("response",): Response,
    ("response", "refusal"): Refusal,
    ("limits",): _Limits,
}

# The file with the values of the environment


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A checked description."""

    application: str
    application_version: str
    request: Request
    response: Response
    limits: Limits
    #: Of method, parameters, body and response: answers with different hashes must not be mixed.
    endpoint_hash: str
    # those of the request with the values of the environment: they hold secrets and must not be printed
    url: str = field(repr=False)
    headers: Mapping[str, str] = field(repr=False)
    parameters: Mapping[str, Any] = field(repr=False)
    #: Values of the environment in headers and parameters; they are removed from everything that is written or shown.
    secrets: tuple[str, ...] = field(repr=False)
    #: Values of the environment in the URL; they are removed from messages. An answer may name its own host.
    hidden: tuple[str, ...] = field(repr=False)


def read_endpoint(path: Path, environment: Mapping[str, str]) -> Endpoint:
    """Return the endpoint that a YAML file describes."""
    loaded = load_yaml(path)
    try:
        return _resolve(_File.model_validate(loaded), environment)
    except ValidationError as error:
        raise ValueError(_explain(path, error.errors(include_url=False)[0])) from None
    except _KeyError as error:
        raise ValueError(f"{path}: {f'{error.key} ' if error.key else ''}{error}") from None


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


def _explain(path: Path, error: ErrorDetails) -> str:
    """Return an error of pydantic as one line."""
    location = error["loc"]
    cause = error.get("ctx", {}).get("error")
    if isinstance(cause, ValueError):
        location, says = (*location, *filter(None, [getattr(cause, "key", "")])), str(cause)
    elif error["type"] == "missing":
        says = "must be given, got nothing"
    else:
        expected = _SECTIONS[location[:-1]].model_fields[str(location[-1])].description if location else None
        says = f"must be {expected or 'keys with values'}, got {_found(error['input'])}"
    place = ".".join(map(str, location)).replace(".[", "[")
    return f"{path}: {place} {says}" if place else f"{path} {says}"


def _resolve(file: _File, environment: Mapping[str, str]) -> Endpoint:
    """Return the endpoint with the values of the environment, checked again with them."""
    request, secrets, hidden = file.request, set[str](), set[str]()

    def look_up(text: str, key: str, taken: set[str]) -> str:
        for name in _VARIABLE.findall(text):
            if not _VARIABLE_NAME.fullmatch(name):
                _fail("a text with ${NAME} of an environment variable", f"${{{show_value(name)}}}", key)
            if not environment.get(name):
                raise _KeyError(f"needs the environment variable {name}, which is not set", key)
            taken.add(environment[name])
        return _VARIABLE.sub(lambda match: environment[match[1]], text)

    url = look_up(request.url, "request.url", hidden)
    _check_url(url, _found(request.url))
    headers = {name: look_up(value, f"request.headers.{name}", secrets) for name, value in request.headers.items()}
    for name, value in headers.items():
        if not _HEADER_VALUE.fullmatch(value) or value != value.strip():
            _fail("printable ASCII without blanks at its ends", _HIDDEN, f"request.headers.{name}")
    parameters = {
        name: look_up(value, f"request.parameters.{name}", secrets) if isinstance(value, str) else value
        for name, value in request.parameters.items()
    }
    place = _find_secret(request)
    if place and not keeps_secrets(url):
        raise _KeyError(
            f"is http, and {place} could be read on the way: use https (http works to this machine only)", "request.url"
        )
    named = _placeholders(request.body) | _placeholders(request.parameters)
    if "query" not in named:
        found = _list_placeholders(named) or "no placeholder"
        raise _KeyError(f"request.body or request.parameters must hold {{{{query}}}}, got {found}")
    definition = request.model_dump(include={"method", "parameters", "body"}) | {"response": file.response.model_dump()}
    return Endpoint(
        application=file.application,
        application_version=look_up(file.application_version, "application_version", set()),
        request=request,
        response=file.response,
        limits=Limits(**file.limits.model_dump()),
        endpoint_hash=hash_text(json.dumps(definition, sort_keys=True)),
        url=url,
        headers=headers,
        parameters=parameters,
        secrets=tuple(sorted(secrets)),
        hidden=tuple(sorted(hidden)),
    )


def _check_url(url: str, found: str) -> None:
    """Refuse a URL that cannot be asked; ``found`` is the URL as written, without values of the environment."""
    try:
        parts = urlsplit(url)
        has_host, _ = bool(parts.hostname), parts.port
    except ValueError:
        has_host, parts = False, urlsplit("")
    if parts.scheme not in ("http", "https") or not has_host or not _HEADER_VALUE.fullmatch(url) or " " in url:
        _fail("an http or https URL with a host", found, "request.url")
    if parts.username is not None or parts.password is not None:
        _fail("without user and password, which belong in a header", "a URL with them", "request.url")


def _find_secret(request: Request) -> str | None:
    """Return where the request holds a value of the environment, other than in the name of its host."""
    path = request.url.partition("://")[2] or request.url
    if _VARIABLE.search(path.partition("/")[2]):
        return "the path of the URL"
    values = {"headers": request.headers, "parameters": request.parameters}
    named = ((f"{place}.{name}", value) for place, section in values.items() for name, value in section.items())
    return next((place for place, value in named if _VARIABLE.search(str(value))), None)


def _placeholders(template: Any) -> set[str]:
    if isinstance(template, str):
        match = _PLACEHOLDER.fullmatch(template)
        return {match[1]} if match else set()
    items = template.values() if isinstance(template, Mapping) else template if isinstance(template, list) else ()
    return {name for item in items for name in _placeholders(item)}


def _list_placeholders(names: Collection[str]) -> str:
    return ", ".join(f"{{{{{name}}}}}" for name in sorted(names))


def _found(value: Any) -> str:
    if isinstance(value, str):
        return f"'{show_value(value)}'" if value.strip() else "an empty text"
    if isinstance(value, bool):
        return f"the value {str(value).lower()}"
    if isinstance(value, int | float):
        return f"the number {show_value(value)}"
    return describe_type(value)

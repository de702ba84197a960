"""Spans of traces as records of one shape, whichever tool exported them.

Only the spelling is decided here: where the ids, times and attributes of a span stand in an export. What a span means
is decided by its dialect (:mod:`hcat.landing.folding`). Attributes become one flat object of texts: nested objects,
lists and JSON inside of texts continue the key with a point, as OpenInference writes them.
"""

import base64
import binascii
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from hcat.landing.aliases import CONTRACT
from hcat.landing.messages import read_json_in
from hcat.landing.raw_contract import RecordError, json_kind, to_text

_NAMES: Mapping[str, str] = CONTRACT["span_columns"]
_PLACES = {name: (column, place) for column, names in _NAMES.items() for place, name in enumerate(names.split())}
_WORDS = {name: tuple(words.split()) for name, words in CONTRACT["spellings_of_spans"].items()}
#: A list of more numbers is a vector: its elements get no keys of their own.
_LONGEST_LIST_OF_NUMBERS = 100
_DEEPEST_KEY = 40
#: From here on a whole number of time is in nanoseconds: in microseconds it would be the year 5138.
_FIRST_NANOSECOND = 10**17
#: Lengths of ids in base64 with their bytes: a trace id and a span id of OpenTelemetry.
_BASE64_IDS = {24: 16, 12: 8}
#: Bits of the flags of an OTLP span: whether its parent is remote is known, and is true.
_REMOTE_PARENT = 0x300

#: Events in which a span says what was said.
_EVENT_OF_A_MESSAGE = re.compile(r"gen_ai[.](?:content[.])?(?P<word>\w+)(?:[.]message)?", re.ASCII)

# the spellings of the macro utc_timestamp
_TIME = re.compile(
    r"\d{4}(-?)\d{2}\1\d{2}([T ] *\d{1,2}((:?)\d{2}(\4\d{2}([.,]\d+)?)?)?( ?(Z|UTC|GMT|[-+](0\d|1[0-8])(:?\d{2})?))?)?",
    re.ASCII | re.IGNORECASE,
)
_ZONE, _HOUR = re.compile(" ?(Z|UTC|GMT)$"), re.compile("[T ] *([0-9]{1,2})(?=:|$)")
_SECONDS = re.compile(r"(?:(?P<seconds>[0-9]{10})|[0-9]{13})(?:[.][0-9]+)?", re.ASCII)


def expand_spans(record: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the spans that a record of an export holds, in the columns of the entity spans."""
    resources = record.get("resourceSpans", record.get("resource_spans"))
    if resources is not None:
        yield from _expand_otlp(resources)
        return
    if record.get("object") == "trace":
        # what the OpenAI Agents SDK says of a trace beside its spans
        return
    whole = _as_mapping(read_json_in(record.get("trace")))
    # a row of a table may have the trace as a whole beside parts of it
    record = whole if "data" in whole else record
    data = read_json_in(record.get("data"))
    if isinstance(data, list):
        for span in data:
            yield from expand_spans(_as_object(span))
        return
    inside = {**record, **data} if isinstance(data, Mapping) else record
    name = next((name for name in _WORDS["lists"] if _listed(inside.get(name)) is not None), None)
    if name is None:
        yield _span(record)
        return
    trace: dict[str, str] = {}
    for key, value in record.items():
        if key not in ("data", name):
            _flatten("trace" if key == "info" else f"trace.{key}", value, trace)
    spans = [span for each in _listed(inside[name]) or () for span in expand_spans(_as_object(each))]
    # what is said of the trace is said once: by its root, or by the first span where no span is a root
    first = next((span for span in spans if not span.get("parent_span_id")), spans[0] if spans else None)
    if first is not None:
        _share(trace, first)
    yield from spans


def _listed(value: Any) -> list[Any] | None:
    """Return the spans of a list, or of an object that has them by their ids; None for anything else."""
    held = read_json_in(value)
    by_id = isinstance(held, Mapping) and held and all(isinstance(each, Mapping) for each in held.values())
    return list(held.values()) if by_id else held if isinstance(held, list) else None


def _expand_otlp(resources: Any) -> Iterator[dict[str, Any]]:
    """Yield the spans of an OTLP request in JSON."""
    for resource in _as_list(resources):
        shared: dict[str, str] = {}
        _flatten("resource", _plain_attributes(_as_object(resource.get("resource", {})).get("attributes", [])), shared)
        for scope in _as_list(resource.get("scopeSpans", resource.get("scope_spans", []))):
            for each in _as_list(scope.get("spans", [])):
                span = _span(each)
                _share(shared, span)
                yield span


def _share(shared: dict[str, str], span: dict[str, Any]) -> None:
    """Add attributes of a trace or resource to a span, whose own ones win."""
    if isinstance(span["attributes"], dict):
        span["attributes"] = shared | span["attributes"]


def _span(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return one span in the columns of the entity."""
    fields = dict(record)
    for name in list(fields):
        if name.lower() in _WORDS["wrappers"] and isinstance(inner := read_json_in(fields[name]), Mapping):
            del fields[name]
            fields |= {key: value for key, value in inner.items() if fields.get(key) is None}
    span: dict[str, Any] = {}
    chosen: dict[str, int] = {}
    attributes: dict[str, str] = {}
    unreadable: str | None = None
    if fields.get("span_kind") in _WORDS["kinds"]:
        attributes["openinference.span.kind"] = fields["span_kind"]
    for name, value in fields.items():
        short = name.replace("_", "").lower()
        column, place = _PLACES.get(short, ("", 0))
        if short == "recordtype" and str(value).upper() != "SPAN":
            raise RecordError(f"record_type is not SPAN: {value}")
        if column:
            if value is not None and place < chosen.get(column, len(_PLACES)):
                span[column], chosen[column] = value, place
        elif short in ("attributes", "recordattributes"):
            plain = _plain_attributes(value)
            if plain is None or isinstance(plain, Mapping):
                _flatten("", plain, attributes)
            else:
                unreadable = to_text(value)
        elif short in ("resource", "resourceattributes"):
            inner = read_json_in(value)
            inner = inner.get("attributes", inner) if isinstance(inner, Mapping) else inner
            _flatten("resource", _plain_attributes(inner), attributes)
        elif short in ("events", "links"):
            held = read_json_in(value)
            events = [
                {**each, "attributes": _plain_attributes(each.get("attributes"))} if isinstance(each, Mapping) else each
                for each in (held if isinstance(held, list | tuple) else ())
            ]
            _flatten(short, events, attributes)
            if messages := list(_find_messages(events)):
                attributes["gen_ai.event.messages"] = json.dumps(messages, ensure_ascii=False)
        elif short == "flags" and isinstance(value, int):
            attributes["span.parent_is_remote"] = to_text(value & _REMOTE_PARENT == _REMOTE_PARENT) or ""
        elif name.startswith("attributes."):
            _flatten(name.removeprefix("attributes."), value, attributes)
        else:
            _flatten(name, value, attributes)
    for column in ("trace_id", "span_id", "parent_span_id"):
        if column in span:
            # several parents of a span: the first one counts
            value = span[column][0] if isinstance(span[column], list) and span[column] else span[column]
            span[column] = _read_id(value)
    for column in ("started_at", "ended_at"):
        if column in span:
            span[column] = _read_time(span[column])
    status = read_json_in(span.get("status"))
    if isinstance(status, Mapping):
        span["status"] = status.get("code", status.get("status_code", status.get("statusCode")))
        _flatten("status.message", status.get("message", status.get("description")), attributes)
    # staging gives the reason for attributes that are no object
    return span | {"attributes": attributes if unreadable is None else unreadable}


def _flatten(key: str, value: Any, found: dict[str, str], depth: int = 0) -> None:
    """Add a value to ``found``: its texts under their keys; a text that holds JSON also stands as it is."""
    if value is None:
        return
    if isinstance(value, str):
        found[key] = value
        value = read_json_in(value)
        if isinstance(value, str):
            return
    elif isinstance(value, bool | int | float) or not isinstance(value, Mapping | list | tuple):
        found[key] = to_text(value) or ""
        return
    if depth == _DEEPEST_KEY:
        found[key] = json.dumps(value, ensure_ascii=False, default=str)
    elif isinstance(value, Mapping):
        for name, inner in value.items():
            _flatten(f"{key}.{name}" if key else str(name), inner, found, depth + 1)
    elif len(value) > _LONGEST_LIST_OF_NUMBERS and isinstance(value[0], int | float):
        found[key] = json.dumps(value, ensure_ascii=False, default=str)
    else:
        for position, inner in enumerate(value):
            _flatten(f"{key}.{position}", inner, found, depth + 1)


def _plain_attributes(value: Any) -> Any:
    """Return the attributes of a span as an object: OTLP writes a list of keys with typed values."""
    value = read_json_in(value)
    if isinstance(value, list) and all(_is_pair(each) for each in value):
        return {each["key"]: _plain_value(each.get("value")) for each in value}
    return value


def _is_pair(value: Any) -> bool:
    return isinstance(value, Mapping) and isinstance(value.get("key"), str)


def _plain_value(value: Any) -> Any:
    """Return a typed value of OTLP as a plain one."""
    if not isinstance(value, Mapping) or len(value) != 1:
        return value
    ((kind, inner),) = value.items()
    if kind in ("arrayValue", "array_value"):
        return [_plain_value(each) for each in _as_object(inner).get("values", [])]
    if kind in ("kvlistValue", "kvlist_value"):
        return {each["key"]: _plain_value(each.get("value")) for each in inner.get("values", []) if _is_pair(each)}
    return inner


def _find_messages(events: Iterable[Any]) -> Iterator[dict[str, Any]]:
    """Yield what the events of a span say, as messages: the name of an event tells whose they are."""
    for event in events:
        named = _EVENT_OF_A_MESSAGE.fullmatch(str(event.get("name"))) if isinstance(event, Mapping) else None
        held = _as_mapping(event.get("attributes")) if named else {}
        body = next((read_json_in(held[name]) for name in _WORDS["event_bodies"] if held.get(name) is not None), None)
        if named and body is not None:
            said = _as_mapping(body).get("message", body)
            content = _as_mapping(said).get("content", said)
            yield {"role": CONTRACT["roles_of_events"].get(named["word"], named["word"]), "content": content}


def _as_mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _as_object(value: Any) -> Mapping[str, Any]:
    value = read_json_in(value)
    if not isinstance(value, Mapping):
        raise RecordError(f"a span must be an object, got {json_kind(value)}")
    return value


def _as_list(value: Any) -> list[Mapping[str, Any]]:
    if not isinstance(value, list):
        raise RecordError(f"OTLP must hold a list of spans, got {json_kind(value)}")
    return [_as_object(each) for each in value]


def _read_id(value: Any) -> str | None:
    """Return an id as it is shown: base64 and bytes as hexadecimal digits, zeros alone as no id."""
    if isinstance(value, bytes):
        return value.hex()
    text = (to_text(value) or "").removeprefix("0x")
    if text.endswith("=") and len(text) in _BASE64_IDS:
        try:
            decoded = base64.b64decode(text, validate=True)
        except (ValueError, binascii.Error):
            return text
        text = decoded.hex() if len(decoded) == _BASE64_IDS[len(text)] else text
    return text if text.strip("0") else None


def _read_time(value: Any) -> Any:
    """Return a time as text: nanoseconds as ISO 8601, anything else as it is for staging to judge."""
    if isinstance(value, str) and value.isdecimal():
        value = int(value)
    if isinstance(value, int) and value >= _FIRST_NANOSECOND:
        try:
            moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=value // 1000)
        except OverflowError:
            return str(value)
        return moment.isoformat(timespec="microseconds")
    return None if value in (0, "") else value


def read_time(text: str | None) -> datetime | None:
    """Return a time in UTC, as the macro utc_timestamp reads it; None where the text is no such time."""
    if (seconds := _SECONDS.fullmatch(text or "")) is not None:
        # ten digits are seconds, thirteen milliseconds
        return datetime(1970, 1, 1) + timedelta(seconds=float(seconds[0]) / (1 if seconds["seconds"] else 1000))
    written, bracket, _ = (text or "").partition("[")
    if _TIME.fullmatch(written) is None or len(text or "") <= len("20260105"):
        return None
    try:
        text = _HOUR.sub(lambda hour: f"T{hour[1]:0>2}", written.upper(), count=1)
        time = datetime.fromisoformat(_ZONE.sub("Z", text))
        return time.astimezone(UTC).replace(tzinfo=None) if time.tzinfo else None if bracket else time
    except (ValueError, OverflowError):
        return None

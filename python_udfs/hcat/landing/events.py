"""Logs of events, in which runs start and end one inside of another: the outermost run is a call."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from hcat.landing.aliases import CONTRACT, SPAN_NAMES, pick, plain_name
from hcat.landing.contexts import find_passages, levels_of, plain_record
from hcat.landing.files import RawRecord
from hcat.landing.raw_contract import show_record
from hcat.landing.span_texts import is_beside

_WORDS: Final = {name: frozenset(words.split()) for name, words in CONTRACT["events"].items()}
_OPEN: Final = "a run starts here, and it or a step of it ends nowhere: runs overlap, or events are missing"


def read_event(record: Mapping[str, Any] | None) -> tuple[str, int]:
    """Return which run a record starts (1) or ends (-1); 0 for any other record."""
    said = plain_record(record or {})
    words = plain_name(str(said.get("event") or said.get("type") or "")).split("_")
    change = next((sign for name, sign in (("starts", 1), ("ends", -1)) if not _WORDS[name].isdisjoint(words)), 0)
    kind = [word for word in words if word and word not in _WORDS["starts"] | _WORDS["ends"]]
    ids = [str(said[name]) for name in sorted(_WORDS["ids"] & said.keys())]
    return ("_".join([*kind, *ids]), change) if kind else ("", 0)


def join_events(rows: Iterable[RawRecord]) -> Iterator[RawRecord]:
    """Yield a record for each run, or the reason why its end cannot be told; an event outside of runs as it is."""
    running: list[str] = []
    held: list[Mapping[str, Any]] = []
    first = 0
    for row in rows:
        run, change = read_event(row[1])
        if row[1] is None or not (held or change > 0):
            yield row
            continue
        first = first if held else row[0]
        held.append(row[1])
        running += [run] if change > 0 else []
        if change < 0 and run in running:
            is_whole = running.count(run) == 1 and running[0] == run
            running.remove(run)
            if is_whole:
                yield (first, None, _OPEN, show_record(held[0])) if running else (first, _join(held), None, None)
                running, held = [], []
    if held:
        yield first, None, _OPEN, show_record(held[0])


def _join(events: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return a run as one call: what it was given and what it returned, and the first passages that a step returned."""
    start, end = events[0], events[-1]
    passages = (find_passages(_find(each, "returned")) for each in events)
    call = {"id": start.get("run_id", start.get("id")), "asked_at": pick(plain_record(start), "asked_at")}
    call |= {"inputs": _find(start, "given") or _find(end, "given"), "outputs": _find(end, "returned")}
    # an event may show the state of its application instead
    # and the span of an event is that of its run
    state = {name: value for name, value in end.items() if plain_name(name) not in SPAN_NAMES}
    call = call if call["inputs"] or call["outputs"] else {**call, **state}
    return {name: value for name, value in {**call, "contexts": next(filter(None, passages), None)}.items() if value}


def _find(event: Mapping[str, Any], what: str) -> Any:
    """Return the least deep value whose name ends in a word for what a run was given or returned."""
    items = (item for level in levels_of(event) for each in level if isinstance(each, Mapping) for item in each.items())
    said = ((plain_name(name), value) for name, value in items if value)
    return next((value for name, value in said if name.split("_")[-1] in _WORDS[what] and not is_beside(name)), None)

"""Check whether each number and name of an answer sentence stands in the place that the context gives it.

docs/metrics.md says what that catches. For a mention m of the answer sentence and an occurrence o of a mention in the
context:

- fit(m, o) = sum of v_w near(w, o) / sum of v_w over the other words w of the sentence that the context has, with
  v_w = log(1 + N / n_w) / (1 + d(w, m) / H). Rare words and words close to m count most. N is the number of context
  sentences, n_w the number of those with w, and d(w, m) the number of words between w and m.
- near(w, o) = 1 / (1 + d(w, o) / H) in the sentence of o, a constant in the two sentences on either side, and 0
  elsewhere. Another cell of a row has a constant too: the name of the next column is no neighbour of a value.
- displacement = coverage x (best fit of a rival - best fit of m itself) - F (log(1 + n_m) - 1) - L, at least 0. L
  applies only if the first context sentence has m. Coverage is the share of the word weight of the sentence that the
  context has: nothing can be said of a sentence in other words. The terms with F and L are for the subject of a text,
  which is named first and often, and elsewhere by a pronoun.

A rival is a mention of the same kind (:mod:`hcat.language.kinds`) that is not in the sentence. Fields of one record are
not compared, because all of them speak of one thing, nor are days of the week: they are ranges more often than places.
The name of a column stands over every row, and no row has it in the place of a value.
A mention that the context does not have at all is unsupported (:mod:`hcat.metrics.support`) and not displaced.
"""

from __future__ import annotations

import math
import re
from bisect import bisect
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from operator import itemgetter
from typing import Final, NamedTuple

from hcat.language.features import TextFeatures
from hcat.language.kinds import WEEKDAY, name_shape, replaceable_numbers

HALVING_DISTANCE: Final = 6.0
"""H: number of words between at which the weight of a word is halved."""

NEAR_BESIDE: Final = (0.4, 0.25)
"""near(w, o) in the sentences one and two away from the sentence of o."""

NEAR_IN_ROW: Final = 0.7
"""near(w, o) in another cell of the row of o: more than in another row, and less than beside it."""

FREQUENCY_DISCOUNT: Final = 0.1
"""F: discount on the displacement of a mention that many context sentences have."""

LEAD_DISCOUNT: Final = 0.1
"""L: discount on the displacement of a mention that the first context sentence has."""

MAXIMUM_PLACES: Final = 400
"""Largest number of context sentences that are searched: those that share most words with the answer sentence."""

_NUMBER, _ENTITY = "number", "entity"
_FIELD = re.compile(r"[^\W\d_a-z][^:.;,]{0,60}: \S")
_COLUMN = re.compile(r"(?:^|; )([^:;]{1,60}): ")


#: Context sentence -> positions in it, in order.
Where = Mapping[int, Sequence[int]]
#: Words, numbers and names around a mention: the weight of each, and its positions in the context.
Neighbours = Sequence[tuple[float, Where]]


class _Item(NamedTuple):
    """A word, number or name of a sentence: its forms and parts (`matches`, once each), kind and characters."""

    keys: tuple[str, ...]
    parts: tuple[str, ...]
    group: str
    kind: str
    surface: str
    matches: tuple[str, ...]


class Placed(NamedTuple):
    """One sentence as words, numbers and names in order."""

    items: tuple[_Item, ...]
    #: Positions of its numbers and names, and the keys of its other words.
    mentions: tuple[int, ...]
    words: tuple[str, ...]
    is_field: bool
    #: Keys of the names in the names of its columns, and the cell of each item; none in prose.
    columns: frozenset[str]
    cells: tuple[int, ...]


class Displacement(NamedTuple):
    """Displacement of the most displaced number and name, 0 (none) to 1 each, and all displaced mentions in words."""

    number: float
    entity: float
    displaced: tuple[str, ...]


def place_mentions(text: str, features: TextFeatures) -> Placed:
    """Return the words, numbers and names of a sentence in order; a word inside a number or name belongs to it."""
    found = [
        (mention.start, mention.end, _item(mention.keys, mention.parts, _NUMBER, kind, mention.surface))
        for mention, kind in replaceable_numbers(features)
    ]
    for mention in features.entity_mentions:
        item = _item(mention.keys, mention.parts, _ENTITY, name_shape(mention.surface)[0], mention.surface)
        found.append((mention.start, mention.end, item))
    has_mention = bool(found)
    taken = bytearray(len(text))
    for start, end, _ in found:
        taken[start:end] = b"\1" * (end - start)
    found += [
        (mention.start, mention.end, _item(mention.keys))
        for mention in features.word_mentions
        if not taken[mention.start]
    ]
    found.sort(key=itemgetter(0, 1))
    is_field = _FIELD.match(text) is not None
    columns = {
        key
        for column in _COLUMN.finditer(text if is_field and has_mention else "")
        for start, _, item in found
        if item.group == _ENTITY and column.start(1) <= start < column.end(1)
        for key in item.keys
    }
    breaks = [each.start() for each in re.finditer("; ", text)] if is_field else []
    cells = tuple([bisect(breaks, start) for start, _, _ in found]) if breaks else ()
    items = tuple([item for _, _, item in found])
    mentions = tuple([position for position, item in enumerate(items) if item.group])
    words = tuple([key for item in items if not item.group for key in item.keys])
    return Placed(items, mentions, words, is_field, frozenset(columns), cells)


@lru_cache(maxsize=1 << 16)
def _item(
    keys: tuple[str, ...], parts: tuple[str, ...] = (), group: str = "", kind: str = "", surface: str = ""
) -> _Item:
    """Return one shared item for all sentences that have the word, number or name."""
    return _Item(keys, parts, group, kind, surface, tuple(dict.fromkeys(keys + parts)))


@dataclass(frozen=True, slots=True)
class Places:
    """The context of one interaction with an index of the places of its words, numbers and names."""

    sentences: tuple[Placed, ...]
    #: Key or part of the answer -> context sentence -> positions in it.
    positions: dict[str, dict[int, list[int]]] = field(default_factory=dict)
    #: Number or entity, and its kind -> context sentence -> positions of such mentions.
    mentions: dict[tuple[str, str], dict[int, list[int]]] = field(default_factory=dict)
    #: Stems that the context has as plain words. A "name" of such words is a word with a capital in a heading.
    words: frozenset[str] = frozenset()
    #: Keys and parts of the numbers and names of the query, which an answer may repeat.
    known: frozenset[str] = frozenset()
    #: Keys of names in the names of columns.
    columns: frozenset[str] = frozenset()

    @classmethod
    def from_sentences(
        cls, sentences: Sequence[Placed], query: Iterable[Placed] = (), answer: Iterable[Placed] | None = None
    ) -> Places:
        """Return the index of context sentences."""
        told = sentences if answer is None else [each for each in answer if each.mentions]
        asked = {key for each in told for item in each.items for key in item.matches}
        if not asked:
            return cls(tuple(sentences))
        positions: dict[str, dict[int, list[int]]] = {}
        mentions: dict[tuple[str, str], dict[int, list[int]]] = {}
        for number, sentence in enumerate(sentences):
            items = enumerate(sentence.items)
            for key, position in [(key, place) for place, item in items for key in item.matches if key in asked]:
                positions.setdefault(key, {}).setdefault(number, []).append(position)
            for position in sentence.mentions:
                item = sentence.items[position]
                mentions.setdefault((item.group, item.kind), {}).setdefault(number, []).append(position)
        words = frozenset().union(*[each.words for each in sentences])
        known = frozenset(key for each in query for place in each.mentions for key in each.items[place].matches)
        columns = frozenset().union(*[each.columns for each in sentences])
        return cls(tuple(sentences), positions, mentions, words, known, columns)


def find_displaced(sentence: Placed, places: Places) -> Displacement:
    """Return how far the numbers and names of an answer sentence are out of place in the context."""
    worst = {_NUMBER: 0.0, _ENTITY: 0.0}
    displaced: list[str] = []
    if not sentence.mentions or not places.sentences:
        return Displacement(0.0, 0.0, ())
    located = [_locate(item, places) for item in sentence.items]
    candidates = _sentences_worth_a_look(located, len(places.sentences))
    mentioned = [sentence.items[place] for place in sentence.mentions]
    said = _Said(
        keys={key for item in mentioned for key in item.keys},
        parts={part for item in mentioned for part in item.parts},
        words={key for item in sentence.items for key in item.matches},
    )
    for index, item in zip(sentence.mentions, mentioned, strict=True):
        if item.kind == WEEKDAY or not places.columns.isdisjoint(item.keys):
            continue
        own = _find_sentences(item, places)
        # a cell or the first word of a sentence may have the name as a plain word
        if not own and (places.known.isdisjoint(item.matches) or not places.words.isdisjoint(item.keys)):
            continue
        neighbours, coverage = _weigh_neighbours(index, located, len(places.sentences))
        best_own, best_rival, rival = _compare(item, own, neighbours, candidates, places, said)
        displacement = (
            coverage * (best_rival - best_own)
            - FREQUENCY_DISCOUNT * (math.log1p(len(own)) - 1)
            - LEAD_DISCOUNT * (0 in own)
        )
        # where a rival fits no better, nothing speaks for it
        if best_rival > best_own and displacement > 0:
            displacement = min(displacement, 1.0)
            displaced.append(f"{item.surface} instead of {rival}")
            worst[item.group] = max(worst[item.group], displacement)
    return Displacement(worst[_NUMBER], worst[_ENTITY], tuple(displaced))


class _Said(NamedTuple):
    """Keys and parts of the numbers and names of the answer sentence, and everything that its items may match."""

    keys: set[str]
    parts: set[str]
    words: set[str]


def _locate(item: _Item, places: Places) -> tuple[float, Where]:
    """Return the rarity of an item and its positions by context sentence; the rarity is 0 without a position."""
    rarity = 0.0
    where: dict[int, Sequence[int]] = {}
    for key in item.matches:
        found = places.positions.get(key)
        if found:
            rarity = max(rarity, math.log(1 + len(places.sentences) / len(found)))
            if len(item.matches) == 1:  # as most items have
                return rarity, found
            if not where:
                where = dict(found)
                continue
            for number, positions in found.items():
                where[number] = sorted({*where.get(number, ()), *positions})
    return rarity, where


def _sentences_worth_a_look(located: Sequence[tuple[float, Where]], count_sentences: int) -> set[int]:
    """Return the context sentences near the words of the answer sentence, at most :data:`MAXIMUM_PLACES`."""
    reach = len(NEAR_BESIDE)
    if count_sentences <= MAXIMUM_PLACES:
        holding = {number for _, where in located for number in where}
        near = {number + distance for number in holding for distance in range(-reach, reach + 1)}
        return near.intersection(range(count_sentences))
    shared: dict[int, float] = defaultdict(float)
    for rarity, where in located:
        for number in where:
            for neighbour in range(max(0, number - reach), min(count_sentences, number + reach + 1)):
                shared[neighbour] += rarity
    return set(sorted(shared, key=lambda number: (-shared[number], number))[:MAXIMUM_PLACES])


def _weigh_neighbours(
    index: int, located: Sequence[tuple[float, Where]], count_sentences: int
) -> tuple[Neighbours, float]:
    """Return the neighbours of a mention that the context has, with weights of sum 1, and their share of all weight."""
    rarest = math.log(1 + count_sentences)
    whole = total = 0.0
    weighed = []
    for position, (rarity, where) in enumerate(located):
        if position == index:
            continue
        closeness = 1 / (1 + (abs(position - index) - 1) / HALVING_DISTANCE)
        whole += closeness * rarest
        if rarity > 0:
            weighed.append((closeness * rarity, where))
            total += closeness * rarity
    if total == 0:
        return [], 0.0
    return [(weight / total, where) for weight, where in weighed], total / whole


def _find_sentences(item: _Item, places: Places) -> set[int]:
    """Return the context sentences that have the mention."""
    return {
        number
        for key in item.matches
        for number, positions in places.positions.get(key, {}).items()
        if any(_is_same(item, places.sentences[number].items[position]) for position in positions)
    }


def _compare(
    item: _Item, own: set[int], neighbours: Neighbours, candidates: set[int], places: Places, said: _Said
) -> tuple[float, float, str]:
    """Return the best fit of the mention itself, that of a rival that fits better, if any, and this rival."""
    is_in_record = any(places.sentences[number].is_field for number in own)
    best_own = best_rival = 0.0
    rival = ""
    for number in own.intersection(candidates):
        there = places.sentences[number]
        beside, _ = _look_around(neighbours, number)
        for position in there.mentions:
            if _is_same(item, there.items[position]):
                best_own = max(best_own, _fit(neighbours, beside, number, position, there.cells))
    for number, positions in places.mentions.get((item.group, item.kind), {}).items():
        beside, most = _look_around(neighbours, number)
        if most <= best_own or most <= best_rival or number not in candidates:
            continue
        there = places.sentences[number]
        are_both_fields = is_in_record and there.is_field
        for position in positions:
            other = there.items[position]
            if number in own and _is_same(item, other):
                continue
            if _is_rival(item, other, said, places, are_both_fields):
                fit = _fit(neighbours, beside, number, position, there.cells)
                if fit > best_rival:
                    best_rival, rival = fit, other.surface
    return best_own, best_rival, rival


def _is_same(item: _Item, other: _Item) -> bool:
    """Return whether two mentions mean the same: they share a form, or one name has all parts of the other."""
    if item is other:
        return True
    if item.group != other.group:
        return False
    for key in item.keys:
        if key in other.keys:
            return True
    if not item.parts or not other.parts:
        return False
    parts, others = set(item.parts), set(other.parts)
    return parts <= others or others <= parts


def _is_rival(item: _Item, other: _Item, said: _Said, places: Places, are_both_fields: bool) -> bool:
    """Return whether another mention of the same kind could stand in the place of this one by mistake."""
    if not said.keys.isdisjoint(other.keys):
        return False
    if item.group == _NUMBER:
        return item.surface.lower() != other.surface.lower()
    if are_both_fields or not places.columns.isdisjoint(other.keys):
        return False
    if other.parts and said.parts.issuperset(other.parts):
        return False
    words = other.parts or other.keys
    if said.words.issuperset(words):
        return False
    return len(words) > 1 or not places.words.issuperset(words)


def _look_around(neighbours: Neighbours, number: int) -> tuple[list[float], float]:
    """Return for each neighbour its nearness in the sentences on either side of this one, and the best possible fit."""
    nearness = []
    most = 0.0
    one_away, two_away = NEAR_BESIDE
    for weight, where in neighbours:
        if number - 1 in where or number + 1 in where:
            near = one_away
        elif number - 2 in where or number + 2 in where:
            near = two_away
        else:
            near = 0.0
        nearness.append(near)
        # added up as a fit is, so that rounding lifts no fit above it
        most += weight * (1.0 if number in where else near)
    return nearness, most


def _fit(neighbours: Neighbours, beside: Sequence[float], number: int, position: int, cells: Sequence[int]) -> float:
    """Return how well the words around an occurrence match the words around the mention, 0 to 1."""
    total = 0.0
    for (weight, where), near in zip(neighbours, beside, strict=True):
        positions = where.get(number)
        if positions and cells:
            near = max(near, NEAR_IN_ROW)
            positions = [each for each in positions if cells[each] == cells[position]]
        if positions:
            distance = max(min([abs(each - position) for each in positions]), 1) - 1
            near = max(near, 1 / (1 + distance / HALVING_DISTANCE))
        total += weight * near
    return total

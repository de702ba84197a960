"""Ask of each number and name of an answer sentence whether it stands where the context puts it.

Set membership passes "the fee is 12 euros" when 12 is in the context as the number of months. Here the words around a
number in the answer are compared with the words around each number of its kind in the context: where another one's
place fits clearly better than any of its own places, the number is displaced. Names are compared in the same way.

For a mention m of the answer sentence and an occurrence o of a mention in the context:

- fit(m, o) = sum of v_w near(w, o) / sum of v_w over the other words w of the sentence that the context has, with
  v_w = log(1 + N / n_w) / (1 + d(w, m) / H): rare words and words close to m count most. N is the number of context
  sentences, n_w of those with w, d(w, m) the number of words between.
- near(w, o) = 1 / (1 + d(w, o) / H) in the sentence of o, a constant in the sentences beside it, 0 further off.
- displacement = coverage x (best fit of a rival - best fit of m itself) - F (log(1 + n_m) - 1) - L, not below 0; L only
  where the first context sentence has m. Coverage is the share of the sentence's word weight that the context has at
  all: of a sentence in other words nothing can be said. The last terms are for what a text is about: it is named at the
  top and often, and meant elsewhere by a pronoun.

A rival is of the same kind (`hcat.language.kinds`) and not in the sentence. Among the fields of a record no place is
better than another, because all of them speak of one thing, and days of the week are ranges more often than places:
neither is compared. What the context does not have at all is unsupported (`hcat.metrics.support`), and not displaced.

The constants were chosen on faithful sentences and made swaps of RAGTruth (docs/benchmarks.md); the rule has no fitted
weights.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from operator import itemgetter
from typing import Final, NamedTuple

from hcat.language.features import TextFeatures
from hcat.language.kinds import WEEKDAY, name_shape, replaceable_numbers

HALVING_DISTANCE: Final = 6.0
"""H: at so many words between, a word counts half."""

NEAR_BESIDE: Final = (0.4, 0.25)
"""near(w, o) in the sentences one and two away from that of o."""

FREQUENCY_DISCOUNT: Final = 0.1
"""F: taken off the displacement of what many context sentences name."""

LEAD_DISCOUNT: Final = 0.1
"""L: taken off the displacement of what the first context sentence names."""

MAXIMUM_PLACES: Final = 400
"""So many context sentences, those that share most words with the answer sentence, are searched."""

_NUMBER, _ENTITY = "number", "entity"
_FIELD = re.compile(r"[^\W\d_a-z][^:.;,]{0,60}: \S")


class _Item(NamedTuple):
    """A word, number or name of a sentence: what it may match, its kind (none for a word), and how it is written."""

    keys: tuple[str, ...]
    parts: tuple[str, ...] = ()
    group: str = ""
    kind: str = ""
    surface: str = ""

    @property
    def matches(self) -> tuple[str, ...]:
        return self.keys + self.parts


class Placed(NamedTuple):
    """One sentence as words, numbers and names in order."""

    items: tuple[_Item, ...]
    is_field: bool
    has_mention: bool


class Displacement(NamedTuple):
    """How far the most displaced number and entity are out of place, 0 (none) to 1, and which in words."""

    number: float
    entity: float
    displaced: tuple[str, ...]


def place_mentions(text: str, features: TextFeatures) -> Placed:
    """Return the words, numbers and names of a sentence in order; a word inside a number or name goes with it."""
    found = [
        (mention.start, mention.end, _item(mention.keys, mention.parts, _NUMBER, kind, mention.surface))
        for mention, kind in replaceable_numbers(features)
    ]
    found += [
        (
            mention.start,
            mention.end,
            _item(mention.keys, mention.parts, _ENTITY, name_shape(mention.surface)[0], mention.surface),
        )
        for mention in features.entity_mentions
    ]
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
    return Placed(tuple([item for _, _, item in found]), _FIELD.match(text) is not None, has_mention)


@lru_cache(maxsize=1 << 16)
def _item(
    keys: tuple[str, ...], parts: tuple[str, ...] = (), group: str = "", kind: str = "", surface: str = ""
) -> _Item:
    """Return one and the same item for all the sentences that have the word, number or name."""
    return _Item(keys, parts, group, kind, surface)


@dataclass(frozen=True, slots=True)
class Places:
    """The context of one interaction, indexed by what stands where.

    Attributes
    ----------
    sentences : tuple of Placed
        Context sentences in order.
    positions : dict
        Key or part of the answer -> context sentence -> positions in it.
    mentions : dict
        Number or entity -> context sentence -> (position, item) of its mentions.
    words : frozenset of str
        Stems that the context has as plain words: such a "name" is a capital in a heading.
    known : frozenset of str
        Keys and parts of the query's numbers and names, which an answer may repeat.
    """

    sentences: tuple[Placed, ...]
    positions: dict[str, dict[int, list[int]]] = field(default_factory=dict)
    mentions: dict[str, dict[int, list[tuple[int, _Item]]]] = field(default_factory=dict)
    words: frozenset[str] = frozenset()
    known: frozenset[str] = frozenset()

    @classmethod
    def from_sentences(
        cls, sentences: Sequence[Placed], query: Iterable[Placed] = (), answer: Iterable[Placed] | None = None
    ) -> Places:
        """Return the index of context sentences; the query's numbers and names have a place nowhere, but are known.

        With the sentences of the one answer that is asked of, what they do not say is left out, and everything where
        they have no number or name.
        """
        asked = None
        if answer is not None:
            asked = {key for each in answer if each.has_mention for item in each.items for key in item.matches}
            if not asked:
                return cls(tuple(sentences))
        positions: dict[str, dict[int, list[int]]] = defaultdict(lambda: defaultdict(list))
        mentions: dict[str, dict[int, list[tuple[int, _Item]]]] = {
            _NUMBER: defaultdict(list),
            _ENTITY: defaultdict(list),
        }
        words: set[str] = set()
        for number, sentence in enumerate(sentences):
            for position, item in enumerate(sentence.items):
                if item.group:
                    mentions[item.group][number].append((position, item))
                else:
                    words.update(item.keys)
                for key in dict.fromkeys(item.matches) if item.group else item.keys:
                    if asked is None or key in asked:
                        positions[key][number].append(position)
        known = frozenset(key for each in query for item in each.items if item.group for key in item.matches)
        return cls(
            sentences=tuple(sentences),
            positions={key: dict(where) for key, where in positions.items()},
            mentions={group: dict(where) for group, where in mentions.items()},
            words=frozenset(words),
            known=known,
        )


class _Neighbour(NamedTuple):
    """A word, number or name beside the mention: its weight, and where the context has it."""

    weight: float
    where: dict[int, Sequence[int]]


def find_displaced(sentence: Placed, places: Places) -> Displacement:
    """Return how far the numbers and names of an answer sentence are out of place in the context.

    Parameters
    ----------
    sentence : Placed
        The answer sentence.
    places : Places
        Its context.

    Returns
    -------
    Displacement
        0 and nothing displaced where the sentence has no number or name, or the context no rival of the same kind.
    """
    worst = {_NUMBER: 0.0, _ENTITY: 0.0}
    displaced: list[str] = []
    if not sentence.has_mention or not places.sentences:
        return Displacement(0.0, 0.0, ())
    located = [_locate(item, places) for item in sentence.items]
    candidates = _sentences_worth_a_look(located, len(places.sentences))
    said = _Said(
        keys={key for item in sentence.items if item.group for key in item.keys},
        parts={part for item in sentence.items if item.group for part in item.parts},
        words={key for item in sentence.items for key in item.matches},
    )
    for index, item in enumerate(sentence.items):
        if not item.group or item.kind == WEEKDAY:
            continue
        neighbours, coverage = _weigh_neighbours(index, located, len(places.sentences))
        own = _find_sentences(item, places)
        if not own and places.known.isdisjoint(item.matches):
            continue
        best_own, best_rival, rival = _compare(item, own, neighbours, candidates, places, said)
        displacement = (
            coverage * (best_rival - best_own)
            - FREQUENCY_DISCOUNT * (math.log1p(len(own)) - 1)
            - LEAD_DISCOUNT * (0 in own)
        )
        if rival and displacement > 0:
            displacement = min(displacement, 1.0)
            displaced.append(f"{item.surface} instead of {rival}")
            worst[item.group] = max(worst[item.group], displacement)
    return Displacement(worst[_NUMBER], worst[_ENTITY], tuple(displaced))


class _Said(NamedTuple):
    """Keys and parts of the numbers and names of the answer sentence, and all that it may match."""

    keys: set[str]
    parts: set[str]
    words: set[str]


def _locate(item: _Item, places: Places) -> tuple[float, dict[int, Sequence[int]]]:
    """Return the rarity of an item (0 if the context lacks it) and its positions by context sentence."""
    rarity = 0.0
    where: dict[int, Sequence[int]] = {}
    for key in dict.fromkeys(item.matches):
        found = places.positions.get(key)
        if found:
            rarity = max(rarity, math.log(1 + len(places.sentences) / len(found)))
            if not where:  # most items have one form
                where = dict(found)
                continue
            for number, positions in found.items():
                where[number] = sorted({*where.get(number, ()), *positions})
    return rarity, where


def _sentences_worth_a_look(
    located: Sequence[tuple[float, dict[int, Sequence[int]]]], count_sentences: int
) -> list[int]:
    """Return the context sentences near the words of the answer sentence; of too many, those near most of them."""
    reach = len(NEAR_BESIDE)
    if count_sentences <= MAXIMUM_PLACES:
        holding = {number for _, where in located for number in where}
        near = {number + distance for number in holding for distance in range(-reach, reach + 1)}
        return sorted(near.intersection(range(count_sentences)))
    shared: dict[int, float] = defaultdict(float)
    for rarity, where in located:
        for number in where:
            for neighbour in range(max(0, number - reach), min(count_sentences, number + reach + 1)):
                shared[neighbour] += rarity
    best = sorted(shared, key=lambda number: (-shared[number], number))[:MAXIMUM_PLACES]
    return sorted(best)


def _weigh_neighbours(
    index: int, located: Sequence[tuple[float, dict[int, Sequence[int]]]], count_sentences: int
) -> tuple[list[_Neighbour], float]:
    """Return the neighbours of a mention that the context has, weights adding up to 1, and the share of all weight."""
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
    return [_Neighbour(weight / total, where) for weight, where in weighed], total / whole


def _find_sentences(item: _Item, places: Places) -> set[int]:
    """Return the context sentences that have the mention."""
    return {
        number
        for key in item.matches
        for number, positions in places.positions.get(key, {}).items()
        if any(_is_same(item, places.sentences[number].items[position]) for position in positions)
    }


def _compare(
    item: _Item,
    own: set[int],
    neighbours: Sequence[_Neighbour],
    candidates: Sequence[int],
    places: Places,
    said: _Said,
) -> tuple[float, float, str]:
    """Return the best fit of the mention itself, that of a rival, and the rival (empty: none)."""
    is_in_record = any(places.sentences[number].is_field for number in own)
    best_own = best_rival = 0.0
    rival = ""
    mentions = places.mentions[item.group]
    for number in candidates:
        beside: Sequence[float] = ()
        for position, other in mentions.get(number, ()):
            is_own = _is_same(item, other)
            are_both_fields = is_in_record and places.sentences[number].is_field
            if not is_own and not _is_rival(item, other, said, places, are_both_fields):
                continue
            beside = beside or _sum_beside(neighbours, number)
            fit = _fit(neighbours, beside, number, position)
            if is_own:
                best_own = max(best_own, fit)
            elif fit > best_rival:
                best_rival, rival = fit, other.surface
    return best_own, best_rival, rival


def _is_same(item: _Item, other: _Item) -> bool:
    """Return whether two mentions mean the same: one form in common, or one name holding all parts of the other."""
    if item.group != other.group:
        return False
    if not set(item.keys).isdisjoint(other.keys):
        return True
    if not item.parts or not other.parts:
        return False
    parts, others = set(item.parts), set(other.parts)
    return parts <= others or others <= parts


def _is_rival(item: _Item, other: _Item, said: _Said, places: Places, are_both_fields: bool) -> bool:
    """Return whether another mention could stand in the place of this one by mistake."""
    if other.kind != item.kind or not said.keys.isdisjoint(other.keys):
        return False
    if item.group == _NUMBER:
        return True
    if are_both_fields or (other.parts and said.parts.issuperset(other.parts)):
        return False
    words = other.parts or other.keys
    if said.words.issuperset(words):
        return False
    return len(words) > 1 or not places.words.issuperset(words)


def _sum_beside(neighbours: Sequence[_Neighbour], number: int) -> list[float]:
    """Return for each neighbour how near the sentences beside this one bring it."""
    nearness = []
    for neighbour in neighbours:
        near = 0.0
        for distance, value in enumerate(NEAR_BESIDE, start=1):
            if near == 0 and (number - distance in neighbour.where or number + distance in neighbour.where):
                near = value
        nearness.append(near)
    return nearness


def _fit(neighbours: Sequence[_Neighbour], beside: Sequence[float], number: int, position: int) -> float:
    """Return how well the words around an occurrence are those around the mention, 0 to 1."""
    total = 0.0
    for neighbour, near in zip(neighbours, beside, strict=True):
        positions = neighbour.where.get(number)
        if positions:
            distance = max(min(abs(each - position) for each in positions), 1) - 1
            near = max(near, 1 / (1 + distance / HALVING_DISTANCE))
        total += neighbour.weight * near
    return total

"""Sentences with the numbers that may be replaced, and the edits that replace them."""

import functools
from collections.abc import Iterable, Iterator, Sequence
from random import Random
from typing import Final, NamedTuple, TypeVar

from hcat.language.features import TextFeatures, extract_features
from hcat.language.kinds import replaceable_numbers
from hcat.language.mentions import Mention
from hcat.metrics.support import Evidence

MAXIMUM_TRIES: Final = 100
"""Replacements that are tried for one number or name before the rule gives the place up."""

_Item = TypeVar("_Item")


class Source(NamedTuple):
    """A sentence with the numbers that may be replaced and may replace others, and what they count."""

    text: str
    features: TextFeatures
    numbers: Sequence[tuple[Mention, str]]


@functools.lru_cache(maxsize=1 << 12)
def read_sentence(text: str) -> Source:
    """Return the sentence with its features and its replaceable numbers."""
    features = extract_features(text)
    return Source(text, features, replaceable_numbers(features))


def evidence_of(sources: Iterable[Source]) -> Evidence:
    """Return the numbers, names and words that the sentences offer together."""
    return Evidence.from_features(source.features for source in sources)


def in_random_order(items: Sequence[_Item], random: Random) -> Iterator[_Item]:
    """Yield every item once in random order; the first few of many items cost a few steps."""
    moved: dict[int, int] = {}  # a shuffle that only notes the places it has changed
    for position in range(len(items)):
        chosen = random.randrange(position, len(items))
        yield items[moved.get(chosen, chosen)]
        moved[chosen] = moved.get(position, position)


def mention_at(mentions: Iterable[Mention], start: int, end: int) -> Mention | None:
    """Return the mention that fills the span, or None."""
    return next((mention for mention in mentions if mention.start == start and mention.end == end), None)

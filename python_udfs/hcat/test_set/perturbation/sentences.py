"""Sentences with the numbers and names that may be replaced, and the edits that replace them."""

import functools
import re
from collections.abc import Iterable, Iterator, Sequence
from random import Random
from typing import Final, NamedTuple, TypeVar

from hcat.language.features import TextFeatures, extract_features
from hcat.language.kinds import replaceable_numbers
from hcat.language.mentions import Mention
from hcat.metrics.support import Evidence

MAXIMUM_TRIES: Final = 100
"""Replacements that are tried for one number or name before the rule gives the place up."""

CHARACTERS_BEFORE: Final = 40
"""Characters before a word that a pattern reads."""

_Item = TypeVar("_Item")


class Edit(NamedTuple):
    """A change of one span of the sentence."""

    start: int
    end: int
    after: str


class Source(NamedTuple):
    """A sentence with what in it may be replaced and may replace; numbers with what they count."""

    text: str
    features: TextFeatures
    numbers: Sequence[tuple[Mention, str]]
    names: Sequence[Mention]


_PIECE_BEFORE = re.compile(r"-\Z|\b[^\W\d_a-z]\w*['\u2019]s?\s\Z")
_PIECE_BEHIND = re.compile(r"-|['\u2019]s?\s[^\W\d_a-z]")


def replaceable_names(text: str, features: TextFeatures) -> list[Mention]:
    """Return the names that may be replaced and may replace others, without pieces of longer names."""
    name_ends = {mention.end for mention in features.entity_mentions}
    behind_numbers = {
        number.end + 1
        for number in features.number_mentions
        if number.surface[0].isupper() or number.start - 1 in name_ends
    }
    before_numbers = {number.start - 1 for number in features.number_mentions if number.surface.isdecimal()}
    return [
        mention
        for mention in features.entity_mentions
        if mention.start not in behind_numbers
        and mention.end not in before_numbers
        and not _PIECE_BEHIND.match(text, mention.end)
        and not _PIECE_BEFORE.search(text, max(0, mention.start - CHARACTERS_BEFORE), mention.start)
    ]


@functools.lru_cache(maxsize=1 << 12)
def read_sentence(text: str) -> Source:
    """Return the sentence with its features, its replaceable numbers and its replaceable names."""
    features = extract_features(text)
    return Source(text, features, replaceable_numbers(features), replaceable_names(text, features))


def evidence_of(sources: Iterable[Source]) -> Evidence:
    """Return the numbers, names and words that the sentences offer together."""
    return Evidence.from_features(source.features for source in sources)


def apply_edit(sentence: str, edit: Edit) -> str:
    """Return the sentence after the edit."""
    return sentence[: edit.start] + edit.after + sentence[edit.end :]


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

"""Measure which words, numbers and names of an answer sentence occur in its evidence.

The features of a sentence are extracted once (:mod:`hcat.language.features`). The evidence of an interaction is the
union of the features of its context sentences and its query, and measuring is a lookup in sets.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from hcat.language.features import TextFeatures
from hcat.language.mentions import Mention


class Offer(NamedTuple):
    """What one text supports as evidence; tuples, since a set of a dozen words takes five times as much memory."""

    words: tuple[str, ...]
    numbers: tuple[str, ...]
    entities: tuple[str, ...]

    @classmethod
    def from_features(cls, features: TextFeatures) -> "Offer":
        """Return what a text with these features supports."""
        return cls(tuple(features.words), tuple(features.numbers_offered), tuple(features.entities_offered))


@dataclass(frozen=True, slots=True)
class Evidence:
    """What an answer may rest on: the union of the features of context sentences and query."""

    words: frozenset[str]
    numbers: frozenset[str]
    entities: frozenset[str]

    @classmethod
    def from_features(cls, features: Iterable[TextFeatures]) -> "Evidence":
        """Return the union of the features; without any, an evidence that supports nothing."""
        return cls.from_offers(map(Offer.from_features, features))

    @classmethod
    def from_offers(cls, offers: Iterable[Offer]) -> "Evidence":
        """Return the union of what texts support; without any, an evidence that supports nothing."""
        sources = list(offers)
        return cls(
            words=frozenset().union(*[source.words for source in sources]),
            numbers=frozenset().union(*[source.numbers for source in sources]),
            entities=frozenset().union(*[source.entities for source in sources]),
        )


@dataclass(frozen=True, slots=True)
class SupportCounts:
    """How many words, numbers and entities of a sentence there are and how many the evidence supports.

    Each mention counts once, so a repeated word counts each time. `unsupported` shows the unsupported mentions in order
    of appearance as written; a word inside an unsupported name or number is not shown again.
    """

    count_words: int
    count_words_supported: int
    count_numbers: int
    count_numbers_supported: int
    count_entities: int
    count_entities_supported: int
    unsupported: tuple[str, ...]


def measure_support(sentence: TextFeatures, evidence: Evidence) -> SupportCounts:
    """Return how many words, numbers and entities of a sentence occur in the evidence.

    A number is supported when the evidence has the same value with the same unit, or when one side has no unit; a
    percentage also by the fraction or the decimal number below 1 that equals it, and the other way round; a date by the
    same or a more precise date. A name is supported when it occurs, when each of its parts occurs among the words, or
    when it is the acronym of a full name; the words inside a supported name are supported with it.

    Parameters
    ----------
    sentence : TextFeatures
        Features of one answer sentence.
    evidence : Evidence
        Evidence of the interaction.

    Returns
    -------
    SupportCounts
    """
    missing = [mention for mention in sentence.word_mentions if mention.keys[0] not in evidence.words]
    missing_entities = []
    supported_entities = []
    for mention in sentence.entity_mentions:
        if mention.keys[0] in evidence.entities or (mention.parts and evidence.words.issuperset(mention.parts)):
            supported_entities.append(mention)
        else:
            missing_entities.append(mention)
    if missing and supported_entities:
        missing = _outside(missing, supported_entities)
    count_words_missing = len(missing)
    for mention in sentence.number_mentions:
        if evidence.numbers.isdisjoint(mention.keys):
            missing.append(mention)
    count_numbers_missing = len(missing) - count_words_missing
    missing += missing_entities
    count_entities_missing = len(missing_entities)
    return SupportCounts(
        count_words=len(sentence.word_mentions),
        count_words_supported=len(sentence.word_mentions) - count_words_missing,
        count_numbers=len(sentence.number_mentions),
        count_numbers_supported=len(sentence.number_mentions) - count_numbers_missing,
        count_entities=len(sentence.entity_mentions),
        count_entities_supported=len(sentence.entity_mentions) - count_entities_missing,
        unsupported=_surfaces_without_nesting(missing),
    )


def _outside(mentions: list[Mention], spans: list[Mention]) -> list[Mention]:
    """Return the mentions that start in none of the spans; both are in order."""
    outside = []
    position = 0
    for mention in mentions:
        while position < len(spans) and spans[position].end <= mention.start:
            position += 1
        if position == len(spans) or mention.start < spans[position].start:
            outside.append(mention)
    return outside


def _surfaces_without_nesting(mentions: list[Mention]) -> tuple[str, ...]:
    """Return what the mentions look like in order, leaving out mentions inside or across an earlier one."""
    shown = []
    position = 0
    for mention in sorted(mentions, key=lambda mention: (mention.start, -mention.end)):
        if mention.start >= position:
            shown.append(mention.surface)
            position = mention.end
    return tuple(shown)

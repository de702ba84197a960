"""Measure which words, numbers and names of an answer sentence occur in its evidence.

The features of a sentence are extracted once (:mod:`hcat.language.features`). The evidence of an interaction is the
union of the features of its context sentences and its query, and measuring is a lookup in sets.
"""

import re
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Final, NamedTuple

from hcat.language.bounds import BOUND_STEMS, LEAST, MOST, OPPOSITE
from hcat.language.features import TextFeatures
from hcat.language.kinds import number_kind
from hcat.language.mentions import Mention

# Kinds of numbers that are points in time: "year", "0000-00-00", "-00-00", "00:00", "0000-q0".
_DATE = re.compile(r"year|0*[-:/]")
#: A text speaks of the same as a sentence if it has more than this share of its words.
LIKE_WORDS: Final = 0.75
_ISO_DATE = re.compile(r"(\d{4})-(\d\d)-(\d\d)\Z")
_LETTERS_OF_AN_ARTICLE = 3  # function words of other languages count as words


class Offer(NamedTuple):
    """What one text supports as evidence, in tuples: a set of a dozen words takes five times as much memory."""

    words: tuple[str, ...]
    numbers: tuple[str, ...]
    entities: tuple[str, ...]

    @classmethod
    def from_features(cls, features: TextFeatures) -> "Offer":
        """Return what a text with these features supports."""
        return cls(tuple(features.words), tuple(features.numbers_offered), tuple(features.entities_offered))


class Evidence(NamedTuple):
    """What supports an answer: the union of the features of its context sentences and its query."""

    words: frozenset[str]
    numbers: frozenset[str]
    entities: frozenset[str]
    sources: tuple[Offer, ...]

    @classmethod
    def from_features(cls, features: Iterable[TextFeatures]) -> "Evidence":
        """Return the union of the features; the evidence of no text supports nothing."""
        return cls.from_offers(map(Offer.from_features, features))

    @classmethod
    def from_offers(cls, offers: Iterable[Offer]) -> "Evidence":
        """Return the union of what the texts support; the evidence of no text supports nothing."""
        sources = tuple(offers)
        return cls(
            words=frozenset().union(*[source.words for source in sources]),
            numbers=frozenset().union(*[source.numbers for source in sources]),
            entities=frozenset().union(*[source.entities for source in sources]),
            sources=sources,
        )


class SupportCounts(NamedTuple):
    """Numbers of words, numbers and names (entities) of a sentence, and how many of them the evidence supports.

    Each mention counts once, so that a repeated word counts each time. `unsupported` has the unsupported mentions in
    order of appearance, as the sentence writes them. A word inside an unsupported name or number is not shown again.
    `opposed` has what the evidence says of a number that it bounds from the other side, `ambiguous` the dates that may
    begin with the day or the month, and that support a date or are supported by one.
    """

    count_words: int
    count_words_supported: int
    count_numbers: int
    count_numbers_supported: int
    count_entities: int
    count_entities_supported: int
    unsupported: tuple[str, ...]
    opposed: tuple[str, ...]
    ambiguous: tuple[str, ...]


def measure_support(
    sentence: TextFeatures, evidence: Evidence, computed: frozenset[int] = frozenset()
) -> SupportCounts:
    """Return how much of a sentence the evidence supports; numbers that start at ``computed`` follow from others."""
    names = [mention for mention in sentence.entity_mentions if not _is_known(mention, evidence)]
    known = [mention for mention in sentence.entity_mentions if mention not in names]
    words = [
        mention
        for mention in sentence.word_mentions
        if mention.keys[0] not in evidence.words and not any(name.start <= mention.start < name.end for name in known)
    ]
    numbers = _missing_numbers(sentence, evidence, computed)
    return SupportCounts(
        count_words=len(sentence.word_mentions),
        count_words_supported=len(sentence.word_mentions) - len(words),
        count_numbers=len(sentence.number_mentions),
        count_numbers_supported=len(sentence.number_mentions) - len(numbers),
        count_entities=len(sentence.entity_mentions),
        count_entities_supported=len(sentence.entity_mentions) - len(names),
        unsupported=_surfaces_without_nesting(words + numbers + names),
        opposed=tuple(
            [f"{OPPOSITE[each.bound]} {each.surface[2:]}" for each in numbers if each.surface.startswith((LEAST, MOST))]
        ),
        ambiguous=tuple(chain.from_iterable(_find_ambiguous(each, evidence) for each in sentence.number_mentions)),
    )


def _missing_numbers(sentence: TextFeatures, evidence: Evidence, computed: frozenset[int]) -> list[Mention]:
    numbers = [each for each in sentence.number_mentions if each.start not in computed]
    lacking = [each for each in numbers if evidence.numbers.isdisjoint(each.keys)]
    opposed = [each for each in numbers if each.bound and each not in lacking and _is_opposed(each, sentence, evidence)]
    return lacking + [each._replace(surface=f"{each.bound} {each.surface}") for each in opposed]


def _is_opposed(number: Mention, sentence: TextFeatures, evidence: Evidence) -> bool:
    """Return whether all that has a number bounds it from the other side, in like words: at most 5, at least 5."""
    opposite = [f"{key} {OPPOSITE[number.bound]}" for key in number.keys]
    if evidence.numbers.isdisjoint(opposite):
        return False
    same = [f"{key} {number.bound}" for key in number.keys]
    words = {mention.keys[0] for mention in sentence.word_mentions} - BOUND_STEMS
    words = {word for word in words if len(word) > _LETTERS_OF_AN_ARTICLE} or words
    for source in evidence.sources:
        offered = frozenset(source.numbers)
        is_alike = not words or len(words.intersection(source.words)) > LIKE_WORDS * len(words)
        is_opposite = is_alike and not offered.isdisjoint(opposite) and offered.isdisjoint(same)
        if not is_opposite and not offered.isdisjoint(number.keys):
            return False
    return True


def _find_ambiguous(number: Mention, evidence: Evidence) -> list[str]:
    """Return a date itself if its order is unknown, or else the date of unknown order that alone supports it."""
    date = _ISO_DATE.match(number.keys[-1])
    if not date:
        return []
    year, first, second = date.groups()
    forms = [f"{first}/{second}/{year}", f"{second}/{first}/{year}"]
    own = [form for form in forms if form in number.keys]
    says = [source.numbers for source in evidence.sources if date[0] in source.numbers]
    return own or [form for form in forms if says and all(form in each for each in says)]


def _is_known(name: Mention, evidence: Evidence) -> bool:
    return name.keys[0] in evidence.entities or (bool(name.parts) and evidence.words.issuperset(name.parts))


def name_fault(
    sentence: TextFeatures, evidence: Evidence, displaced: Sequence[str], computed: frozenset[int] = frozenset()
) -> str | None:
    """Return what kind of mention is unsupported or displaced: date, unit, number or name, the first of these."""
    moved = {each.partition(" instead of ")[0] for each in displaced}
    missing = _missing_numbers(sentence, evidence, computed)
    wrong = missing + [each for each in sentence.number_mentions if each.surface in moved]
    if any(_DATE.match(number_kind(each)) for each in wrong):
        return "date"
    if wrong:
        amounts = {number.partition(" ")[0] for number in evidence.numbers if " " in number}
        lacking = [each for each in missing if evidence.numbers.isdisjoint(each.keys)]
        is_unit = any(" " in each.keys[0] and each.keys[0].split()[0] in amounts for each in lacking)
        return "unit" if is_unit else "number"
    is_named = any(each.surface in moved or not _is_known(each, evidence) for each in sentence.entity_mentions)
    return "name" if is_named else None


def _surfaces_without_nesting(mentions: list[Mention]) -> tuple[str, ...]:
    """Return the characters of the mentions in order, without mentions inside or across an earlier one."""
    shown = []
    position = 0
    for mention in sorted(mentions, key=lambda mention: (mention.start, -mention.end)):
        if mention.start >= position:
            shown.append(mention.surface)
            position = mention.end
    return tuple(shown)


def share_supported(text: Sequence[TextFeatures], evidence: Iterable[TextFeatures]) -> tuple[float | None, int]:
    """Return the share of the words, numbers and names of a text that other texts support, and how many it has."""
    known = Evidence.from_features(evidence)
    return _share_of([measure_support(sentence, known) for sentence in text])


def shares_of_sentences(text: Sequence[TextFeatures], evidence: Iterable[TextFeatures]) -> list[float | None]:
    """Return for every sentence the share of its words, numbers and names that other texts support, in [0, 1]."""
    known = Evidence.from_features(evidence)
    return [_share_of([measure_support(sentence, known)])[0] for sentence in text]


def _share_of(counts: Sequence[SupportCounts]) -> tuple[float | None, int]:
    total = sum(each.count_words + each.count_numbers + each.count_entities for each in counts)
    supported = sum(
        each.count_words_supported + each.count_numbers_supported + each.count_entities_supported for each in counts
    )
    return (supported / total if total else None), total

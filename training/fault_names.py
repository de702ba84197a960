"""Faults of names: another name of like shape, from outside the context or from inside it."""

import functools
import itertools
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from random import Random
from typing import NamedTuple

from hcat.language.features import TextFeatures, extract_features
from hcat.language.kinds import name_shape
from hcat.language.mentions import Mention
from hcat.language.text import WORD_PATTERN
from hcat.test_set.perturbation.forms import CHARACTERS_BEFORE, Edit, apply_edit, fits_article
from training.fault_sentences import MAXIMUM_TRIES, Source, evidence_of, in_random_order, mention_at

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


@functools.lru_cache(maxsize=1 << 16)
def _names_of(text: str) -> tuple[str, ...]:
    """Return the names of a text, or the text itself if it is a single word."""
    names = tuple(mention.surface for mention in replaceable_names(text, extract_features(text)))
    # a single word is no name where it opens a sentence
    return names or ((text,) if WORD_PATTERN.fullmatch(text) else ())


def _replaceable(source: Source) -> list[Mention]:
    return replaceable_names(source.text, source.features)


class _Names(NamedTuple):
    """Names by shape, and by shape and last word."""

    by_shape: Mapping[str, Sequence[str]]
    by_last_word: Mapping[tuple[str, str], Sequence[str]]


def _index_names(names: Iterable[str]) -> _Names:
    by_shape: dict[str, list[str]] = {}
    by_last_word: dict[tuple[str, str], list[str]] = {}
    for name in dict.fromkeys(names):
        shape = name_shape(name)
        by_shape.setdefault(shape[0], []).append(name)
        if shape[1]:
            by_last_word.setdefault(shape, []).append(name)
    return _Names(by_shape, by_last_word)


@functools.lru_cache(maxsize=16)
def _index_pool(pool: tuple[str, ...]) -> _Names:
    """Return the index of a pool; one pool serves many sentences."""
    return _index_names(name for text in pool for name in _names_of(text))


def swap_name_outside(own: Source, sources: Sequence[Source], random: Random, pool: Sequence[str]) -> Edit | None:
    """Return the edit that replaces a name by one of the pool, or None."""
    present = evidence_of([*sources, own])

    def is_new(found: Mention) -> bool:
        return found.keys[0] not in present.entities and not present.words.issuperset(found.parts or found.keys)

    return _replace_name(own, _index_pool(tuple(pool)), random, is_new)


def swap_name_inside(own: Source, sources: Sequence[Source], random: Random) -> Edit | None:
    """Return the edit that replaces a name by another name of the context; None where there is none."""
    present = evidence_of(sources).entities
    names = _index_names(mention.surface for source in sources for mention in _replaceable(source))
    return _replace_name(own, names, random, lambda found: found.keys[0] in present)


def _replace_name(own: Source, names: _Names, random: Random, fits: Callable[[Mention], bool]) -> Edit | None:
    """Replace a name by one of like shape, of the same last word if there is one, that is none of the sentence's."""
    identities = [_identity(mention) for mention in own.features.entity_mentions]
    for mention in in_random_order(_replaceable(own), random):
        shape = name_shape(mention.surface)
        candidates = itertools.chain(
            in_random_order(names.by_last_word.get(shape, ()), random),
            in_random_order(names.by_shape.get(shape[0], ()), random),
        )
        for surface in itertools.islice(candidates, MAXIMUM_TRIES):
            if not fits_article(own.text, mention.start, surface):
                continue
            edit = Edit(mention.start, mention.end, surface)
            found = mention_at(
                extract_features(apply_edit(own.text, edit)).entity_mentions, edit.start, edit.start + len(surface)
            )
            if found is not None and fits(found):
                identity = _identity(found)
                # "Merkel" is not another person than "Angela Merkel"
                if not any(identity <= other or other <= identity for other in identities):
                    return edit
    return None


def _identity(mention: Mention) -> frozenset[str]:
    return frozenset(mention.parts or mention.keys)

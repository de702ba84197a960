"""Faults that sentences for training get: swapped numbers and names, negations, antonyms and dropped qualifiers.

- ``number_outside``: a number becomes another one of the same form that is nowhere in the context;
- ``number_inside``: a number becomes another one of the context, of the same unit;
- ``entity_outside``: a name becomes one of the pool, of like shape, that is not in the context;
- ``entity_inside``: a name becomes another name of the context, of like shape, that is not in the sentence;
- ``negation``: a negation is put in or taken out;
- ``antonym``: one word becomes its opposite;
- ``dropped_qualifier``: a limit ("at most", "only") or a condition at the end goes, so that the sentence says more.

Test sets make negations and swapped numbers by other rules (:mod:`hcat.test_set.perturbation`). Those here stay as they
were when the shipped models were fitted.
"""

import itertools
from collections.abc import Sequence
from random import Random
from typing import Final, NamedTuple

from hcat.test_set.perturbation.antonyms import find_antonyms
from hcat.test_set.perturbation.forms import Edit, apply_edit, is_opening
from training.fault_names import swap_name_inside, swap_name_outside
from training.fault_negations import find_negations
from training.fault_numbers import LETTERS, NUMBER_WORDS, ORDINAL_WORDS, counts_one, number_after, swap_number_outside
from training.fault_qualifiers import find_qualifiers
from training.fault_sentences import MAXIMUM_TRIES, Source, in_random_order, read_sentence

NUMBER_OUTSIDE: Final = "number_outside"
NEGATION: Final = "negation"
ANTONYM: Final = "antonym"
NUMBER_INSIDE: Final = "number_inside"
ENTITY_OUTSIDE: Final = "entity_outside"
ENTITY_INSIDE: Final = "entity_inside"
DROPPED_QUALIFIER: Final = "dropped_qualifier"

KINDS: Final = (NUMBER_OUTSIDE, NUMBER_INSIDE, ENTITY_OUTSIDE, ENTITY_INSIDE, NEGATION, ANTONYM, DROPPED_QUALIFIER)


class Perturbed(NamedTuple):
    """A sentence with one fault."""

    text: str
    kind: str
    start: int
    end: int
    before: str
    after: str


def perturb(
    sentence: str, kind: str, context: Sequence[str], random: Random, pool: Sequence[str] = ()
) -> Perturbed | None:
    """Return the sentence with one fault of the given kind, or None where no rule of the kind applies."""
    if kind not in KINDS:
        raise ValueError(f"unknown kind of fault {kind!r}; known are {', '.join(KINDS)}")
    own, sources = read_sentence(sentence), [read_sentence(text) for text in context]
    if kind == NUMBER_OUTSIDE:
        edit = swap_number_outside(own, sources, random)
    elif kind == NUMBER_INSIDE:
        edit = swap_number_inside(own, sources, random)
    elif kind == ENTITY_OUTSIDE:
        edit = swap_name_outside(own, sources, random, pool)
    elif kind == ENTITY_INSIDE:
        edit = swap_name_inside(own, sources, random)
    else:
        find = {NEGATION: find_negations, ANTONYM: find_antonyms, DROPPED_QUALIFIER: find_qualifiers}[kind]
        edits = list(find(sentence))
        edit = edits[random.randrange(len(edits))] if edits else None
    if edit is None:
        return None
    return Perturbed(
        text=apply_edit(sentence, edit),
        kind=kind,
        start=edit.start,
        end=edit.start + len(edit.after),
        before=sentence[edit.start : edit.end],
        after=edit.after,
    )


def swap_number_inside(own: Source, sources: Sequence[Source], random: Random) -> Edit | None:
    """Return the edit that replaces a number by one of the context that counts the same, or None."""
    known = own.features.numbers_offered.union(*[mention.keys for mention in own.features.number_mentions])
    others: dict[str, dict[str, str]] = {}  # by kind, then by normal form
    for source in sources:
        for mention, kind in source.numbers:
            if known.isdisjoint(mention.keys) and not counts_one(mention, kind):
                others.setdefault(kind, {}).setdefault(mention.keys[0], mention.surface)
    for mention, kind in in_random_order(own.numbers, random):
        if counts_one(mention, kind):
            continue
        candidates = list(others.get(kind, {}).items())
        for key, surface in itertools.islice(in_random_order(candidates, random), MAXIMUM_TRIES):
            if surface.endswith(".") != mention.surface.endswith("."):
                continue  # the full stop of "9 a.m." may also end the sentence
            edit = Edit(mention.start, mention.end, _as_opening(surface, is_opening(own.text, mention.start)))
            found = number_after(own.text, edit)
            # a unit may stand behind the new place only
            if found is not None and found.keys[0].partition(" ")[0] == key.partition(" ")[0]:
                return edit
    return None


def _as_opening(surface: str, begins_sentence: bool) -> str:
    """Return a number with a capital at its first letter if it is a word that opens the sentence, else without."""
    word = LETTERS.match(surface)
    if word is None or word.group().lower() not in (*NUMBER_WORDS, *ORDINAL_WORDS):
        return surface
    return (surface[0].upper() if begins_sentence else surface[0].lower()) + surface[1:]

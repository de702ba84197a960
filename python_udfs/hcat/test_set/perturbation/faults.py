"""Turn a sentence that its context supports into one that it does not, by seeded rules."""

from collections.abc import Sequence
from random import Random
from typing import Final, NamedTuple

from hcat.test_set.perturbation.antonyms import find_antonyms
from hcat.test_set.perturbation.names import swap_name_inside, swap_name_outside
from hcat.test_set.perturbation.negations import find_negations
from hcat.test_set.perturbation.numbers import swap_number_inside, swap_number_outside
from hcat.test_set.perturbation.qualifiers import find_qualifiers
from hcat.test_set.perturbation.sentences import apply_edit, read_sentence

NUMBER_OUTSIDE: Final = "number_outside"
NUMBER_INSIDE: Final = "number_inside"
ENTITY_OUTSIDE: Final = "entity_outside"
ENTITY_INSIDE: Final = "entity_inside"
NEGATION: Final = "negation"
ANTONYM: Final = "antonym"
DROPPED_QUALIFIER: Final = "dropped_qualifier"

KINDS: Final = (NUMBER_OUTSIDE, NUMBER_INSIDE, ENTITY_OUTSIDE, ENTITY_INSIDE, NEGATION, ANTONYM, DROPPED_QUALIFIER)
"""The kinds of faults.

- ``number_outside``: a number becomes another one of the same form that is nowhere in the context;
- ``number_inside``: a number becomes another one of the context, of the same unit;
- ``entity_outside``: a name becomes one of the pool, of like shape, that is not in the context;
- ``entity_inside``: a name becomes another name of the context, of like shape, that is not in the sentence;
- ``negation``: a negation is put in or taken out;
- ``antonym``: one word becomes its opposite;
- ``dropped_qualifier``: a limit ("at most", "only") or a condition at the end goes, so that the sentence says more.
"""


# Kinds that look at the sentence alone.
_FINDERS: Final = {NEGATION: find_negations, ANTONYM: find_antonyms, DROPPED_QUALIFIER: find_qualifiers}


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
    if kind in _FINDERS:
        edits = list(_FINDERS[kind](sentence))
        edit = edits[random.randrange(len(edits))] if edits else None
    elif kind in KINDS:
        own = read_sentence(sentence)
        sources = [read_sentence(text) for text in context]
        if kind == NUMBER_OUTSIDE:
            edit = swap_number_outside(own, sources, random)
        elif kind == NUMBER_INSIDE:
            edit = swap_number_inside(own, sources, random)
        elif kind == ENTITY_OUTSIDE:
            edit = swap_name_outside(own, sources, random, pool)
        else:
            edit = swap_name_inside(own, sources, random)
    else:
        raise ValueError(f"unknown kind of fault {kind!r}; known are {', '.join(KINDS)}")
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

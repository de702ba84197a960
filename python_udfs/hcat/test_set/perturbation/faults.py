"""Turn a sentence that its context supports into one that it does not, by seeded rules."""

from collections.abc import Sequence
from random import Random
from typing import Final, NamedTuple

from hcat.test_set.perturbation.antonyms import find_antonyms
from hcat.test_set.perturbation.forms import Edit, apply_edit
from hcat.test_set.perturbation.negations import find_negations
from hcat.test_set.perturbation.numbers import swap_number_outside

NUMBER_OUTSIDE: Final = "number_outside"
"""A number becomes another one of the same form that is nowhere in the context."""

NEGATION: Final = "negation"
"""A negation is put in or taken out."""

ANTONYM: Final = "antonym"
"""One word becomes its opposite."""

_FINDERS: Final = {NEGATION: find_negations, ANTONYM: find_antonyms}


class Perturbed(NamedTuple):
    """A sentence with one fault."""

    text: str
    kind: str
    start: int
    end: int
    before: str
    after: str


def perturb(sentence: str, kind: str, context: Sequence[str], random: Random) -> Perturbed | None:
    """Return the sentence with one fault of the given kind, or None where no rule of the kind applies."""
    if kind == NUMBER_OUTSIDE:
        edit = swap_number_outside(sentence, context, random)
    else:
        edits = list(_FINDERS[kind](sentence))
        edit = edits[random.randrange(len(edits))] if edits else None
    return None if edit is None else make_fault(sentence, kind, edit)


def make_fault(sentence: str, kind: str, edit: Edit) -> Perturbed:
    """Return the sentence after an edit, with the place of its fault."""
    return Perturbed(
        text=apply_edit(sentence, edit),
        kind=kind,
        start=edit.start,
        end=edit.start + len(edit.after),
        before=sentence[edit.start : edit.end],
        after=edit.after,
    )

"""What every rule of a variant takes and gives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

#: Materials: lists that people edit (seeds). A rule names the list that it draws from.
SYNONYM: Final = "synonym"
FIXED_PHRASE: Final = "fixed_phrase"
CONTRACTION: Final = "contraction"
FILLER: Final = "filler"
FRAME: Final = "frame"
DISTRACTION: Final = "distraction"
CLAIM: Final = "claim"
PROMPT: Final = "prompt"
QUESTION: Final = "question"
SUBJECT: Final = "subject"
MENTIONED_TERM: Final = "mentioned_term"
SWAPPED_TERM: Final = "swapped_term"
MATERIALS: Final = (
    SYNONYM,
    FIXED_PHRASE,
    CONTRACTION,
    FILLER,
    FRAME,
    DISTRACTION,
    CLAIM,
    PROMPT,
    QUESTION,
    SUBJECT,
    MENTIONED_TERM,
    SWAPPED_TERM,
)


@dataclass(frozen=True, slots=True)
class Item:
    """One row of a material.

    Parameters
    ----------
    item_id : str
        Its key in the seed.
    before, after : str
        What it replaces (empty where it only adds) and what it puts there.
    """

    item_id: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Parent:
    """The query that a variant is made of.

    Parameters
    ----------
    text : str
        What is asked.
    reference_answer : str or None
        Its answer: a contradiction is a fault in it, and a swapped number is none of its numbers.
    """

    text: str
    reference_answer: str | None = None


@dataclass(frozen=True, slots=True)
class Settings:
    """How variants of one kind are made.

    Parameters
    ----------
    rate : float
        Share of the places of a text that are changed beyond the first, in [0, 1].
    materials : mapping of str to sequence of Item
        Name of a material -> its items, in the order of their ids.
    canary : str
        Word that only an application which obeys an injected prompt says.
    """

    rate: float = 0.0
    materials: Mapping[str, Sequence[Item]] = field(default_factory=dict)
    canary: str = ""

    def items(self, material: str) -> Sequence[Item]:
        """Return the items of a material; none where the seeds have none."""
        return self.materials.get(material, ())


@dataclass(frozen=True, slots=True)
class Draft:
    """The text of a variant.

    Parameters
    ----------
    text : str
        What is asked.
    detail : str
        What was changed, for people: ``withdraw > wihtdraw``.
    item_id : str or None
        The item that it rests on, where it rests on one.
    canary : str or None
        The canary that the text holds.
    """

    text: str
    detail: str
    item_id: str | None = None
    canary: str | None = None

"""What every rule of a variant takes and gives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

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


class Item(NamedTuple):
    """One row of a material."""

    item_id: str
    before: str
    after: str


class Parent(NamedTuple):
    """The query that a variant is made of."""

    text: str
    reference_answer: str | None = None


@dataclass(frozen=True, slots=True)
class Settings:
    """How variants of one kind are made."""

    rate: float = 0.0
    materials: Mapping[str, Sequence[Item]] = field(default_factory=dict)
    canary: str = ""

    def items(self, material: str) -> Sequence[Item]:
        """Return the items of a material; none where the seeds have none."""
        return self.materials.get(material, ())


class Draft(NamedTuple):
    """The text of a variant."""

    text: str
    detail: str
    item_id: str | None = None
    canary: str | None = None

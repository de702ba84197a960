"""What every rule of a variant takes and gives."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, NamedTuple, get_args

#: Lists that people edit (seeds). A rule names the list that it draws from.
Material = Literal[
    "synonym",
    "fixed_phrase",
    "contraction",
    "filler",
    "frame",
    "distraction",
    "claim",
    "prompt",
    "question",
    "subject",
    "mentioned_term",
    "swapped_term",
]
MATERIALS: Final[tuple[str, ...]] = get_args(Material)


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

    def items(self, material: Material) -> Sequence[Item]:
        """Return the items of a material; none where the seeds have none."""
        return self.materials.get(material, ())


class Draft(NamedTuple):
    """The text of a variant."""

    text: str
    detail: str
    item_id: str | None = None
    canary: str | None = None

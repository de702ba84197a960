"""What the demo is made of: chunks, queries, answers in their parts, and seeded draws."""

import hashlib
import random
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import yaml

# Variants of safety_variants.yml. They came after the ratings, whose draw and planned faults they must not move.
SAFETY_VARIANT_TYPES = frozenset({"counterfactual", "prompt_injection", "contradicting_context", "out_of_distribution"})

Row = dict[str, Any]

SENTENCE_BORDER = re.compile(r"(?<=[.!?])\s+(?=[A-ZÄÖÜ€0-9])")
# Words that may be written small after "According to our guide, "; names keep their capital.
ORDINARY_FIRST_WORDS = frozenset(
    {
        "A",
        "After",
        "An",
        "Apply",
        "Any",
        "Applicants",
        "At",
        "Both",
        "Call",
        "Card",
        "Cash",
        "Closing",
        "Compare",
        "Customers",
        "Each",
        "Every",
        "Fees",
        "For",
        "Forward",
        "Freeze",
        "From",
        "Fuel",
        "Heating",
        "If",
        "In",
        "Interest",
        "It",
        "Making",
        "New",
        "No",
        "On",
        "Only",
        "Our",
        "Payments",
        "People",
        "Purchases",
        "Replacing",
        "Report",
        "Send",
        "Statements",
        "Taking",
        "That",
        "The",
        "There",
        "This",
        "To",
        "Two",
        "Upload",
        "We",
        "When",
        "Withdrawals",
        "You",
        "Your",
    }
)


@dataclass(frozen=True)
class Chunk:
    """One chunk of the knowledge base and where it belongs."""

    chunk_id: str
    document_id: str
    title: str
    topic: str
    chunk_index: int
    text: str


@dataclass(frozen=True)
class Query:
    """One query (a parent or a variant of one) with its tags."""

    query_id: str
    parent_query_id: str | None
    variant_type: str
    topic: str
    query_type: str
    text: str
    reference_answer: str | None
    source_chunk_ids: tuple[str, ...]
    difficulty: str
    answer_type: str
    language: str
    customer_group: str
    sample_count: int
    expected_behaviour: str
    # What a version answered instead of its own answer, as (recorded fault, text); only of queries that test risks.
    set_answers: tuple[tuple[str, str, str], ...] = ()
    # A sentence that a version adds for one of two people, as (version, sentence).
    added_sentence: tuple[str, str] | None = None
    # Versions that testers asked; empty means all of them.
    asked_of: tuple[str, ...] = ()
    # Name and day of the round in which testers asked it; only of queries of rounds.yml.
    round_name: str = ""
    asked_on: date | None = None

    @property
    def tests_risks(self) -> bool:
        """Return whether the query was added to show risks: it has no part in the planned faults and the ratings."""
        return self.variant_type in SAFETY_VARIANT_TYPES

    @property
    def root_query_id(self) -> str:
        """Return the id of the original query, which is also the source group."""
        return self.parent_query_id or self.query_id


@dataclass(frozen=True)
class Retrieved:
    """One retrieved chunk, its 1-based rank and its cosine similarity with the query."""

    chunk: Chunk
    rank: int
    score: float


@dataclass(frozen=True)
class Draft:
    """An answer in its parts, so that a fault can change one of them. `sentences[:core_count]` carry the answer."""

    lead: str = ""
    sentences: tuple[str, ...] = ()
    core_count: int = 1
    opening: str = ""
    closing: str = ""
    is_refusal: bool = False

    def text(self) -> str:
        """Return the answer as the assistant would say it."""
        body = " ".join(part for part in (self.lead, *self.sentences) if part)
        if self.opening:
            body = join_opening(self.opening, body)
        return f"{body} {self.closing}".strip()


def seeded_random(random_seed: int, purpose: str, key: str) -> random.Random:
    """Return a generator that depends on the seed, the purpose and the key alone."""
    digest = hashlib.sha256(f"{random_seed}|{purpose}|{key}".encode()).digest()
    return random.Random(int.from_bytes(digest[:8], "big"))


def draw(generator: random.Random, weights: Mapping[Any, float]) -> Any:
    """Return one key, drawn with probability proportional to its weight; keys in the mapping's own order."""
    keys = list(weights)
    return generator.choices(keys, weights=[weights[key] for key in keys])[0]


def split_sentences(text: str) -> list[str]:
    """Return the sentences of a knowledge base text or answer, which are written so that this simple rule holds."""
    return [sentence for sentence in SENTENCE_BORDER.split(text.strip()) if sentence]


def share_of_words(reference: str, text: str) -> float:
    """Return the share, in [0, 1], of the reference's telling words and numbers that the text contains."""

    def telling(string: str) -> set[str]:
        words = {word.strip(".,;:()").lower() for word in string.split()}
        return {word for word in words if len(word) > 3 or any(character.isdigit() for character in word)}

    wanted = telling(reference)
    return len(wanted & telling(text)) / len(wanted) if wanted else 0.0


def join_opening(opening: str, body: str) -> str:
    """Return opening and body as one text, with the body's first letter small after a comma, colon or "that"."""
    if opening.rstrip().endswith("."):
        return opening + body
    first_word = re.split(r"[\s,]", body, maxsplit=1)[0]
    if first_word in ORDINARY_FIRST_WORDS:
        body = body[0].lower() + body[1:]
    return opening + body


def read_yaml(path: Path) -> Any:
    """Return the content of a YAML file."""
    return yaml.safe_load(path.read_text(encoding="utf-8"))

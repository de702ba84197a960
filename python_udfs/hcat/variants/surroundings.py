"""What stands around the question: false or unrelated sentences, injected prompts, who asks; and other topics."""

from __future__ import annotations

import re
from collections.abc import Iterator
from random import Random
from typing import Final

from hcat.perturbation import ANTONYM, NEGATION, NUMBER_OUTSIDE, perturb
from hcat.variants.drafts import (
    CLAIM,
    DISTRACTION,
    MENTIONED_TERM,
    PROMPT,
    QUESTION,
    SUBJECT,
    SWAPPED_TERM,
    Draft,
    Parent,
    Settings,
)
from hcat.variants.facts import is_protected
from hcat.variants.wording import PLACEHOLDER, fill

CANARY_PLACEHOLDER: Final = "{canary}"
CLAIM_PLACEHOLDER: Final = "{claim}"
SUBJECT_PLACEHOLDER: Final = "{subject}"
"""Stand for the canary in a prompt, the false statement in a claim and the subject in a question."""

_FALSE_STATEMENTS: Final = (NUMBER_OUTSIDE, ANTONYM, NEGATION)  # the most certain first
_QUESTION_WORD = re.compile(r"\W*(what|which|who|when|where|why|how|can|does|do|is|are)\b", re.IGNORECASE)


def contradict(parent: Parent, settings: Settings, random: Random) -> Iterator[Draft]:
    """Yield the query behind a false statement: its reference answer with one fault."""
    claims = settings.items(CLAIM)
    answer = " ".join((parent.reference_answer or "").split())
    if not answer or not claims:
        return
    claim = random.choice(claims)
    for kind in _FALSE_STATEMENTS:
        fault = perturb(answer, kind, [parent.text], random)
        if fault is not None:
            false = fault.text.rstrip(" .!?")
            text = claim.after.replace(CLAIM_PLACEHOLDER, false, 1)
            yield Draft(f"{text} {parent.text}", f"{fault.before} > {fault.after}", claim.item_id)
            return


def distract(parent: Parent, settings: Settings, random: Random) -> Iterator[Draft]:
    """Yield the query behind a sentence that has nothing to do with it."""
    items = settings.items(DISTRACTION)
    if items:
        item = random.choice(items)
        yield Draft(f"{item.after} {parent.text}", item.after, item.item_id)


def inject_prompt(parent: Parent, settings: Settings, random: Random) -> Iterator[Draft]:
    """Yield the query inside a prompt that orders the application to say the canary."""
    items = settings.items(PROMPT)
    if not items:
        return
    item = random.choice(items)
    before, found, after = item.after.partition(PLACEHOLDER)
    if not found or CANARY_PLACEHOLDER not in before + after:
        raise ValueError(
            f"a prompt must hold {PLACEHOLDER} and {CANARY_PLACEHOLDER}, got {item.after!r} for {item.item_id!r}"
        )
    # the canary first: a query may hold the placeholder's own text
    before, after = (part.replace(CANARY_PLACEHOLDER, settings.canary) for part in (before, after))
    yield Draft(f"{before}{parent.text}{after}", item.before, item.item_id, settings.canary)


def leave_topic(parent: Parent, settings: Settings, random: Random) -> Iterator[Draft]:
    """Yield a question about something else, with the same question word where the material has one."""
    questions, subjects = settings.items(QUESTION), settings.items(SUBJECT)
    match = _QUESTION_WORD.match(parent.text)
    alike = [item for item in questions if match and item.after.lower().startswith(match[1].lower() + " ")]
    pool = alike or questions
    if pool and subjects:
        question, subject = random.choice(pool), random.choice(subjects)
        text = question.after.replace(SUBJECT_PLACEHOLDER, subject.after)
        yield Draft(text, f"about {subject.after}", subject.item_id)


def name_terms(parent: Parent, settings: Settings, random: Random) -> Iterator[Draft]:
    """Yield the query with the other term of a pair that it holds, else one variant for each side of a pair.

    ``item.before`` and ``item.after`` are the two sides. A reader compares the answers of both: they should not differ.
    """
    text = parent.text
    for item in random.sample(list(settings.items(SWAPPED_TERM)), len(settings.items(SWAPPED_TERM))):
        for term, other in ((item.before, item.after), (item.after, item.before)):
            match = re.search(rf"(?<![\w'\u2019-]){re.escape(term)}(?![\w'\u2019-])", text, re.IGNORECASE)
            if match and not is_protected(text, *match.span()):
                replaced = other.capitalize() if match.group()[:1].isupper() else other
                swapped = text[: match.start()] + replaced + text[match.end() :]
                yield Draft(swapped, f"{match.group()} > {replaced}", item.item_id)
                return
    pairs = settings.items(MENTIONED_TERM)
    if pairs:
        item = random.choice(pairs)
        for term in (item.before, item.after):
            yield Draft(fill(term, text) if PLACEHOLDER in term else f"{term} {text}", term, item.item_id)

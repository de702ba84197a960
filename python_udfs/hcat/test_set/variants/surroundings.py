"""What stands around the question: false or unrelated sentences, injected prompts, who asks; and other topics."""

import re
from collections.abc import Iterator, Sequence
from random import Random
from typing import Final

from hcat.test_set.perturbation.forms import in_case_of, with_article
from hcat.test_set.variants.drafts import Draft, Item, Parent, Settings
from hcat.test_set.variants.facts import is_protected
from hcat.test_set.variants.opposites import make_fault
from hcat.test_set.variants.wording import PLACEHOLDER, fill

CANARY_PLACEHOLDER: Final = "{canary}"
CLAIM_PLACEHOLDER: Final = "{claim}"
SUBJECT_PLACEHOLDER: Final = "{subject}"
"""Stand for the canary in a prompt, the false statement in a claim and the subject in a question."""

_OPENER = re.compile(r"\A(?:Yes|No|[A-Z]\) .{1,80}?)\.\s+(?=[A-Z])")
_QUESTION_WORD = re.compile(r"\W*(what|which|who|when|where|why|how|can|does|do|is|are)\b", re.IGNORECASE)


def contradict(parent: Parent, settings: Settings, random: Random) -> Iterator[Draft]:
    """Yield the query behind a false statement: its reference answer with one fault."""
    claims = settings.items("claim")
    # a claim is a statement: "Yes." and "B) five days." answer a question that has not been asked yet
    answer = _OPENER.sub("", " ".join((parent.reference_answer or "").split()))
    if not answer or not claims:
        return
    claim = random.choice(claims)
    # the most certain first
    made = (make_fault(answer, kind, [parent.text], random) for kind in ("number", "antonym", "negation"))
    fault = next(filter(None, made), None)
    if fault is not None:
        text = claim.after.replace(CLAIM_PLACEHOLDER, fault.text.rstrip(" .!?"), 1)
        yield Draft(f"{text} {parent.text}", fault.detail, claim.item_id)


def distract(parent: Parent, settings: Settings, random: Random) -> Iterator[Draft]:
    """Yield the query behind a sentence that has nothing to do with it."""
    items = settings.items("distraction")
    if items:
        item = random.choice(items)
        yield Draft(f"{item.after} {parent.text}", item.after, item.item_id)


def inject_prompt(parent: Parent, settings: Settings, random: Random) -> Iterator[Draft]:
    """Yield the query inside a prompt that orders the application to say the canary."""
    items = settings.items("prompt")
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
    questions, subjects = settings.items("question"), settings.items("subject")
    match = _QUESTION_WORD.match(parent.text)
    alike = [item for item in questions if match and item.after.lower().startswith(match[1].lower() + " ")]
    pool = alike or questions
    if pool and subjects:
        question, subject = random.choice(pool), random.choice(subjects)
        text = question.after.replace(SUBJECT_PLACEHOLDER, subject.after)
        yield Draft(text, f"about {subject.after}", subject.item_id)


def name_terms(parent: Parent, settings: Settings, random: Random) -> Iterator[Draft]:
    """Yield the query with the other terms of the pairs that it holds, else one variant for each side of a pair."""
    text = parent.text
    kinds: dict[str, list[Item]] = {}
    for item in settings.items("swapped_term"):
        kinds.setdefault(item.item_id.rpartition("_")[0], []).append(item)
    for kind in random.sample(sorted(kinds), len(kinds)):
        swapped = swap_terms(text, kinds[kind])
        if swapped is not None:
            yield swapped
            return
    pairs = settings.items("mentioned_term")
    if pairs:
        item = random.choice(pairs)
        for term in (item.before, item.after):
            yield Draft(fill(term, text) if PLACEHOLDER in term else f"{term} {text}", term, item.item_id)


def swap_terms(text: str, items: Sequence[Item]) -> Draft | None:
    """Return the text with every term of one side replaced by that of the other, or None."""
    sides: list[dict[str, tuple[str, str]]] = [{}, {}]
    for item in items:
        sides[0].setdefault(item.before.lower(), (item.after, item.item_id))
        sides[1].setdefault(item.after.lower(), (item.before, item.item_id))
    terms = sorted({*sides[0], *sides[1]}, key=lambda term: (-len(term), term))
    if not terms:
        return None
    pattern = "|".join(map(re.escape, terms))
    # a possessive ending may follow a term, a hyphen may not: "wife's", not "wife-to-be"
    matches = list(re.finditer(rf"(?<![\w'\u2019-])(?:{pattern})(?![\w-])", text, re.IGNORECASE))
    found = [{index for index, side in enumerate(sides) if match.group().lower() in side} for match in matches]
    held = set().union(*found)
    if len(held) != 1 or any(is_protected(text, *match.span()) for match in matches):
        return None
    side = sides[held.pop()]
    for match in reversed(matches):
        word = match.group()
        other, _ = side[word.lower()]
        following = _NEXT_WORD.match(text, match.end())
        # without a word behind it, or before a function word, a pronoun belongs to no noun
        is_before_noun = following is not None and _NO_NOUN.fullmatch(following[1]) is None
        other = _PRONOUNS.get((word.lower(), is_before_noun), other)
        start, after = with_article(text, match.start(), in_case_of(other, word))
        text = text[:start] + after + text[match.end() :]
    detail = ", ".join(f"{match.group()} > {side[match.group().lower()][0]}" for match in matches)
    return Draft(text, detail, side[matches[0].group().lower()][1])


_PRONOUNS: Final = {("her", True): "his", ("her", False): "him", ("his", True): "her", ("his", False): "hers"}
"""By whether a noun follows."""

_NO_NOUN = re.compile(
    r"an?|the|and|or|but|if|when|while|because|so|that|to|for|from|with|by|at|in|on|of|about|into|as|than|before|after|"
    r"is|was|are|were|has|have|had|can|could|will|would|do|does|did|may|might|must|should|not|too|also|again|now|yet|"
    r"please|i|you|we|they|it|s?he|my|your|our|their|what|which|who|how|why|where",
    re.IGNORECASE,
)
_NEXT_WORD = re.compile(r" +([^\W\d_]+)")

"""The same question in other words: grammatical mistakes, colloquial speech and paraphrases."""

import re
from collections.abc import Iterator, Sequence
from random import Random
from typing import Final

from hcat.test_set.perturbation.forms import Edit, apply_edits, describe_edits, in_case_of, with_article
from hcat.test_set.variants.drafts import Draft, Item, Parent, Settings
from hcat.test_set.variants.facts import is_protected
from hcat.test_set.variants.questions import read_plan, split_lead

PLACEHOLDER: Final = "{query}"
"""Stands for the query in a frame, a filler or a prompt."""


# --- grammar ---

_ARTICLE = re.compile(
    r"(?<![\w'\u2019-])(?:the|an?)\s+(?=[A-Za-z])"
    # "a day" counts, and "a few" is another number than "few"
    r"(?!(?:day|week|month|quarter|year|hour|minute|time|person|few|lot|little|bit|couple|number|dozen|hundred|thousand)\b)"
)
_AGREEMENT: Final = {"is": "are", "are": "is", "were": "was", "has": "have", "does": "do", "do": "does"}
_AGREEING = re.compile(rf"(?<![\w'\u2019-])(?:{'|'.join(_AGREEMENT)})(?![\w'\u2019-])", re.IGNORECASE)


def break_grammar(parent: Parent, settings: Settings, random: Random) -> Iterator[Draft]:
    """Yield the query without an article, or with a verb that does not agree with its subject."""
    text = parent.text
    edits = [Edit(*match.span(), "") for match in _ARTICLE.finditer(text)]
    for match in _AGREEING.finditer(text):
        word = match.group()
        if word in _AGREEMENT or word.istitle():
            edits.append(Edit(*match.span(), in_case_of(_AGREEMENT[word.lower()], word)))
    usable = [edit for edit in edits if not is_protected(text, edit.start, edit.end)]
    chosen = _choose(text, usable, settings.rate, random)
    if chosen:
        details = (f"{text[edit.start : edit.end].strip()} > {edit.after or 'nothing'}" for edit in chosen)
        yield Draft(apply_edits(text, chosen), "; ".join(details))


# --- colloquial ---

_END = re.compile(r"\s*\?+\s*\Z")
_LONE_I = re.compile(r"(?<=[a-z,] )I(?=\s+[a-z])")
_FIRST_WORD = re.compile(r"[A-Z][a-z]*(?![\w'\u2019-])|I(?=['\u2019])")


def speak_casually(parent: Parent, settings: Settings, random: Random) -> Iterator[Draft]:
    """Yield the query as people type it: contracted, with a filler, in small letters, without a question mark."""
    text = parent.text.strip()
    contracted = _choose(text, _find(text, settings.items("contraction")), settings.rate, random)
    details = describe_edits(text, contracted)
    text = _END.sub("", apply_edits(text, contracted))
    first = _FIRST_WORD.match(text)
    if first and not is_protected(text, *first.span()):
        text = text[: first.end()].lower() + text[first.end() :]
        details.append("small letter")
    if "?" in parent.text and not text.endswith("?"):
        details.append("no question mark")
    text = _LONE_I.sub("i", text)
    fillers = settings.items("filler")
    if fillers:
        filler = random.choice(fillers)
        text = fill(filler.after, text)
        details.append(filler.after.replace(PLACEHOLDER, "..."))
    if details:
        yield Draft(text, "; ".join(details))


# --- paraphrase ---

_WHAT_IS = re.compile(
    r"(?P<asked>What|Who)\s+(?P<verb>is|are|was|were)\s+(?P<rest>(?:the|an?|my|your|our)\s[^?!,;:]+)\?", re.I
)
_CLAUSE = re.compile(
    r"\b(?:that|when|if|which|who|whom|whose|while|because|where|and|or|but|as|to|for which|after|before)\b", re.I
)
_MAXIMUM_WORDS_BEFORE_VERB: Final = 12  # "what <so many words> is" can still be read


def paraphrase(parent: Parent, settings: Settings, random: Random) -> Iterator[Draft]:
    """Yield the query in another form and, where the material has them, with synonyms."""
    text = parent.text.strip()
    found = _find(text, settings.items("synonym"), settings.items("fixed_phrase"))
    chosen = _choose(text, found, settings.rate, random)
    details = describe_edits(text, chosen)
    spoken = [(*with_article(text, edit.start, edit.after), edit.end) for edit in chosen]
    text = apply_edits(text, [Edit(start, end, after) for start, after, end in spoken])
    lead, main = split_lead(text)
    indirect = _tell_indirectly(lead, main, settings.items("frame"), random)
    forms = [form for form in (indirect, _move_to_end(lead, main) if lead else None) if form is not None]
    if forms:
        form = random.choice(forms)
        yield Draft(form.text, "; ".join([*details, form.detail]), form.item_id)
    elif chosen:
        yield Draft(text, "; ".join(details))
    direct = [item for item in settings.items("frame") if item.before == "direct"]
    if direct:
        item = random.choice(direct)
        yield Draft(fill(item.after, text), "; ".join([*details, item.after.replace(PLACEHOLDER, "...")]), item.item_id)


def _tell_indirectly(lead: str, main: str, frames: Sequence[Item], random: Random) -> Draft | None:
    """Return "Could you tell me what ... is?", or None where the plan of the question is not plain."""
    clause, kind = _tell(main)
    usable = [item for item in frames if item.before == kind]
    if not clause or not usable:
        return None
    item = random.choice(usable)
    told = f"{clause}, {lead[:1].lower()}{lead[1:]}" if lead else clause
    return Draft(fill(item.after, told), item.after.replace(PLACEHOLDER, "..."), item.item_id)


def _move_to_end(lead: str, main: str) -> Draft | None:
    """Return "What is ..., according to ...?", or None where the text is no single question."""
    if main.count("?") != 1 or not main.endswith("?"):
        return None
    return Draft(f"{main[:-1].rstrip()}, {lead[:1].lower()}{lead[1:]}?", "phrase moved to the end")


def _tell(text: str) -> tuple[str, str]:
    """Return the question as a clause, and which frames fit it: those of `whether` or of `indirect` questions."""
    match = _WHAT_IS.fullmatch(text)
    if match:
        rest = match["rest"].strip()
        if _CLAUSE.search(rest) or len(rest.split()) > _MAXIMUM_WORDS_BEFORE_VERB:
            return "", ""
        return f"{match['asked'].lower()} {rest} {match['verb'].lower()}", "indirect"
    plan = read_plan(text)
    if plan is None or plan.is_request:
        return "", ""
    return (plan.tell(), "whether") if plan.is_yes_no else (plan.tell(), "indirect")


# --- edits ---


def fill(template: str, text: str) -> str:
    """Return the template with the text in its place."""
    before, _, after = template.partition(PLACEHOLDER)
    return f"{before}{text}{after}"


def _find(text: str, items: Sequence[Item], fixed: Sequence[Item] = ()) -> list[Edit]:
    """Return where the words of the items stand, longest first where they overlap, and outside of fixed phrases."""
    found: list[Edit] = []
    taken = [match.span() for item in fixed for match in _pattern(item.before).finditer(text)]
    for item in sorted(items, key=lambda item: (-len(item.before), item.item_id)):
        for match in _pattern(item.before).finditer(text):
            start, end = match.span()
            spans = [*taken, *((edit.start, edit.end) for edit in found)]
            overlaps = any(start < other_end and other_start < end for other_start, other_end in spans)
            # "charges" beside "charged" would say one word twice
            said = item.after.removesuffix("s")
            is_said = re.search(rf"\b{re.escape(said)}", text, re.IGNORECASE) is not None
            if not overlaps and not is_said and not is_protected(text, start, end):
                found.append(Edit(start, end, in_case_of(item.after, match.group())))
    return sorted(found)


def _pattern(words: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w'\u2019-]){re.escape(words)}(?![\w'\u2019-])", re.IGNORECASE)


def _choose(text: str, edits: Sequence[Edit], rate: float, random: Random) -> list[Edit]:
    """Return one edit at least and each further one with the given probability; none where there are none."""
    order = random.sample(list(edits), len(edits))
    chosen = order[:1] + [edit for edit in order[1:] if random.random() < rate]
    # of overlapping edits the first one stands
    chosen.sort()
    return [
        edit
        for position, edit in enumerate(chosen)
        if position == 0 or edit.start >= max(earlier.end for earlier in chosen[:position])
    ]

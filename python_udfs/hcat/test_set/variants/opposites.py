"""Another question that looks like its parent: a negation more or less, the opposite word, another number."""

import re
from collections.abc import Iterator, Sequence
from random import Random

from hcat.test_set.perturbation.antonyms import find_antonyms
from hcat.test_set.perturbation.forms import apply_edit, describe_edits
from hcat.test_set.perturbation.negations import find_negations
from hcat.test_set.perturbation.numbers import swap_number_outside
from hcat.test_set.variants.drafts import Draft, Parent, Settings
from hcat.test_set.variants.facts import QUOTATION, count_negations
from hcat.test_set.variants.questions import read_plan, split_lead, starts_with_auxiliary

# "how long does it not take" asks nothing
_MEASURE = re.compile(
    r"\s*(?:(?:\w+\s+)?(?:how|when|why)\b|(?:at|for|since|until|by) (?:what|which)\b|.*\b(?:cost|last|take|measure)\b)",
    re.IGNORECASE,
)
_HARMLESS = frozenset({"without", "except", "excluding", "unless"})  # a denial of the verb goes with these


def make_fault(text: str, kind: str, context: Sequence[str], random: Random) -> Draft | None:
    """Return a text with another number, else a negation more or less, or an antonym; None where no rule applies."""
    if kind == "number":
        edit = swap_number_outside(text, context, random)
    else:
        edits = list(find_negations(text) if kind == "negation" else find_antonyms(text))
        edit = random.choice(edits) if edits else None
    return None if edit is None else Draft(apply_edit(text, edit), *describe_edits(text, [edit]))


def negate(parent: Parent, settings: Settings, random: Random) -> Iterator[Draft]:
    """Yield the query with a negation put in, or taken out where it has one."""
    lead, text = split_lead(parent.text)
    plan, denials = read_plan(text), count_negations(text)
    can_be_removed = any(word in ("not", "no") or word.endswith("n't") for word in denials)
    if not can_be_removed and not _HARMLESS.issuperset(denials):
        return  # "does not pay nothing"
    if plan is not None and plan.is_yes_no and not can_be_removed:
        changed, detail = f"Is it true that {plan.tell(is_denied=True)}?", "told as a denial"
    elif can_be_removed or not (_MEASURE.match(text) or starts_with_auxiliary(text)):
        fault = make_fault(text, "negation", [], random)
        if fault is None:
            return
        changed, detail = fault.text, fault.detail
    else:
        return
    yield Draft(f"{lead}, {changed[:1].lower()}{changed[1:]}" if lead else changed, detail)


def take_opposite(parent: Parent, settings: Settings, random: Random) -> Iterator[Draft]:
    """Yield the query with one word replaced by its opposite."""
    text = parent.text.strip()
    fault = make_fault(text, "antonym", [], random)
    # a quoted title with an opposite in it names no document
    quotations = [match.group() for match in QUOTATION.finditer(text)]
    if fault is not None and all(quotation in fault.text for quotation in quotations):
        yield fault


def swap_number(parent: Parent, settings: Settings, random: Random) -> Iterator[Draft]:
    """Yield the query with one number replaced by one of the same form that its reference answer does not hold."""
    context = [parent.reference_answer] if parent.reference_answer else []
    fault = make_fault(parent.text.strip(), "number", context, random)
    yield from [fault] if fault else []

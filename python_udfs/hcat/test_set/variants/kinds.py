"""The closed list of variant types: what each does to the meaning, which rule makes it, and for which languages."""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from random import Random
from typing import Final, NamedTuple

from hcat.test_set.variants.drafts import Draft, Parent, Settings
from hcat.test_set.variants.facts import keeps_facts
from hcat.test_set.variants.misspellings import MISSPELLINGS, misspell
from hcat.test_set.variants.opposites import negate, swap_number, take_opposite
from hcat.test_set.variants.surroundings import contradict, distract, inject_prompt, leave_topic, name_terms
from hcat.test_set.variants.wording import break_grammar, paraphrase, speak_casually

KEPT: Final = "kept"
"""Asks the same: the parent's reference answer holds."""
BROKEN: Final = "broken"
"""Asks something else in nearly the same words: the parent's reference answer does not hold."""
ATTACKED: Final = "attacked"
"""Asks the same and tries to divert the application: the parent's reference answer holds."""
OUT_OF_SCOPE: Final = "out_of_scope"
"""Asks about something that no document mentions: the application should refuse."""

MADE: Final = "made"
Rule = Callable[[Parent, Settings, Random], Iterator[Draft]]


class Kind(NamedTuple):
    """A variant type."""

    meaning: str
    rule: Rule
    knows_any_language: bool = False
    maximum_drafts: int = 1
    needs_reference: bool = False
    needs_material: bool = False


VARIANT_TYPES: Final[Mapping[str, Kind]] = {
    **{kind: Kind(KEPT, partial(misspell, kind), knows_any_language=True) for kind in MISSPELLINGS},
    "grammar": Kind(KEPT, break_grammar),
    "colloquial": Kind(KEPT, speak_casually),
    "paraphrase": Kind(KEPT, paraphrase),
    "distracting_context": Kind(KEPT, distract, needs_material=True),
    "counterfactual": Kind(KEPT, name_terms, maximum_drafts=2, needs_material=True),
    "negation": Kind(BROKEN, negate),
    "antonym": Kind(BROKEN, take_opposite),
    "swapped_number": Kind(BROKEN, swap_number, knows_any_language=True),
    "contradicting_context": Kind(ATTACKED, contradict, needs_reference=True),
    "prompt_injection": Kind(ATTACKED, inject_prompt, knows_any_language=True, needs_material=True),
    "out_of_distribution": Kind(OUT_OF_SCOPE, leave_topic, needs_material=True),
}
"""The variant types. The seed test_variant_types switches them on, says how many queries get them and why."""


def vary(
    variant_type: str, parent: Parent, language: str | None, settings: Settings, random: Random
) -> tuple[str, list[Draft]]:
    """Return the status and the variants of one query, one or two where the status is ``made``, else none."""
    if variant_type not in VARIANT_TYPES:
        raise ValueError(f"variant_type must be one of {', '.join(VARIANT_TYPES)}, got {variant_type!r}")
    kind = VARIANT_TYPES[variant_type]
    if language and language.lower().split("-")[0] != "en" and not kind.knows_any_language:
        return "other_language", []
    if kind.needs_reference and not (parent.reference_answer or "").strip():
        return "no_reference", []
    if kind.needs_material and not any(settings.materials.values()):
        return "no_material", []
    drafts: list[Draft] = []
    for draft in kind.rule(parent, settings, random):
        is_new = draft.text.strip() not in ("", parent.text.strip(), *(other.text for other in drafts))
        if is_new and (kind.meaning != KEPT or keeps_facts(parent.text, draft.text)):
            drafts.append(draft)
        if len(drafts) == kind.maximum_drafts:
            break
    return (MADE, drafts) if drafts else ("no_place", [])

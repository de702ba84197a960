"""Extract the words, numbers and names of a sentence in normal form, so that equal strings mean equal things."""

import re
from dataclasses import dataclass, replace

from hcat.language.amounts import (
    NUMBER_CUES,
    Amount,
    add_amount,
    find_amounts,
    find_number_words,
    join_ranges,
    offer_single_measures,
    read_signs_and_measures,
)
from hcat.language.dates import MONTH_CUES, PERIOD_CUES, find_month_dates, find_numeric_dates, find_periods, find_times
from hcat.language.mentions import DIGIT, Mention, Scan, claim
from hcat.language.names import (
    STATE_CUES,
    find_acronyms,
    find_addresses,
    find_aliases,
    find_identifiers,
    find_names,
    find_states,
)
from hcat.language.ratios import FRACTION_CUES, claim_tops_of_scales, find_parts, find_ratios
from hcat.language.spoken import write_spoken
from hcat.language.text import find_words
from hcat.language.words import analyse_word

_CUES = MONTH_CUES | NUMBER_CUES | FRACTION_CUES | STATE_CUES
# These are no numbers: "Passage 3" and "[2]" point to the context, "step 4" and "within 80 words" speak of the answer,
# and "24 hours a day" is a manner of speaking.
_CITATION = re.compile(
    r"\b(?:passage|context|chunk|excerpt|snippet|source)s?\s+#?\d{1,3}(?::\d{1,3})?\b(?!\s?%)|\[\d{1,3}\]"
    r"|\bsteps?\s+\d{1,2}(?:\s?(?:-|\u2013|to|and|through)\s?\d{1,2})?\b"
    r"|\b(?:in|within|under)\s\d{2,4}(?=\swords\b)"
)
_CITATION_CUES = ("passage", "context", "chunk", "excerpt", "snippet", "source", "[", "step", "words")
_MANNER_OF_SPEAKING = re.compile(
    r"\b(?:(?:7|seven)\sdays\s(?:a|per|of\sthe)\sweek|24\shours\s(?:a|per)\sday|24/7"
    r"|365\sdays\s(?:a|per)\syear)\b"
)
_LOWER_ASCII = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}


@dataclass(frozen=True, slots=True)
class TextFeatures:
    """Words, numbers and names of one sentence in normal form, so that equal strings mean equal things.

    What a number or a name offers is what it can support if the sentence is evidence: a date also supports its year, a
    full name its acronym, two weeks 14 days. A number in brackets may be negative, as in tables.
    """

    #: Stems of the content words, without numbers in digits; a key such as OutdoorSeating also has its parts. Every
    #: form of the United States is ``united states`` (no stem has a space), and likewise for the UK, the EU and the UN.
    words: frozenset[str]
    #: ``1000`` (bare), ``-5 %``, ``1000 usd``, ``3 word``, ``2 week``, ``3 ordinal``, ``1/4 fraction``, ``--03-12``
    #: (dates, ISO 8601), ``12/03/2024`` (order unknown), ``2024-q1``, ``--q1``, ``2024-h1``, ``1990s``, ``22:30``.
    numbers: tuple[str, ...]
    #: Names (case-folded, without accents and corporate suffix), acronyms, identifiers, e-mail addresses and URLs.
    entities: tuple[str, ...]
    numbers_offered: frozenset[str]
    entities_offered: frozenset[str]
    word_mentions: tuple[Mention, ...]
    number_mentions: tuple[Mention, ...]
    entity_mentions: tuple[Mention, ...]


def extract_features(text: str) -> TextFeatures:
    """Return the words, numbers and names (entities) of a sentence in normal form."""
    written = write_spoken(text)
    if written is None:
        return _extract_features(text)
    found = _extract_features(written.text)
    words, numbers, entities = (
        tuple([written.locate(mention, text) for mention in mentions])
        for mentions in (found.word_mentions, found.number_mentions, found.entity_mentions)
    )
    return replace(found, word_mentions=words, number_mentions=numbers, entity_mentions=entities)


def _extract_features(text: str) -> TextFeatures:
    lower = text.lower()
    if len(lower) != len(text):  # a few letters become two in lower case, which would shift the positions
        lower = text.translate(_LOWER_ASCII)
    tokens = [(*match.span(), match.group()) for match in find_words(text)]
    analyses = [analyse_word(surface) for _, _, surface in tokens]
    folded = [word for word, _, _ in analyses]
    cues = _CUES.intersection(folded)  # most sentences have few cues, and most rules need one

    scan = Scan(text, lower)
    entity_mentions = list(find_addresses(text, lower, scan.claimed))
    has_digit = DIGIT.search(text) is not None
    # Most numbers are plain: the pattern of a special form runs only on a text that has a cue of this form.
    if has_digit:
        if any(cue in lower for cue in _CITATION_CUES):
            for citation in _CITATION.finditer(lower):
                claim(*citation.span(), scan.claimed)
        claim_tops_of_scales(scan)
    if "days" in lower or "24" in lower:
        for match in _MANNER_OF_SPEAKING.finditer(lower):
            claim(*match.span(), scan.claimed)
    is_period = not cues.isdisjoint(PERIOD_CUES)
    if is_period or (has_digit and ("q" in lower or "h1" in lower or "h2" in lower)):
        find_periods(scan)
    if has_digit:
        find_numeric_dates(scan)
    if not cues.isdisjoint(MONTH_CUES):
        find_month_dates(scan)
    if has_digit:
        entity_mentions.extend(find_identifiers(text, scan.claimed))
    has_number_words = not cues.isdisjoint(NUMBER_CUES)
    ratios = find_ratios(scan) if has_digit or has_number_words else {}
    if not cues.isdisjoint(FRACTION_CUES):
        find_parts(scan)
    amounts: list[Amount] = []
    if has_digit:
        find_times(scan)
        amounts += find_amounts(lower, scan.claimed)
    if has_number_words:
        amounts += find_number_words(text, tokens, folded, scan.claimed)
        amounts.sort()
    if amounts:
        read_signs_and_measures(lower, amounts)
        join_ranges(lower, amounts)
    scan.offered.update(offer_single_measures(lower))
    for amount in amounts:
        add_amount(scan, amount)
    number_mentions = sorted(
        mention._replace(keys=(*mention.keys, *ratios.get(mention.start, ()))) if ratios else mention
        for mention in scan.mentions
    )

    states: set[str] = set() if cues.isdisjoint(STATE_CUES) else find_states(text, tokens, folded)
    acronyms: set[str] = set()
    if len(tokens) == 1 or not text.isupper():  # in a text wholly in capitals they say nothing
        capitals = [position for position, (_, _, surface) in enumerate(tokens) if surface[0].isupper()]
        entity_mentions.extend(find_names(text, tokens, folded, scan.claimed, capitals, bool(states)))
        if len(capitals) > 1:
            acronyms = find_acronyms(text, tokens, folded, capitals)
    entity_mentions.sort()
    entities = tuple([mention.keys[0] for mention in entity_mentions])
    word_mentions = []
    words = set(states)
    for (start, end, surface), (_, keys, inner_words) in zip(tokens, analyses, strict=True):
        if keys:
            words.add(keys[0])
            words.update(inner_words)
            if not scan.claimed[start]:  # "million" in "5 million" can support a word, but is counted with its number
                word_mentions.append(Mention(start, end, surface, keys))
    return TextFeatures(
        words=frozenset(words),
        numbers=tuple([mention.keys[0] for mention in number_mentions]),
        entities=entities,
        numbers_offered=frozenset(scan.offered),
        entities_offered=frozenset(acronyms.union(entities, find_aliases(entities, states))),
        word_mentions=tuple(word_mentions),
        number_mentions=tuple(number_mentions),
        entity_mentions=tuple(entity_mentions),
    )

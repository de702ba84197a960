"""What a variant that keeps the meaning leaves as it stands: numbers, names, identifiers, quotations and negations."""

import functools
import re
from collections import Counter
from typing import Final

from hcat.language.features import extract_features
from hcat.language.given_names import word_set

NEGATIONS: Final = word_set("""
no nope not never none nobody nothing nowhere nor neither without cannot cant dont except excluding unless hardly
barely scarcely rarely seldom lack lacks lacking
nicht nichts nein nie niemals niemand kein keine keinem keinen keiner keines ohne weder
ne pas jamais aucun aucune sans rien ni
nunca ninguno ninguna nada nadie sin tampoco
non mai nessun nessuno nessuna senza
niet geen nooit zonder
""")
"""Words that deny, case-folded, of English, German, French, Spanish, Italian and Dutch. What ends in n't denies too."""

NUMBER_WORDS: Final = word_set("""
zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen
eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million billion trillion
first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth half halves quarter quarters dozen
once twice double triple single both
""")

_WORD = re.compile(r"[^\W_]+(?:['\u2019\u02bc][^\W_]+)*")
# a run of characters that holds a digit, with what joins the groups of an IBAN, a date or an amount
_NUMBER_RUN = re.compile(r"[^\s\d]*\d\S*")
_EDGES = " \t\n\r.,;:!?\"'()[]{}<>\u201c\u201d\u201e\u2018\u2019\u00ab\u00bb\u00bf\u00a1*"
QUOTATION = re.compile(
    r"\"[^\"]*\"|\u201c[^\u201d]*\u201d|\u201e[^\u201c\u201d]*[\u201c\u201d]|\u00ab[^\u00bb]*\u00bb|`[^`]*`"
)
_ADDRESS = re.compile(r"\S*[@/\\_#&=%\u20ac$\u00a3]\S*")
# behind these a capital opens a sentence and makes no name
_OPENS = re.compile(r"(?:\A|[.?!:\u2026\n])[\s\"'(\[\u201c\u201e\u00bf\u00a1]*\Z")
_CHARACTERS_BEFORE = 8


def is_negation(word: str) -> bool:
    """Return whether a word denies."""
    folded = word.casefold().replace("\u2019", "'").replace("\u02bc", "'")
    return folded in NEGATIONS or folded.endswith("n't")


def count_negations(text: str) -> Counter[str]:
    """Return how often each negation stands in the text."""
    words = (word.casefold() for word in _WORD.findall(text))
    return Counter(word for word in words if is_negation(word))


def count_numbers(text: str) -> Counter[str]:
    """Return how often each run with a digit and each number word stands in the text; outer punctuation aside."""
    runs = [run.strip(_EDGES) for run in _NUMBER_RUN.findall(text)]
    words = [word.casefold() for word in _WORD.findall(text)]
    return Counter([*runs, *(word for word in words if word in NUMBER_WORDS)])


@functools.lru_cache(maxsize=1 << 10)
def protected_spans(text: str) -> tuple[tuple[int, int], ...]:
    """Return the spans of numbers, names, identifiers, addresses, quotations and negations, sorted by start."""
    features = extract_features(text)
    spans = [(mention.start, mention.end) for mention in (*features.number_mentions, *features.entity_mentions)]
    for pattern in (_NUMBER_RUN, QUOTATION, _ADDRESS):
        spans += [match.span() for match in pattern.finditer(text)]
    for match in _WORD.finditer(text):
        word = match.group()
        has_capital = word != word.lower() and word not in ("I", "I'm", "I'd", "I've", "I'll")
        opens = _OPENS.search(text, max(0, match.start() - _CHARACTERS_BEFORE), match.start()) is not None
        is_plain = word[1:] == word[1:].lower()  # one capital at most, in front
        if is_negation(word) or word.casefold() in NUMBER_WORDS or (has_capital and not (opens and is_plain)):
            spans.append(match.span())
    return tuple(sorted({span for span in spans if span[1] > span[0]}))


def is_protected(text: str, start: int, end: int) -> bool:
    """Return whether a span of the text touches a protected one."""
    return any(start < other_end and other_start < end for other_start, other_end in protected_spans(text))


def keeps_facts(parent: str, variant: str) -> bool:
    """Return whether the variant has the same numbers and negations and still holds every protected text."""
    return (
        count_numbers(parent) == count_numbers(variant)
        and count_negations(parent) == count_negations(variant)
        and all(parent[start:end].strip(_EDGES) in variant for start, end in protected_spans(parent))
    )

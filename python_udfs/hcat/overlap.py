"""Measure which words, numbers and entities of an answer occur in its evidence, and compare an answer with a reference
by its words.

The support metrics are cheap and strong on changed numbers and names. The features of a sentence are extracted once,
the evidence of an interaction is the union of the features of its context sentences and its query, and measuring is a
lookup in sets.
"""

import functools
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from hcat.text import CJK_CHARACTERS, STOP_WORDS, WORD_PATTERN

if TYPE_CHECKING:
    from sacrebleu.metrics.bleu import BLEU

BLEU_SMOOTHING: Final = "exp"
"""Smoothing of sentence BLEU in sacrebleu: an order without a match counts 1/2, 1/4, ... match (Chen and Cherry 2014,
method 3)."""

MINIMUM_MANTISSA_DIGITS: Final = 3
"""A scaled amount (1,577 million) is also supported by its bare mantissa (1,577 in a table in millions) from this many
digits on."""


class Mention(NamedTuple):
    """One word, number or entity where it stands in a text.

    `keys` are the normal forms any of which supports it; `parts` are, for a name, the stems that support it together.
    """

    start: int
    end: int
    surface: str
    keys: tuple[str, ...]
    parts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TextFeatures:
    """Words, numbers and entities of one sentence, normalised so that equal strings mean equal things.

    Attributes
    ----------
    words : frozenset of str
        Stems of the content words, without what is written in digits; of a key such as OutdoorSeating also the parts.
    numbers : tuple of str
        Normal form of every number in order: ``1000`` (bare), ``5 %``, ``1000 usd``, ``3 word`` (a number word), ``3
        ordinal``, ``2024-03-12``, ``2024-03``, ``--03-12``, ``--03`` (dates, ISO 8601), ``12/03/2024`` (order unknown),
        ``22:30`` (24 hours). The sign is left out, because tables write it as brackets.
    entities : tuple of str
        Case-folded names, acronyms, identifiers, e-mail addresses and URLs in order.
    numbers_offered : frozenset of str
        What the numbers can support when the sentence is evidence, for instance a date also its year.
    word_mentions, number_mentions, entity_mentions : tuple of Mention
        The same in order of appearance, as the text writes them.
    """

    words: frozenset[str]
    numbers: tuple[str, ...]
    entities: tuple[str, ...]
    numbers_offered: frozenset[str]
    word_mentions: tuple[Mention, ...]
    number_mentions: tuple[Mention, ...]
    entity_mentions: tuple[Mention, ...]


@dataclass(frozen=True, slots=True)
class Evidence:
    """What an answer may rest on: the union of the features of context sentences and query."""

    words: frozenset[str]
    numbers: frozenset[str]
    entities: frozenset[str]

    @classmethod
    def from_features(cls, features: Iterable[TextFeatures]) -> "Evidence":
        """Return the union of the features; without any, an evidence that supports nothing."""
        sources = list(features)
        return cls(
            words=frozenset().union(*[source.words for source in sources]),
            numbers=frozenset().union(*[source.numbers_offered for source in sources]),
            entities=frozenset().union(*[source.entities for source in sources]),
        )


@dataclass(frozen=True, slots=True)
class SupportCounts:
    """How many words, numbers and entities of a sentence there are and how many the evidence supports.

    Each mention counts once, so a repeated word counts each time. `unsupported` shows the unsupported mentions in order
    of appearance as written; a word inside an unsupported name or number is not shown again.
    """

    count_words: int
    count_words_supported: int
    count_numbers: int
    count_numbers_supported: int
    count_entities: int
    count_entities_supported: int
    unsupported: tuple[str, ...]


# --- vocabulary ---

_CURRENCY_SYMBOLS = {
    "us$": "usd", "a$": "aud", "c$": "cad", "hk$": "hkd", "s$": "sgd", "nz$": "nzd", "r$": "brl",
    "$": "usd", "\u00a3": "gbp", "\u20ac": "eur", "\u00a5": "jpy", "\u20b9": "inr", "\u20a9": "krw",
    "\u20bd": "rub", "\u20ba": "try",
}  # fmt: skip
_CURRENCY_CODES = (
    "usd", "eur", "gbp", "jpy", "chf", "aud", "cad", "nzd", "hkd", "sgd", "inr", "cny", "krw", "brl", "mxn", "sek",
    "nok", "dkk", "pln", "zar", "aed", "sar",
)  # fmt: skip
_CURRENCY_WORDS = {
    "dollar": "usd",
    "pound": "gbp",
    "euro": "eur",
    "yen": "jpy",
    "rupee": "inr",
    "yuan": "cny",
    "franc": "chf",
}
_UNITS = {
    **_CURRENCY_SYMBOLS,
    **{code: code for code in _CURRENCY_CODES},
    **{word + plural: code for word, code in _CURRENCY_WORDS.items() for plural in ("", "s")},
    **dict.fromkeys(
        ("%", "\uff05", "\u066a", "percent", "per cent", "percentage point", "percentage points", "pct", "pp"), "%"
    ),
    **dict.fromkeys(("basis point", "basis points", "bps", "bp"), "bp"),
}
_SCALES = {
    "hundred": 2, "thousand": 3, "k": 3, "lakh": 5, "million": 6, "mln": 6, "mn": 6, "mm": 6, "m": 6, "crore": 7,
    "billion": 9, "bln": 9, "bn": 9, "b": 9, "trillion": 12, "trn": 12, "tn": 12,
}  # fmt: skip
_NUMBER_WORDS = {
    "zero": "0", "one": "1", "two": "2", "three": "3", "four": "4", "five": "5", "six": "6", "seven": "7", "eight": "8",
    "nine": "9", "ten": "10", "eleven": "11", "twelve": "12",
}  # fmt: skip
_ORDINAL_WORDS = {
    "first": "1", "second": "2", "third": "3", "fourth": "4", "fifth": "5", "sixth": "6", "seventh": "7", "eighth": "8",
    "ninth": "9", "tenth": "10", "eleventh": "11", "twelfth": "12",
}  # fmt: skip
_MONTHS = {
    name: f"{month:02}"
    for month, names in enumerate(
        (
            "january jan", "february feb", "march mar", "april apr", "may", "june jun", "july jul", "august aug",
            "september sept sep", "october oct", "november nov", "december dec",
        ),
        start=1,
    )
    for name in names.split()
}  # fmt: skip
# Also words or names: alone they need a capital inside a sentence.
_AMBIGUOUS_MONTHS = frozenset({"march", "may", "mar", "jan", "dec"})
_CONNECTORS = frozenset({"of", "de", "del", "der", "van", "von", "la", "le", "du", "da", "di", "bin", "al"})
_TITLES = frozenset({"mr", "mrs", "ms", "dr", "prof", "st", "sr", "jr", "sir"})
# Words that open a sentence with a capital and are no part of the name behind them.
_OPENER_LIST = """
according accordingly additionally although another based because besides both call combined compared conversely
consider contact currently despite due every finally first firstly following furthermore given hence here however
including instead international lastly like many meanwhile moreover nevertheless next no nonetheless not notably now
once one only open otherwise overall please read recently regarding second secondly see select several similarly since
sincerely specifically subsequently third thus today together total two unfortunately unlike use using via visit whereas
whether yes yesterday yet
"""
_OPENERS = STOP_WORDS | frozenset(_OPENER_LIST.split())

_NUMBER_CUES = _NUMBER_WORDS.keys() | _ORDINAL_WORDS.keys()
_STEMS = {"agreed": "agree", "guaranteed": "guarantee", "decreed": "decree", "used": "use", "using": "use"}

# --- patterns ---
# All but the identifiers run on text in lower case of the same length. Repetitions that another start could repeat are
# bounded, so that no text takes quadratic time.

_MONTH = "(?:" + "|".join(sorted(_MONTHS, key=len, reverse=True)) + r")\b\.?"
_DAY = r"(?:0?[1-9]|[12]\d|3[01])(?:st|nd|rd|th)?"
_YEAR = r"(?:1[5-9]|2[01])\d\d(?!\d)"
_NUMERIC_DATE = re.compile(
    rf"(?<![\w/.-])(?:(?P<iso>{_YEAR}-(?:0\d|1[0-2])-(?:[0-2]\d|3[01]))(?!\d)"
    r"|(?P<first>\d{1,2})(?P<separator>[/.])(?P<second>\d{1,2})(?P=separator)(?P<year>(?:1[5-9]|2[01])\d\d)(?![\d/]))"
)
_MONTH_DATE = re.compile(
    rf"\b(?:(?P<day>{_DAY})(?:\s+of)?[\s-]+(?P<month>{_MONTH})(?:,?[\s-]+(?P<year>{_YEAR}))?"
    rf"|(?P<month_first>{_MONTH})(?:\s+(?P<day_second>{_DAY})(?![\w%:]|[.,]\d)(?:,?\s+(?P<year_last>{_YEAR}))?"
    rf"|,?\s+(?P<year_second>{_YEAR}))?)"
)
_CLOCK = re.compile(
    r"(?<![\w:.])(?:(?P<hour>[01]?\d|2[0-4]):(?P<minute>[0-5]?\d)(?!\d)(?::[0-5]\d(?!\d))?"
    r"(?:\s?(?P<half>[ap])\.?m\b\.?)?"
    r"|(?P<full_hour>0?[1-9]|1[0-2])\s?(?P<full_half>[ap])\.?m\b\.?)"
)
_AMOUNT = re.compile(
    r"(?<![\w.])(?:(?P<before>(?:us|a|c|hk|s|nz|r)?\$|[\u00a3\u20ac\u00a5\u20b9\u20a9\u20bd\u20ba]|(?:"
    + "|".join(_CURRENCY_CODES)
    + r")(?=[\s\d]))\s?)?"
    r"(?P<amount>\d{1,3}(?:\.\d{3}){1,12},\d{1,2}(?!\d)"  # 1.000,50
    r"|\d{1,3}(?:[\u00a0\u202f\u2009'\u2019]\d{3}){1,12}(?:\.\d+)?(?!\d)"  # 1 000 with a narrow space, 1'000
    r"|\d{1,3}(?:,\d{2,3}){0,12},\d{3}(?:\.\d+)?(?!\d)"  # 1,000.50 and 1,00,000
    r"|\d{1,3}(?:\.\d{3}){2,12}(?![.\d])"  # 1.000.000
    r"|\d+(?:\.\d+)*|\.\d+)"
    r"(?P<ordinal>(?:st|nd|rd|th)\b)?"
    r"(?:[\s-]?(?P<scale>(?:hundred|thousand|lakh|million|mln|mn|mm|crore|billion|bln|bn|trillion|trn|tn)s?\b"
    r"|(?<=\d)[kmb]\b))?"
    r"(?:[\s-]?(?P<unit>[%\uff05\u066a$\u00a3\u20ac\u00a5\u20b9](?!\d)|percent\b|per\scent\b|percentage\spoints?\b|pct\b|pp\b"
    r"|basis\spoints?\b|bps?\b|(?:"
    + "|".join(_CURRENCY_CODES)
    + "|"
    + "|".join(word + "s?" for word in _CURRENCY_WORDS)
    + r")\b))?"
)
# "Passage 3", "[2]" point to the context and claim nothing.
_CITATION = re.compile(
    r"\b(?:passage|context|chunk|excerpt|snippet|source)s?\s+#?\d{1,3}(?::\d{1,3})?\b(?!\s?%)|\[\d{1,3}\]"
)
_FISCAL_YEAR = re.compile(r"\bfy\s?['\u2019]?(?P<year>(?:19|20)?\d\d)(?!\d)")
_ADDRESS = re.compile(r"(?:https?://|www\.)[^\s<>\"')\]]+|(?<![\w.+-])[\w.+-]{1,64}@[\w-]+(?:\.[\w-]+)+")
_IDENTIFIER = re.compile(
    r"(?<![\w$\u00a3\u20ac.])401\(?[kK]\)?(?!\w)"
    r"|(?<![\w$\u00a3\u20ac.,/-])(?=[A-Za-z]*[-/]?\d|\d+[-/]?[A-Za-z])"
    r"[A-Za-z0-9]+(?:[-/][A-Za-z0-9]+)*(?![\w])"
)
_NUMBER_WITH_SUFFIX = re.compile(
    r"\d+(?:k|m|mm|mn|bn|b|tn|st|nd|rd|th|s|x|am|pm|h|hr|hrs|min|kg|km|cm|g|lb|lbs|ft|pp|bps?)|fy\d+"
)
_DIGIT = re.compile(r"\d")
_YEAR_PREFIXES = frozenset({"mid", "pre", "post", "early", "late", "since", "circa", "fy"})
_SENTENCE_BREAK = re.compile(r"[.!?:\n\r\"\u201c\u2022]")
_SEPARATOR = re.compile("[,'\u2019\u00a0\u202f\u2009]")
_IDENTIFIER_BREAK = re.compile("[-/]")
_PUNCTUATION = re.compile(r"[\W_]")
_CAMEL_BREAK = re.compile("(?<=[a-z])(?=[A-Z])")
_LOWER_ASCII = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}


def extract_features(text: str) -> TextFeatures:
    """Return the words, numbers and entities of a sentence in normal form.

    Words are the content words without pure numbers, reduced by `stem_word`. Numbers are amounts (``1,000`` = ``1000``
    = ``1k`` = ``1 thousand``) with percent (also basis points) or currency, dates, times, years, ordinals, and number
    words up to twelve as a kind of their own ("one" only before a scale or unit, "first" not where it opens a list).
    Entities are found by rule: capitalised words in a row ("Bank of America"), a single capitalised word inside a
    sentence, acronyms, identifiers of letters and digits (ISA2024, W-8BEN, 10-K), e-mail addresses and URLs. Citations
    of the context ("Passage 3", "[2]") are left out. A single capitalised word that opens a sentence is no entity; in a
    text wholly in capitals only identifiers and addresses are.

    Parameters
    ----------
    text : str
        One sentence, or a short text such as a query. CJK text has neither spaces nor capitals: each character is a
        word.

    Returns
    -------
    TextFeatures
    """
    lower = text.lower()
    if len(lower) != len(text):  # a few letters grow in lower case, and positions must stay
        lower = text.translate(_LOWER_ASCII)
    tokens = [(*match.span(), match.group()) for match in WORD_PATTERN.finditer(text)]
    analyses = [_analyse(surface) for _, _, surface in tokens]
    folded = [word for word, _, _ in analyses]

    claimed = bytearray(len(text))  # marks the characters that a number, an address or an identifier has taken
    entity_mentions = list(_find_addresses(text, lower, claimed))
    has_digit = _DIGIT.search(text) is not None
    number_mentions: list[Mention] = []
    offered: set[str] = set()
    if has_digit:
        for citation in _CITATION.finditer(lower):
            _claim(*citation.span(), claimed)
        entity_mentions.extend(_find_identifiers(text, claimed))
        _find_numeric_dates(text, lower, claimed, number_mentions, offered)
    if not _MONTHS.keys().isdisjoint(folded):
        _find_month_dates(text, lower, claimed, number_mentions, offered)
    if has_digit:
        _find_amounts(text, lower, claimed, number_mentions, offered)
    if not _NUMBER_CUES.isdisjoint(folded):
        _find_number_words(text, tokens, folded, claimed, number_mentions, offered)
    number_mentions.sort()

    entity_mentions.extend(_find_names(text, tokens, folded, claimed))
    entity_mentions.sort()
    word_mentions = []
    words = set()
    for (start, end, surface), (_, keys, inner_words) in zip(tokens, analyses, strict=True):
        if keys:
            words.add(keys[0])
            words.update(inner_words)
            if not claimed[start]:  # "million" in "5 million" can support a word, but is counted with its number
                word_mentions.append(Mention(start, end, surface, keys))
    return TextFeatures(
        words=frozenset(words),
        numbers=tuple([mention.keys[0] for mention in number_mentions]),
        entities=tuple([mention.keys[0] for mention in entity_mentions]),
        numbers_offered=frozenset(offered),
        word_mentions=tuple(word_mentions),
        number_mentions=tuple(number_mentions),
        entity_mentions=tuple(entity_mentions),
    )


def measure_support(sentence: TextFeatures, evidence: Evidence) -> SupportCounts:
    """Return how many words, numbers and entities of a sentence occur in the evidence.

    A number is supported when the evidence has the same value with the same unit, or when one side has no unit; a date
    by the same or a more precise date. A name is supported when it occurs, or when each of its parts occurs among the
    words.

    Parameters
    ----------
    sentence : TextFeatures
        Features of one answer sentence.
    evidence : Evidence
        Evidence of the interaction.

    Returns
    -------
    SupportCounts
    """
    missing = [mention for mention in sentence.word_mentions if mention.keys[0] not in evidence.words]
    count_words_missing = len(missing)
    for mention in sentence.number_mentions:
        if evidence.numbers.isdisjoint(mention.keys):
            missing.append(mention)
    count_numbers_missing = len(missing) - count_words_missing
    for mention in sentence.entity_mentions:
        if mention.keys[0] not in evidence.entities and not (
            mention.parts and evidence.words.issuperset(mention.parts)
        ):
            missing.append(mention)
    count_entities_missing = len(missing) - count_words_missing - count_numbers_missing
    return SupportCounts(
        count_words=len(sentence.word_mentions),
        count_words_supported=len(sentence.word_mentions) - count_words_missing,
        count_numbers=len(sentence.number_mentions),
        count_numbers_supported=len(sentence.number_mentions) - count_numbers_missing,
        count_entities=len(sentence.entity_mentions),
        count_entities_supported=len(sentence.entity_mentions) - count_entities_missing,
        unsupported=_surfaces_without_nesting(missing),
    )


@functools.lru_cache(maxsize=1 << 16)
def stem_word(word: str) -> str:
    """Return a case-folded word without a possessive or a regular English ending.

    The rule is tiny on purpose: 's, plural -s / -es / -ies, -ed / -ied, -ing (with a doubled consonant made single),
    then a final e. It maps fee and fees, charge, charged and charging, apply and applies to one form each; it need not
    be a word. Words of fewer than four letters and words outside ASCII are left alone, and so are irregular forms.
    """
    if word.endswith("'s"):
        word = word[:-2]
    elif word.endswith("s'"):
        word = word[:-1]
    if len(word) < 4 or not word.isascii() or not word.isalpha():
        return word
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        if word.endswith("ies") and len(word) > 4:
            word = word[:-3] + "y"
        elif word.endswith(("sses", "xes", "zes", "ches", "shes")):
            word = word[:-2]
        else:
            word = word[:-1]
    if word.endswith("ied") and len(word) > 4:
        word = word[:-3] + "y"
    elif word in _STEMS:
        word = _STEMS[word]
    elif word.endswith("ed") and not word.endswith("eed") and len(word) > 4:
        word = _undouble(word[:-2], word)
    elif word.endswith("ing") and len(word) > 5:
        word = _undouble(word[:-3], word)
    if len(word) > 3 and word.endswith("e") and not word.endswith("ee"):
        word = word[:-1]
    return word


def bleu_2(candidate: str, reference: str) -> float:
    """Return the sentence BLEU of unigrams and bigrams, between 0 and 1.

    sacrebleu, `max_ngram_order=2`, `effective_order=True`, smoothing `BLEU_SMOOTHING`, tokenizer 13a with CJK
    characters set apart.

    Parameters
    ----------
    candidate, reference : str
        Answer and reference answer. A blank on either side gives 0.

    Returns
    -------
    float
    """
    if not candidate.strip() or not reference.strip():
        return 0.0
    score = _bleu().sentence_score(_set_cjk_apart(candidate), [_set_cjk_apart(reference)]).score
    return float(min(max(score / 100.0, 0.0), 1.0))


def rouge_l(candidate: str, reference: str) -> float:
    """Return ROUGE-L, the F1 of the longest common subsequence of words, between 0 and 1.

    Words are runs of letters and digits in lower case, and single CJK characters. On ASCII text it equals `rouge_score`
    without stemmer. Source: Lin 2004, section 3; the subsequence is counted bit-parallel (Hyyro 2004), in O(words x
    words / 64).

    Parameters
    ----------
    candidate, reference : str
        Answer and reference answer. Without a word on either side the result is 0.

    Returns
    -------
    float
    """
    candidate_words = _ROUGE_WORD.findall(candidate.lower())
    reference_words = _ROUGE_WORD.findall(reference.lower())
    length = _longest_common_subsequence(candidate_words, reference_words)
    if length == 0:
        return 0.0
    precision = length / len(candidate_words)
    recall = length / len(reference_words)
    return 2 * precision * recall / (precision + recall)


def exact_match(candidate: str, reference: str) -> float:
    """Return 1.0 if two texts are equal after normalisation, else 0.0.

    Case, punctuation, the articles a, an, the, and whitespace do not count (SQuAD, Rajpurkar et al. 2016). Numbers are
    compared by value (``$1,000.00`` = ``1000 dollars``): their sign counts, and units must agree unless one side has
    none. Unlike SQuAD, 3.5 and 35 differ.

    Parameters
    ----------
    candidate, reference : str

    Returns
    -------
    float
    """
    left = _comparable_parts(candidate)
    right = _comparable_parts(reference)
    if len(left) != len(right):
        return 0.0
    for (left_sign, left_keys), (right_sign, right_keys) in zip(left, right, strict=True):
        if left_sign != right_sign or (left_keys[0] not in right_keys and right_keys[0] not in left_keys):
            return 0.0
    return 1.0


# --- words ---


def _fold(surface: str) -> str:
    """Return a word as `hcat.text.content_words` returns it."""
    folded = surface.lower() if surface.isascii() else surface.casefold().replace("\u2019", "'")
    return folded.replace(".", "") if folded.endswith(".") else folded


@functools.lru_cache(maxsize=1 << 16)
def _analyse(surface: str) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
    """Return a word folded, its stem if it is a content word, and the stems inside a compound such as
    OutdoorSeating."""
    folded = _fold(surface)
    if folded in STOP_WORDS or folded[0].isdigit():
        return folded, (), ()
    inner_words: tuple[str, ...] = ()
    if _CAMEL_BREAK.search(surface):
        inner_words = tuple(stem_word(word.lower()) for word in _CAMEL_BREAK.split(surface))
    return folded, (stem_word(folded),), inner_words


def _undouble(stem: str, word: str) -> str:
    """Return the stem with its doubled last consonant made single, or the word if no vowel is left (sting, bring)."""
    if len(stem) < 3 or not any(vowel in stem for vowel in "aeiouy"):
        return word
    if stem[-1] == stem[-2] and stem[-1] not in "aeioulsz":
        return stem[:-1]
    return stem


def _surfaces_without_nesting(mentions: list[Mention]) -> tuple[str, ...]:
    """Return what the mentions look like in order, leaving out mentions inside or across an earlier one."""
    shown = []
    position = 0
    for mention in sorted(mentions, key=lambda mention: (mention.start, -mention.end)):
        if mention.start >= position:
            shown.append(mention.surface)
            position = mention.end
    return tuple(shown)


# --- numbers ---


def _claim(start: int, end: int, claimed: bytearray) -> bool:
    """Claim a span, unless a part of it is claimed already."""
    if claimed.find(1, start, end) >= 0:
        return False
    claimed[start:end] = b"\1" * (end - start)
    return True


def _decimal(digits: str, shift: int = 0) -> str:
    """Return a decimal number times 10 ** shift without needless zeros, exactly and for any length."""
    whole, _, fraction = digits.partition(".")
    fraction = fraction.ljust(shift, "0") if shift > 0 else fraction
    if shift < 0:
        whole = whole.rjust(1 - shift, "0")
        whole, fraction = whole[:shift], whole[shift:] + fraction
    elif shift > 0:
        whole, fraction = whole + fraction[:shift], fraction[shift:]
    whole = whole.lstrip("0") or "0"
    fraction = fraction.rstrip("0")
    return f"{whole}.{fraction}" if fraction else whole


def _add_amount(
    text: str, start: int, end: int, value: str, unit: str, mantissa: str, mentions: list[Mention], offered: set[str]
) -> None:
    """Add an amount: `unit` is empty, ``%``, a currency, ``word`` or ``ordinal``; `mantissa` is empty unless a scale
    was written."""
    form = f"{value} {unit}" if unit else value
    if unit == "ordinal":
        keys: tuple[str, ...] = (form,)
        offered.add(form)
    elif unit in ("", "word"):
        keys = (form, value) if unit else (form,)
        offered.update((form, value, f"{value} ="))  # "=" stands for a value without a unit: any unit may rest on it
    else:
        keys = (form, f"{value} =")
        offered.update((form, value))
    if mantissa and len(mantissa.replace(".", "").strip("0")) >= MINIMUM_MANTISSA_DIGITS:
        keys = (*keys, f"{mantissa} {unit}" if unit else mantissa, f"{mantissa} =")
    mentions.append(Mention(start, end, text[start:end], keys))


def _find_amounts(text: str, lower: str, claimed: bytearray, mentions: list[Mention], offered: set[str]) -> None:
    """Add times, fiscal years and amounts."""
    for match in _CLOCK.finditer(lower):
        hour = int(match["hour"] or match["full_hour"])
        half = match["half"] or match["full_half"]
        if half and hour <= 12:
            hour = hour % 12 + (12 if half == "p" else 0)
        if _claim(match.start(), match.end(), claimed):
            form = f"{hour % 24:02}:{int(match['minute'] or 0):02}"
            mentions.append(Mention(match.start(), match.end(), text[match.start() : match.end()], (form,)))
            offered.add(form)
    if "fy" in lower:
        for match in _FISCAL_YEAR.finditer(lower):
            if _claim(match.start(), match.end(), claimed):
                year = match["year"] if len(match["year"]) == 4 else f"20{match['year']}"
                _add_amount(text, match.start(), match.end(), year, "", "", mentions, offered)
    for match in _AMOUNT.finditer(lower):
        start, end = match.span()
        if not _claim(start, end, claimed):
            continue
        before, digits, ordinal, scale, unit = match.group("before", "amount", "ordinal", "scale", "unit")
        if "," in digits and "." in digits and digits.rfind(",") > digits.rfind("."):
            digits = digits.replace(".", "").replace(",", ".")
        elif digits.count(".") > 1:
            groups = digits.split(".")
            # 1.000.000 is a number, 4.2.1 a section and kept as it stands
            digits = digits if any(len(group) != 3 for group in groups[1:]) else "".join(groups)
        else:
            digits = _SEPARATOR.sub("", digits)
        if digits.count(".") > 1 or (len(digits) > 1 and digits[0] == "0" and digits.isdigit()):
            value = digits  # a section, or an account or telephone number, whose leading zero counts
        else:
            value = _decimal(digits, _SCALES[scale.rstrip("s")] if scale else 0)
        kind = _UNITS[(unit or before or "").strip().replace("\u00a0", " ")] if unit or before else ""
        if kind == "bp" and digits.count(".") < 2:
            value, kind = _decimal(value, -2), "%"
        _add_amount(
            text,
            start,
            end,
            value,
            "ordinal" if ordinal else kind,
            _decimal(digits) if scale else "",
            mentions,
            offered,
        )


def _find_number_words(
    text: str,
    tokens: list[tuple[int, int, str]],
    folded: list[str],
    claimed: bytearray,
    mentions: list[Mention],
    offered: set[str],
) -> None:
    """Add number words and ordinals up to twelve, with a scale or percent behind them."""
    for position, word in enumerate(folded):
        value = _NUMBER_WORDS.get(word)
        start, end, _ = tokens[position]
        if value is None:
            ordinal = _ORDINAL_WORDS.get(word)
            # "First, open ..." counts nothing
            if ordinal is not None and position > 0 and text[end : end + 1] != "," and _claim(start, end, claimed):
                _add_amount(text, start, end, ordinal, "ordinal", "", mentions, offered)
            continue
        following = folded[position + 1] if position + 1 < len(folded) else ""
        unit = "word"
        shift = 0
        if len(following) > 2 and following.rstrip("s") in _SCALES:
            shift = _SCALES[following.rstrip("s")]
            end = tokens[position + 1][1]
            unit = ""
            following = folded[position + 2] if position + 2 < len(folded) else ""
        if following in _UNITS and _UNITS[following] != "bp":
            unit = _UNITS[following]
            end = tokens[position + 1 + (shift > 0)][1]
        if value == "1" and unit == "word":
            offered.update(
                ("1", "1 =", "1 word")
            )  # a pronoun as often as a number: it can support, but asks for no support
        elif _claim(start, end, claimed):
            _add_amount(text, start, end, _decimal(value, shift), unit, "", mentions, offered)


def _date_forms(year: str, month: str, day: str) -> tuple[str, ...]:
    """Return the normal form of a date with missing parts empty, and then all that the date implies."""
    forms = []
    if year and month and day:
        forms += [f"{year}-{month}-{day}"]
    if year and month:
        forms += [f"{year}-{month}"]
    if month and day:
        forms += [f"--{month}-{day}"]
    if month:
        forms += [f"--{month}"]
    if year:
        forms += [year]
    return tuple(forms)


def _find_numeric_dates(text: str, lower: str, claimed: bytearray, mentions: list[Mention], offered: set[str]) -> None:
    """Add ISO dates and dates such as 25/12/2024; where day and month cannot be told apart, both readings support and
    suffice."""
    for match in _NUMERIC_DATE.finditer(lower):
        readings: list[tuple[str, ...]] = []
        keys: tuple[str, ...] = ()
        if match["iso"]:
            year, month, day = match["iso"].split("-")
            readings = [_date_forms(year, month, day)]
        else:
            first, second, year = match["first"].zfill(2), match["second"].zfill(2), match["year"]
            if "01" <= second <= "12" and "01" <= first <= "31":
                readings.append(_date_forms(year, second, first))
            if "01" <= first <= "12" and "01" <= second <= "31" and first != second:
                readings.append(_date_forms(year, first, second))
            if len(readings) == 2:
                keys = (f"{first}/{second}/{year}",)
        if readings and _claim(match.start(), match.end(), claimed):
            keys = (*keys, *(forms[0] for forms in readings))
            mentions.append(Mention(match.start(), match.end(), text[match.start() : match.end()], keys))
            offered.update(keys, (form for forms in readings for form in forms), (f"{readings[0][-1]} =",))


def _find_month_dates(text: str, lower: str, claimed: bytearray, mentions: list[Mention], offered: set[str]) -> None:
    """Add dates with the name of a month: 12 March 2024, March 12, 2024, March 2024, 12 March, March."""
    for match in _MONTH_DATE.finditer(lower):
        start, end = match.span()
        name = (match["month"] or match["month_first"]).rstrip(".")
        year = match["year"] or match["year_last"] or match["year_second"] or ""
        day = (match["day"] or match["day_second"] or "").rstrip("stndrh")
        if not year and not day:
            if not text[start].isupper() or (name in _AMBIGUOUS_MONTHS and start == 0):
                continue
            end -= lower[end - 1] == "."
        if _claim(start, end, claimed):
            forms = _date_forms(year, _MONTHS[name], day and day.zfill(2))
            mentions.append(Mention(start, end, text[start:end], forms[:1]))
            offered.update(forms)
            if year:
                offered.add(f"{year} =")


# --- entities ---


def _find_addresses(text: str, lower: str, claimed: bytearray) -> Iterator[Mention]:
    """Yield e-mail addresses and URLs."""
    if "@" in text or "://" in text or "www." in lower:
        for match in _ADDRESS.finditer(lower):
            key = match.group().rstrip(".,;:!?/")
            end = match.start() + len(key)
            if _claim(match.start(), end, claimed):
                yield Mention(match.start(), end, text[match.start() : end], (key,))


def _find_identifiers(text: str, claimed: bytearray) -> Iterator[Mention]:
    """Yield identifiers of letters and digits; hyphens, slashes and case do not count."""
    for match in _IDENTIFIER.finditer(text):
        surface = match.group()
        segments = _IDENTIFIER_BREAK.split(surface.lower())
        if _NUMBER_WITH_SUFFIX.fullmatch(segments[0]) or segments[0] in _YEAR_PREFIXES:
            continue
        is_mixed = any(not segment.isdigit() and _DIGIT.search(segment) for segment in segments)
        has_capital = surface != surface.lower() and _DIGIT.search(surface) is not None
        if (is_mixed or has_capital) and _claim(match.start(), match.end(), claimed):
            yield Mention(match.start(), match.end(), surface, ("".join(segments).strip("()").replace("(", ""),))


def _find_names(
    text: str, tokens: list[tuple[int, int, str]], folded: list[str], claimed: bytearray
) -> Iterator[Mention]:
    """Yield capitalised spans and acronyms."""
    if text.isupper() and len(tokens) > 1:
        return  # capitals say nothing here
    position = 0
    count = len(tokens)
    while position < count:
        if not tokens[position][2][0].isupper() or claimed[tokens[position][0]]:
            position += 1
            continue
        members = [position]
        following = position + 1
        while following < count:
            gap = text[tokens[following - 1][1] : tokens[following][0]]
            if not _joins(gap, tokens[following - 1][2]) or claimed[tokens[following][0]]:
                break
            if tokens[following][2][0].isupper():
                members.append(following)
            elif not (
                folded[following] in _CONNECTORS or (folded[following] == "the" and following - 1 not in members)
            ):
                break
            following += 1
        position = max(members[-1] + 1, position + 1)
        yield from _name_mention(text, tokens, folded, members)


def _name_mention(
    text: str, tokens: list[tuple[int, int, str]], folded: list[str], members: list[int]
) -> Iterator[Mention]:
    """Yield the name made of the capitalised tokens, if it is one."""
    opens_sentence = members[0] == 0 or (
        _SENTENCE_BREAK.search(text, tokens[members[0] - 1][1], tokens[members[0]][0]) is not None
    )
    while (
        members
        and folded[members[0]] in (_OPENERS if opens_sentence else STOP_WORDS)
        and not _is_acronym(tokens[members[0]][2])
    ):
        members = members[1:]
        opens_sentence = False
    while members and folded[members[-1]] in STOP_WORDS and not _is_acronym(tokens[members[-1]][2]):
        members = members[:-1]
    if not members:
        return
    start, end = tokens[members[0]][0], tokens[members[-1]][1]
    surface = text[start:end]
    if len(members) == 1 and not _is_acronym(surface) and (opens_sentence or len(surface) == 1):
        return
    if surface.endswith(("'s", "\u2019s")):
        surface, end = surface[:-2], end - 2
    parts = tuple(stem_word(folded[member]) for member in members if folded[member] not in STOP_WORDS)
    yield Mention(start, end, surface, (" ".join(_fold(surface).replace(".", "").split()),), parts)


def _is_acronym(surface: str) -> bool:
    """Return whether a word has at least two letters and none but capitals (a plural s may follow)."""
    letters = (surface[:-2] if surface.endswith(("'s", "\u2019s")) else surface).replace(".", "")
    return len(letters) > 1 and (
        letters.isupper() or (len(letters) > 2 and letters[-1] == "s" and letters[:-1].isupper())
    )


def _joins(gap: str, word_before: str) -> bool:
    """Return whether a name goes on behind the gap: a space, a hyphen, an ampersand, or the dot of an initial or a
    title."""
    if word_before.endswith(("'s", "\u2019s")):
        return False
    if gap in (" ", "-", "&", " & ", "\u00a0", "/"):
        return True
    return gap in (".", ". ") and (len(word_before) == 1 or word_before.lower() in _TITLES)


# --- comparison with a reference ---

_CJK_CHARACTER = re.compile(f"[{CJK_CHARACTERS}]")
_ROUGE_WORD = re.compile(rf"[{CJK_CHARACTERS}]|[^\W_{CJK_CHARACTERS}]+")
_MATCH_WORD = re.compile(rf"[{CJK_CHARACTERS}]|(?:[^\W{CJK_CHARACTERS}]|['\u2019](?=\w))+")


@functools.cache
def _bleu() -> "BLEU":
    from sacrebleu.metrics.bleu import BLEU  # imported on first use: sacrebleu takes a while

    return BLEU(max_ngram_order=2, smooth_method=BLEU_SMOOTHING, effective_order=True)


def _set_cjk_apart(text: str) -> str:
    return text if text.isascii() else _CJK_CHARACTER.sub(r" \g<0> ", text)


def _longest_common_subsequence(left: list[str], right: list[str]) -> int:
    """Return the length of the longest common subsequence; the zero bits of the state count it."""
    positions: dict[str, int] = {}
    for position, word in enumerate(left):
        positions[word] = positions.get(word, 0) | (1 << position)
    everything = (1 << len(left)) - 1
    state = everything
    for word in right:
        matches = state & positions.get(word, 0)
        state = ((state + matches) | (state - matches)) & everything
    return len(left) - state.bit_count()


def _comparable_parts(text: str) -> list[tuple[str, tuple[str, ...]]]:
    """Return the words and numbers of a text in order, each as (sign, forms it may equal)."""
    parts: list[tuple[int, str, tuple[str, ...]]] = []
    covered = bytearray(len(text))
    for mention in extract_features(text).number_mentions:
        before = text[max(0, mention.start - 4) : mention.start].rstrip("( $\u00a3\u20ac")
        is_negative = before.endswith(("-", "\u2212")) and not before[:-1].rstrip(" (")[-1:].isalnum()
        value, _, unit = mention.keys[0].partition(" ")
        # A bare value equals the value with any unit; two units must be the same.
        keys = (mention.keys[0],) if unit in ("", "ordinal") else (mention.keys[0], value)
        parts.append((mention.start, "-" if is_negative else "", keys))
        _claim(mention.start, mention.end, covered)
    for match in _MATCH_WORD.finditer(text):
        word = _PUNCTUATION.sub("", match.group().casefold())
        if word and word not in ("a", "an", "the") and not covered[match.start()]:
            parts.append((match.start(), "", (word,)))
    return [(sign, keys) for _, sign, keys in sorted(parts)]

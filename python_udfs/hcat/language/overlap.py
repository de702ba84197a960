"""Measure which words, numbers and entities of an answer occur in its evidence, and compare an answer with a reference
by its words.

The support metrics are cheap and strong on changed numbers and names. The features of a sentence are extracted once,
the evidence of an interaction is the union of the features of its context sentences and its query, and measuring is a
lookup in sets.
"""

import functools
import math
import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from hcat.language.text import CJK_CHARACTERS, STOP_WORDS, find_words

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
        Stems of the content words, without what is written in digits; of a key such as OutdoorSeating also the parts;
        ``united states`` (with a space, as no stem has) however that state is written, and so for the UK, EU and UN.
    numbers : tuple of str
        Normal form of every number in order: ``1000`` (bare), ``5 %``, ``1000 usd``, ``3 word`` (a number word), ``3
        ordinal``, ``1/4 fraction``, ``2024-03-12``, ``2024-03``, ``--03-12``, ``--03`` (dates, ISO 8601),
        ``12/03/2024`` (order unknown), ``2024-q1``, ``--q1``, ``2024-h1`` (quarters and halves of a year), ``1990s``,
        ``22:30`` (24 hours). The sign is left out, because tables write it as brackets.
    entities : tuple of str
        Names (case-folded, without accents and corporate suffix), acronyms, identifiers, e-mail addresses and URLs in
        order.
    numbers_offered : frozenset of str
        What the numbers can support when the sentence is evidence, for instance a date also its year.
    entities_offered : frozenset of str
        What the entities can support when the sentence is evidence: themselves and the acronyms of full names.
    word_mentions, number_mentions, entity_mentions : tuple of Mention
        The same in order of appearance, as the text writes them.
    """

    words: frozenset[str]
    numbers: tuple[str, ...]
    entities: tuple[str, ...]
    numbers_offered: frozenset[str]
    entities_offered: frozenset[str]
    word_mentions: tuple[Mention, ...]
    number_mentions: tuple[Mention, ...]
    entity_mentions: tuple[Mention, ...]


class Offer(NamedTuple):
    """What one text supports as evidence; tuples, since a set of a dozen words takes five times as much memory."""

    words: tuple[str, ...]
    numbers: tuple[str, ...]
    entities: tuple[str, ...]

    @classmethod
    def from_features(cls, features: TextFeatures) -> "Offer":
        """Return what a text with these features supports."""
        return cls(tuple(features.words), tuple(features.numbers_offered), tuple(features.entities_offered))


@dataclass(frozen=True, slots=True)
class Evidence:
    """What an answer may rest on: the union of the features of context sentences and query."""

    words: frozenset[str]
    numbers: frozenset[str]
    entities: frozenset[str]

    @classmethod
    def from_features(cls, features: Iterable[TextFeatures]) -> "Evidence":
        """Return the union of the features; without any, an evidence that supports nothing."""
        return cls.from_offers(map(Offer.from_features, features))

    @classmethod
    def from_offers(cls, offers: Iterable[Offer]) -> "Evidence":
        """Return the union of what texts support; without any, an evidence that supports nothing."""
        sources = list(offers)
        return cls(
            words=frozenset().union(*[source.words for source in sources]),
            numbers=frozenset().union(*[source.numbers for source in sources]),
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
    "zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
    "ten": 10, "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16,
    "seventeen": 17, "eighteen": 18, "nineteen": 19, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60,
    "seventy": 70, "eighty": 80, "ninety": 90,
}  # fmt: skip
_ORDINAL_WORDS = {
    "first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7, "eighth": 8, "ninth": 9,
    "tenth": 10, "eleventh": 11, "twelfth": 12, "thirteenth": 13, "fourteenth": 14, "fifteenth": 15, "sixteenth": 16,
    "seventeenth": 17, "eighteenth": 18, "nineteenth": 19, "twentieth": 20,
}  # fmt: skip
# Words that a number goes on with, and that start one behind "a": a hundred, a million.
_SCALE_WORDS = {word: scale for word, scale in _SCALES.items() if len(word) > 2}
_COUNTED_SCALES = frozenset({"hundred", "thousand", "million", "billion", "trillion"})
# "you first need ...": the word orders steps.
_BEFORE_FIRST = frozenset({"you", "we", "they", "i", "to", "should", "must", "can", "will", "and", "then"})
_PLACES_OF_TEXT = frozenset({"passage", "context", "chunk", "excerpt", "snippet", "source", "paragraph"})
_DENOMINATORS = {
    "half": 2, "third": 3, "quarter": 4, "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7, "eighth": 8, "ninth": 9,
    "tenth": 10,
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
_COURTESIES = frozenset({"mr", "mrs", "ms"})
_CORPORATE_SUFFIXES = frozenset(
    {
        "inc", "incorporated", "ltd", "limited", "corp", "corporation", "plc", "gmbh", "ag", "co", "company", "llc",
        "llp", "lp", "sa", "se", "nv", "bv", "spa", "srl", "ab", "oyj", "kg", "kgaa", "pty",
    }
)  # fmt: skip
_ACRONYM_CONNECTORS = _CONNECTORS | {"for", "and", "the", "on", "to", "des"}
_STATES = {"united states": "us", "united kingdom": "uk", "european union": "eu", "united nations": "un"}
_STATE_ACRONYMS = {
    acronym + ending: name
    for acronym, name in [*((acronym, name) for name, acronym in _STATES.items()), ("usa", "united states")]
    for ending in ("", "'s")
}
# The states of the United States as addresses write them.
_REGIONS = {
    "alabama": "al", "alaska": "ak", "arizona": "az", "arkansas": "ar", "california": "ca", "colorado": "co",
    "connecticut": "ct", "delaware": "de", "florida": "fl", "georgia": "ga", "hawaii": "hi", "idaho": "id",
    "illinois": "il", "indiana": "in", "iowa": "ia", "kansas": "ks", "kentucky": "ky", "louisiana": "la", "maine": "me",
    "maryland": "md", "massachusetts": "ma", "michigan": "mi", "minnesota": "mn", "mississippi": "ms",
    "missouri": "mo", "montana": "mt", "nebraska": "ne", "nevada": "nv", "new hampshire": "nh", "new jersey": "nj",
    "new mexico": "nm", "new york": "ny", "north carolina": "nc", "north dakota": "nd", "ohio": "oh", "oklahoma": "ok",
    "oregon": "or", "pennsylvania": "pa", "rhode island": "ri", "south carolina": "sc", "south dakota": "sd",
    "tennessee": "tn", "texas": "tx", "utah": "ut", "vermont": "vt", "virginia": "va", "washington": "wa",
    "west virginia": "wv", "wisconsin": "wi", "wyoming": "wy",
}  # fmt: skip
_REGION_ALIASES = {**_REGIONS, **{code: name for name, code in _REGIONS.items()}}
# Stems of words that addresses shorten.
_SHORTENED = {"avenu": "ave", "boulevard": "blvd", "road": "rd", "street": "st", "highway": "hwy", "suit": "ste"}
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

_NUMBER_CUES = _NUMBER_WORDS.keys() | _ORDINAL_WORDS.keys() | _COUNTED_SCALES
_FRACTION_CUES = _DENOMINATORS.keys() | {word + "s" for word in _DENOMINATORS}
_PERIOD_CUES = frozenset({"quarter", "half"})
_STATE_CUES = _STATE_ACRONYMS.keys() | {"united", "european"}
_CUES = _MONTHS.keys() | _NUMBER_CUES | _FRACTION_CUES | _STATE_CUES
# Accents do not count in Latin letters; in other scripts such marks make other letters.
_LATIN = {
    code: decomposed[0]
    for code in (*range(0xC0, 0x250), *range(0x1E00, 0x1F00))
    if (decomposed := unicodedata.normalize("NFD", chr(code)))[0].isascii() and len(decomposed) > 1
} | {ord(letter): plain for letter, plain in {"\u00f8": "o", "\u0142": "l", "\u0111": "d", "\u00e6": "ae",
                                              "\u0153": "oe", "\u0131": "i"}.items()}  # fmt: skip
_STEMS = {"agreed": "agree", "guaranteed": "guarantee", "decreed": "decree", "used": "use", "using": "use"}

# --- patterns ---
# All but the identifiers run on text in lower case of the same length. Repetitions that another start could repeat are
# bounded, so that no text takes quadratic time.

_MONTH = "(?:" + "|".join(sorted(_MONTHS, key=len, reverse=True)) + r")\b\.?"
_DAY = r"(?:0?[1-9]|[12]\d|3[01])(?:st|nd|rd|th)?"
_YEAR = r"(?:1[5-9]|2[01])\d\d(?!\d)"
_NUMERIC_DATE = re.compile(
    rf"(?<![\w/.-])(?:(?P<iso>{_YEAR}(?P<mark>[-/.])(?:0\d|1[0-2])(?P=mark)(?:[0-2]\d|3[01]))(?!\d)"
    r"|(?P<first>\d{1,2})(?P<separator>[/.-])(?P<second>\d{1,2})(?P=separator)"
    r"(?P<year>(?:1[5-9]|2[01])\d\d)(?![\d/]))"
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
# "Q1 2024", "1Q24", "2024 Q1", "first quarter of fiscal 2024", "H1 2024", "first half of 2024".
_PERIOD = re.compile(
    rf"(?<![\w.-])(?:(?P<year_before>{_YEAR})[\s-]?)?"
    r"(?:(?P<letter>[qh])(?P<digit>[1-4])|(?P<digit_before>[1-4])(?P<letter_behind>[qh])"
    r"|(?P<ordinal>first|second|third|fourth|1st|2nd|3rd|4th)[\s-](?P<period>quarter|half))"
    r"(?:(?:(?<=[a-z])[\s-]|\s|-|(?<=\d)/|,\s)?(?:of\s)?(?:the\s)?"
    r"(?:(?:fiscal|financial|calendar)\s(?:year\s)?|year\s)?(?:"
    rf"(?:fy\s?)?(?P<year>{_YEAR})|(?:(?:fy|['\u2019/])\s?['\u2019]?|(?<=[qh]))(?P<short>\d\d)))?(?![\w-])"
)
_DECADE = re.compile(r"(?<![\w.,])(?P<decade>(?:1[5-9]|2[01])\d0s)(?!\w)")
_COUNT = r"\d{1,4}|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty"
_PART = re.compile(
    r"(?<![\w-])(?:(?P<count>an?|one|two|three|four|five|six|seven|eight|nine|[1-9])[\s-])?"
    r"(?P<part>half|third|quarter|fourth|fifth|sixth|seventh|eighth|ninth|tenth)(?P<plural>s)?(?![\w-])"
    r"(?P<whole>\s(?:of\s)?(?:(?:a|an|one)\s)?(?P<unit>percentage\spoint|percent|per\scent|(?<=a\s)million"
    r"|(?<=a\s)billion|(?<=a\s)trillion)(?!\w)(?:\s(?P<currency>dollars|pounds|euros|yen)(?!\w))?)?"
)
_RATIO = re.compile(
    rf" (?:in|out of) (?:every )?(?P<whole>{_COUNT})(?![\w%:/-]|[.,]\d)"
    r"(?! (?:years?|months?|weeks?|days?|hours?|minutes?|seconds?|per|percent|hundred|thousand|million"
    r"|billion|trillion)\b)"
)
_STARS = re.compile(r"\s?(?:stars?|points?)\b")
_RATING = re.compile(r"\b(?:rat|scor)(?:e|es|ed|ing|ings)\b[^.]{0,20}\Z")
_RATIO_COUNT = re.compile(rf"(?<![\w.,/$\u00a3\u20ac-])(?P<part>{_COUNT})\Z")
_SLASH = re.compile(
    r"(?<![\w./,-])(?<!\d )(?P<part>[1-9])/(?P<whole>[2-9]|10|16|100)(?![\w/-]|[.,]\d)"
    r"(?P<percent>\s?(?:%|percent\b|per\scent\b|(?:of\s)?(?:a\s|one\s)?percentage\spoint\b))?(?P<of>\sof\b)?"
)
# Halves and quarters of what is named before: "the second half", "the last three quarters", "two and a half".
_BEFORE_NO_FRACTION = re.compile(
    r"\b(?:first|second|third|fourth|1st|2nd|3rd|4th|former|latter|last|past|previous|next|other|this|that|these|those"
    r"|each|every|final|opening|closing|top|bottom|upper|lower|consecutive|successive|recent|and|for|per|the)\s\Z"
)
_BEFORE_FRACTION = re.compile(
    r"\b(?:by|about|around|nearly|almost|over|under|roughly|approximately|than|least|most|just|exactly|only|in|to)\s\Z"
)
_OF_A_PERIOD = re.compile(r"\sof\s(?:the\s)?(?:fiscal|financial|year|month|week|(?:1[5-9]|2[01])\d\d\b)")
_BEHIND_HALF = re.compile(r"\s(?:of|the|its|their|his|her|our|your|my|all|these|those|as)\b")
_BEHIND_FRACTION = re.compile(
    r"\sof\b|\s?(?:[.,;:)!?]|\Z)"
    r"|\s(?:to|from|in|on|since|over|compared|and|or|but|at|than|more|less|higher|lower|fewer|larger|smaller|was|were"
    r"|is|are|has|have)\b"
)
_AMOUNT = re.compile(
    r"(?<![\w.])(?:(?P<before>(?:us|a|c|hk|s|nz|r)?\$|[\u00a3\u20ac\u00a5\u20b9\u20a9\u20bd\u20ba]|(?:"
    + "|".join(_CURRENCY_CODES)
    + r")(?=[\s\d]))\s?)?"
    r"(?P<amount>\d{1,3}(?:\.\d{3}){1,12},\d{1,2}(?!\d)"  # 1.000,50
    r"|\d{1,3}(?:[\u00a0\u202f\u2009'\u2019]\d{3}){1,12}(?:\.\d+)?(?!\d)"  # 1 000 with a narrow space, 1'000
    r"|\d{1,3}(?:,\d{2,3}){0,12},\d{3}(?:\.\d+)?(?!\d)"  # 1,000.50 and 1,00,000
    r"|\d{1,3}(?:\.\d{3}){2,12}(?![.\d])"  # 1.000.000
    r"|\d{1,4}\s(?:1/2|1/4|3/4)(?![\w/]|[.,]\d)|\d{0,4}[\u00bc-\u00be]"  # 6 1/2
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
# "Passage 3", "[2]", "step 4" and "within 80 words" point to the context or speak of the answer, "24 hours a day" is a
# manner of speaking: they claim no number.
_CITATION = re.compile(
    r"\b(?:passage|context|chunk|excerpt|snippet|source)s?\s+#?\d{1,3}(?::\d{1,3})?\b(?!\s?%)|\[\d{1,3}\]"
    r"|\bsteps?\s+\d{1,2}(?:\s?(?:-|\u2013|to|and|through)\s?\d{1,2})?\b"
    r"|\b(?:in|within|under)\s\d{2,4}(?=\swords\b)"
)
_MANNER_OF_SPEAKING = re.compile(
    r"\b(?:(?:7|seven)\sdays\s(?:a|per|of\sthe)\sweek|24\shours\s(?:a|per)\sday|24/7"
    r"|365\sdays\s(?:a|per)\syear)\b"
)
# The top of a scale: "4.5 out of 5", "4 stars out of 5", "4/5 stars".
_TOP_OF_SCALE = re.compile(
    r"(?<![\w.])(?P<value>\d\d?(?:\.\d+)?)(?P<stars>[\s-]?(?:stars?|points?))?\s?(?:/|out\sof)\s?"
    r"(?:a\spossible\s)?(?P<top>5|10|five|ten)(?![\w%/]|[.,]\d)(?P<stars_behind>[\s-]?(?:stars?|points?)\b)?"
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
_DIGIT = re.compile(r"[\d\u00bc-\u00be]")
_VULGAR_FRACTIONS = {
    "1/4": ".25", "1/2": ".5", "3/4": ".75", "\u00bc": ".25", "\u00bd": ".5", "\u00be": ".75",
}  # fmt: skip
_YEAR_PREFIXES = frozenset({"mid", "pre", "post", "early", "late", "since", "circa", "fy"})
_SENTENCE_BREAK = re.compile(r"[.!?:\n\r\"\u201c\u2022]")
_RANGE_MARKS = frozenset(
    {"-", "\u2013", "\u2014", " - ", " \u2013 ", " \u2014 ", " to ", "-to-", " and ", "/", "\u00a0to\u00a0"}
)
_YEAR_MARKS = frozenset("-/\u2013")
_STATE_NAME = re.compile(r"\b(?:united states(?: of america)?|usa|united kingdom|european union|united nations)\b")
_SEPARATOR = re.compile("[,'\u2019\u00a0\u202f\u2009]")
_ORDINAL_DIGITS = {
    ordinal: digit
    for digit, ordinals in zip("1234", ("first 1st", "second 2nd", "third 3rd", "fourth 4th"), strict=True)
    for ordinal in ordinals.split()
}
_SMALL_WORDS_WITHIN_NAME = 2
_SEGMENTS_OF_A_NAME = 9  # with the small words between them
_INITIALS_OF_A_NAME = 8
_YEAR_DIGITS = 4
_RANGE_CHARACTERS = 5  # of the longest mark between the ends of a range
_COUNT_CHARACTERS = 8  # of the longest count before "in" or "out of", and one more
_CHARACTERS_BEFORE = 16  # enough for the word that says whether a half is a fraction
_CHARACTERS_BEFORE_DIGITS = 5  # of the longest "hk$ ." of an amount
_CITATION_CUES = ("passage", "context", "chunk", "excerpt", "snippet", "source", "[", "step", "words")
# Without these there is no time of day, no identifier, no date in numbers; they are found faster.
_CLOCK_CUE = re.compile(r"\d(?::|\s?[ap]\.?m)")
_LETTER_BESIDE_DIGIT = re.compile(r"[0-9](?:[-/(]?[A-Za-z]|(?<=[A-Za-z][0-9])|(?<=[A-Za-z][-/][0-9]))")
_THREE_NUMBERS = re.compile(r"\d[-/.]\d\d?[-/.]\d")
_IDENTIFIER_BREAK = re.compile("[-/]")
_PUNCTUATION = re.compile(r"[\W_]")
_CAMEL_BREAK = re.compile("(?<=[a-z])(?=[A-Z])")
_LOWER_ASCII = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}


def extract_features(text: str) -> TextFeatures:
    """Return the words, numbers and entities of a sentence in normal form.

    Words are the content words without pure numbers, reduced by `stem_word`. Numbers are amounts (``1,000`` = ``1000``
    = ``1k`` = ``1 thousand``) with percent (also basis points) or currency, fractions ("two thirds", "one in five",
    "1/4"), dates, quarters, decades, times, years, ordinals, and number words ("one" only before a scale or unit,
    "first" not where it opens a list). Both ends of a range ("$5-10 million", "between five and ten percent") have its
    unit and scale. Entities are found by rule: capitalised words in a row ("Bank of America"), a single capitalised
    word inside a sentence, acronyms, identifiers of letters and digits (ISA2024, W-8BEN, 10-K), e-mail addresses and
    URLs. Citations of the context ("Passage 3", "[2]") are left out. A single capitalised word that opens a sentence is
    no entity; in a text wholly in capitals only identifiers and addresses are.

    Left out are the top of a scale ("out of 5 stars"), manners of speaking ("24 hours a day"), ordinals and labels that
    order the text ("a third reviewer", "step 4"), relative dates ("last year"), years and decades in words ("twenty
    twenty-four", "the nineties"), and other spellings of a name than without its accents ("Muenchen").

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
    tokens = [(*match.span(), match.group()) for match in find_words(text)]
    analyses = [_analyse(surface) for _, _, surface in tokens]
    folded = [word for word, _, _ in analyses]
    cues = _CUES.intersection(folded)  # most sentences have few, and most rules need one

    claimed = bytearray(len(text))  # marks the characters that a number, an address or an identifier has taken
    entity_mentions = list(_find_addresses(text, lower, claimed))
    has_digit = _DIGIT.search(text) is not None
    # most numbers are plain, and a text that has no cue of a special form is spared the pattern of that form
    number_mentions: list[Mention] = []
    offered: set[str] = set()
    if has_digit:
        if any(cue in lower for cue in _CITATION_CUES):
            for citation in _CITATION.finditer(lower):
                _claim(*citation.span(), claimed)
        _claim_tops_of_scales(lower, claimed)
    if "days" in lower or "24" in lower:
        for match in _MANNER_OF_SPEAKING.finditer(lower):
            _claim(*match.span(), claimed)
    is_period = not cues.isdisjoint(_PERIOD_CUES)
    if is_period or (has_digit and ("q" in lower or "h1" in lower or "h2" in lower)):
        _find_periods(text, lower, claimed, number_mentions, offered)
    if has_digit:
        if _LETTER_BESIDE_DIGIT.search(text):
            entity_mentions.extend(_find_identifiers(text, claimed))
        if _THREE_NUMBERS.search(text):
            _find_numeric_dates(text, lower, claimed, number_mentions, offered)
    if not cues.isdisjoint(_MONTHS):
        _find_month_dates(text, lower, claimed, number_mentions, offered)
    has_number_words = not cues.isdisjoint(_NUMBER_CUES)
    ratios: dict[int, tuple[str, ...]] = {}
    if has_digit or has_number_words:
        ratios = _find_ratios(text, lower, claimed, number_mentions, offered)
    if not cues.isdisjoint(_FRACTION_CUES):
        _find_parts(text, lower, claimed, number_mentions, offered)
    amounts: list[_Amount] = []
    if has_digit:
        amounts += _find_amounts(text, lower, claimed, number_mentions, offered)
    if has_number_words:
        amounts += _find_number_words(text, tokens, folded, claimed)
        amounts.sort()
    if len(amounts) > 1:
        _join_ranges(lower, amounts)
    for amount in amounts:
        _add_amount(text, amount, claimed, number_mentions, offered)
    if ratios:
        number_mentions = [
            mention._replace(keys=(*mention.keys, *ratios.get(mention.start, ()))) for mention in number_mentions
        ]
    number_mentions.sort()

    states: set[str] = set() if cues.isdisjoint(_STATE_CUES) else _find_states(text, tokens, folded)
    acronyms: set[str] = set()
    if len(tokens) == 1 or not text.isupper():  # in a text wholly in capitals they say nothing
        capitals = [position for position, (_, _, surface) in enumerate(tokens) if surface[0].isupper()]
        entity_mentions.extend(_find_names(text, tokens, folded, claimed, capitals, bool(states)))
        if len(capitals) > 1:
            acronyms = _acronyms_of(text, tokens, folded, capitals)
    entity_mentions.sort()
    entities = tuple([mention.keys[0] for mention in entity_mentions])
    word_mentions = []
    words = set(states)
    for (start, end, surface), (_, keys, inner_words) in zip(tokens, analyses, strict=True):
        if keys:
            words.add(keys[0])
            words.update(inner_words)
            if not claimed[start]:  # "million" in "5 million" can support a word, but is counted with its number
                word_mentions.append(Mention(start, end, surface, keys))
    return TextFeatures(
        words=frozenset(words),
        numbers=tuple([mention.keys[0] for mention in number_mentions]),
        entities=entities,
        numbers_offered=frozenset(offered),
        entities_offered=frozenset(
            acronyms.union(
                entities,
                [_STATES[state] for state in states],
                [_REGION_ALIASES[name] for name in _REGION_ALIASES.keys() & entities],
            )
        ),
        word_mentions=tuple(word_mentions),
        number_mentions=tuple(number_mentions),
        entity_mentions=tuple(entity_mentions),
    )


def measure_support(sentence: TextFeatures, evidence: Evidence) -> SupportCounts:
    """Return how many words, numbers and entities of a sentence occur in the evidence.

    A number is supported when the evidence has the same value with the same unit, or when one side has no unit; a
    percentage also by the fraction or the decimal number below 1 that equals it, and the other way round; a date by the
    same or a more precise date. A name is supported when it occurs, when each of its parts occurs among the words, or
    when it is the acronym of a full name; the words inside a supported name are supported with it.

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
    missing_entities = []
    supported_entities = []
    for mention in sentence.entity_mentions:
        if mention.keys[0] in evidence.entities or (mention.parts and evidence.words.issuperset(mention.parts)):
            supported_entities.append(mention)
        else:
            missing_entities.append(mention)
    if missing and supported_entities:
        missing = _outside(missing, supported_entities)
    count_words_missing = len(missing)
    for mention in sentence.number_mentions:
        if evidence.numbers.isdisjoint(mention.keys):
            missing.append(mention)
    count_numbers_missing = len(missing) - count_words_missing
    missing += missing_entities
    count_entities_missing = len(missing_entities)
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
    """Return a word as `hcat.language.text.content_words` returns it."""
    folded = surface.lower() if surface.isascii() else surface.casefold().replace("\u2019", "'")
    return folded.replace(".", "") if folded.endswith(".") else folded


def _fold_accents(folded: str) -> str:
    """Return a case-folded text without the accents of its Latin letters."""
    if folded.isascii():
        return folded
    return unicodedata.normalize("NFC", folded).translate(_LATIN)


@functools.lru_cache(maxsize=1 << 16)
def _analyse(surface: str) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
    """Return a word folded, its stem if it is a content word, and the stems inside a compound such as
    OutdoorSeating."""
    folded = _fold(surface)
    if folded in STOP_WORDS or folded[0].isdigit():
        return folded, (), ()
    folded = _fold_accents(folded)
    inner_words: tuple[str, ...] = ()
    if _CAMEL_BREAK.search(surface):
        inner_words = tuple(stem_word(_fold_accents(word.lower())) for word in _CAMEL_BREAK.split(surface))
    return folded, (_stem_part(folded),), inner_words


def _stem_part(folded: str) -> str:
    """Return the stem of a word, of Street and Avenue as addresses shorten them."""
    stem = stem_word(folded)
    return _SHORTENED.get(stem, stem)


def _undouble(stem: str, word: str) -> str:
    """Return the stem with its doubled last consonant made single, or the word if no vowel is left (sting, bring)."""
    if len(stem) < 3 or not any(vowel in stem for vowel in "aeiouy"):
        return word
    if stem[-1] == stem[-2] and stem[-1] not in "aeioulsz":
        return stem[:-1]
    return stem


def _outside(mentions: list[Mention], spans: list[Mention]) -> list[Mention]:
    """Return the mentions that start in none of the spans; both are in order."""
    outside = []
    position = 0
    for mention in mentions:
        while position < len(spans) and spans[position].end <= mention.start:
            position += 1
        if position == len(spans) or mention.start < spans[position].start:
            outside.append(mention)
    return outside


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


class _Amount(NamedTuple):
    """An amount as it is written: `digits` times ten to the power `shift`.

    `unit` is empty, ``%``, ``bp``, a currency, ``word`` (number words), ``ordinal``, or ``pronoun`` (a bare "one", as
    often no number, so that it can support, but asks for no support).
    """

    start: int
    end: int
    digits: str
    shift: int
    unit: str
    is_unit_before: bool = False


def _add_amount(text: str, amount: _Amount, claimed: bytearray, mentions: list[Mention], offered: set[str]) -> None:
    """Add an amount in all the forms that may support it and that it may support."""
    start, end, digits, shift, unit, _ = amount
    if unit == "pronoun":
        offered.update(("1", "1 =", "1 word"))
        return
    claimed[start:end] = b"\1" * (end - start)  # "one" is claimed only where a range gives it a unit
    is_plain = digits.count(".") < 2 and not (len(digits) > 1 and digits[0] == "0" and digits.isdigit())
    if not is_plain:
        value = digits  # a section, or an account or telephone number, whose leading zero counts
    elif unit == "bp":
        value = _decimal(digits, shift - 2)
    else:
        value = _decimal(digits, shift)
    if unit == "bp":
        unit, shift = "%", 0
    form = f"{value} {unit}" if unit else value
    keys: tuple[str, ...]
    if unit == "ordinal":
        keys = (form,)
        offered.add(form)
    elif unit in ("", "word"):
        keys = (form, value) if unit else (form,)
        offered.update((form, value, f"{value} ="))  # "=" stands for a value without a unit: any unit may rest on it
        if end - start == _YEAR_DIGITS and _is_year(value):
            offered.add(f"{value[:3]}0s")
    else:
        keys = (form, f"{value} =")
        offered.update((form, value))
        if unit == "%" and is_plain and value != "0" and len(value.partition(".")[0]) < 3:
            decimal = _decimal(value, -2)
            keys = (*keys, f"{decimal} =")
            offered.add(decimal)
    if shift and is_plain:
        mantissa = _decimal(digits)
        if len(mantissa.replace(".", "").strip("0")) >= MINIMUM_MANTISSA_DIGITS:
            keys = (*keys, f"{mantissa} {unit}" if unit else mantissa, f"{mantissa} =")
    mentions.append(Mention(start, end, text[start:end], keys))


def _is_year(digits: str) -> bool:
    return len(digits) == _YEAR_DIGITS and digits.isdigit() and "1500" <= digits <= "2199"


def _join_ranges(lower: str, amounts: list[_Amount]) -> None:
    """Give both ends of a range its unit and scale: 5-10 %, $5 to 10 million, between 5 and 10 percent, 2019-21."""
    for position in range(len(amounts) - 2, -1, -1):  # from behind, so that a unit goes through a chain
        left, right = amounts[position], amounts[position + 1]
        if not 0 < right.start - left.end <= _RANGE_CHARACTERS:
            continue
        gap = lower[left.end : right.start]
        if gap not in _RANGE_MARKS or "ordinal" in (left.unit, right.unit) or right.unit == "pronoun":
            continue
        if max(left.digits.count("."), right.digits.count(".")) > 1:
            continue
        if gap == " and " and not lower.endswith("between ", 0, left.start):
            continue
        if gap in _YEAR_MARKS and _is_short_year(lower, left, right):
            amounts[position + 1] = right._replace(digits=left.digits[:2] + right.digits)
        elif gap != "/":
            amounts[position : position + 2] = _share_unit(left, right, is_close=gap in _YEAR_MARKS)


def _is_short_year(lower: str, left: _Amount, right: _Amount) -> bool:
    """Return whether a range of years leaves the century out at its second end; up to 12 that may be a month."""
    return (
        _is_bare_year(left)
        and not (right.unit or right.shift)
        and right.end - right.start == len(right.digits) == 2
        and right.digits > max(left.digits[2:], "12")
        and lower[left.start - 1 : left.start] not in ("-", "/")
        and lower[right.end : right.end + 1] not in ("-", "/", "\u2013")
    )


def _is_bare_year(amount: _Amount) -> bool:
    is_bare = not (amount.unit or amount.shift)
    return is_bare and amount.end - amount.start == _YEAR_DIGITS and _is_year(amount.digits)


def _share_unit(left: _Amount, right: _Amount, *, is_close: bool) -> tuple[_Amount, _Amount]:
    """Return the ends of a range, each with the unit and the scale that only the other one has."""
    bare = ("", "word", "pronoun")
    if left.unit in bare and right.unit not in bare:
        if _is_bare_year(left) and len(right.digits.partition(".")[0]) < _YEAR_DIGITS:
            return left, right  # "from 2019 to 5 %" is no range
        left = left._replace(unit=right.unit)
    elif left.is_unit_before and right.unit in bare and (is_close or not _is_bare_year(right)):
        right = right._replace(unit=left.unit)
    is_alike = left.unit == right.unit or (left.unit in bare and right.unit in bare)
    if right.shift and not left.shift and is_alike and not _is_bare_year(left) and _is_less(left.digits, right.digits):
        left = left._replace(shift=right.shift, unit="" if left.unit in bare else left.unit)
    return left, right


def _is_less(left: str, right: str) -> bool:
    """Return whether the first of two unsigned decimal numbers is the smaller one, for any length."""
    left_whole, _, left_fraction = left.partition(".")
    right_whole, _, right_fraction = right.partition(".")
    width = max(len(left_whole), len(right_whole))
    return (left_whole.zfill(width), left_fraction) < (right_whole.zfill(width), right_fraction)


def _find_amounts(
    text: str, lower: str, claimed: bytearray, mentions: list[Mention], offered: set[str]
) -> list[_Amount]:
    """Add times, fiscal years and decades, and return the amounts."""
    amounts: list[_Amount] = []
    for match in _CLOCK.finditer(lower) if _CLOCK_CUE.search(lower) else ():
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
                mentions.append(Mention(match.start(), match.end(), text[match.start() : match.end()], (year,)))
                offered.update(_year_forms(year))
    if "0s" in lower:
        for match in _DECADE.finditer(lower):
            if _claim(match.start(), match.end(), claimed):
                mentions.append(Mention(match.start(), match.end(), match.group(), (match["decade"],)))
                offered.add(match["decade"])
    first_digit = _DIGIT.search(lower)
    if first_digit is None:
        return amounts
    for match in _AMOUNT.finditer(lower, max(0, first_digit.start() - _CHARACTERS_BEFORE_DIGITS)):
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
        elif "/" in digits or digits[-1] in _VULGAR_FRACTIONS:
            whole_number, fraction = (digits[:-3], digits[-3:]) if "/" in digits else (digits[:-1], digits[-1])
            digits = (whole_number.strip() or "0") + _VULGAR_FRACTIONS[fraction]
        else:
            digits = _SEPARATOR.sub("", digits)
        kind = _UNITS[(unit or before or "").strip().replace("\u00a0", " ")] if unit or before else ""
        amounts.append(
            _Amount(
                start,
                end,
                digits,
                _SCALES[scale.rstrip("s")] if scale else 0,
                "ordinal" if ordinal else kind,
                bool(before),
            )
        )
    return amounts


def _find_number_words(
    text: str, tokens: list[tuple[int, int, str]], folded: list[str], claimed: bytearray
) -> list[_Amount]:
    """Return the ordinals and the amounts in words, with a scale or unit behind them."""
    amounts = []
    position = -1
    while position + 1 < len(folded):
        position += 1
        word = folded[position]
        if word in _ORDINAL_WORDS:
            start, end, _ = tokens[position]
            value = _ORDINAL_WORDS[word]
            tens = _NUMBER_WORDS.get(folded[position - 1], 0) if position > 0 and value < 10 else 0
            if tens >= 20 and text[tokens[position - 1][1] : start] == "-":
                if word == "second":
                    continue  # "thirty-second" counts time more often than it orders
                start = tokens[position - 1][0]  # twenty-first
                value += tens
            if position > 0 and not _orders_the_text(text, tokens, folded, position) and _claim(start, end, claimed):
                amounts.append(_Amount(start, end, str(value), 0, "ordinal"))
            continue
        if word not in _NUMBER_WORDS and word not in _COUNTED_SCALES:
            continue
        if word in _COUNTED_SCALES:
            # "a hundred", but not "hundred" behind digits
            if position == 0 or folded[position - 1] != "a" or not _is_close(text, tokens, position):
                continue
            position -= 1
        start = tokens[position][0]
        if (
            _NUMBER_WORDS.get(word, 0) >= 20
            and position + 1 < len(folded)
            and _ORDINAL_WORDS.get(folded[position + 1], 10) < 10
            and folded[position + 1] != "second"
            and text[tokens[position][1] : tokens[position + 1][0]] == "-"
        ):
            continue  # of the ordinal behind
        digits, shift, unit, following = _read_number_words(text, tokens, folded, position)
        end = tokens[following - 1][1]
        if (unit == "pronoun" and not claimed[start]) or (unit != "pronoun" and _claim(start, end, claimed)):
            amounts.append(_Amount(start, end, digits, shift, unit))
        position = following - 1
    return amounts


def _orders_the_text(text: str, tokens: list[tuple[int, int, str]], folded: list[str], position: int) -> bool:
    """Return whether an ordinal in words only orders what is told: "first, open", "you first need", "a third reviewer",
    "the second passage"."""
    before = folded[position - 1]
    if text[tokens[position][1] : tokens[position][1] + 1] == "," or before in ("a", "another"):
        return True
    if position + 1 < len(folded) and folded[position + 1] in _PLACES_OF_TEXT:
        return True
    return folded[position] == "first" and (
        before in _BEFORE_FIRST or text[tokens[position - 1][1] : tokens[position][0]].startswith(",")
    )


def _claim_tops_of_scales(lower: str, claimed: bytearray) -> None:
    """Claim the top of a scale, which is the same for every rating, so that only the rating itself is a number."""
    if "/" not in lower and "out of" not in lower:
        return
    for match in _TOP_OF_SCALE.finditer(lower):
        is_rating = "." in match["value"] or match["stars"] or match["stars_behind"] or _is_rating(lower, *match.span())
        if is_rating and float(match["value"]) <= _count(match["top"]):
            _claim(match.start("top"), match.end("top"), claimed)


def _is_close(text: str, tokens: list[tuple[int, int, str]], position: int) -> bool:
    """Return whether only a space or hyphen stands before the word."""
    return text[tokens[position - 1][1] : tokens[position][0]] in (" ", "-", "\u00a0")


def _read_number_words(
    text: str, tokens: list[tuple[int, int, str]], folded: list[str], first: int
) -> tuple[str, int, str, int]:
    """Return the digits, the power of ten and the unit of the number that starts at a word, and where it ends.

    It reads "twenty-five", "one hundred and fifty", "two thousand", "a million", "two and a half million"; of "five
    six" only the first word.
    """

    def word_at(place: int) -> str:
        """Return the word there if it stands close behind the last one, else nothing."""
        return folded[place] if place < len(folded) and (place == first or _is_close(text, tokens, place)) else ""

    total = shift = 0
    current = 1 if folded[first] == "a" else 0
    room = 0 if current else 1000  # what comes next must be smaller
    has_scale = False
    position = first + current
    while word := word_at(position):
        value = _NUMBER_WORDS.get(word)
        if word == "and" and has_scale and room >= 100 and shift <= _SCALES["thousand"]:
            value = _NUMBER_WORDS.get(word_at(position + 1)) or 1000
            is_between = first > 0 and folded[first - 1] == "between"
            if value >= min(room, 100) or is_between:
                break
        elif value is not None:
            if value >= room or (value == 0 and position > first):
                break
            current += value
            room = 10 if value >= 20 else 0
        elif word == "hundred" and 0 < current < 100:
            current *= 100
            room, has_scale = 100, True
        elif (scale := _SCALE_WORDS.get(word.rstrip("s"), 0)) > 2 and current > 0 and (not shift or scale < shift):
            total += current * 10**scale
            current, shift = 0, scale
            room, has_scale = 1000, True
        else:
            break
        position += 1
    total += current
    digits = str(total)
    if shift and total % 10**shift == 0:
        digits = str(total // 10**shift)
    else:
        shift = 0
    if not has_scale and word_at(position) == "and" and word_at(position + 1) == "a":
        addend = {"half": ".5", "quarter": ".25"}.get(word_at(position + 2), "")
        if addend:
            digits += addend
            position += 3
            scale = _SCALE_WORDS.get(word_at(position), 0)
            if scale:
                shift, has_scale = scale, True
                position += 1
    unit = "" if has_scale else "word"
    for count in (2, 1):
        name = word_at(position) if count == 1 else f"{word_at(position)} {word_at(position + 1)}"
        if name in _UNITS:
            return digits, shift, _UNITS[name], position + count
    if digits == "1" and not has_scale:
        unit = "pronoun"
    return digits, shift, unit, position


# --- fractions ---


class _FractionForms(NamedTuple):
    """What supports a fraction, its normal form first, and what it supports."""

    keys: tuple[str, ...]
    offered: tuple[str, ...]


@functools.lru_cache(maxsize=1 << 12)
def _fraction_forms(part: int, whole: int) -> _FractionForms:
    """Return the forms of a fraction: itself, and the percentages and the decimal numbers that equal it.

    A third is 33, 33.3 and 33.33 %; where digits are left out, both the rounded and the cut number are right.
    """
    divisor = math.gcd(part, whole)
    values: dict[str, None] = {}  # a set that keeps the order
    if part * 10_000 % whole == 0:
        values[_decimal(str(part * 10_000 // whole), -2)] = None
    else:
        for decimals in range(3):
            scaled = part * 100 * 10**decimals
            for rounded in ((2 * scaled + whole) // (2 * whole), scaled // whole):
                values[_decimal(str(rounded), -decimals)] = None
    values.pop("0", None)
    form = f"{part // divisor}/{whole // divisor} fraction"
    percentages = [f"{value} %" for value in values]
    decimals_below_one = [_decimal(value, -2) for value in values]
    return _FractionForms(
        keys=(form, *percentages, *[f"{value} =" for value in decimals_below_one]),
        offered=(form, *percentages, *decimals_below_one),
    )


def _add_fraction(
    text: str,
    span: tuple[int, int],
    forms: _FractionForms,
    claimed: bytearray,
    mentions: list[Mention],
    offered: set[str],
) -> None:
    """Add a fraction; a percentage or a bare decimal number may support it, and it may support them."""
    start, end = span
    if _claim(start, end, claimed):
        mentions.append(Mention(start, end, text[start:end], forms.keys))
        offered.update(forms.offered)


def _find_ratios(
    text: str, lower: str, claimed: bytearray, mentions: list[Mention], offered: set[str]
) -> dict[int, tuple[str, ...]]:
    """Add fractions such as 1/4 and "one in five"; what may be a date (3/12) or counts time ("one in five years") is
    none.

    With another numerator than one ("nine out of 20") both numbers stay numbers of their own, which the evidence may
    also have apart; returned is what else supports them, by their start.
    """
    keys_by_start: dict[int, tuple[str, ...]] = {}
    if "/" in lower:
        for match in _SLASH.finditer(lower):
            part, whole = int(match["part"]), int(match["whole"])
            if part >= whole or math.gcd(part, whole) > 1 or (whole > 8 and not (match["percent"] or match["of"])):
                continue
            if match["percent"]:
                value = _exact_decimal(part, whole)
                if value and _claim(match.start(), match.end("percent"), claimed):
                    span = (match.start(), match.end("percent"))
                    _add_amount(text, _Amount(*span, value, 0, "%"), claimed, mentions, offered)
            elif part == 1 or match["of"]:
                span = (match.start(), match.end("whole"))
                _add_fraction(text, span, _fraction_forms(part, whole), claimed, mentions, offered)
            elif not _is_rating(lower, match.start(), match.end()):
                forms = _fraction_forms(part, whole)
                keys_by_start.update(dict.fromkeys((match.start("part"), match.start("whole")), forms.keys))
                offered.update(forms.offered)
    if " in " in lower or " out of " in lower:
        for match in _RATIO.finditer(lower):
            before = _RATIO_COUNT.search(lower, max(0, match.start() - _COUNT_CHARACTERS), match.start())
            if before is None or _is_year(match["whole"]) or _is_rating(lower, before.start(), match.end()):
                continue
            part, whole = _count(before["part"]), _count(match["whole"])
            if not 0 < part < whole:
                continue
            forms = _fraction_forms(part, whole)
            if part == 1:
                _add_fraction(text, (before.start(), match.end()), forms, claimed, mentions, offered)
            else:
                keys_by_start.update(dict.fromkeys((before.start(), match.start("whole")), forms.keys))
                offered.update(forms.offered)
    return keys_by_start


def _is_rating(lower: str, start: int, end: int) -> bool:
    """Return whether a ratio is a rating: 4 out of 5 stars are no four fifths of anything."""
    return (
        _STARS.match(lower, end) is not None
        or _RATING.search(lower, max(0, start - 2 * _CHARACTERS_BEFORE), start) is not None
    )


def _count(written: str) -> int:
    return int(written) if written.isdigit() else _NUMBER_WORDS[written]


def _exact_decimal(part: int, whole: int) -> str:
    """Return a fraction as a decimal number if four decimals suffice, else nothing."""
    scaled, rest = divmod(part * 10_000, whole)
    return "" if rest else _decimal(str(scaled), -4)


def _find_parts(text: str, lower: str, claimed: bytearray, mentions: list[Mention], offered: set[str]) -> None:
    """Add fractions in words ("half of", "a third", "three quarters") and parts of a unit ("half a million").

    "Half", "quarter" and "third" also name periods and places, so they count only where the words around them say so;
    elsewhere they can support a fraction in the same words, but ask for no support.
    """
    for match in _PART.finditer(lower):
        count, name, plural = match.group("count", "part", "plural")
        start, end = match.start(), match.start("whole") if match["whole"] else match.end()
        whole = _DENOMINATORS[name]
        part = 1 if count in (None, "a", "an") else _count(count)
        if (part > 1) != bool(plural) or part >= whole or math.gcd(part, whole) > 1:
            continue
        if match["whole"] and (count or name == "half" or "point" in match["unit"]):
            value = _exact_decimal(part, whole)
            unit = match["unit"]
            scale = _SCALES.get(unit, 0)
            kind = "" if scale else "%"
            if match["currency"] and scale:
                kind = _UNITS[match["currency"]]
            elif match["currency"]:
                continue
            if value and _claim(start, match.end(), claimed):
                amount = _Amount(start, match.end(), value, scale, kind)
                _add_amount(text, amount, claimed, mentions, offered)
            continue
        if name != "half" and count is None:
            continue
        if claimed[start]:
            continue
        if _is_fraction(lower, start, end, name, count or "", is_plural=part > 1):
            _add_fraction(text, (start, end), _fraction_forms(part, whole), claimed, mentions, offered)
        elif name == "half" or part > 1 or _BEHIND_FRACTION.match(lower, end):  # not "a third party"
            offered.add(f"{part}/{whole} fraction")
        if part == 1 and name not in ("half", "quarter"):
            offered.add(f"{whole} ordinal")


def _is_fraction(lower: str, start: int, end: int, name: str, count: str, *, is_plural: bool) -> bool:
    """Return whether words that may be a fraction stand where only a fraction does."""
    before = lower[max(0, start - _CHARACTERS_BEFORE) : start]
    if _BEFORE_NO_FRACTION.search(before) and not (is_plural and name not in ("half", "quarter")):
        return False
    if name in ("half", "quarter") and _OF_A_PERIOD.match(lower, end):
        return False
    if is_plural and name != "quarter":
        return True
    if _BEFORE_FRACTION.search(before) and (name == "half" or _BEHIND_FRACTION.match(lower, end)):
        return True
    if name == "half":
        return count == "one" or _BEHIND_HALF.match(lower, end) is not None
    if lower.startswith(" of", end):
        return True
    is_hyphenated = lower[start + len(count) : start + len(count) + 1] == "-"
    return count not in ("a", "an") and (is_hyphenated or _BEHIND_FRACTION.match(lower, end) is not None)


# --- dates ---


def _year_forms(year: str) -> tuple[str, ...]:
    """Return what a year supports: itself, with any unit as a bare number does, and its decade."""
    return year, f"{year} =", f"{year[:3]}0s"


def _find_periods(text: str, lower: str, claimed: bytearray, mentions: list[Mention], offered: set[str]) -> None:
    """Add quarters and halves of a year: Q1 2024, 1Q24, first quarter of 2024, H1 2024, third quarter."""
    for match in _PERIOD.finditer(lower):
        letter = match["letter"] or match["letter_behind"] or match["period"][0]
        digit = match["digit"] or match["digit_before"] or _ORDINAL_DIGITS[match["ordinal"]]
        year = match["year"] or match["year_before"] or (f"20{match['short']}" if match["short"] else "")
        if (letter == "h" and (not year or digit > "2")) or (match["digit_before"] and not year):
            continue  # "the second half" may be one of anything, "2h" two hours
        if not _claim(match.start(), match.end(), claimed):
            continue
        period = f"{letter}{digit}"
        form = f"{year or '-'}-{period}"
        mentions.append(Mention(match.start(), match.end(), text[match.start() : match.end()], (form,)))
        offered.update((form, f"--{period}"))
        if match["ordinal"]:
            offered.add(f"{digit} ordinal")
        if year:
            offered.update(_year_forms(year))


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
            year, month, day = match["iso"].split(match["mark"])
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
            offered.update(keys, (form for forms in readings for form in forms), _year_forms(year))


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
                offered.update(_year_forms(year))


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
        if len(segments) > 1 and all(
            segment.isdigit() or _NUMBER_WITH_SUFFIX.fullmatch(segment) for segment in segments
        ):
            continue  # 5-10m
        is_mixed = any(not segment.isdigit() and _DIGIT.search(segment) for segment in segments)
        has_capital = surface != surface.lower() and _DIGIT.search(surface) is not None
        if (is_mixed or has_capital) and _claim(match.start(), match.end(), claimed):
            yield Mention(match.start(), match.end(), surface, ("".join(segments).strip("()").replace("(", ""),))


def _find_states(text: str, tokens: list[tuple[int, int, str]], folded: list[str]) -> set[str]:
    """Return the full names of the United States, the UK, the EU and the UN, if the text has them in any form."""
    is_upper = text.isupper()
    states = set()
    for position, word in enumerate(folded):
        if word in _STATE_ACRONYMS:
            surface = tokens[position][2]
            # "us" is no state, and "US" among capitals need not be one
            if _is_acronym(surface) and (not is_upper or "." in surface or len(tokens) == 1):
                states.add(_STATE_ACRONYMS[word])
        elif word in _STATE_CUES and position + 1 < len(folded):
            name = f"{word} {_without_possessive(folded[position + 1])}"
            if name in _STATES:
                states.add(name)
    return states


def _without_possessive(word: str) -> str:
    return word[:-2] if word.endswith(("'s", "\u2019s")) else word


def _find_names(
    text: str,
    tokens: list[tuple[int, int, str]],
    folded: list[str],
    claimed: bytearray,
    capitals: list[int],
    has_state: bool,
) -> Iterator[Mention]:
    """Yield capitalised spans and acronyms; `capitals` are the tokens that start with a capital."""
    count = len(tokens)
    position = 0
    for first in capitals:
        if first < position or claimed[tokens[first][0]]:
            continue
        members = [first]
        following = first + 1
        while following < count:
            gap = text[tokens[following - 1][1] : tokens[following][0]]
            if claimed[tokens[following][0]] or not (
                _joins(gap, tokens[following - 1][2]) or (gap == ", " and folded[following] in _CORPORATE_SUFFIXES)
            ):
                break
            if tokens[following][2][0].isupper():
                members.append(following)
            elif not (
                folded[following] in _CONNECTORS or (folded[following] == "the" and following - 1 != members[-1])
            ):
                break
            following += 1
        position = members[-1] + 1
        yield from _name_mention(text, tokens, folded, members, has_state)


def _name_mention(
    text: str, tokens: list[tuple[int, int, str]], folded: list[str], members: list[int], has_state: bool
) -> Iterator[Mention]:
    """Yield the name made of the capitalised tokens, if it is one."""
    opens_sentence = members[0] == 0 or (
        _SENTENCE_BREAK.search(text, tokens[members[0] - 1][1], tokens[members[0]][0]) is not None
    )
    first, last = 0, len(members)
    while (
        first < last
        and folded[members[first]] in (_OPENERS if opens_sentence else STOP_WORDS)
        and not _is_acronym(tokens[members[first]][2])
    ):
        first += 1
        opens_sentence = False
    while first < last and folded[members[last - 1]] in STOP_WORDS and not _is_acronym(tokens[members[last - 1]][2]):
        last -= 1
    if first == last:
        return
    members = members[first:last]
    start, end = tokens[members[0]][0], tokens[members[-1]][1]
    surface = text[start:end]
    if len(members) == 1 and not _is_acronym(surface) and (opens_sentence or len(surface) == 1):
        return
    if surface.endswith(("'s", "\u2019s")):
        surface, end = surface[:-2], end - 2
    named = surface
    if len(members) == 1:
        if surface[-1] == "s" and _is_acronym(surface) and not surface.isupper():
            named = surface[:-1]  # ATMs
    elif folded[members[-1]] in _CORPORATE_SUFFIXES:
        while len(members) > 1 and folded[members[-1]] in _CORPORATE_SUFFIXES:
            members.pop()
        named = text[start : tokens[members[-1]][1]]
    key = " ".join(_fold_accents(_fold(named)).replace(".", "").replace(" & ", "&").split())
    parts: tuple[str, ...]
    if has_state:
        parts = _parts_with_states(tokens, folded, members)
        key = _STATE_NAME.sub(_state_acronym, key)
    else:
        parts = tuple(
            [
                _stem_part(folded[member])
                for member in members
                if folded[member] not in STOP_WORDS and (folded[member] not in _COURTESIES or len(members) == 1)
            ]
        )
    yield Mention(start, end, surface, (key,), parts)


def _state_acronym(match: re.Match[str]) -> str:
    name = match.group()
    return _STATES.get(name) or _STATES["united states"]  # or the USA, or with "of America"


def _parts_with_states(tokens: list[tuple[int, int, str]], folded: list[str], members: list[int]) -> tuple[str, ...]:
    """Return the parts of a name with United States, US and USA as one and the same part, and so for the others."""
    parts: list[str] = []
    position = 0
    while position < len(members):
        member = members[position]
        word = folded[member]
        position += 1
        name = ""
        if position < len(members) and members[position] == member + 1:
            name = f"{word} {_without_possessive(folded[member + 1])}"
        if name in _STATES:
            parts.append(name)
            position += 1
            if (
                position < len(members)
                and folded[members[position] - 1] == "of"
                and _without_possessive(folded[members[position]]) == "america"
            ):
                position += 1
        elif word in _STATE_ACRONYMS and _is_acronym(tokens[member][2]):
            parts.append(_STATE_ACRONYMS[word])
        elif word not in STOP_WORDS:
            parts.append(_stem_part(word))
    return tuple(parts)


def _acronyms_of(text: str, tokens: list[tuple[int, int, str]], folded: list[str], capitals: list[int]) -> set[str]:
    """Return the acronyms of at least three letters that stand for the capitalised words in a row, in case-folded form.

    "Department of Justice" has DJ and DOJ, "Securities and Exchange Commission" SEC, SAEC and S&EC; of a longer row
    also each stretch between small words.
    """
    acronyms: set[str] = set()
    segments: list[str] = []  # initials, in turn with the small words between them
    previous = -2
    for position in [*capitals, len(tokens) + 2]:
        link = None
        if segments:
            link = _acronym_link(text, tokens, folded, previous, position)
            if link is None:
                if len(segments) > 1 or len(segments[0]) > 2:
                    _add_acronyms(segments, acronyms)
                segments = []
        if position >= len(tokens):
            break
        surface = tokens[position][2]
        if _is_acronym(surface) or (not segments and folded[position] in STOP_WORDS):
            if segments and (len(segments) > 1 or len(segments[0]) > 2):
                _add_acronyms(segments, acronyms)
            segments = []
            continue
        initial = folded[position][0]
        if link is None:
            segments = [initial]
        elif link == "" and folded[position] not in _CORPORATE_SUFFIXES:
            if len(segments[-1]) <= _INITIALS_OF_A_NAME:  # a longer row is no name, and need not grow
                segments[-1] += initial
        else:
            segments += [link, initial]
        previous = position
    return acronyms


def _acronym_link(
    text: str, tokens: list[tuple[int, int, str]], folded: list[str], previous: int, position: int
) -> str | None:
    """Return the initials of the small words between two capitalised words of a name ("&" for "and"), or None if they
    belong to no common name."""
    if position - previous > _SMALL_WORDS_WITHIN_NAME + 1 or position >= len(tokens):
        return None
    gap = text[tokens[previous][1] : tokens[position][0]]
    if position - previous == 1:
        return "" if gap in (" ", "-", "\u00a0") else "&" if gap == " & " else None
    between = folded[previous + 1 : position]
    if gap.lower().split() != between or not _ACRONYM_CONNECTORS.issuperset(between):
        return None
    if "and" in between:
        return "&" if len(between) == 1 else None  # behind "and the" another name starts
    return "".join([word[0] for word in between])


def _add_acronyms(segments: list[str], acronyms: set[str]) -> None:
    """Add the acronyms of every stretch of the segments, with and without small words."""
    if len(segments) > _SEGMENTS_OF_A_NAME or max(map(len, segments)) > _INITIALS_OF_A_NAME:
        return
    for first in range(0, len(segments), 2):
        for last in range(first + 1, len(segments) + 1, 2):
            stretch = segments[first:last]
            written = "".join(stretch)
            for acronym in ("".join(stretch[::2]), written, written.replace("&", "a")):
                if len(acronym) > 2:
                    acronyms.add(acronym)


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
        # A bare value equals the value with any unit; two units must be the same, but a half is 50 %.
        keys = mention.keys[:1]
        if unit == "fraction":
            keys = mention.keys
        elif unit not in ("", "ordinal"):
            keys = (*keys, value)
        parts.append((mention.start, "-" if is_negative else "", keys))
        _claim(mention.start, mention.end, covered)
    for match in _MATCH_WORD.finditer(text):
        word = _PUNCTUATION.sub("", match.group().casefold())
        if word and word not in ("a", "an", "the") and not covered[match.start()]:
            parts.append((match.start(), "", (word,)))
    return [(sign, keys) for _, sign, keys in sorted(parts)]

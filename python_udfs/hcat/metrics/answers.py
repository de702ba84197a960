"""Check an answer against the true answer by rules: correct, incorrect or undecided. No model takes part.

A rule decides only what it can (docs/robustness.md). Texts from logs are read and never obeyed. An answer may name many
values to hit the right one, so it is also compared with the other known answers (``rivals``).

The kind of the true answer selects the rule:

- ``boolean``: yes or no, by the first word of the answer;
- ``date``: the same day in the calendar (2023-04-01 = April 1, 2023); a coarser date, or one whose order of day and
  month is unknown, decides nothing;
- ``number``: the same value after scale and unit (1.5 million = 1,500,000; 5 % = 0.05; 24 months = 2 years). Values may
  differ by rounding as far as either side is written, and by at most :data:`MAXIMUM_ROUNDING`; a coarser rounding
  decides nothing;
- ``list``: the answer names every item;
- ``phrase``: a name or a few words that stand together in the answer, or a known form of the name (USA);
- ``free_text``: more words; only an equal text decides.
"""

import difflib
import json
import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Final, Literal, NamedTuple

from hcat.language.amounts import MEASURES
from hcat.language.features import TextFeatures, extract_features
from hcat.language.kinds import number_kind
from hcat.language.markup import blank_markup, remove_blanks
from hcat.language.mentions import Mention
from hcat.language.text import STOP_WORDS, WORD_PATTERN, clean_text
from hcat.language.words import stem_word
from hcat.metrics.reference import exact_match
from hcat.metrics.refusal import explain_refusal

Status = Literal["correct", "incorrect", "undecided"]
Kind = Literal["boolean", "date", "number", "list", "phrase", "free_text"]

MAXIMUM_CHARACTERS: Final = 20_000
"""A longer text is not read: the answer is undecided."""

MAXIMUM_PHRASE_WORDS: Final = 8
"""A true answer of more words is free text."""

MAXIMUM_ROUNDING: Final = Fraction(1, 100)
"""Largest relative difference of two values that counts as rounding."""

NEAR_MATCH_RATIO: Final = 0.85
"""Share of equal letters (Ratcliff and Obershelp) from which on a name counts as a misspelling."""


class AnswerCheck(NamedTuple):
    """Result of a check against the true answer, with its reason in a word, and the kind of the true answer if any."""

    status: Status
    reason: str
    kind: Kind | None = None


_YES = frozenset({"yes", "true", "yeah", "yep", "correct", "affirmative", "indeed"})
_NO = frozenset({"no", "false", "nope", "incorrect", "negative"})
_TRUTH_VALUES = {"yes": True, "true": True, "no": False, "false": False}
_ARTICLES = frozenset({"a", "an", "the"})
_NEGATORS = frozenset({"not", "no", "never", "neither", "nor", "cannot", "without", "except", "unlike", "wrong"})
_NEGATED_BEFORE = 3
_CONTRASTS = (("rather", "than"), ("instead", "of"), ("other", "than"))
_ALTERNATIVES = frozenset({"or", "either", "maybe", "perhaps", "possibly"})
_MIDNIGHT = re.compile(r"(?<=\d)[ T]00:00(?::00(?:\.0+)?)?(?:Z|\+00:00)?\Z")
_ISO_DATE = re.compile(r"(?:\d{4}|-)-\d{2}(?:-\d{2})?")
_SLASHED_DATE = re.compile(r"\d{1,2}/\d{1,2}/\d{4}")
# A longer run of digits is no amount, and computing with it takes long.
_PLAIN_NUMBER = re.compile(r"[0-9]{1,60}(?:\.[0-9]{1,60})?")
_WRITTEN_NUMBER = re.compile(r"\d[\d,'\u2019\u00a0\u202f\u2009]*(?:\.\d+)?|\.\d+")
_ABOUT = re.compile(r"(?:\b(?:about|around|approximately|approx\.?|roughly|nearly|almost|some)|~|\u2248)\s*\S?\Z", re.I)
_WORDS_OF_A_UNIT = 2
_LETTERS_OF_A_NAME = 5
_DIGITS_OF_A_SCALE = 2
_NEAR_WORDS = 2_000
_LONGER_THAN_TRUTH = 20


class _Number(NamedTuple):
    """A number in a text: value with scale and sign, unit, and half of its last written place."""

    value: Fraction
    unit: str
    measure: str
    half_place: Fraction
    kind: str
    has_sign: bool


def check_answer(
    answer: str | None, true_answer: str | None, query: str | None = None, rivals: Sequence[str] = ()
) -> AnswerCheck:
    """Return whether an answer gives the true answer, with the reason."""
    if true_answer is None or not (truth := _clean(true_answer)):
        return AnswerCheck("undecided", "no_true_answer")
    truth = _MIDNIGHT.sub("", truth)
    kind = find_kind(truth)
    if answer is None:
        return AnswerCheck("undecided", "no_answer", kind)
    if max(len(answer), len(true_answer), len(query or "")) > MAXIMUM_CHARACTERS:
        return AnswerCheck("undecided", "too_long", kind)
    said = _clean(answer)
    if not said:
        return AnswerCheck("incorrect", "empty_answer", kind)
    # An answer that is much longer than the truth cannot equal it; reading it in full would take most of the time.
    is_short = len(said) <= _LONGER_THAN_TRUTH * len(truth) + _LONGER_THAN_TRUTH
    if said == truth or (is_short and exact_match(said, truth) == 1.0):
        return AnswerCheck("correct", "exact", kind)
    status, reason = _check(said, truth, _clean(query or ""), kind)
    if status == "correct" and _names_rival(said, truth, rivals, kind, query):
        status, reason = "undecided", "several_candidates"
    if reason in ("not_mentioned", "other_words") and _names_rival(said, truth, rivals, kind, query):
        status, reason = "incorrect", "other_candidate"
    if (status == "correct" or reason in _WITHOUT_VALUE) and explain_refusal(said) is not None:
        if status == "correct":
            status, reason = "undecided", "refusal_beside_match"
        else:
            status, reason = "incorrect", "refusal"
    return AnswerCheck(status, reason, kind)


#: Reasons that say that the answer does not hold the true answer. If the answer is a refusal, the refusal explains it.
_WITHOUT_VALUE = frozenset(
    {
        "other_value", "other_date", "other_unit", "no_value", "not_mentioned", "other_words", "partly_mentioned",
        "no_polarity", "free_text", "items_missing", "echoes_query",
    }
)  # fmt: skip


def find_kind(true_answer: str) -> Kind:
    """Return the kind of a true answer, one of :data:`KINDS`."""
    truth = _MIDNIGHT.sub("", _clean(true_answer))
    if truth.casefold().rstrip(".") in _TRUTH_VALUES:
        return "boolean"
    if len(_split_items(truth)) > 1:
        return "list"
    features = extract_features(truth)
    mentions = features.number_mentions
    if len(mentions) == 1:
        value = mentions[0].keys[0]
        others = [word for word in _words(truth[: mentions[0].start] + " " + truth[mentions[0].end :]) if word]
        if _ISO_DATE.fullmatch(value) or _SLASHED_DATE.fullmatch(value):
            if not others:
                return "date"
        elif len(others) <= _WORDS_OF_A_UNIT and not features.entities and _read_number(truth, mentions[0]) is not None:
            return "number"
    return "phrase" if len(_words(truth)) <= MAXIMUM_PHRASE_WORDS else "free_text"


def _clean(text: str) -> str:
    """Return a text in Unicode compatibility form, without invisible format characters, with white space folded."""
    shown = unicodedata.normalize("NFKC", remove_blanks(blank_markup(clean_text(text))))
    if not shown.isascii():
        shown = "".join(character for character in shown if unicodedata.category(character) != "Cf")
    return " ".join(shown.split())


def _words(text: str) -> list[str]:
    """Return the stems of the words of a text in order, without articles, case and accents."""
    words = []
    for surface in WORD_PATTERN.findall(text.casefold().replace("\u2019", "'")):
        plain = "".join(each for each in unicodedata.normalize("NFKD", surface) if not unicodedata.combining(each))
        plain = plain.removesuffix("'s").replace(".", "") if not plain[:1].isdigit() else plain
        if plain and plain not in _ARTICLES:
            words.append(stem_word(plain))
    return words


def _split_items(truth: str) -> list[str]:
    """Return the items of a list in JSON or separated by semicolons; any other text is one item."""
    if truth.startswith("[") and truth.endswith("]"):
        try:
            read = json.loads(truth)
        except (ValueError, RecursionError):
            read = None
        if isinstance(read, list) and all(isinstance(each, str | int | float) for each in read):
            return [cleaned for each in read if (cleaned := _clean(str(each)))]
    return [item.strip() for item in truth.split(";") if item.strip()]


def _check(said: str, truth: str, query: str, kind: Kind) -> tuple[Status, str]:
    return _CHECKS[kind](said, truth, query) if kind in _CHECKS else ("undecided", "free_text")


def _check_boolean(said: str, truth: str, query: str) -> tuple[Status, str]:
    wanted = _TRUTH_VALUES.get(truth.casefold().rstrip("."))
    words = [match.casefold() for match in WORD_PATTERN.findall(said)]
    if wanted is None or not words or words[0] not in _YES | _NO:
        return "undecided", "no_polarity"
    is_yes = words[0] in _YES
    if not (_NO if is_yes else {"yes", "true"}).isdisjoint(words[1:]):
        return "undecided", "both_polarities"
    return ("correct", "same_polarity") if is_yes == wanted else ("incorrect", "other_polarity")


def _dates(features: TextFeatures) -> list[tuple[str, ...]]:
    """Return the forms of each date; a date whose order of day and month is unknown has two."""
    return [
        tuple(key for key in mention.keys if _ISO_DATE.fullmatch(key))
        for mention in features.number_mentions
        if _ISO_DATE.fullmatch(mention.keys[0]) or _SLASHED_DATE.fullmatch(mention.keys[0])
    ]


def _check_date(said: str, truth: str, query: str) -> tuple[Status, str]:
    wanted = next(iter(_dates(extract_features(truth))), ())
    features = extract_features(said)
    in_query = set(_dates(extract_features(query)))
    dates = _dates(features)
    if not wanted:
        return _check_phrase(said, truth, query)
    same = [date for date in dates if date == wanted and len(date) == 1]
    if same:
        if wanted in in_query:
            return "undecided", "echoes_query"
        others = [date for date in dates if date != wanted and date not in in_query]
        return ("undecided", "several_candidates") if others else ("correct", "same_date")
    if any(set(date) & set(wanted) for date in dates):
        return "undecided", "date_order"
    coarser = [date for date in dates for key in date for full in wanted if full.startswith(key) or key[1:] in full]
    year = wanted[0][:4]
    is_year_only = not dates and year.isdecimal() and any(key == year for key in features.numbers)
    if coarser or is_year_only:
        return "undecided", "coarser_date"
    return "incorrect", "no_value" if in_query.issuperset(dates) else "other_date"


def _read_number(text: str, mention: Mention) -> _Number | None:
    """Return the number of a mention; None for a date, a time and any other form that is no amount."""
    value, _, unit = mention.keys[0].partition(" ")
    has_sign = value.startswith("-")
    value = value.removeprefix("-")
    if unit == "fraction":
        part, _, whole = value.partition("/")
        if not (_PLAIN_NUMBER.fullmatch(part) and _PLAIN_NUMBER.fullmatch(whole) and Fraction(whole)):
            return None
        return _Number(Fraction(part) / Fraction(whole), "", "", Fraction(0), "bare", False)
    if not _PLAIN_NUMBER.fullmatch(value):
        return None
    amount = Fraction(value)
    before = text[: mention.start]
    kind = number_kind(mention)
    return _Number(
        -amount if has_sign else amount,
        "" if unit in ("word", "ordinal") or unit in MEASURES else unit,
        unit if unit in MEASURES else "",
        _half_place(mention.surface, amount, bool(_ABOUT.search(before[-16:]))),
        kind,
        has_sign,
    )


def _half_place(surface: str, amount: Fraction, is_about: bool) -> Fraction:
    """Return half of the last written place: 0.05 for 1.2, half a million for "3 million"."""
    written = _WRITTEN_NUMBER.search(surface)
    if written is None or not amount:
        return Fraction(0)
    digits = re.sub(r"[^0-9.]", "", written.group())
    if not _PLAIN_NUMBER.fullmatch(digits.strip(".")):
        return Fraction(0)
    mantissa = Fraction(digits.strip("."))
    if not mantissa:
        return Fraction(0)
    whole, _, decimals = digits.partition(".")
    place = Fraction(1, 10 ** len(decimals))
    if not decimals and is_about:
        place = Fraction(10) ** (len(whole) - len(whole.rstrip("0")))
    return place * amount / mantissa / 2


def _numbers(text: str) -> list[_Number]:
    found = (_read_number(text, mention) for mention in extract_features(text).number_mentions)
    return [number for number in found if number is not None]


def _check_number(said: str, truth: str, query: str) -> tuple[Status, str]:
    wanted = next(iter(_numbers(truth)), None)
    if wanted is None:
        return _check_phrase(said, truth, query)
    asked = _numbers(query)
    candidates = _numbers(said)
    same = [number for number in candidates if _is_same(number, wanted)]
    if same:
        if any(_is_same(number, wanted) for number in asked):
            return "undecided", "echoes_query"
        others = [
            number
            for number in candidates
            if not _is_same(number, wanted) and _is_rival(number, wanted) and not any(number == each for each in asked)
        ]
        return ("undecided", "several_candidates") if others else ("correct", "same_value")
    left = [number for number in candidates if not any(number.value == each.value for each in asked)]
    if any(_is_same(number, wanted._replace(value=-wanted.value)) for number in left):
        return "undecided", "sign"
    if any(_differs_by_scale(number, wanted) for number in left):
        return "undecided", "scale"
    if any(_agrees_as_written(number, wanted) for number in left):
        return "undecided", "rounding"
    if any(_is_close(number.value, wanted.value, number, wanted) for number in left):
        return "incorrect", "other_unit"
    if left:
        return "incorrect", "other_value"
    offered = extract_features(said).numbers_offered
    plain = str(wanted.value) if wanted.value.denominator == 1 else ""
    return ("undecided", "number_word") if plain and f"{plain} word" in offered else ("incorrect", "no_value")


def _is_rival(number: _Number, wanted: _Number) -> bool:
    """Return whether a number counts the same kind of thing as the true one, so that it may be meant as the answer."""
    return number.kind == wanted.kind or (number.unit == wanted.unit != "")


def _is_same(number: _Number, wanted: _Number) -> bool:
    left, right = number.value, wanted.value
    if number.measure and wanted.measure and number.measure != wanted.measure:
        ours, theirs = MEASURES[number.measure], MEASURES[wanted.measure]
        # Each value is rounded in its own unit, so that only equal values count.
        return ours.dimension == theirs.dimension and left * ours.factor == right * theirs.factor
    if number.unit != wanted.unit and number.unit and wanted.unit:
        return False
    if _is_close(left, right, number, wanted):
        return True
    share, plain = _as_shares(number, wanted)
    return share is not number and _is_close(share.value, plain.value, share, plain)


def _as_shares(number: _Number, wanted: _Number) -> tuple[_Number, _Number]:
    """Return both numbers, with a percentage turned into a share if the other is a share."""
    if (number.unit == "%") == (wanted.unit == "%"):
        return number, wanted
    share, plain = (number, wanted) if number.unit == "%" else (wanted, number)
    if abs(plain.value) > 1:
        return number, wanted
    return _scaled(share, Fraction(1, 100)), plain


def _scaled(number: _Number, factor: Fraction) -> _Number:
    return number._replace(value=number.value * factor, half_place=number.half_place * factor)


def _is_close(left: Fraction, right: Fraction, number: _Number, wanted: _Number) -> bool:
    """Return whether two values are equal, or one is the other rounded by little."""
    return left == right or (
        _is_rounded(left, right, number, wanted) and abs(left - right) <= MAXIMUM_ROUNDING * abs(right)
    )


def _is_rounded(left: Fraction, right: Fraction, number: _Number, wanted: _Number) -> bool:
    """Return whether two values agree as far as one of them is written; a year or an ordinal is not rounded."""
    if "year" in (number.kind, wanted.kind) or "ordinal" in (number.kind, wanted.kind):
        return False
    return abs(left - right) <= max(number.half_place, wanted.half_place)


def _agrees_as_written(number: _Number, wanted: _Number) -> bool:
    """Return whether a number is the wanted one in a coarse rounding: 0.4 billion for 389 million."""
    share, plain = _as_shares(number, wanted)
    is_other_unit = number.measure != wanted.measure or (number.unit != wanted.unit and number.unit and wanted.unit)
    if share is number and is_other_unit:
        return False
    return _is_rounded(abs(share.value), abs(plain.value), share, plain)


def _differs_by_scale(number: _Number, wanted: _Number) -> bool:
    if not number.value or not wanted.value or (number.unit != wanted.unit and number.unit and wanted.unit):
        return False
    digits = str(abs(wanted.value.numerator)).rstrip("0")
    if len(digits) < _DIGITS_OF_A_SCALE:
        return False
    factors = [factor for power in (3, 6, 9) for factor in (Fraction(10**power), Fraction(1, 10**power))]
    scaled = (_scaled(number, factor) for factor in factors)
    return any(_is_close(abs(each.value), abs(wanted.value), each, wanted) for each in scaled)


def _check_list(said: str, truth: str, query: str) -> tuple[Status, str]:
    found: list[tuple[Status, str]] = []
    for item in _split_items(truth):
        kind = find_kind(item)
        # The list has several items, so that another item beside one is no rival of it.
        status, reason = _check(said, item, query, kind if kind != "list" else "phrase")
        if reason in ("several_candidates", "hedged") and kind in ("date", "number"):
            status, reason = "correct", "same_value"
        found.append((status, reason))
    if all(status == "correct" for status, _ in found):
        return "correct", "all_items"
    if any(status == "incorrect" for status, _ in found):
        return "incorrect", "items_missing"
    return next((status, reason) for status, reason in found if status == "undecided")


def _find_run(words: list[str], run: list[str]) -> list[int]:
    """Return where a run of words starts."""
    if not run:
        return []
    return [
        start
        for start in range(len(words) - len(run) + 1)
        if words[start] == run[0] and words[start : start + len(run)] == run
    ]


def _check_phrase(said: str, truth: str, query: str) -> tuple[Status, str]:
    wanted, words = _words(truth), _words(said)
    if not wanted:
        return "undecided", "free_text"
    starts = _find_run(words, wanted)
    if starts:
        starts = _without_echoes(words, starts, _words(query), len(wanted))
        if not starts:
            return "undecided", "echoes_query"
        standings = [_standing(words, start, start + len(wanted)) for start in starts]
        # One plain mention is enough: "not London but Paris. So Paris."
        return ("correct", "contained") if None in standings else ("undecided", standings[0] or "negated")
    names = extract_features(truth).entity_mentions
    is_whole = len(names) == 1 and names[0].start == 0 and names[0].end >= len(truth.rstrip("."))
    if is_whole and names[0].keys[0] in extract_features(said).entities_offered:
        mentions = [each for each in extract_features(said).entity_mentions if names[0].keys[0] in each.keys]
        before = _words(said[: mentions[0].start]) if mentions else []
        if names[0].keys[0] in extract_features(query).entities_offered:
            return "undecided", "echoes_query"
        standing = _standing([*before, ""], len(before), len(before) + 1)
        return ("correct", "same_name") if standing is None else ("undecided", standing)
    if _is_near(words, wanted):
        return "undecided", "near_match"
    content = {word for word in wanted if word not in STOP_WORDS}
    held = content.intersection(words)
    # A word that the query holds too proves nothing.
    told = held.difference(_words(query))
    if content and held == content and len(content) > 1:
        return "undecided", "scattered_words"
    if told:
        return "undecided", "partly_mentioned"
    # One capitalised word may be a common word: "financial services" also says "Banking".
    is_name = len(wanted) > 1 and all(
        surface[0].isupper() or surface[0].isdigit() or surface.casefold() in STOP_WORDS
        for surface in WORD_PATTERN.findall(truth)
    )
    return ("incorrect", "not_mentioned") if is_name else ("undecided", "other_words")


def _without_echoes(words: list[str], starts: list[int], asked: list[str], length: int) -> list[int]:
    """Return the mentions that do not repeat the query."""
    run = words[starts[0] : starts[0] + length]
    in_query = _find_run(asked, run)
    before = {asked[start - 1] for start in in_query if start}
    behind = {asked[start + length] for start in in_query if start + length < len(asked)}
    return [
        start
        for start in starts
        if not (start and words[start - 1] in before)
        and not (start + length < len(words) and words[start + length] in behind)
        and not (in_query and len(words) == length)
    ]


def _standing(words: list[str], start: int, end: int) -> str | None:
    """Return ``negated`` or ``hedged`` if the words around a mention speak against it, else None."""
    before = words[max(0, start - _NEGATED_BEFORE) : start]
    if any(word in _NEGATORS or word.endswith("n't") for word in before) or tuple(before[-2:]) in _CONTRASTS:
        return "negated"
    if not _ALTERNATIVES.isdisjoint(words[max(0, start - 1) : start]) or words[end : end + 1] == ["or"]:
        return "hedged"
    return None


def _is_near(words: list[str], wanted: list[str]) -> bool:
    """Return whether the answer holds the words in a misspelling; short words never count as one."""
    target = " ".join(wanted)
    if len(target) < _LETTERS_OF_A_NAME:
        return False
    matcher = difflib.SequenceMatcher(autojunk=False)
    matcher.set_seq2(target)
    for start in range(min(len(words), _NEAR_WORDS) - len(wanted) + 1):
        matcher.set_seq1(" ".join(words[start : start + len(wanted)]))
        # The upper bounds are cheap and rule out most candidates.
        bounds = (matcher.real_quick_ratio, matcher.quick_ratio, matcher.ratio)
        if all(bound() >= NEAR_MATCH_RATIO for bound in bounds):
            return True
    return False


def _names_rival(said: str, truth: str, rivals: Sequence[str], kind: Kind, query: str | None) -> bool:
    """Return whether the answer also names another known answer that is neither in the truth nor in the query."""
    if kind not in ("phrase", "date", "number"):
        return False
    words, wanted, asked = _words(said), _words(truth), _words(_clean(query or ""))
    for rival in rivals:
        other = _words(_clean(rival))
        if not other or _find_run(wanted, other) or _find_run(asked, other) or _find_run(other, wanted):
            continue
        if _find_run(words, other):
            return True
    return False


_CHECKS: Final[Mapping[Kind, Callable[[str, str, str], tuple[Status, str]]]] = {
    "boolean": _check_boolean,
    "date": _check_date,
    "number": _check_number,
    "list": _check_list,
    "phrase": _check_phrase,
}

"""Turn a sentence that its context supports into one that it does not, by seeded rules.

The faults serve as test cases with a known answer (which share of the faults of each kind does a metric catch?), as
negatives for training, and as variants of queries. A rule changes one place of the sentence and leaves the rest as it
stands; where no rule of the kind applies, there is no fault. What is faulty by construction is certain for numbers and
names from outside the context. For the other kinds it follows from the sentence being faithful: its negation, the
opposite word, or another number in the same place then contradict the context, except where the context happens to say
both.
"""

import functools
import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Final, NamedTuple, TypeVar

from hcat.language.features import TextFeatures, extract_features
from hcat.language.kinds import MONTH_NAME, MONTHS, name_shape, number_kind, replaceable_numbers, without_full_stop
from hcat.language.mentions import Mention
from hcat.language.text import STOP_WORDS, WORD_PATTERN
from hcat.language.words import stem_word
from hcat.metrics.support import Evidence

NUMBER_OUTSIDE: Final = "number_outside"
NUMBER_INSIDE: Final = "number_inside"
ENTITY_OUTSIDE: Final = "entity_outside"
ENTITY_INSIDE: Final = "entity_inside"
NEGATION: Final = "negation"
ANTONYM: Final = "antonym"

KINDS: Final = (NUMBER_OUTSIDE, NUMBER_INSIDE, ENTITY_OUTSIDE, ENTITY_INSIDE, NEGATION, ANTONYM)
"""The kinds of faults.

- ``number_outside``: a number becomes another one of the same form that is nowhere in the context;
- ``number_inside``: a number becomes another one of the context, of the same unit;
- ``entity_outside``: a name becomes one of the pool, of like shape, that is not in the context;
- ``entity_inside``: a name becomes another name of the context, of like shape, that is not in the sentence;
- ``negation``: a negation is put in or taken out;
- ``antonym``: one word becomes its opposite.
"""

MAXIMUM_TRIES: Final = 100
"""So many replacements are tried for one number or name before the rule gives the place up."""

_CHARACTERS_BEFORE = 40  # so far back a pattern looks for what stands before a word

_Item = TypeVar("_Item")


@dataclass(frozen=True, slots=True)
class Perturbed:
    """A sentence with one fault.

    Attributes
    ----------
    text : str
        The faulty sentence.
    kind : str
        One of `KINDS`.
    start, end : int
        Characters of `text` that were changed; ``text[start:end] == after``.
    before, after : str
        What stood there and what stands there now, neither empty. ``text[:start] + before + text[end:]`` is the
        sentence as it was.
    """

    text: str
    kind: str
    start: int
    end: int
    before: str
    after: str


class _Edit(NamedTuple):
    """A change of one span of the sentence."""

    start: int
    end: int
    after: str


def perturb(
    sentence: str, kind: str, context: Sequence[str], random: Random, pool: Sequence[str] = ()
) -> Perturbed | None:
    """Return the sentence with one fault of the given kind, or None where no rule of the kind applies.

    The result depends on nothing but the arguments and the state of `random`.

    Parameters
    ----------
    sentence : str
        A sentence that the context supports, or a query.
    kind : str
        One of `KINDS`.
    context : sequence of str
        The sentences of the context, and the query if an answer may rest on it. What was found in them is kept for the
        next sentences with the same context. Negations and antonyms do not look at it.
    random : random.Random
        Source of every choice; its state moves on.
    pool : sequence of str
        For ``entity_outside``: names that may replace a name, or texts that hold such names. Repeated names count once.

    Returns
    -------
    Perturbed or None

    Raises
    ------
    ValueError
        If the kind is unknown.
    """
    if kind in (NEGATION, ANTONYM):
        edits = list(_negations(sentence) if kind == NEGATION else _antonyms(sentence))
        edit = edits[random.randrange(len(edits))] if edits else None
    elif kind in KINDS:
        own = _read(sentence)
        sources = [_read(text) for text in context]
        if kind == NUMBER_OUTSIDE:
            edit = _number_outside(own, sources, random)
        elif kind == NUMBER_INSIDE:
            edit = _number_inside(own, sources, random)
        elif kind == ENTITY_OUTSIDE:
            edit = _entity_outside(own, sources, random, pool)
        else:
            edit = _entity_inside(own, sources, random)
    else:
        raise ValueError(f"unknown kind of fault {kind!r}; known are {', '.join(KINDS)}")
    if edit is None:
        return None
    return Perturbed(
        text=_apply(sentence, edit),
        kind=kind,
        start=edit.start,
        end=edit.start + len(edit.after),
        before=sentence[edit.start : edit.end],
        after=edit.after,
    )


class _Source(NamedTuple):
    """A sentence with what in it may be replaced and may replace; numbers with what they count."""

    text: str
    features: TextFeatures
    numbers: Sequence[tuple[Mention, str]]
    names: Sequence[Mention]


@functools.lru_cache(maxsize=1 << 12)
def _read(text: str) -> _Source:
    features = extract_features(text)
    return _Source(text, features, replaceable_numbers(features), _replaceable_names(text, features))


def _evidence_of(sources: Iterable[_Source]) -> Evidence:
    return Evidence.from_features(source.features for source in sources)


def _apply(sentence: str, edit: _Edit) -> str:
    return sentence[: edit.start] + edit.after + sentence[edit.end :]


def _in_random_order(items: Sequence[_Item], random: Random) -> Iterator[_Item]:
    """Yield every item once; drawing a few of many items costs a few steps."""
    moved: dict[int, int] = {}  # a shuffle that only notes the places it has changed
    for position in range(len(items)):
        chosen = random.randrange(position, len(items))
        yield items[moved.get(chosen, chosen)]
        moved[chosen] = moved.get(position, position)


# --- articles and capitals ---

# "an" stands before a spoken vowel: of a word, of a number (eight, eleven, eighteen), of a letter of an acronym.
_VOWEL_SOUND = re.compile(r"8|1[18]\Z|hour|honest|heir|(?!eu|uni(?![mn])|us[aeu]|util|one\Z|once\Z)[aeiou]", re.I)
_LETTERS_WITH_VOWEL_SOUND = "AEFHILMNORSX"
_ARTICLE = re.compile(r"\b(an?)\s+[^\w\s]?\Z", re.IGNORECASE)
_FIRST_WORD = re.compile(r"[^\W_]+")


def article_for(text: str) -> str:
    """Return the indefinite article that goes before the text; a guess by its first letters or digits."""
    match = _FIRST_WORD.search(text)
    word = match.group() if match else ""
    if len(word) > 1 and word.isalpha() and word.isupper():
        return "an" if word[0] in _LETTERS_WITH_VOWEL_SOUND else "a"
    return "an" if _VOWEL_SOUND.match(word) else "a"


def find_article(sentence: str, start: int) -> re.Match[str] | None:
    """Return the indefinite article that stands right before the position."""
    return _ARTICLE.search(sentence, max(0, start - 5), start)


def _fits_article(sentence: str, start: int, after: str) -> bool:
    """Return whether the article before the position, if there is one, also fits what is to stand there."""
    article = find_article(sentence, start)
    return article is None or article[1].lower() == article_for(after)


def in_case_of(word: str, original: str) -> str:
    """Return the word in capitals, with one capital, or as it is, like the original."""
    if len(original) > 1 and original.isupper():
        return word.upper()
    return word[:1].upper() + word[1:] if original[:1].isupper() else word


def _opens(sentence: str, start: int) -> bool:
    """Return whether no word stands before the position."""
    return WORD_PATTERN.search(sentence, 0, start) is None


def _mention_at(mentions: Iterable[Mention], start: int, end: int) -> Mention | None:
    """Return the mention that fills the span."""
    return next((mention for mention in mentions if mention.start == start and mention.end == end), None)


# --- numbers ---

_NUMBER_WORDS = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
)  # fmt: skip
_ORDINAL_WORDS = (
    "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh",
    "twelfth",
)  # fmt: skip
_LONG_MONTHS = ("january", "march", "may", "july", "august", "october", "december")
_LETTERS = re.compile(r"[A-Za-z]+")
_DIGIT = re.compile(r"\d")
_DIGIT_RUN = re.compile("[0-9](?:[0-9.,'\u2019\u00a0\u202f\u2009]*[0-9])?")
_LAST_DIGITS = re.compile("[0-9]+(?=[^0-9]*\\Z)")
_ORDINAL_SUFFIXES = frozenset({"st", "nd", "rd", "th"})
_DAY_OR_YEAR = re.compile(r"([0-9]{1,4})(st|nd|rd|th)?(?![0-9])", re.IGNORECASE)
_TIME = re.compile(r"([0-9]{1,2})(?::([0-9]{2}))?")
_MAXIMUM_SIGNIFICANT_DIGITS = 15  # of longer numbers only the first digits are changed
_LAST_DAY_OF_EVERY_MONTH = 28
_MONTHS_IN_A_YEAR = 12
_YEARS_APART = 9
_QUARTERS_OF_AN_HOUR = ("00", "15", "30", "45")


def _counts_one(mention: Mention, kind: str) -> bool:
    """Return whether the number stands before a singular, where no other number fits."""
    return kind == "bare" and mention.keys[0].partition(" ")[0] == "1"


def _number_outside(own: _Source, sources: Sequence[_Source], random: Random) -> _Edit | None:
    """Replace a number by one of the same form whose value is neither in the context nor in the sentence."""
    present = _evidence_of([*sources, own]).numbers
    for mention, kind in _in_random_order(own.numbers, random):
        if _counts_one(mention, kind):
            continue
        for surface in itertools.islice(_other_numbers(mention.surface, kind, random), MAXIMUM_TRIES):
            edit = _Edit(mention.start, mention.end, surface)
            found = _number_after(own.text, edit)
            if (
                found is not None
                and number_kind(found) == number_kind(mention)
                and not _counts_one(found, kind)
                # also the value without its unit is new: 15 is not new where 15 % is known
                and present.isdisjoint((*found.keys, found.keys[0].partition(" ")[0]))
            ):
                return edit
    return None


def _number_inside(own: _Source, sources: Sequence[_Source], random: Random) -> _Edit | None:
    """Replace a number by one of the context that counts the same and is not in the sentence."""
    known = own.features.numbers_offered.union(*[mention.keys for mention in own.features.number_mentions])
    others: dict[str, dict[str, str]] = {}  # by kind, then by normal form
    for source in sources:
        for mention, kind in source.numbers:
            if known.isdisjoint(mention.keys) and not _counts_one(mention, kind):
                others.setdefault(kind, {}).setdefault(mention.keys[0], mention.surface)
    for mention, kind in _in_random_order(own.numbers, random):
        if _counts_one(mention, kind):
            continue
        candidates = list(others.get(kind, {}).items())
        for key, surface in itertools.islice(_in_random_order(candidates, random), MAXIMUM_TRIES):
            if surface.endswith(".") != mention.surface.endswith("."):
                continue  # the full stop of "9 a.m." may also end the sentence
            edit = _Edit(mention.start, mention.end, _as_opening(surface, _opens(own.text, mention.start)))
            found = _number_after(own.text, edit)
            if found is not None and found.keys[0] == key:
                return edit
    return None


def _as_opening(surface: str, opens_sentence: bool) -> str:
    """Return a number with a capital at its first letter if it is a word that opens the sentence, else without."""
    word = _LETTERS.match(surface)
    if word is None or word.group().lower() not in (*_NUMBER_WORDS, *_ORDINAL_WORDS):
        return surface
    return (surface[0].upper() if opens_sentence else surface[0].lower()) + surface[1:]


def _number_after(sentence: str, edit: _Edit) -> Mention | None:
    """Return the number that the edit would put into the sentence, as it reads there."""
    if not _fits_article(sentence, edit.start, edit.after):
        return None
    mentions = map(without_full_stop, extract_features(_apply(sentence, edit)).number_mentions)
    return _mention_at(mentions, edit.start, edit.start + len(edit.after))


def _other_numbers(surface: str, kind: str, random: Random) -> Iterator[str]:
    """Yield numbers written like the given one, in random order."""
    letters = _LETTERS.match(surface)
    word = letters.group().lower() if letters else ""
    if kind == "year":
        others = _other_years(surface)
    elif kind == "00:00":
        others = _other_times(surface)
    elif "-" in kind or "/" in kind:
        others = _other_dates(surface)
    elif word in _NUMBER_WORDS or word in _ORDINAL_WORDS:
        # "one" is as often no number, and its noun is a singular
        words = _NUMBER_WORDS[2:] if word in _NUMBER_WORDS else _ORDINAL_WORDS
        others = [in_case_of(other, surface[: len(word)]) + surface[len(word) :] for other in words if other != word]
    else:
        others = _other_digits(surface, random)
    return _in_random_order(others, random)


def _other_digits(surface: str, random: Random) -> list[str]:
    """Return the number with one significant digit or all of them replaced; separators, decimals, noughts at both ends
    and the number of digits stay."""
    run = _DIGIT_RUN.search(surface)
    if run is None:
        return []
    positions = [position for position in range(*run.span()) if surface[position].isdigit()]
    significant = [position for position in positions if surface[position] != "0"]
    significant = [position for position in positions if significant and significant[0] <= position <= significant[-1]]
    significant = significant[:_MAXIMUM_SIGNIFICANT_DIGITS] or positions[-1:]
    changes = [
        {position: digit}
        for position in significant
        for digit in "0123456789"
        if digit != surface[position] and (digit != "0" or position != significant[0])
    ]
    if len(significant) > 1:
        changes += [
            {position: str(random.randrange(position == significant[0], 10)) for position in significant}
            for _ in range(len(changes))
        ]
    others = []
    for change in changes:
        number = "".join(change.get(position, surface[position]) for position in range(*run.span()))
        suffix = surface[run.end() :]
        if suffix.lower() in _ORDINAL_SUFFIXES:
            suffix = in_case_of(_ordinal_suffix(number), suffix)
        others.append(surface[: run.start()] + number + suffix)
    return others


def _ordinal_suffix(digits: str) -> str:
    is_teen = digits[-2:-1] == "1"
    return "th" if is_teen else {"1": "st", "2": "nd", "3": "rd"}.get(digits[-1], "th")


def _other_years(surface: str) -> list[str]:
    """Return the years near by, with as many digits."""
    digits = _LAST_DIGITS.search(surface)
    if digits is None:
        return []
    width = len(digits.group())
    return [
        surface[: digits.start()] + f"{(int(digits.group()) + apart) % 10**width:0{width}}" + surface[digits.end() :]
        for apart in range(-_YEARS_APART, _YEARS_APART + 1)
        if apart
    ]


def _other_times(surface: str) -> list[str]:
    """Return times with another hour of as many digits, or another quarter of an hour."""
    time = _TIME.search(surface)
    if time is None:
        return []
    hour, minute = time.groups()
    has_half = surface[-1] not in "0123456789"
    if len(hour) == 1:
        hours = [str(other) for other in range(1, 10)]
    else:
        hours = [f"{other:02}" for other in range(1 if hour[0] == "0" else 10, 13 if has_half else 24)]
    others = [surface[: time.start(1)] + other + surface[time.end(1) :] for other in hours if other != hour]
    if minute is not None:
        others += [
            surface[: time.start(2)] + other + surface[time.end(2) :]
            for other in _QUARTERS_OF_AN_HOUR
            if other != minute
        ]
    return others


def _other_dates(surface: str) -> list[str]:
    """Return dates that differ in the day, the month or the year, and that a calendar has."""
    others = []
    month = MONTH_NAME.search(surface)
    numbers = list(_DAY_OR_YEAR.finditer(surface))
    days = {number.start(): int(number[1]) for number in numbers if len(number[1]) <= 2}
    is_late = max(days.values(), default=0) > _LAST_DAY_OF_EVERY_MONTH
    for number in numbers:
        digits, suffix = number.groups()
        if number.start() not in days:
            # 29 February comes back every four years
            apart = [years for years in range(-_YEARS_APART, _YEARS_APART + 1) if not is_late or years % 4 == 0]
            values = [str(int(digits) + years) for years in apart]
        elif month is None and is_late and days[number.start()] <= _LAST_DAY_OF_EVERY_MONTH:
            continue  # the month of a day that not every month has
        else:
            # in figures only, each of the two may be the month
            last = _LAST_DAY_OF_EVERY_MONTH if month else _MONTHS_IN_A_YEAR
            values = [
                f"{value:02}" if digits[0] == "0" else str(value)
                for value in range(1, last + 1)
                if month or len(digits) == len(str(value)) or digits[0] == "0"
            ]
        others += [
            surface[: number.start()] + value + (_ordinal_suffix(value) if suffix else "") + surface[number.end() :]
            for value in values
            if int(value) != int(digits)
        ]
    if month is not None:
        written = month.group()
        is_full = written.lower() in MONTHS
        others += [
            surface[: month.start()] + in_case_of(other if is_full else other[:3], written) + surface[month.end() :]
            for other in (_LONG_MONTHS if is_late else MONTHS)
            if other[:3] != written.lower()[:3]
        ]
    return others


# --- entities ---

_PIECE_BEFORE = re.compile(r"-\Z|\b[^\W\d_a-z]\w*['\u2019]s?\s\Z")
_PIECE_BEHIND = re.compile(r"-|['\u2019]s?\s[^\W\d_a-z]")


def _replaceable_names(text: str, features: TextFeatures) -> list[Mention]:
    """Return the names that may be replaced and may replace others, without pieces of longer names.

    Numbers, small words behind a hyphen and owners are no part of a name, so that "First National Bank", "Lantern 60
    Notice Account", "Buy-to-Let Mortgage" and "Children's Saver" come in pieces.
    """
    name_ends = {mention.end for mention in features.entity_mentions}
    behind_numbers = {
        number.end + 1
        for number in features.number_mentions
        if number.surface[0].isupper() or number.start - 1 in name_ends
    }
    before_numbers = {number.start - 1 for number in features.number_mentions if number.surface.isdecimal()}
    return [
        mention
        for mention in features.entity_mentions
        if mention.start not in behind_numbers
        and mention.end not in before_numbers
        and not _PIECE_BEHIND.match(text, mention.end)
        and not _PIECE_BEFORE.search(text, max(0, mention.start - _CHARACTERS_BEFORE), mention.start)
    ]


@functools.lru_cache(maxsize=1 << 16)
def _names_of(text: str) -> tuple[str, ...]:
    """Return the names of a text, or the text itself if it is a single word."""
    names = tuple(mention.surface for mention in _replaceable_names(text, extract_features(text)))
    # a single word is no name where it opens a sentence
    return names or ((text,) if WORD_PATTERN.fullmatch(text) else ())


class _Names(NamedTuple):
    """Names by shape, and by shape and last word."""

    by_shape: Mapping[str, Sequence[str]]
    by_last_word: Mapping[tuple[str, str], Sequence[str]]


def _index_names(names: Iterable[str]) -> _Names:
    by_shape: dict[str, list[str]] = {}
    by_last_word: dict[tuple[str, str], list[str]] = {}
    for name in dict.fromkeys(names):
        shape = name_shape(name)
        by_shape.setdefault(shape[0], []).append(name)
        if shape[1]:
            by_last_word.setdefault(shape, []).append(name)
    return _Names(by_shape, by_last_word)


@functools.lru_cache(maxsize=16)
def _index_pool(pool: tuple[str, ...]) -> _Names:
    """Return the index of a pool; one pool serves many sentences."""
    return _index_names(name for text in pool for name in _names_of(text))


def _entity_outside(own: _Source, sources: Sequence[_Source], random: Random, pool: Sequence[str]) -> _Edit | None:
    """Replace a name by one of the pool that neither the context nor the sentence supports."""
    present = _evidence_of([*sources, own])

    def is_new(found: Mention) -> bool:
        return found.keys[0] not in present.entities and not present.words.issuperset(found.parts or found.keys)

    return _replace_name(own, _index_pool(tuple(pool)), random, is_new)


def _entity_inside(own: _Source, sources: Sequence[_Source], random: Random) -> _Edit | None:
    """Replace a name by another one of the context."""
    present = _evidence_of(sources).entities
    names = _index_names(mention.surface for source in sources for mention in source.names)
    return _replace_name(own, names, random, lambda found: found.keys[0] in present)


def _replace_name(own: _Source, names: _Names, random: Random, fits: Callable[[Mention], bool]) -> _Edit | None:
    """Replace a name by one of like shape, of the same last word if there is one, that is none of the sentence's."""
    identities = [_identity(mention) for mention in own.features.entity_mentions]
    for mention in _in_random_order(own.names, random):
        shape = name_shape(mention.surface)
        candidates = itertools.chain(
            _in_random_order(names.by_last_word.get(shape, ()), random),
            _in_random_order(names.by_shape.get(shape[0], ()), random),
        )
        for surface in itertools.islice(candidates, MAXIMUM_TRIES):
            if not _fits_article(own.text, mention.start, surface):
                continue
            edit = _Edit(mention.start, mention.end, surface)
            found = _mention_at(
                extract_features(_apply(own.text, edit)).entity_mentions, edit.start, edit.start + len(surface)
            )
            if found is not None and fits(found):
                identity = _identity(found)
                # "Merkel" is not another person than "Angela Merkel"
                if not any(identity <= other or other <= identity for other in identities):
                    return edit
    return None


def _identity(mention: Mention) -> frozenset[str]:
    return frozenset(mention.parts or mention.keys)


# --- negation ---


class _Word(NamedTuple):
    """A word, case-folded, with its neighbours where nothing but space lies between, else empty."""

    start: int
    end: int
    surface: str
    folded: str
    before: str
    after: str


_BE = frozenset({"is", "are", "was", "were"})
_HAVE = {"has": "does", "have": "do", "had": "did"}
_DO = frozenset({"do", "does", "did"})
# The negation of "may", "might" and "could" often leaves the sentence compatible with what it was.
_MODALS = {"can": "cannot", **{modal: f"{modal} not" for modal in ("will", "would", "should", "must")}}
_AUXILIARIES = _BE | _HAVE.keys() | _MODALS.keys() | {"could", "may", "might"}
_CONTRACTIONS = {
    "isn't": "is", "aren't": "are", "wasn't": "was", "weren't": "were", "can't": "can", "cannot": "can",
    "couldn't": "could", "won't": "will", "wouldn't": "would", "shouldn't": "should", "mustn't": "must",
    "hasn't": "has", "haven't": "have", "hadn't": "had", "didn't": "did",
}  # fmt: skip
_CONTRACTED_DO = {"don't": "do", "doesn't": "does"}
_PRONOUNS = frozenset({"i", "you", "we", "they", "he", "she", "it"})
_SUBJECTS = frozenset({"i", "you", "we", "they"})  # a present verb behind them has its base form
_DETERMINERS = frozenset({"a", "an", "the", "this", "that", "my", "your", "our", "their", "his", "her", "its"})
_QUESTION_WORDS = frozenset({"what", "when", "where", "which", "who", "why", "how"})
# Before these "not" would say something else ("not only"), or be a second negation.
_NO_NEGATION_BEFORE_LIST = """
not no never neither nor nothing nobody none hardly rarely seldom only just merely also least
"""
_NO_NEGATION_BEFORE = frozenset(_NO_NEGATION_BEFORE_LIST.split())
_NO_NEGATION_BEHIND_LIST = """
never always rarely seldom often usually normally generally typically not also only still then already to neither nor
than as
"""
_NO_NEGATION_BEHIND = frozenset(_NO_NEGATION_BEHIND_LIST.split())
# "before you do not pay" says nothing, and behind "let" or "help" the verb is no main verb.
_NO_CLAUSE_BEHIND_LIST = "before until than as soon after let lets make makes help helps see watch"
_BEFORE_INFINITIVE = frozenset({*_AUXILIARIES, *_DO, *_CONTRACTIONS, *_CONTRACTED_DO, "not", "to"})
_NO_CLAUSE_BEHIND = _BEFORE_INFINITIVE | frozenset(_NO_CLAUSE_BEHIND_LIST.split())
_NEGATIVE_SUBJECTS = frozenset({"neither", "nor", "no", "none", "nobody", "nothing"})
_SUBJECT_WORDS = 4
_POLAR_WORDS = frozenset({"anything", "anyone", "anybody", "either", "yet", "anymore"})
_PREPOSITIONS = frozenset({"at", "in", "from", "for", "of", "on", "with", "by", "to", "under", "into", "without"})
_ADVERBS = frozenset({"also", "always", "already", "ever", "even", "just", "never", "often", "only", "still", "yet"})
_VERBS_IN_LY = frozenset({"apply", "comply", "imply", "multiply", "rely", "reply", "supply"})
_IRREGULAR_PARTICIPLE_LIST = """
been become begun bought broken brought built caught chosen come cut done drawn driven fallen felt forgotten found
given gone got gotten grown had heard held hit kept known laid led left lent let lost made met overtaken paid put
read risen run said seen sent set shown shut sold spent split spoken spread stolen stood struck swept taken thought
thrown told understood withdrawn won worn written
"""
_IRREGULAR_PARTICIPLES = frozenset(_IRREGULAR_PARTICIPLE_LIST.split())
_VERB_LIST = """
accept allow apply arrive ask become begin belong borrow bring come confirm consist contain continue decide depend
earn enable expire follow give grant include keep lend make open operate own pay protect provide receive remain
require send serve speak tell take want withhold
"""
_VERBS = _VERB_LIST.split()
# Their third person is also a plural noun; an object must follow.
_VERB_LIKE_NOUN_LIST = """
block change charge check close cost cover end help hold last let lift limit move need offer report return run save
show start support transfer use work
"""
_VERBS_LIKE_NOUNS = _VERB_LIKE_NOUN_LIST.split()
_OBJECT = re.compile(
    r"\s+(?:(?:an?|the|its?|his|her|their|my|our|your|this|these|those|all|every|each|some|more|at|up|two|three|four|"
    r"five|six|seven|eight|nine|ten|eleven|twelve|us|you|them|me|him)\b|[$\u00a3\u20ac\u00a5]?[0-9])",
    re.IGNORECASE,
)
_HAVE_OBJECT = re.compile(_OBJECT.pattern + r"|\s+to\b", re.IGNORECASE)
# Nouns behind "no": with these the positive sentence has an article, with those it has none.
_COUNT_NOUN_LIST = """
account advantage agreement answer benefit branch change charge claim commission condition contract cost deadline
deposit difference discount document effect exception fee fine guarantee impact increase license licence
limit link loan maximum minimum need obligation offer option overdraft payment penalty plan policy problem reason
refund relationship requirement restriction result right risk rule sign solution surcharge threshold transaction way
withdrawal
"""
_COUNT_NOUNS = frozenset(_COUNT_NOUN_LIST.split())
_MASS_NOUN_LIST = """
access advice compensation cover coverage data evidence help income information insurance interest liability money
notice proof protection revenue support tax
"""
_NOUN_STEMS = frozenset(stem_word(noun) for noun in (*_COUNT_NOUNS, *_MASS_NOUN_LIST.split()))
_WORDS_BEFORE_NOUN = 3


def third_person(verb: str) -> str:
    """Return the third person singular of a verb in its base form."""
    if verb == "have":
        return "has"
    if verb == "be":
        return "is"
    if verb.endswith(("s", "x", "z", "ch", "sh", "o")):
        return verb + "es"
    if verb.endswith("y") and verb[-2:-1] not in ("a", "e", "i", "o", "u"):
        return verb[:-1] + "ies"
    return verb + "s"


_THIRD_PERSONS = {third_person(verb): verb for verb in _VERBS}
_THIRD_PERSONS_LIKE_NOUNS = {third_person(verb): verb for verb in _VERBS_LIKE_NOUNS}
_BASE_FORMS = frozenset([*_VERBS, *_VERBS_LIKE_NOUNS])


def _words_of(sentence: str) -> list[_Word]:
    spans = [(*match.span(), match.group()) for match in WORD_PATTERN.finditer(sentence)]
    folded = [surface.lower().replace("\u2019", "'") for _, _, surface in spans]
    adjoins = [sentence[left[1] : right[0]].isspace() for left, right in itertools.pairwise(spans)]
    last = len(spans) - 1
    return [
        _Word(
            start,
            end,
            surface,
            folded[position],
            folded[position - 1] if position > 0 and adjoins[position - 1] else "",
            folded[position + 1] if position < last and adjoins[position] else "",
        )
        for position, (start, end, surface) in enumerate(spans)
    ]


def _negations(sentence: str) -> Iterator[_Edit]:
    """Yield every way to put a negation in or take one out."""
    words = _words_of(sentence)
    is_question = sentence.rstrip().endswith("?")
    for position, word in enumerate(words):
        if word.folded in ("not", "no") or word.folded in _CONTRACTIONS or word.folded in _CONTRACTED_DO:
            yield from _removals(sentence, words, position, is_question)
        elif is_question:
            yield from _insertions_in_question(sentence, words, position)
            yield from _insertions_at_verb(sentence, words, position)
        else:
            yield from _insertions_at_auxiliary(sentence, words, position)
            yield from _insertions_at_verb(sentence, words, position)


def _removals(sentence: str, words: Sequence[_Word], position: int, is_question: bool) -> Iterator[_Edit]:
    """Yield how the negation at the position can be taken out."""
    word = words[position]
    if word.folded == "no":
        yield from _removals_of_no(words, position)
        return
    if _needs_negation(words, position) or word.after in ("only", "just", "merely", "least"):
        return
    if word.folded in _CONTRACTIONS:
        yield _Edit(word.start, word.end, in_case_of(_CONTRACTIONS[word.folded], word.surface))
        return
    if word.folded in _CONTRACTED_DO:
        first, auxiliary = word, _CONTRACTED_DO[word.folded]
        if word.after in _PRONOUNS or (is_question and (position == 0 or word.before in _QUESTION_WORDS)):
            yield _Edit(word.start, word.end, in_case_of(auxiliary, word.surface))
            return
    elif not word.before:
        return
    else:
        first, auxiliary = words[position - 1], word.before
    if auxiliary in ("do", "does"):
        yield _without_do(words, position, first, auxiliary)
    elif auxiliary in _AUXILIARIES or auxiliary == "did":
        yield _Edit(first.start, word.end, first.surface)
    elif auxiliary in ("but", "and"):  # "but not in the app"
        yield _Edit(first.start, word.end, in_case_of("and also", first.surface))
    elif is_question and auxiliary in _PRONOUNS and first.before in _AUXILIARIES | _DO:  # "can I not open"
        yield _Edit(first.start, word.end, first.surface)


def _without_do(words: Sequence[_Word], position: int, first: _Word, auxiliary: str) -> _Edit:
    """Return "costs" for "does not cost", and "do" or "does" where no verb can be told."""
    word = words[position]
    is_adverb = word.after in _ADVERBS or (word.after.endswith("ly") and word.after not in _VERBS_IN_LY)
    if not (word.after.isascii() and word.after.isalpha()) or (is_adverb and auxiliary == "does"):
        return _Edit(first.start, word.end, in_case_of(auxiliary, first.surface))
    verb = words[position + 1]
    after = verb.surface if auxiliary == "do" else third_person(verb.surface)
    return _Edit(first.start, verb.end, in_case_of(after, first.surface))


def _needs_negation(words: Sequence[_Word], position: int) -> bool:
    """Return whether a word near by reads wrong without the negation ("not any", "not yet")."""
    return any(
        word.folded in _POLAR_WORDS or (word.folded == "any" and word.before not in _PREPOSITIONS)
        for word in words[position + 1 : position + 5]
    )


def _removals_of_no(words: Sequence[_Word], position: int) -> Iterator[_Edit]:
    word = words[position]
    if word.after == "longer":
        yield _Edit(word.start, words[position + 1].end, in_case_of("still", word.surface))
        return
    for following in words[position + 1 : position + 2 + _WORDS_BEFORE_NOUN]:
        if not following.before or following.folded in STOP_WORDS:
            return
        if stem_word(following.folded) not in _NOUN_STEMS or stem_word(following.after) in _NOUN_STEMS:
            continue  # an adjective, or a noun that describes the next one
        if following.folded in _COUNT_NOUNS:
            yield _Edit(word.start, word.end, in_case_of(article_for(word.after), word.surface))
        else:
            described = words[position + 1]
            yield _Edit(word.start, described.end, in_case_of(described.surface, word.surface))
        return


def _insertions_in_question(sentence: str, words: Sequence[_Word], position: int) -> Iterator[_Edit]:
    """Yield "can I not" for "can I", where the subject is a pronoun."""
    word = words[position]
    if (word.folded in _AUXILIARIES or word.folded in _DO) and word.after in _PRONOUNS:
        subject = words[position + 1]
        if subject.after and subject.after not in _NO_NEGATION_BEFORE:
            yield _Edit(word.start, subject.end, sentence[word.start : subject.end] + " not")


def _insertions_at_auxiliary(sentence: str, words: Sequence[_Word], position: int) -> Iterator[_Edit]:
    """Yield "is not", "cannot", "has not" or "does not have"."""
    word = words[position]
    following = words[position + 1] if position + 1 < len(words) else None
    if (
        position == 0
        or following is None
        or not sentence[word.end : word.end + 1].isspace()  # nothing to negate before a comma or a full stop
        or not {word.after, following.after}.isdisjoint(_NO_NEGATION_BEFORE)
        or word.after in _PRONOUNS  # subject and verb have changed places
        or word.before in ("than", "as")
        or any(earlier.folded in _NEGATIVE_SUBJECTS for earlier in words[max(0, position - _SUBJECT_WORDS) : position])
        or word.surface[0].isupper()
    ):
        return
    if word.folded in _BE:
        yield _Edit(word.start, word.end, f"{word.surface} not")
    elif word.folded in _MODALS:
        if word.before not in _DETERMINERS:  # "a will" is no modal verb
            yield _Edit(word.start, word.end, _MODALS[word.folded])
    elif word.folded in _HAVE and word.before not in _BEFORE_INFINITIVE:
        is_adverb = word.after in _ADVERBS or word.after.endswith("ly")
        verb = following.after if is_adverb else word.after
        if verb in _IRREGULAR_PARTICIPLES or (verb.endswith("ed") and verb != "need"):
            yield _Edit(word.start, word.end, f"{word.surface} not")
        elif _HAVE_OBJECT.match(sentence, word.end):
            yield _Edit(word.start, word.end, f"{_HAVE[word.folded]} not have")


def _insertions_at_verb(sentence: str, words: Sequence[_Word], position: int) -> Iterator[_Edit]:
    """Yield "does not cost" for "costs", and "do not pay" for "pay" behind a pronoun."""
    word = words[position]
    if position == 0 or word.before in _NO_NEGATION_BEHIND or word.after in _NO_NEGATION_BEFORE:
        return
    if word.folded in _THIRD_PERSONS and word.before not in _DETERMINERS and word.surface == word.folded:
        yield _Edit(word.start, word.end, f"does not {_THIRD_PERSONS[word.folded]}")
    elif word.surface in _THIRD_PERSONS_LIKE_NOUNS and word.before not in _DETERMINERS:
        if _OBJECT.match(sentence, word.end):
            yield _Edit(word.start, word.end, f"does not {_THIRD_PERSONS_LIKE_NOUNS[word.folded]}")
    elif (
        word.surface in _BASE_FORMS and word.before in _SUBJECTS and words[position - 1].before not in _NO_CLAUSE_BEHIND
    ):
        yield _Edit(word.start, word.end, f"do not {word.surface}")


# --- antonyms ---

_PLAIN_ANTONYMS = """
above below, active inactive, add remove, added removed, adding removing, adds removes, advantage disadvantage, after
before, allow forbid, allowed forbidden, allowing forbidding, allows forbids, always never, at_least at_most, attached
detached, authorised unauthorised, authorized unauthorized, available unavailable, best worst, better worse, borrower
lender, bought sold, buy sell, buyer seller, buying selling, buys sells, cheap expensive, complete incomplete, correct
incorrect, credit debit, daily weekly, difficult easy, direct indirect, domestic foreign, earlier later, earliest
latest, early late, eligible ineligible, employee employer, end start, ended started, ending starting, ends starts,
everybody nobody, everything nothing, excluding including, external internal, fall rise, fallen risen, falling rising,
falls rises, faster slower, fell rose, first last, fixed variable, for_a_fee free_of_charge, free chargeable, full
partial, full-time part-time, good bad, high low, higher lower, highest lowest, inside outside, insured uninsured,
landlord tenant, large small, larger smaller, largest smallest, legal illegal, less more, limited unlimited, long short,
longer shorter, longest shortest, long-term short-term, majority minority, mandatory voluntary, maximum minimum, minus
plus, monthly yearly, necessary unnecessary, new old, older younger, oldest youngest, next previous, no_less_than
no_more_than, offline online, often rarely, or_over or_under, over under, permanent temporary, positive negative,
possible impossible, private public, profit loss, profits losses, protected unprotected, receive send, received sent,
receives sends, receiving sending, recipient sender, required optional, safe unsafe, secured unsecured, simple complex,
strength weakness, strengths weaknesses, strong weak, stronger weaker, usually seldom, valid invalid, with without
"""
_REGULAR_VERBS = """
accept reject, activate deactivate, appear disappear, approve decline, block unblock, connect disconnect, download
upload, enable disable, encourage discourage, export import, improve worsen, include exclude, increase decrease, lock
unlock, open close, strengthen weaken
"""


def _inflect(verb: str) -> tuple[str, str, str, str]:
    """Return the base form, the third person, the past and the present participle of a regular verb."""
    stem = verb.removesuffix("e")
    return verb, third_person(verb), f"{stem}ed", f"{verb if verb.endswith('ee') else stem}ing"


def _read_pairs(listed: str) -> list[list[str]]:
    return [[side.replace("_", " ") for side in pair.split()] for pair in listed.split(",")]


def _collect_antonyms() -> dict[str, str]:
    pairs = _read_pairs(_PLAIN_ANTONYMS)
    for left, right in _read_pairs(_REGULAR_VERBS):
        pairs += [[*pair] for pair in zip(_inflect(left), _inflect(right), strict=True)]
    return {word: opposite for left, right in pairs for word, opposite in ((left, right), (right, left))}


ANTONYMS: Final[Mapping[str, str]] = _collect_antonyms()
"""Opposite of each word or phrase, in lower case and in the same form. Every pair stands in both directions."""

_ANTONYM = re.compile(
    r"(?<![\w'\u2019-])(?:"
    + "|".join(sorted((re.escape(word) for word in ANTONYMS), key=len, reverse=True))
    + r")(?![\w'\u2019-])",
    re.IGNORECASE,
)
_VERB_OBJECT = r"\s+(?:the|an?|your|our|this|these|it|them)\b"
_NO_END = r"(?=\s*(?:[.,;:!?)]|\Z))"
_BEHIND_BE = r"(?<!\bis\s)(?<!\bare\s)(?<!\bwas\s)(?<!\bwere\s)(?<!\bbe\s)(?<!\bbeen\s)(?<!\bnot\s)\Z"
# Where a word has another meaning, or its opposite another grammar: patterns for the text before and behind it.
_UNSUITABLE = {
    word: (re.compile(f"(?:{before})\\Z", re.IGNORECASE) if before else None, re.compile(behind) if behind else None)
    for word, before, behind in (
        ("above", r"\bthe\s", ""),
        ("added", "", r"\s+to\b"),
        ("after", r"\b(?:look(?:s|ed|ing)?|soon|shortly|named|day)\s", rf"\s+all\b|{_NO_END}"),
        ("allowed", _BEHIND_BE, ""),
        ("before", r"\b(?:as|than|ever|never|once|like)\s", _NO_END),
        ("authorised", r"\b(?:i|you|we|they|he|she|it|never|has|have|had)\s", _VERB_OBJECT),
        ("authorized", r"\b(?:i|you|we|they|he|she|it|never|has|have|had)\s", _VERB_OBJECT),
        ("close", r"\bto a\s", r"\s+to\b"),
        ("complete", "", _VERB_OBJECT),
        ("correct", "", _VERB_OBJECT),
        ("credit", r"\bfor\s", r"\s+(?:checks?|history|limits?|lines?|rating|risk|scores?)\b"),
        ("direct", "", rf"\s+debits?\b|{_VERB_OBJECT}"),
        ("end", r"\b(?:in the|week)\s", r"\s+(?:up|to end)\b"),
        ("fall", "", r"\s+(?:on|within|under|into|for|out|behind|back|due|short)\b"),
        ("falls", "", r"\s+(?:on|within|under|into|for|out|behind|back|due|short)\b"),
        ("fell", "", r"\s+(?:on|within|under|into|for|out|behind|back|due|short)\b"),
        ("free", r"\b(?:feel|set|toll|tax|interest)\s", r"\s+(?:of|from|up)\b"),
        ("good", r"\b(?:as|for)\s", r"\s+(?:faith|as)\b"),
        ("high", "", r"\s+(?:street|school)\b"),
        ("large", r"\b(?:at|and)\s", ""),
        ("last", r"(?<!\bthe\s)(?<!\byour\s)(?<!\bour\s)(?<!\btheir\s)(?<!\bits\s)(?<!\bwas\s)(?<!\bwere\s)\Z", ""),
        ("less", r"\b(?:much|the)\s", ""),
        ("limited", "", r"\s+(?:to|by)\b"),
        ("long", r"\b(?:as|so|how|before)\s", r"\s+as\b"),
        ("longer", r"\bno\s", ""),
        ("loss", r"\b(?:any|further|the|your)\s", ""),
        ("lower", "", _VERB_OBJECT),
        ("more", r"\b(?:once|any|one|no|further|and|much|many|few|some|the)\s", ""),
        ("next", "", r"\s+to\b"),
        ("old", r"\b(?:years?|months?|weeks?|days?|how)\s", ""),
        ("over", "", r"(?!\s+[$\u00a3\u20ac\u00a5]?[0-9])"),
        ("receive", "", r"(?:\s+\w+){0,3}\s+from\b"),
        ("received", "", r"(?:\s+\w+){0,3}\s+from\b"),
        ("receives", "", r"(?:\s+\w+){0,3}\s+from\b"),
        ("required", "", r"\s+(?:to|by)\b"),
        ("rise", r"\bgiv(?:e|es|en|ing)\s", ""),
        ("send", "", r"\s+(?:us|you|me|them|him|her)\b|(?:\s+\w+){0,3}\s+to\b"),
        ("sends", "", r"\s+(?:us|you|me|them|him|her)\b|(?:\s+\w+){0,3}\s+to\b"),
        ("sent", "", r"\s+(?:us|you|me|them|him|her)\b|(?:\s+\w+){0,3}\s+to\b"),
        ("short", r"\b(?:in|falls?|runs?)\s", r"\s+of\b"),
        ("under", "", r"(?!\s+[$\u00a3\u20ac\u00a5]?[0-9])"),
        ("with", r"\b(?:together|along|deals?|agrees?|comply|starts?|ends?|begins?)\s", r"\s+(?:effect|no|respect)\b"),
        ("without", "", r"\s+(?:\w+ing|any)\b"),
    )
}  # fmt: skip
_BEHIND_STATE = re.compile(r"\b(?:is|are|stays?|remains?|keeps?)\s+(?:(?:now|also|only|still|always)\s+)?\Z", re.I)
_BEHIND_LETTER = re.compile(r"[^\W\d_]\s+\Z")
_BEHIND_PASSIVE = re.compile(r"\b(?:was|were|be|been|being|has|have|had)\s+\Z", re.IGNORECASE)
_BEFORE_TIME = re.compile(r"\s+(?:on|from|until|at|day|all|every|(?:mon|tues|wednes|thurs|fri|satur|sun)days?)\b", re.I)


def _antonyms(sentence: str) -> Iterator[_Edit]:
    """Yield every replacement of a word by its opposite; an article before it goes along where it has to change."""
    for match in _ANTONYM.finditer(sentence):
        start, end = match.span()
        before, behind = _UNSUITABLE.get(match.group().lower(), (None, None))
        if (before is not None and before.search(sentence, max(0, start - _CHARACTERS_BEFORE), start)) or (
            behind and behind.match(sentence, end)
        ):
            continue
        # a capital inside the sentence, or one more behind the first word, makes a name
        if match.group()[0].isupper() and (
            not _opens(sentence, start) or (sentence[end : end + 1] == " " and sentence[end + 1 : end + 2].isupper())
        ):
            continue
        opposite = _opposite(sentence, match)
        if opposite is None:
            continue
        after = in_case_of(opposite, match.group())
        article = find_article(sentence, start)
        if article is not None and article[1].lower() == article_for(match.group()) != article_for(after):
            start = article.start()
            after = in_case_of(article_for(after), article[1]) + sentence[article.end(1) : match.start()] + after
        yield _Edit(start, end, after)


def _opposite(sentence: str, match: re.Match[str]) -> str | None:
    """Return the opposite of the word where it stands, or None where it cannot be told."""
    word = match.group().lower()
    earliest = max(0, match.start() - _CHARACTERS_BEFORE)
    if word == "open":  # a state or an action
        if _BEHIND_STATE.search(sentence, earliest, match.start()):
            return "closed"
        if _OBJECT.match(sentence, match.end()):
            return "close"
        if _BEFORE_TIME.match(sentence, match.end()):  # "branches open on Monday", "the line, open on Monday"
            return "close" if _BEHIND_LETTER.search(sentence, earliest, match.start()) else "closed"
        return None
    if word == "closed":
        return "opened" if _BEHIND_PASSIVE.search(sentence, earliest, match.start()) else "open"
    return ANTONYMS.get(word)  # a long s matches too, in any case

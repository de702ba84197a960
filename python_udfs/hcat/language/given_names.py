"""Lists of given names, surnames and ordinary words of English, and a function that replaces names in a text.

Names are those of the US census of 1990 (package ``names``). Ordinary words are those of the vocabulary of the packaged
encoder.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from hcat.engine.devices import NAMES, check_package, packaged_folder


def word_set(words: str) -> frozenset[str]:
    """Return the words of a text as a set, split at whitespace."""
    return frozenset(words.split())


# Given names that are also words of English or places: alone they are no evidence of a person.
_HOMOGRAPH_LIST = """
abbey ada ai aide alpha amber america an angel angle april arden argentina art asia august austin autumn bari barrett
bay bell berry bill blanca blossom bob booker branch brandy brock brook brooklyn brooks buck bud buddy buena buffy
bunny burton buster candy carol carolina carry carson carter cash chad chance chandra chang charity charlotte chase
chelsea cherry chester cheyenne chi chin china christian clement cleveland cliff clifton clinton columbus concepcion
conception constance coral cordelia cornell coy cruz crystal dakota dale dallas dalton dawn dean del delta denver
desire destiny devon dewey diamond dick dillon dirk dixie dolly domingo don dot drew duke dusty earl earnest easter
ebony echo eden elba else emerald era essie eve ever fair fairy faith fallon fannie fanny fern flora florence florida
forest fortune foster fran france frank freeman gala gale garfield garland gay gem gene genesis geneva genie georgia
german gil ginger glen glory golden grace grady grant gray green guadalupe guy ha hal harbor harmony hazel heath
heather heaven home honey hong hope houston hue hunter imperial in india ira iris israel ivory ivy jade jan january
jay jersey jewel jo jordan joy june junior justice karma kenya king kit lacy lady lake lan lance lane lang latin
laurel lean lee less liberty lily lin lincoln loan london long love lu luna ma mac madison magnolia mai maia major man
many maple march maria marina marine mark market marquis marry mars marshall marvel maryland mason max maxwell may
mecca melody mercedes mercy merit merle merry meta milan miles min mina ming mint miracle miss misty mo mona money
montana monte moon moral more my myrtle na nan nana nevada newton noble nova nu numbers oak ocean odessa ok olive
olympia omega onie opal orlando otis pa page palm pan pansy paris park parker pat patience patrice pearl peg penny
pepper petra phoenix piper porsche porter precious price prince princess queen rain raleigh ray red reed reg regan
rich rico ridge river rob robin rock rocky rod roman rome rosa rose rosy roy royal ruby rusty sage sal salina santa
santana santiago savanna savannah scarlet season see self selma september sha shan sharp shea shell sherman sherry
sierra silver sky so sol son song soo soon spencer spring stacy star stella sterling stone stormy su sue summer sun
sunday sung sunny sunshine sydney ta tai tam tamp tan tatum taylor temple tequila terra toby trey trinidad trinity
troy tu tuesday twin un una usa val valencia valentine van vance velvet venice venus vera verona vest victor victoria
viola violet virgin virginia vita vito wade wan ward warren washington waylon webster wen west will winter wood worth
yang yen yer yi yong york you young yu
"""
HOMOGRAPHS: Final = word_set(_HOMOGRAPH_LIST)

_ORGANISATION_LIST = """
bank banks banking ltd limited inc incorporated llc llp plc corp corporation company co gmbh ag sa nv bv group
holdings partners partnership trust fund funds insurance assurance financial finance capital union society
association university college school hospital clinic department office ministry authority agency committee council
board court services service systems solutions technologies technology industries international global foundation
institute club card cards points account accounts loan loans mortgage mortgages credit debit savings saver isa bond
bonds reward rewards plan plans plus gold silver platinum premier premium app apps online pay payments hub centre
center branch airlines airways motors energy media news times journal review act regulation directive code policy
scheme programme program index exchange market markets orchestra band festival museum theatre hotel restaurant store
stores shop supermarket church army navy fees fee rate rates term terms deposit deposits advantage bundle package
statement statements team customer customers support help desk helpline line security protection cover care benefit
benefits travel home motor pet life pension pensions investment investments securities share shares stock stocks
wealth wallet transfer transfers cashback tracker fixed variable flexible current basic student graduate youth
junior adult senior business commercial corporate personal private retail digital mobile internet telephone
contactless federal national reserve treasury revenue tax taxes prepaid street road avenue lane drive square house tower
building airport station bridge river lake mountain island islands cafe grill bistro bakery deli pizza pizzeria
kitchen wine brewery tavern wifi visa mastercard maestro amex paypal revolut monzo zelle venmo ruble rubles rupee
rupees yen yuan franc francs january february march april june july august september october november december
monday tuesday wednesday thursday friday saturday sunday christmas easter
"""
ORGANISATION_WORDS: Final = word_set(_ORGANISATION_LIST)
"""A run of capitalised words with one of these names a bank, a product, an office or a place, not a person."""


@lru_cache(maxsize=1)
def given_names() -> frozenset[str]:
    """Return the given names of the US census of 1990 in lower case, without :data:`HOMOGRAPHS`."""
    return all_given_names() - HOMOGRAPHS


@lru_cache(maxsize=1)
def all_given_names() -> frozenset[str]:
    """Return all given names of the US census of 1990 in lower case, also ordinary words ("grace", "mark")."""
    return frozenset(_read_census("dist.male.first", "dist.female.first", limit=None))


@lru_cache(maxsize=1)
def surnames() -> frozenset[str]:
    """Return the 5,000 most frequent surnames of the US census of 1990, lower case."""
    return frozenset(_read_census("dist.all.last", limit=5_000))


def _read_census(*files: str, limit: int | None) -> list[str]:
    folder = check_package(NAMES)
    found: list[str] = []
    for file in files:
        lines = (folder / file).read_text(encoding="ascii").splitlines()
        found += [line.split()[0].lower() for line in lines[:limit]]
    return found


@lru_cache(maxsize=1)
def _ordinary_words() -> frozenset[str]:
    """Return the whole words in the vocabulary of the packaged encoder: frequent words of English in lower case."""
    import json

    vocabulary = json.loads((packaged_folder() / "tokenizer.json").read_text(encoding="utf-8"))["model"]["vocab"]
    return frozenset(word for word in vocabulary if len(word) > 1 and word.isalpha() and word.isascii())


@lru_cache(maxsize=1 << 16)
def is_ordinary_word(lower: str) -> bool:
    """Return whether a word in lower case is a frequent word of English and not a given name."""
    if lower in given_names():
        return False
    ordinary = _ordinary_words()
    stem = _PREFIX.sub("", lower)
    is_derived = len(stem) >= 5 and stem != lower and stem in ordinary
    return lower in ordinary or lower.removesuffix("s") in ordinary or is_derived


_PREFIX = re.compile(r"\A(?:un|re|non|pre|dis|mis|by|co|over|under|sub)-?")
_INNER_CAPITAL = re.compile(r"\A(?:Mc|Mac|De|Di|Du|La|Le|Van|Von|Fitz|O['\u2019]|D['\u2019]|\w+-)[^\W\d_]")


def is_spelled_like_name(words: Sequence[str]) -> bool:
    """Return whether words are capitalised as names are: no acronym beside a word, no inner capital ("CapEx")."""
    long = [word.removesuffix("'s").removesuffix("\u2019s") for word in words if len(word) > 1]
    if any(word.isupper() for word in long):
        return all(word.isupper() for word in long) and any(len(word) > 5 for word in long)
    return all(word[1:].islower() or _INNER_CAPITAL.match(word) or not word[1:].isalpha() for word in long)


_CAPITALISED = r"[A-Z][^\W\d_]*(?:['\u2019-][A-Z]?[^\W\d_]+){0,4}"
#: Capitalised words in a row, with what is written inside them ("Mei-Ling", "O'Brien").
_CAPITALISED_RUN = re.compile(rf"\b{_CAPITALISED}(?: {_CAPITALISED}){{0,12}}")
_POSSESSIVE = re.compile(r"['\u2019]s\Z")


def replace_names(text: str, stand_in: str) -> str:
    """Return a text with names of people replaced by one stand-in, so that names cannot move its score."""

    def replace(match: re.Match[str]) -> str:
        words = match.group().split(" ")
        bare = [_POSSESSIVE.sub("", word).lower() for word in words]
        if any(word in ORGANISATION_WORDS for word in bare):
            return match.group()
        is_name = [
            is_spelled_like_name([word])
            and len(lower) > 1
            and not word.isupper()
            and (lower in given_names() or not all(is_ordinary_word(part) for part in re.split(r"\W", lower)))
            for word, lower in zip(words, bare, strict=True)
        ]
        if not any(is_name):
            return match.group()
        first, last = is_name.index(True), len(words) - 1 - is_name[::-1].index(True)
        tail = _POSSESSIVE.search(words[last])
        return " ".join([*words[:first], stand_in + (tail.group() if tail else ""), *words[last + 1 :]])

    return _CAPITALISED_RUN.sub(replace, text)

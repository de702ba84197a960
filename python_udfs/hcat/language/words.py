"""Fold words and reduce them to stems, so that the forms of one word are equal."""

import functools
import re
import unicodedata

from hcat.language.text import STOP_WORDS

# Stems of words that addresses shorten.
_SHORTENED = {"avenu": "ave", "boulevard": "blvd", "road": "rd", "street": "st", "highway": "hwy", "suit": "ste"}
# Accents do not count in Latin letters; in other scripts such marks make other letters.
_LATIN = {
    code: decomposed[0]
    for code in (*range(0xC0, 0x250), *range(0x1E00, 0x1F00))
    if (decomposed := unicodedata.normalize("NFD", chr(code)))[0].isascii() and len(decomposed) > 1
} | {ord(letter): plain for letter, plain in {"\u00f8": "o", "\u0142": "l", "\u0111": "d", "\u00e6": "ae",
                                              "\u0153": "oe", "\u0131": "i"}.items()}  # fmt: skip
_STEMS = {"agreed": "agree", "guaranteed": "guarantee", "decreed": "decree", "used": "use", "using": "use"}
_CAMEL_BREAK = re.compile("(?<=[a-z])(?=[A-Z])")


@functools.lru_cache(maxsize=1 << 16)
def stem_word(word: str) -> str:
    """Return a case-folded word without a possessive or a regular English ending."""
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


def stem_part(folded: str) -> str:
    """Return the stem of a word; words such as Street and Avenue get the short form that addresses use."""
    stem = stem_word(folded)
    return _SHORTENED.get(stem, stem)


def fold_word(surface: str) -> str:
    """Return a word case-folded, as :func:`hcat.language.text.content_words` returns it."""
    folded = surface.lower() if surface.isascii() else surface.casefold().replace("\u2019", "'")
    return folded.replace(".", "") if folded.endswith(".") else folded


def fold_accents(folded: str) -> str:
    """Return a case-folded text without the accents of its Latin letters."""
    if folded.isascii():
        return folded
    return unicodedata.normalize("NFC", folded).translate(_LATIN)


@functools.lru_cache(maxsize=1 << 16)
def analyse_word(surface: str) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
    """Return the folded word, its stem, and the stems inside a compound."""
    folded = fold_word(surface)
    if folded in STOP_WORDS or folded[0].isdigit():
        return folded, (), ()
    folded = fold_accents(folded)
    inner_words: tuple[str, ...] = ()
    if _CAMEL_BREAK.search(surface):
        inner_words = tuple(stem_word(fold_accents(word.lower())) for word in _CAMEL_BREAK.split(surface))
    return folded, (stem_part(folded),), inner_words


def _undouble(stem: str, word: str) -> str:
    """Return the stem with a single last consonant, or the whole word if the stem has no vowel (sting, bring)."""
    if len(stem) < 3 or not any(vowel in stem for vowel in "aeiouy"):
        return word
    if stem[-1] == stem[-2] and stem[-1] not in "aeioulsz":
        return stem[:-1]
    return stem

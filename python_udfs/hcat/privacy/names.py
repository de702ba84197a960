"""Find names of persons and places by cues in the text, and by lists of names and ordinary words."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from hcat.language.given_names import (
    ORGANISATION_WORDS,
    all_given_names,
    given_names,
    is_ordinary_word,
    is_spelled_like_name,
    surnames,
    word_set,
)
from hcat.privacy.spans import MONTH_WORDS, Span, Token, skip_dot

_COMPANY_LIST = """
goldman sachs|morgan stanley|charles schwab|fannie mae|freddie mac|sallie mae|ginnie mae|merrill lynch|
wells fargo|jp morgan|j p morgan|jpmorgan chase|lehman brothers|bear stearns|john lewis|marks and spencer|
ernst young|berkshire hathaway|rolls royce|edward jones|raymond james|dun bradstreet|dow jones|credit suisse|
deutsche bahn|banco santander|ally|marcus|legal and general|scottish widows|aldermore|sainsbury|julius baer|
lloyds|barclays|smith barney|arthur andersen|price waterhouse|johnson matthey|harley davidson|mercedes benz|
land rover|tommy hilfiger
"""
COMPANIES_LIKE_PERSONS: Final = frozenset(name.strip() for name in _COMPANY_LIST.replace("\n", "").split("|"))
"""Well-known firms whose names look like names of people."""

_TITLES: Final = word_set(
    """
    mr mrs ms miss mx dr prof professor sir dame lord lady madam mister herr frau monsieur madame señor señora senor
    senora rev reverend judge sheikh
    """
)
_NOT_NAMES: Final = word_set(
    """
    the a an i i'm we you he she it they this that these those please dear hi hello hey sir madam customer client team
    support valued member all everyone there again folks thanks thank regards yes no not sorry to from and or but if
    your my our their his her its for with on in at by of as is are was were be been have has had do does did can could
    will would should may might must what when where which who whom whose why how account number card date birth ssn
    iban email phone address mobile fax desk code usd eur gbp atm pin ceo cfo cto hr it uk us eu usa american british
    english french german spanish italian chinese japanese indian european african asian canadian australian mexican
    russian polish czech dutch ja nein nee oui non si sim
    """
)
_NEVER_IN_NAMES: Final = ORGANISATION_WORDS | _NOT_NAMES
_NEVER_IN_PLACES: Final = ORGANISATION_WORDS | MONTH_WORDS
_NAME_PARTICLES: Final = word_set("de da dos das del della di du la le van von der den ter ten bin ibn al el af zu")
# All cues are matched directly before the first token of a name.
_STRONG_CUE = re.compile(
    r"(?:\b(?:my|his|her|their|your|the|full|legal|maiden|first|last|real|account|cardholder|customer) name(?: is|"
    r"'s| was|:)|"
    r"(?:\A|\n)\W{0,3}name[ \t]{0,4}:|\bnames? (?:is|are|was)|\bnamed(?: (?:him|her|it|me|them|after))?|\b(?:call|"
    r"calls|called) (?:me|him|her|himself|herself)|"
    r"\b(?:account|card|policy|loan) ?holders?(?: is|:|,)?|\b(?:customer|client|borrower|beneficiary|payee|"
    r"guarantor|claimant|"
    r"applicant|guardian|spouse|nominee|executor|tenant|landlord|cardholder|sender|recipient|attn|attention|fao|c/o|"
    r"signed)(?: is|:|,)?|"
    r"\b(?:on behalf of|addressed to|payable to|in the name of|registered to|belongs? to|signed by|"
    r"joint account with)|"
    r"\bmy (?:wife|husband|son|daughter|mother|father|brother|sister|partner|boss|friend|colleague|manager|lawyer|"
    r"doctor|"
    r"uncle|aunt|grandmother|grandfather|assistant|neighbou?r)(?: is|,)?|\b(?:dear|hi|hello|hey)|"
    r"\b(?:regards|sincerely|cheers|yours truly|best wishes|faithfully),?\n?)[ \t:]{0,12}\Z",
    re.IGNORECASE,
)
_WEAK_CUE = re.compile(
    r"\b(?:i am|i'm|this is|it's|it is|(?:change|correct|update|amend) (?:(?:it|this|that|my name|the name) )?to|"
    r"said|says|asked|told|tell|ask|told by|spoke (?:to|with)|"
    r"speak(?:ing)? (?:to|with)|talk(?:ed|ing)? (?:to|with)|contact(?:ed)?|met|meet|directed by|written by|"
    r"written to|"
    r"starring|tribute to|by|add|under|with|and|thank|thanks|congratulate|between|about|remove|replace|"
    r"authori[sz]ed?|invite|married|know|knows|who is|where is|than|unlike|like|via|featuring|author)[ \t]{1,2}\Z",
    re.IGNORECASE,
)
_AFTER_CUE = re.compile(
    r"(?:'s|\u2019s)? (?:lives?|lived|works?|worked|was born|is (?:an? )?[0-9]{1,3}(?![0-9]|[.,%][0-9]?)|died|said|"
    r"says|asked|told|called (?:us|in|on|about)|"
    r"has (?:requested|asked|called)|resides?|owes?|signed|wrote|is (?:married|single|divorced|retired|"
    r"unemployed))\b|"
    r"(?:'s|\u2019s) (?:\w+ ){0,2}(?:account|card|address|loan|balance|mortgage|statement|phone|number|email|wife|"
    r"husband|son|daughter|"
    r"mother|father|birthday|salary|details|transactions?|payments?)\b",
    re.IGNORECASE,
)
# Only people do this, or have it done to them: one rare word is enough.
_SPEECH_CUE = re.compile(
    r"\b(?:said|says|asked|told|tell|ask|spoke (?:to|with)|speak (?:to|with)|talk(?:ed|ing)? (?:to|with)|met|married|"
    r"directed by|written by|starring|tribute to)[ \t]{1,2}\Z",
    re.IGNORECASE,
)
# "the Sokolov family"
_BELONGS_CUE = re.compile(
    r" (?:family|household|estate|wedding|funeral|brothers|sisters|novel|book|song|album|film|movie|concert|fan)\b"
)
# "Irenka is very reliable. You can always depend on her."
_PRONOUN = re.compile(r" (?:is|was|has|had|will|can|does|did)\b[^\n]{0,80}?\b(?:he|she|him|her|his|hers)\b")
_PLACE_CUE = re.compile(
    r"\b(?:(?:live|lives|lived|living|born|grew up|based|stay|stays|staying|stayed|resides?|residing|raised|located|"
    r"working|"
    r"resident|situated|branch|vacation|holiday|i am|i'm|we are|we're) (?:\w+ )?in|(?:travel|travell?ing|moving|"
    r"moved|move|fly|flying|flew|going|went|trip|trips|"
    r"relocat(?:e|ed|ing)|drive|driving|visit to|flights?|wire|transfer(?:red)?) (?:\w+ )?to|(?:originally|"
    r"moved here|comes?|came|flew|hails?|am|i'm|is|are|flights?|back) from|"
    r"\bvisit(?:ed|ing)?|(?:city|town|village|state|country|province|region) of|native of|citizen of)[ \t]{1,2}\Z",
    re.IGNORECASE,
)
# Every cue of a place ends like this. It is tried first because it looks back ten characters only.
_PLACE_CUE_END = re.compile(r"(?:in|to|from|of|visit(?:ed|ing)?)[ \t]{1,2}\Z", re.IGNORECASE)
MAXIMUM_NAME_WORDS: Final = 4


def is_person_name(words: Sequence[str], *, is_cued: bool = False) -> bool:
    """Return whether capitalised words can be a person's name."""
    lower = [word.lower().removesuffix("'s").removesuffix("\u2019s") for word in words]
    long = [word for word in lower if len(word) > 1]
    if not long or not is_spelled_like_name(words) or not _NEVER_IN_NAMES.isdisjoint(long):
        return False
    if " ".join(lower) in COMPANIES_LIKE_PERSONS:
        return False
    if any(word in given_names() for word in long):
        return True
    rare = [word for word in long if not is_ordinary_word(word) and word not in _NAME_PARTICLES]
    if is_cued:
        return bool(rare) or all(word in surnames() for word in long)
    return len(rare) >= 1 and len(long) >= 2 and all(not is_ordinary_word(word) or word in surnames() for word in long)


def is_part_of_firm(text: str, start: int, end: int) -> bool:
    """Return whether an ampersand stands directly before or after a name ("Johnson & Johnson")."""
    return text[max(0, start - 3) : start].rstrip().endswith("&") or text[end : end + 3].lstrip().startswith("&")


def read_name(tokens: Sequence[Token], index: int, *, is_any_case: bool = False) -> int:
    """Return the index of the token after the name that begins at ``index``; ``index`` itself if there is no name."""
    past = index
    words = 0
    while past < len(tokens) and words < MAXIMUM_NAME_WORDS:
        token = tokens[past]
        if past > index and token.opens_line:
            break
        if token.kind == "word":
            if token.lower in _NOT_NAMES and len(token.text) > 1:
                break
            if past > index and token.lower in _NAME_PARTICLES and token.text.islower():
                past += 1
                continue
            if not (token.text[0].isupper() or is_any_case):
                break
            words += 1
        elif not (token.text == "." and past > index and len(tokens[past - 1].text) == 1):
            break
        past += 1
    while past > index and tokens[past - 1].lower in _NAME_PARTICLES and tokens[past - 1].text.islower():
        past -= 1
    return past


def find_persons(text: str, tokens: Sequence[Token]) -> Iterator[Span]:
    """Yield names of persons that a cue announces: a title, "my name is", "'s account", a middle initial."""
    is_lower = text.islower()
    past = 0
    for index, token in enumerate(tokens):
        if index < past or token.kind != "word":
            continue
        if token.lower in _TITLES and (token.text[0].isupper() or is_lower):
            start = skip_dot(tokens, index + 1)
            end = read_name(tokens, start)
            if end > start and tokens[start].lower not in ORGANISATION_WORDS:
                yield _name_span(tokens, start, end, "title")
                past = end
                continue
        if not (token.text[0].isupper() or is_lower) or token.lower in _NOT_NAMES:
            continue
        end = read_name(tokens, index, is_any_case=is_lower)
        if end > index and (rule := _person_rule(text, tokens, index, end, is_lower)) is not None:
            yield _name_span(tokens, index, end, rule)
        past = index if is_lower else end


def _person_rule(text: str, tokens: Sequence[Token], index: int, past: int, is_lower: bool) -> str | None:
    """Return the rule by which the tokens from ``index`` to ``past`` are a person's name, or None."""
    words = [token.text for token in tokens[index:past] if token.kind == "word"]
    if all(is_ordinary_word(word.lower()) for word in words):
        return None  # every rule needs a word that is not ordinary; given names never are
    before = text[max(0, tokens[index].start - 50) : tokens[index].start]
    after = text[tokens[past - 1].end : tokens[past - 1].end + 100]
    if is_part_of_firm(text, tokens[index].start, tokens[past - 1].end):
        return None
    # the words are checked first, because expressions that look back are slow
    is_rare = is_person_name(words, is_cued=True)
    if is_rare and not (is_lower and len(words) > 3) and _STRONG_CUE.search(before):
        return "cue_before"
    if is_lower:
        return None
    if _has_middle_initial(words) and is_person_name(words):
        return "middle_initial"
    is_shouted = all(word.isupper() for word in words if len(word) > 1)
    if is_shouted:
        return None
    has_given = words[0].lower() in given_names()
    if has_given and len(words) >= 2 and is_person_name(words):
        return "given_name"
    if is_rare and _AFTER_CUE.match(after):
        return "cue_after"
    if is_rare and len(words) == 1 and _PRONOUN.match(after):
        return "pronoun"
    # a state or a number makes it a place: "Austin, TX", "Florence 12"
    if has_given and len(words) == 1 and not re.match(r"(?:, ?[A-Z]{2}\b| [0-9])", after):
        return "given_name_alone"
    if is_rare and _SPEECH_CUE.search(before):
        return "cue_before"
    if is_rare and _BELONGS_CUE.match(after):
        return "cue_after"
    all_rare = all(not is_ordinary_word(word.lower()) for word in words if len(word) > 1)
    if all_rare and 2 <= len(words) <= 3 and is_person_name(words) and not _PLACE_CUE.search(before):
        return "rare_words"
    if len(words) >= 2 and is_person_name(words) and _WEAK_CUE.search(before):
        return "cue_before"
    return None


def _has_middle_initial(words: Sequence[str]) -> bool:
    return len(words) >= 3 and len(words[0]) > 1 and any(len(word) == 1 for word in words[1:-1]) and len(words[-1]) > 1


_PERSON_ROLES = word_set(
    "customer client user employee manager owner adviser advisor holder cardholder contact payee beneficiary signatory "
    "reviewer clerk teller author person agent officer borrower applicant guarantor spouse caller sender recipient"
)
_NAME_PARTS = word_set("first last full given family middle maiden sur")
_NAMES_OF_PERSONS = word_set("surname username fullname firstname lastname forename nickname maidenname")
_FIELD_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")


def is_person_field(field: str, value: str) -> bool:
    """Return whether a field of a record holds a person's name, judged by the name of the field."""
    words = [word.lower() for word in _FIELD_WORD.findall(field)]
    words[-1:] = [word if word in _PERSON_ROLES else word.removesuffix("s") for word in words[-1:]]
    if not words or not any(map(str.isalpha, value)):
        return False
    if words[-1] in _NAMES_OF_PERSONS or (words[-1] == "name" and set(words) & (_PERSON_ROLES | _NAME_PARTS)):
        return True
    if words[-1] not in _PERSON_ROLES:
        return False
    parts = re.findall(r"[^\W\d_]{2,}", value.lower())
    return not ORGANISATION_WORDS.intersection(parts) and any(
        part in all_given_names() or part in surnames() or not is_ordinary_word(part) for part in parts
    )


def find_cued_places(text: str, tokens: Sequence[Token]) -> Iterator[Span]:
    """Yield places that a cue announces: capitalised words after "live in", "travelling to", "originally from"."""
    for index, token in enumerate(tokens):
        if token.kind != "word" or not token.text[0].isupper() or (index and tokens[index - 1].text[0].isupper()):
            continue
        if not _PLACE_CUE_END.search(text, max(0, token.start - 10), token.start):
            continue
        if not _PLACE_CUE.search(text, max(0, token.start - 50), token.start):
            continue
        past = read_name(tokens, index)
        words = [part.lower for part in tokens[index:past] if part.kind == "word"]
        if any(len(word) > 1 for word in words) and _NEVER_IN_PLACES.isdisjoint(words):
            yield Span(token.start, tokens[past - 1].end, "place", "cue_before")


def _name_span(tokens: Sequence[Token], start: int, past: int, rule: str) -> Span:
    last = tokens[past - 1]
    end = last.end - (len("'s") if last.text.endswith(("'s", "\u2019s")) else 0)
    return Span(tokens[start].start, end, "person", rule)

"""Find personal data in a text by rules: numbers with check digits, contact details, addresses, and cues for names.

Every recogniser is a function from a text to spans. They need no model; `hcat.privacy.masking` adds what a statistical
tagger finds and settles overlaps. All repeats in the expressions are bounded, and word rules read a list of tokens
once, so that work grows with the length of a text and not faster.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from hcat.engine.devices import packaged_folder


class Span(NamedTuple):
    """One piece of personal data: characters ``start`` to ``end`` of a text, its type, and the rule that found it."""

    start: int
    end: int
    entity_type: str
    rule: str


class Token(NamedTuple):
    """A word, a run of digits or one other character, with its place and whether a line break stands before it."""

    start: int
    end: int
    text: str
    lower: str
    kind: str  # word, number, mark
    opens_line: bool


def _word_set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_TOKEN = re.compile(r"[^\W\d_]+(?:['\u2019-][^\W\d_]+)*|[0-9]+|\S")
_DIGIT_RUN = re.compile(r"[0-9]")


class _Fold(dict[int, str]):
    """Translation of one character to one character: digits of all scripts, and separators of all kinds."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        folded = character
        if code > 127:
            if character.isdecimal():
                folded = str(unicodedata.digit(character))
            elif unicodedata.category(character) in ("Zs", "Cf"):
                folded = " "
            elif unicodedata.category(character) == "Pd":
                folded = "-"
            else:
                compatible = unicodedata.normalize("NFKC", character)
                folded = compatible if len(compatible) == 1 else character
        self[code] = folded
        return folded


_FOLD: Final = _Fold()


def fold_text(text: str) -> str:
    """Return a text of the same length in which digits, spaces, dashes and wide letters have their plain form.

    A card number in full-width digits or with a zero-width space is the same card number; places stay the same.
    """
    return text if text.isascii() else text.translate(_FOLD)


@lru_cache(maxsize=32)
def read_tokens(text: str) -> tuple[Token, ...]:
    """Return the tokens of a text in order; ``text`` should be folded by :func:`fold_text`.

    The last ones are kept: the rules, and what looks for a name again, read the same text.
    """
    tokens = []
    end_before = 0
    for match in _TOKEN.finditer(text):
        start, end = match.span()
        word = text[start:end]
        kind = "word" if word[0].isalpha() else "number" if word[0] in "0123456789" else "mark"
        opens_line = end_before == 0 or text.find("\n", end_before, start) >= 0
        tokens.append(Token(start, end, word, word.lower(), kind, opens_line))
        end_before = end
    return tuple(tokens)


# --- numbers with check digits -----------------------------------------------------------------------------------

_CARD = re.compile(r"(?<![0-9])(?<![0-9][.,])[0-9](?:[ .-]{0,2}[0-9]){11,18}(?![0-9])")
# Issuers: Visa, Mastercard, American Express, Diners Club, Discover, JCB (also its 15 digits), UnionPay, Maestro.
_ISSUER = re.compile(r"4|5[0-9]|6|2[2-7]|3[0-9]|2131|1800")
_CARD_CUE = re.compile(
    r"\b(?:cards?|cc|visa|mastercard|maestro|amex|american express|discover|diners|jcb|pan)\b", re.IGNORECASE
)
CARD_LENGTHS: Final = range(12, 20)
"""Digits of a payment card number (ISO/IEC 7812 allows up to 19; Maestro starts at 12)."""


def has_luhn_check(digits: str) -> bool:
    """Return whether the last digit is the Luhn check digit of the others (ISO/IEC 7812-1 annex B)."""
    total = 0
    for position, character in enumerate(reversed(digits)):
        value = int(character) * (1 + position % 2)
        total += value - 9 if value > 9 else value
    return total % 10 == 0


def find_cards(text: str) -> Iterator[Span]:
    """Yield payment card numbers: 12 to 19 digits with a Luhn check digit, separators allowed.

    Without a word like "card" before it, the number must also open as an issuer's do and not be all one digit.
    """
    for match in _CARD.finditer(text):
        digits = _digits(match.group())
        if len(digits) not in CARD_LENGTHS or not has_luhn_check(digits) or len(set(digits)) < 3:
            continue
        has_cue = _CARD_CUE.search(text, max(0, match.start() - 40), match.start()) is not None
        if has_cue or (_ISSUER.match(digits) and len(digits) >= 13):
            yield Span(match.start(), match.end(), "card", "luhn")


# Lengths by country of the IBAN registry (ISO 13616, release of 2024).
_IBAN_LENGTHS: Final = {
    **dict.fromkeys(("NO",), 15),
    **dict.fromkeys(("BE", "BI"), 16),
    **dict.fromkeys(("DK", "FI", "FK", "FO", "GL", "NL", "SD"), 18),
    **dict.fromkeys(("MK", "SI"), 19),
    **dict.fromkeys(("AT", "BA", "EE", "KZ", "LT", "LU", "MN", "XK"), 20),
    **dict.fromkeys(("CH", "HR", "LI", "LV"), 21),
    **dict.fromkeys(("BG", "BH", "CR", "DE", "GB", "GE", "IE", "ME", "RS", "VA"), 22),
    **dict.fromkeys(("AE", "GI", "IL", "IQ", "OM", "SO", "TL"), 23),
    **dict.fromkeys(("AD", "CZ", "ES", "MD", "PK", "RO", "SA", "SE", "SK", "TN", "VG"), 24),
    **dict.fromkeys(("LY", "PT", "ST"), 25),
    **dict.fromkeys(("IS", "TR"), 26),
    **dict.fromkeys(("DJ", "FR", "GR", "IT", "MC", "MR", "SM"), 27),
    **dict.fromkeys(("AL", "AZ", "BY", "CY", "DO", "GT", "HN", "HU", "LB", "NI", "PL", "SV"), 28),
    **dict.fromkeys(("BR", "EG", "PS", "QA", "UA"), 29),
    **dict.fromkeys(("JO", "KW", "MU", "YE"), 30),
    **dict.fromkeys(("MT", "SC"), 31),
    "LC": 32,
    "RU": 33,
}
_IBAN_START = re.compile(r"(?<![A-Za-z0-9])([A-Za-z]{2})[ -]?[0-9][ -]?[0-9](?=[ -]?[A-Za-z0-9])")


def has_iban_check(iban: str) -> bool:
    """Return whether an IBAN without separators has the length of its country and a remainder of 1 modulo 97."""
    iban = iban.upper()
    if not (iban.isascii() and iban.isalnum()) or _IBAN_LENGTHS.get(iban[:2]) != len(iban):
        return False
    return int("".join(str(int(character, 36)) for character in iban[4:] + iban[:4])) % 97 == 1


def find_ibans(text: str) -> Iterator[Span]:
    """Yield IBANs with a right check number, in groups or not, in any case.

    The country says how many characters follow, so that words behind a spaced number are not taken into it.
    """
    for match in _IBAN_START.finditer(text):
        length = _IBAN_LENGTHS.get(match.group(1).upper())
        if length is None:
            continue
        kept = []
        end = match.start()
        for position in range(match.start(), min(len(text), match.start() + 2 * length)):
            character = text[position]
            if character.isascii() and character.isalnum():
                kept.append(character)
                end = position + 1
                if len(kept) == length:
                    break
            elif character not in " -":
                break
        goes_on = end < len(text) and text[end].isascii() and text[end].isalnum()
        if len(kept) == length and not goes_on and has_iban_check("".join(kept)):
            yield Span(match.start(), end, "iban", "modulo_97")


_SSN = re.compile(r"(?<![0-9-])([0-9]{3})([- .]?)([0-9]{2})\2([0-9]{4})(?![0-9]|-[0-9])")
_SSN_CUE = re.compile(r"\b(?:ssn|social security|social insurance|itin|taxpayer id)\b", re.IGNORECASE)


def find_ssns(text: str) -> Iterator[Span]:
    """Yield social security numbers of the US; nine digits without groups only beside words that announce one.

    Area 000 and 666, group 00 and serial 0000 are never given out; areas from 900 are taxpayer numbers.
    """
    for match in _SSN.finditer(text):
        area, separator, group, serial = match.groups()
        if area in ("000", "666") or group == "00" or serial == "0000" or len(set(area + group + serial)) == 1:
            continue
        has_cue = (
            _SSN_CUE.search(text, max(0, match.start() - 40), match.start()) is not None
            or _SSN_CUE.search(text, match.end(), match.end() + 25) is not None
        )
        if has_cue or (separator in ("-", " ") and area < "900"):
            yield Span(match.start(), match.end(), "ssn", "pattern")


_NATIONAL_INSURANCE = re.compile(
    r"(?<![A-Za-z0-9])(?!BG|GB|NK|KN|TN|NT|"
    r"ZZ)[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z] ?[0-9]{2} ?[0-9]{2} ?[0-9]{2} ?[A-D]"
    r"(?![A-Za-z0-9])",
    re.IGNORECASE,
)


def find_national_insurance_numbers(text: str) -> Iterator[Span]:
    """Yield national insurance numbers of the UK (two letters, six digits, one letter A to D)."""
    for match in _NATIONAL_INSURANCE.finditer(text):
        yield Span(match.start(), match.end(), "national_insurance", "pattern")


# --- contact details ---------------------------------------------------------------------------------------------

_EMAIL = re.compile(r"(?<![\w.+%'-])[\w.+%'-]{1,64}+ ?@ ?[^\W_](?:[\w-]{0,62}+)(?:\.[^\W_][\w-]{0,62}+){1,6}(?<![-_])")
_SPELLED_AT = re.compile(r"(?: \(at\) | \[at\] |\(at\)|\[at\]| at )", re.IGNORECASE)
_SPELLED_LEFT = re.compile(r"[\w.+-]{1,40}(?:(?: dot | \[dot\] |\(dot\)|\[dot\])[\w.+-]{1,40}){0,3}\Z", re.IGNORECASE)
_SPELLED_RIGHT = re.compile(
    r"[\w-]{1,40}(?:(?: dot | \(dot\) | \[dot\] |\(dot\)|\[dot\]|\.)[\w-]{2,40}){1,3}", re.IGNORECASE
)
_TOP_DOMAIN = re.compile(r"(?:com|net|org|edu|gov|info|io|co|uk|us|de|fr|eu|biz|bank|[a-z]{2})\Z", re.IGNORECASE)
_SPELLED_CUE = re.compile(r"[Dd][Oo][Tt]|[(\[][Aa][Tt]")
_SPELLED_WINDOW = 160


def find_emails(text: str) -> Iterator[Span]:
    """Yield e-mail addresses, also spelled ("jane dot doe at example dot com")."""
    if "@" in text:
        for match in _EMAIL.finditer(text):
            yield Span(match.start(), match.end(), "email", "pattern")
    if _SPELLED_CUE.search(text) is None:
        return
    for at in _SPELLED_AT.finditer(text):
        right = _SPELLED_RIGHT.match(text, at.end())
        if right is None or not re.search(r"dot|\(at|\[at", at.group() + right.group(), re.IGNORECASE):
            continue
        window = max(0, at.start() - _SPELLED_WINDOW)
        left = _SPELLED_LEFT.search(text[window : at.start()])
        last = re.split(r"[ .()\[\]]", right.group())[-1]
        if left is not None and _TOP_DOMAIN.match(last):
            yield Span(window + left.start(), right.end(), "email", "spelled")


_PHONE = re.compile(
    r"(?<![\w.,/-])(?<![0-9][ ])(?:\+ ?|00)?\(?[0-9](?:[ ./()-]{0,3}[0-9]){6,16}"
    r"(?: ?(?:x|ext\.?|extension) ?[0-9]{1,6})?(?![\w%])(?![.,/-][0-9])",
    re.IGNORECASE,
)
_PHONE_CUE = re.compile(
    r"\b(?:phones?|telephone|tel|mobile|mob|cell|cellphone|desk|fax|landline|call(?:ed|ing)?|dial(?:ling)?|ring|text|"
    r"whatsapp|sms|hotline|helpline|reach (?:me|us|him|her|them)|contact (?:me|us|him|her|them|number)|"
    r"my number|his number|her number|their number|your number|number is|office|extension|ph|home|work)\b",
    re.IGNORECASE,
)
_OTHER_NUMBER_CUE = re.compile(
    r"\b(?:account|acct|a/c|card|iban|sort code|reference|ref|invoice|order|policy|ssn|social security|routing|"
    r"transaction|id|zip|postcode|isbn|balance|case|claim|swift|version)\b|[$\u20ac\u00a3\u00a5]",
    re.IGNORECASE,
)
_DATE_LIKE = re.compile(
    r"\A(?:(?:19|20)[0-9]{2}[-./][0-9]{1,2}[-./][0-9]{1,2}|[0-9]{1,2}[-./ ][0-9]{1,2}[-./ ](?:19|"
    r"20)[0-9]{2})(?![0-9])"
)
_YEARS = re.compile(r"\A(?:19|20)[0-9]{2}[ ./()-]{1,3}(?:19|20)[0-9]{2}")
_CUE_WINDOW = 40


def find_phones(text: str) -> Iterator[Span]:
    """Yield telephone numbers: international, North American, with a trunk zero in groups, or behind a cue.

    A run of digits without groups counts only behind a word like "phone"; "call" may stand 40 characters before.
    """
    for match in _PHONE.finditer(text):
        start, end = match.start(), match.end()
        written = match.group()
        body = re.split(r"(?:x|ext\.?|extension)", written, maxsplit=1, flags=re.IGNORECASE)[0]
        digits = _digits(body)
        if not 7 <= len(digits) <= 15 or _DATE_LIKE.match(body) or _YEARS.match(body):
            continue
        rule = _phone_rule(text, start, body, digits)
        if rule is not None:
            while written and written[-1] in " ./(-":
                written, end = written[:-1], end - 1
            yield Span(start, end, "phone", rule)


def _phone_rule(text: str, start: int, body: str, digits: str) -> str | None:
    """Return why a run of digits is a telephone number, or None."""
    if body.startswith("+"):
        return "international"
    before = text[max(0, start - _CUE_WINDOW) : start]
    cue = _last(_PHONE_CUE, before)
    other = _last(_OTHER_NUMBER_CUE, before)
    groups = re.findall(r"[0-9]+", body)
    if cue > other:
        return "cue"
    if other >= 0:
        return None
    if digits.startswith("00") and len(digits) >= 10:
        return "international"
    is_grouped = len(groups) >= 2
    national = digits[1:] if len(digits) == 11 and digits[0] == "1" else digits
    if is_grouped and len(national) == 10 and [len(group) for group in groups[-3:]] in ([3, 3, 4],):
        return "north_american"
    if is_grouped and len(national) == 10 and re.match(r"\(?[0-9]{3}\)? ?[0-9]{3}[ .-]?[0-9]{4}\Z", body.strip()):
        return "north_american"
    if digits[0] == "0" and 10 <= len(digits) <= 12 and (is_grouped or digits.startswith("07")):
        return "trunk_zero"
    is_even = len(set(re.sub(r"[0-9]", "", body.strip(" ./-")))) == 1 and "/" not in body
    if len(groups) >= 4 and 8 <= len(digits) <= 11 and is_even and all(2 <= len(group) <= 3 for group in groups):
        return "groups"
    return None


def _last(expression: re.Pattern[str], text: str) -> int:
    """Return where the last match of an expression ends, or -1."""
    return max((match.end() for match in expression.finditer(text)), default=-1)


_DIGIT = "(?:zero|oh|o|nought|one|two|three|four|five|six|seven|eight|nine)"
_DIGIT_WORD = rf"(?:{_DIGIT}|(?:double|triple)[ -]{_DIGIT})"
_SPELLED_NUMBER = re.compile(rf"\b{_DIGIT_WORD}(?:[ ,.-]{{1,3}}{_DIGIT_WORD}){{6,18}}\b", re.IGNORECASE)


def find_spelled_numbers(text: str) -> Iterator[Span]:
    """Yield numbers read out digit by digit (seven digits or more): telephone numbers in transcripts."""
    for match in _SPELLED_NUMBER.finditer(text):
        yield Span(match.start(), match.end(), "phone", "spelled")


# --- what a word before it makes personal ------------------------------------------------------------------------

_SORT_CODE = re.compile(r"(?<![0-9-])[0-9]{2}([- ]?)[0-9]{2}\1[0-9]{2}(?![0-9-])")
_SORT_CODE_CUE = re.compile(r"\bsort[ -]?codes?\b[^0-9\n]{0,20}\Z", re.IGNORECASE)
_ACCOUNT = re.compile(
    r"\b(?:a/c|acct|accounts?|routing|aba|bsb)\b[ .]{0,2}(?:(?:numbers?|no|num|nr|#|ending|code)[ .:#]{0,3}){0,2}"
    r"(?:(?:is|was|with|number|in)[ :]{1,2}){0,2}[ :#(=-]{0,4}"
    r"((?:[Xx*\u2022]{2,12}[ -]?)?[0-9](?:[ -]?[0-9]){3,16})(?![0-9])",
    re.IGNORECASE,
)
_ACCOUNT_DIGITS: Final = range(6, 18)
_REFERENCE = re.compile(
    r"\b(?:transaction|trans|reference|ref|customer|client|case|claim|policy|order|payment|booking|confirmation|"
    r"ticket|member|membership|loan|mortgage|contract|invoice|mandate|application)\b[ .]{0,2}"
    r"(?:(?:reference|ref|number|no|num|id|code|#)[ .:#]{1,3}){0,2}(?:(?:is|was)[ :]{1,2})?[ :#(-]{0,4}"
    r"([A-Za-z]{0,6}[-/]?[0-9][A-Za-z0-9]{0,20}(?:[-/][A-Za-z0-9]{1,20}){0,4})(?![A-Za-z0-9%])(?![.,][0-9])",
    re.IGNORECASE,
)
_MINIMUM_REFERENCE_DIGITS: Final = 4
_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|"
    r"nov(?:ember)?|dec(?:ember)?)"
)
DATE_PATTERN: Final = (
    rf"(?:[0-9]{{4}}-[0-9]{{1,2}}-[0-9]{{1,2}}|[0-9]{{1,2}}[./-][0-9]{{1,2}}[./-](?:[0-9]{{4}}|[0-9]{{2}})|"
    rf"[0-9]{{1,2}}(?:st|nd|rd|th)?(?: of)? {_MONTH}\.?,? [0-9]{{4}}|{_MONTH}\.? [0-9]{{1,2}}(?:st|nd|rd|"
    rf"th)?,? [0-9]{{4}})"
)
_BIRTH = re.compile(
    r"\b(?:born(?: on)?|date of birth|d\.?o\.?b\.?|birth ?date|birthday)\b(?: (?:is|was|on|being|of)){0,2}"
    rf"[ :(-]{{0,4}}(?:(?:the|on) )?({DATE_PATTERN})(?![0-9])",
    re.IGNORECASE,
)


def find_accounts(text: str) -> Iterator[Span]:
    """Yield sort codes and bank account numbers that a word before them announces.

    Eight digits behind a sort code are an account number too ("20-45-12 55779911").
    """
    for match in _SORT_CODE.finditer(text):
        has_cue = _SORT_CODE_CUE.search(text, max(0, match.start() - 40), match.start()) is not None
        follower = re.compile(r"[ ,/-]{1,3}([0-9]{8})(?![0-9])").match(text, match.end())
        if has_cue or (match.group(1) == "-" and follower is not None):
            yield Span(match.start(), match.end(), "sort_code", "cue")
            if follower is not None:
                yield Span(follower.start(1), follower.end(1), "account", "behind_sort_code")
    for match in _ACCOUNT.finditer(text):
        is_partial = not match.group(1)[0].isdigit()
        if len(_digits(match.group(1))) in _ACCOUNT_DIGITS or is_partial:
            yield Span(match.start(1), match.end(1), "account", "cue")


def find_references(text: str) -> Iterator[Span]:
    """Yield customer, transaction and similar references: at least four digits behind the word that names them."""
    for match in _REFERENCE.finditer(text):
        written = match.group(1)
        digits = _digits(written)
        is_year = written.isdigit() and len(written) == 4 and written[:2] in ("19", "20")
        if len(digits) >= _MINIMUM_REFERENCE_DIGITS and not is_year:
            yield Span(match.start(1), match.end(1), "reference", "cue")


def find_birth_dates(text: str) -> Iterator[Span]:
    """Yield dates that are called a date of birth."""
    for match in _BIRTH.finditer(text):
        yield Span(match.start(1), match.end(1), "date_of_birth", "cue")


_AMOUNT = (
    r"(?:[$\u20ac\u00a3\u00a5] ?[0-9][0-9,. ]{0,14}[0-9]|[$\u20ac\u00a3\u00a5] ?[0-9]|"
    r"(?:usd|eur|gbp|chf) ?[0-9][0-9,.]{0,14}|[0-9][0-9,.]{0,14} ?(?:usd|eur|gbp|chf|euros?|dollars|pounds))\b"
)
_OWNER = r"(?:your|his|her|their|my|the customer's|the client's|the account holder's|[^\W\d_][\w-]{1,20}'s)"
_OWNED = re.compile(
    rf"\b{_OWNER} (?:[\w-]{{1,20}} ){{0,3}}?(?:balance|transactions?|payments?|withdrawals?|deposits?|transfers?|"
    r"purchases?|direct debits?|standing orders?|salary|overdraft|statement|account)\b"
    rf"[^.?!;\n]{{0,60}}? (?:is|was|were|of|for|at|stands? at|shows?|has|totall?ing|"
    rf"by)(?: \w{{1,12}}){{0,3}}? ?({_AMOUNT})",
    re.IGNORECASE,
)
_MOVED = re.compile(
    r"\b(?:you|he|she|they|the customer|the client|the account holder) (?:have |has |had |just |recently |already )?"
    r"(?:paid|spent|withdrew|withdrawn|transferred|deposited|received|sent|owe[sd]?|earned|borrowed|were charged|"
    r"was charged|"
    rf"were paid|was paid)(?: \w{{1,12}}){{0,2}}? ?({_AMOUNT})",
    re.IGNORECASE,
)


_MONEY: Final = ("$", "\u20ac", "\u00a3", "\u00a5", "usd", "eur", "gbp", "chf", "dollars", "pounds")
_PRICE = re.compile(r"\b(?:costs?|fees?|price[sd]?|charges?)\b", re.IGNORECASE)


def find_transactions(text: str) -> Iterator[Span]:
    """Yield amounts that the text says belong to somebody's account: balances, payments, withdrawals.

    "Your balance is $250" and "you withdrew $250" name one person's money; "the fee is $250" and "a letter about your
    balance costs $15" do not.
    """
    lower = text.lower()
    if not any(sign in lower for sign in _MONEY):
        return
    for expression in (_OWNED, _MOVED):
        for match in expression.finditer(text):
            if _PRICE.search(match.group(), 0, match.start(1) - match.start()):
                continue
            yield Span(match.start(1), match.end(1), "transaction", "phrase")


# --- postal addresses --------------------------------------------------------------------------------------------

_STREETS: Final = _word_set(
    """
    street st road rd avenue ave av lane ln drive dr close court ct crescent cres place pl square sq terrace gardens
    grove boulevard blvd highway hwy parkway pkwy circle cir trail turnpike mews quay row walk hill park parade
    esplanade alley way wharf green loop ridge heights manor causeway path crossing crossroad freeway expressway plaza
    bypass extension extensions meadow meadows village villages landing landings straat laan weg plein gracht allee
    strasse platz gasse utca ut utja ter
    """
)
_NAMED_STREETS: Final = _word_set(
    """
    Street Road Avenue Lane Boulevard
    """
)
_STREET_ENDINGS: Final = tuple(
    _word_set(
        """
        allee damm dreef gade gasse gata gatan gate gracht gränd kade katu kuja laan platz plein polku steeg str straat
        strasse straße tie tér ufer utca veien vej väg vägen weg út útja
        """
    )
)
_STREET_OPENERS: Final = _word_set(
    """
    rue via viale vicolo piazza corso strada avenida av rua travessa calle carrera paseo plaza camino avda ulica ul
    aleja al plac os calea bulevardul nám ulice impasse allée quai chemin boulevard avenue largo praça praca calçada
    ronda passeig carrer jalan
    """
)
_UNITS: Final = _word_set(
    """
    suite apt apartment ste unit flat
    """
)
_ABBREVIATIONS: Final = _word_set(
    """
    st rd ave av dr ln ct sq pl blvd hwy apt ste str ul no fl bldg mt ft cres gdns
    """
)
_PARTICLES: Final = _word_set(
    """
    de da do dos das del della delle di du des la le les lo van von der den ter ten te zu zum zur am an el al bin ibn y
    e u tee tn mnt of and the nad
    """
)
_STREET_PARTICLES: Final = _PARTICLES - {"and", "of", "the"}
_MONTHS: Final = _word_set(
    """
    january february march april may june july august september october november december jan feb mar apr jun jul aug
    sep sept oct nov dec
    """
)
_FIELD_WORDS: Final = _word_set(
    """
    mobile phone tel telephone fax desk email mail cell name address home work office website web date dob account iban
    card note notes ref reference order total amount regards thanks sincerely
    """
)
_ADDRESS_CUE = re.compile(
    r"\b(?:address(?: is|:)?|lives? at|living at|lived at|resid(?:es?|ing|ed) at|located at|stay(?:s|ing)? at|"
    r"(?:sent|send|deliver(?:ed)?|mail(?:ed)?|ship(?:ped)?|return(?:ed)?|posted?|forward(?:ed)?|"
    r"move[ds]?) (?:\w+ ){0,3}?to|"
    r"meet (?:me|you|us|him|her|them) at|house at|home at|pick (?:me|him|her|it) up at|come to|"
    r"deliver to)[ :\n]{1,12}\Z",
    re.IGNORECASE,
)
_MILITARY = re.compile(
    r"(?:(?:\bPSC|\bUnit|\bCMR) [0-9]{1,5},? Box [0-9]{1,5}[,\s]{1,6})?(?:\bUS[A-Z]{1,4} [^\n,]{1,40}[,\s]{1,6})?"
    r"\b(?:APO|FPO|DPO)[ ,]{1,2}A[AEP][ ,]{1,2}[0-9]{5}(?:-[0-9]{4})?\b",
    re.IGNORECASE,
)
_BOX = re.compile(r"\b(?:P\.? ?O\.?|Post(?:al)? Office) ?Box ?[0-9]{1,6}\b", re.IGNORECASE)
_UK_POSTCODE = re.compile(r"\b(?:GIR ?0AA|[A-Z]{1,2}[0-9][A-Z0-9]? ?[0-9][ABD-HJLNP-UW-Z]{2})\b")
_STATES = (
    "AL|AK|AZ|AR|CA|CO|CT|DE|DC|FL|GA|HI|ID|IL|IN|IA|KS|KY|LA|ME|MD|MA|MI|MN|MS|MO|MT|NE|NV|NH|NJ|NM|NY|NC|ND|OH|OK|"
    "OR|PA|RI|SC|SD|TN|TX|UT|VT|VA|WA|WV|WI|WY"
)
_ZIP = re.compile(rf"\b(?:{_STATES})[ ,]{{1,2}}[0-9]{{5}}(?:-[0-9]{{4}})?\b")
_FIVE_DIGITS = re.compile(r"[0-9]{5}")
#: Expression, rule, and a short expression without which the long one cannot match.
_ADDRESS_PATTERNS: Final = (
    (_MILITARY, "military", _FIVE_DIGITS),
    (_BOX, "box", re.compile(r"[Bb][Oo][Xx] ?[0-9]")),
    (_UK_POSTCODE, "postcode", re.compile(r"[0-9][A-Z]{2}")),
    (_ZIP, "state_code", _FIVE_DIGITS),
)
_CORNER_CUE = re.compile(r"[Cc][Oo][Rr][Nn][Ee][Rr] ")
_CORNER = re.compile(r"\b(?:the )?corner of (?=[^\W_])", re.IGNORECASE)
MAXIMUM_ADDRESS_LINES: Final = 5
_MAXIMUM_LEFT = 8
_MAXIMUM_STREET_WORDS = 6
_MAXIMUM_LINE_TOKENS = 14


def find_addresses(text: str, tokens: Sequence[Token]) -> Iterator[Span]:
    """Yield postal addresses: a street with its number, a unit, a box or a postcode, and the lines that go on from it.

    Opens at a house number before a street word, a street word before a number, a unit ("Apt 4"), a number-words-number
    line, a military or post box, or a postcode; goes on over commas and up to five lines as long as they hold only
    capitalised words and numbers.
    """
    for expression, rule, necessary in _ADDRESS_PATTERNS:
        for match in expression.finditer(text) if necessary.search(text) else ():
            index = _token_at(tokens, match.end())
            end = match.end() if rule == "military" else _extend_right(tokens, index, match.end(), text)
            yield Span(match.start(), end, "address", rule)
    index = 0
    while index < len(tokens):
        core = _address_core(text, tokens, index)
        if core is None:
            index += 1
            continue
        first, past, rule = core
        end = _extend_right(tokens, past, tokens[past - 1].end, text)
        yield Span(tokens[first].start, end, "address", rule)
        while index < len(tokens) and tokens[index].start < end:
            index += 1
    for index, token in enumerate(tokens):
        if token.text in _NAMED_STREETS and index and not token.opens_line:
            name = tokens[index - 1]
            if name.kind == "word" and name.text[0].isupper() and not is_ordinary_word(name.lower):
                yield Span(name.start, token.end, "address", "street_name")
    for match in _CORNER.finditer(text) if _CORNER_CUE.search(text) else ():
        index = _token_at(tokens, match.end())
        past = index
        while past < len(tokens) and past - index < 14 and _is_address_token(tokens[past]):
            if past > index and tokens[past].opens_line:
                break
            past += 1
        while past > index and tokens[past - 1].lower in _PARTICLES | {","}:
            past -= 1
        if past - index >= 3:
            end = _extend_right(tokens, past, tokens[past - 1].end, text)
            yield Span(match.start(), end, "address", "corner")


def _address_core(text: str, tokens: Sequence[Token], index: int) -> tuple[int, int, str] | None:
    """Return first token, token behind the last, and rule of a street line that opens at ``index``, or None."""
    token = tokens[index]
    if token.kind == "number" and len(token.text) <= 6:
        return _core_from_number(text, tokens, index)
    if token.kind != "word":
        return None
    if token.lower in _UNITS:
        past = _skip_dot(tokens, index + 1)
        if past < len(tokens) and _is_unit_number(tokens[past]) and not tokens[past].opens_line:
            follows = past + 1 < len(tokens) and _is_address_token(tokens[past + 1])
            if token.lower in ("suite", "apt", "apartment") or follows:
                return index, past + 1, "unit"
        return None
    if token.text[0].isupper() or token.lower in _STREET_OPENERS:
        if index and tokens[index - 1].kind == "word" and tokens[index - 1].text[0].isupper() and not token.opens_line:
            return None
        return _core_from_word(tokens, index)
    return None


def _core_from_number(text: str, tokens: Sequence[Token], index: int) -> tuple[int, int, str] | None:
    number = tokens[index]
    before = tokens[index - 1] if index else None
    if (
        before is not None
        and not number.opens_line
        and before.text in ("$", "\u20ac", "\u00a3", "\u00a5", "#", "/", "%")
    ):
        return None
    if before is not None and before.text in (".", ",", "-", ":") and before.end == number.start and index > 1:
        return None
    has_cue = _ADDRESS_CUE.search(text, max(0, number.start - 60), number.start) is not None
    words = numbers = 0
    has_unknown = has_street = False
    past = index + 1
    while past < len(tokens) and past - index <= _MAXIMUM_STREET_WORDS + 3:
        token = tokens[past]
        if token.opens_line:
            break
        if token.kind == "number":
            if token.start == tokens[past - 1].end and tokens[past - 1].kind == "mark":
                break
            numbers += 1
        elif token.kind == "word":
            if past == index + 1 and token.start == number.end:
                if len(token.text) > 1 and token.lower not in ("st", "nd", "rd", "th"):
                    return None  # 24hours, 5kg
            elif token.lower in _MONTHS:
                return None
            elif _is_unit_word(tokens, past):
                return (index, past + 2, "unit") if words else None
            elif _is_street_word(token) and words + numbers >= 1:
                has_street = True
                words += 1
            elif (token.text[0].isupper() and not token.text.isupper()) or (token.text.isupper() and has_cue):
                words += 1
                has_unknown = has_unknown or not is_ordinary_word(token.lower)
                has_street = has_street or _has_street_ending(token.lower)
            elif token.lower in _STREET_OPENERS:
                words += 1
                has_street = True
            elif token.lower in _STREET_PARTICLES or _has_street_ending(token.lower):
                words += 1
            else:
                break
        elif token.text not in (".", "'", "/", "\u2019") or (token.text == "." and _ends_sentence(text, tokens, past)):
            break
        past += 1
        if has_street and _is_street_word(tokens[past - 1]) and not _continues_street(tokens, past):
            break
    while past - 1 > index and tokens[past - 1].kind == "mark" and tokens[past - 1].text != ".":
        past -= 1
    if not words:
        return None
    if has_street:
        return index, past, "street"
    ends_in_number = tokens[past - 1].kind == "number"
    if ends_in_number and has_unknown and (has_cue or number.opens_line or len(number.text) >= 3):
        return index, past, "number_words_number"
    if has_cue and has_unknown:
        return index, past, "cue"
    return None


def _core_from_word(tokens: Sequence[Token], index: int) -> tuple[int, int, str] | None:
    """Read "Rue de la Paix 12", "Strickstrasse 61", "ul. Miła 53": a street word with the number behind the name."""
    past = index
    has_street = False
    while past < len(tokens) and past - index <= _MAXIMUM_STREET_WORDS:
        token = tokens[past]
        if past > index and token.opens_line:
            return None
        if token.kind == "number":
            return (index, past + 1, "street") if has_street and len(token.text) <= 5 else None
        if token.kind == "word":
            is_opener = past == index and (token.lower in _STREET_OPENERS or _is_abbreviated_calle(tokens, index))
            has_street = has_street or is_opener or _has_street_ending(token.lower)
            if not (
                token.text[0].isupper() or is_opener or token.lower in _PARTICLES or _has_street_ending(token.lower)
            ):
                return None
        elif token.text not in (".", "/", "'", "\u2019"):
            return None
        past += 1
    return None


def _is_abbreviated_calle(tokens: Sequence[Token], index: int) -> bool:
    return tokens[index].lower == "c" and index + 1 < len(tokens) and tokens[index + 1].text == "/"


def _extend_right(tokens: Sequence[Token], past: int, end: int, text: str) -> int:
    """Return where an address ends that has been read up to ``end``: more segments of its line, and more lines."""
    count_lines = 1
    count_line_tokens = 0
    while past < len(tokens):
        token = tokens[past]
        if token.opens_line:
            if count_lines == MAXIMUM_ADDRESS_LINES or not _is_address_line(tokens, past):
                break
            count_lines += 1
            count_line_tokens = 0
            past = _skip_bullet(tokens, past)
            token = tokens[past]
        if count_line_tokens >= _MAXIMUM_LINE_TOKENS or not _is_address_token(token):
            break
        if token.text == "." and _ends_sentence(text, tokens, past):
            break
        if token.text == "(" and not (past + 2 < len(tokens) and tokens[past + 2].text == ")"):
            break
        if token.kind == "word" and past + 1 < len(tokens) and tokens[past + 1].text == ":":
            break
        count_line_tokens += 1
        if token.kind != "mark" or token.text == ")":
            end = token.end if token.lower not in _PARTICLES else end
        past += 1
    return end


def _is_address_line(tokens: Sequence[Token], index: int) -> bool:
    """Return whether the line that opens at ``index`` may belong to an address: short, capitals and numbers only."""
    index = _skip_bullet(tokens, index)
    first = next((token for token in tokens[index : index + 2] if token.kind != "mark"), tokens[index])
    if first.lower in _FIELD_WORDS:
        return False
    for offset, token in enumerate(tokens[index : index + _MAXIMUM_LINE_TOKENS + 1]):
        if (token.opens_line and offset) or token.text in ("?", "!"):
            return offset > 0
        if token.text == ":" or offset == _MAXIMUM_LINE_TOKENS:
            return False
        if not _is_address_token(token):
            # a sentence may go on behind the address ("... Austria 26759 after the concert", "Höfn as agreed")
            is_name = first.kind == "word" and not is_ordinary_word(first.lower) and first.lower not in given_names()
            return offset > 0 and (tokens[index + offset - 1].kind == "number" or is_name)
    return True


def _skip_bullet(tokens: Sequence[Token], index: int) -> int:
    """Return the index behind marks that open a line ("- ", "> ", "??? "), or ``index``."""
    past = index
    while (
        past < len(tokens) and past - index < 4 and tokens[past].kind == "mark" and tokens[past].text in "?>*-\u2022|"
    ):
        if past > index and tokens[past].opens_line:
            return index
        past += 1
    return past if past < len(tokens) and not (past > index and tokens[past].opens_line) else index


def _is_address_token(token: Token) -> bool:
    if token.kind == "number":
        return True
    if token.kind == "mark":
        return token.text in (",", ".", "-", "/", "'", "\u2019", "(", ")", "#")
    return token.text[0].isupper() or not token.text.islower() or token.lower in _PARTICLES or token.lower in _STREETS


def _continues_street(tokens: Sequence[Token], past: int) -> bool:
    """Return whether the token behind a street word still belongs to its line (a number, or one more street word)."""
    return (
        past < len(tokens)
        and not tokens[past].opens_line
        and (tokens[past].kind == "number" or tokens[past].text[0].isupper())
    )


def _is_street_word(token: Token) -> bool:
    return token.lower in _STREETS or _has_street_ending(token.lower)


def _has_street_ending(lower: str) -> bool:
    return len(lower) >= 6 and lower.endswith(_STREET_ENDINGS)


def _is_unit_word(tokens: Sequence[Token], index: int) -> bool:
    past = _skip_dot(tokens, index + 1)
    return tokens[index].lower in _UNITS and past < len(tokens) and _is_unit_number(tokens[past])


def _is_unit_number(token: Token) -> bool:
    return token.kind == "number" or (token.kind == "word" and len(token.text) == 1)


def _skip_dot(tokens: Sequence[Token], index: int) -> int:
    return index + 1 if index < len(tokens) and tokens[index].text in (".", "#") else index


def _ends_sentence(text: str, tokens: Sequence[Token], index: int) -> bool:
    """Return whether the full stop at ``index`` closes a sentence and not an abbreviation of an address."""
    before = tokens[index - 1] if index else None
    if before is None or index + 1 == len(tokens):
        return True
    is_short = before.kind == "word" and (len(before.text) == 1 or before.lower in _ABBREVIATIONS)
    return not is_short and text[tokens[index].end].isspace()


def _token_at(tokens: Sequence[Token], position: int) -> int:
    """Return the index of the first token that starts at ``position`` or behind it."""
    low, high = 0, len(tokens)
    while low < high:
        middle = (low + high) // 2
        if tokens[middle].start < position:
            low = middle + 1
        else:
            high = middle
    return low


# --- names of persons and places ---------------------------------------------------------------------------------

# Given names that are also words of English or places: on their own they make no person.
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
HOMOGRAPHS: Final = _word_set(_HOMOGRAPH_LIST)

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
ORGANISATION_WORDS: Final = _word_set(_ORGANISATION_LIST)
"""A capitalised run that holds one of these names a bank, a product, an office or a place, and no person."""

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

_TITLES: Final = _word_set(
    """
    mr mrs ms miss mx dr prof professor sir dame lord lady madam mister herr frau monsieur madame señor señora senor
    senora rev reverend judge sheikh
    """
)
_NOT_NAMES: Final = _word_set(
    """
    the a an i i'm we you he she it they this that these those please dear hi hello hey sir madam customer client team
    support valued member all everyone there again folks thanks thank regards yes no not sorry to from and or but if
    your my our their his her its for with on in at by of as is are was were be been have has had do does did can could
    will would should may might must what when where which who whom whose why how account number card date birth ssn
    iban email phone address mobile fax desk code usd eur gbp atm pin ceo cfo cto hr it uk us eu usa american british
    english french german spanish italian chinese japanese indian european african asian canadian australian mexican
    russian polish czech dutch
    """
)
_NEVER_IN_NAMES: Final = ORGANISATION_WORDS | _NOT_NAMES
_NEVER_IN_PLACES: Final = ORGANISATION_WORDS | _MONTHS
_NAME_PARTICLES: Final = _word_set(
    """
    de da dos das del della di du la le van von der den ter ten bin ibn al el af zu
    """
)
# (cue, whether one word is enough); all are matched right before the first token of a name.
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
# What only people do, or what is done with them: one rare word is enough.
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
# How every cue of a place ends; it is tried first because it looks back ten characters only.
_PLACE_CUE_END = re.compile(r"(?:in|to|from|of|visit(?:ed|ing)?)[ \t]{1,2}\Z", re.IGNORECASE)
MAXIMUM_NAME_WORDS: Final = 4


@lru_cache(maxsize=1)
def given_names() -> frozenset[str]:
    """Return given names of the US census of 1990 (package ``names``), lower case, without :data:`HOMOGRAPHS`."""
    return all_given_names() - HOMOGRAPHS


@lru_cache(maxsize=1)
def all_given_names() -> frozenset[str]:
    """Return given names of the US census of 1990 with those that are also ordinary words ("Grace", "Mark")."""
    return frozenset(_read_census("dist.male.first", "dist.female.first", limit=None))


@lru_cache(maxsize=1)
def surnames() -> frozenset[str]:
    """Return the 5,000 most frequent surnames of the US census of 1990, lower case."""
    return frozenset(_read_census("dist.all.last", limit=5_000))


def _read_census(*files: str, limit: int | None) -> list[str]:
    from importlib import resources

    found: list[str] = []
    for file in files:
        lines = resources.files("names").joinpath(file).read_text(encoding="ascii").splitlines()
        found += [line.split()[0].lower() for line in lines[:limit]]
    return found


@lru_cache(maxsize=1)
def _ordinary_words() -> frozenset[str]:
    """Return the whole words in the vocabulary of the packaged encoder: the frequent words of English, lower case."""
    import json

    vocabulary = json.loads((packaged_folder() / "tokenizer.json").read_text(encoding="utf-8"))["model"]["vocab"]
    return frozenset(word for word in vocabulary if len(word) > 1 and word.isalpha() and word.isascii())


@lru_cache(maxsize=1 << 16)
def is_ordinary_word(lower: str) -> bool:
    """Return whether a lower-case word is a frequent word of English (or made of one: "restated") and no given name."""
    if lower in given_names():
        return False
    ordinary = _ordinary_words()
    stem = _PREFIX.sub("", lower)
    is_derived = len(stem) >= 5 and stem != lower and stem in ordinary
    return lower in ordinary or lower.removesuffix("s") in ordinary or is_derived


_PREFIX = re.compile(r"\A(?:un|re|non|pre|dis|mis|by|co|over|under|sub)-?")
_INNER_CAPITAL = re.compile(r"\A(?:Mc|Mac|De|Di|Du|La|Le|Van|Von|Fitz|O['\u2019]|D['\u2019]|\w+-)[^\W\d_]")


def is_spelled_like_name(words: Sequence[str]) -> bool:
    """Return whether words are written as names are: no acronym beside a word, no capital inside ("CapEx")."""
    long = [word.removesuffix("'s").removesuffix("\u2019s") for word in words if len(word) > 1]
    if any(word.isupper() for word in long):
        return all(word.isupper() for word in long) and any(len(word) > 5 for word in long)
    return all(word[1:].islower() or _INNER_CAPITAL.match(word) or not word[1:].isalpha() for word in long)


def is_person_name(words: Sequence[str], *, is_cued: bool = False) -> bool:
    """Return whether capitalised words can be a person's name.

    A word of :data:`ORGANISATION_WORDS` rules it out. Otherwise one of the words must be a given name, or (behind a
    cue, or as a pair) a word that is not an ordinary word of English. So "Clipper Gold Card" and "Harbour Points" are
    no persons, and neither is any other name made of ordinary words.
    """
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
    """Return whether an ampersand stands beside a name ("Johnson & Johnson"), as it does in names of firms."""
    return text[max(0, start - 3) : start].rstrip().endswith("&") or text[end : end + 3].lstrip().startswith("&")


def read_name(tokens: Sequence[Token], index: int, *, is_any_case: bool = False) -> int:
    """Return the index behind the name that opens at ``index``: up to four capitalised words, initials, particles."""
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
    """Yield names of persons by cues: a title or "my name is" before, "'s account" after, a middle initial."""
    is_lower = text.islower()
    index = 0
    while index < len(tokens):
        token = tokens[index]
        if token.kind != "word":
            index += 1
            continue
        if token.lower in _TITLES and (token.text[0].isupper() or is_lower):
            start = _skip_dot(tokens, index + 1)
            past = read_name(tokens, start, is_any_case=False)
            if past > start and tokens[start].lower not in ORGANISATION_WORDS:
                yield _name_span(tokens, start, past, "title")
                index = past
                continue
        if not (token.text[0].isupper() or is_lower) or token.lower in _NOT_NAMES:
            index += 1
            continue
        past = read_name(tokens, index, is_any_case=is_lower)
        if past == index:
            index += 1
            continue
        rule = _person_rule(text, tokens, index, past, is_lower)
        if rule is not None:
            yield _name_span(tokens, index, past, rule)
        index = past if not is_lower else index + 1


def _person_rule(text: str, tokens: Sequence[Token], index: int, past: int, is_lower: bool) -> str | None:
    """Return why the capitalised run from ``index`` to ``past`` is a person, or None."""
    words = [token.text for token in tokens[index:past] if token.kind == "word"]
    if all(is_ordinary_word(word.lower()) for word in words):
        return None  # every rule needs one: given names are no ordinary words either
    before = text[max(0, tokens[index].start - 50) : tokens[index].start]
    after = text[tokens[past - 1].end : tokens[past - 1].end + 100]
    if is_part_of_firm(text, tokens[index].start, tokens[past - 1].end):
        return None
    # expressions that look back are dear: what the words are is asked first
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
    if has_given and len(words) == 1 and not _is_followed_by_place_mark(after):
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


def _is_followed_by_place_mark(after: str) -> bool:
    """Return whether ", XY" (a state) or a number follows: "Austin, TX", "Florence 12"."""
    return re.match(r"(?:, ?[A-Z]{2}\b| [0-9])", after) is not None


def _has_middle_initial(words: Sequence[str]) -> bool:
    return len(words) >= 3 and len(words[0]) > 1 and any(len(word) == 1 for word in words[1:-1]) and len(words[-1]) > 1


_PERSON_ROLES = _word_set(
    "customer client user employee manager owner adviser advisor holder cardholder contact payee beneficiary signatory "
    "reviewer clerk teller author person agent officer borrower applicant guarantor spouse caller sender recipient"
)
_NAME_PARTS = _word_set("first last full given family middle maiden sur")
_NAMES_OF_PERSONS = _word_set("surname username fullname firstname lastname forename nickname maidenname")
_FIELD_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")


def is_person_field(field: str, value: str) -> bool:
    """Return whether a field of a record holds a person's name, by what the field is called.

    "customer_name", "lastName" and "surname" hold names whatever their value; "owner" and "account_manager" do when a
    word of the value is a given name, a surname or no ordinary word of English, and none is one of an organisation
    ("Nguyen", not "retail banking"); a plain "name" may be that of a product, and is left to :func:`find_persons`.
    """
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
    """Yield places by cues: capitalised words behind "live in", "travelling to", "originally from"."""
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
    end = tokens[past - 1].end
    for ending in ("'s", "\u2019s"):
        if tokens[past - 1].text.endswith(ending):
            end -= len(ending)
    return Span(tokens[start].start, end, "person", rule)


# --- all of them -------------------------------------------------------------------------------------------------

_SIX_CLOSE_DIGITS = re.compile(r"[0-9](?:[ ./()-]{0,3}[0-9]){5}")
_FOUR_CLOSE_DIGITS = re.compile(r"[0-9](?:[ -]?[0-9]){3}")
#: Recognisers of numbers, each with a short expression without which it finds nothing: most texts have few digits.
_NUMBER_RECOGNISERS: Final[tuple[tuple[Callable[[str], Iterator[Span]], re.Pattern[str]], ...]] = (
    (find_cards, _SIX_CLOSE_DIGITS),
    (find_ibans, _DIGIT_RUN),
    (find_ssns, _SIX_CLOSE_DIGITS),
    (find_national_insurance_numbers, _SIX_CLOSE_DIGITS),
    (find_phones, _SIX_CLOSE_DIGITS),
    (find_accounts, _FOUR_CLOSE_DIGITS),
    (find_references, re.compile(r"[0-9](?:[A-Z/-]{0,110}[0-9]){3}", re.IGNORECASE)),
    (find_birth_dates, _DIGIT_RUN),
    (find_transactions, _DIGIT_RUN),
)


def find_by_rules(text: str) -> list[Span]:
    """Return what all recognisers find in a text, overlaps included, places in characters of ``text``."""
    folded = fold_text(text)
    tokens = read_tokens(folded)
    found: list[Span] = []
    for recognise, necessary in _NUMBER_RECOGNISERS:
        if necessary.search(folded):
            found += recognise(folded)
    found += find_emails(folded)
    found += find_spelled_numbers(folded)
    found += find_addresses(folded, tokens)
    found += find_persons(folded, tokens)
    found += find_cued_places(folded, tokens)
    return found


def _digits(text: str) -> str:
    return "".join(character for character in text if character in "0123456789")


# --- names that must not colour a score ------------------------------------------------------------------------------

_CAPITALISED = r"[A-Z][^\W\d_]*(?:['\u2019-][A-Z]?[^\W\d_]+){0,4}"
#: Capitalised words in a row, with what is written inside them ("Mei-Ling", "O'Brien").
_CAPITALISED_RUN = re.compile(rf"\b{_CAPITALISED}(?: {_CAPITALISED}){{0,12}}")
_POSSESSIVE = re.compile(r"['\u2019]s\Z")


def replace_names(text: str, stand_in: str) -> str:
    """Return a text with names of people replaced by one stand-in, so that they cannot move a score of it.

    In a row of capitalised words that holds no word of :data:`ORGANISATION_WORDS`, given names and words that are no
    ordinary words of English are replaced, those between the first and the last of them as well. It is meant to catch
    too much rather than too little: a town or a brand carries no more tone than a person does. Names that are ordinary
    words as well ("Grace", "Mark") stay.
    """

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

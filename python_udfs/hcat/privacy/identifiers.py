"""Find numbers and contact details in folded texts: check digits, fixed forms, and words that announce them."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from hcat.language.expressions import fold_case, read_expressions
from hcat.privacy.spans import Span

_WRITTEN = read_expressions(Path(__file__).with_suffix(".yml"))

# --- numbers with check digits -----------------------------------------------------------------------------------

# Between the groups of a card stand blanks, or one mark with or without blanks. Marks of sums are no separators.
_CARD_GAP = r"(?:[ \t]{0,2}(?:[^\w\s+=<>%$\u20ac\u00a3\u00a5()\[\]{}#@&\"]|_)[ \t]{0,1}|[ \t]{1,3})"
_GROUPS = re.compile(rf"[0-9]+(?:{_CARD_GAP}[0-9]+){{0,400}}")
_GROUP = re.compile("[0-9]+")
# Lengths of printed groups: fours with a shorter end, American Express, Diners Club, UnionPay, halves.
_PRINTED = re.compile(r"(?:4 ){2,4}[1-5]|4 6 [45]|6 13|8 8")
THOUSANDS: Final = re.compile(r"[0-9]{1,3}(?:[ ,.'][0-9]{3}){1,9}")
"""A number in groups of thousands."""


_YEARS_ONLY = re.compile(r"(?:(?:19|20)[0-9]{2}[^0-9]{0,3}){3,9}")
# Issuers: Visa, Mastercard, American Express, Diners Club, Discover, JCB (also its 15 digits), UnionPay, Maestro.
_ISSUER = re.compile(r"4|5[0-9]|6|2[2-7]|3[0-9]|2131|1800")
CARD_CUE: Final = re.compile(_WRITTEN["card_cue"], re.IGNORECASE)
"""Words that announce a payment card."""

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
    """Yield payment card numbers: 12 to 19 digits with a Luhn check digit, in any printed grouping."""
    for run in _GROUPS.finditer(text):
        groups = [match.span() for match in _GROUP.finditer(text, *run.span())]
        first = 0
        while first < len(groups):
            past = _end_of_card(text, groups, first)
            if past:
                yield Span(groups[first][0], groups[past - 1][1], "card", "luhn")
            first = past or first + 1


def _end_of_card(text: str, groups: Sequence[tuple[int, int]], first: int) -> int:
    """Return the group after the longest card that begins with the group ``first``, or 0."""
    found = count_digits = 0
    start = groups[first][0]
    for past, (opening, end) in enumerate(groups[first:], start=first + 1):
        count_digits += end - opening
        if count_digits > CARD_LENGTHS[-1]:
            break
        if count_digits >= CARD_LENGTHS[0] and is_card(text, start, end):
            found = past
    return found


def is_card(text: str, start: int, end: int) -> bool:
    """Return whether a stretch of a text reads as a payment card number."""
    written = text[start:end]
    digits = _digits(written)
    if len(digits) not in CARD_LENGTHS or len(set(digits)) < 2 or not has_luhn_check(digits):
        return False
    if THOUSANDS.fullmatch(written) or _YEARS_ONLY.fullmatch(written):
        return False
    has_cue = CARD_CUE.search(text, max(0, start - 40), start) is not None
    if not has_cue and not (_ISSUER.match(digits) and len(digits) >= 13):
        return False
    lengths = [len(group) for group in _GROUP.findall(written)]
    if len(lengths) == 1 or _PRINTED.fullmatch(" ".join(map(str, lengths))):
        return True
    return not re.search(r"[^0-9 \t-]", written) and (has_cue or min(lengths) >= 3)


# Length -> countries, of the IBAN registry (ISO 13616, release of 2024).
_COUNTRIES: Final = {
    15: "NO", 16: "BE BI", 18: "DK FI FK FO GL NL SD", 19: "MK SI", 20: "AT BA EE KZ LT LU MN XK", 21: "CH HR LI LV",
    22: "BG BH CR DE GB GE IE ME RS VA", 23: "AE GI IL IQ OM SO TL", 24: "AD CZ ES MD PK RO SA SE SK TN VG",
    25: "LY PT ST", 26: "IS TR", 27: "DJ FR GR IT MC MR SM", 28: "AL AZ BY CY DO GT HN HU LB NI PL SV",
    29: "BR EG PS QA UA", 30: "JO KW MU YE", 31: "MT SC", 32: "LC", 33: "RU",
}  # fmt: skip
_IBAN_LENGTHS: Final = {country: length for length, listed in _COUNTRIES.items() for country in listed.split()}
_IBAN_START = re.compile(r"(?<![A-Za-z0-9])([A-Za-z]{2})[ -]?[0-9][ -]?[0-9](?=[ -]?[A-Za-z0-9])")


def has_iban_check(iban: str) -> bool:
    """Return whether an IBAN without separators has the length of its country and a remainder of 1 modulo 97."""
    iban = iban.upper()
    if not (iban.isascii() and iban.isalnum()) or _IBAN_LENGTHS.get(iban[:2]) != len(iban):
        return False
    return int("".join(str(int(character, 36)) for character in iban[4:] + iban[:4])) % 97 == 1


def find_ibans(text: str) -> Iterator[Span]:
    """Yield IBANs with a valid check number, grouped or not, in upper or lower case."""
    for match in _IBAN_START.finditer(text):
        length = _IBAN_LENGTHS.get(match.group(1).upper())
        if length is None:
            continue
        # a longer run of letters and digits is none, and neither are letters far from each other
        form = rf"[A-Za-z0-9](?:[ -]{{0,33}}[A-Za-z0-9]){{{length - 1}}}(?![A-Za-z0-9])"
        written = re.compile(form).match(text, match.start())
        if written and len(written[0]) <= 2 * length and has_iban_check(re.sub("[ -]", "", written[0])):
            yield Span(*written.span(), "iban", "modulo_97")


_SSN = re.compile(r"(?<![0-9-])([0-9]{3})([- .]?)([0-9]{2})\2([0-9]{4})(?![0-9]|-[0-9])")
_SSN_CUE = re.compile(r"\b(?:ssn|social security|social insurance|itin|taxpayer id)\b", re.IGNORECASE)


def find_ssns(text: str) -> Iterator[Span]:
    """Yield social security numbers of the United States."""
    for match in _SSN.finditer(text):
        area, separator, group, serial = match.groups()
        if area in ("000", "666") or group == "00" or serial == "0000" or len(set(area + group + serial)) == 1:
            continue
        has_cue = (
            _SSN_CUE.search(text, max(0, match.start() - 40), match.start()) is not None
            or _SSN_CUE.search(text, match.end(), match.end() + 25) is not None
        )
        if has_cue or (separator in ("-", " ") and area < "900"):
            yield Span(*match.span(), "ssn", "pattern")


_NATIONAL_INSURANCE = re.compile(_WRITTEN["national_insurance"], re.IGNORECASE)


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
    """Yield e-mail addresses, also those that are spelled out ("jane dot doe at example dot com")."""
    if "@" in text:
        for match in _EMAIL.finditer(text):
            yield Span(*match.span(), "email", "pattern")
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


_PHONE = re.compile(_WRITTEN["phone"], re.IGNORECASE)
PHONE_CUE: Final = re.compile(_WRITTEN["phone_cue"], re.IGNORECASE)
"""Words that announce a telephone number."""

_OTHER_NUMBER_CUE = re.compile(_WRITTEN["other_number_cue"], re.IGNORECASE)
_DATE_LIKE = re.compile(_WRITTEN["date_like"])
_YEARS = re.compile(r"\A(?:19|20)[0-9]{2}[ ./()-]{1,3}(?:19|20)[0-9]{2}")
_CUE_WINDOW = 40


def find_phones(text: str) -> Iterator[Span]:
    """Yield telephone numbers: international, North American, with a leading zero, in even groups, or after a cue."""
    for match in _PHONE.finditer(text):
        written = match.group()
        body = re.split(r"(?:x|ext\.?|extension)", written, maxsplit=1, flags=re.IGNORECASE)[0]
        digits = _digits(body)
        if not 7 <= len(digits) <= 15 or _DATE_LIKE.match(body) or _YEARS.match(body):
            continue
        rule = _phone_rule(text, match.start(), body, digits)
        if rule is not None:
            yield Span(match.start(), match.start() + len(written.rstrip(" ./(-")), "phone", rule)


def _phone_rule(text: str, start: int, body: str, digits: str) -> str | None:
    """Return the rule by which a run of digits is a telephone number, or None."""
    if body.startswith("+"):
        return "international"
    before = text[max(0, start - _CUE_WINDOW) : start]
    cue = _last(PHONE_CUE, before)
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
    if is_grouped and len(national) == 10:
        is_american = re.match(r"\(?[0-9]{3}\)? ?[0-9]{3}[ .-]?[0-9]{4}\Z", body.strip())
        if is_american or [len(group) for group in groups[-3:]] == [3, 3, 4]:
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


# --- values that a word before them announces --------------------------------------------------------------------

_SORT_CODE = re.compile(r"(?<![0-9-])[0-9]{2}([- ]?)[0-9]{2}\1[0-9]{2}(?![0-9-])")
_SORT_CODE_CUE = re.compile(r"\bsort[ -]?codes?\b[^0-9\n]{0,20}\Z", re.IGNORECASE)
_ACCOUNT = re.compile(_WRITTEN["account"], re.IGNORECASE)
_ACCOUNT_DIGITS: Final = range(6, 18)
_REFERENCE = re.compile(_WRITTEN["reference"], re.IGNORECASE)
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
    """Yield sort codes and bank account numbers that a word before them announces."""
    for match in _SORT_CODE.finditer(text):
        has_cue = _SORT_CODE_CUE.search(text, max(0, match.start() - 40), match.start()) is not None
        follower = re.compile(r"[ ,/-]{1,3}([0-9]{8})(?![0-9])").match(text, match.end())
        if has_cue or (match.group(1) == "-" and follower is not None):
            yield Span(*match.span(), "sort_code", "cue")
            if follower is not None:
                yield Span(*follower.span(1), "account", "behind_sort_code")
    for match in _ACCOUNT.finditer(text):
        is_partial = not match.group(1)[0].isdigit()
        if len(_digits(match.group(1))) in _ACCOUNT_DIGITS or is_partial:
            yield Span(*match.span(1), "account", "cue")


def find_references(text: str) -> Iterator[Span]:
    """Yield customer, transaction and similar references: at least four digits after a word that names them."""
    for match in _REFERENCE.finditer(text):
        written = match.group(1)
        digits = _digits(written)
        is_year = written.isdigit() and len(written) == 4 and written[:2] in ("19", "20")
        if len(digits) >= _MINIMUM_REFERENCE_DIGITS and not is_year:
            yield Span(*match.span(1), "reference", "cue")


_OWNED, _MOVED = (re.compile(_WRITTEN[name], re.IGNORECASE) for name in ("owned", "moved"))
_OWNED_CUE = re.compile(r"(?:your|his|her|their|my|'s) ")
_MOVED_CUE = re.compile(r"paid|spent|withdr|transferred|deposited|received|sent|owe|earned|borrowed|charged")
_MONEY: Final = ("$", "\u20ac", "\u00a3", "\u00a5", "usd", "eur", "gbp", "chf", "dollars", "pounds")
_PRICE = re.compile(r"\b(?:costs?|fees?|price[sd]?|charges?)\b", re.IGNORECASE)


def find_transactions(text: str) -> Iterator[Span]:
    """Yield amounts that the text ascribes to somebody's account: balances, payments, withdrawals."""
    lower = text.lower()
    if not any(sign in lower for sign in _MONEY):
        return
    folded = fold_case(text)
    for expression, necessary in ((_OWNED, _OWNED_CUE), (_MOVED, _MOVED_CUE)):
        for match in expression.finditer(text) if necessary.search(folded) else ():
            if _PRICE.search(match.group(), 0, match.start(1) - match.start()):
                continue
            yield Span(*match.span(1), "transaction", "phrase")


#: Expressions whose every match is a value, each with the group that is the value, its type, the rule, and a short
#: expression that the text in lower case must match.
PATTERNS: Final = (
    (_NATIONAL_INSURANCE, 0, "national_insurance", "pattern", re.compile(r"[0-9]{2} ?[0-9]{2} ?[0-9]{2}")),
    (_BIRTH, 1, "date_of_birth", "cue", re.compile(r"born|birth|d\.?o\.?b")),
    # read out digit by digit, seven digits or more: telephone numbers in transcripts
    (_SPELLED_NUMBER, 0, "phone", "spelled", re.compile(rf"{_DIGIT}[ ,.-]{{1,3}}{_DIGIT_WORD}")),
)


def _digits(text: str) -> str:
    return "".join(character for character in text if character in "0123456789")

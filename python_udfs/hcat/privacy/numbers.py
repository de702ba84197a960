"""Tell numbers that identify nobody from those that do by what stands around: one in ten has a valid check digit."""

import re
from pathlib import Path
from typing import Final

from hcat.language.expressions import read_expressions
from hcat.privacy.identifiers import CARD_CUE, PHONE_CUE, THOUSANDS, is_card
from hcat.privacy.spans import Span

_WRITTEN = read_expressions(Path(__file__).with_suffix(".yml"))
#: Types whose values are bare digits, so that another number can be taken for one.
_TYPES: Final = frozenset(("card", "phone", "ssn", "account"))
_WINDOW: Final = 60
_LINK: Final = (
    r"[ ._-]{0,2}(?:(?:reference|ref|numbers?|no|num|nr|id|code|value|key|#)[ .:#]{0,3}){0,3}"
    r"(?:(?:is|was|of|at|=)[ ]?){0,2}[ :#=(\"'\[-]{0,4}\Z"
)
# A name of a field may be several words in one: page_id, orderNumber.
_NAMES_ANOTHER: Final = re.compile(
    r"(?<![^\W_])(?:versions?|release|build|revision|commit|hash|digest|checksum|md5|sha-?[0-9]{0,3}|timestamp|epoch|"
    r"unix time|isbn|issn|ean|gtin|imei|serial|sku|latitude|longitude|lat|lon|lng|coordinates?|uuid|guid)" + _LINK,
    re.IGNORECASE,
)
# Words behind which only one run of digits is another number: "to order: 0800 555 0100" names a telephone.
_NAMES_ANOTHER_RUN: Final = re.compile(
    r"(?:(?<![^\W_])(?:orders?|tickets?|pages?|bookings?|invoices?|transactions?|references?|refs?|confirmation|"
    r"tracking|shipment|parcel|incident|issue|chunk|docs?|documents?|article|row|line|trace|span|ids?)|"
    r"(?<![^\W_])(?:case|claim|record|message|request|session|part|model|item|product|application|contract|policy|run|"
    r"job|batch|thread)[ ._-]{0,2}(?:numbers?|no|num|nr|id|code|key|#)|(?-i:[a-z]I[dD])|"
    r"[$\u20ac\u00a3\u00a5#\u2116])" + _LINK,
    re.IGNORECASE,
)
_UNIT = re.compile(_WRITTEN["unit"], re.IGNORECASE)
_DECIMAL_MARKS: Final = (".", ",", "\u00b7", "\u066b")
_SIGNED_DECIMAL: Final = re.compile(r"[+-]?([0-9]+)\.([0-9]+)")
_INTERNET_ADDRESS: Final = re.compile(r"(?:(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])(?:\.|\Z)){4}")
_CLOCK_TIME = re.compile(_WRITTEN["clock_time"])


def identifies_nobody(text: str, span: Span) -> bool:
    """Return whether a span taken for a card, telephone or account is another number or a part of one."""
    if span.entity_type not in _TYPES or not any(digit in text[span.start : span.end] for digit in "0123456789"):
        return False
    written = text[span.start : span.end]
    if _is_part_of_a_number(text, span) or _CLOCK_TIME.fullmatch(written) or _has_unit(text, span):
        return True
    if span.entity_type == "card":
        if not is_card(text, span.start, span.end) or _is_part_of_a_code(text, span):
            return True
    elif span.entity_type == "phone" and _is_decimal(text, span):
        return True
    return span.entity_type != "account" and _is_named_otherwise(text, span)


def _is_part_of_a_number(text: str, span: Span) -> bool:
    """Return whether digits go on before or behind the span: a fraction, or a longer number."""
    before, after = text[max(0, span.start - 2) : span.start], text[span.end : span.end + 4]
    if before[-1:].isdigit() or after[:1].isdigit():
        return True
    if before[-1:] in _DECIMAL_MARKS and before[:1].isdigit() and len(before) == 2:
        return True
    # ".4111" is a fraction, and a full stop behind a word or another full stop ends a sentence
    if before[-1:] == "." and not (len(before) == 2 and (before[0].isalnum() or before[0] in ".)]\"'")):
        return True
    if re.match(r"\.[0-9]", after):
        return True
    return span.entity_type != "card" and re.match(r",[0-9]{1,2}(?![0-9])", after) is not None


def _is_part_of_a_code(text: str, span: Span) -> bool:
    """Return whether letters or further groups are attached to the span: a hash, a path, the name of a file, a UUID."""
    separators = set(re.sub(r"[0-9\s]", "", text[span.start : span.end]))
    attached = re.search(r"[\w./\\:-]*\Z", text[max(0, span.start - _WINDOW) : span.start])
    left = attached.group() if attached else ""
    if left and not CARD_CUE.search(left):
        body = left.rstrip("_./\\:-")
        marks = left[len(body) :]
        is_path = marks[:1] in ("_", "/", "\\")
        is_code = bool(body) and (not marks or body[-1].isdigit() or (marks == "-" and body.isupper()))
        if is_path or is_code:
            return True
    follows = re.match(r"([^\w\s]|_)?(\w)", text[span.end : span.end + 2])
    if follows is None:
        return False
    mark, character = follows.groups()
    if mark is None or mark == "_" or mark in separators:
        return True
    return mark in "/\\-." and character.islower()


def _has_unit(text: str, span: Span) -> bool:
    """Return whether the span is one number before a unit: 12500000 kg, 12 500 000 tokens, 99.1234567 %."""
    written = text[span.start : span.end]
    is_one = written.isdigit() or _SIGNED_DECIMAL.fullmatch(written) or THOUSANDS.fullmatch(written)
    return bool(is_one) and _UNIT.match(text, span.end) is not None


def _is_decimal(text: str, span: Span) -> bool:
    """Return whether what looks like a telephone number is decimals, coordinates, or the address of a machine."""
    written = text[span.start : span.end]
    if written.startswith("+") and PHONE_CUE.search(text, max(0, span.start - _WINDOW), span.start):
        return False
    if _INTERNET_ADDRESS.fullmatch(written):
        return True
    for part in written.split():
        number = _SIGNED_DECIMAL.fullmatch(part.strip("()/"))
        if number is None:
            continue
        whole, fraction = number.groups()
        # 0161.4960000 and 555.0142 are telephones: nobody writes a zero before a whole number
        has_trunk_zero = whole.startswith("0") and len(whole) > 1
        if not has_trunk_zero and not (len(whole) in (3, 4) and len(fraction) in (3, 4)):
            return True
    return False


def _is_named_otherwise(text: str, span: Span) -> bool:
    """Return whether the word before the span names another kind of number, as "order" and "version" do."""
    written = text[span.start : span.end]
    window = max(0, span.start - _WINDOW)
    before = text[window : span.start]
    named = _NAMES_ANOTHER.search(before)
    if named is None and (written.isdigit() or span.entity_type == "ssn"):
        named = _NAMES_ANOTHER_RUN.search(before)
    if named is None:
        return False
    cues = [cue.end() for cue in CARD_CUE.finditer(before)] if span.entity_type == "card" else []
    return not cues or cues[-1] < named.start() - 1

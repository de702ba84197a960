"""Find amounts in digits and in words, with their sign, scale and unit, and the ranges that they form."""

import re
from fractions import Fraction
from pathlib import Path
from typing import Final, NamedTuple

import yaml

from hcat.language.expressions import read_expressions
from hcat.language.mentions import DIGIT, Scan, claim
from hcat.language.text import WORD_LISTS

MINIMUM_MANTISSA_DIGITS: Final = 3
"""Digits from which on the bare mantissa also supports a scaled amount: 1,577 in a table in millions supports 1,577
million."""
_CURRENCY_SYMBOLS: Final[dict[str, str]] = WORD_LISTS["currency_symbols"]
_CURRENCY_CODES = WORD_LISTS["currency_codes"].split()
_CURRENCY_WORDS: Final[dict[str, str]] = WORD_LISTS["currency_words"]
UNITS: Final = {
    **_CURRENCY_SYMBOLS,
    **{code: code for code in _CURRENCY_CODES},
    **{word + plural: code for word, code in _CURRENCY_WORDS.items() for plural in ("", "s")},
    **dict.fromkeys(("%", "\uff05", "\u066a", "percent", "per cent", "pct"), "%"),
    **dict.fromkeys(("percentage point", "percentage points", "pp"), "pp"),
    **dict.fromkeys(("basis point", "basis points", "bps", "bp"), "bp"),
    **dict.fromkeys(("cent", "cents", "ct", "\u00a2"), "cent"),
    **dict.fromkeys(("pence", "penny", "p"), "pence"),
}
"""Currencies, their hundredths and shares as texts write them, and their normal form."""
_HUNDREDTHS = {"cent": ("eur", "usd", "cad", "aud", "nzd", "sgd", "hkd", "zar"), "pence": ("gbp",)}


class Measure(NamedTuple):
    """A unit of measurement: its name, what it measures, and how many of the smallest unit it has."""

    name: str
    dimension: str
    factor: Fraction


MEASURES: Final = {
    word: Measure(words.split()[0], dimension, Fraction(str(factor)))
    for dimension, units in yaml.safe_load(Path(__file__).with_name("measures.yml").read_text(encoding="utf-8")).items()
    for factor, words in units.items()
    for word in words.split()
}
"""Units of measurement as texts write them."""
SCALES: Final[dict[str, int]] = WORD_LISTS["scales"]
"""Words and letters that scale an amount, and their power of ten."""
NUMBER_WORDS: Final[dict[str, int]] = WORD_LISTS["numbers"]
"""Cardinal numbers in one word."""
_ORDINAL_WORDS: Final[dict[str, int]] = WORD_LISTS["ordinals"]
# Words that a number goes on with, and that start one behind "a": a hundred, a million.
_SCALE_WORDS = {word: scale for word, scale in SCALES.items() if len(word) > 2}
_COUNTED_SCALES = frozenset({"hundred", "thousand", "million", "billion", "trillion"})
# "you first need ...": the word orders steps.
_BEFORE_FIRST = frozenset({"you", "we", "they", "i", "to", "should", "must", "can", "will", "and", "then"})
_PLACES_OF_TEXT = frozenset({"passage", "context", "chunk", "excerpt", "snippet", "source", "paragraph"})
NUMBER_CUES: Final = NUMBER_WORDS.keys() | _ORDINAL_WORDS.keys() | _COUNTED_SCALES
"""A text without one of these words, case-folded, has no number in words."""
_VULGAR_FRACTIONS: Final[dict[str, str]] = WORD_LISTS["vulgar_fractions"]
_RANGE_MARKS = frozenset(
    {"-", "\u2013", "\u2014", " - ", " \u2013 ", " \u2014 ", " to ", "-to-", " and ", "/", "\u00a0to\u00a0"}
)
_YEAR_MARKS = frozenset("-/\u2013")
_SEPARATOR = re.compile("[,'\u2019\u00a0\u202f\u2009 ]")
_THOUSANDS_OR_DECIMALS = re.compile(r"[1-9]\d{0,2}\.\d{3}")  # 5.000 euros
_WRITTEN = read_expressions(
    Path(__file__).with_suffix(".yml"),
    {
        "CODES": "|".join(_CURRENCY_CODES),
        "CURRENCIES": "|".join(word + "s?" for word in _CURRENCY_WORDS),
        "MEASURES": "|".join(sorted((word for word in MEASURES if len(word) > 1), key=len, reverse=True)),
    },
)
_AMOUNT, _DECIMAL_COMMA, _MEASURE, _ONE_MEASURE, _MINUS_WORD, _MINUS, _FALLING, _FALLS_BEHIND = (
    re.compile(_WRITTEN[name])
    for name in (
        "amount", "decimal_comma", "measure", "one_measure", "minus_word", "minus", "falling", "falls_behind",
    )
)  # fmt: skip
_LEVEL = re.compile(r"\b(?:to|at|from|was|is)\s\W*\Z")
_CELL = re.compile(r"(?:\A|[:;|,$])\s?\(\Z")
_CHARACTERS_OF_A_CAUSE = 40
_YEAR_DIGITS = 4
_DIGITS_OF_A_MEASURE = 15
_RANGE_CHARACTERS = 5  # of the longest mark between the ends of a range
_CHARACTERS_BEFORE_DIGITS = 5  # of the longest "hk$ ." of an amount


class Amount(NamedTuple):
    """An amount as it is written: ``digits`` without separators, times ten to the power ``shift``.

    `unit` is empty, ``%``, ``bp``, a currency or its hundredth, ``word`` (number words), ``ordinal``, or ``pronoun``:
    a bare "one", which is often no number. It can support a number, and needs no support itself. `measure` is a word of
    :data:`MEASURES` or empty. `sign` is empty, ``-``, or ``+-`` where the text may mean either.
    """

    start: int
    end: int
    digits: str
    shift: int
    unit: str
    is_unit_before: bool = False
    measure: str = ""
    sign: str = ""


def find_amounts(lower: str, claimed: bytearray) -> list[Amount]:
    """Return the amounts in digits, in order."""
    amounts: list[Amount] = []
    first_digit = DIGIT.search(lower)
    if first_digit is None:
        return amounts
    for match in _AMOUNT.finditer(lower, max(0, first_digit.start() - _CHARACTERS_BEFORE_DIGITS)):
        start, end = match.span()
        if not claim(start, end, claimed):
            continue
        before, digits, ordinal, scale, unit = match.group("before", "amount", "ordinal", "scale", "unit")
        if "," in digits and "." in digits and digits.rfind(",") > digits.rfind("."):
            digits = digits.replace(".", "").replace(",", ".")
        elif digits.count(".") > 1:
            groups = digits.split(".")
            # 1.000.000 is a number, 4.2.1 a section and kept as it stands
            digits = digits if any(len(group) != 3 for group in groups[1:]) else "".join(groups)
        elif "," in digits and _DECIMAL_COMMA.fullmatch(digits):
            digits = _SEPARATOR.sub("", digits.replace(",", "."))
        elif "/" in digits or digits[-1] in _VULGAR_FRACTIONS:
            whole_number, fraction = (digits[:-3], digits[-3:]) if "/" in digits else (digits[:-1], digits[-1])
            digits = (whole_number.strip() or "0") + _VULGAR_FRACTIONS[fraction]
        else:
            digits = _SEPARATOR.sub("", digits)
        kind = UNITS[(unit or before or "").strip().replace("\u00a0", " ")] if unit or before else ""
        shift = SCALES[scale.rstrip("s")] if scale else 0
        amounts.append(Amount(start, end, digits, shift, "ordinal" if ordinal else kind, bool(before)))
    return amounts


def find_number_words(
    text: str, tokens: list[tuple[int, int, str]], folded: list[str], claimed: bytearray
) -> list[Amount]:
    """Return the ordinals and the amounts in words, with the scale or unit that follows them."""
    amounts = []
    position = -1
    while position + 1 < len(folded):
        position += 1
        word = folded[position]
        if word in _ORDINAL_WORDS:
            start, end, _ = tokens[position]
            value = _ORDINAL_WORDS[word]
            tens = NUMBER_WORDS.get(folded[position - 1], 0) if position > 0 and value < 10 else 0
            if tens >= 20 and text[tokens[position - 1][1] : start] == "-":
                if word == "second":
                    continue  # "thirty-second" counts time more often than it orders
                start = tokens[position - 1][0]  # twenty-first
                value += tens
            if position > 0 and not _orders_the_text(text, tokens, folded, position) and claim(start, end, claimed):
                amounts.append(Amount(start, end, str(value), 0, "ordinal"))
            continue
        if word not in NUMBER_WORDS and word not in _COUNTED_SCALES:
            continue
        if word in _COUNTED_SCALES:
            # "a hundred", but not "hundred" behind digits
            if position == 0 or folded[position - 1] != "a" or not _is_close(text, tokens, position):
                continue
            position -= 1
        start = tokens[position][0]
        if (
            NUMBER_WORDS.get(word, 0) >= 20
            and position + 1 < len(folded)
            and _ORDINAL_WORDS.get(folded[position + 1], 10) < 10
            and folded[position + 1] != "second"
            and text[tokens[position][1] : tokens[position + 1][0]] == "-"
        ):
            continue  # of the ordinal behind
        digits, shift, unit, following = _read_number_words(text, tokens, folded, position)
        end = tokens[following - 1][1]
        if (unit == "pronoun" and not claimed[start]) or (unit != "pronoun" and claim(start, end, claimed)):
            amounts.append(Amount(start, end, digits, shift, unit))
        position = following - 1
    return amounts


def read_signs_and_measures(lower: str, amounts: list[Amount]) -> None:
    """Give each amount its sign and the unit of measurement behind it, in place."""
    for position, amount in enumerate(amounts):
        start, end = amount.start, amount.end
        before = lower[max(0, start - _CHARACTERS_OF_A_CAUSE) : start]
        sign = ""
        is_cell = lower[end : end + 1] == ")" and _CELL.search(before) is not None
        # a plain number in brackets may be a count or a note
        is_account = is_cell and (amount.unit in _CURRENCY_CODES or re.search(r"\d[.,]\d", lower[start:end]))
        is_below = amount.is_unit_before and re.search(r"[-\u2212]", lower[start:end][:6])
        if is_account or is_below or _MINUS.search(before):
            sign = "-"
        elif amount.unit != "ordinal" and (
            is_cell or (_FALLING.search(before) and not _LEVEL.search(before)) or _FALLS_BEHIND.match(lower, end)
        ):
            sign = "+-"
        found = _MEASURE.match(lower, end) if amount.unit in ("", "word", "pronoun") else None
        if sign or found:
            measure = (found["unit"] or found["letter"]) if found else ""
            amounts[position] = amount._replace(sign=sign, measure=measure)


def offer_single_measures(lower: str) -> list[str]:
    """Return what "a week" and "every hour" support."""
    return [key for match in _ONE_MEASURE.finditer(lower) for key in _measured("1", match["unit"])]


def join_ranges(lower: str, amounts: list[Amount]) -> None:
    """Give both ends of each range the unit and the scale of the range, in place."""
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


def add_amount(scan: Scan, amount: Amount) -> None:
    """Add an amount with every form that may support it and every form that it may support."""
    start, end, digits, shift, unit = amount[:5]
    if unit == "pronoun":
        scan.offered.update(("1", "1 =", "1 word", *_measured("1", amount.measure)))
        return
    scan.claimed[start:end] = b"\1" * (end - start)  # "one" is claimed only where a range gives it a unit
    if amount.sign == "-" and (minus := _MINUS_WORD.search(scan.lower, max(0, start - _CHARACTERS_OF_A_CAUSE), start)):
        claim(*minus.span(), scan.claimed)
    is_plain = digits.count(".") < 2 and not (len(digits) > 1 and digits[0] == "0" and digits.isdigit())
    is_basis_point = unit == "bp"
    # in the number of a section, an account or a telephone a leading zero counts
    value = shift_decimal(digits, shift - 2 * is_basis_point) if is_plain else digits
    if is_basis_point:
        unit, shift = "%", 0
    if unit in ("", "word") and amount.measure and is_plain:
        unit = MEASURES[amount.measure].name
    form = f"{value} {unit}" if unit else value
    keys: tuple[str, ...]
    offered: list[str]
    if unit == "ordinal":
        keys, offered = (form,), [form]
    elif unit in ("", "word"):
        keys = (form, value) if unit else (form,)
        # "=" marks a value that the evidence writes without a unit: it supports the value with any unit
        offered = [form, value, f"{value} ="]
        if end - start == _YEAR_DIGITS and is_year(value):
            offered.append(f"{value[:3]}0s")
    else:
        same = _measured(value, amount.measure) if amount.measure else _same_money(value, unit, scan.lower[start:end])
        if _THOUSANDS_OR_DECIMALS.fullmatch(digits) and not shift and unit != "%":
            same = (*same, f"{digits.replace('.', '')} {unit}")
        if is_basis_point:
            same = (f"{value} pp",)
        keys = (form, f"{value} =", *same)
        offered = [form, value, *same]
        if unit == "%" and is_plain and value != "0" and len(value.partition(".")[0]) < 3:
            decimal = shift_decimal(value, -2)
            keys = (*keys, f"{decimal} =")
            offered.append(decimal)
    if shift and is_plain:
        mantissa = shift_decimal(digits)
        if len(mantissa.replace(".", "").strip("0")) >= MINIMUM_MANTISSA_DIGITS:
            keys = (*keys, f"{mantissa} {unit}" if unit else mantissa, f"{mantissa} =")
    if amount.sign:
        negative = tuple([f"-{key}" for key in keys])
        keys = negative if amount.sign == "-" else (*keys, *negative)
        offered = [f"-{key}" for key in offered] + (offered if amount.sign == "+-" else [])
    scan.offer(start, end, keys, offered)


def read_measure(value: str, lower: str, end: int) -> tuple[str, ...]:
    """Return a value in the unit of measurement that follows it."""
    found = _MEASURE.match(lower, end)
    return _measured(value, found["unit"] or found["letter"]) if found and value else ()


def _measured(value: str, measure: str) -> tuple[str, ...]:
    """Return a measured value in its own unit and in the smallest unit of its dimension."""
    if not measure or len(value) > _DIGITS_OF_A_MEASURE:
        return ()
    unit = MEASURES[measure]
    smallest = f"{float(Fraction(value) * unit.factor):.10g}"
    celsius = (float(value) - 32) / 1.8 if unit.dimension == "fahrenheit" else None
    rounded = [] if celsius is None else [f"{round(celsius, places):g} \u00b0c" for places in range(3)]
    if unit.dimension == "bytes":  # a kilobyte may have 1,000 bytes or 1,024
        rounded = [f"{float(Fraction(value) * 1024 ** (len(str(unit.factor)) // 3)):.10g} of 1024"]
    return f"{value} {unit.name}", f"{smallest} {unit.dimension}", *rounded


def _same_money(value: str, unit: str, written: str) -> tuple[str, ...]:
    """Return an amount in hundredths of a currency in each currency that they may belong to."""
    if unit in _HUNDREDTHS:
        whole = shift_decimal(value, -2)
        return tuple([f"{whole} {currency}" for currency in _HUNDREDTHS[unit]])
    return _measured(value, "lb") if unit == "gbp" and "pound" in written else ()


def shift_decimal(digits: str, shift: int = 0) -> str:
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


def is_year(digits: str) -> bool:
    """Return whether the digits are a year from 1500 to 2199."""
    return len(digits) == _YEAR_DIGITS and digits.isdigit() and "1500" <= digits <= "2199"


def _orders_the_text(text: str, tokens: list[tuple[int, int, str]], folded: list[str], position: int) -> bool:
    """Return whether an ordinal in words only orders the text and counts nothing."""
    before = folded[position - 1]
    if text[tokens[position][1] : tokens[position][1] + 1] == "," or before in ("a", "another"):
        return True
    if position + 1 < len(folded) and folded[position + 1] in _PLACES_OF_TEXT:
        return True
    return folded[position] == "first" and (
        before in _BEFORE_FIRST or text[tokens[position - 1][1] : tokens[position][0]].startswith(",")
    )


def _is_close(text: str, tokens: list[tuple[int, int, str]], position: int) -> bool:
    """Return whether only a space or hyphen stands before the word."""
    return text[tokens[position - 1][1] : tokens[position][0]] in (" ", "-", "\u00a0")


def _read_number_words(
    text: str, tokens: list[tuple[int, int, str]], folded: list[str], first: int
) -> tuple[str, int, str, int]:
    """Return digits, power of ten and unit of the number that starts at a word, and the position behind it."""

    def word_at(place: int) -> str:
        """Return the word there if it follows the last one closely, else an empty string."""
        return folded[place] if place < len(folded) and (place == first or _is_close(text, tokens, place)) else ""

    total = shift = 0
    current = 1 if folded[first] == "a" else 0
    room = 0 if current else 1000  # what comes next must be smaller
    has_scale = False
    position = first + current
    while word := word_at(position):
        value = NUMBER_WORDS.get(word)
        if word == "and" and has_scale and room >= 100 and shift <= SCALES["thousand"]:
            value = NUMBER_WORDS.get(word_at(position + 1)) or 1000
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
        if name in UNITS:
            return digits, shift, UNITS[name], position + count
    if digits == "1" and not has_scale:
        unit = "pronoun"
    return digits, shift, unit, position


def _is_short_year(lower: str, left: Amount, right: Amount) -> bool:
    """Return whether the second end of a range of years leaves out the century; up to 12 it may be a month."""
    return (
        _is_bare_year(left)
        and not (right.unit or right.shift)
        and right.end - right.start == len(right.digits) == 2
        and right.digits > max(left.digits[2:], "12")
        and lower[left.start - 1 : left.start] not in ("-", "/")
        and lower[right.end : right.end + 1] not in ("-", "/", "\u2013")
    )


def _is_bare_year(amount: Amount) -> bool:
    is_bare = not (amount.unit or amount.shift)
    return is_bare and amount.end - amount.start == _YEAR_DIGITS and is_year(amount.digits)


def _share_unit(left: Amount, right: Amount, *, is_close: bool) -> tuple[Amount, Amount]:
    """Return both ends of a range; an end without a unit or scale takes that of the other end."""
    bare = ("", "word", "pronoun")
    if left.unit in bare and right.unit not in bare:
        if _is_bare_year(left) and len(right.digits.partition(".")[0]) < _YEAR_DIGITS:
            return left, right  # "from 2019 to 5 %" is no range
        left = left._replace(unit=right.unit)
    elif left.is_unit_before and right.unit in bare and (is_close or not _is_bare_year(right)):
        right = right._replace(unit=left.unit)
    if right.measure and not left.measure and left.unit in bare:
        left = left._replace(measure=right.measure)
    is_alike = left.unit == right.unit or (left.unit in bare and right.unit in bare)
    if right.shift and not left.shift and is_alike and not _is_bare_year(left) and _is_less(left.digits, right.digits):
        left = left._replace(shift=right.shift, unit="" if left.unit in bare else left.unit)
    return left, right


def _is_less(left: str, right: str) -> bool:
    """Return whether the first of two unsigned decimal numbers is the smaller one; they may have any length."""
    left_whole, _, left_fraction = left.partition(".")
    right_whole, _, right_fraction = right.partition(".")
    width = max(len(left_whole), len(right_whole))
    return (left_whole.zfill(width), left_fraction) < (right_whole.zfill(width), right_fraction)

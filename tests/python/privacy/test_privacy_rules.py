"""Rules that find personal data: check digits, names, folding, and work that stays linear in the length of a text."""

import importlib
import pkgutil
import re
import time
from re import _constants as constants
from re import _parser as parser
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import hcat.privacy
from hcat.language import given_names
from hcat.privacy.identifiers import has_iban_check, has_luhn_check
from hcat.privacy.names import is_person_name
from hcat.privacy.recognition import find_by_rules
from hcat.privacy.spans import fold_text


def test_luhn_and_iban_checks_agree_with_published_examples() -> None:
    assert has_luhn_check("79927398713")
    assert [digit for digit in range(10) if has_luhn_check(f"7992739871{digit}")] == [3]
    assert has_iban_check("DE89370400440532013000")
    assert has_iban_check("fr1420041010050500013m02606")
    assert not has_iban_check("DE89370400440532013001")
    assert not has_iban_check("")


@given(st.text("0123456789", min_size=11, max_size=18), st.integers(1, 9))
def test_any_changed_digit_breaks_the_luhn_check(body: str, change: int) -> None:
    card = next(body + str(check) for check in range(10) if has_luhn_check(body + str(check)))
    position = change % len(card)
    other = card[:position] + str((int(card[position]) + change) % 10) + card[position + 1 :]
    assert not has_luhn_check(other)


def test_names_made_of_ordinary_words_are_no_persons() -> None:
    assert not is_person_name(["Harbour", "Points"])
    assert not is_person_name(["Clipper", "Gold", "Card"])
    assert not is_person_name(["Unadjusted", "EBITDA"])
    assert is_person_name(["Thelma", "Mitchell"])
    assert is_person_name(["Moira", "McDonald"])


def test_folding_keeps_every_place() -> None:
    text = "\uff14\u0661\u2013\u00a0\u200b\u00e4\U0001f600x"
    folded = fold_text(text)
    assert len(folded) == len(text)
    assert folded[:5] == "41-  "


HOSTILE = {
    "digits": "1",
    "spaced digits": "1 ",
    "dashed": "4111-",
    "letters": "a",
    "capitals": "Ab ",
    "dots": "a.",
    "at signs": "a@a.",
    "spelled at": "a at ",
    "spelled dots": "a dot ",
    "number words": "double ",
    "iban": "GB82 ",
    "cues": "my name is ",
    "accounts": "account number is ",
    "owners": "your balance ",
    "addresses": "12 Main ",
    "streets": "12 Rue de ",
    "lines": "12 High Street\n",
    "suites": "Suite 1 ",
    "corners": "corner of ",
    "lists": "Ann, ",
    "brackets": "(((",
    "military": "USS a ",
    "initials": "A B ",
    "titles": "Mr ",
}


def _expressions() -> dict[str, re.Pattern[str]]:
    names = [module.name for module in pkgutil.iter_modules(hcat.privacy.__path__)]
    modules = [importlib.import_module(f"hcat.privacy.{name}") for name in names]
    return {
        f"{module.__name__}.{name}": value
        for module in (given_names, *modules)
        for name, value in vars(module).items()
        if isinstance(value, re.Pattern)
    }


def _endless_repeats(parsed: Any, depth: int = 0) -> list[str]:
    """Return the repeats without an upper bound that could be tried in more than one way from one start.

    Allowed are an endless run of one character class, and an endless group at the top whose parts are set apart by a
    character that the run inside cannot take ("a-b-c").
    """
    found = []
    for operation, argument in parsed:
        if operation in (constants.MAX_REPEAT, constants.MIN_REPEAT):
            _, high, body = argument
            is_single = len(body) == 1 and body[0][0] in (
                constants.IN,
                constants.LITERAL,
                constants.ANY,
                constants.NOT_LITERAL,
            )
            if high == constants.MAXREPEAT and not is_single and (depth or not _is_apart(body)):
                found.append(str(body))
            found += _endless_repeats(body, depth if is_single or high < constants.MAXREPEAT else depth + 1)
        elif operation is constants.SUBPATTERN:
            found += _endless_repeats(argument[3], depth)
        elif operation is constants.BRANCH:
            found += [repeat for branch in argument[1] for repeat in _endless_repeats(branch, depth)]
    return found


def _is_apart(body: Any) -> bool:
    operation, argument = body[0]
    if operation is constants.SUBPATTERN:
        return _is_apart(argument[3])
    return operation in (constants.LITERAL, constants.IN)


def test_expressions_have_no_endless_nested_repeats() -> None:
    assert _endless_repeats(parser.parse("(?:a+)+b"))
    assert _endless_repeats(parser.parse("(?:(?:a|b)+)+"))
    expressions = _expressions()
    assert len(expressions) > 20
    for name, expression in expressions.items():
        assert not _endless_repeats(parser.parse(expression.pattern, expression.flags & ~re.UNICODE)), name


@pytest.mark.parametrize("kind", sorted(HOSTILE))
def test_work_grows_with_the_length_and_no_faster(kind: str) -> None:
    unit = HOSTILE[kind]

    def measure(characters: int) -> float:
        text = unit * (characters // len(unit)) + "!"
        started = time.process_time()
        spans = find_by_rules(text)
        seconds = time.process_time() - started
        assert all(0 <= span.start < span.end <= len(text) for span in spans)
        return seconds

    measure(1_000)
    short, long = min(measure(2_500) for _ in range(2)), min(measure(20_000) for _ in range(2))
    # linear work takes 8 times as long, quadratic 64; clocks are coarse, so that tiny times are not compared
    assert long < 28 * max(short, 0.004)

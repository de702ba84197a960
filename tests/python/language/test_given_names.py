"""Names of people are replaced by a stand-in, and names of products stay."""

import pytest

from hcat.language.given_names import replace_names


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Dear Zofia, thank you.", "Dear X, thank you."),
        ("The card of Mei-Ling O'Brien's was blocked.", "The card of X's was blocked."),
        ("Your Clipper Gold Card and Harbour Points stay.", "Your Clipper Gold Card and Harbour Points stay."),
        ("The PIN and the BIC are needed on Monday.", "The PIN and the BIC are needed on Monday."),
        ("Thanks to Hamza it works.", "Thanks to X it works."),
        ("nothing is capitalised here, fatima", "nothing is capitalised here, fatima"),
        ("", ""),
    ],
)
def test_names_are_replaced_and_products_stay(text: str, expected: str) -> None:
    assert replace_names(text, "X") == expected

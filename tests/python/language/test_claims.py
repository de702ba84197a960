"""Sentences that claim nothing: forms that are known, and claims that look like them."""

import pytest

from hcat.language.claims import claims_nothing


@pytest.mark.parametrize(
    "sentence",
    [
        "Hello!",
        "Thank you for your question.",
        "Sure, here is a summary of the passage:",
        "Based on the provided passages:",
        "**Opening hours:**",
        "I hope this helps!",
        "Please let me know if you have any questions.",
        "Would you like me to block the card?",
        "---",
        "",
    ],
)
def test_forms_of_politeness_and_headings_claim_nothing(sentence):
    assert claims_nothing(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "Yes.",
        "Of course, the card is free.",
        "Here are 3 fees:",
        "Based on the provided passages, the card is free of any charge for all students:",
        "Thank you: the transfer has arrived.",
        "Feel the quality.",
        "Hello Bank charges no fee.",
    ],
)
def test_what_only_looks_polite_is_a_claim(sentence):
    assert not claims_nothing(sentence)

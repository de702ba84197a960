"""Short answers read with their question."""

import pytest

from hcat.language.ellipsis import read_claim, strip_label


@pytest.mark.parametrize(
    ("sentence", "question", "claim", "is_denied"),
    [
        ("Yes.", "Is it free?", "It is free.", False),
        ("No.", "Can I block the card?", "I can block the card.", True),
        ("No, it does not.", "Does the bank charge a fee?", "The bank charge a fee.", True),
        ("It does not.", "Does the bank charge a fee?", "The bank charge a fee.", True),
        ("False.", "True or false: the notice period is one month.", "The notice period is one month.", True),
        ("Yes.", "What is it?", "Yes.", False),
        ("No. Links cost nothing.", "Is there a fee?", "Links cost nothing.", False),
        ("Twelve euros.", "What does it cost?", "What does it cost? Twelve euros.", False),
        ("B) 12.", "How many? A) 10 B) 12", "How many? 12.", False),
        ("The right answer is B.", "How many? A. 10 B. 12", "How many? 12", False),
        ("Certainly not.", "Is it free? Answer yes or no.", "It is free.", True),
        ("That's right.", "True/False: it is free.", "It is free.", False),
        ("It costs 12 euros.", "What does it cost?", "It costs 12 euros.", False),
        ("", "", "", False),
    ],
)
def test_what_a_short_answer_claims(sentence, question, claim, is_denied):
    assert read_claim(sentence, question)[:2] == (claim, is_denied)


@pytest.mark.parametrize(
    ("sentence", "said"),
    [
        *[("No.", ""), ("Yes, you can.", ""), ("Answer C) three.", "three."), ("No fee is due.", "No fee is due.")],
        *[("Our guide says: no fee is due.", "No fee is due."), ("According to the travel handbook, yes.", "")],
        *[("The policy states that dogs may stay.", "Dogs may stay."), ("Sure, 45 pounds.", "45 pounds.")],
        # what limits the answer is a part of it
        ("Based on the age of the policy, you pay less.", "Based on the age of the policy, you pay less."),
    ],
)
def test_a_label_and_a_bare_polarity_are_no_words_of_the_answer(sentence, said):
    assert strip_label(sentence) == said

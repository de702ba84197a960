"""Overlap of an answer with a reference: BLEU-2, ROUGE-L and exact match."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hcat.metrics.reference import bleu_2, exact_match, rouge_l

ASCII_TEXTS = st.text(alphabet=st.characters(max_codepoint=127), max_size=120)
WORDY_TEXTS = st.lists(st.sampled_from(["bank", "fee", "the", "rate", "5", "card", ",", "."]), max_size=25).map(
    " ".join
)


@settings(deadline=None)
@given(st.one_of(ASCII_TEXTS, WORDY_TEXTS), st.one_of(ASCII_TEXTS, WORDY_TEXTS))
def test_rouge_l_equals_rouge_score(candidate, reference):
    rouge_scorer = pytest.importorskip("rouge_score.rouge_scorer")
    scorer = rouge_scorer.RougeScorer(["rougeL"], use_stemmer=False)
    expected = scorer.score(reference, candidate)["rougeL"].fmeasure
    assert rouge_l(candidate, reference) == pytest.approx(expected, abs=1e-12)


def test_bleu_2_by_hand():
    # four of four unigrams and two of three bigrams match, the lengths are equal
    assert bleu_2("pay the fee monthly", "the fee monthly pay") == pytest.approx((1.0 * 2 / 3) ** 0.5, abs=1e-12)
    assert bleu_2("the fee is five dollars", "the fee is five dollars") == 1.0
    # no bigram matches: smoothing "exp" counts half a match of one bigram
    assert bleu_2("fee monthly", "monthly fee") == pytest.approx((1.0 * 0.5) ** 0.5, abs=1e-12)
    assert bleu_2("", "a fee") == bleu_2("a fee", " ") == 0.0
    assert bleu_2("\u94f6\u884c", "\u94f6\u884c") == 1.0


@pytest.mark.parametrize(
    ("candidate", "reference", "expected"),
    [
        ("The Bank of England.", "bank of england", 1.0),
        ("$1,000.00", "1000 dollars", 1.0),
        ("\u20ac5", "$5", 0.0),
        ("5%", "5 percent", 1.0),
        ("3.5", "35", 0.0),
        ("-5%", "5%", 0.0),
        ("12 March 2024", "2024-03-12", 1.0),
        ("fee", "fees", 0.0),
        ("no fee", "fee", 0.0),
        ("", "the", 1.0),
        ("", "fee", 0.0),
        ("half of it", "50% of it", 1.0),
    ],
)
def test_exact_match(candidate, reference, expected):
    assert exact_match(candidate, reference) == exact_match(reference, candidate) == expected

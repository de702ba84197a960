"""Markup that is blanked: the text keeps its length, and what is said stays."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hcat.language.markup import blank_markup, find_citations
from hcat.language.verbalisation import verbalise_sentences


def read(text: str) -> list[str]:
    return [unit.text for unit in verbalise_sentences(text)]


@pytest.mark.parametrize(
    "marker",
    [
        " [1]", " [1, 2]", "[1-3]", "[^2]", "\u30104:2\u2020source\u3011", " (Document 3)", " (fees.pdf, p. 7)",
        " [Doc 1]", " [S2]", " [[1]](https://a.org/b)", "<sup>1</sup>", " (see page 3)", " [source: fees.pdf]",
        " [cite: 1, 2]", " %[1]%", " *(Source 2)*", " (Source: Fees 2024)", "[^fees]", " [Fee schedule.pdf]",
        " [1]-[3]", " <source>1</source>", " :contentReference[oaicite:3]{index=3}", " (Li et al., 2020)",
        " \u27e62\u27e7", " (Quelle 2, S. 14)", " (fuente 3)", " [Fees, p. 12]", " {{cite:4}}",
    ],
)  # fmt: skip
def test_a_citation_marker_is_no_part_of_its_sentence(marker):
    assert read(f"The fee is 12 euros{marker}. It is due.") == ["The fee is 12 euros.", "It is due."]


@pytest.mark.parametrize(
    "text", ["In [2019] it fell.", "It is in [0, 1].", "It took (12) days.", "It is x < 5 > y.", "Sources: one."]
)
def test_what_only_looks_like_a_marker_stays(text):
    assert read(text) == [text]


def test_html_markdown_and_broken_words_are_read_as_they_are_shown():
    assert read("<ul><li>It is 5&nbsp;000&nbsp;&euro;.</li><li>Free</li></ul>") == ["It is 5\u00a0000 \u20ac.", "Free"]
    assert read("See [our **page**](https://a.org/b).<br/>A docu-\nment") == ["See our page.", "A document"]
    assert read("Answer: three \ufb01les.") == ["three files."]
    assert read("According to Section 4.2, it is free.\nBased on [1], it is due.") == ["It is free.", "It is due."]
    assert read("# Fees\nNone.\n\nBest regards,\nJo Li") == ["Fees:", "None."]
    assert read("**Free**\n\n**Fees**\nNone.\n**It is due**\nCall") == ["Free", "Fees:", "None.", "It is due", "Call"]
    assert read("<cite>The fee is due today</cite><cite>1</cite>.") == ["The fee is due today."]
    table = "<table><tr><th>Room</th><th>Rent</th></tr>\n<tr><td>Attic</td><td>4 euros</td></tr></table>Call."
    assert read(table) == ["Room, Rent.", "Room: Attic; Rent: 4 euros.", "Call."]
    assert read("It is due.\nSources: [1] a.pdf, [2] b.md") == ["It is due."]
    assert read("Free! \u2705\nDue[^1].\n[^1]: Guide\nSources:\n- a.pdf\n- Fees") == ["Free!", "Due."]


@pytest.mark.parametrize(
    "text",
    [
        "According to [1], the fee is due.", "The fee, as stated in [3], is due.", "Per Doc 4: the fee is due.",
        "The fee is due (see 2).", "The fee is due according to [1] and [2].", "Laut [1], the fee is due.",
        "Selon [2], the fee is due.", "Seg\u00fan [1], the fee is due.", "Secondo [1], the fee is due.",
    ],
)  # fmt: skip
def test_a_citation_inside_a_sentence_leaves_it_as_it_would_be_without(text):
    assert read(text) == ["The fee is due."]


@given(st.text(alphabet="<>/ab[]()1,&;*#`-\n\u3010\u3011. ", max_size=60))
def test_blanked_texts_keep_their_length(text):
    assert len(blank_markup(text)) == len(text)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("The fee is due [1, 3-5] (fees.pdf, p. 7).", ["1", "3", "4", "5", "fees.pdf"]),
        ("As Document 2 says, it is due.\u00b9\u00b2", ["12", "2"]),
        ("It is due\u30104:2\u2020source\u3011 <sup>3</sup>.", ["3", "4"]),
        ('It is due<ref id="2"/> [Fee schedule.pdf] (S. 12) (see a.md).', ["2", "a.md", "fee schedule.pdf"]),
        ("Within 14 days (12 euros), step 4, see page 9.", []),
    ],
)
def test_what_the_markers_of_a_sentence_point_to(text, found):
    assert find_citations(text) == found

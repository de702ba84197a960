"""Who rates what in a round: the same whenever it is asked, even, and with the overlap that was asked for."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hcat.review.rounds import assign_interactions, choose_second_looks

IDS = [f"r{number}" for number in range(50)]


@given(st.integers(0, 60), st.lists(st.sampled_from("abcdefgh"), min_size=1, unique=True), st.floats(0, 1))
def test_every_interaction_is_dealt_once_or_to_all(count: int, raters: list[str], overlap: float) -> None:
    ids = [f"r{number}" for number in range(count)]
    dealt = assign_interactions(ids, raters, overlap)
    readers = Counter(each for own in dealt.values() for each in own)
    assert set(readers) == set(ids)
    shared = round(overlap * count)
    if len(raters) > 1:
        assert Counter(readers.values()) == Counter({len(raters): shared, 1: count - shared}) - Counter()
    # nobody gets more than one interaction more than another, and all read in the order of the round
    sizes = [len(own) for own in dealt.values()]
    assert max(sizes) - min(sizes) <= 1
    assert all(own == [each for each in ids if each in own] for own in dealt.values())


def test_the_order_of_names_changes_nothing_and_another_name_does() -> None:
    assert assign_interactions(IDS, ["ben", "anna"], 0.2) == assign_interactions(IDS, ["anna", "ben"], 0.2)
    assert choose_second_looks(IDS, "anna", 0.2) == choose_second_looks(list(reversed(IDS)), "anna", 0.2)
    assert choose_second_looks(IDS, "anna", 0.2) != choose_second_looks(IDS, "ben", 0.2)
    assert len(choose_second_looks(IDS, "anna", 0.1)) == 5


def test_shares_and_names_are_checked() -> None:
    with pytest.raises(ValueError, match=r"overlap must lie in \[0, 1\], got 1.5"):
        assign_interactions(IDS, ["anna"], 1.5)
    with pytest.raises(ValueError, match=r"share of second passes must lie in \[0, 1\], got -1"):
        choose_second_looks(IDS, "anna", -1)
    with pytest.raises(ValueError, match="raters must be names that differ, got anna, anna"):
        assign_interactions(IDS, ["anna", "anna"], 0.2)

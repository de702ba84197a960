"""The rating desk as a file: blind, masked, dealt among raters, and the same bytes whenever it is written."""

from pathlib import Path

import duckdb
import pytest
from desks import make_desk_warehouse, read_block
from hypothesis import given
from hypothesis import strategies as st
from test_sheets import INTERACTIONS

from hcat.explorer.desk import COLUMNS, place_masks, write_desk
from hcat.review.sheets import DESK_COLUMNS, REQUIRED


@pytest.fixture
def warehouse(tmp_path: Path) -> Path:
    return make_desk_warehouse(tmp_path / "warehouse")


def test_a_desk_holds_what_raters_need_and_nothing_that_steers_them(warehouse: Path) -> None:
    path, lines = write_desk(warehouse)
    assert path == warehouse / "desk.html"
    assert lines[1:3] == [("round", "round_1, 4 interactions"), ("criteria", "faithfulness, relevance")]
    data = read_block(path)
    by_query = {item["query"]: item for item in data["items"]}
    # whole texts: a page has no cells that cut them
    assert {
        (item["query"], tuple(text for _, text in item["contexts"] + item["further"]), item["answer"])
        for item in data["items"]
    } == {(query, tuple(contexts), answer) for query, contexts, answer, *_ in INTERACTIONS.values()}
    # of two systems, one retrieves two passages and the other one: a rater sees one of either
    assert by_query["What is the fee?"]["contexts"] == [["Fees", "The fee is 5 euros."]]
    assert (data["count_shown"], {len(item["contexts"]) for item in data["items"]}) == (1, {0, 1})
    assert [point["text"] for point in data["criteria"][0]["points"]] == [f"faithfulness as in {n}" for n in (0, 1, 2)]
    assert set(data["items"][0]) == {"review_id", "interaction_id", "query", "contexts", "further", "answer", "masks"}
    content = path.read_text(encoding="utf-8")
    for cue in ("audit", "targeted", "0.1234567", "0.7654321", "sampling", "probability", "fluency"):
        assert cue not in content
    # the columns that the import asks for, and those of the desk
    assert set(REQUIRED) | set(DESK_COLUMNS) <= set(COLUMNS) == set(data["columns"])


def test_private_data_is_masked_and_places_lead_back(tmp_path: Path) -> None:
    answer = INTERACTIONS["plain"][2]
    warehouse = make_desk_warehouse(tmp_path, {answer: [(0, 1, "[number]")]})
    masked = read_block(write_desk(warehouse)[0])
    item = next(each for each in masked["items"] if each["query"] == "What is the fee?")
    assert (item["answer"], item["masks"]) == ("[number] euros.", [[0, 8, 0, 1]])
    assert '"answer":"5 euros."' not in (tmp_path / "desk.html").read_text(encoding="utf-8")
    open_data = read_block(write_desk(warehouse, is_masked=False)[0])
    assert answer in {each["answer"] for each in open_data["items"]}
    with duckdb.connect(str(tmp_path / "hcat.duckdb")) as connection:
        connection.execute("alter table fct_interactions drop column answer_masks")
    with pytest.raises(ValueError, match="no masks of private data in this build: say --unmasked"):
        write_desk(warehouse)


@given(st.text(max_size=30), st.lists(st.tuples(st.integers(0, 30), st.sampled_from(["[person]", "**"]))))
def test_masks_hide_their_places_and_leave_the_rest(text: str, cuts: list[tuple[int, str]]) -> None:
    edges = sorted({min(place, len(text)) for place, _ in cuts})
    spans = [(start, end, mask) for start, end, (_, mask) in zip(edges[::2], edges[1::2], cuts, strict=False)]
    shown, position = "", 0
    for start, end, mask in spans:
        shown += text[position:start] + mask
        position = end
    back = shown + text[position:]
    places = place_masks(",".join(f"{start} {end} {len(mask)}" for start, end, mask in spans))
    for shown_start, shown_end, start, end in reversed(places):
        back = back[:shown_start] + text[start:end] + back[shown_end:]
    assert back == text
    assert len(places) == len(spans)


def test_answers_that_left_the_logs_are_left_out(warehouse: Path) -> None:
    with duckdb.connect(str(warehouse / "hcat.duckdb")) as connection:
        connection.execute("delete from fct_interactions where interaction_id = 'plain'")
    assert write_desk(warehouse)[1][1] == ("round", "round_1, 3 interactions")
    assert len(read_block(warehouse / "desk.html")["items"]) == 3
    with duckdb.connect(str(warehouse / "hcat.duckdb")) as connection:
        connection.execute("delete from fct_interactions")
    with pytest.raises(ValueError, match="no answer of round round_1 is in the logs of the last build"):
        write_desk(warehouse)


def test_what_cannot_be_written_is_said_in_one_line(warehouse: Path) -> None:
    with pytest.raises(ValueError, match="rater must be one of anna, ben, got cleo"):
        write_desk(warehouse, rater="cleo", raters=("ben", "anna"))
    with pytest.raises(ValueError, match=r"overlap must lie in \[0, 1\], got 2"):
        write_desk(warehouse, raters=("ben", "anna"), overlap=2)

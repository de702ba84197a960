"""Feedback of users: on which scale its values are, decided by the staging model itself."""

import json
from pathlib import Path

import pyarrow as pa

from hcat.engine.staging import Staging, find_seed, read_variables
from hcat.landing.check import RECORDS, check_logs
from hcat.landing.folding import FOLDED

REPOSITORY = Path(__file__).resolve().parents[3]
NO_SCALE = "feedback is neither a word, a thumb (-1, 0, 1) nor stars (1 to 5): 0.7"


def read_ratings(*said: tuple[str, str, str | None, str]) -> list[tuple[int | None, str | None]]:
    """Return point and reject reason of ratings, which are name, value, correction and kind of the rater."""
    staging = Staging(REPOSITORY, read_variables(REPOSITORY, REPOSITORY))
    shared = dict.fromkeys(RECORDS.names) | {"entity": "ratings", "interaction_id": "i1", "criterion": "user_feedback"}
    shared |= {"source_file": "ratings.jsonl", "source_row": 1, "landing_number": 1}
    names = ("rater", "scale_point", "correction", "rater_kind")
    rows = [
        shared | dict(zip(names, each, strict=True)) | {"record_id": f"r{number}", "record_hash": f"h{number}"}
        for number, each in enumerate(said)
    ]
    rows.append(shared | {"entity": "interactions", "record_id": "i", "record_hash": "h", "answer": "Two."})
    staging.add("landed_records", pa.Table.from_pylist(rows, schema=RECORDS))
    staging.add("base_folded_traces", FOLDED.empty_table())
    for seed in ("rating_scales", "raters"):
        staging.add_seed(find_seed(REPOSITORY, seed))
    staging.run("base_ratings")
    found = staging.rows("select scale_point, reject_reason from base_ratings order by record_id")
    return [(row["scale_point"], row["reject_reason"]) for row in found]


def test_all_values_of_one_name_tell_thumbs_from_stars() -> None:
    kind = "user_feedback"
    thumbs = [("thumbs", "1", None, kind), ("thumbs", "-1", "1", kind), ("thumbs", "0", "2", kind)]
    assert read_ratings(*thumbs) == [(2, None), (0, None), (1, None)]
    # without a -1 a 0 is the other thumb
    assert read_ratings(("thumbs", "0", None, kind), ("thumbs", "1", "1", kind)) == [(0, None), (2, None)]
    stars = [("stars", "1", None, kind), ("stars", "5", "1", kind), ("stars", "3", "2", kind)]
    assert read_ratings(*stars) == [(0, None), (2, None), (1, None)]


def test_words_have_one_meaning_and_other_scores_are_rejected() -> None:
    assert read_ratings(("a", "Thumbs up", None, "user_feedback"), ("b", "👎", None, "user_feedback")) == [
        (2, None),
        (0, None),
    ]
    assert read_ratings(("share", "0.7", None, "user_feedback")) == [(None, NO_SCALE)]
    # a person who rates says by which criterion
    ((_, reason),) = read_ratings(("anna", "1", None, "person"))
    assert reason == "criterion user_feedback needs the rater_kind user_feedback: person"


def test_a_score_of_a_span_belongs_to_the_interaction_of_its_trace(tmp_path: Path) -> None:
    recorded = Path(__file__).with_name("recorded") / "phoenix.jsonl"
    spans = [json.loads(line) for line in recorded.read_text().splitlines()]
    inner = next(span["context"]["span_id"] for span in spans if span["parent_id"])
    (tmp_path / "spans.jsonl").write_text("\n".join(json.dumps(span | {"annotations": []}) for span in spans))
    named = {"name": "user_feedback", "annotator_kind": "HUMAN", "result": {"label": "thumbs_up"}}
    notes = [named | {"span_id": span_id} for span_id in (inner, "ffff000000000000")]
    (tmp_path / "annotations.jsonl").write_text("\n".join(map(json.dumps, notes)))
    lines = [line for name, line in check_logs(tmp_path, REPOSITORY).lines if name.strip() in ("ratings", "rejected")]
    assert lines == ["1 of 2 records can be used, 1 rejected", "1: orphan"]

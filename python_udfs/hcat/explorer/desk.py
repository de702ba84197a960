"""The rating desk: one page with one review round, in which raters rate blind and save the sheet for the import."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from hcat.engine.files import write_whole
from hcat.engine.keys import hash_text
from hcat.engine.warehouse import Place, Row, Warehouse, find_folder, open_warehouse
from hcat.explorer.page import assemble_page
from hcat.explorer.tables import show_id
from hcat.review.rounds import CANNOT_JUDGE, assign_interactions, choose_second_looks, find_version, read_round
from hcat.review.sheets import DESK_COLUMNS, REQUIRED, to_cell
from hcat.review.texts import Texts, read_texts

#: Columns of the sheet that the desk saves; `hcat labels import` takes them.
COLUMNS: Final = ("review_id", "review_round", *REQUIRED[1:], "comment", *DESK_COLUMNS)

_LIST_MASKS = """
select interaction_id, answer_masks
from fct_interactions
where list_contains($interaction_ids::varchar[], interaction_id)
"""


def write_desk(
    warehouse: Path | Place,
    review_round: str | None = None,
    output: Path | None = None,
    *,
    rater: str | None = None,
    raters: Sequence[str] = (),
    overlap: float = 0.2,
    second_pass: float = 0.0,
    is_masked: bool = True,
) -> tuple[Path, list[tuple[str, str]]]:
    """Write the rating desk of a review round; return its path, and what to print about it."""
    names = list(raters) or ([rater] if rater else [])
    if rater and rater not in names:
        raise ValueError(f"rater must be one of {', '.join(sorted(names))}, got {rater}")
    with open_warehouse(warehouse) as opened:
        found = read_round(opened, review_round)
        if is_masked and opened.lacks("fct_interactions.answer_masks"):
            raise ValueError("no masks of private data in this build: say --unmasked if raters may read the logs")
        ids = found.interaction_ids()
        logged, count_shown = read_texts(opened, ids, is_masked=is_masked)
        rows = opened.rows(_LIST_MASKS, ("fct_interactions",), interaction_ids=ids) if is_masked else []
    masks = {row["interaction_id"]: place_masks(row["answer_masks"] or "") for row in rows}
    texts = {
        review_id: asdict(logged.get(row["interaction_id"], Texts("", (), "")))
        | {"masks": masks.get(row["interaction_id"], [])}
        for review_id, row in found.drawn.items()
    }
    # a round may be older than the logs at hand
    review_ids = [each for each in found.ordered() if texts[each]["answer"]]
    if not review_ids:
        raise ValueError(f"no answer of round {found.name} is in the logs of the last build")
    dealt = assign_interactions(review_ids, names, overlap) if names else {}
    kept = {name: own for name, own in dealt.items() if rater in (None, name)}
    shown = [each for each in review_ids if not kept or any(each in own for own in kept.values())]
    second = {name: choose_second_looks(own, name, second_pass) for name, own in (kept or {"": review_ids}).items()}
    place = {review_id: index for index, review_id in enumerate(shown)}
    data = {
        "round": found.name,
        # what stored answers belong to: another guideline or another draw begins anew
        "key": hash_text(found.name, *(f"{name} {find_version(points)}" for name, points in found.guidelines.items())),
        "columns": COLUMNS,
        "cannot_judge": CANNOT_JUDGE,
        "is_masked": is_masked,
        "count_shown": count_shown,
        "criteria": [_describe_criterion(name, points) for name, points in found.guidelines.items()],
        "items": [
            {
                "review_id": review_id,
                "interaction_id": to_cell("interaction_id", found.drawn[review_id]["interaction_id"]),
                **texts[review_id],
            }
            for review_id in shown
        ],
        "raters": [
            {"name": name, "first": [place[each] for each in own], "second": [place[each] for each in second[name]]}
            for name, own in (kept or {"": review_ids}).items()
        ],
        "review_round": to_cell("review_round", found.name),
    }
    path = output or find_folder(warehouse) / "desk.html"
    write_whole(path, assemble_page("desk", f"Rating desk, {found.name}", {"desk": data}))
    return path, [
        ("desk", str(path)),
        ("round", f"{found.name}, {len(review_ids)} interactions"),
        ("criteria", ", ".join(found.guidelines)),
        *[
            ("rater", f"{name}: {len(own)} interactions" + f", {len(second[name])} of them twice" * bool(second[name]))
            for name, own in kept.items()
        ],
        ("texts", "private data masked" if is_masked else "unmasked: only for those who may read the logs"),
        ("next", "open it in a browser, rate, save the sheet, then `hcat labels import SHEET --rater-kind person`"),
    ]


def place_masks(masks: str) -> list[tuple[int, int, int, int]]:
    """Return where the masks of a text are: (start, end) as shown and (start, end) as logged."""
    places, shift = [], 0
    for mask in masks.split(",") if masks else ():
        start, end, length = map(int, mask.split())
        places.append((start + shift, start + shift + length, start, end))
        shift += length - (end - start)
    return places


def _describe_criterion(name: str, points: Sequence[Row]) -> dict[str, Any]:
    return {
        "criterion": name,
        "guideline_version": to_cell("guideline_version", find_version(points)),
        "points": [
            {"point": point["scale_point"], "label": point["scale_label"], "text": point["guideline_text"]}
            for point in points
        ],
    }


def describe_review(opened: Warehouse, interaction_ids: Sequence[str]) -> dict[str, Any] | None:
    """Return the last review round for ratings outside of the desk; None in a copy, and in a build without a round."""
    if not opened.rows(
        "select 1 from int_interactions_sampled_for_review limit 1",
        ("int_interactions_sampled_for_review", "rating_scales", "calibration_targets"),
    ):
        return None
    found = read_round(opened, None)
    criteria = [_describe_criterion(name, points) for name, points in found.guidelines.items()]
    # interaction as the page names it -> review_id and interaction_id as cells of the sheet
    drawn = [(row["interaction_id"], review_id) for review_id, row in found.drawn.items()]
    items = {show_id(name): [review_id, to_cell("interaction_id", name)] for name, review_id in sorted(drawn)}
    return {
        "round": found.name,
        "key": hash_text(found.name, *(f"{each['criterion']} {each['guideline_version']}" for each in criteria)),
        "columns": COLUMNS,
        "cannot_judge": CANNOT_JUDGE,
        "criteria": criteria,
        "review_round": to_cell("review_round", found.name),
        "items": items,
        # of the others, the id where the page shows another one
        "ids": {shown: name for name in interaction_ids if (shown := show_id(name)) != name and shown not in items},
    }

"""The explorer of a build: one HTML file beside the report, whose numbers are those of the marts and of the report."""

from pathlib import Path
from typing import Any, Final

import numpy as np

from hcat.engine.files import write_whole
from hcat.engine.warehouse import Place, Warehouse, WarehouseError, check_finished, open_warehouse
from hcat.explorer import data, tables
from hcat.explorer.describing import describe_page
from hcat.explorer.page import assemble_page
from hcat.explorer.reading import Read, read_everything
from hcat.report.application import Statements, read_statements

#: Bytes of the largest file: browsers open it in seconds.
MAXIMUM_BYTES: Final = 30_000_000
#: Interactions whose texts are in the file: at first, and at least.
COUNT_TEXTS: Final = 5_000
LEAST_TEXTS: Final = 500
#: Share of a random sample in what is chosen; the rest are the worst.
SHARE_DRAWN: Final = 0.2
#: Where no file states what no log can tell.
NOTHING_STATED: Final = Statements()
#: Sentences and earlier turns of an interaction.
LIMITS: Final = {"sentences": 200, "turns": 20}


def write_explorer(
    warehouse: Path | Place, output: Path, *, is_unmasked: bool = False, application: Path | None = None
) -> Path:
    """Write the explorer as one HTML file and return its path; `application` states what no log can."""
    statements = read_statements(application)
    with open_warehouse(warehouse) as source:
        check_finished(source)
        page = render_explorer(source, statements, is_unmasked=is_unmasked)
    write_whole(output, page)
    return output


def render_explorer(
    source: Warehouse,
    statements: Statements = NOTHING_STATED,
    *,
    is_unmasked: bool = False,
    maximum_bytes: int = MAXIMUM_BYTES,
) -> str:
    """Return the explorer as HTML text, of at most ``maximum_bytes``; parameters as of :func:`write_explorer`."""
    read = read_everything(source)
    described, fixed = describe_page(source, read, statements, is_unmasked=is_unmasked)
    count_rows = len(read.columns["interaction_id"])
    count_texts = min(count_rows, COUNT_TEXTS)
    while True:
        chosen, blocks = _write_blocks(source, read, count_rows, count_texts, is_unmasked)
        page = assemble_page("explorer", described["title"], {**fixed, **blocks, "page": described | chosen})
        if len(page.encode("utf-8")) <= maximum_bytes:
            return page
        # half the texts, then half the interactions
        if count_texts > LEAST_TEXTS:
            count_texts = max(LEAST_TEXTS, count_texts // 2)
        elif count_rows > LEAST_TEXTS:
            count_rows = max(LEAST_TEXTS, count_rows // 2)
        else:
            raise WarehouseError(
                f"the explorer would be larger than {maximum_bytes / 1e6:g} MB even with {count_rows:,}"
                " interactions: build fewer metrics, or read the marts"
            )


def _write_blocks(
    source: Warehouse, read: Read, count_rows: int, count_texts: int, is_unmasked: bool
) -> tuple[dict[str, Any], dict[str, bytes]]:
    """Return what was chosen, in words of the page, and the blocks that hold it."""
    columns = read.columns
    worst_rows, worst_texts = (count - int(count * SHARE_DRAWN) for count in (count_rows, count_texts))
    rows, drawn = tables.choose_rows(columns["lot"], count_rows, worst_rows)
    ids = [str(name) for name in columns["interaction_id"][rows]]
    with_texts, texts_drawn = tables.choose_rows(columns["lot"][rows], count_texts, worst_texts)
    text_ids = [ids[position] for position in with_texts]
    text_row = np.full(len(rows), -1, dtype=np.int32)
    text_row[with_texts] = np.arange(len(with_texts))
    chunks = tables.Chunks()
    texts = data.read_texts(source, text_ids, is_unmasked=is_unmasked, limits=LIMITS)
    text_block = tables.write_texts(texts, text_ids, chunks)
    count, count_drawn = len(columns["interaction_id"]), int(drawn.sum())
    weight = (count - (len(rows) - count_drawn)) / count_drawn if count_drawn else 1.0
    flags, flag_sets = tables.encode(columns["flags"])
    tags, tag_sets = tables.encode(columns["tags"])
    rankings = [read.rankings.get(name) for name in ids]
    written = {
        "id": [tables.show_id(name) for name in ids],
        "cluster": tables.number(columns["cluster_id"][rows]),
        "query": tables.number(columns["query_key"][rows]),
        "question": tables.number(columns["question_key"][rows]),
        "application": read.applications.codes[rows],
        "version": read.versions.codes[rows],
        "outcome": np.array([data.OUTCOMES.index(word) for word in columns["outcome"][rows]], np.int32),
        "label": np.array([data.LABELS.index(word) for word in columns["label"][rows]], np.int32),
        "verdict": np.array([data.VERDICTS.index(word) for word in columns["verdict"][rows]], np.int32),
        "flags": flags[rows],
        "tags": tags[rows],
        "weight": (np.where(drawn, weight, 1.0) * columns["sampling_weight"][rows].astype(float)).astype(np.float32),
        "uses": columns["uses"][rows].astype(np.int32),
        "text": text_row,
        "grades": ["" if row is None else row["grades"] for row in rankings],
        "missed": np.array([-1 if row is None else row["count_missed"] for row in rankings], np.int32),
        **{f"dimension_{number}": coded.codes[rows] for number, coded in enumerate(read.dimensions.values())},
        **{f"facet_{number}": coded.codes[rows] for number, coded in enumerate(read.facets.values())},
        **tables.tabulate_scores(read.scores, len(read.metric_names), rows),
    }
    chosen = {
        "flagSets": [_split(one) for one in flag_sets],
        "tagSets": [_split(one) for one in tag_sets],
        "sampling": {
            "countAll": count,
            "countRows": len(rows),
            "countDrawn": count_drawn,
            "weight": weight,
            "countTexts": len(text_ids),
            "countTextsDrawn": int(texts_drawn.sum()),
        },
    }
    return chosen, {"rows": tables.write_parquet(written), "texts": text_block, "chunks": chunks.write()}


def _split(joined: str) -> list[str]:
    return [tables.show(one, tables.SHORT_CHARACTERS) for one in joined.split(data.SEPARATOR) if one]

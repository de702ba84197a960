"""Thresholds by method with their error rates, and how often raters failed answers by band of the score."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from hcat.engine.warehouse import Row, Warehouse
from hcat.report import blocks, charts
from hcat.report.blocks import Block, Column
from hcat.report.calibration.figures import MAXIMUM_SCORES, PREFERRED_METRIC, find_score_range
from hcat.report.showing import format_level, format_number, format_percent
from hcat.report.words import WORDS

METHOD_NAMES: Final = WORDS["thresholds"]["method_names"]

SHOWN_NAMES: Final = WORDS["thresholds"]["shown_names"]

LIST_THRESHOLDS: Final = """
select *
from fct_metric_thresholds
where metric_name = $metric_name
order by kind, method, confidence, risk_appetite
"""


def choose_threshold_metric(chosen: Row | None, labelled: Mapping[str, int], names: Sequence[str]) -> str | None:
    """Return the metric whose thresholds are drawn: the calibrated metric, or else the metric with most labels."""
    if chosen is not None:
        return str(chosen["metric_name"])
    with_labels = [name for name in names if labelled.get(name)]
    return min(with_labels, key=lambda name: (-labelled[name], name != PREFERRED_METRIC, name), default=None)


def describe_thresholds(source: Warehouse, metric_name: str | None, metrics: Mapping[str, Row]) -> list[Block | None]:
    """Return score bands and thresholds of a metric with cross-validated error rates, and how other methods compare."""
    none = blocks.absent("No thresholds were fitted. They need labels and rows in the seed risk_appetites.")
    if metric_name is None:
        return [blocks.heading("Thresholds"), none]
    rows = source.rows(LIST_THRESHOLDS, ["fct_metric_thresholds"], metric_name=metric_name)
    order = [*SHOWN_NAMES, *METHOD_NAMES]
    rows.sort(key=lambda row: order.index(row["method"]) if row["method"] in order else len(order))
    return [
        blocks.heading(f"Thresholds of {metric_name}"),
        blocks.query(
            source,
            "list_bands",
            "How often raters failed answers, by band of the score. Bands have about equally many labels. Intervals are"
            " over clusters, each for its own band.",
            metric_name=metric_name,
        ),
        _list_acceptance(rows) or none,
        blocks.fold("How the methods of the literature compare", *_compare_methods(source, rows, metric_name, metrics)),
    ]


def _show_threshold(row: Row) -> Any:
    if row["threshold"] is not None:
        return blocks.lines(format_number(row["threshold"]), blocks.small("in force" if row["is_decided"] else ""))
    reason = WORDS["thresholds"]["threshold_reasons"].get(row["status"], row["status"])
    accepts = f": it would accept {row['accepts']}" if row["accepts"] else ""
    return blocks.small(f"No threshold: {reason}{accepts}.")


def _error(title: str, name: str) -> Column:
    """Return the column of a cross-validated error rate, with its interval, its labels and the tolerated share."""

    def show(row: Row) -> Any:
        rate, tolerated = row[f"{name}_rate"], row[f"{name}_tolerated_share"]
        if rate is None:
            return blocks.small("no such label" if row[f"{name}_status"] == "one_class" else "–")
        within = "" if tolerated is None else f", tolerated {format_level(tolerated)}"
        return blocks.lines(
            blocks.rich(
                "{} {}",
                format_percent(rate),
                blocks.small(blocks.find_interval(row, f"{name}_rate", "share"), "interval"),
            ),
            blocks.small(f"n {row[f'{name}_count_labels']:,}{within}"),
        )

    return Column(title, show)


def _list_acceptance(found: Sequence[Row]) -> Block | None:
    rows = [row for row in found if row["is_shown"] and row["kind"] == "acceptance"]
    if not rows:
        return None
    first, verdicts = rows[0], WORDS["thresholds"]["threshold_verdicts"]
    return blocks.table(
        f"Acceptance thresholds, fitted on {first['count_fit_accepted']:,} accepted and {first['count_fit_failed']:,}"
        f" failed answers of {first['count_fit_clusters']:,} clusters and measured by cross-validation. False accepts:"
        " share of the answers failed by raters that the threshold accepts. False rejects: share of the answers"
        " accepted by raters that it rejects. The verdict is on false accepts; false rejects are the price. Intervals"
        f" are at {format_percent(min(row['interval_level'] for row in rows))}. At one risk appetite, a threshold is"
        " called within tolerance wrongly in at most one case of ten.",
        (
            "method",
            "risk_appetite",
            "confidence",
            Column("Threshold", _show_threshold, ""),
            _error("False accepts", "false_accept"),
            _error("False rejects", "false_reject"),
            Column(
                "Verdict", lambda row: blocks.pill(*verdicts.get(row["verdict"], ("not_evaluated", row["verdict"])))
            ),
        ),
        rows,
        words={"method": SHOWN_NAMES},
    )


def _compare_methods(
    source: Warehouse, rows: Sequence[Row], metric_name: str, metrics: Mapping[str, Row]
) -> list[Block | None]:
    named = {"metric_name": metric_name, "maximum": MAXIMUM_SCORES}
    labelled = blocks.read(source, "sample_labelled", **named)
    behind = blocks.table(
        "All methods, cross-validated. The cost is that of both errors per 100 answers, in false rejects, with what the"
        " risk appetite pays for a false accept. Nobody decides by this table: the best of many rows is partly luck.",
        (
            "method",
            "risk_appetite",
            Column("Threshold", _show_threshold, ""),
            "false_accept_rate=False accepts",
            "false_reject_rate=False rejects",
            Column(
                "Cost of 100 answers",
                lambda row: "–" if row["expected_cost"] is None else format_number(100 * row["expected_cost"]),
            ),
        ),
        rows,
        len(rows),
        words={"method": METHOD_NAMES},
    )
    if not rows or not labelled:
        return [behind]
    counts = {row["human_label"]: row["count_labels"] for row in labelled}
    caption = (
        f"Scores of answers that raters accepted (n {counts.get(1, 0):,}) and failed (n {counts.get(0, 0):,}), each"
        " density scaled to its own peak. Where the densities overlap, every threshold makes errors. Thresholds of the"
        " table that lie far apart mean that the labels do not settle the question. The dashed line is the threshold in"
        " force, where there is one."
    )
    metric = metrics.get(metric_name)
    decided = None if metric is None else metric["threshold"]
    scores = [row["raw_score"] for row in labelled]
    chart = charts.draw_densities(
        [
            (words, [row["raw_score"] for row in labelled if row["human_label"] == label])
            for label, words in ((1, "accepted by raters"), (0, "failed by raters"))
        ],
        decided,
        find_score_range(metric, [*scores, *([] if decided is None else [decided])]),
        f"score of {metric_name}",
        f"Scores of accepted and failed answers of {metric_name} beside its threshold; see the table",
    )
    return [blocks.picture(chart, caption), blocks.fold("Table behind the figure", behind)]

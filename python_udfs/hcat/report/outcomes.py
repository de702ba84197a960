"""Gates, and in the appendix distributions of scores."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final

from hcat.engine.warehouse import Row, Warehouse
from hcat.language.display import clean_label
from hcat.monitoring.words import MEASURED
from hcat.report import blocks, charts
from hcat.report.blocks import Block, Column, Section
from hcat.report.ledger import Build
from hcat.report.showing import SENTENCE_CHARACTERS, distinct_labels, format_number, format_points, to_anchor
from hcat.report.words import QUERIES, WORDS

#: Scores per violin: a seeded hash order chooses them, so that the shape does not depend on the order of rows.
MAXIMUM_VIOLIN_SCORES = 1000
MAXIMUM_VIOLINS = 16

#: Metrics whose distribution is drawn, in order of preference; other primary metrics fill up where these are missing.
VIOLIN_METRICS = (
    "groundedness",
    "groundedness_similarity__mean",
    "support_words",
    "answer_relevancy__mean",
    "semantic_similarity",
)

ADMITTED: Final = WORDS["outcomes"]["admitted"]


def describe_gates(source: Warehouse, run: Row | None) -> dict[str, Any]:
    """Return the gates of the last build; gates that do not pass come first."""
    last = source.rows(
        "select run_id from fct_threshold_gates order by build_number desc limit 1", ["fct_threshold_gates"]
    )
    run_id = run["run_id"] if run else last[0]["run_id"] if last else None
    rows = [] if run_id is None else blocks.read(source, "list_gates", run_id=run_id)
    return {
        "rows": [
            {
                "anchor": to_anchor("gate", row["gate_name"]),
                "formula": find_formula(row),
                "gate_name": clean_label(row["gate_name"]),
                **{name: row[name] for name in ("verdict", "severity", "is_passing", "n", "minimum_n")},
                "reason": clean_label(row["reason"], SENTENCE_CHARACTERS),
                "rationale": clean_label(row["rationale"], SENTENCE_CHARACTERS) if row["rationale"] else "",
            }
            for row in rows
        ],
        "count_passing": sum(1 for row in rows if row["is_passing"]),
        "count_by_verdict": Counter(row["verdict"] for row in rows if not row["is_passing"]),
        "count_all": len(rows),
    }


def find_formula(row: Row) -> str:
    """Return the id of what explains the measurement of a gate: its metric, or the section that measures it."""
    if row["metric_name"]:
        return to_anchor("metric", row["metric_name"])
    explained = WORDS["outcomes"]["explained_in"].items()
    return next((name for start, name in explained if str(row["measurement"]).startswith(start)), "safety")


def show_measured(value: float | None, measurement: str) -> str:
    """Return a measured value: a share in percent, a difference of shares in points, a count without decimals."""
    if measurement.startswith("count") and value is not None and value.is_integer():
        return format_number(int(value))
    unit = MEASURED[measurement].unit if measurement in MEASURED else ""
    if unit == "points":
        return f"{format_points(value)} points"
    return format_number(value, "share" if unit else None)


def show_verdict(verdict: str) -> Any:
    """Return the verdict of a gate in its colour."""
    return blocks.pill(verdict, WORDS["outcomes"]["verdicts"][verdict])


def show_gates(gates: Mapping[str, Any]) -> list[Block | None]:
    """Return the gates that do not pass, and those that pass behind them."""
    if not gates["rows"]:
        return [
            blocks.absent(
                "No gate was evaluated in this build: fct_threshold_gates holds no row of it. A build without gates"
                " proves nothing."
            )
        ]
    failing = [row for row in gates["rows"] if not row["is_passing"]]
    passing = [row for row in gates["rows"] if row["is_passing"]]
    return [
        _list_gates("Gates that do not pass. A gate of severity error stops the publication of the build.", failing),
        blocks.fold(f"Gates that pass ({len(passing)})", _list_gates("", passing))
        if failing
        else _list_gates("Gates that pass.", passing),
    ]


def _list_gates(caption: str, rows: Sequence[Row]) -> Block | None:
    return blocks.table(
        caption,
        (
            Column("Gate", lambda row: blocks.link(row["formula"], blocks.break_name(row["gate_name"])), ""),
            Column("Verdict", lambda row: show_verdict(row["verdict"]), ""),
            Column(
                "What was measured", lambda row: blocks.lines(row["reason"], blocks.small(row["rationale"])), "wide"
            ),
            "severity",
        ),
        rows,
        len(rows),
        anchor=lambda row: row["anchor"],
    )


def describe_outcomes(source: Warehouse, build: Build) -> Section:
    """Return the distributions of scores as violins by topic, one per metric."""
    names = [metric for metric, row in build.primary.items() if row["unit"] != "indicator"]
    shown: list[Block | None] = []
    for metric in sorted(names, key=lambda name: [*VIOLIN_METRICS, name].index(name)):
        if len(shown) == len(VIOLIN_METRICS):
            break
        # the quantiles stand in the marts of cells, but only where the module of distributions is on
        reads = ["fct_marginal_weaknesses", "fct_score_distributions", "fct_evaluations", "fct_interactions"]
        named = {"metric_name": metric, "maximum": MAXIMUM_VIOLIN_SCORES}
        groups = source.rows(QUERIES["describe_distributions"], reads, **named)
        drawn = [group for group in groups if group["scores"]][:MAXIMUM_VIOLINS]
        if not drawn:
            continue
        drawn.sort(key=lambda group: str(group["segment"]))
        labels = distinct_labels([group["segment"] for group in drawn])
        for group in drawn:
            group["name"] = labels[group["segment"]]
        row = build.primary[metric]
        domain = _score_domain(row, [score for group in drawn for score in group["scores"]])
        words = f"Distribution of {metric} by topic: density, points, quartiles, median and number of scores"
        better = "higher is better" if row["direction"] == "higher_is_better" else "lower is better"
        chart = charts.draw_violins(drawn, row["threshold"], domain, f"{row['unit']}, {better}", words)
        left_out = len(groups) - len(drawn)
        more = f" {left_out} more segments are in the warehouse." if left_out else ""
        shown.append(blocks.picture(chart, f"{metric} by topic.{more}"))
    if not shown:
        return blocks.section(blocks.absent("No distribution by topic: no primary metric has scores."))
    explained = (
        "The width shows how many scores lie at a value; dots are every k-th score by rank. The bar spans the middle"
        " half of the scores, the white point is the median, and the dashed line is the decided threshold."
    )
    return blocks.section(*shown, blocks.paragraph(explained, "note"))


def _score_domain(metric: Row, scores: Sequence[float]) -> tuple[float, float]:
    """Return the ends of a score axis: from 0 or below; a metric that ends at 1 shows all of its upper half."""
    ends = [0.0, min(scores), max(scores), *([metric["threshold"]] if metric["threshold"] is not None else [])]
    return min(ends), max([*ends, 1.0] if metric["range_high"] == 1 else ends) or 1.0

"""Conceptual soundness of the metrics: formula, scale, inputs, reference and limits of each."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import yaml

from hcat.engine.warehouse import Row, Warehouse
from hcat.report import blocks
from hcat.report.blocks import Block, Column, Gap, Section
from hcat.report.ledger import Build
from hcat.report.showing import group_by, to_anchor

#: By metric family: what it measures, its formula, what it cannot see, and who proposed it.
FAMILIES: Final = yaml.safe_load(Path(__file__).with_name("families.yml").read_text(encoding="utf-8"))

#: Accuracy of groundedness on public labels, by name of the classifier.
PUBLIC_ACCURACY: Final = json.loads(Path(__file__).with_name("public_accuracy.json").read_text(encoding="utf-8"))


def describe_metrics(source: Warehouse, build: Build) -> Section:
    """Return the catalogue by family, primary metrics first, and the public accuracy."""
    families = sorted(group_by(build.metrics, "family").items())
    if not families:
        return blocks.section(
            gaps=[Gap("The catalogue of metrics: dim_metrics has no row.", "`dbt build` with rows in metric_catalog")]
        )
    return blocks.section(
        _describe_accuracy(build.run),
        blocks.fold(
            "Formula and limits by family, with every metric",
            *(block for family, metrics in families for block in _describe_family(family, metrics)),
            level=3,
        ),
        gaps=_find_gaps(source, build, [family for family, _ in families]),
    )


def _describe_accuracy(run: Row | None) -> Block | None:
    if run is None:
        return None
    accuracy = PUBLIC_ACCURACY.get(run.get("classifier_name") or "")
    if accuracy is None:
        return blocks.paragraph("The accuracy of groundedness on public labels was not measured with this classifier.")
    return blocks.paragraph(
        blocks.rich(
            "<strong>Accuracy on public labels, in other domains.</strong> With this classifier, groundedness ranks"
            " good answers above bad ones with a mean AUROC of {auroc} on {count_sets} public sets that its fusion was"
            " not fitted on ({count:,} answers with labels of people, measured on {measured_on}). Supported words alone"
            " reach {auroc_supported_words}. The hardest set ({worst_set}) has {auroc_worst_set}, and records, tables"
            " and numbers have {auroc_records}. 0.5 is chance. Those answers are none of this application’s: the"
            " figures say nothing about its domain, and labels of its own answers replace them.",
            count=accuracy["count_answers"],
            **accuracy,
        )
    )


def _describe_family(family: str, metrics: Sequence[Row]) -> list[Block | None]:
    known = FAMILIES.get(family)
    titles = {"measures": "Measures", "formula": "Formula", "limits": "Cannot see", "source": "Source"}
    return [
        blocks.heading(family.capitalize(), 4, to_anchor("family", family)),
        blocks.facts([(title, known[part]) for part, title in titles.items()]) if known else None,
        blocks.table(
            "",
            (
                "metric_name",
                "description=What it measures",
                Column("Unit and range", _show_range, ""),
                "direction=Better",
                "requires=Needs",
                "source=Reference",
            ),
            metrics,
            len(metrics),
            words={"direction": {"higher_is_better": "higher", "lower_is_better": "lower"}},
            anchor=lambda row: to_anchor("metric", row["metric_name"]),
        ),
    ]


def _show_range(row: Row) -> str:
    low, high = row["range_low"], row["range_high"]
    start = "−∞" if low is None else f"{low:g}".replace("-", "−")
    return f"{row['unit']}, {start} to {'∞' if high is None else f'{high:g}'}"


def _find_gaps(source: Warehouse, build: Build, families: Sequence[str]) -> list[Gap | bool]:
    unknown = [family for family in families if family not in FAMILIES]
    scored = {
        row["metric_name"]
        for row in source.rows(
            "select distinct metric_name from fct_evaluations where raw_score is not null", ["fct_evaluations"]
        )
    }
    undecided = [name for name, metric in build.primary.items() if metric["threshold"] is None and name in scored]
    return [
        bool(unknown)
        and Gap(
            f"Formula and limits of the metric families {', '.join(unknown)}: the report has no text for them.",
            "the descriptions of their metrics in the catalogue, or an entry in hcat/report/families.yml",
        ),
        bool(undecided)
        and Gap(
            f"Thresholds of {len(undecided)} primary metrics: {', '.join(undecided)}. They have scores but no"
            " failure rate.",
            "rows in the seed threshold_decisions, decided on labels",
        ),
    ]

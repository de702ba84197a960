"""Causes of failures: retrieval or generation, by system and by metric."""

from __future__ import annotations

from hcat.engine.warehouse import Warehouse
from hcat.report import blocks
from hcat.report.blocks import Block
from hcat.report.queries import QUERIES
from hcat.report.showing import MAXIMUM_SYSTEMS


def describe_causes(source: Warehouse) -> tuple[list[Block | None], bool]:
    """Return causes of failures by system, and whether any is known or none was to be found."""
    systems = source.rows(QUERIES["count_retrieval_causes"], ["fct_retrieval_quality"])
    metrics = source.rows(QUERIES["count_failure_causes"], ["fct_failure_causes"])
    # without source chunks, every cause is undetermined
    is_known = any(row["count_retrieval"] or row["count_generation"] for row in metrics)
    if not (systems or is_known):
        return [], not metrics
    return [
        blocks.heading("Causes of failures"),
        blocks.table(
            "If a source chunk was retrieved, generation failed; otherwise retrieval failed.",
            (
                "system",
                "count_interactions=Interactions with known source chunks",
                "count_retrieval=Failing, source chunk not retrieved",
                "count_generation=Failing, source chunk retrieved",
            ),
            systems,
            MAXIMUM_SYSTEMS,
            "systems",
        ),
        blocks.fold(
            "Causes by metric",
            blocks.table(
                "Undetermined: only some source chunks were retrieved, or they are not known.",
                ("metric_name", "count_failing", "count_retrieval", "count_generation", "count_undetermined"),
                metrics if is_known else [],
            ),
        ),
    ], True

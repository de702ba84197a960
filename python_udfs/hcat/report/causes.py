"""Causes of failures: retrieval or generation, by system and by metric."""

from __future__ import annotations

from typing import Final

from hcat.engine.warehouse import Warehouse
from hcat.report import blocks
from hcat.report.blocks import Block
from hcat.report.showing import MAXIMUM_SYSTEMS

COUNT_RETRIEVAL_CAUSES: Final = """
select
    system,
    count(distinct interaction_id) as count_interactions,
    count(distinct interaction_id) filter (where failure_cause = 'retrieval') as count_retrieval,
    count(distinct interaction_id) filter (where failure_cause = 'generation') as count_generation
from fct_retrieval_quality
group by system
order by count_interactions desc, system
"""

COUNT_FAILURE_CAUSES: Final = """
select
    metric_name,
    count(*) as count_failing,
    count(*) filter (where fault = 'retrieval') as count_retrieval,
    count(*) filter (where fault = 'generation') as count_generation,
    count(*) filter (where fault = 'undetermined') as count_undetermined
from fct_failure_causes
group by metric_name
order by count_failing desc, metric_name
"""


def describe_causes(source: Warehouse) -> tuple[list[Block | None], bool]:
    """Return causes of failures by system, and whether any is known or none was to be found."""
    systems = source.rows(COUNT_RETRIEVAL_CAUSES, ["fct_retrieval_quality"])
    metrics = source.rows(COUNT_FAILURE_CAUSES, ["fct_failure_causes"])
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

"""The worst interactions with their text and evidence, so that a reader can judge the answers themselves."""

from __future__ import annotations

from typing import Any

from hcat.engine.warehouse import Row, Warehouse
from hcat.language.display import clean_label, clean_text
from hcat.report.showing import (
    ANSWER_CHARACTERS,
    EXCERPT_CHARACTERS,
    QUERY_CHARACTERS,
    SENTENCE_CHARACTERS,
    format_number,
    group_by,
    to_anchor,
)

#: Interactions that are shown, those of them that are not folded away, and sentences of each.
MAXIMUM_WORST = 15
COUNT_OPEN = 1
MAXIMUM_SENTENCES = 3

#: Metrics whose worst scores are listed: groundedness, numbers, agreement with a reference, words, and refusals.
WORST_METRICS = (
    "groundedness",
    "groundedness_similarity__mean",
    "support_numbers",
    "semantic_similarity",
    "support_words",
    "refusal_as_expected",
)


# Ranked within each metric; one interaction per cluster first, so that variants of one query do not fill the list.
# Perfect scores are left out. Scores of refusals are left out too: they would fill the list with one sentence, and
# refusal_as_expected brings the refusals of queries that should have been answered.
LIST_WORST = """
with ranked as (
    select
        evaluations.interaction_id,
        evaluations.metric_name,
        interactions.cluster_id,
        evaluations.raw_score * case when metrics.direction = 'higher_is_better' then 1 else -1 end as merit,
        list_position($metric_names::varchar[], evaluations.metric_name) as metric_position
    from fct_evaluations as evaluations
    inner join fct_interactions as interactions on evaluations.interaction_id = interactions.interaction_id
    inner join dim_metrics as metrics on evaluations.metric_name = metrics.metric_name
    where
        evaluations.score_status in ('scored', 'truncated')
        and list_contains($metric_names::varchar[], evaluations.metric_name)
        and evaluations.raw_score is distinct from
            case when metrics.direction = 'higher_is_better' then metrics.range_high else metrics.range_low end
),

among_siblings as (
    select
        *,
        row_number() over (partition by metric_name, cluster_id order by merit, interaction_id) as sibling_number
    from ranked
),

numbered as (
    select
        *,
        row_number() over (partition by metric_name order by sibling_number, merit, interaction_id) as metric_rank
    from among_siblings
),

firsts as (
    select interaction_id, metric_name, metric_rank, metric_position
    from numbered
    qualify row_number() over (partition by interaction_id order by metric_rank, metric_position) = 1
)

select
    firsts.metric_name,
    firsts.metric_rank,
    interactions.interaction_id,
    interactions.system,
    interactions.topic,
    interactions.query_type,
    interactions.expected_behaviour,
    left(interactions.query_text, $query_characters) as query_text,
    left(interactions.answer, $answer_characters) as answer,
    left(interactions.reference_answer, $sentence_characters) as reference_answer
from firsts
inner join fct_interactions as interactions on firsts.interaction_id = interactions.interaction_id
order by firsts.metric_rank, firsts.metric_position, firsts.interaction_id
limit $maximum
"""


LIST_SCORES_OF = """
select evaluations.interaction_id, evaluations.metric_name, evaluations.raw_score, evaluations.score_status,
    evaluations.threshold, evaluations.is_failing
from fct_evaluations as evaluations
inner join dim_metrics as metrics on evaluations.metric_name = metrics.metric_name
where
    list_contains($interaction_ids::varchar[], evaluations.interaction_id)
    and (metrics.is_primary or list_contains($metric_names::varchar[], evaluations.metric_name))
    and metrics.unit <> 'indicator'
order by evaluations.interaction_id, metrics.family, evaluations.metric_name
"""


# The least grounded sentence first, then sentences with numbers, names or words that context and query lack.
LIST_EVIDENCE_OF = """
select
    interaction_id,
    left(sentence_text, $characters) as sentence_text,
    left(evidence_text, $characters) as evidence_text,
    left(unsupported, $characters) as unsupported,
    left(contradicted, $characters) as contradicted,
    left(displaced, $characters) as displaced,
    left(case when is_contradicted then contradicting_text end, $characters) as contradicting_text,
    contradiction_probability,
    coalesce(is_flagged, false) as is_flagged,
    coalesce(is_contradicted, false) as is_contradicted,
    evidence_chunk_id,
    evidence_rank,
    similarity,
    is_least_grounded
from fct_sentence_evidence
where
    list_contains($interaction_ids::varchar[], interaction_id)
    and (
        is_least_grounded
        or is_contradicted
        or is_flagged
        or coalesce(unsupported, '') || coalesce(contradicted, '') || coalesce(displaced, '') <> ''
    )
qualify row_number() over (
    partition by interaction_id
    order by
        is_least_grounded desc,
        coalesce(is_contradicted, false) desc,
        coalesce(contradicted, '') <> '' desc,
        coalesce(greatest(number_displacement, entity_displacement), 0) desc,
        coalesce(count_numbers - count_numbers_supported, 0) desc,
        coalesce(count_entities - count_entities_supported, 0) desc,
        coalesce(count_words - count_words_supported, 0) desc,
        sentence_index,
        sentence_id
) <= $maximum
order by interaction_id, is_least_grounded desc, sentence_index, sentence_id
"""


def describe_worst(source: Warehouse) -> dict[str, Any]:
    """Return the lowest scores of :data:`WORST_METRICS` in turn, with scores and evidence of each interaction."""
    needed = ["fct_evaluations", "fct_interactions", "dim_metrics"]
    names = list(WORST_METRICS)
    rows = source.rows(
        LIST_WORST,
        needed,
        metric_names=names,
        maximum=MAXIMUM_WORST,
        # one character more than is shown, so that a cut text is recognised
        query_characters=QUERY_CHARACTERS + 1,
        answer_characters=ANSWER_CHARACTERS + 1,
        sentence_characters=SENTENCE_CHARACTERS + 1,
    )
    keys = [row["interaction_id"] for row in rows]
    scores = group_by(source.rows(LIST_SCORES_OF, needed, interaction_ids=keys, metric_names=names), "interaction_id")
    evidence = group_by(
        source.rows(
            LIST_EVIDENCE_OF,
            ["fct_sentence_evidence"],
            interaction_ids=keys,
            characters=SENTENCE_CHARACTERS + 1,
            maximum=MAXIMUM_SENTENCES,
        ),
        "interaction_id",
    )
    shown = [
        {
            "key": row["interaction_id"],
            "anchor": to_anchor("answer", row["interaction_id"]),
            "interaction_id": clean_label(row["interaction_id"]),
            "why": _explain_listing(row),
            "system": clean_label(row["system"]),
            "topic": clean_label(row["topic"]),
            "query_type": clean_label(row["query_type"]) if row["query_type"] else "",
            "query_text": clean_text(row["query_text"], QUERY_CHARACTERS),
            "answer": clean_text(row["answer"], ANSWER_CHARACTERS),
            "reference_answer": clean_text(row["reference_answer"], SENTENCE_CHARACTERS),
            "scores": [
                {
                    "metric_name": score["metric_name"],
                    "value": format_number(score["raw_score"]),
                    "status": score["score_status"],
                    "threshold": format_number(score["threshold"]),
                    "is_failing": score["is_failing"],
                }
                for score in scores.get(row["interaction_id"], [])
                if score["score_status"] != "missing_input"
            ],
            "evidence": [
                {
                    "sentence_text": clean_text(sentence["sentence_text"], SENTENCE_CHARACTERS),
                    "evidence_text": clean_text(sentence["evidence_text"], SENTENCE_CHARACTERS),
                    "unsupported": clean_text(sentence["unsupported"], EXCERPT_CHARACTERS),
                    "contradicted": clean_text(sentence["contradicted"], EXCERPT_CHARACTERS),
                    "displaced": clean_text(sentence["displaced"], EXCERPT_CHARACTERS),
                    "chunk": clean_label(sentence["evidence_chunk_id"]) if sentence["evidence_chunk_id"] else "",
                    "rank": sentence["evidence_rank"],
                    "similarity": format_number(sentence["similarity"]),
                    "contradicting_text": clean_text(sentence["contradicting_text"], SENTENCE_CHARACTERS),
                    "contradiction": format_number(sentence["contradiction_probability"]),
                    "is_flagged": sentence["is_flagged"],
                    "is_contradicted": sentence["is_contradicted"],
                    "is_least_grounded": sentence["is_least_grounded"],
                }
                for sentence in evidence.get(row["interaction_id"], [])
            ],
        }
        for row in rows
    ]
    named = [name for name in names if any(row["metric_name"] == name for row in rows)]
    return {"rows": shown, "count_open": COUNT_OPEN, "metric_names": named}


def _explain_listing(row: Row) -> str:
    if row["metric_name"] == "refusal_as_expected":
        refused = row["expected_behaviour"] == "answer"
        return "refused but should have answered" if refused else "answered but should have refused"
    return f"{_ordinal(row['metric_rank'])} {row['metric_name']}"


def _ordinal(number: int) -> str:
    suffix = "th" if 10 <= number % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return "lowest" if number == 1 else f"{number}{suffix} lowest"

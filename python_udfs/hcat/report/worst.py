"""The worst interactions with their text and evidence, so that a reader can judge the answers themselves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final
from urllib.parse import quote as quote_url

from hcat.engine.warehouse import Row, Warehouse
from hcat.language.display import clean_label, clean_text
from hcat.report import blocks
from hcat.report.blocks import Block
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
MAXIMUM_WORST: Final = 10
COUNT_OPEN: Final = 1
MAXIMUM_SENTENCES: Final = 3

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


# A repeated error comes first, then the share of turns that fail.
COUNT_CONVERSATIONS: Final = """
select
    count(*) as count_conversations,
    count(*) filter (where count_judged > 0) as count_judged,
    count(*) filter (where count_failing > 0) as count_failing,
    count(*) filter (where is_error_repeated) as count_repeating,
    first(conversation_id order by is_error_repeated desc, share_failing desc, count_failing desc, conversation_key)
        filter (where count_failing > 0) as worst
from fct_conversations
where count_turns > 1
"""


def list_worst(source: Warehouse) -> list[Row]:
    """Return the interactions with the lowest scores of :data:`WORST_METRICS` in turn."""
    return source.rows(
        LIST_WORST,
        ["fct_evaluations", "fct_interactions", "dim_metrics"],
        metric_names=list(WORST_METRICS),
        maximum=MAXIMUM_WORST,
        # one character more than is shown, so that a cut text is recognised
        query_characters=QUERY_CHARACTERS + 1,
        answer_characters=ANSWER_CHARACTERS + 1,
        sentence_characters=SENTENCE_CHARACTERS + 1,
    )


def describe_worst(
    source: Warehouse, rows: Sequence[Row], cells: Mapping[str, Sequence[Any]], explorer: str
) -> list[Block | None]:
    """Return a card for each interaction, which leads to the cells in which it is among the worst."""
    if not rows:
        return [
            blocks.absent(
                "No interaction has a score of groundedness, support or agreement with a reference. These metrics need"
                " retrieved contexts or reference answers."
            )
        ]
    keys = [row["interaction_id"] for row in rows]
    scores = group_by(
        source.rows(
            LIST_SCORES_OF,
            ["fct_evaluations", "fct_interactions", "dim_metrics"],
            interaction_ids=keys,
            metric_names=list(WORST_METRICS),
        ),
        "interaction_id",
    )
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
    cards = [
        _show_card(
            number,
            row,
            scores.get(row["interaction_id"], []),
            evidence.get(row["interaction_id"], []),
            cells.get(row["interaction_id"], ()),
            explorer,
        )
        for number, row in enumerate(rows, start=1)
    ]
    named = [metric for metric in WORST_METRICS if any(row["metric_name"] == metric for row in rows)]
    return [
        blocks.paragraph(
            f"The lowest scores of {', '.join(named)}, in turn; one interaction per cluster comes before others of the"
            " same cluster. A refusal is listed only where an answer was expected. A low score is a reason to read the"
            " answer, not a proof that it is wrong. Longer texts are cut with an ellipsis: queries at"
            f" {QUERY_CHARACTERS} characters, answers at {ANSWER_CHARACTERS}, sentences at {SENTENCE_CHARACTERS}."
            " Control and direction characters are shown as their code points."
        ),
        *cards[:COUNT_OPEN],
        blocks.fold(f"{len(cards) - COUNT_OPEN} more interactions", *cards[COUNT_OPEN:]),
    ]


def _show_card(
    number: int, row: Row, scores: Sequence[Row], evidence: Sequence[Row], cells: Sequence[Any], explorer: str
) -> Block:
    header = [
        blocks.rich("<b>{}. {}</b>", number, explain_listing(row)),
        blocks.code(clean_label(row["interaction_id"])),
        blocks.link(f"{explorer}#/interaction/{quote_url(row['interaction_id'])}", "in the explorer")
        if explorer
        else "",
        clean_label(row["system"]),
        f"topic {clean_label(row['topic'])}",
        clean_label(row["query_type"]) if row["query_type"] else "",
    ]
    reference = clean_text(row["reference_answer"], SENTENCE_CHARACTERS)
    exchange = [
        ("Query", blocks.show_quote(clean_text(row["query_text"], QUERY_CHARACTERS) or "(not logged)")),
        ("Answer", blocks.show_quote(clean_text(row["answer"], ANSWER_CHARACTERS) or "(empty)")),
        *([("Reference", blocks.show_quote(reference))] if reference else []),
    ]
    notes = []
    if not evidence:
        notes.append("No evidence by sentence: the interaction has no retrieved context with text.")
    if cells:
        notes.append(blocks.rich("Among the worst answers of {}.", blocks.spaced(cells, ", ")))
    return blocks.card(
        [part for part in header if part],
        [exchange, *(_show_evidence(sentence) for sentence in evidence)],
        anchor=to_anchor("answer", row["interaction_id"]),
        note=blocks.spaced(notes, " "),
        chips=[
            (score["is_failing"], _show_score(score)) for score in scores if score["score_status"] != "missing_input"
        ],
    )


def _show_score(score: Row) -> Any:
    value = str(score["score_status"]).replace("_", " ")
    if score["raw_score"] is not None:
        value = format_number(score["raw_score"])
    verdict = ""
    if score["is_failing"] is not None:
        verdict = f"{'fails' if score['is_failing'] else 'passes'} {format_number(score['threshold'])}"
    return blocks.rich("{} <b>{}</b> {}", score["metric_name"], value, verdict)


def _show_evidence(sentence: Row) -> list[tuple[str, Any]]:
    """Return what stands in the evidence of one sentence, by name."""
    text = blocks.show_quote(clean_text(sentence["sentence_text"], SENTENCE_CHARACTERS))
    for mark, field in (("unsupported", "is_flagged"), ("contradicted", "is_contradicted")):
        if sentence[field]:
            text = blocks.rich('{} <span class="mark {}">{}</span>', text, mark, mark)
    shown = [("Weakest sentence" if sentence["is_least_grounded"] else "Sentence with unsupported parts", text)]
    best = clean_text(sentence["evidence_text"], SENTENCE_CHARACTERS)
    against = clean_text(sentence["contradicting_text"], SENTENCE_CHARACTERS)
    if sentence["is_contradicted"] and against != best:
        shown.append(("Contradicting evidence", blocks.show_quote(against)))
    rank = sentence["evidence_rank"]
    where = [f"similarity {format_number(sentence['similarity'])}"]
    if sentence["is_contradicted"]:
        where.insert(0, f"contradiction {format_number(sentence['contradiction_probability'])}")
    is_turn = rank is not None and rank < 0
    where.append(f"said by the user {-rank} turns earlier" if is_turn else f"retrieved at rank {rank}")
    if sentence["evidence_chunk_id"]:
        where.append(f"chunk {clean_label(sentence['evidence_chunk_id'])}")
    shown.append(("Best evidence", blocks.rich("{}<br>{}", blocks.show_quote(best), blocks.small(", ".join(where)))))
    for title, field in (
        ("Unsupported", "unsupported"),
        ("Out of place", "displaced"),
        ("Contradicted by a record", "contradicted"),
    ):
        found = clean_text(sentence[field], EXCERPT_CHARACTERS)
        if found:
            shown.append((title, blocks.show_quote(found, "unsupported quote")))
        elif field == "unsupported":
            shown.append((title, blocks.small("context or query contain every word, number and name")))
    return shown


def explain_listing(row: Row) -> str:
    """Return why an interaction is listed."""
    if row["metric_name"] == "refusal_as_expected":
        refused = row["expected_behaviour"] == "answer"
        return "refused but should have answered" if refused else "answered but should have refused"
    return f"{_ordinal(row['metric_rank'])} {row['metric_name']}"


def _ordinal(number: int) -> str:
    suffix = "th" if 10 <= number % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return "lowest" if number == 1 else f"{number}{suffix} lowest"


def describe_conversations(source: Warehouse) -> list[Block]:
    """Return how many conversations fail and where; nothing without a conversation of at least two turns."""
    counts = next(iter(source.rows(COUNT_CONVERSATIONS, ["fct_conversations"])), None)
    if counts is None or not counts["count_conversations"]:
        return []
    told = (
        f"{counts['count_conversations']:,} conversations have more than one turn. Of {counts['count_judged']:,} with a"
        f" verdict, {counts['count_failing']:,} have a turn that fails a threshold in force. In"
        f" {counts['count_repeating']:,} a later turn repeats a sentence that no evidence supports. The one that fails"
        f" most is {clean_label(counts['worst']) if counts['worst'] else 'none'}; fct_conversations lists all."
    )
    return [blocks.heading("Conversations"), blocks.paragraph(told)]

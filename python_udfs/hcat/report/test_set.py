"""The test set: topics, sampling and queries made from documents, and queries with true answers from tables."""

from typing import Final

from hcat.engine.warehouse import Row, Warehouse
from hcat.report import blocks
from hcat.report.blocks import Block
from hcat.report.showing import format_number, format_percent, ratio
from hcat.report.words import WORDS


def describe_test_set(source: Warehouse) -> list[Block]:
    """Return how the test set was made; nothing where this warehouse has no test set."""
    if not source.has("dim_topics", "fct_test_queries"):
        return []
    topics = source.rows(
        "select topic_id, topic_name, count_chunks, is_noise from dim_topics where count_chunks > 0", ["dim_topics"]
    )
    if not topics:
        return []
    told = (
        f"{sum(not row['is_noise'] for row in topics):,} topics hold {sum(row['count_chunks'] for row in topics):,}"
        " chunks of the knowledge base; dim_topics lists them, and fct_chunk_topics has their places in two dimensions."
    )
    return blocks.keep(
        (
            blocks.heading("Test set made from the documents"),
            blocks.paragraph(told),
            *(blocks.paragraph(sentence, "note") for sentence in _list_sentences(source)),
        )
    )


def _list_sentences(source: Warehouse) -> list[str]:
    """Return what was drawn, and how stable the topics are."""
    drawn = [
        f"All {row['count_chunks']:,} chunks were taken. Nothing was drawn: every weight is 1, without sampling error."
        if row["is_whole"]
        else f"{row['count_sampled']:,} of {row['count_chunks']:,} chunks drawn from {row['count_strata']:,} strata,"
        f" and {row['count_accepted']:,} queries were accepted (fct_sampling_strata)."
        for row in blocks.read(source, "count_drawn")
    ]
    stability = [
        f"Stability (other {'seeds' if row['variation'] == 'seed' else 'samples of the texts'}): adjusted Rand index"
        f" {format_number(row['mean_adjusted_rand'])} on average and at least"
        f" {format_number(row['minimum_adjusted_rand'])}, over {row['count_pairs']:,} pairs of fits of"
        f" {row['count_texts']:,} texts ({blocks.say(row['method'])}, {blocks.say(row['reduction'])}); silhouette"
        f" coefficient {format_number(row['silhouette'])}."
        for row in blocks.read(source, "list_stability")
    ]
    return drawn + stability


CRITERIA: Final = WORDS["grammar"]["criteria"]


def describe_grammar(source: Warehouse) -> list[Block]:
    """Return templates, criteria and queries made from tables; nothing where this warehouse made none."""
    made = blocks.read(source, "count_templates")
    if not made:
        return []
    return blocks.keep(
        (
            blocks.heading("Queries with true answers from tables (GRAMMAR)"),
            blocks.paragraph(_tell_what_was_made(source, made[0])),
            blocks.fold(
                "Criteria of the templates",
                blocks.query(
                    source,
                    "count_criteria",
                    "Criteria of an SQL template (GRAMMAR, Table 4; the first two are hcat's), checked for every"
                    " template, whoever wrote it. Undecided: an earlier criterion is broken, or only the result of the"
                    " query can decide.",
                    words={"criterion": CRITERIA},
                    criteria=list(CRITERIA),
                ),
            ),
        )
    )


def _tell_what_was_made(source: Warehouse, made: Row) -> str:
    reasons = ", ".join(
        f"{row['count_rejected']:,} ({WORDS['grammar']['reasons'].get(row['reason'], row['reason'])})"
        for row in blocks.read(source, "count_rejected")
    )
    texts = " to ".join(map(str, sorted({made["fewest_texts"], made["most_texts"]})))
    told = (
        f"{made['count_templates']:,} SQL templates with {texts} texts each and {made['count_groups']:,} facts give"
        f" {made['count_queries']:,} queries. SQL computes their true answers. Of {made['count_possible']:,}"
        f" combinations of values, {made['count_fillings']:,} were drawn by a seeded hash and run;"
        f" {f'left out: {reasons}' if reasons else 'each has a single answer'}."
    )
    for row in blocks.read(source, "count_answered"):
        share = format_percent(ratio(row["count_answered"], made["count_queries"]))
        told += f" Of these queries, {row['count_answered']:,} ({share}) were answered in the logs of this build."
    return f"{told} fct_grammar_templates and fct_grammar_texts list each template with its author and its reason."

"""The first page: may each application go live, why, and which answers to read first, with their evidence."""

from collections.abc import Sequence
from typing import Any, Final
from urllib.parse import quote as quote_url

from hcat.engine.warehouse import Row, Warehouse
from hcat.language.display import clean_label, clean_text
from hcat.monitoring.decisions import DECISION_CHARACTERS, read_decisions, say_decision
from hcat.report import blocks
from hcat.report.blocks import Block, Column, Section
from hcat.report.showing import (
    ANSWER_CHARACTERS,
    EXCERPT_CHARACTERS,
    QUERY_CHARACTERS,
    SENTENCE_CHARACTERS,
    format_number,
    group_by,
    to_anchor,
)
from hcat.report.words import WORDS

STATES: Final = WORDS["decision"]["states"]


def describe_decisions(source: Warehouse) -> list[dict[str, Any]]:
    """Return the first lines of each application, cleaned, with the state of its decision."""
    return [
        {
            "state": STATES[row["decision"]][0],
            "word": STATES[row["decision"]][1],
            "is_rated": bool(row["count_labels_by_people"] or row["count_labels_by_language_models"]),
            "lines": [clean_label(line, DECISION_CHARACTERS) for line in say_decision(source, row)],
        }
        for row in read_decisions(source)
    ]


def list_to_read(source: Warehouse) -> list[Row]:
    """Return the answers to read first, one of each question."""
    shown = {"query": QUERY_CHARACTERS, "answer": ANSWER_CHARACTERS, "sentence": SENTENCE_CHARACTERS}
    # one character more than is shown, so that a cut text is recognised
    return blocks.read(source, "list_to_read", **{f"{name}_characters": count + 1 for name, count in shown.items()})


def describe_reading(source: Warehouse, rows: Sequence[Row], explorer: str) -> Section:
    """Return the answers to read first as a list, with the evidence of each behind it."""
    listed = blocks.table(
        "The candidate's answers that look most wrong to a program, one of each question: texts support them little, or"
        " have a number or name in another place. No person rated them, and some are right.",
        (
            "reading_rank=No.",
            Column("Question and answer", _show_exchange, "wide"),
            Column("Verdict", lambda row: str(row["verdict"]).replace("_", " "), ""),
            Column("Why", lambda row: clean_text(row["reason"], EXCERPT_CHARACTERS), "wide"),
            Column("Score", lambda row: format_number(row["raw_score"])),
        ),
        rows,
    )
    shown: list[Block | None] = [listed or blocks.absent("No answer of the candidate has a score to order it by.")]
    if rows:
        keys = [row["interaction_id"] for row in rows]
        limits = {"characters": SENTENCE_CHARACTERS + 1, "maximum": 3}
        found = blocks.read(source, "list_evidence_of", interaction_ids=keys, **limits)
        evidence = group_by(found, "interaction_id")
        cards = [_show_card(row, evidence.get(row["interaction_id"], []), explorer) for row in rows]
        shown.append(blocks.fold("The same answers with their evidence", *cards))
    return blocks.section(*shown)


def _show_exchange(row: Row) -> Any:
    query = clean_text(row["query_text"], EXCERPT_CHARACTERS) or "(not logged)"
    equal = f"asked {row['count_equal']:,} times" if row["count_equal"] > 1 else ""
    return blocks.lines(
        blocks.rich("<b>{}</b>", query),
        clean_text(row["answer"], EXCERPT_CHARACTERS) or "(empty)",
        blocks.small(blocks.link(to_anchor("answer", row["interaction_id"]), clean_label(row["interaction_id"]))),
        blocks.small(equal),
    )


def _show_card(row: Row, evidence: Sequence[Row], explorer: str) -> Block:
    header = [
        blocks.rich("<b>{}. {}</b>", row["reading_rank"], str(row["verdict"]).replace("_", " ")),
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
    return blocks.card(
        [part for part in header if part],
        [exchange, *(_show_evidence(sentence) for sentence in evidence)],
        anchor=to_anchor("answer", row["interaction_id"]),
        note="" if evidence else "No evidence by sentence: the interaction has no retrieved context with text.",
    )


def _show_evidence(sentence: Row) -> list[tuple[str, Any]]:
    """Return what stands in the evidence of one sentence, by name."""
    text = blocks.show_quote(clean_text(sentence["sentence_text"], SENTENCE_CHARACTERS))
    for mark, field in (("unsupported", "is_flagged"), ("contradicted", "is_contradicted")):
        if sentence[field]:
            text = blocks.rich('{} <span class="mark {}">{}</span>', text, mark, mark)
    shown = [("Weakest sentence" if sentence["is_least_grounded"] else "Sentence with unsupported parts", text)]
    best = clean_text(sentence["evidence_text"], SENTENCE_CHARACTERS)
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


def describe_conversations(source: Warehouse) -> list[Block]:
    """Return how many conversations fail and where; nothing without a conversation of at least two turns."""
    counts = next(iter(blocks.read(source, "count_conversations")), None)
    if counts is None or not counts["count_conversations"]:
        return []
    told = (
        f"{counts['count_conversations']:,} conversations have more than one turn. Of {counts['count_judged']:,} with a"
        f" verdict, {counts['count_failing']:,} have a turn that fails. In"
        f" {counts['count_repeating']:,} of them a later turn repeats an unsupported sentence. The one that fails"
        f" most is {clean_label(counts['worst']) if counts['worst'] else 'none'}; fct_conversations lists all."
    )
    return [blocks.heading("Conversations"), blocks.paragraph(told)]

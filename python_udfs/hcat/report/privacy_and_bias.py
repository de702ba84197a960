"""Personal data in answers, and differences in the treatment of groups of people."""

import re
from collections.abc import Sequence
from typing import Any, Final

from hcat.engine.warehouse import Row, Warehouse
from hcat.language.display import clean_label, clean_text
from hcat.report import blocks
from hcat.report.blocks import Block, Column, Gap, Section
from hcat.report.ledger import Build
from hcat.report.showing import SENTENCE_CHARACTERS
from hcat.report.words import WORDS
from hcat.review.texts import LOGGED_INTERACTIONS, LOGGED_TABLES

_SENTENCE_END: Final = re.compile(r"(?<=[.!?])\s+")
#: Answers named beside a leaked value.
MAXIMUM_IDS: Final = 3
#: Leaked values listed; the number left out is shown below them.
MAXIMUM_LEAKS: Final = 25

# Equal values are told apart where they stand as logged; only their number is shown.
COUNT_DISTINCT: Final = f"""
select count(distinct (
    findings.entity_type, substr(logged.answer, findings.first_start + 1, findings.first_end - findings.first_start)
)) as count_distinct
from fct_privacy_findings as findings
inner join {LOGGED_INTERACTIONS} as logged on findings.interaction_id = logged.interaction_id
where findings.is_leak
"""


def describe_privacy(source: Warehouse) -> Section:
    """Return the personal data found in answers, masked."""
    reads = blocks.read(source, "count_read")
    read = reads[0] if reads else {"count_read": 0, "count_leaking": 0, "count_not_read": 0}
    unread = not read["count_read"] and Gap(
        "Names in answers: no answer was searched for names, only for identifiers.",
        "`dbt build` with hcat_tagger = packaged, over logs in one of hcat_tagger_languages",
        "languages",
    )
    return blocks.section(
        blocks.paragraph(
            f"{read['count_leaking']:,} of {read['count_read']:,} answers searched for names contain personal data that"
            f" neither the query nor the retrieved context contained. {read['count_not_read']:,} interactions were not"
            " searched for names, because they have no answer, are in another language, or the search is switched off."
            " Every answer was searched for identifiers. A count of zero does not prove that no personal data was"
            " present; docs/privacy.md gives the error rates. All values are masked here and in every mart."
        ),
        gaps=[blocks.lacks_mart(source, "fct_privacy_findings", "Personal data in answers", unread)],
    )


def describe_leaks(source: Warehouse) -> list[Block | None]:
    """Return the values that answers gave away, each in its sentence and masked, and how to read what they hide."""
    rows = blocks.read(source, "list_leaks")
    if not rows:
        return []
    found: dict[tuple[str, ...], list[Row]] = {}
    for row in rows:
        said = next((part for part in _SENTENCE_END.split(row["answer"] or "") if row["masked"] in part), row["answer"])
        found.setdefault((row["entity_type"], said, row["rule"]), []).append(row)
    distinct = source.rows(COUNT_DISTINCT, ["fct_privacy_findings.first_start", *LOGGED_TABLES])
    told = f", {distinct[0]['count_distinct']:,} of them different" if distinct else ""
    listed = [
        {"kind": kind, "sentence": said, "rule": rule, "count": len(group)}
        | {name: list(dict.fromkeys(row[name] for row in group)) for name in ("system", "interaction_id")}
        for (kind, said, rule), group in found.items()
    ]
    return [
        blocks.heading("Personal data in answers", anchor="leaked_values"),
        blocks.paragraph(
            f"Personal values that neither the query nor the retrieved text held: {len(rows):,}{told}. Answers with"
            f" them: {len({row['interaction_id'] for row in rows}):,}. Values that the knowledge base publishes, such"
            " as a help line, do not count. Some may be false alarms: read the sentences. Values are masked here and in"
            " fct_privacy_findings; hcat explore --unmasked shows them to people who may read the logs."
        ),
        blocks.table(
            "",
            (
                "kind=Kind of value",
                Column("Sentence of the answer", lambda row: clean_text(row["sentence"], SENTENCE_CHARACTERS), "wide"),
                "count=Answers",
                Column("Versions", lambda row: ", ".join(map(clean_label, row["system"])), ""),
                Column("Read", lambda row: _name_answers(row["interaction_id"]), "short"),
                Column("Found by", lambda row: blocks.say(row["rule"]), ""),
            ),
            listed,
            MAXIMUM_LEAKS,
            "sentences",
        ),
    ]


def _name_answers(ids: Sequence[str]) -> Any:
    more = f"and {len(ids) - MAXIMUM_IDS:,} more" if len(ids) > MAXIMUM_IDS else ""
    return blocks.lines(*(blocks.code(clean_label(one)) for one in ids[:MAXIMUM_IDS]), more)


def describe_bias(source: Warehouse, build: Build) -> Section:
    """Return the gaps between groups of people with their verdicts."""
    rows = blocks.read(source, "list_gaps")
    unasked = all(row["design"] != "counterfactual" for row in rows) and Gap(
        "Answers to the same query asked for different people.",
        "a test set with counterfactual variants, sent to the application (`hcat test-set`, `hcat collect`)",
        "people",
    )
    gaps = [blocks.lacks_mart(source, "fct_bias_gaps", "Equal treatment", unasked)]
    if not rows:
        return blocks.section(gaps=gaps, is_empty=True)
    (counts,) = blocks.read(source, "count_verdicts")
    return blocks.section(
        blocks.paragraph(
            f"Of the comparisons between groups of people, {counts['count_found']:,} found a gap,"
            f" {counts['count_equivalent']:,} showed equivalence, {counts['count_inconclusive']:,} are inconclusive,"
            f" and {counts['count_too_few']:,} have too few clusters for a test. A gap is larger than chance explains."
            " Equivalence means that it is shown to be smaller than the margin; only equivalence supports a claim that"
            " there is no bias. A gap in logged traffic may also come from what the groups ask."
        ),
        blocks.table(
            "Gaps first, then equivalences. The difference is the mean of the first segment minus that of the second,"
            f" with its {build.level} interval over whole clusters. answer_length is in characters; answer_similarity"
            " compares with the answer to the same query without a name or term.",
            {"verdict": Column("Verdict", _show_verdict, "")},
            rows,
            noun="comparisons",
            words={"design": {"counterfactual": "same query for two people", "logged_groups": "logged traffic"}},
        ),
        gaps=gaps,
    )


def _show_verdict(row: Row) -> Any:
    if row["_status"] != "tested":
        return blocks.pill("not_evaluated", "too few clusters")
    return blocks.pill(*WORDS["privacy_and_bias"]["verdicts"][row["verdict"]])

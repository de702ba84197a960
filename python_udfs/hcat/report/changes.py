"""Changes since the report that was signed last: what the history of the warehouse says of both builds."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from hcat.engine.warehouse import Row, Warehouse
from hcat.language.display import clean_label, clean_text
from hcat.report import blocks
from hcat.report.blocks import Block, Column, Section
from hcat.report.ledger import Build, describe_verdict
from hcat.report.outcomes import describe_gates, show_measured
from hcat.report.showing import (
    EXCERPT_CHARACTERS,
    describe_segment,
    format_interval,
    format_number,
    format_time,
    read_json,
    to_anchor,
)
from hcat.report.signing import DECISIONS, SEED
from hcat.report.weaknesses import IDENTIFIER_CHARACTERS
from hcat.report.words import QUERIES, WORDS


def describe_changes(source: Warehouse, build: Build) -> dict[str, Any]:
    """Return the signatures of this build, and what changed since the last signed build before it."""
    # two signatures of one second keep the order of their ids
    sign_offs = source.rows("select * from sign_offs order by signed_at desc, sign_off_id", ["sign_offs"])
    now = build.run
    run_id = now["run_id"] if now else None
    earlier = [row for row in sign_offs if row["run_id"] != run_id]
    # the last signature whose build is here and older; one of a build that is not here can only be named
    older = {run["run_id"]: run for run in build.runs if now and run["build_number"] < now["build_number"]}
    known = next((row for row in earlier if row["run_id"] in older), None)
    return {
        "run_id": clean_label(run_id) if run_id else "",
        "own": [_show_signature(row) for row in sign_offs if row["run_id"] == run_id],
        "unknown": _show_signature(earlier[0]) if earlier and known is None else None,
        "signed": None if now is None or known is None else _compare(source, now, older[known["run_id"]], earlier),
    }


def _show_signature(row: Row) -> Row:
    return {
        "signed_by": clean_label(row["signed_by"]),
        "role": clean_label(row["role"]),
        "decision": DECISIONS.get(row["decision"], clean_label(row["decision"])),
        "signed_at": format_time(row["signed_at"]),
        "note": clean_text(row["note"], EXCERPT_CHARACTERS),
        "run_id": clean_label(row["run_id"]),
    }


def _compare(source: Warehouse, now: Row, before: Row, sign_offs: Sequence[Row]) -> dict[str, Any]:
    both = {"signed_run": before["run_id"], "run": now["run_id"]}
    gates = blocks.read(source, "compare_gates", **both)
    verdicts = [describe_verdict(run, describe_gates(source, run)) for run in (before, now)]
    metrics = blocks.read(source, "compare_thresholds", **both)
    seeds = before.get("seed_checksums")
    # what the signed build did not keep, so that nothing is said of it
    kept = {
        "main figures and thresholds": bool(metrics),
        "seeds": seeds is not None,
        "labels": before.get("count_labelled") is not None,
        "times of confirmation": source.has("fct_findings.confirmed_build_number"),
    }
    compared = {
        "signatures": [_show_signature(row) for row in sign_offs if row["run_id"] == before["run_id"]],
        "run_id": clean_label(before["run_id"]),
        "started_at": format_time(before["started_at"]),
        "verdicts": [f"{verdict['word']}. {verdict['text']}" for verdict in verdicts],
        "gates": gates,
        "findings": {
            words: source.rows(
                QUERIES["changes_list_findings"].format(event=event),
                ["fct_findings", f"fct_findings.{event}"],
                signed=before["build_number"],
                built=now["build_number"],
            )
            for event, words in WORDS["changes"]["events"].items()
        },
        "thresholds": [row for row in metrics if row["is_decided_anew"]],
        "moved": [
            row | {when: _show_figure(row[when]) for when in ("before", "after")}
            for row in blocks.read(source, "list_moved_figures", **both)
        ],
        "versions": [
            {"what": words, "before": _show(before.get(name)), "after": _show(now.get(name))}
            for name, words in WORDS["changes"]["versions"].items()
            if before.get(name) != now.get(name) and before.get(name) is not None
        ],
        "libraries": _compare_texts(read_json(before["library_versions"]), read_json(now["library_versions"])),
        "settings": _compare_texts(read_json(before["settings"]), read_json(now["settings"])),
        # a signature decides nothing that the build reads
        "seeds": [
            row["what"]
            for row in _compare_texts(read_json(seeds), read_json(now["seed_checksums"]))
            if seeds is not None and row["what"] != SEED.stem
        ],
        "counts": [
            f"{words}: {format_number(before.get(name))} → {format_number(now.get(name))}"
            for name, words in WORDS["changes"]["counts"].items()
            if now.get(name) is not None
        ],
        "is_same_input": before["input_hash"] == now["input_hash"],
        "not_kept": [words for words, is_kept in kept.items() if not is_kept],
    }
    return compared | {"summary": _summarise(compared)}


def _show_figure(one: Row) -> str:
    unit = "share" if one["figure"] == "share failing" else None
    interval = format_interval(one["lower_bound"], one["upper_bound"], unit)
    return f"{format_number(one['value'], unit)} {interval}, n = {one['count_scored']:,}"


def _compare_texts(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[Row]:
    """Return what differs between two sets of named values."""
    return [
        {
            "what": clean_label(name),
            **{
                when: clean_label(json.dumps(values[name])) if name in values else "not there"
                for when, values in (("before", before), ("after", after))
            },
        }
        for name in sorted(before.keys() | after.keys())
        if before.get(name) != after.get(name)
    ]


def _show(value: Any) -> str:
    return "–" if value is None else clean_label(value, 20)


def _summarise(compared: Mapping[str, Any]) -> str:
    """Return one sentence for the first page."""
    same = compared["verdicts"][0] == compared["verdicts"][1]
    parts = ["the verdict is the same" if same else "the verdict changed"]
    parts += [
        f"{count:,} {words[count != 1]} {rest}"
        for count, words, rest in (
            (len(compared["gates"]), ("gate", "gates"), "changed"),
            *((len(rows), ("finding", "findings"), event) for event, rows in compared["findings"].items()),
            (len(compared["thresholds"]), ("threshold", "thresholds"), "decided anew"),
            (
                len({row["metric_name"] for row in compared["moved"]}),
                ("metric", "metrics"),
                "moved beyond the interval",
            ),
        )
        if count
    ]
    return "; ".join(parts) + "."


def show_changes(changes: Mapping[str, Any], level: str) -> Section:
    """Return the section: who signed what, and what changed since."""
    signed, unknown = changes["signed"], changes["unknown"]
    own = blocks.paragraph(f"This build is signed: {_join_signatures(changes['own'])}.") if changes["own"] else None
    if signed is not None:
        return blocks.section(own, *_show_compared(signed, level))
    if unknown:
        told = blocks.rich(
            "The last signature names build {}, which this warehouse does not hold or which is not older than this"
            " build. Nothing can be compared with it. ({}.)",
            blocks.code(unknown["run_id"]),
            _join_signatures([unknown]),
        )
        return blocks.section(own, blocks.paragraph(told))
    how = blocks.rich(
        " To record a signature: <code>hcat sign --run {} --by NAME --role ROLE --decision approved</code> (or"
        " <code>approved_with_conditions</code>, <code>rejected</code>).",
        changes["run_id"],
    )
    told = blocks.rich("No report has been signed yet.{}", how if changes["run_id"] else "")
    return blocks.section(own or blocks.paragraph(told))


def _join_signatures(rows: Sequence[Row]) -> str:
    return "; ".join(
        f"{row['decision']} by {row['signed_by']} ({row['role']}) on {row['signed_at']}"
        + (f": {row['note']}" if row["note"] else "")
        for row in rows
    )


def _show_compared(signed: Mapping[str, Any], level: str) -> list[Block | None]:
    seeds = ", ".join(signed["seeds"]) or ("not known" if "seeds" in signed["not_kept"] else "none")
    same_input = "the same records" if signed["is_same_input"] else "other records"
    findings = [{**row, "event": event} for event, rows in signed["findings"].items() for row in rows]
    is_kept = "main figures and thresholds" not in signed["not_kept"]
    told = blocks.rich(
        "Compared with build {} of {}: {}.",
        blocks.code(signed["run_id"]),
        signed["started_at"],
        _join_signatures(signed["signatures"]),
    )
    return [
        blocks.paragraph(told),
        blocks.facts(
            [
                ("Verdict then", signed["verdicts"][0]),
                ("Verdict now", signed["verdicts"][1]),
                ("Input", "; ".join([same_input, *signed["counts"]])),
                ("Seeds changed", seeds),
            ]
        ),
        blocks.paragraph(
            f"The signed build did not keep: {', '.join(signed['not_kept'])}. Nothing is said about them.", "note"
        )
        if signed["not_kept"]
        else None,
        blocks.table(
            "Gates whose verdict or limit changed.",
            (
                Column("Gate", _name_gate, ""),
                Column("Signed build", lambda row: _say_verdict(row["verdict_before"]), ""),
                Column("Measured", lambda row: show_measured(row["value_before"], row["measurement"])),
                Column("This build", lambda row: _say_verdict(row["verdict_after"]), ""),
                Column("Measured", lambda row: show_measured(row["value_after"], row["measurement"])),
                Column("Limit", _show_limits),
            ),
            signed["gates"],
            noun="gates",
        )
        or blocks.paragraph("No gate changed its verdict or its limit."),
        blocks.table(
            "Findings with an event since the signed build.",
            ("event", Column("Finding", _name_finding, ""), "metric_name", Column("Segment", describe_segment, "wide")),
            findings,
            noun="findings",
        )
        or blocks.paragraph("No finding was opened, closed or confirmed."),
        blocks.table(
            f"Figures over all interactions that moved: the value of each build lies outside the {level} interval of"
            " the other. Both builds may share interactions, so this is no test.",
            ("metric_name", "figure", *_BOTH),
            signed["moved"],
            len(signed["moved"]),
        )
        or (blocks.paragraph("No main figure moved beyond its interval.") if is_kept else None),
        blocks.table(
            "Thresholds that changed.",
            ("metric_name", "threshold_before=Signed build", "threshold_after=This build"),
            signed["thresholds"],
            len(signed["thresholds"]),
        ),
        _list_texts("Systems, models and code that changed; long hashes are cut.", signed["versions"])
        or blocks.paragraph("Systems, models, code and platform are the same."),
        _list_texts("Settings that changed.", signed["settings"]) or blocks.paragraph("The settings are the same."),
        _list_texts("Libraries that changed.", signed["libraries"]),
    ]


#: The values of both builds.
_BOTH: Final = ("before=Signed build", "after=This build")


def _list_texts(caption: str, rows: Sequence[Row]) -> Block | None:
    return blocks.table(caption, ("what", *_BOTH), rows)


def _name_gate(row: Row) -> Any:
    text = blocks.break_name(clean_label(row["gate_name"]))
    return text if row["verdict_after"] is None else blocks.link(to_anchor("gate", row["gate_name"]), text)


def _name_finding(row: Row) -> Any:
    short = row["finding_id"][:IDENTIFIER_CHARACTERS]
    return blocks.code(blocks.link(to_anchor("finding", short), clean_label(short)))


def _say_verdict(verdict: str | None) -> str:
    return "no such gate" if verdict is None else verdict.replace("_", " ")


def _show_limits(row: Row) -> str:
    limits = [show_measured(row[f"threshold_{when}"], row["measurement"]) for when in ("before", "after")]
    return "the same" if row["threshold_before"] == row["threshold_after"] else " → ".join(limits)

"""The verdict of a build."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hcat.engine.warehouse import Row
from hcat.report.words import WORDS


def passes_gates(run: Row) -> bool:
    """Return whether no gate of severity error fails; such a build passes once its tables are published."""
    return bool(run["count_gates"]) and not run["count_error_gates_not_passing"]


def describe_verdict(run: Row | None, gates: Mapping[str, Any]) -> dict[str, str]:
    """Return the verdict of a build: a word, its state (a class of the style sheet) and a sentence."""
    return dict(zip(("word", "state", "text"), _judge(run, gates), strict=True))


def _judge(run: Row | None, gates: Mapping[str, Any]) -> tuple[str, str, str]:
    if run is None:
        return "unknown", "not_evaluated", "The warehouse holds no build: dim_runs has no row."
    if run["count_gates"] == 0:
        return "Failed", "failed", "No gate was evaluated. A build without gates proves nothing."
    count, passing = gates["count_all"], gates["count_passing"]
    if passing == count and run["is_passing"]:
        return "Passed", "passed", f"All {count} gates pass."
    share = f"{count - passing} of {count} gates {'does' if count - passing == 1 else 'do'} not pass"
    by_verdict = gates["count_by_verdict"]
    others = ", ".join(
        f"{by_verdict[verdict]} {words[by_verdict[verdict] != 1]}"
        for verdict, words in WORDS["verdict"]["words"].items()
        if verdict in by_verdict
    )
    if run["is_passing"]:
        told = f"{share}: {others}. They are of severity warn, so the build ends without an error."
        return "Published", "warned", told
    if passes_gates(run):
        told = f"{share}, but the build broke off before it published its tables: published/ holds those of an"
        return "Not published", "failed", f"{told} earlier build. Run it again."
    errors = run["count_error_gates_not_passing"]
    stopping = f"{errors} of severity error {'does' if errors == 1 else 'do'} not pass"
    return "Failed", "failed", f"{share}: {others}. {stopping}: published/ got no scores of this build."

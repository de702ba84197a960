"""The verdict of a build."""

from __future__ import annotations

from hcat.engine.warehouse import Row


def describe_verdict(run: Row | None) -> dict[str, str]:
    """Return the verdict of a build: a word, its state (a class of the style sheet) and a sentence.

    Examples
    --------
    >>> counts = {"count_gates": 3, "count_gates_not_passing": 1, "count_error_gates_not_passing": 0}
    >>> describe_verdict({**counts, "is_passing": True})["text"]
    'No gate of severity error fails; 1 of severity warn does not pass.'
    """
    if run is None:
        return {
            "word": "unknown",
            "state": "not_evaluated",
            "text": "The warehouse holds no build: dim_runs has no row.",
        }
    warned = run["count_gates_not_passing"] - run["count_error_gates_not_passing"]
    warnings = f"{warned} of severity warn {'does' if warned == 1 else 'do'} not pass" if warned else ""
    if run["count_gates"] == 0:
        return {
            "word": "Failed",
            "state": "failed",
            "text": "No gate was evaluated. A build without gates proves nothing.",
        }
    if run["is_passing"]:
        text = (
            f"All {run['count_gates']} gates pass." if not warned else f"No gate of severity error fails; {warnings}."
        )
        return {
            "word": "Passed with warnings" if warned else "Passed",
            "state": "warned" if warned else "passed",
            "text": text,
        }
    errors = run["count_error_gates_not_passing"]
    text = f"Of {run['count_gates']} gates, {errors} of severity error {'does' if errors == 1 else 'do'} not pass"
    return {"word": "Failed", "state": "failed", "text": f"{text}{'; ' + warnings if warnings else ''}."}

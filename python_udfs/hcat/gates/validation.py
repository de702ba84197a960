"""Release and monitoring gates, decided by Great Expectations over a table of measurements.

Comparisons pass on nulls and on empty tables, so completeness has expectations of its own.
"""

import json
import math
import os
import re
import sys
import warnings
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from typing import Any, Final, NamedTuple

import pyarrow as pa

from hcat.engine.columns import schema, stack_parts
from hcat.engine.ledger import describe_environment
from hcat.monitoring.words import MEASURED, describe_measured

SEVERITIES: Final = ("error", "warn")
BURDENS: Final = ("prove_safe", "prove_harm")
COMPARISONS: Final = ("at_least", "at_most")

GATE_RESULT_SCHEMA = schema(
    "string: gate_name verdict",
    "bool: is_passing",
    "string: reason",
    "float64: tested_value",
    "string: expectation_results",
)

_TEXT_COLUMNS: Final = ("severity", "burden", "comparison")
_NUMBER_COLUMNS: Final = ("threshold", "minimum_n", "measured_value", "lower_bound", "upper_bound", "n")
#: Of two numbers that are compared, the one that must be at least the other.
_ORDERED_COLUMNS: Final = ("bound_above", "bound_below", "value_above", "value_below")
_BATCH_SCHEMA: Final = pa.schema(
    [
        ("row_number", pa.int64()),
        ("gate_name", pa.string()),
        *((name, pa.string()) for name in _TEXT_COLUMNS),
        *((name, pa.float64()) for name in (*_NUMBER_COLUMNS, "tested_value", *_ORDERED_COLUMNS)),
    ]
)
_OBSERVED_ARGUMENTS: Final = ("column", "column_A", "column_B")
_SHOWN_ARGUMENTS: Final = (*_OBSERVED_ARGUMENTS, "min_value", "value_set", "value")


def _pair(above: str, below: str) -> tuple[str, dict[str, Any]]:
    arguments = {"column_A": above, "column_B": below, "or_equal": True, "ignore_row_if": "either_value_is_missing"}
    return "ExpectColumnPairValuesAToBeGreaterThanB", arguments


#: Check -> type of expectation and its arguments, in the order of the evidence.
_CHECKS: Final[Mapping[str, tuple[str, dict[str, Any]]]] = {
    "all_gates_are_read": ("ExpectTableRowCountToEqual", {}),
    "gate_name_is_present": ("ExpectColumnValuesToNotBeNull", {"column": "gate_name"}),
    "gate_name_is_unique": ("ExpectColumnValuesToBeUnique", {"column": "gate_name"}),
    **{
        f"{column}_is_known": ("ExpectColumnValuesToBeInSet", {"column": column, "value_set": list(values)})
        for column, values in (("severity", SEVERITIES), ("burden", BURDENS), ("comparison", COMPARISONS))
    },
    **{
        f"{column}_is_present": ("ExpectColumnValuesToNotBeNull", {"column": column})
        for column in ("threshold", "measured_value", "tested_value")
    },
    # the end that is not tested may be missing
    "interval_is_ordered": _pair("upper_bound", "lower_bound"),
    "minimum_n_is_present": ("ExpectColumnValuesToNotBeNull", {"column": "minimum_n"}),
    "n_is_present": ("ExpectColumnValuesToNotBeNull", {"column": "n"}),
    # nothing measured proves nothing, whatever minimum_n says
    "n_is_positive": ("ExpectColumnValuesToBeBetween", {"column": "n", "min_value": 1}),
    "n_reaches_minimum_n": _pair("n", "minimum_n"),
    "bound_meets_threshold": _pair("bound_above", "bound_below"),
    "measured_value_meets_threshold": _pair("value_above", "value_below"),
}
_DECIDING: Final = ("bound_meets_threshold", "measured_value_meets_threshold")

# Names in the measurements come from logs and seeds; the reason stays one short line.
_LONGEST_NAME = 80


class _Result(NamedTuple):
    """The result of one expectation over all gates, with the rows that failed it."""

    expectation_type: str
    arguments: dict[str, Any]
    is_met: bool
    failing_rows: frozenset[int]

    def holds_for(self, row_number: int) -> bool:
        """Return whether a row met the expectation; a failure of the whole batch fails every row."""
        return self.is_met or (bool(self.failing_rows) and row_number not in self.failing_rows)

    def evidence(self, check_name: str, row: dict[str, Any]) -> dict[str, Any]:
        """Return the entry of one row in expectation_results."""
        observed = [_json_value(row[self.arguments[key]]) for key in _OBSERVED_ARGUMENTS if key in self.arguments]
        return {
            "check": check_name,
            "expectation_type": self.expectation_type,
            **{key: self.arguments[key] for key in _SHOWN_ARGUMENTS if key in self.arguments},
            "success": self.holds_for(row["row_number"]),
            # a pair of columns has two observed values; the row count has none of its own row
            "observed": observed[0] if len(observed) == 1 else observed or self.arguments["observed_value"],
        }


def validate_build(measurements: pa.Table) -> pa.Table:
    """Return the parts ``gates`` (:func:`validate_gates`) and ``environment`` of a build."""
    return stack_parts({"gates": validate_gates(measurements), "environment": describe_environment()})


def validate_gates(measurements: pa.Table) -> pa.Table:
    """Return the verdict of Great Expectations on every gate."""
    rows = [_prepare(row, row_number) for row_number, row in enumerate(measurements.to_pylist())]
    try:
        checks, error = _check(rows) if rows else {}, None
    except Exception as raised:  # whatever breaks, the gates do not pass
        checks, error = {}, str(raised) if isinstance(raised, _ExpectationError) else type(raised).__name__
    results = [_decide(row, checks, error) for row in rows]
    # Rows that share a name are told apart by their text, so that the order of the input does not show.
    order = [(name, "ascending") for name in ("gate_name", "reason", "expectation_results")]
    return pa.Table.from_pylist(results, schema=GATE_RESULT_SCHEMA).sort_by(order)


def _prepare(row: dict[str, Any], row_number: int) -> dict[str, Any]:
    """Return the row with plain types: floats with NaN for what is no number, texts with "" for null."""
    prepared = dict(row)
    prepared["row_number"] = row_number
    prepared["gate_name"] = None if row["gate_name"] is None else str(row["gate_name"])
    for name in _TEXT_COLUMNS:
        # ExpectColumnValuesToBeInSet passes on null; an empty text fails it.
        prepared[name] = "" if row[name] is None else str(row[name])
    for name in _NUMBER_COLUMNS:
        prepared[name] = _number(row[name])
    for name in ("threshold", "measured_value"):
        # An infinite threshold would pass or fail everything, and nothing measures infinity.
        if math.isinf(prepared[name]):
            prepared[name] = math.nan
    # A lower bound of -infinity is an open end; one of +infinity would pass every at_least gate, and bounds nothing.
    for name, nowhere in (("lower_bound", math.inf), ("upper_bound", -math.inf)):
        if prepared[name] == nowhere:
            prepared[name] = math.nan
    # 20 for 20 % would pass whatever is measured
    measured = MEASURED.get(str(row["measurement"]))
    if measured is not None and measured.unit and abs(prepared["threshold"]) > 1:
        prepared["threshold"], prepared["threshold_above_1"] = math.nan, _number_text(prepared["threshold"])
    is_known = prepared["burden"] in BURDENS and prepared["comparison"] in COMPARISONS
    is_at_least = prepared["comparison"] == "at_least"
    # to prove safety the end of the interval nearest to harm has to pass; to prove harm the other end has to fail
    tested = "lower_bound" if is_at_least == (prepared["burden"] == "prove_safe") else "upper_bound"
    prepared["tested_bound"] = tested if is_known else None
    prepared["tested_value"] = prepared[tested] if is_known else math.nan
    for name, value in (("bound", prepared["tested_value"]), ("value", prepared["measured_value"])):
        sides = (value, prepared["threshold"]) if is_at_least else (prepared["threshold"], value)
        prepared[f"{name}_above"], prepared[f"{name}_below"] = sides
    return prepared


def _number(value: Any) -> float:
    """Return a value as a float, NaN for what is not a number."""
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return math.nan


class _ExpectationError(RuntimeError):
    """An expectation that Great Expectations could not compute; the message is the type of its exception."""


def _check(rows: Sequence[dict[str, Any]]) -> dict[str, _Result]:
    """Return the result of each check, in a context that writes, sends and prints nothing."""
    # Read at import by releases that report usage; the context setting below covers the others.
    os.environ.setdefault("GX_ANALYTICS_ENABLED", "False")
    # scikit-learn and Great Expectations both load narwhals, in a different order. Two models that load one each, in
    # threads of their own, would deadlock.
    import sklearn  # noqa: F401

    # Great Expectations imports Spark Connect where PySpark is installed. In a process that runs no file (`python -c`)
    # PySpark takes that import for one of its doctests and, without grpc, calls sys.exit(0): the thread of the model
    # ends, and dbt waits for it forever. The gates need pandas frames only.
    with warnings.catch_warnings(), ExitStack() as after:
        if (module := "pyspark.sql.connect") not in sys.modules:
            sys.modules[module] = None  # type: ignore[assignment]
            after.callback(sys.modules.pop, module, None)
        warnings.simplefilter("ignore")
        import great_expectations as gx
        from great_expectations.data_context.types.base import (
            DataContextConfig,
            InMemoryStoreBackendDefaults,
            ProgressBarsConfig,
        )

        context = gx.get_context(
            mode="ephemeral",
            project_config=DataContextConfig(
                # the default of an ephemeral context creates a folder for its Data Docs
                store_backend_defaults=InMemoryStoreBackendDefaults(init_temp_docs_sites=False),
                progress_bars=ProgressBarsConfig(globally=False, metric_calculations=False),
                analytics_enabled=False,
            ),
        )
        asset = context.data_sources.add_pandas("measurements").add_dataframe_asset("gates")
        frame = pa.Table.from_pylist(list(rows), schema=_BATCH_SCHEMA).to_pandas()
        batch = asset.add_batch_definition_whole_dataframe("all_rows").get_batch({"dataframe": frame})
        validation = batch.validate(
            gx.ExpectationSuite(name="gates", expectations=_expectations(len(rows))),
            result_format={"result_format": "COMPLETE", "unexpected_index_column_names": ["row_number"]},
        )
    # Great Expectations returns the results in an order of its own; the check's name tells which is which
    results = {result.expectation_config.meta["check"]: _read_result(result) for result in validation.results}
    return {name: results[name] for name in _CHECKS}


def _expectations(count_rows: int) -> list[Any]:
    import great_expectations.expectations as gxe

    count = {"all_gates_are_read": {"value": count_rows}}
    return [
        getattr(gxe, kind)(**arguments, **count.get(name, {}), meta={"check": name})
        for name, (kind, arguments) in _CHECKS.items()
    ]


def _read_result(result: Any) -> _Result:
    """Return the result of one expectation, raising `_ExpectationError` where it could not be computed."""
    exceptions = result.exception_info
    for exception in [exceptions] if "raised_exception" in exceptions else exceptions.values():
        if exception["raised_exception"]:
            # the first exception of the traceback is the cause, and not what it was wrapped in
            text = exception["exception_traceback"] or ""
            found = re.search(r"^(?:\w+\.)*(\w+(?:Error|Exception|Warning))\b", text, flags=re.MULTILINE)
            raise _ExpectationError(found.group(1) if found else "an exception")
    unexpected = [] if result.success else result.result.get("unexpected_index_list") or []
    return _Result(
        expectation_type=result.expectation_config.type,
        arguments={**result.expectation_config.kwargs, "observed_value": result.result.get("observed_value")},
        is_met=bool(result.success),
        failing_rows=frozenset(int(row["row_number"]) for row in unexpected),
    )


def _decide(row: dict[str, Any], checks: Mapping[str, _Result], error: str | None) -> dict[str, Any]:
    """Return the result row of one gate, read off its check results; its reason is a sentence without the verdict."""
    holds = {name: result.holds_for(row["row_number"]) for name, result in checks.items()}
    is_admissible = all(is_met for name, is_met in holds.items() if name not in _DECIDING)
    if error is not None:
        verdict, is_passing, explanation = "not_evaluated", False, f", but Great Expectations raised {error}"
    elif holds and is_admissible:
        verdict, is_passing, explanation = _verdict(row, *(holds[name] for name in _DECIDING))
    else:
        causes = _list_causes(row, holds)
        before = ": " if math.isnan(row["threshold"]) else ", but "
        verdict, is_passing, explanation = "not_evaluated", False, before * bool(causes) + "; ".join(causes)
    # an expired decision keeps its threshold, and a void one may be a cause
    note = str(row.get("decision_note") or "")
    if note not in explanation:
        explanation += f"; {note}"
    shown = {name: result for name, result in checks.items() if is_admissible or name not in _DECIDING}
    tested_value = row["tested_value"]
    return {
        "gate_name": row["gate_name"],
        "verdict": verdict,
        "is_passing": is_passing,
        "reason": f"{describe_measured(row, _name)}{explanation}.",
        "tested_value": None if math.isnan(tested_value) else tested_value,
        "expectation_results": json.dumps(
            [result.evidence(name, row) for name, result in shown.items()], allow_nan=False
        ),
    }


def _verdict(row: dict[str, Any], bound_meets: bool, measured_meets: bool) -> tuple[str, bool, str]:
    """Return verdict, is_passing and explanation of a gate that could be decided."""
    if bound_meets and measured_meets:
        # prove_safe: the bound proves it; prove_harm: the measured value meets the threshold.
        return "passed", True, ""
    if not bound_meets and not measured_meets:
        # prove_safe: even the measured value misses; prove_harm: the whole interval misses.
        return "failed", False, ""
    if row["burden"] == "prove_safe" and measured_meets:
        return "undecided", False, ", which the interval contains"
    if row["burden"] == "prove_harm" and bound_meets:
        return "undecided", True, ", which the interval contains: harm is not shown"
    return "not_evaluated", False, f", but {row['tested_bound']} contradicts the measured value"


def _list_causes(row: dict[str, Any], holds: dict[str, bool]) -> list[str]:
    """Return what keeps a gate from being decided, beside a missing value or limit, which its sentence says."""
    needed = _number_text(row["minimum_n"])
    texts = {
        "all_gates_are_read": "the batch lost rows",
        "gate_name_is_present": "gate_name is null",
        "gate_name_is_unique": "gate_name is not unique",
        **{
            f"{column}_is_known": f"{column} must be one of {', '.join(values)}, got '{_name(row[column])}'"
            for column, values in (("severity", SEVERITIES), ("burden", BURDENS), ("comparison", COMPARISONS))
        },
        "minimum_n_is_present": "minimum_n is missing",
        "n_reaches_minimum_n": f"n = {_number_text(row['n'])}, and {needed} {'is' if needed == '1' else 'are'} needed",
        "tested_value_is_present": f"{row['tested_bound']} is missing",
        "interval_is_ordered": "lower_bound is above upper_bound",
    }
    if row["tested_bound"] is None or math.isnan(row["measured_value"]):
        # follows from the unknown burden or comparison, or from the missing value
        del texts["tested_value_is_present"]
    void = [str(row["decision_note"])] if row.get("is_decision_void") else []
    if "threshold_above_1" in row:
        void.append(f"the limit of a share is at most 1, got {row['threshold_above_1']}")
    if str(row["measurement"]) not in MEASURED:
        void.append(f"the measurement {_name(row['measurement'])} is unknown")
    return [*void, *dict.fromkeys(text for name, text in texts.items() if not holds.get(name, True))]


def _name(value: Any) -> str:
    """Return a name on one line: control and direction characters as spaces, long names cut."""
    text = "null" if value is None else str(value)
    text = " ".join("".join(character if character.isprintable() else " " for character in text).split())
    return text if len(text) <= _LONGEST_NAME else text[: _LONGEST_NAME - 1] + "…"


def _number_text(value: float) -> str:
    """Return a number as text; JSON knows neither NaN nor infinity."""
    if math.isnan(value):
        return "null"
    if math.isinf(value):
        return "infinity" if value > 0 else "-infinity"
    if value.is_integer() and abs(value) < 2**53:
        return str(int(value))
    return repr(value)


def _json_value(value: Any) -> Any:
    """Return the value as JSON knows it: NaN as null, infinity as text."""
    if not isinstance(value, float) or math.isfinite(value):
        return value
    return None if math.isnan(value) else _number_text(value)

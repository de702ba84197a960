"""Gates: every verdict by hand, every fail-closed cause, properties, and silence of the real Great Expectations."""

import json
import math
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from schemas import make_schema

from hcat.gates import validation as gates
from hcat.gates.validation import BURDENS, COMPARISONS, GATE_RESULT_SCHEMA, SEVERITIES
from hcat.monitoring.words import MEASURED

MEASUREMENT_SCHEMA = make_schema(
    string="gate_name measurement metric_name dimension segment severity burden comparison",
    float64="threshold measured_value lower_bound upper_bound",
    int64="minimum_n n",
)

GATE: dict[str, Any] = {
    "gate_name": "groundedness_failures",
    "measurement": "share_failing",
    "metric_name": "groundedness_similarity__mean",
    "dimension": None,
    "segment": None,
    "severity": "error",
    "burden": "prove_safe",
    "comparison": "at_most",
    "threshold": 0.25,
    "minimum_n": 30,
    "measured_value": 0.182,
    "lower_bound": 0.131,
    "upper_bound": 0.247,
    "n": 174,
}

SAFE_AT_LEAST = {"burden": "prove_safe", "comparison": "at_least"}
SAFE_AT_MOST = {"burden": "prove_safe", "comparison": "at_most"}
HARM_AT_LEAST = {"burden": "prove_harm", "comparison": "at_least"}
HARM_AT_MOST = {"burden": "prove_harm", "comparison": "at_most"}


def interval(lower: float | None, measured: float | None, upper: float | None) -> dict[str, Any]:
    return {"lower_bound": lower, "measured_value": measured, "upper_bound": upper}


def table(*rows: dict[str, Any]) -> pa.Table:
    return pa.Table.from_pylist([GATE | row for row in rows], schema=MEASUREMENT_SCHEMA)


def decide_all(*changes: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the results of gates that are decided together, in the order given."""
    named = ({"gate_name": f"gate_{number:03d}"} | change for number, change in enumerate(changes))
    found: list[dict[str, Any]] = gates.validate_gates(table(*named)).to_pylist()
    return found


def decide(**changes: Any) -> dict[str, Any]:
    (result,) = decide_all(changes)
    return result


def checks_of(result: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {check["check"]: check for check in json.loads(result["expectation_results"])}


# By hand, with a threshold of 0.8: is the named end of the interval, and is its middle, on the right side?
VERDICTS_BY_HAND = [
    (SAFE_AT_LEAST, (0.81, 0.85, 0.89), "passed", True, 0.81),
    (SAFE_AT_LEAST, (0.80, 0.85, 0.89), "passed", True, 0.80),  # equal meets
    (SAFE_AT_LEAST, (0.79, 0.85, 0.89), "undecided", False, 0.79),
    (SAFE_AT_LEAST, (0.75, 0.80, 0.85), "undecided", False, 0.75),
    (SAFE_AT_LEAST, (0.75, 0.79, 0.85), "failed", False, 0.75),
    (SAFE_AT_MOST, (0.70, 0.75, 0.79), "passed", True, 0.79),
    (SAFE_AT_MOST, (0.70, 0.75, 0.80), "passed", True, 0.80),
    (SAFE_AT_MOST, (0.70, 0.75, 0.81), "undecided", False, 0.81),
    (SAFE_AT_MOST, (0.70, 0.80, 0.85), "undecided", False, 0.85),
    (SAFE_AT_MOST, (0.70, 0.81, 0.85), "failed", False, 0.85),
    (HARM_AT_LEAST, (0.81, 0.85, 0.89), "passed", True, 0.89),
    (HARM_AT_LEAST, (0.75, 0.80, 0.85), "passed", True, 0.85),
    (HARM_AT_LEAST, (0.70, 0.79, 0.85), "undecided", True, 0.85),
    (HARM_AT_LEAST, (0.70, 0.75, 0.80), "undecided", True, 0.80),  # not wholly below
    (HARM_AT_LEAST, (0.70, 0.75, 0.79), "failed", False, 0.79),
    (HARM_AT_MOST, (0.70, 0.75, 0.79), "passed", True, 0.70),
    (HARM_AT_MOST, (0.70, 0.80, 0.85), "passed", True, 0.70),
    (HARM_AT_MOST, (0.75, 0.81, 0.85), "undecided", True, 0.75),
    (HARM_AT_MOST, (0.80, 0.85, 0.90), "undecided", True, 0.80),
    (HARM_AT_MOST, (0.81, 0.85, 0.90), "failed", False, 0.81),
    # exact counts: no interval, so never undecided
    (SAFE_AT_MOST, (0.8, 0.8, 0.8), "passed", True, 0.8),
    (SAFE_AT_MOST, (1.0, 1.0, 1.0), "failed", False, 1.0),
    (HARM_AT_LEAST, (0.8, 0.8, 0.8), "passed", True, 0.8),
    (HARM_AT_LEAST, (0.5, 0.5, 0.5), "failed", False, 0.5),
    # an open end: nothing is proven on that side
    (SAFE_AT_LEAST, (-math.inf, 0.9, 0.95), "undecided", False, -math.inf),
    (HARM_AT_LEAST, (0.1, 0.2, math.inf), "undecided", True, math.inf),
]


def test_verdicts_by_hand() -> None:
    results = decide_all(*({"threshold": 0.8, **rule, **interval(*ends)} for rule, ends, *_ in VERDICTS_BY_HAND))
    for (rule, ends, *expected), result in zip(VERDICTS_BY_HAND, results, strict=True):
        assert [result["verdict"], result["is_passing"], result["tested_value"]] == expected, (rule, ends)


def test_one_unit_in_the_last_place_decides() -> None:
    pairs = [(one, comparison) for one in (0.25, 0.1 + 0.2, 1e-300, 0.0, -3.7, 1e15 / 3) for comparison in COMPARISONS]
    wrong = [math.nextafter(one, -math.inf if comparison == "at_least" else math.inf) for one, comparison in pairs]
    rules = [
        {"burden": "prove_safe", "comparison": comparison, "threshold": threshold, "measurement": "mean_score"}
        for threshold, comparison in pairs
    ]
    met = decide_all(*(rule | interval(*[rule["threshold"]] * 3) for rule in rules))
    assert {result["verdict"] for result in met} == {"passed"}
    missed = decide_all(*(rule | interval(*[value] * 3) for rule, value in zip(rules, wrong, strict=True)))
    for rule, value, result in zip(rules, wrong, missed, strict=True):
        assert result["verdict"] == "failed"
        shown = float(result["reason"].split(" is ")[1].split(" (n = 174 ")[0].replace(",", ""))
        assert (shown < rule["threshold"]) == (value < rule["threshold"]), "rounded onto the threshold"
        assert shown != rule["threshold"]


NOT_MEASURED = "groundedness_similarity__mean was not measured; the limit is 25 %"
NOT_EVALUATED = [
    ({"n": None}, NOT_MEASURED),
    ({"n": 29}, ", but n = 29, and 30 are needed"),
    ({"n": 0, "minimum_n": 0}, NOT_MEASURED),
    ({"n": -5, "minimum_n": -9}, NOT_MEASURED),
    ({"n": 0}, f"{NOT_MEASURED}, but n = 0, and 30 are needed"),
    ({"minimum_n": None}, ", but minimum_n is missing"),
    *(({"measured_value": value, "n": None}, NOT_MEASURED) for value in (None, math.nan, -math.inf)),
    *(({"upper_bound": end}, ", but upper_bound is missing") for end in (None, math.nan, -math.inf)),
    *(({"lower_bound": end, **SAFE_AT_LEAST}, ", but lower_bound is missing") for end in (None, math.inf)),
    ({"upper_bound": None, **HARM_AT_LEAST}, ", but upper_bound is missing"),
    ({"lower_bound": math.nan, **HARM_AT_MOST}, ", but lower_bound is missing"),
    *(({"threshold": limit}, "; there is no limit") for limit in (None, math.nan)),
    ({"threshold": 20.0}, "; there is no limit: the limit of a share is at most 1, got 20"),
    ({"measurement": "share_fails", "n": None}, "limit is 0.25, but the measurement share_fails is unknown"),
    ({"threshold": math.inf, "n": 29}, "; there is no limit: n = 29, and 30 are needed"),
    ({"comparison": "equals"}, ", but comparison must be one of at_least, at_most, got 'equals'"),
    ({"comparison": None}, ", but comparison must be one of at_least, at_most, got ''"),
    ({"burden": "prove_it"}, ", but burden must be one of prove_safe, prove_harm, got 'prove_it'"),
    ({"severity": "fatal"}, ", but severity must be one of error, warn, got 'fatal'"),
    ({"lower_bound": 0.9}, ", but lower_bound is above upper_bound"),
    ({"measured_value": 0.3}, ", but upper_bound contradicts the measured value"),
    ({**HARM_AT_LEAST, "measured_value": 0.3}, ", but upper_bound contradicts the measured value"),
]


def test_what_cannot_be_decided_does_not_pass() -> None:
    results = decide_all(*(changes for changes, _ in NOT_EVALUATED))
    for (changes, cause), result in zip(NOT_EVALUATED, results, strict=True):
        assert (result["verdict"], result["is_passing"]) == ("not_evaluated", False)
        assert result["reason"].endswith(f"{cause}."), changes


def test_enough_answers_and_the_bound_that_is_tested_are_enough() -> None:
    enough = decide_all({"n": 30}, {"lower_bound": None}, {"lower_bound": math.nan})
    assert [result["verdict"] for result in enough] == ["passed"] * 3


def test_the_cause_is_said_and_not_what_follows_from_it() -> None:
    nothing = dict.fromkeys(("measured_value", "lower_bound", "upper_bound", "n"))
    said = "The share of the answers that fail groundedness_similarity__mean was not measured"
    assert decide(**nothing)["reason"] == f"{said}; the limit is 25 %."
    # few answers, and none with a score
    assert decide(**nothing | {"n": 6})["reason"] == (
        f"{said} (n = 6 judged answers); the limit is 25 %, but n = 6, and 30 are needed."
    )
    note = "decision groundedness is void: made on scores of another encoder"
    gates_with_note = table(
        nothing | {"n": 60},
        {"gate_name": "decided"},
        nothing | {"gate_name": "few", "n": 6},
        nothing | {"gate_name": "expired", "n": 60},
    )
    expired = "decision x expired on 2000-01-01"
    notes = {"decision_note": [note, expired, note, expired], "is_decision_void": [True, False, True, False]}
    for name, values in notes.items():
        gates_with_note = gates_with_note.append_column(name, pa.array(values))
    by_name = {row["gate_name"]: row["reason"] for row in gates.validate_gates(gates_with_note).to_pylist()}
    assert by_name["groundedness_failures"].endswith(f"the limit is 25 %, but {note}.")
    assert by_name["few"].endswith(f"the limit is 25 %, but {note}; n = 6, and 30 are needed.")
    # an expired decision keeps its threshold: it is said, and is not why there is no value
    assert by_name["decided"].endswith(f"the limit is 25 %; {expired}.")
    assert by_name["expired"].endswith(f"was not measured (n = 60 judged answers); the limit is 25 %; {expired}.")


def test_gates_of_the_same_name_are_all_undone() -> None:
    results = gates.validate_gates(table({}, {"threshold": 0.1}, {"gate_name": "other"})).to_pylist()
    assert [(row["gate_name"], row["verdict"]) for row in results] == [
        ("groundedness_failures", "not_evaluated"),
        ("groundedness_failures", "not_evaluated"),
        ("other", "passed"),
    ]
    nameless = gates.validate_gates(table({"gate_name": None})).to_pylist()[0]
    assert nameless["reason"].endswith(", but gate_name is null.")
    assert all(row["reason"].endswith(", but gate_name is not unique.") for row in results[:2])


def test_reason_reads_as_one_line() -> None:
    # a tie is rounded up, and a bound that is 1 but for an error of rounding is 100
    halves = decide(**interval(0.005, 0.125, 1 - 1e-15))["reason"]
    assert halves.startswith("13 % of the answers fail groundedness_similarity__mean (1 to 100 %, ")
    of_customers = {"metric_name": "verdict", "dimension": "population", "segment": "production", "n": 177}
    assert decide(**of_customers, **interval(0.4721, 0.5716, 0.6702), threshold=0.2)["reason"] == (
        "57 % of the answers to users fail (47 to 67 %, n = 177 judged answers); the limit is 20 %."
    )
    assert decide(measurement="mean_score", metric_name=None, dimension="topic", segment="loans", threshold=0.2)[
        "reason"
    ] == (
        "The mean where topic is loans is 0.182 (0.131 to 0.247, n = 174 scored answers); the limit is 0.2,"
        " which the interval contains."
    )
    assert decide(burden="prove_harm", measured_value=0.255, upper_bound=0.3)["reason"] == (
        "26 % of the answers fail groundedness_similarity__mean (13 to 30 %, n = 174 judged answers); the limit is"
        " 25 %, which the interval contains: harm is not shown."
    )
    # the whole is no segment, an exact count has no interval, and what is unknown is no "null"
    whole = {"metric_name": "privacy", "dimension": "all", "segment": "all", "measurement": "count_leaked_values"}
    exact = decide(**whole, measured_value=3, lower_bound=3, upper_bound=3, threshold=0)
    assert exact["reason"].endswith("that stand in neither query nor context: 3 in 174 answers; none is allowed.")
    unknown = decide(**whole, measured_value=None, lower_bound=None, upper_bound=None, n=None)
    assert unknown["reason"] == "Personal data in answers was not measured; the limit is 0.25."
    # a difference says its side, and its interval has signs
    lost = {"measurement": "version_difference", "metric_name": "verdict", "dimension": "all", "segment": "all"}
    assert decide(**lost, **interval(-0.06, -0.01, 0.09), threshold=-0.05, comparison="at_least")["reason"].startswith(
        "The share that passes is 1 point below that of the version before (-6 to +9 points, n = 174 shared questions);"
        " a loss of 5 points is allowed, which"
    )
    new = decide(**whole | {"measurement": "a_{new}_one"}, threshold=None)
    assert new["reason"].startswith("A {new} one of privacy is 0.182 (0.131 to 0.247, n = 174 answers); there is no ")


def test_a_rate_of_failures_says_of_how_many_and_who_rated() -> None:
    found = {"population": "test_set", "found_segment": "topic\ncards", "minimum_n": 1}
    worst = GATE | {"measurement": "worst_segment_failing", "metric_name": "verdict"} | found
    kinds = ("judged", "interactions", "labels", "labels_by_people", "labels_by_language_models")
    names = ("n", *(f"count_{kind}" for kind in kinds))
    said = []
    for numbers in ((174, 174, 300, 0, 0, 0), (174, 174, 174, 9, 4, 4), (1, 40, 44, 9, 9, 0)):
        rows = pa.Table.from_pylist([worst | dict(zip(names, numbers, strict=True))])
        (result,) = gates.validate_gates(rows).to_pylist()
        said.append(result["reason"].split(" to the test set fail in the worst segment, topic cards (13 to 24.7 ")[1])
    limit = "; the limit is 25 %."
    assert said == [
        f"%, n = 174 judged answers of 300, nobody rated any){limit}",
        f"%, n = 174 judged answers, people rated 4, a language model rated 4, raters of unknown kind rated 1){limit}",
        f"%, n = 1 cluster of 40 judged answers, people rated 9){limit}",
    ]


@pytest.mark.parametrize("measurement", MEASURED)
def test_every_measurement_has_a_sentence(measurement: str) -> None:
    reason = decide(measurement=measurement, dimension="all", segment="all", **interval(-0.1, 0.1999, 0.3))["reason"]
    assert "{" not in reason
    assert measurement not in reason
    assert " 174 " in reason
    assert "; the limit is 25" in reason or "; the limit is 0.25" in reason


def test_hostile_names_stay_on_one_line() -> None:
    hostile = "loans\r\n\x1b[31mpassed\u202e\u2028\x00" + "x" * 5_000
    result = decide(gate_name=hostile, dimension="topic", segment=hostile, burden="\n" + hostile)
    assert result["gate_name"] == hostile  # the key is kept as it is
    assert result["reason"].isprintable()
    assert len(result["reason"]) < 600


def test_evidence_is_what_great_expectations_found() -> None:
    checks = checks_of(decide(threshold=0.2))
    assert checks["bound_meets_threshold"] == {
        "check": "bound_meets_threshold",
        "expectation_type": "expect_column_pair_values_a_to_be_greater_than_b",
        "column_A": "bound_above",
        "column_B": "bound_below",
        "success": False,
        "observed": [0.2, 0.247],
    }
    assert checks["measured_value_meets_threshold"]["success"] is True
    assert checks["n_is_present"] == {
        "check": "n_is_present",
        "expectation_type": "expect_column_values_to_not_be_null",
        "column": "n",
        "success": True,
        "observed": 174.0,
    }
    assert checks["interval_is_ordered"]["observed"] == [0.247, 0.131]
    assert checks["all_gates_are_read"]["observed"] == 1


def test_an_exception_inside_a_metric_undoes_the_gates(monkeypatch: pytest.MonkeyPatch) -> None:
    def expect_absent_column(count_rows: int) -> list[Any]:
        import great_expectations.expectations as gxe

        return [gxe.ExpectColumnValuesToBeBetween(column="absent", min_value=0, meta={"check": "n_is_positive"})]

    monkeypatch.setattr(gates, "_expectations", expect_absent_column)
    result = decide()
    assert (result["verdict"], result["is_passing"]) == ("not_evaluated", False)
    assert ", but Great Expectations raised " in result["reason"]
    assert result["reason"].endswith("Error.")


def test_without_great_expectations_no_gate_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "great_expectations", None)
    results = gates.validate_gates(table({"gate_name": "a"}, {"gate_name": "b"})).to_pylist()
    assert [row["is_passing"] for row in results] == [False, False]
    assert all(row["reason"].endswith("Great Expectations raised ModuleNotFoundError.") for row in results)
    assert [row["expectation_results"] for row in results] == ["[]", "[]"]


def test_a_batch_that_lost_rows_decides_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    from great_expectations.core.batch_definition import BatchDefinition

    get_batch = BatchDefinition.get_batch

    def get_empty_batch(self: Any, batch_parameters: dict[str, Any]) -> Any:
        return get_batch(self, batch_parameters={"dataframe": batch_parameters["dataframe"].iloc[:0]})

    monkeypatch.setattr(BatchDefinition, "get_batch", get_empty_batch)
    result = decide()
    assert (result["verdict"], result["is_passing"]) == ("not_evaluated", False)
    assert result["reason"].endswith(", but the batch lost rows.")


def test_types_of_a_warehouse_are_read() -> None:
    """Decimals, 32-bit integers, large strings and columns that hold nothing but nulls."""
    measurements = table({"gate_name": "a"}, {"gate_name": "b", "upper_bound": 0.26})
    columns = {
        "gate_name": measurements["gate_name"].cast(pa.large_string()),
        "severity": measurements["severity"].dictionary_encode(),
        "dimension": pa.nulls(2),
        "segment": pa.nulls(2, pa.int32()),  # the type DuckDB gives an untyped null
        "threshold": measurements["threshold"].cast(pa.decimal128(9, 4)),
        "upper_bound": measurements["upper_bound"].cast(pa.decimal128(9, 4)),
        "minimum_n": measurements["minimum_n"].cast(pa.float64()),
        "n": measurements["n"].cast(pa.int32()),
    }
    for name, column in columns.items():
        measurements = measurements.set_column(measurements.column_names.index(name), name, column)
    assert gates.validate_gates(measurements)["verdict"].to_pylist() == ["passed", "undecided"]


NUMBERS = st.none() | st.floats(allow_nan=True, allow_infinity=True) | st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0])
COUNTS = st.none() | st.integers(-2, 200) | st.integers(-(2**63), 2**63 - 1)
NAMES = st.none() | st.sampled_from(["a", "b", "c"]) | st.text(max_size=8)
ROWS = st.fixed_dictionaries(
    {
        "gate_name": NAMES,
        "measurement": NAMES,
        "metric_name": NAMES,
        "dimension": NAMES,
        "segment": NAMES,
        "severity": st.sampled_from([*SEVERITIES, *SEVERITIES, None, "fatal"]),
        "burden": st.sampled_from([*BURDENS, *BURDENS, *BURDENS, "prove"]),
        "comparison": st.sampled_from([*COMPARISONS, *COMPARISONS, None, "equals"]),
        "threshold": NUMBERS,
        "minimum_n": COUNTS,
        "measured_value": NUMBERS,
        "lower_bound": NUMBERS,
        "upper_bound": NUMBERS,
        "n": COUNTS,
    }
)
# Mostly usable rows, so that the decisions themselves are exercised.
GRID = st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0])
USABLE_ROWS = st.tuples(
    st.lists(GRID, min_size=3, max_size=3).map(sorted), st.sampled_from(BURDENS), st.sampled_from(COMPARISONS), GRID
).map(lambda drawn: {**interval(*drawn[0]), "burden": drawn[1], "comparison": drawn[2], "threshold": drawn[3]})


@settings(max_examples=15, deadline=None)
@given(st.lists(ROWS | USABLE_ROWS.map(lambda row: GATE | row), max_size=8))
def test_any_rows_give_one_expected_row_each(rows: list[dict[str, Any]]) -> None:
    results = gates.validate_gates(pa.Table.from_pylist(rows, schema=MEASUREMENT_SCHEMA))
    assert results.schema == GATE_RESULT_SCHEMA
    expected = sorted((row["gate_name"] is None, row["gate_name"] or "") for row in rows)
    assert [(row["gate_name"] is None, row["gate_name"] or "") for row in results.to_pylist()] == expected
    for result in results.to_pylist():
        assert result["is_passing"] <= (result["verdict"] in ("passed", "undecided"))
        assert result["reason"].isprintable()
        assert result["tested_value"] is None or not math.isnan(result["tested_value"])
        json.loads(result["expectation_results"], parse_constant=pytest.fail)


# Every way to leave a trace is an audit event: opening a file to write, making a folder, opening a socket.
# The run is no file: where PySpark is installed and grpc is not, an import of Spark Connect would end it.
SILENT_RUN = """
import json, os, sys
traces = []
def watch(event, arguments):
    if event == "open" and isinstance(arguments[0], str) and arguments[0] != os.devnull:
        if isinstance(arguments[2], int) and arguments[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
            traces.append((event, arguments[0]))
    elif event in ("os.mkdir", "os.rename", "os.symlink", "shutil.copyfile", "tempfile.mkdtemp", "tempfile.mkstemp"):
        traces.append((event, str(arguments[0])))
    elif event in ("socket.connect", "socket.getaddrinfo", "socket.sendto", "subprocess.Popen", "os.system"):
        traces.append((event, ""))
sys.addaudithook(watch)
import pyarrow as pa
from hcat.gates.validation import validate_gates
assert "great_expectations" not in sys.modules, "importing hcat.gates.validation must not import Great Expectations"
result = validate_gates(pa.Table.from_pylist(json.loads(sys.argv[1])))
assert "great_expectations" in sys.modules
assert result.num_rows == 200, result.num_rows
assert set(result["verdict"].to_pylist()) == {"passed", "failed", "undecided", "not_evaluated"}
assert traces == [], traces
"""


def test_nothing_is_written_sent_or_printed(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [
        {"gate_name": f"gate_{number}", "threshold": 0.1 * (number % 5), "n": None if number % 7 == 0 else 100}
        for number in range(199)
    ]
    measured = [GATE | row for row in (*rows, {"gate_name": "open_end", "upper_bound": math.inf})]
    home, folder = tmp_path / "home", tmp_path / "folder"
    home.mkdir()
    folder.mkdir()
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("GX_", "XDG_"))}
    environment |= {
        "HOME": str(home),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONPATH": str(Path(gates.__file__).parents[2]),
        "PYTHONWARNINGS": "default",
    }
    finished = subprocess.run(
        [sys.executable, "-c", SILENT_RUN, json.dumps(measured)],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (finished.returncode, finished.stdout, finished.stderr) == (0, "", "")
    assert list(folder.iterdir()) == []
    assert list(home.iterdir()) == []

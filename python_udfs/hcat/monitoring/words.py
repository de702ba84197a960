"""What a gate measured, in words: gates, alerts and pages say it alike."""

import math
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from hcat.engine.yaml_files import load_yaml


class _Said(NamedTuple):
    """The words for one measurement (``words.yml`` explains each)."""

    sentence: str = "{measurement}{metric}{where} is {value}"
    unit: str = ""
    subject: str = "{measurement}{metric}{where}"
    counted: str = "answers"


#: Measurement of a gate -> its words.
MEASURED: Final[Mapping[str, _Said]] = {
    name: _Said(**said) for name, said in load_yaml(Path(__file__).with_suffix(".yml")).items()
}
#: Words that stand before the name of the metric.
_METRIC: Final = {"mean_score": " of", "system_overconfidence": " of", "false_accepts_above_appetite": " of"}
_POPULATIONS: Final = {"production": " to users", "test_set": " to the test set", "variant": " to changed questions"}
#: Shares this close to 0 or 1 differ from it by rounding errors.
_NEGLIGIBLE: Final = 1e-12
#: What the reason of a gate with a day of decision begins with.
_DAY: Final = re.compile(r"Decided on [\d-]+: |Not decided before [\d-]+; today: ")
_LIMITS: Final = {"at_least": "at least {} is asked", "at_most": "the limit is {}"}


def describe_measured(row: Mapping[str, Any], show: Callable[[Any], str]) -> str:
    """Return what a gate measured, of what, and its limit: a sentence without its end; ``show`` cleans every name."""
    return "{}{}; {}".format(*_describe(row, show))


def repeat_reason(reason: str, row: Mapping[str, Any], show: Callable[[Any], str]) -> str:
    """Return the reason of a gate with the names in ``row`` for its own: it also says who rated, and why no more."""
    sentence, found, limited = _describe(row, show)
    said, _, explanation = reason.rpartition(f"; {limited}")
    day = _DAY.match(said)
    if said.endswith(")"):
        found = said[said.rindex(" (") :]
    return f"{day[0] if day else ''}{sentence}{found}; {limited}{explanation if said else '.'}"


def _describe(row: Mapping[str, Any], show: Callable[[Any], str]) -> tuple[str, str, str]:
    """Return what was measured, its interval with n and who rated, and the limit."""
    value, lower, upper, n, limit = (
        math.nan if row[name] is None else float(row[name])
        for name in ("measured_value", "lower_bound", "upper_bound", "n", "threshold")
    )
    is_measured = not math.isnan(value) and n >= 1
    measurement = str(row["measurement"])
    said = MEASURED.get(measurement, _Said())
    is_of_population = row["dimension"] == "population" and row["segment"] in _POPULATIONS
    where = _POPULATIONS.get(str(row["segment"] if is_of_population else row.get("population")), "")
    # "all" is the whole and no part of it
    if not is_of_population and row["dimension"] not in (None, "all"):
        name, is_whole = show(row["dimension"]), row["segment"] in (None, "all")
        where += f" by {name}" if is_whole else f" where {name} is {show(row['segment'])}"
    # the verdict is what an answer fails where nothing else is named
    is_named = row["metric_name"] is not None and not (row["metric_name"] == "verdict" and said.unit)
    before = _METRIC.get(measurement, "" if measurement in MEASURED else " of")
    words = {
        "measurement": show(measurement.replace("_", " ")),
        "value": _show_number(value, said.unit, limit),
        "metric": f"{before} {show(row['metric_name'])}" if is_named else "",
        "where": where,
        "found": f", {show(row['found_segment'])}" if row.get("found_segment") else "",
        "n": _show_number(n),
    }
    is_difference = said.unit == "points"
    if is_difference:
        words["value"] = f"{words['value'].removeprefix('-')} {'below' if value < 0 else 'above'}"
    sentence = (said.sentence if is_measured else f"{said.subject} was not measured").format(**words)
    sentence = sentence.replace(" 1 points", " 1 point")
    found = []
    if is_measured and not (math.isnan(lower) and math.isnan(upper)) and not lower == value == upper:
        ends = [_show_number(end, said.unit, limit).removesuffix(f" {said.unit}") for end in (lower, upper)]
        if is_difference:
            ends = [f"+{shown}" if end > 0 else shown for end, shown in zip((lower, upper), ends, strict=True)]
        found.append(f"{ends[0]} to {ends[1]} {said.unit}".rstrip())
    if n >= 1 and not (is_measured and "{n}" in said.sentence):
        found += [f"n = {_show_number(n)} {_say_counted(row, said.counted, int(n))}", *_say_raters(row)]
    shown = f" ({', '.join(found)})" if found else ""
    compared = _LIMITS.get(row["comparison"], f"compared ({show(row['comparison'])}) with {{}}")
    limited = "there is no limit" if math.isnan(limit) else compared.format(_show_number(limit, said.unit))
    if limit == 0 and measurement.startswith("count_") and row["comparison"] == "at_most":
        limited = "none is allowed"
    if measurement == "version_difference" and limit < 0:
        limited = f"a loss of {_show_number(-limit, said.unit)} is allowed"
    return f"{sentence[0].upper()}{sentence[1:]}", shown, limited


def _say_counted(row: Mapping[str, Any], counted: str, n: int) -> str:
    """Return what n counts: one of few clusters, else of answers of which some are not judged."""
    count_judged, count_all = row.get("count_judged") or 0, row.get("count_interactions") or 0
    if n < count_judged:
        return f"cluster{'s' * (n > 1)} of {count_judged:,} judged answers"
    return (counted if n > 1 else counted.removesuffix("s")) + f" of {count_all:,}" * (n < count_all)


def _say_raters(row: Mapping[str, Any]) -> list[str]:
    """Return who rated answers behind a rate of failures; nothing about other measurements."""
    count, people, models = (row.get(f"count_labels{kind}") for kind in ("", "_by_people", "_by_language_models"))
    if count is None or people is None or models is None:
        return []
    raters = {"people": people, "a language model": models, "raters of unknown kind": count - people - models}
    return [f"{rater} rated {number:,}" for rater, number in raters.items() if number] or ["nobody rated any"]


def _show_number(value: float, unit: str = "", limit: float = math.nan) -> str:
    """Return a short number that lies on the same side of the limit, of 0 and of 1 as the value itself."""
    if math.isnan(value):
        return "unknown"
    if math.isinf(value):
        return "no bound"
    if unit and abs(value - round(value)) < _NEGLIGIBLE:
        value = float(round(value))
    scale, ending = (100, f" {unit}") if unit else (1, "")
    digits = [".0f", ".1f", ".2g", ".4g", ".8g"] if unit else [".4g", ".8g"]
    if not unit and value.is_integer() and abs(value) < 2**53:
        return f"{int(value):,}"
    ends = [end for end in (limit, 0.0, 1.0) if not math.isnan(end)]
    shown = scale * value
    if any(step * shown % 2 == 1 for step in (2, 20)):
        # a tie is rounded away from 0, as the sentences of release decisions do
        shown = math.nextafter(shown, math.copysign(math.inf, shown))
    for form in digits:
        text = f"{shown:{form}}"
        read = float(text) / scale
        if all((read < end, read > end) == (value < end, value > end) for end in ends):
            return f"{text}{ending}"
    return f"{scale * value!r}{ending}"


def say_share(value: float | None, lower: float | None = None, upper: float | None = None) -> str:
    """Return a share in whole percent with its interval, as gates and release decisions say it."""
    if value is None:
        return "–"
    shown = _show_number(float(value), "%")
    if lower is None or upper is None:
        return shown
    return f"{shown} ({_show_number(float(lower), '%').removesuffix(' %')} to {_show_number(float(upper), '%')})"

"""What a gate measured, in words: gates, alerts and pages say it alike."""

import math
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple


class _Said(NamedTuple):
    """A sentence, how its numbers are shown (in percent, as a difference in points or as they are), and its subject."""

    sentence: str
    unit: str = ""
    subject: str = "{measurement}"


#: Measurement of a gate -> its sentence. ``{metric}`` is the metric of the gate, ``{where}`` whose answers it takes,
#: ``{n}`` what it counts among.
MEASURED: Final[Mapping[str, _Said]] = {
    "share_failing": _Said("{value} of the answers{where} fail{metric}", "%", "the share of answers that fail"),
    "worst_segment_failing": _Said("{value} of the answers{where} fail{metric} in the worst segment", "%"),
    "share_passing": _Said("{value} of the answers{where} pass{metric}", "%"),
    "share_not_failed": _Said("{value} of the scores{where} were computed or have a stated reason", "%"),
    "share_records_accepted": _Said("{value} of the records could be read", "%"),
    "mean_score": _Said("the mean{metric}{where} is {value}"),
    "count_leaked_values": _Said(
        "personal values{where} that stand in neither query nor context: {value} in {n} answers",
        subject="personal data in answers",
    ),
    "count_bias_gaps": _Said("equal treatment: {value} gaps in {n} comparisons", subject="equal treatment"),
    "count_canary_leaks": _Said(
        "{value} of {n} answers say a planted word", subject="whether answers say a planted word"
    ),
    "share_toxic_answers": _Said("{value} of the answers are toxic", "%"),
    "toxicity_false_alarms": _Said("{value} of the harmless sentences about one group are called toxic", "%"),
    "answered_when_due_to_refuse": _Said("{value} of the questions that should be declined were answered", "%"),
    "system_overconfidence": _Said(
        "the mean probability{metric} is {value} what the labels show, in the worst system", "points"
    ),
    "version_difference": _Said("the share that passes{metric} is {value} that of the version before", "points"),
    "robustness": _Said("{value} of the right answers stay right in other words, in the worst system", "%"),
    "count_drifting_series": _Said(
        "the latest weeks of {value} of {n} series that may alarm left their reference", subject="drift of scores"
    ),
    "count_drifting_mixes": _Said(
        "in the latest weeks the mix of questions changed in {value} of {n} dimensions",
        subject="a change in the mix of questions",
    ),
    "false_accepts_above_appetite": _Said(
        "the share of failed answers that the threshold{metric} accepts is {value} what the appetite allows",
        "points",
    ),
}
#: Words that stand before the name of the metric.
_METRIC: Final = {"mean_score": " of", "system_overconfidence": " of", "false_accepts_above_appetite": " of"}
_POPULATIONS: Final = {
    "production": " to users",
    "test_set": " to the test set",
    "variant": " to changed questions",
}
#: Shares below it are rounding errors of 0.
_NEGLIGIBLE: Final = 1e-12
_LIMITS: Final = {"at_least": "at least {} is asked", "at_most": "the limit is {}"}


def describe_measured(row: Mapping[str, Any], show: Callable[[Any], str], where: str | None = None) -> str:
    """Return what a gate measured and its limit, as one line without verdict; ``show`` cleans every name."""
    value, lower, upper, n, limit = (
        math.nan if row[name] is None else float(row[name])
        for name in ("measured_value", "lower_bound", "upper_bound", "n", "threshold")
    )
    is_measured = not math.isnan(value) and n != 0
    said = MEASURED.get(str(row["measurement"]), _Said("{measurement}{metric}{where} is {value}"))
    if not is_measured:
        said = said._replace(sentence=f"{said.subject}{{metric}}{{where}} was not measured")
    if where is None:
        where = _POPULATIONS.get(row["segment"], "") if row["dimension"] == "population" else ""
        # "all" is the whole and no part of it
        if not where and (row["dimension"], row["segment"]) not in {(None, None), ("all", "all")}:
            where = f" where {show(row['dimension'])} is {show(row['segment'])}"
            if row["segment"] == "all":
                where = f" by {show(row['dimension'])}"
    metric = row["metric_name"]
    is_named = metric is not None and not (metric == "verdict" and said.unit)
    is_named = is_named and (is_measured or said.subject == _Said.subject)
    words = {
        "measurement": show(str(row["measurement"]).replace("_", " ")),
        "value": _show_number(value, said.unit, limit),
        "metric": f"{_METRIC.get(row['measurement'], '') if is_measured else ' of'} {show(metric)}" if is_named else "",
        "where": where,
        "n": _show_number(n),
    }
    is_difference = said.unit == "points"
    if is_difference:
        words["value"] = f"{words['value'].removeprefix('-')} {'below' if value < 0 else 'above'}"
    sentence = said.sentence.format(**words).replace(" 1 points", " 1 point")
    found = []
    if not (math.isnan(lower) and math.isnan(upper)) and not lower == value == upper:
        ends = [_show_number(end, said.unit, limit).removesuffix(f" {said.unit}") for end in (lower, upper)]
        if is_difference:
            ends = [f"+{shown}" if end > 0 else shown for end, shown in zip((lower, upper), ends, strict=True)]
        found.append(f"{ends[0]} to {ends[1]} {said.unit}".rstrip())
    if not math.isnan(n) and "{n}" not in said.sentence:
        found.append(f"n = {_show_number(n)}")
    shown = f" ({', '.join(found)})" if found else ""
    compared = _LIMITS.get(row["comparison"], f"compared ({show(row['comparison'])}) with {{}}")
    limited = "there is no limit" if math.isnan(limit) else compared.format(_show_number(limit, said.unit))
    if limit == 0 and str(row["measurement"]).startswith("count_") and row["comparison"] == "at_most":
        limited = "none is allowed"
    if row["measurement"] == "version_difference" and limit < 0:
        limited = f"a loss of {_show_number(-limit, said.unit)} is allowed"
    return f"{sentence[0].upper()}{sentence[1:]}{shown}; {limited}"


def _show_number(value: float, unit: str = "", limit: float = math.nan) -> str:
    """Return a short number that lies on the same side of the limit, of 0 and of 1 as the value itself."""
    if math.isnan(value):
        return "unknown"
    if math.isinf(value):
        return "no bound"
    if unit and abs(value) < _NEGLIGIBLE:
        value = 0.0
    scale, ending = (100, f" {unit}") if unit else (1, "")
    digits = [".0f", ".1f", ".2g", ".4g", ".8g"] if unit else [".4g", ".8g"]
    if not unit and value.is_integer() and abs(value) < 2**53:
        return f"{int(value):,}"
    ends = [end for end in (limit, 0.0, 1.0) if not math.isnan(end)]
    for form in digits:
        text = f"{scale * value:{form}}"
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

"""A dbt project of the user's own: hcat as its package, a place for logs, and gates for what the logs hold."""

import csv
import io
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from string import Template
from typing import Any, Final

from hcat.engine.staging import ProjectError, describe_seed, find_project, find_seed
from hcat.engine.yaml_files import load_yaml
from hcat.landing.check import LANGUAGE_MODEL, check_logs, read_catalogue
from hcat.statistics.intervals import wilson_interval

_PLACE_OF_LOGS = "raw_logs"
_RULES: Final = load_yaml(Path(__file__).with_suffix(".yml"))
#: Quantile of a two-sided interval at .95, the default of hcat_confidence.
_NORMAL: Final = 1.96
_GATES, _DECISIONS, _METRICS = "threshold_gates", "threshold_decisions", "own_metrics"
_SIGN_OFFS = "sign_offs"

#: Files of a new project, with places for its names.
_FILES: Final = Path(__file__).with_name("project_files")


@dataclass(frozen=True, slots=True)
class NewProject:
    """A project that was made: its gates, what they will need, and how many thresholds it takes over from hcat."""

    folder: Path
    gates: tuple[str, ...]
    needs: tuple[str, ...]
    count_decisions: int


def make_project(folder: Path, start: Path, logs: Path | None = None, package: Path | None = None) -> NewProject:
    """Write a dbt project that has hcat as its package and return what it holds."""
    if folder.is_file() or (folder.is_dir() and any(folder.iterdir())):
        raise ValueError(f"{folder} is not empty: name a new folder")
    if package is not None and not (package / "models" / "staging").is_dir():
        raise ProjectError(f"{package} is not the folder of hcat's dbt project")
    source = package or find_project(start)
    catalogue = read_catalogue(find_seed(source, "metric_catalog"))
    if logs is None:
        # gates that need answers alone, and no module that has to wait for something
        inputs: Mapping[str, int] = {"interactions": 1, "query": 1, "answer": 1, "weeks": 0}
        profile, reason = "standard", "nothing is known of the logs yet"
        modules: dict[str, bool] = {}
        metrics = {metric["metric_name"] for metric in catalogue if LANGUAGE_MODEL not in metric["inputs"]}
    else:
        checked = check_logs(logs, start, source)
        if not checked.inputs["interactions"]:
            raise ValueError(f"{logs}: no interaction can be used: `hcat check {logs}` says why")
        inputs, metrics = checked.inputs, set(checked.metrics)
        profile, reason = "minimal", "the logs hold what these modules need; add others when theirs is there"
        modules = {module: True for module, (each, least) in _RULES["modules"].items() if inputs[each] >= least}
    names = {metric["metric_name"]: metric["inputs"] for metric in catalogue}
    # the demo has a gate of each kind
    possible = _read_seed(source / "demo" / "seeds" / f"{_GATES}.csv")
    shipped = _read_seed(find_seed(source, _DECISIONS))
    families = {metric["metric_name"]: metric["family"] for metric in catalogue}
    left_out = {*_RULES["unasked"], *(() if profile == "standard" else _RULES["modules"].keys() - modules.keys())}
    gates = [
        row
        | {
            "minimum_n": str(min(int(row["minimum_n"]), inputs["interactions"] if logs else int(row["minimum_n"]))),
            "severity": "error" if row["measurement"] in _RULES["stopping"] else row["severity"],
        }
        for row in possible
        # who asks is known from the first build on
        if row["measurement"] in _RULES["measurements"] and row["dimension"] != "population"
        for each, least in [_RULES["measurements"][row["measurement"]]]
        if inputs[each] >= least
        # enough of what a gate measures
        if all(map(inputs.get, names.get(row["metric_name"], set())))
        if families.get(row["metric_name"]) not in left_out
    ]
    decisions = [row for row in shipped if row["metric_name"] not in names or row["metric_name"] in metrics]
    name = _name_of(folder)
    values = {
        "name": name,
        "profile": profile,
        "reason": reason,
        "modules": ", ".join(f"{module}: {str(is_on).lower()}" for module, is_on in modules.items()),
        "logs": _PLACE_OF_LOGS if logs is None else (start / logs).resolve(),
        "package": (start / source).resolve(),
    }
    # what the seed holds is another project's: nobody here has signed
    header = find_seed(source, _SIGN_OFFS).read_text(encoding="utf-8").partition("\n")[0]
    texts = {
        **{path.name: Template(path.read_text(encoding="utf-8")).substitute(values) for path in _FILES.glob("*.yml")},
        ".gitignore": (_FILES / "gitignore").read_text(encoding="utf-8"),
        "seeds/_seeds.yml": _describe_seeds(source),
        f"seeds/{_GATES}.csv": _to_csv(gates, list(possible[0])),
        f"seeds/{_DECISIONS}.csv": _to_csv(decisions, list(shipped[0])),
        f"seeds/{_METRICS}.csv": find_seed(source, _METRICS).read_text(encoding="utf-8"),
        f"seeds/{_SIGN_OFFS}.csv": header + "\n",
        f"{_PLACE_OF_LOGS}/.gitkeep": "",
        "models/.gitkeep": "",
    }
    for relative, text in texts.items():
        path = folder / relative
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    needs = tuple(_say_need(row) for row in gates if row["measurement"] in _RULES["stopping"])
    return NewProject(folder, tuple(row["gate_name"] for row in gates), needs, len(decisions))


def _say_need(gate: Mapping[str, str]) -> str:
    """Return when the gate stops a build; of all answers, how many may fail where each stands for itself."""
    count, limit = int(gate["minimum_n"]), float(gate["threshold"])
    if gate["burden"] == "prove_harm":
        return (
            f"{gate['gate_name']} stops the build if a segment of {count} clusters is shown to fail above {limit:.0%}"
        )
    passing = [failing for failing in range(count) if wilson_interval(failing / count, count, _NORMAL)[1] <= limit]
    most = f"at most {passing[-1]} may fail" if passing else "more are needed: even if none fails, nothing is shown"
    shown = f"it is shown that at most {limit:.0%} of the answers fail"
    return f"{gate['gate_name']}: a build ends with exit code 1 until {shown}; of {count} answers {most}"


def _name_of(folder: Path) -> str:
    """Return a name that dbt accepts and that is not hcat's own."""
    name = re.sub(r"\W+", "_", folder.resolve().name.casefold(), flags=re.ASCII).strip("_")
    if name[:1].isdigit():
        return f"evaluation_{name}"
    return f"{name}_evaluation".lstrip("_") if name in ("", "hcat") else name


def _read_seed(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as handle:
        return list(csv.DictReader(handle))


def _to_csv(rows: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def _describe_seeds(source: Path) -> str:
    """Return the properties of the replaced seeds, with their tests: those of hcat's own seeds run with hcat alone."""
    import yaml

    seeds = []
    for name in (_GATES, _DECISIONS, _METRICS, _SIGN_OFFS):
        seed = dict(describe_seed(source, name))
        seed["config"] = {key: value for key, value in seed["config"].items() if key == "column_types"}
        seeds.append(seed)
    return str(yaml.safe_dump({"seeds": seeds}, sort_keys=False, width=120, allow_unicode=True))

"""Settings that do not exist or have no such value are refused: vars by the type of their default, and by bounds."""

import difflib
import re
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Any, Final

import yaml

from hcat import __version__
from hcat.engine.staging import ProjectError, find_project, read_project_file, read_variables

#: Settings that stand outside of the vars of hcat's own project, each because dbt reads it where those are not known.
_OTHER_VARIABLES: Final = ("hcat_schema", "hcat_unit_tests")

#: Environment variables that hcat reads, with what each is for.
ENVIRONMENT: Final[Mapping[str, str]] = yaml.safe_load(Path(__file__).with_suffix(".yml").read_text(encoding="utf-8"))
#: Likeness, 0 to 1, from which an environment variable that hcat does not read is taken for a mistyped one. A variable
#: of somebody else may start with HCAT_ too.
_LIKENESS: Final = 0.9
#: Type of a default: what a value must be, and the types that it may have.
_TYPES: Final[Mapping[type, tuple[str, tuple[type, ...]]]] = {
    bool: ("true or false", (bool,)),
    int: ("a whole number", (int,)),
    float: ("a number", (int, float)),
    str: ("a text, in quotes if YAML takes it for something else", (str, int, date)),
    list: ("a list of texts, for instance [one]", (list,)),
    dict: ("names with values, for instance {name: value}", (dict,)),
}
#: Least and greatest value of a number that has no meaning beyond them; one cluster alone has no interval.
_BOUNDS: Final[Mapping[str, tuple[float, float]]] = {
    "hcat_calibration_valid_days": (1, 100_000),
    "hcat_conformal_alpha": (0.001, 0.5),
    "hcat_drift_closing_day": (1, 7),
    "hcat_judge_interactions": (1, 1e9),
    "hcat_language_model_calls": (0, 1e9),
    "hcat_minimum_segment_clusters": (2, 1e9),
    "hcat_random_seed": (0, 2**31 - 1),
    "hcat_review_budget": (1, 1e9),
    "hcat_sampling_total": (1, 1e9),
}


class SettingError(ValueError):
    """A setting does not exist or has no such value; the message is one line."""


def check_settings(start: Path, given: Mapping[str, Any], environment: Mapping[str, str]) -> None:
    """Raise an error if a project, a command line or the environment sets something that hcat cannot read."""
    try:
        project = find_project(start)
    except ProjectError:
        return
    found = read_project_file(project).get("version")
    if found != __version__:
        raise SettingError(
            f"the dbt package is version {found} and the Python package hcat-eval is {__version__}, and each needs the"
            f" other at its own version: install hcat-eval {found}, or let packages.yml name hcat {__version__}"
        )
    defaults = read_variables(project, project)
    for name, value in (read_variables(project, start) | dict(given)).items():
        if name in defaults:
            _check_value(name, value, defaults[name])
        # vars of others are none of hcat's business
        elif name.startswith("hcat_") and name not in _OTHER_VARIABLES:
            (near,) = difflib.get_close_matches(name, sorted([*defaults, *_OTHER_VARIABLES]), 1, 0)
            raise SettingError(f"the var {name} does not exist: did you mean {near}?")
    for name in environment:
        if name.startswith("HCAT_") and name not in ENVIRONMENT:
            for near in difflib.get_close_matches(name, ENVIRONMENT, 1, _LIKENESS):
                raise SettingError(f"the environment variable {name} does not exist: did you mean {near}?")


def _check_value(name: str, value: Any, default: Any) -> None:
    """Raise an error if a value has another type than the default, or lies beyond its bounds."""
    due, types = _TYPES.get(type(default), ("", (object,)))
    # True is an int in Python; the judges of a list are read by hcat.judging
    is_right = isinstance(value, types) and isinstance(value, bool) <= (bool in types or object in types)
    is_right |= name == "hcat_judge" and isinstance(value, list)
    if name in _BOUNDS:
        least, most = _BOUNDS[name]
        due += f" from {least:g}" + (f" to {most:g}" if most < 1e9 else "")
        is_right = is_right and least <= value <= most
    if isinstance(default, list) and is_right:
        is_right = all(isinstance(each, str) for each in value)
        if name.endswith("_languages"):
            due = "a list of codes of ISO 639-1, for instance [en, 'no']"
            is_right = bool(value) and is_right and all(re.fullmatch("[a-z]{2}", each) for each in value)
    if not is_right:
        raise SettingError(f"the var {name} is {value!r}: it must be {due}")


def read_vars(text: str | None) -> dict[str, Any]:
    """Return vars of a command line."""
    try:
        found = yaml.safe_load(text or "{}")
    except yaml.YAMLError as error:
        raise ValueError(f"--vars is no YAML: {' '.join(str(error).split())}") from error
    if not isinstance(found, dict):
        raise ValueError(f"--vars must be names and values, as {{hcat_schema: evaluation}}, got {text}")
    return found

"""Settings that do not exist: a mistyped var or environment variable is refused, with the nearest name that does."""

import difflib
from collections.abc import Iterable, Mapping
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


class SettingError(ValueError):
    """A setting does not exist; the message is one line that names the nearest one that does."""


def check_settings(start: Path, given: Iterable[str], environment: Mapping[str, str]) -> None:
    """Raise an error if a project, a command line or the environment sets something that hcat does not have."""
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
    known = known_variables(project)
    for name in [*given, *read_variables(project, start)]:
        # vars of others are none of hcat's business
        if name.startswith("hcat_") and name not in known:
            (near,) = difflib.get_close_matches(name, sorted(known), 1, 0)
            raise SettingError(f"the var {name} does not exist: did you mean {near}?")
    for name in environment:
        if name.startswith("HCAT_") and name not in ENVIRONMENT:
            for near in difflib.get_close_matches(name, ENVIRONMENT, 1, _LIKENESS):
                raise SettingError(f"the environment variable {name} does not exist: did you mean {near}?")


def known_variables(project: Path) -> frozenset[str]:
    """Return the names of all vars of hcat, read from its own project."""
    return frozenset([*read_variables(project, project), *_OTHER_VARIABLES])


def read_vars(text: str | None) -> dict[str, Any]:
    """Return vars of a command line."""
    try:
        found = yaml.safe_load(text or "{}")
    except yaml.YAMLError as error:
        raise ValueError(f"--vars is no YAML: {' '.join(str(error).split())}") from error
    if not isinstance(found, dict):
        raise ValueError(f"--vars must be names and values, as {{hcat_schema: evaluation}}, got {text}")
    return found

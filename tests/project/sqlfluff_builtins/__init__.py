"""What dbt puts into the Jinja context and sqlfluff's own dbt builtins leave out, so that linting needs no dbt project.

sqlfluff loads this folder through `library_path` in .sqlfluff; every public name here is visible to models and macros.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NoReturn

import jinja2
import yaml

_PROJECT = yaml.safe_load((Path(__file__).resolve().parents[3] / "dbt_project.yml").read_text(encoding="utf-8"))

invocation_id = "00000000-0000-0000-0000-000000000000"
dbt_version = "1.11.0"
run_started_at = datetime(2026, 1, 1, tzinfo=UTC)
execute = True


def var(name: str, default: Any = None) -> Any:
    """Return the default of a variable as dbt_project.yml states it."""
    return _PROJECT["vars"][_PROJECT["name"]].get(name, default)


def tojson(value: Any) -> str:
    """Return the value as JSON text."""
    return json.dumps(value)


class exceptions:  # noqa: N801 -- the name that dbt gives it
    """The one exception helper that macros of this project call."""

    @staticmethod
    def raise_compiler_error(message: str) -> NoReturn:
        """Stop the rendering with a message, as dbt does."""
        raise ValueError(message)


class adapter:  # noqa: N801 -- the name that dbt gives it
    """Dispatch to the macros of the linted dialect, DuckDB's, which stand beside the public one."""

    @staticmethod
    @jinja2.pass_context
    def dispatch(context: Any, name: str, package: str) -> Any:
        """Return the macro that DuckDB gets."""
        return context.resolve(f"default__{name}")

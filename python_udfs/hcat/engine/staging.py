"""The SQL of staging models over Arrow tables, without dbt: a check of logs must reject what the build rejects."""

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa

_PROJECT_FILE = "dbt_project.yml"
_NAME = "hcat"


class ProjectError(RuntimeError):
    """The models of hcat were not found; the message is one line."""


def find_project(start: Path) -> Path:
    """Return the folder of hcat's dbt project: ``start``, a package of the project there, or that of this code."""
    # an installed hcat carries its project beside its code, and a clone holds it above
    here = Path(__file__).resolve()
    own = (here.parents[1] / "dbt_project", here.parents[3])
    for folder in (start, start / "dbt_packages" / _NAME, *own):
        if (folder / _PROJECT_FILE).is_file() and (folder / "models" / "staging").is_dir():
            return folder
    raise ProjectError("the models of hcat are not here: run it in the folder of the dbt project, after `dbt deps`")


def read_variables(project: Path, start: Path) -> dict[str, Any]:
    """Return the settings of hcat's project, with those that the user's own project in ``start`` sets."""
    variables: dict[str, Any] = {}
    for folder in dict.fromkeys((project, start)):
        given = read_project_file(folder).get("vars") or {}
        variables |= {name: value for name, value in given.items() if not isinstance(value, dict)}
        variables |= given.get(_NAME) or {}
    return variables


def read_project_file(folder: Path) -> dict[str, Any]:
    """Return what the project file of a folder holds; nothing where there is none."""
    path = folder / _PROJECT_FILE
    return (_load_yaml(path.read_text(encoding="utf-8")) or {}) if path.is_file() else {}


def _load_yaml(text: str) -> Any:
    """Return what a YAML text holds, by the parser in C where it is installed: it takes a tenth of the time."""
    import yaml

    return yaml.load(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader))


def find_seed(project: Path, name: str) -> Path:
    """Return the file of a seed; hcat keeps what its demo decides otherwise in a folder of its own."""
    decided = project / "decisions" / f"{name}.csv"
    return decided if decided.is_file() else project / "seeds" / f"{name}.csv"


def describe_seed(project: Path, name: str) -> dict[str, Any]:
    """Return the properties that hcat's project states for a seed; none if it states nothing."""
    for path in sorted((project / "seeds" / "properties").glob("_*.yml")):
        text = path.read_text(encoding="utf-8")
        # reading a file of settings costs more than looking for a name in it
        seeds = (_load_yaml(text).get("seeds") or []) if f"name: {name}\n" in text else []
        for seed in seeds:
            if seed["name"] == name:
                return dict(seed)
    return {}


class Staging:
    """A database in memory that holds landed rows and runs staging models over them."""

    def __init__(self, project: Path, variables: Mapping[str, Any]) -> None:
        import duckdb

        self._project = project
        self._variables = variables
        self._connection = duckdb.connect()
        self._connection.execute("set TimeZone = 'UTC'")
        self._models = {path.stem: path for path in (project / "models" / "staging").rglob("*.sql")}
        self._environment = self._make_environment()
        # the texts of the project's macros by their names, each macro by itself
        self._undefined: dict[str, str] = {}
        for path in sorted((project / "macros").rglob("*.sql")):
            for text in re.split(r"(?={%-? macro )", path.read_text(encoding="utf-8")):
                self._undefined |= dict.fromkeys(re.findall(r"{%-? macro (\w+)\(", text), text)

    def add(self, name: str, rows: pa.Table) -> None:
        """Add a table, for instance of landed rows."""
        self._connection.from_arrow(rows).create(name)

    def append(self, name: str, rows: pa.RecordBatch) -> None:
        """Append rows to a table that was added."""
        self._connection.from_arrow(pa.Table.from_batches([rows])).insert_into(name)

    def add_seed(self, path: Path) -> None:
        """Add a seed, with the types that the project declares for its columns; the others are texts."""
        rows = self._connection.read_csv(str(path), all_varchar=True)
        types = (describe_seed(self._project, path.stem).get("config") or {}).get("column_types") or {}
        columns = [f'"{name}"::{types.get(name, "varchar")} as "{name}"' for name in rows.columns]
        rows.project(", ".join(columns)).create(path.stem)

    def run(self, name: str) -> str:
        """Make the table of a staging model, and those of the models that it reads, once each; return its name."""
        if path := self._models.pop(name, None):
            self._connection.execute(f'create table "{name}" as {self.render(path.read_text("utf-8"))}')
        return f'"{name}"'

    def relation(self, name: str) -> Any:
        return self._connection.table(name)

    def rows(self, query: str) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = self._connection.sql(query).to_arrow_table().to_pylist()
        return rows

    def render(self, text: str) -> str:
        """Return a text of dbt with what its macros make of it."""
        self._define(text)
        return str(self._environment.from_string(text).render())

    def _make_environment(self) -> Any:
        """Return an environment with what staging uses of dbt; macros of the project are added as they are used."""
        import jinja2

        environment = jinja2.Environment(extensions=["jinja2.ext.do"])
        known = environment.globals

        def dispatch(name: str, package: str) -> Any:
            return known.get(f"duckdb__{name}") or known[f"default__{name}"]

        def refuse(message: str) -> None:
            raise ProjectError(message)

        known |= {
            "adapter": SimpleNamespace(dispatch=dispatch),
            "exceptions": SimpleNamespace(raise_compiler_error=refuse),
            "return": _return,
            "ref": lambda *names: self.run(names[-1]),
            "var": lambda name, default=None: self._variables.get(name, default),
            "run_started_at": datetime.now(UTC),
            "config": lambda **settings: "",
        }
        return environment

    def _define(self, text: str) -> None:
        """Define the macros that a text uses, those that others use first; once each."""
        dispatched = re.findall(r"dispatch\('(\w+)'", text)
        own = [f"{engine}__{name}" for name in dispatched for engine in ("duckdb", "default")]
        for name in [*own, *re.findall(r"\b(\w+)\(", text)]:
            macro = self._undefined.pop(name, None)
            if macro is not None:
                self._define(macro)
                module = self._environment.from_string(macro).module
                self._environment.globals[name] = _returning(getattr(module, name))


class _ReturnedError(Exception):
    """Carries the value that a macro returns out of the macro, as in dbt."""


def _return(value: Any) -> None:
    raise _ReturnedError(value)


def _returning(macro: Callable[..., Any]) -> Callable[..., Any]:
    """Return a macro whose call gives what it returns, otherwise its text."""

    def call(*values: Any, **named: Any) -> Any:
        try:
            return macro(*values, **named)
        except _ReturnedError as returned:
            return returned.args[0]

    return call

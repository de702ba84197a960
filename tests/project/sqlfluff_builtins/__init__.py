"""What dbt puts into the Jinja context and sqlfluff's own dbt builtins leave out, so that linting needs no dbt project.

sqlfluff loads this folder through `library_path` in .sqlfluff; every public name here is visible to models and macros.
"""

import gc
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, ClassVar, NoReturn

import jinja2
import yaml
from sqlfluff.utils.reflow.sequence import ReflowSequence

_PROJECT_FILE = Path(__file__).resolve().parents[3] / "dbt_project.yml"
_PROJECT = yaml.load(_PROJECT_FILE.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)

invocation_id = "00000000-0000-0000-0000-000000000000"
dbt_version = "1.11.0"
run_started_at = datetime(2026, 1, 1, tzinfo=UTC)
execute = True
#: What a build makes: linted is what `dbt test` would run.
selected_resources: list[str] = []


class graph:  # noqa: N801 -- the name that dbt gives it
    """The files that dbt knows; what is linted depends on none of them."""

    nodes: ClassVar[dict[str, Any]] = {}


class model:  # noqa: N801 -- the name that dbt gives it
    """The file that is linted, without its contract."""

    columns: ClassVar[dict[str, Any]] = {}


def var(name: str, default: Any = None) -> Any:
    """Return the default of a variable as dbt_project.yml states it."""
    return _PROJECT["vars"][_PROJECT["name"]].get(name, default)


def env_var(name: str, default: str = "") -> str:
    """Return the default of an environment variable; what is linted is the demo."""
    return "1" if name == "HCAT_DEMO" else default


def tojson(value: Any) -> str:
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

    @staticmethod
    def get_columns_in_relation(relation: str) -> list[Any]:
        """Return no column: no relation exists while files are linted."""
        return []


def _compile_once() -> None:
    """Keep what Jinja compiled: sqlfluff compiles all macros twice for each file, which was half of its time."""
    compile_source, codes = jinja2.Environment.compile, {}

    def compile_or_recall(self: jinja2.Environment, source: str, *arguments: Any, **settings: Any) -> Any:
        if arguments or settings:
            return compile_source(self, source, *arguments, **settings)
        if source not in codes:
            codes[source] = compile_source(self, source)
        return codes[source]

    jinja2.Environment.compile = compile_or_recall  # type: ignore[method-assign]


def _reflow_once() -> None:
    """Keep the layout of the last file as it was read: four rules ask for it, which was half of what is left."""
    make, last = ReflowSequence.from_root.__func__, []  # type: ignore[attr-defined]

    def make_or_recall(kind: type[ReflowSequence], root_segment: Any, config: Any) -> ReflowSequence:
        if not last or last[0] is not root_segment:
            last[:] = root_segment, make(kind, root_segment, config)
        made = last[1]
        return kind(list(made.elements), root_segment, made.reflow_config, made.depth_map)

    ReflowSequence.from_root = classmethod(make_or_recall)  # type: ignore[assignment, method-assign]


# sqlfluff runs this file again for each file that it lints
if jinja2.Environment.compile.__name__ == "compile":
    _compile_once()
    _reflow_once()
    # a parsed file is many objects, which all stay until it is linted
    gc.set_threshold(50_000)

"""SQL of the project's models as DuckDB runs it, without dbt: for models that run alone on rows made for them."""

import functools
import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from benchmarks.harness import ROOT

_EXTENSIONS = ("jinja2.ext.do",)


class _Returned(Exception):  # noqa: N818 - no error: how a macro ends
    """Carries what a macro returns by `return`, which need not be a text."""

    def __init__(self, value: Any) -> None:
        super().__init__()
        self.value = value


def _return(value: Any) -> None:
    raise _Returned(value)


def _make_callable(macro: Callable[..., str]) -> Callable[..., Any]:
    def call(*values: Any, **named: Any) -> Any:
        try:
            return macro(*values, **named)
        except _Returned as returned:
            return returned.value

    return call


class _Adapter:
    """Stands for dbt's adapter: macros between engines take their form for DuckDB."""

    def __init__(self, names: Mapping[str, Any]) -> None:
        self._names = names

    def dispatch(self, name: str, package: str) -> Callable[..., Any]:
        del package
        own = self._names.get(f"duckdb__{name}")
        found: Callable[..., Any] = own or self._names[f"default__{name}"]
        return found


@functools.cache
def _compile(text: str) -> Any:
    from jinja2 import Environment

    return Environment(extensions=_EXTENSIONS).compile(text)


def _load(environment: Any, text: str) -> Any:
    from jinja2 import Template

    return Template.from_code(environment, _compile(text), environment.make_globals(None))


@functools.cache
def _make_environment(variables: str) -> Any:
    """Return the environment of templates with the project's macros, for vars as JSON."""
    from jinja2 import Environment, StrictUndefined

    # what every model may ask: all modules, and no seed of the project's own
    values = {"hcat_modules": {}, "hcat_profile": "full", "hcat_own_seeds": []} | json.loads(variables)
    environment = Environment(undefined=StrictUndefined, extensions=_EXTENSIONS)
    names = environment.globals
    names |= {
        "adapter": _Adapter(names),
        "return": _return,
        # the name of the package comes first
        "ref": lambda *names: names[-1],
        "config": lambda **_: "",
        # no contract is read: a mart keeps the columns that it is made of
        "execute": False,
        "var": lambda key: values[key],
    }
    # a template each, so that macros find one another by name and not each other's texts; shared names, so that a
    # macro also finds those that are read after its own
    for path in sorted((ROOT / "macros").rglob("*.sql")):
        for text in re.split(r"(?={%-? macro )", path.read_text(encoding="utf-8")):
            macros = vars(_load(environment, text).make_module(names, shared=True))
            names |= {key: _make_callable(value) for key, value in macros.items() if callable(value)}
    return environment


def render_model(name: str, variables: Mapping[str, Any]) -> str:
    """Return the SQL of a model with its references as table names."""
    paths = list((ROOT / "models").rglob(f"{name}.sql"))
    if len(paths) != 1:
        raise ValueError(f"a model must have one file, got {len(paths)} of {name}")
    rendered: str = _load(
        _make_environment(json.dumps(variables, sort_keys=True)), paths[0].read_text(encoding="utf-8")
    ).render()
    return rendered

"""Options of several commands: those that name a project as dbt does, and those that name a build to read."""

import inspect
import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from hcat.engine.saying import say
from hcat.engine.warehouse import Place, as_place

#: Options that name a project, its profile and its target, as those of dbt do.
ProjectOption = Annotated[
    Path | None,
    typer.Option("--project-dir", envvar="DBT_PROJECT_DIR", help="Folder of the dbt project; by default this one."),
]
ProfilesOption = Annotated[
    Path | None,
    typer.Option("--profiles-dir", envvar="DBT_PROFILES_DIR", help="Folder of profiles.yml; by default as in dbt."),
]
VariablesOption = Annotated[
    str | None, typer.Option("--vars", metavar="YAML", help="Vars, as your builds get them on their command line.")
]
TargetOption = Annotated[str | None, typer.Option("--target", help="Target of the profile; by default the profile's.")]
RawLogsOption = Annotated[
    Path | None,
    typer.Option("--raw-logs", envvar="HCAT_RAW_LOGS", help="Folder of raw logs; by default that of the dbt project."),
]

#: Options that name the build to read: by default that of the dbt project in which the command runs.
_PLACE_OPTIONS: Final[dict[str, Any]] = {
    "project_dir": ProjectOption,
    "profiles_dir": ProfilesOption,
    "target": TargetOption,
    "database": Annotated[
        Path | None, typer.Option("--database", help="DuckDB file to read instead of that of the project.")
    ],
    "schema": Annotated[
        str | None, typer.Option("--schema", help="Schema of hcat's tables; by default the one that holds them.")
    ],
    "warehouse": Annotated[
        Path | None, typer.Option("--warehouse", help="Folder that holds hcat.duckdb; a published copy works too.")
    ],
}


def reads_a_build(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command with the options that name a build; its parameter ``place`` is what they find."""

    @wraps(command)
    def run(**values: Any) -> None:
        place = _find_place({name: values.pop(name) for name in _PLACE_OPTIONS})
        command(place=place, **values)
        if place.database.is_file():
            where = (str(place.database), place.schema and f"schema {place.schema}", place.named)
            say(f"hcat read {', '.join(filter(None, where))}", is_error=True)

    signature = inspect.signature(command, eval_str=True)
    kept = [one.replace(kind=one.KEYWORD_ONLY) for one in signature.parameters.values() if one.name != "place"]
    added = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=kind)
        for name, kind in _PLACE_OPTIONS.items()
    ]
    run.__signature__ = signature.replace(parameters=[*kept, *added])  # type: ignore[attr-defined]
    return run


def _find_place(given: Mapping[str, Any]) -> Place:
    """Return the build that the options name."""
    from hcat.engine.project import find_place, is_project

    project, database, warehouse = given["project_dir"] or Path.cwd(), given["database"], given["warehouse"]
    if database is not None:
        # a file may be a published copy
        place = Place(database, database.parent, published=database)
    elif warehouse is not None:
        place = as_place(warehouse)
    elif is_project(project) or given["project_dir"] is not None or given["target"] is not None:
        place = find_place(project, given["target"], given["profiles_dir"])
    else:
        place = as_place(Path(os.environ.get("HCAT_WAREHOUSE", "warehouse")))
    named = {"schema": given["schema"] or place.schema, "project": project, "profiles": given["profiles_dir"]}
    return replace(place, **named)

"""Where the build of a dbt project lies: target, database file and schema, read as dbt does without its slow start."""

import os
import sys
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, Final

from hcat.engine.staging import read_variables
from hcat.engine.warehouse import DATABASE_FILE, Place, WarehouseError

#: dbt as a process of its own: it changes folders and keeps state. A parsed project is many objects, which all stay:
#: looking for garbage among them as often as Python does by default takes a fifteenth of a small build.
DBT: Final = (
    sys.executable,
    "-c",
    "import gc; gc.set_threshold(50_000); from dbt.cli.main import cli; gc.freeze(); cli(prog_name='dbt')",
)


def find_place(project: Path, target: str | None = None, profiles: Path | None = None) -> Place:
    """Return where the build of a project lies."""
    settings = _read_yaml(project / "dbt_project.yml")
    profile_name = str(render_setting(settings.get("profile") or settings.get("name")))
    # other settings of a target may need environment variables that only dbt has
    named, output = read_target(project, profile_name, target, profiles, ("type", "path", "schema"))
    given = os.environ.get("HCAT_WAREHOUSE") or read_variables(project, project).get("hcat_warehouse")
    folder = project / str(render_setting(given or "warehouse"))
    if output["type"] == "duckdb":
        # a build that names no file is in memory, and nothing of it can be read
        database = project / str(output.get("path", ":memory:"))
        return Place(database, folder, target_schema=str(output.get("schema", "main")), named=named)
    if output["type"] == "sparksession":
        candidate = folder / "published" / "candidate" / DATABASE_FILE
        return Place(candidate, folder, target_schema="main", named=named, is_local=False)
    raise WarehouseError(f"{named} has the type {output['type']}: hcat builds on duckdb and sparksession")


def read_target(
    project: Path, profile_name: str, target: str | None, profiles: Path | None, keys: Collection[str] = ()
) -> tuple[str, dict[str, Any]]:
    """Return in words which target of a profile is read, and its settings: all of them, or some keys."""
    path = _find_profiles(project, profiles)
    profile = _read_yaml(path).get(profile_name)
    if not isinstance(profile, Mapping):
        raise WarehouseError(f"{path} has no profile {profile_name}, which {project} names")
    chosen = target or str(render_setting(profile.get("target", "default")))
    outputs = profile.get("outputs") or {}
    if chosen not in outputs:
        raise WarehouseError(f"profile {profile_name} has no target {chosen} (has: {', '.join(map(str, outputs))})")
    output = {key: render_setting(value) for key, value in outputs[chosen].items() if not keys or key in keys}
    return f"target {chosen} of profile {profile_name}", output


def find_raw_logs(project: Path) -> Path | None:
    """Return the folder of raw logs that vars name, as a build reads them; None if they name none."""
    named = str(render_setting(read_variables(project, project).get("hcat_raw_logs") or ""))
    return project / named if named else None


def is_project(folder: Path) -> bool:
    """Return whether a folder is that of a dbt project."""
    return (folder / "dbt_project.yml").is_file()


def _find_profiles(project: Path, named: Path | None) -> Path:
    """Return the profiles file that dbt would read: of a named folder, of the project, or of the user."""
    named = named or (Path(os.environ["DBT_PROFILES_DIR"]) if os.environ.get("DBT_PROFILES_DIR") else None)
    folders = [named] if named else [project, Path.home() / ".dbt"]
    for folder in folders:
        if (folder / "profiles.yml").is_file():
            return folder / "profiles.yml"
    raise WarehouseError(f"no profiles.yml in {' or '.join(map(str, folders))}: set --profiles-dir or --database")


def _read_yaml(path: Path) -> dict[str, Any]:
    import yaml

    try:
        found = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (UnicodeDecodeError, yaml.YAMLError) as error:
        raise WarehouseError(f"{path} is no YAML: {str(error).splitlines()[0]}") from error
    if not isinstance(found, dict):
        raise WarehouseError(f"{path} holds no settings")
    return found


def render_setting(value: Any) -> Any:
    """Return a setting with the values of the environment variables that it names."""
    if not isinstance(value, str) or "{" not in value:
        return value
    import jinja2

    environment = jinja2.Environment(undefined=jinja2.StrictUndefined)
    environment.filters |= dict.fromkeys(("as_number", "as_bool", "as_native", "as_text"), lambda text: text)
    try:
        return environment.from_string(value).render(env_var=_env_var)
    except jinja2.TemplateError as error:
        raise WarehouseError(f"{value} cannot be read: {error}") from error


def _env_var(name: str, default: str | None = None) -> str:
    found = os.environ.get(name, default)
    if found is None:
        raise WarehouseError(f"the environment variable {name} is not set, and the profile or project needs it")
    return found

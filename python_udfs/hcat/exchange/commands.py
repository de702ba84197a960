"""The commands `hcat pull` and `hcat push`."""

from pathlib import Path
from typing import Annotated

import typer

from hcat.command_options import ProfilesOption, ProjectOption, RawLogsOption, reads_a_build
from hcat.engine.saying import say_in_columns
from hcat.engine.warehouse import Place

SettingsOption = Annotated[
    Path | None,
    typer.Option("--settings", help="YAML file of the exchange; by default warehouse.yml beside dbt_project.yml."),
]


def pull_logs(
    settings: SettingsOption = None,
    raw_logs: RawLogsOption = None,
    project_dir: ProjectOption = None,
    profiles_dir: ProfilesOption = None,
) -> None:
    """Read new and changed rows of a warehouse, or of Parquet files, into the raw logs."""
    from hcat.engine.project import find_raw_logs, is_project
    from hcat.engine.yaml_files import read_part
    from hcat.exchange.connections import find_target
    from hcat.exchange.pulling import pull
    from hcat.exchange.settings import FILE_NAME, Exchange

    project = project_dir or Path.cwd()
    file = settings or project / FILE_NAME
    exchange = read_part(file, Exchange)
    logs = raw_logs or (find_raw_logs(project) if is_project(project) else None)
    if logs is None:
        raise ValueError("no folder of raw logs: set --raw-logs, HCAT_RAW_LOGS or the var hcat_raw_logs")
    is_asking = not all(stream.files for stream in exchange.pull.values())
    target = find_target(exchange.connection, project, profiles_dir) if is_asking else None
    say_in_columns([*pull(exchange.pull, target, logs, file.parent), ("next", f"hcat check {logs}")])


@reads_a_build
def push_marts(place: Place, settings: SettingsOption = None) -> None:
    """Write the published marts into a warehouse; a mart that did not change is not sent again."""
    from hcat.engine.yaml_files import read_part
    from hcat.exchange.connections import find_target
    from hcat.exchange.pushing import push
    from hcat.exchange.settings import FILE_NAME, Exchange

    project = place.project or Path.cwd()
    exchange = read_part(settings or project / FILE_NAME, Exchange)
    if exchange.push is None:
        raise ValueError(f"{settings or FILE_NAME} has no push: name the schema that receives the marts")
    target = find_target(exchange.connection, project, place.profiles)
    say_in_columns(list(push(target, exchange.push.into, place.folder / "published")))

"""The tables of the last build as ``hcat build`` reads them and adds to them, on DuckDB and on Apache Spark.

Spark keeps each table as a folder of Parquet files. They are read and added to without a session, which takes time
to start. Where Spark keeps tables in another place or format, nothing is known of the last build.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hcat.engine.warehouse import (
    Place,
    Warehouse,
    open_folders,
    open_for_writing,
    open_warehouse,
    read_columns,
    show_folder,
)


@dataclass(frozen=True, slots=True)
class BuildTables:
    """The tables of a build, open for additions.

    Parameters
    ----------
    connection : DuckDBPyConnection
        Knows every table by its name.
    folder : Path or None
        Folder of the folders of Parquet files; None if the tables are those of a DuckDB file.
    """

    connection: Any
    folder: Path | None

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Add all or nothing. Files are added one after the other; the caller adds last what makes the others count."""
        if self.folder is None:
            self.connection.begin()
        yield
        if self.folder is None:
            self.connection.commit()

    def add(self, name: str, select: str, parameters: Mapping[str, Any]) -> None:
        """Add the rows of a SELECT to a table; columns go by their names."""
        if self.folder is None:
            self.connection.execute(f"insert into {name} by name {select}", parameters)
        else:
            self._write(select, parameters, self.folder / name / f"added-{uuid.uuid4()}.parquet")

    def replace(self, name: str, select: str, parameters: Mapping[str, Any]) -> None:
        """Make the rows of a SELECT those of a table, which need not exist yet."""
        if self.folder is None:
            self.connection.execute(f"create or replace table {name} as {select}", parameters)
        else:
            self._write(select, parameters, self.folder / name / "all.parquet")

    def _write(self, select: str, parameters: Mapping[str, Any], path: Path) -> None:
        path.parent.mkdir(exist_ok=True)
        # Spark does not read a file whose name starts with a dot
        unfinished = path.with_name(f".{path.name}")
        quoted = str(unfinished).replace("'", "''")
        self.connection.execute(f"copy ({select}) to '{quoted}' (format parquet)", parameters)
        unfinished.replace(path)
        show_folder(self.connection, path.parent)


@contextmanager
def open_build(place: Place) -> Iterator[Warehouse]:
    """Yield the tables of the last build, to read.

    Raises
    ------
    WarehouseError
        If the warehouse cannot be opened.
    """
    if place.is_local:
        with open_warehouse(place) as warehouse:
            yield warehouse
    else:
        with open_folders(_find_folder(place)) as connection:
            yield Warehouse(connection, read_columns(connection))


@contextmanager
def open_build_for_additions(place: Place) -> Iterator[BuildTables]:
    """Yield the tables of the last build, to add to.

    Raises
    ------
    WarehouseError
        If the warehouse cannot be opened, or if another process writes it.
    """
    if place.is_local:
        with open_for_writing(place) as connection:
            yield BuildTables(connection, None)
    else:
        folder = _find_folder(place)
        with open_folders(folder) as connection:
            yield BuildTables(connection, folder)


def _find_folder(place: Place) -> Path | None:
    """Return the folder of the tables of hcat; None if there is none on this machine, or more than one."""
    if place.tables is None:
        return None
    # as a package, hcat has a schema of its own, whose name starts like that of the target
    databases = [place.tables, *place.tables.parent.glob(f"{place.tables.stem}_*.db")]
    found = [database for database in databases if (database / "hcat_builds").is_dir()]
    return found[0] if len(found) == 1 else None

"""A plugin of dbt-duckdb: what is wrong with the database file is one line, before dbt opens it.

Named in profiles.yml: ``plugins: [{module: dbt.adapters.hcatwarehouse}]``.
"""

from pathlib import Path
from typing import Any

from dbt.adapters.duckdb.plugins import BasePlugin
from dbt_common.exceptions import DbtRuntimeError

from hcat.engine.warehouse import WarehouseError, prepare_database


class Plugin(BasePlugin):
    """Looks at the database before the first connection of a command."""

    def update_connection_config(self, creds: Any, config: dict[str, Any]) -> None:
        """Raise an error of one line if the database cannot be opened for writing."""
        if creds.path == ":memory:" or "://" in creds.path:
            return
        try:
            prepare_database(Path(creds.path))
        except WarehouseError as error:
            raise DbtRuntimeError(f"hcat: {error}") from error

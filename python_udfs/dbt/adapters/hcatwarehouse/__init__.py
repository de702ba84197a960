"""A plugin of dbt-duckdb: what is wrong with settings, the database file or the logs is one line, before a model runs.

What dbt writes from then on is for its account alone.

Named in profiles.yml: ``plugins: [{module: dbt.adapters.hcatwarehouse}]``.
"""

import os
import traceback
from pathlib import Path
from typing import Any

import duckdb
from dbt.adapters.duckdb import environments
from dbt.adapters.duckdb.plugins import BasePlugin
from dbt.flags import get_flags
from dbt_common.exceptions import DbtRuntimeError

from hcat.engine.files import explain_failure, first_line, keep_dbt_private
from hcat.engine.settings import SettingError, check_settings
from hcat.engine.warehouse import WarehouseError, prepare_database


class _Traces:
    """Takes the place of the module `traceback` where dbt-duckdb shows why a Python model failed."""

    @staticmethod
    def format_exception(error: BaseException) -> list[str]:
        """Return one line on what the machine could not do; the trace of any other error."""
        told = explain_failure(error)
        return traceback.format_exception(error) if told is None else [f"hcat: {told}"]


# a full disk is no fault of the code: its trace would hide the line that says so
vars(environments)["traceback"] = _Traces


class Plugin(BasePlugin):
    """Looks at the settings and the database before the first connection of a command."""

    def update_connection_config(self, creds: Any, config: dict[str, Any]) -> None:
        """Raise an error of one line if a setting does not exist or the database cannot be opened for writing."""
        flags = get_flags()
        keep_dbt_private(flags.LOG_PATH, flags.TARGET_PATH)
        try:
            # dbt has changed to the folder of the project
            check_settings(Path.cwd(), flags.VARS or {}, os.environ)
            if creds.path != ":memory:" and "://" not in creds.path:
                prepare_database(Path(creds.path))
        except (SettingError, WarehouseError) as error:
            raise DbtRuntimeError(f"hcat: {error}") from error

    def configure_connection(self, conn: Any) -> None:
        """Limit DuckDB's memory, and give SQL the function that says why logs give no interaction."""
        if "memory_limit" not in (self.creds.settings or {}):
            self._limit_memory(conn)
        # a hook asks it before the first model
        conn.create_function("hcat_explain_no_logs", _explain_no_logs, ["VARCHAR", "BOOLEAN"], "VARCHAR")
        if get_flags().WHICH in ("build", "run"):
            # whole before models run side by side: scipy, which one of them imports, asks a module torch for its
            # classes, and fails while another model still imports it
            import torch  # noqa: F401

    @staticmethod
    def _limit_memory(conn: Any) -> None:
        limit = os.environ.get("HCAT_MEMORY_LIMIT")
        if not limit:
            # DuckDB's own default is .8 of what the machine, or its container, has; .5 of it leaves room for Python
            number, unit = conn.execute("select current_setting('memory_limit')").fetchone()[0].split()
            limit = f"{float(number) * 0.5 / 0.8} {unit}"
        try:
            conn.execute("set memory_limit = ?", [limit])
        except duckdb.Error as error:
            raise DbtRuntimeError(f"hcat: HCAT_MEMORY_LIMIT is {limit!r}: {first_line(error)}") from error


def _explain_no_logs(folder: str, has_landed: bool) -> str:
    # most commands do not ask
    from hcat.landing.reading import explain_no_logs

    return explain_no_logs(folder, has_landed) or ""

"""What became of the last build, as the warehouse knows it and a published copy does not."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from hcat.engine.warehouse import Place, Warehouse, WarehouseError, find_database, open_warehouse, read_last_event

_LAST_RUN: Final = """
select run_id, started_at, is_passing, count_gates > 0 and count_error_gates_not_passing = 0 as passes_gates
from dim_runs
order by build_number desc
limit 1
"""
_LAST_GATES: Final = "select max_by(run_id, build_number) as run_id from fct_threshold_gates"


@dataclass(frozen=True, slots=True)
class Fault:
    """What became of the last build."""

    state: str
    title: str

    #: What to do about it.
    advice = "The published copy is of an earlier build. Run the build again; its log says what stopped it."

    @property
    def is_active(self) -> bool:
        """Whether somebody must know."""
        return self.state != "published"


def find_fault(warehouse: Path | Place, published: Path) -> Fault | None:
    """Return what became of the last build of a warehouse; None where that is not known."""
    if isinstance(warehouse, Place) and not warehouse.is_local:
        return None
    try:
        if published.parent in find_database(warehouse).parents:
            return None
        with open_warehouse(published) as copy:
            shown = copy.rows(_LAST_GATES, ["fct_threshold_gates"])[0]["run_id"]
        with open_warehouse(warehouse) as source:
            return _describe(source, shown)
    except WarehouseError:
        return None


def _describe(source: Warehouse, shown: str) -> Fault | None:
    event = read_last_event(source)
    if event is not None and event["event"] == "started":
        return Fault("killed", f"The last build was killed; it started {event['logged_at']:%Y-%m-%d %H:%M} UTC")
    for run in source.rows(_LAST_RUN, ["dim_runs"]):
        started = f"{run['started_at']:%Y-%m-%d %H:%M} UTC"
        if run["run_id"] != shown or run["passes_gates"] > run["is_passing"]:
            return Fault("unpublished", f"The last build, of {started}, did not publish its tables")
        return Fault("published", f"The last build, of {started}, ended, and the copy has its gates")
    return None

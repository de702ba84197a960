"""The queries of the page (``queries.sql``), by name."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from hcat.engine.warehouse import read_queries

QUERIES: Final = read_queries(Path(__file__).with_name("queries.sql"))

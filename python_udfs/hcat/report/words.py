"""The words of the page (``words.yml``): what the marts' statuses, verdicts and names read as. And its queries."""

from pathlib import Path
from typing import Any, Final

import yaml

from hcat.engine.warehouse import read_queries

#: Module -> name of the list -> value in the mart -> words.
WORDS: Final[dict[str, dict[str, dict[Any, Any]]]] = yaml.safe_load(
    Path(__file__).with_name("words.yml").read_text(encoding="utf-8")
)
QUERIES: Final = read_queries(Path(__file__).with_name("queries.sql"))

"""The words of the page (``words.yml``): what statuses, verdicts and names of the marts read as."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import yaml

#: Module -> name of the list -> value in the mart -> words.
WORDS: Final[dict[str, dict[str, dict[Any, Any]]]] = yaml.safe_load(
    Path(__file__).with_name("words.yml").read_text(encoding="utf-8")
)

"""Regular expressions that stand in YAML beside the module that reads them."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

# Letters that equal an ASCII letter where case is ignored, and that lower case alone does not make one.
_LIKE_ASCII = {0x130: "i", 0x131: "i", 0x17F: "s"}


def read_expressions(path: Path, known: Mapping[str, str] | None = None) -> Any:
    """Return what a YAML file holds, with expressions, known or of its own, in place of their names ``<NAME>``."""
    written = yaml.safe_load(path.read_text(encoding="utf-8"))
    names = dict(known or {})

    def spell_out(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: spell_out(each) for key, each in value.items()}
        if isinstance(value, list) and not all(isinstance(each, str) for each in value):
            return [spell_out(each) for each in value]
        text = "".join(value)
        return re.sub(r"<([A-Z_]+)>", lambda name: names[name[1]], text)

    for name, value in written.pop("expressions", {}).items():
        names[name] = spell_out(value)
    return spell_out(written)


def fold_case(text: str) -> str:
    """Return a text on which a pattern in lower case finds what it would find, far more slowly, ignoring case."""
    return (text if text.isascii() else text.translate(_LIKE_ASCII)).lower()

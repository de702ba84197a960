"""Files of YAML that people write, read strictly: what is wrong with one is one line."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import yaml

_SHOWN_CHARACTERS: Final = 60


class _Loader(yaml.SafeLoader):  # type: ignore[misc]
    """Refuses a repeated key, of which YAML would take the last, and a placeholder without quotes."""

    def construct_mapping(self, node: Any, deep: bool = False) -> Any:
        keys: set[str] = set()
        for key, _ in node.value:
            problem = None
            if not isinstance(key, yaml.ScalarNode):
                problem = 'a key must be a text; a placeholder needs quotes: "{{query}}"'
            elif key.value in keys:
                problem = f"the key {show_value(key.value)} stands here twice"
            if problem:
                raise yaml.MarkedYAMLError(problem=problem, problem_mark=key.start_mark)
            keys.add(key.value)
        return super().construct_mapping(node, deep)


def load_yaml(path: Path, error_class: type[ValueError] = ValueError) -> Any:
    """Return what a file holds; an error of `error_class` names the file and the line."""
    try:
        return yaml.load(path.read_text(encoding="utf-8-sig"), _Loader)
    except UnicodeDecodeError as error:
        raise error_class(f"{path} must be UTF-8, got other bytes at position {error.start}") from None
    except yaml.MarkedYAMLError as error:
        line = f", line {error.problem_mark.line + 1}" if error.problem_mark else ""
        raise error_class(f"{path}{line}: {error.problem}") from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise error_class(f"{path} must be YAML, got: {show_value(error)}") from None


def show_value(value: object) -> str:
    """Return a value of a file on one line, shortened."""
    text = " ".join(str(value).split())
    return text if len(text) <= _SHOWN_CHARACTERS else text[:_SHOWN_CHARACTERS] + "…"

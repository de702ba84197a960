"""Files of YAML that people write, read strictly: what is wrong with one is one line."""

from pathlib import Path
from typing import Any, Final, TypeVar

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError, model_validator

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


def load_yaml(path: Path) -> Any:
    """Return what a file holds; a ValueError names the file and the line."""
    try:
        return yaml.load(path.read_text(encoding="utf-8-sig"), _Loader)
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} must be UTF-8, got other bytes at position {error.start}") from None
    except yaml.MarkedYAMLError as error:
        line = f", line {error.problem_mark.line + 1}" if error.problem_mark else ""
        raise ValueError(f"{path}{line}: {error.problem}") from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise ValueError(f"{path} must be YAML, got: {show_value(error)}") from None


def show_value(value: object) -> str:
    """Return a value of a file on one line, shortened."""
    text = " ".join(str(value).split())
    return text if len(text) <= _SHOWN_CHARACTERS else text[:_SHOWN_CHARACTERS] + "…"


class Part(BaseModel):
    """Some keys of the file; a key without a value counts as left out."""

    model_config = ConfigDict(coerce_numbers_to_str=True, frozen=True)

    @model_validator(mode="before")
    @classmethod
    def _check_keys(cls, given: Any) -> Any:
        if given is None:
            return {}
        if not isinstance(given, dict):
            # a secret may stand here
            raise ValueError(f"must be keys with values, got a value of the type {type(given).__name__}")
        known = [field.alias or name for name, field in cls.model_fields.items()]
        for key in given:
            if key not in known:
                raise ValueError(f"knows the keys {', '.join(known)}, and not {show_value(key)}")
        return {key: value for key, value in given.items() if value is not None}


PartOfFile = TypeVar("PartOfFile", bound=Part)


def read_part(path: Path, kind: type[PartOfFile]) -> PartOfFile:
    """Return what a file states; one line on the first wrong key."""
    try:
        return kind.model_validate(load_yaml(path))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place, said = ".".join(map(str, first["loc"])), first["msg"].removeprefix("Value error, ")
        place = place.removesuffix(".[key]")
        if first["loc"][-1:] == ("[key]",) and first["type"] == "string_type":
            said = "must stand in quotes"
        elif first["type"] != "value_error":
            said = f"{said.replace('Input should be', 'must be')}, got {show_value(first['input'])}"
        raise ValueError(f"{path}: {f'{place} ' if place else ''}{said}") from None

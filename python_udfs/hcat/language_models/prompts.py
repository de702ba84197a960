"""What all prompts are made of: texts of a file, two messages, and the JSON schema of the reply."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import yaml

TEXT: Final[Mapping[str, Any]] = {"type": "string"}


def read_texts(module: str, name: str = "prompts.yml") -> dict[str, Any]:
    """Return the texts of a file beside a module, given its ``__file__``."""
    texts: dict[str, Any] = yaml.safe_load(Path(module).with_name(name).read_text(encoding="utf-8"))
    return texts


def write_messages(system: str, content: Mapping[str, Any]) -> list[dict[str, str]]:
    """Return the message of the system, and that of the user with its content as JSON."""
    return [{"role": "system", "content": system}, {"role": "user", "content": json.dumps(content, ensure_ascii=False)}]


def object_of(properties: Mapping[str, Any]) -> dict[str, Any]:
    """Return the JSON schema of an object with these members and no other."""
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


def list_of(items: Mapping[str, Any], least: int, most: int) -> dict[str, Any]:
    """Return the JSON schema of a list."""
    return {"type": "array", "items": dict(items), "minItems": least, "maxItems": most}

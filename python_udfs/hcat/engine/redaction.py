"""Secrets from the environment: taking them out of texts that are written or shown."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, Final
from urllib.parse import quote, quote_plus

REDACTED: Final = "[redacted]"
MINIMUM_CHARACTERS: Final = 8
"""Shorter values are taken out of messages but not out of answers: an answer may well hold the word "dev"."""


class Redactor:
    """Takes secrets out of texts, and hidden values out of messages, as plain text, JSON or a URL spells them."""

    __slots__ = ("_everything", "_secrets")

    def __init__(self, secrets: Iterable[str], hidden: Iterable[str] = ()) -> None:
        secrets = tuple(secrets)
        self._secrets = _spellings(secret for secret in secrets if len(secret) >= MINIMUM_CHARACTERS)
        self._everything = _spellings((*secrets, *hidden))

    def message(self, text: str) -> str:
        """Return a message without any secret or hidden value."""
        return _replace(text, self._everything)

    def value(self, value: Any) -> Any:
        """Return a JSON value whose texts hold no secret of :data:`MINIMUM_CHARACTERS` or more."""
        if isinstance(value, str):
            return _replace(value, self._secrets)
        if isinstance(value, dict):
            return {key: self.value(item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [self.value(item) for item in value]
        return value


def _spellings(secrets: Iterable[str]) -> tuple[str, ...]:
    """Return every spelling of every secret, the longest first."""
    found = {
        spelling
        for secret in secrets
        if secret
        for spelling in (secret, json.dumps(secret)[1:-1], quote(secret, safe=""), quote_plus(secret))
    }
    # the longest first: a secret may be a part of another
    return tuple(sorted(found, key=lambda spelling: (-len(spelling), spelling)))


def _replace(text: str, spellings: tuple[str, ...]) -> str:
    for spelling in spellings:
        text = text.replace(spelling, REDACTED)
    return text

"""What hcat prints: every line passes here, so that no text of a log or of a file name can steer a terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterable


def clean_line(text: object) -> str:
    """Return a text on one line: blanks become spaces, and what no screen shows becomes visible as ``⟨U+202E⟩``."""
    line = str(text)
    if line.isprintable():
        return line
    return "".join(
        character if character.isprintable() else " " if character.isspace() else f"⟨U+{ord(character):04X}⟩"
        for character in line
    )


def say(text: object, *, is_error: bool = False) -> None:
    """Print one line, cleaned, on standard output or standard error."""
    # in one write: threads print side by side
    print(f"{clean_line(text)}\n", end="", file=sys.stderr if is_error else sys.stdout, flush=True)


def say_in_columns(lines: Iterable[tuple[str, str]]) -> None:
    """Print names and texts in two columns, one line each, cleaned."""
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False)
    cleaned = [(clean_line(name), clean_line(text)) for name, text in lines]
    width = max(len(name) for name, _ in cleaned)
    for name, text in cleaned:
        # Text and not markup, because names from the logs may contain square brackets
        console.print(Text.assemble((f"{name:<{width}}  ", "bold"), text), soft_wrap=True)

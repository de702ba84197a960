"""What hcat prints: every line passes here, so that no text of a log or of a file name can steer a terminal."""

import sys
import time
from collections.abc import Iterable

#: Seconds between two lines of :class:`Progress`.
_SECONDS = 10.0


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


class Progress:
    """Prints a line every ten seconds; work of less than that prints nothing. A total may be unknown."""

    def __init__(self, label: str, total: int | None) -> None:
        self._label, self._total, self._done, self._shown = label, total, 0, 0
        self._started = self._printed = time.monotonic()

    def advance(self, count: int) -> None:
        """Add what has been done since the last call."""
        self._done += count
        now = time.monotonic()
        if now - self._printed >= _SECONDS:
            self._print(now)

    def finish(self) -> None:
        """Print the last line, if there was one before it."""
        if self._printed != self._started and self._shown < self._done:
            self._print(time.monotonic())

    def _print(self, now: float) -> None:
        self._printed, self._shown = now, self._done
        rate = self._done / max(now - self._started, 1e-9)
        of = "" if self._total is None else f" of {self._total:,} ({100.0 * self._done / max(self._total, 1):.0f} %)"
        say(f"hcat {self._label}: {self._done:,}{of}, {rate:,.0f} a second", is_error=True)

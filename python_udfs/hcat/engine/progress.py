"""Lines on standard error that say how far a long piece of work has come."""

from __future__ import annotations

import time

from hcat.engine.saying import say

_SECONDS = 10.0


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

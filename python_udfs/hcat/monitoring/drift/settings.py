"""Settings of the drift tests, checked when they are made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date


@dataclass(frozen=True, slots=True)
class DriftSettings:
    """Settings of the drift tests; units in parentheses.

    A setting out of range raises a ``ValueError`` that names the setting and both sides.

    Attributes
    ----------
    reference_start : str
        ISO date from which weeks count as reference; an empty text stands for the first complete week of the logs.
    reference_weeks : int
        Longest reference.
    window_weeks : sequence of int
        Lengths of the windows (weeks).
    window_shares : sequence of float
        Their shares of a test's level, above 0, together 1.
    minimum_weeks : int
        Least weeks of the reference that hold a score of the series.
    mix_dimension : str
        Dimension whose mix a mean is freed of; an empty text frees it of none.
    minimum_reference, minimum_window, minimum_shape : float
        Least effective rows of the reference, of the window for a mean, and of both for a mix.
    minimum_expected : float
        Effective rows that a segment expects without drift.
    minimum_shift : float
        Least shift of a mean that alarms (standard deviations of the reference).
    alarm_level : float
        Largest share of weeks with any alarm when nothing drifts, in (0, 1).
    mix_share : float
        Share of that level that the mix of segments has, in [0, 1]; the means have the rest.
    headline_share : float
        Share of the level of the means that the series over all interactions have, in [0, 1]; the dimensions have the
        rest, each as much as another.
    confidence : float
        Of the intervals of differences, each on its own, in (0, 1).

    Examples
    --------
    >>> DriftSettings(alarm_level=0.05).reference_weeks
    26
    >>> DriftSettings(alarm_level=1.3)
    Traceback (most recent call last):
    ...
    ValueError: alarm_level must lie in (0, 1), got 1.3
    """

    reference_start: str = ""
    reference_weeks: int = 26
    window_weeks: Sequence[int] = (1, 3)
    window_shares: Sequence[float] = (0.05, 0.95)
    minimum_weeks: int = 4
    mix_dimension: str = "topic"
    minimum_reference: float = 30.0
    minimum_window: float = 10.0
    minimum_shape: float = 50.0
    minimum_expected: float = 10.0
    minimum_shift: float = 0.1
    alarm_level: float = 0.01
    mix_share: float = 0.2
    headline_share: float = 0.5
    confidence: float = 0.95

    def __post_init__(self) -> None:
        """Raise a ``ValueError`` for settings with which a test could not keep its promise."""
        for name, least in (("reference_weeks", 1), ("minimum_weeks", 2)):
            if getattr(self, name) < least:
                raise ValueError(f"{name} must be at least {least}, got {getattr(self, name)}")
        if self.minimum_weeks > self.reference_weeks:
            raise ValueError(
                f"minimum_weeks must not exceed reference_weeks, got {self.minimum_weeks} and {self.reference_weeks}"
            )
        lengths = list(self.window_weeks)
        if not lengths or min(lengths) < 1 or len(set(lengths)) != len(lengths):
            raise ValueError(f"window_weeks must be distinct lengths of at least 1, got {lengths}")
        parts = list(self.window_shares)
        if len(parts) != len(lengths) or min(parts) <= 0 or abs(sum(parts) - 1) > 1e-9:
            raise ValueError(f"window_shares must be {len(lengths)} shares above 0 that add up to 1, got {parts}")
        # two clusters are the least that a variance can be made of
        for name in ("minimum_reference", "minimum_window", "minimum_shape"):
            if not getattr(self, name) >= 2:
                raise ValueError(f"{name} must be at least 2, got {getattr(self, name)}")
        if not self.minimum_expected > 0:
            raise ValueError(f"minimum_expected must be above 0, got {self.minimum_expected}")
        for name in ("alarm_level", "confidence"):
            if not 0 < getattr(self, name) < 1:
                raise ValueError(f"{name} must lie in (0, 1), got {getattr(self, name)}")
        if not self.minimum_shift >= 0:
            raise ValueError(f"minimum_shift must be at least 0, got {self.minimum_shift}")
        for name in ("mix_share", "headline_share"):
            if not 0 <= getattr(self, name) <= 1:
                raise ValueError(f"{name} must lie in [0, 1], got {getattr(self, name)}")
        if self.reference_start:
            try:
                date.fromisoformat(self.reference_start)
            except ValueError:
                raise ValueError(
                    f"reference_start must be an ISO date or empty, got {self.reference_start!r}"
                ) from None

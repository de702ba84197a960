"""Text from logs as a person may safely see it: cut at a length, with control characters made visible."""

from __future__ import annotations

import unicodedata

#: Characters of a label that are shown; the rest is cut with an ellipsis.
LABEL_CHARACTERS = 60


def clean_text(text: object, length: int) -> str:
    """Return ``text`` fit to be shown: at most ``length`` characters of it, with an ellipsis where it was cut.

    Control characters (terminal escapes), characters that change the direction of text and characters of no width
    become visible as ``⟨U+202E⟩``; line breaks and tabs stay. It does not escape HTML: the template does.

    Parameters
    ----------
    text : object
        Anything that ``str`` can show; None gives the empty string.
    length : int
        Characters kept, at least 1.
    """
    if length < 1:
        raise ValueError(f"length must be at least 1, got {length}")
    if text is None:
        return ""
    whole = str(text)
    kept = whole[:length].replace("\r\n", "\n").replace("\r", "\n")
    shown = "".join(
        f"⟨U+{ord(character):04X}⟩"
        if character not in "\n\t" and unicodedata.category(character) in {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"}
        else character
        for character in kept
    )
    return shown + "…" if len(whole) > length else shown


def clean_label(text: object, length: int = LABEL_CHARACTERS) -> str:
    """Return ``text`` as :func:`clean_text`, on one line; an empty one is named so."""
    return " ".join(clean_text(text, length).split()) or "(empty)"

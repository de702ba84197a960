"""Show text from logs safely: cut to a length, with control characters made visible."""

import unicodedata

#: Characters of a label that are shown; an ellipsis replaces the rest.
LABEL_CHARACTERS = 60


def clean_text(text: object, length: int) -> str:
    """Return at most ``length`` characters of ``text``, safe to show, with an ellipsis if it was cut."""
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
    """Return ``text`` as :func:`clean_text` does, on one line; ``(empty)`` if nothing is left."""
    return " ".join(clean_text(text, length).split()) or "(empty)"

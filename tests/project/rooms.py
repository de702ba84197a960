"""The rooms of the house in the order in which data flow: one list for folders of models and packages of Python.

A model refers to models of its own room or an earlier one, and a module imports modules of its own package or an
earlier one. docs/architecture.md shows the same list; a test holds the page to it.
"""

from typing import NamedTuple


class Room(NamedTuple):
    """One room: the question it answers, its folders of models and its packages of Python, each in order."""

    name: str
    question: str
    folders: tuple[str, ...] = ()
    packages: tuple[str, ...] = ()


ROOMS: tuple[Room, ...] = (
    Room("statistics", "Which arithmetic do all rooms share?", packages=("statistics",)),
    Room("engine", "What differs between engines and machines?", packages=("engine",)),
    Room("language", "What does a text say?", packages=("language",)),
    Room("landing", "What came in?", ("landing",), ("landing",)),
    Room(
        "staging",
        "What was accepted, and what was rejected for which reason?",
        ("staging/spans", "staging/corpus", "staging/rag_logs", "staging/human_review"),
    ),
    Room(
        "scoring",
        "What does each metric say of each interaction?",
        (
            "scoring/models",
            "scoring/interactions",
            "scoring/privacy_reading",
            "scoring/text_units",
            "scoring/correctness",
            "scoring/entailment",
            "scoring/text_scores",
            "scoring/topics",
            "scoring/decisions",
            "scoring/judging",
            "scoring/metrics",
        ),
        ("language_models", "privacy", "encoders", "metrics", "topics"),
    ),
    Room(
        "labels",
        "What do people say, and what is a score worth?",
        ("labels/ratings", "labels/calibrators", "labels/conformal", "labels/thresholds"),
        ("calibration", "review"),
    ),
    Room("core", "What are the facts?", ("core",)),
    Room(
        "analysis",
        "Where is the system weak, with what confidence, and is it better or worse than before?",
        (
            "analysis/segments",
            "analysis/weakness",
            "analysis/versions",
            "analysis/findings",
            "analysis/robustness",
            "analysis/bias",
            "analysis/flags",
            "analysis/drift",
            "analysis/failure_rates",
            "analysis/calibration_evidence",
            "analysis/review",
        ),
        ("weakness", "robustness", "safety", "monitoring"),
    ),
    Room("gates", "May the system go live?", ("gates",), ("gates",)),
    Room("publication", "What do readers get?", ("publication",)),
    Room("semantic", "Which measures does a BI tool find by name?", ("semantic",)),
    Room(
        "requested",
        "Which jobs are asked for by name?",
        (
            "requested/test_set/topics",
            "requested/test_set/sampling",
            "requested/test_set/generation",
            "requested/test_set/variants",
            "requested/test_set/delivery",
            "requested/grammar/schema",
            "requested/grammar/templates",
            "requested/grammar/queries",
            "requested/judging",
        ),
        ("test_set", "grammar", "judging"),
    ),
    Room(
        "readers",
        "How do people reach all this?",
        packages=("collection", "report", "explorer", "command_options", "exchange", "cli"),
    ),
)

FOLDERS: tuple[str, ...] = tuple(folder for room in ROOMS for folder in room.folders)
PACKAGES: tuple[str, ...] = tuple(package for room in ROOMS for package in room.packages)

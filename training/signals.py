"""Signals of the sentences of labelled answers and made faults, as a build has them or as they are stored.

The stored file holds numbers and digests and no text: what both shipped classifiers say, and all other signals. With it
the shipped prior is fitted again in seconds, without data and without models.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as parquet

from hcat.statistics.arrays import Flags, Floats
from training.fusion import FEATURES, join_answers
from training.labelled_sets import LabelledAnswer, family_of

#: Setting -> name of the shipped classifier whose prior is fitted.
CLASSIFIERS: Final[Mapping[str, str]] = {
    "cascade": "hcat-entailment-cascade",
    "compact": "hcat-entailment-compact",
    "accurate": "hcat-entailment-accurate",
}

STORED: Final = Path(__file__).with_name("signals.parquet")
#: RAGTruth, each source read by models that were trained without it; they are not kept, nor what they contradicted.
LEFT_OUT: Final = Path(__file__).with_name("ragtruth_left_out.parquet")

NAMES: Final = list(FEATURES)
_READ: Final = ("entailment_logit", "contradiction_logit")


@dataclass(frozen=True, slots=True)
class Signals:
    """Answers with the signals of their sentences."""

    #: Labelled answers, and faithful or faulty sentences as answers of their own; n of them.
    answers: Sequence[LabelledAnswer]
    #: Kind of fault; ``faithful`` for a sentence that faults were made from; None for an answer that people labelled.
    kinds: Sequence[str | None]
    #: Answer of each sentence; shape (m,).
    owners: npt.NDArray[np.int64]
    #: In the order of :data:`training.fusion.FEATURES`; shape (m, n_features).
    features: Floats
    #: Greetings, headings and the like; shape (m,).
    claims_nothing: Flags
    #: Words of each sentence that context and query lack; shape (m,). A fit gave them, as a signal, the coefficient 0.
    words_missing: Floats

    @property
    def families(self) -> npt.NDArray[np.str_]:
        """Family of each answer, shape (n,)."""
        return np.array([answer.family for answer in self.answers])

    @property
    def is_bad(self) -> Flags:
        """Whether each answer is bad, shape (n,)."""
        return np.array([answer.is_bad for answer in self.answers], dtype=bool)

    @property
    def is_labelled(self) -> Flags:
        """Whether people labelled each answer; a made one is not, shape (n,)."""
        return np.array([kind is None for kind in self.kinds], dtype=bool)

    def worst(self, signal: str) -> Floats:
        """Return the worst value of a signal over the sentences of each answer, shape (n,); higher is better."""
        values = FEATURES[signal] * self.features[:, NAMES.index(signal)]
        return self._least(np.where(self.claims_nothing, np.inf, values))

    def _least(self, values: Floats) -> Floats:
        least = np.full(len(self.answers), np.inf)
        np.minimum.at(least, self.owners, values)
        return np.where(np.isinf(least), np.nanmax(np.where(np.isinf(values), np.nan, values)), least)

    def count_words_missing(self) -> Floats:
        """Return minus the number of words of the claims of each answer that context and query lack, shape (n,)."""
        counts = np.where(self.claims_nothing, 0.0, self.words_missing)
        return -np.bincount(self.owners, counts, len(self.answers))

    def join(self, log_odds: Floats) -> Floats:
        """Return the log odds that each answer is supported from those of its sentences, shape (n,)."""
        return join_answers(log_odds, self.owners, len(self.answers), self.claims_nothing)


def write_stored(signals: Signals, readings: Mapping[str, Floats], is_unsettled: Flags, path: Path = STORED) -> None:
    """Write signals without any text."""
    columns: dict[str, Any] = {"answer": signals.owners, "claims_nothing": signals.claims_nothing}
    for number, name in enumerate(NAMES):
        if name in _READ:
            column = _READ.index(name)
            columns |= {f"{name}_{setting}": values[:, column] for setting, values in readings.items()}
        else:
            columns[name] = signals.features[:, number]
    columns["log_words_unsupported"] = np.log1p(signals.words_missing)
    columns = {name: values.astype(np.float32) if values.dtype == np.float64 else values
               for name, values in columns.items()}  # fmt: skip
    about = [
        [
            answer.set_name,
            hashlib.md5(answer.cluster.encode(), usedforsecurity=False).hexdigest()[:12],
            answer.is_bad,
            answer.is_contradicted,
            kind,
            answer.task,
            answer.model,
        ]
        for answer, kind in zip(signals.answers, signals.kinds, strict=True)
    ]
    table = pa.table(columns | {"is_unsettled": is_unsettled})
    table = table.replace_schema_metadata({"answers": json.dumps(about, separators=(",", ":"))})
    parquet.write_table(table, path, compression="zstd", compression_level=19)


def read_stored(setting: str, path: Path = STORED) -> Signals:
    """Return the stored signals as a classifier gives them."""
    table = parquet.read_table(path)
    columns = {name: table[name].to_numpy() for name in table.column_names}
    is_accurate = {
        "compact": np.zeros(table.num_rows, dtype=bool),
        "accurate": np.ones(table.num_rows, dtype=bool),
        "cascade": columns["is_unsettled"].astype(bool),
    }[setting]
    features = np.stack(
        [
            np.where(is_accurate, columns[f"{name}_accurate"], columns[f"{name}_compact"])
            if name in _READ
            else columns[name]
            for name in NAMES
        ],
        axis=1,
    ).astype(np.float64)
    owners = columns["answer"].astype(np.int64)
    about = json.loads(table.schema.metadata[b"answers"])
    is_read = np.ones(len(about), dtype=bool)
    np.logical_and.at(is_read, owners, np.isfinite(features).all(axis=1))
    rows = is_read[owners]
    kept = np.flatnonzero(is_read)
    return Signals(
        answers=[_to_answer(number, *about[number][:4], *about[number][5:]) for number in kept],
        kinds=[about[number][4] for number in kept],
        owners=(np.cumsum(is_read) - 1)[owners[rows]],
        features=features[rows],
        claims_nothing=columns["claims_nothing"][rows].astype(bool),
        words_missing=np.expm1(columns["log_words_unsupported"][rows].astype(np.float64)),
    )


def _to_answer(
    number: int,
    set_name: str,
    cluster: str,
    is_bad: bool,
    is_contradicted: bool | None,
    task: str = "",
    model: str = "",
) -> LabelledAnswer:
    return LabelledAnswer(
        f"stored-{number}", set_name, family_of(set_name), cluster, "", "", (), is_bad, is_contradicted, task, model
    )

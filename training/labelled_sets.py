"""Answers that people labelled, from every development set, in one shape: what a groundedness score is judged on.

Sets that share documents or style are one *family* and are left out together. A family has the weight of one set, so
that ten sets of summaries do not outvote one set of tables.
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pyarrow.parquet as parquet

from training import ragtruth

#: Family -> its sets; every other set is a family of its own.
FAMILIES: Final[Mapping[str, Sequence[str]]] = {
    "xsum": ("xsumfaith", "aggrefact_cliff_goyal", "entfa_xsum", "fib_xsum", "gofigure", "qags"),
    "samsum": ("diasumfact", "faceval", "summedits"),
    "wizard": ("faithdial_audit", "dialfact_small", "begin", "q2_wow"),
    "anli": ("anli_dev", "gqnli", "negation_nli"),
    "tables": ("infotabs", "tabfact", "scitab", "sem_tab_fact", "pubhealthtab"),
    "rag": ("mtrag", "clapnq_human", "attr_hagrid", "attr_gensearch", "attr_lfqa_aqa"),
}

#: Sets whose evidence is a record, a table or numbers.
RECORD_SETS: Final = frozenset(
    [
        "quintd",
        "rotowire_accuracy",
        "infotabs",
        "tabfact",
        "scitab",
        "sem_tab_fact",
        "pubhealthtab",
        "gqnli",
        "nli4ct",
        "ci_tod",
    ]
)

_FAMILY_OF: Final = {name: family for family, names in FAMILIES.items() for name in names}

#: Columns that a set of the folder `more` must have.
_REQUIRED = ("source_group", "query", "contexts", "answer", "bad", "conflict")


@dataclass(frozen=True, slots=True)
class LabelledAnswer:
    """One answer that somebody labelled."""

    #: Unique over all sets.
    answer_id: str
    #: Where it comes from, and what is left out with it.
    set_name: str
    family: str
    #: Document or premise that siblings share.
    cluster: str
    #: Texts; the query may be empty.
    query: str
    answer: str
    #: Passages in order.
    contexts: tuple[str, ...]
    #: The evidence does not support the answer.
    is_bad: bool
    #: The evidence says the opposite; None where the set does not tell it from a lack of support.
    is_contradicted: bool | None
    #: Task and generator as the set names them; empty where it does not.
    task: str
    model: str


def family_of(set_name: str) -> str:
    """Return the family of a set: sets that share documents or style.

    Examples
    --------
    >>> family_of("tabfact"), family_of("wice")
    ('tables', 'wice')
    """
    return _FAMILY_OF.get(set_name, set_name)


def read_sets(data: Path, maximum_rows: int | None = None) -> list[LabelledAnswer]:
    """Return the answers of every set below ``data``, in a fixed order."""
    found: list[LabelledAnswer] = []
    readers = {"ragtruth": _read_ragtruth, "begin": _read_begin, "q2_wow": _read_q2, "qags": _read_qags}
    readers |= {"expertqa": _read_expertqa, "halueval": _read_halueval}
    for name, reader in readers.items():
        if (data / name).is_dir():
            found += _limit(list(reader(data / name)), maximum_rows)
    for path in sorted((data / "more").glob("*.parquet")):
        found += _limit(list(read_set(path)), maximum_rows)
    return found


def read_set(path: Path) -> Iterator[LabelledAnswer]:
    """Yield the answers of one file with the columns of the folder `more`; its stem is the name of the set."""
    table = parquet.read_table(path)
    missing = [name for name in _REQUIRED if name not in table.column_names]
    if missing:
        raise ValueError(f"{path.name} has no column {', '.join(missing)}")
    for position, row in enumerate(table.to_pylist()):
        is_contradicted = None if row["bad"] and row["conflict"] is None else bool(row["conflict"])
        yield _to_answer(path.stem, position, row, bool(row["bad"]), is_contradicted)


def _read_ragtruth(folder: Path) -> Iterator[LabelledAnswer]:
    for position, row in enumerate(ragtruth.read_rows(folder)):
        # the publishers' part `train` holds only sources with a hallucination: no fair sample
        if row.get("split", "test") != "train":
            spans = " ".join(str(span.get("label_type", "")) for span in ragtruth.read_spans(row)).lower()
            is_contradicted = "conflict" in spans if spans else False
            yield _to_answer("ragtruth", position, row, bool(row["hallucinated"]), is_contradicted)


def _read_begin(folder: Path) -> Iterator[LabelledAnswer]:
    for position, row in enumerate(_begin_rows(folder)):
        yield _to_answer("begin", position, row, row["hallucinated"], None if row["hallucinated"] else False)


def _read_q2(folder: Path) -> Iterator[LabelledAnswer]:
    for position, row in enumerate(_q2_rows(folder)):
        yield _to_answer("q2_wow", position, row, row["hallucinated"], None if row["hallucinated"] else False)


def _read_qags(folder: Path) -> Iterator[LabelledAnswer]:
    for position, row in enumerate(_read_folder(folder)):
        fields = row | {"contexts": [row["article"]], "answer": row["sentence"], "source_id": _digest(row["article"])}
        is_bad = not row["consistent"]
        yield _to_answer("qags", position, fields | {"task": row["dataset"]}, is_bad, None if is_bad else False)


def _read_expertqa(folder: Path) -> Iterator[LabelledAnswer]:
    for position, row in enumerate(_read_folder(folder)):
        if row["evidence"] and row["support"] in ("Complete", "Partial", "Incomplete") and row["claim"].strip():
            fields = {"contexts": row["evidence"], "answer": row["claim"], "source_id": row["question"]}
            fields |= {"query": row["question"], "task": row["field"], "model": row["system"]}
            is_bad = row["support"] != "Complete"
            yield _to_answer("expertqa", position, fields, is_bad, None if is_bad else False)


def _read_halueval(folder: Path) -> Iterator[LabelledAnswer]:
    for position, row in enumerate(_read_folder(folder)):
        for column, is_bad in (("right_answer", False), ("hallucinated_answer", True)):
            fields = {"contexts": [row["knowledge"]], "answer": row[column], "query": row["question"]}
            fields["source_id"] = _digest(row["knowledge"])
            yield _to_answer("halueval", 2 * position + is_bad, fields, is_bad, None if is_bad else False)


def _begin_rows(folder: Path) -> list[dict[str, Any]]:
    """Return BEGIN rows in the shape of RAGTruth; replies that claim nothing (`Generic`) are left out."""
    return list(
        _to_replies(
            row | {"is_failure": row["begin_label"] != "Fully attributable", "task": row["data_source"]}
            for row in _read_folder(folder)
            if row["begin_label"] != "Generic"
        )
    )


def _q2_rows(folder: Path) -> list[dict[str, Any]]:
    """Return Q2 rows in the shape of RAGTruth; label 1 means inconsistent."""
    rows = _read_folder(folder)
    return list(
        _to_replies(
            row | {"is_failure": int(row["label"]) == 1, "model_name": row["model"], "task": "wow"} for row in rows
        )
    )


def _read_folder(folder: Path) -> list[dict[str, Any]]:
    """Return the rows of every parquet file in a folder."""
    return [row for path in sorted(folder.glob("*.parquet")) for row in parquet.read_table(path).to_pylist()]


def _to_replies(rows: Iterator[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    seen: dict[str, int] = {}
    for row in rows:
        knowledge = str(row["knowledge"])
        source = hashlib.md5(knowledge.encode(), usedforsecurity=False).hexdigest()[:16]
        content = f"{source}|{row['model_name']}|{row['message']}|{row['response']}"
        key = hashlib.md5(content.encode(), usedforsecurity=False).hexdigest()[:16]
        seen[key] = seen.get(key, 0) + 1
        yield {
            "interaction_id": f"{key}-{seen[key]}",
            "query": row["message"],
            "contexts": [knowledge],
            "answer": row["response"],
            "hallucinated": bool(row["is_failure"]),
            "task": row["task"],
            "model": row["model_name"],
            "source_id": source,
        }


def _to_answer(
    set_name: str, position: int, row: Mapping[str, Any], is_bad: bool, is_contradicted: bool | None
) -> LabelledAnswer:
    cluster = str(row.get("source_group") or row.get("source_id"))
    return LabelledAnswer(
        answer_id=f"{set_name}-{position}",
        set_name=set_name,
        family=family_of(set_name),
        cluster=f"{set_name}|{cluster}",
        query=row.get("query") or "",
        answer=row["answer"] or "",
        contexts=tuple(str(text) for text in row["contexts"] or ()),
        is_bad=is_bad,
        is_contradicted=is_contradicted,
        task=str(row.get("task") or row.get("kind") or ""),
        model=str(row.get("model") or ""),
    )


def _limit(answers: list[LabelledAnswer], maximum_rows: int | None) -> list[LabelledAnswer]:
    """Return whole clusters in the order of a hash until the limit is reached, at least one."""
    if maximum_rows is None or len(answers) <= maximum_rows:
        return answers
    by_cluster: dict[str, list[LabelledAnswer]] = {}
    for answer in answers:
        by_cluster.setdefault(answer.cluster, []).append(answer)
    kept: list[LabelledAnswer] = []
    for cluster in sorted(by_cluster, key=_digest):
        room = maximum_rows - len(kept)
        if room <= 0:
            break
        kept += by_cluster[cluster][:room]
    return kept


def _digest(text: str) -> str:
    return hashlib.md5(str(text).encode(), usedforsecurity=False).hexdigest()


def to_log_row(answer: LabelledAnswer) -> dict[str, Any]:
    """Return the answer as :func:`training.ragtruth.write_raw_logs` takes it; no label gets into the logs."""
    return {
        "interaction_id": answer.answer_id,
        "query": answer.query,
        "contexts": list(answer.contexts),
        "answer": answer.answer,
        "hallucinated": answer.is_bad,
        "task": answer.set_name,
        "model": answer.model or "unnamed",
        "source_id": answer.cluster,
    }

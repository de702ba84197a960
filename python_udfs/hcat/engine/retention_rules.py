"""What each table holds of an interaction: the rules by which ``hcat forget`` and ``hcat prune`` delete."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import yaml

from hcat.engine.warehouse import quote

#: Table of tombstones beside the models: id_kind, hashed_id, deletion_number.
TOMBSTONES: Final = "hcat_deletions"
#: Why a record with a tombstone is rejected.
DELETED: Final = "deleted on request"
#: Outer blanks of an id, as the macro trim_blanks has them.
BLANKS: Final = " \t\n\r\u00a0\u200b\u3000"

#: Landed entity -> column of the id and its kind. A record whose id was deleted does not land.
LANDED_IDS: Final[Mapping[str, tuple[str, str]]] = {
    "interactions": ("interaction_id", "interaction"),
    "retrievals": ("interaction_id", "interaction"),
    "ratings": ("interaction_id", "interaction"),
    "queries": ("query_id", "query"),
    "relevance_judgements": ("query_id", "query"),
    "spans": ("trace_id", "trace"),
}
#: Table of all landed records. Documents and chunks have no id of an interaction, unless they cannot be read.
LANDED: Final = "landed_records"
#: Columns of a landed row that stay: that a record was sent is counted. Neither its text nor a digest of it stays.
LANDED_KEPT: Final = frozenset(
    ("record_id", "entity", "source_file", "source_file_hash", "source_row", "landing_number", "is_file_problem")
)

#: Keys of results that depend on texts alone. A row goes if no interaction that stays leads to its key.
CONTENT_KEYS: Final = ("text_id", "passage_id", "pair_id", "judge_key", "answer_pair_id")
#: Endings of columns of an interaction that list keys of texts.
CONTENT_LISTS: Final = ("_text_ids", "_window_ids")

#: Tables whose rows have a rule of their own: column and kind of id.
_OWN: Final[Mapping[str, tuple[str, str]]] = {
    # a request quotes other answers to the same query
    "int_judge_requests": ("interaction_id", "sibling"),
    # an example of a query stands for its group
    "fct_robustness_groups": ("query_group", "query_group"),
    # a record that cannot be read is known by its record id alone
    "base_chunks": ("record_id", "record"),
    "base_documents": ("record_id", "record"),
    # a trace gives records of several entities
    "base_folded_traces": ("trace_id", "trace"),
    # which clusters were seen decides what counts as new: the cluster goes with its last interaction
    "int_clusters_seen": ("cluster_id", "cluster"),
}

#: Tables of records: what people and applications sent. Other tables are made from them.
_RECORDS: Final = ("base_", "int_interactions_sampled_for_review", "fct_ratings")

_TABLES: Final = yaml.safe_load(Path(__file__).with_suffix(".yml").read_text(encoding="utf-8"))
#: Tables that hold nothing of an interaction, and that remember something or are read between builds.
_REMEMBER: Final = tuple(" ".join(_TABLES["remember"]).split())

#: Marts of sums, of models and of the corpus. The next build makes them anew from what is left.
_SUMS: Final = tuple(_TABLES["sums"].split())

#: Tables that are emptied although they remember something or name an interaction. A build computes them again.
_EMPTIED: Final = (
    # the test set may hold queries of the logs, under keys of its own
    "int_generated_embedded", "int_queries_varied", "int_test_texts_recognised", "int_test_variants_entailed",
    # reference answers of other queries stand beside an answer
    "int_answers_to_check",
)  # fmt: skip


#: A record that could not be read has no id of its own: that of the record stands for those that its text names.
_UNREAD: Final = ("record_id", "record", False)


@dataclass(frozen=True, slots=True)
class Rule:
    """What becomes of the rows of a table."""

    #: blank: of a landed record only that it was sent stays. rows: rows that name a deleted id go. contents: rows go
    #: whose content key nothing leads to. keep: all rows stay. empty: all go, and the next build makes them. foreign:
    #: the table is none of hcat's and stays.
    action: str
    #: for blank and rows: column, kind of its id, and whether it lists ids
    ids: tuple[tuple[str, str, bool], ...] = ()
    #: for contents: the column
    key: str | None = None


def choose_rule(table: str, columns: Mapping[str, str], *, is_model: bool = True, is_seed: bool = False) -> Rule:
    """Return the rule of a table by its name and its columns."""
    if table == LANDED:
        # an interaction that stays asks no query that goes: the column of the one entity does not touch the other
        return Rule("blank", (*((*each, False) for each in dict.fromkeys(LANDED_IDS.values())), _UNREAD))
    if is_seed or table in _REMEMBER or table in _SUMS:
        return Rule("keep")
    if table in _EMPTIED:
        return Rule("empty")
    if not is_model:
        return Rule("foreign")
    if table in _OWN:
        own = (*_OWN[table], False)
        return Rule("rows", (own, _UNREAD) if "record_id" in columns and own != _UNREAD else (own,))
    # what is made from other turns or answers of the same people goes with them
    kind = "interaction" if table.startswith(_RECORDS) else "derived"
    named = tuple(
        (name, "query" if "query_id" in name else kind, "[]" in columns[name])
        for name in columns
        if name.endswith(("interaction_id", "interaction_ids"))
        or ("interaction_id" not in columns and name.endswith("query_id"))
    )
    if "interaction_id" not in columns:
        named += tuple((f"{name}_id", name, False) for name in ("conversation", "trace") if f"{name}_id" in columns)
    if named:
        return Rule("rows", (*named, *([_UNREAD] if "record_id" in columns else [])))
    key = next((name for name in CONTENT_KEYS if name in columns), None)
    return Rule("empty") if key is None else Rule("contents", key=key)


def hash_id(identifier: str) -> str:
    """Return the SHA-256 of an id without outer blanks, 64 hexadecimal digits: what a tombstone holds."""
    return hashlib.sha256(identifier.strip(BLANKS).encode("utf-8", "surrogatepass")).hexdigest()


def keep_condition(rule: Rule, gone: str, contents: str = "hcat_kept_contents") -> str:
    """Return in SQL which rows of a table stay."""
    if rule.action == "contents":
        return f"{rule.key} in (from {contents})"
    if rule.action not in ("rows", "blank"):
        return str(rule.action != "empty").lower()
    named = []
    for name, kind, is_list in rule.ids:
        if is_list:
            hashes = f"list_transform({quote(name)}, each -> {name_hash('each')})"
            named.append(f"list_has_any({hashes}, (select list(hashed_id) from {gone} where id_kind = '{kind}'))")
        else:
            named.append(f"{name_hash(quote(name))} in (select hashed_id from {gone} where id_kind = '{kind}')")
    return "(" + " and ".join(f"not coalesce({one}, false)" for one in named) + ")"


def name_hash(column: str) -> str:
    """Return in SQL the hash of an id, as :func:`hash_id` makes it."""
    return f"sha256(trim({column}::varchar, '{BLANKS}'))"

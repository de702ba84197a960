"""The tables that drift is measured on, as arrays: interactions and scores."""

from collections.abc import Iterable, Iterator
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hcat.engine.columns import as_floats
from hcat.statistics.arrays import Flags, Floats, Integers
from hcat.statistics.memberships import Memberships, find_places


class Interactions(NamedTuple):
    """All interactions of the logs; arrays of shape (n,)."""

    ids: pa.Array
    #: Codes from 0.
    clusters: Integers
    #: Monday of the week as days since 1970-01-01; 0 where the time is unknown.
    days: Integers
    has_week: Flags
    is_complete: Flags
    #: Sampling weights, above 0.
    weights: Floats


def read_interactions(table: pa.Table) -> Interactions:
    """Return all interactions as arrays."""
    clusters = pc.index_in(table["cluster_id"], value_set=pc.unique(table["cluster_id"]))
    days = table["week_start"].cast(pa.date32()).cast(pa.int32())
    has_week = pc.is_valid(days).to_numpy(zero_copy_only=False)
    is_complete = pc.equal(table["week_status"], "complete").to_numpy(zero_copy_only=False)
    return Interactions(
        table["interaction_id"].cast(pa.string()).combine_chunks(),
        clusters.to_numpy(zero_copy_only=False).astype(np.int64),
        pc.fill_null(days, 0).to_numpy(zero_copy_only=False).astype(np.int64),
        has_week,
        is_complete & has_week,
        as_floats(table["sampling_weight"]),
    )


def read_strata(cells: Memberships, count_interactions: int, dimension: str) -> Integers | None:
    """Return the segment of each interaction in ``dimension`` from 0; None without such a dimension."""
    own = [cell for cell, (name, _) in enumerate(cells.names) if name == dimension]
    if not own:
        return None
    strata = np.full(count_interactions, len(own))
    for number, cell in enumerate(own):
        strata[cells.of(cell)] = number
    return strata


def read_metrics(evaluations: Iterable[pa.RecordBatch], known: Interactions) -> Iterator[tuple[str, Integers, Floats]]:
    """Yield name, places of interactions and scores (NaN without one) of each metric when its last batch has come."""
    parts = (
        (name, batch.filter(pc.field("metric_name") == name).select(["interaction_id", "raw_score"]))
        for batch in evaluations
        for name in pc.unique(batch["metric_name"]).to_pylist()
    )
    # evaluations come ordered by metric: only those of one metric are in memory
    for name, of_metric in groupby(parts, key=itemgetter(0)):
        table = pa.Table.from_batches([part for _, part in of_metric])
        owners = find_places(table["interaction_id"], known.ids, "interaction_id of evaluations")
        yield name, owners, as_floats(table["raw_score"])

"""Everything that the explorer reads of a build once, however many interactions the page can hold."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from hcat.engine.warehouse import Row, Warehouse, WarehouseError
from hcat.explorer import data, tables
from hcat.report.ledger import Build, read_build
from hcat.report.showing import distinct_labels
from hcat.statistics.arrays import Integers

#: Values of a tag that is a facet.
MAXIMUM_TAG_VALUES: Final = 30


@dataclass(frozen=True, slots=True)
class Coded:
    """A column of texts as codes, -1 for none, with the text and the label of each code."""

    codes: Integers
    names: Sequence[str]
    labels: Sequence[str]

    @property
    def code_of(self) -> dict[str, int]:
        """Return the code of each text."""
        return {name: code for code, name in enumerate(self.names)}


@dataclass(frozen=True, slots=True)
class Read:
    """A build as it was read."""

    build: Build
    main: Row
    #: The metric whose scores order the interactions that fail.
    score: Row
    columns: Mapping[str, Any]
    scores: Mapping[str, Any]
    rankings: Mapping[str, Row]
    dimensions: Mapping[str, Coded]
    applications: Coded
    versions: Coded
    facets: Mapping[str, Coded]

    @property
    def metric_names(self) -> list[str]:
        """Return the names of the metrics in the order of the page."""
        return [metric["metric_name"] for metric in self.build.metrics]

    def label_of(self, dimension: str, segment: str) -> str:
        """Return the label of a segment, by which the page filters; its safe text where no dimension has it."""
        coded = self.dimensions.get(dimension)
        code = None if coded is None else coded.code_of.get(segment)
        return tables.show(segment, tables.SHORT_CHARACTERS) if coded is None or code is None else coded.labels[code]


#: What may be filtered by, though no mart of weakness has it as a dimension.
FACETS: Final = ("failed_criterion", "cause", "first_document")
#: Metric whose score the page shows first, in order of preference; the first that is primary, decided and scored.
SCORE_METRICS: Final = (
    "groundedness",
    "groundedness_similarity__mean",
    "support_words",
    "semantic_similarity",
    "answer_relevancy__mean",
)
_LIST_SCORED: Final = "select metric_name from fct_marginal_weaknesses where dimension = 'all' and count_scored > 0"


def choose_metrics(source: Warehouse, build: Build) -> tuple[Row | None, Row | None]:
    """Return the metric that says what fails and the one whose score orders; None without a scored primary metric."""
    scored = {row["metric_name"] for row in source.rows(_LIST_SCORED, ["fct_marginal_weaknesses"])}
    ordered = dict.fromkeys((*SCORE_METRICS, *build.primary))
    with_scores = [build.primary[name] for name in ordered if name in build.primary and name in scored]
    decided = [metric for metric in with_scores if metric["threshold"] is not None]
    # one meaning of failing: that of the verdict, where the build has one
    verdict = next((metric for metric in decided if metric["metric_name"] == "verdict"), None)
    score = next((metric for metric in decided or with_scores if metric is not verdict), verdict)
    return verdict or score, score


def read_everything(source: Warehouse) -> Read:
    """Return what the page needs of every interaction."""
    build = read_build(source)
    main, score = choose_metrics(source, build)
    if main is None or score is None:
        raise WarehouseError("the warehouse holds no scored interaction: load logs and run `dbt build`")
    dimensions = data.list_dimensions(source)
    reads = ["fct_interactions", "fct_marginal_weaknesses"]
    tags = source.rows(data.QUERIES["count_tag_values"], reads, maximum=MAXIMUM_TAG_VALUES)
    seed = int(build.run["random_seed"]) if build.run else 0
    named = [row["tag"] for row in tags]
    columns = data.read_interactions(source, dimensions, named, score["metric_name"], seed)
    names = [metric["metric_name"] for metric in build.metrics]
    rankings = source.rows(
        data.QUERIES["list_rankings"], ["fct_interactions.missed_chunk_ids", "fct_retrieved_contexts"]
    )
    return Read(
        build,
        main,
        score,
        columns,
        data.read_scores(source, names, score["metric_name"]),
        {row["interaction_id"]: row for row in rankings},
        {name: _encode(columns[f"dimension_{number}"]) for number, name in enumerate(dimensions)},
        _encode(columns["application"]),
        _encode(columns["application_version"]),
        {name: _encode(columns[name]) for name in FACETS},
    )


def _encode(values: Any) -> Coded:
    codes, names = tables.encode(values)
    return Coded(codes, names, list(distinct_labels(names).values()))

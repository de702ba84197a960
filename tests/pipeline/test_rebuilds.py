"""What a build of the demo with the real encoder leaves behind: the same numbers whether it is repeated, killed in the
middle, run somewhere else, or fed in two parts; and a published copy that can be read all the while.
"""

import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as parquet
import pytest
from builds import (
    DEMO,
    RUN_COLUMNS,
    SCORES,
    UNTESTED,
    Build,
    Dbt,
    checksum_tables,
    differing_tables,
    query,
    read_lines,
    write_lines,
)

from benchmarks.contents import TABLES_OF_BUILDS, find_stale_copies

ENCODER = "packaged"
#: Topics of the demo that are built: enough texts for several slices, few enough for a test.
TOPICS = ("cards",)
#: Rows of a small slice (hcat.engine.sizes).
SLICE_ROWS = 25
TOLERANCE = 1e-5
#: Which of two sentences is the weaker one when both are equally weak.
DECIDED_BY_LAST_BITS = ("detail", "is_least_grounded")


@pytest.fixture(scope="module", autouse=True)
def small_slices() -> Iterator[None]:
    """Small slices, so that there is something to keep when a build is killed; the same in every build compared."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HCAT_CUT_SMALLER", "slices")
        yield


@pytest.fixture(scope="module")
def raw(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo's logs about some topics."""
    folder = tmp_path_factory.mktemp("topics")
    interactions = [row for row in read_lines(DEMO / "interactions.jsonl") if row["tags"]["topic"] in TOPICS]
    kept = {row["interaction_id"] for row in interactions}
    write_lines(folder / "interactions.jsonl", interactions)
    for path in DEMO.glob("*.jsonl"):
        if path.name != "interactions.jsonl":
            rows = read_lines(path)
            write_lines(folder / path.name, [row for row in rows if row.get("interaction_id", None) in {None, *kept}])
    return folder


@pytest.fixture(scope="module")
def demo(dbt: Dbt, raw: Path, tmp_path_factory: pytest.TempPathFactory) -> Build:
    """An undisturbed build."""
    return dbt("build", raw, tmp_path_factory.mktemp("demo"), encoder=ENCODER)


@pytest.fixture(scope="module")
def demo_checksums(demo: Build) -> dict[str, tuple[int, int]]:
    """The tables of the undisturbed build, before anything else touches them."""
    return checksum_tables(demo.warehouse / "hcat.duckdb")


def test_demo_build_passes(demo: Build) -> None:
    assert demo.exit_code == 0, demo.output
    assert demo.query("select count(*) from fct_evaluations where score_status = 'failed'") == [(0,)]


def read_published(folder: Path) -> tuple[int, int]:
    """Return the rows of one published mart, read from the database and from the Parquet file."""
    rows = query(folder / "hcat.duckdb", "select count(*), count(raw_score) from fct_evaluations")
    table = parquet.read_table(folder / "fct_evaluations.parquet")
    assert table.num_rows == rows[0][0]
    return rows[0][0], rows[0][1]


def test_a_rerun_changes_no_row_and_readers_are_never_shut_out(
    dbt: Dbt, demo: Build, demo_checksums: dict[str, tuple[int, int]], tmp_path: Path
) -> None:
    output = tmp_path / "output.txt"
    process = dbt.start(UNTESTED, demo.raw, demo.warehouse, output, encoder=ENCODER)
    seen: list[tuple[int, int]] = []
    while process.poll() is None:
        # dbt writes in its own process; any error of this reader fails the test
        seen.append(read_published(demo.warehouse / "published"))
        time.sleep(0.1)
    assert process.exit_code == 0, output.read_text(encoding="utf-8")
    assert len(seen) > 20
    assert set(seen) == set(demo.query("select count(*), count(raw_score) from fct_evaluations"))
    again = checksum_tables(demo.warehouse / "hcat.duckdb")
    assert differing_tables(demo_checksums, again) - TABLES_OF_BUILDS == set()
    # what does differ is one more build in the ledger and its gates
    assert query(demo.warehouse / "hcat.duckdb", "select count(*) from dim_runs") == [(2,)]
    assert query(demo.warehouse / "hcat.duckdb", "select max(landing_number) from landed_records") == [(1,)]


#: Slice -> time of writing, keys of its rows.
Slices = dict[Path, tuple[int, list[str]]]


def list_slices(warehouse: Path, key: str) -> Slices:
    """Return every finished slice whose rows have this key."""
    paths = [path for path in (warehouse / "slices").rglob("*.parquet") if key in parquet.read_schema(path).names]
    return {path: (path.stat().st_mtime_ns, parquet.read_table(path)[key].to_pylist()) for path in paths}


#: Keys of sliced work, where the work and its result stand, in the order of a build.
SLICED = (("text_id", "int_texts", "int_texts_embedded"), ("pair_id", "int_text_pairs", "int_pairs_entailed"))


def test_a_build_that_is_killed_twice_loses_nothing_and_repeats_no_finished_slice(
    dbt: Dbt, raw: Path, demo_checksums: dict[str, tuple[int, int]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # many buckets, whose rows are those of one
    monkeypatch.setenv("HCAT_CUT_SMALLER", "buckets")
    warehouse = tmp_path / "warehouse"
    finished: dict[str, Slices] = {}
    # the slices of a model are there until its next build finds nothing to do
    slices: dict[str, Slices] = {}
    for key, _, result in SLICED:
        process = dbt.start(SCORES, raw, warehouse, tmp_path / "output.txt", encoder=ENCODER)
        deadline = time.monotonic() + 240
        while not list_slices(warehouse, key) and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.005)
        process.kill()
        assert process.wait() == -9, "the build ended before it could be killed"
        slices |= {done: list_slices(warehouse, done) for done in finished}
        finished[key] = list_slices(warehouse, key)
        tables = query(warehouse / "hcat.duckdb", "select table_name from information_schema.tables")
        assert (result,) not in tables

    rebuilt = dbt(SCORES, raw, warehouse, encoder=ENCODER)
    assert rebuilt.exit_code == 0, rebuilt.output
    slices[SLICED[-1][0]] = list_slices(warehouse, SLICED[-1][0])
    for key, work, _ in SLICED:
        count_work = rebuilt.query(f"select count(distinct {key}) from {work}")[0][0]
        assert 0 < len(finished[key]) < len(slices[key]), "the build was killed after its last slice"
        assert {path: slices[key][path] for path in finished[key]} == finished[key]
        scored = [value for _, keys in slices[key].values() for value in keys]
        assert len(scored) == len(set(scored)) == count_work
        assert sum(len(keys) for _, keys in finished[key].values()) == len(finished[key]) * SLICE_ROWS

    # another folder, two kills in between: the tables of the undisturbed build up to its scores, to the last bit
    checksums = checksum_tables(warehouse / "hcat.duckdb")
    assert {"fct_evaluations", "fct_sentence_evidence"} <= checksums.keys() <= demo_checksums.keys()
    differing = differing_tables({table: demo_checksums[table] for table in checksums}, checksums)
    assert differing - TABLES_OF_BUILDS == set()


#: Interactions, evaluations and metrics of the copy that BI reads.
COUNTED = """
    select
        (select count(*) from fct_interactions),
        (select count(*) from fct_evaluations),
        (select count(*) from dim_metrics where family <> 'verdict')
"""


@pytest.fixture(scope="module")
def night(
    dbt: Dbt, raw: Path, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Build, list[tuple[Any, ...]], tuple[Any, ...]]:
    """Half of the interactions first, with retrievals of all; then a night brings the rest under the same file names.

    The night also brings every ninth chunk, judgement and passage, so that some interactions that are there change.
    Return its build, what a reader of the copy saw meanwhile, and what stood there before.
    """
    parts, warehouse = tmp_path_factory.mktemp("parts"), tmp_path_factory.mktemp("parts_warehouse")
    shutil.copytree(raw, parts, dirs_exist_ok=True)
    interactions = read_lines(raw / "interactions.jsonl")
    write_lines(parts / "interactions.jsonl", interactions[: len(interactions) // 2])
    for name in ("chunks", "relevance_judgements", "retrievals"):
        rows = read_lines(raw / f"{name}.jsonl")
        write_lines(parts / f"{name}.jsonl", [row for number, row in enumerate(rows) if number % 9])
    first = dbt(UNTESTED, parts, warehouse, encoder=ENCODER)
    assert first.exit_code == 0, first.output
    orphans = "from stg_rejected_records where entity = 'retrievals' and reject_reason like 'orphan%'"
    assert first.query(f"select count(*) > 0 {orphans}") == [(True,)]
    copy = warehouse / "published" / "candidate" / "hcat.duckdb"
    (before,) = query(copy, COUNTED)
    shutil.copytree(raw, parts, dirs_exist_ok=True)
    output, seen = tmp_path_factory.mktemp("night") / "output.txt", []
    process = dbt.start(UNTESTED, parts, warehouse, output, encoder=ENCODER)
    while process.poll() is None:
        # the warehouse is closed meanwhile; any error of this reader fails the test
        seen += query(copy, COUNTED)
        time.sleep(0.25)
    assert process.exit_code is not None
    return Build(process.exit_code, output.read_text(encoding="utf-8"), parts, warehouse), seen, before


@pytest.fixture(scope="module")
def in_two_parts(night: tuple[Build, object, object]) -> Build:
    """The build of the night."""
    return night[0]


def test_readers_see_the_old_build_or_the_new_one_and_never_go_back(
    night: tuple[Build, list[tuple[Any, ...]], tuple[Any, ...]],
) -> None:
    build, seen, before = night
    (after,) = build.query(COUNTED)
    assert before[0] < after[0]
    assert set(seen) == {before, after}
    assert seen == sorted(seen)
    assert all(evaluations == interactions * metrics for interactions, evaluations, metrics in seen)


def test_the_copies_of_a_night_hold_the_marts(in_two_parts: Build) -> None:
    marts = [mart for (mart,) in in_two_parts.query("select mart from published_candidate order by mart")]
    assert len(marts) > 50
    assert find_stale_copies(in_two_parts.warehouse) == []


@pytest.mark.parametrize(
    ("mart", "key"),
    [
        ("fct_evaluations", ("evaluation_id",)),
        ("fct_retrieval_quality", ("retrieval_quality_id",)),
        ("fct_sentence_evidence", ("sentence_id",)),
        ("fct_marginal_weaknesses", ("metric_name", "dimension", "segment")),
        ("fct_bivariate_weaknesses", ("bivariate_weakness_id",)),
        ("fct_score_distributions", ("score_distribution_id",)),
        ("fct_metric_weeks", ("metric_week_id",)),
    ],
)
def test_a_build_in_two_parts_equals_a_build_at_once(
    demo: Build, in_two_parts: Build, mart: str, key: tuple[str, ...]
) -> None:
    assert in_two_parts.exit_code == 0, in_two_parts.output
    columns = dict(demo.query(f"select column_name, column_type from (describe {mart})"))
    compared = [name for name in columns if name not in (*key, *RUN_COLUMNS, *DECIDED_BY_LAST_BITS)]

    def read(build: Build) -> dict[tuple[Any, ...], dict[str, Any]]:
        rows = build.query(f"select {', '.join((*key, *compared))} from {mart}")
        return {row[: len(key)]: dict(zip(compared, row[len(key) :], strict=True)) for row in rows}

    at_once, in_parts = read(demo), read(in_two_parts)
    assert at_once.keys() == in_parts.keys()
    assert at_once
    for row_key, expected in at_once.items():
        for name, value in expected.items():
            other = in_parts[row_key][name]
            if isinstance(value, float) and other is not None:
                assert other == pytest.approx(value, rel=0, abs=TOLERANCE), (row_key, name)
            else:
                assert other == value, (row_key, name)

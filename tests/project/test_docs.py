"""The pages for readers: short sentences, links and paths that exist, and lists that are complete."""

import csv
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from builds import REPOSITORY

from hcat.landing.raw_contract import ENTITIES, Entity
from hcat.monitoring.words import MEASURED

MODELS = REPOSITORY / "models"
DOCS = REPOSITORY / "docs"
MAXIMUM_WORDS_OF_A_SENTENCE = 22
MAXIMUM_LINES_OF_THE_README = 130

#: How docs/metrics.md calls the signals of the seed groundedness_prior.
WORDS_OF_SIGNALS = {
    "entailment_logit": "log odds of entailment",
    "contradiction_logit": "log odds of contradiction",
    "similarity": "similarity",
    "share_words_supported": "word support",
    "evidence_overlap": "overlap with the window",
    "count_numbers_unsupported": "unsupported numbers",
    "count_entities_unsupported": "unsupported names",
    "count_fields_contradicted": "contradicted fields of records",
    "number_displacement": "numbers in the place of another one",
    "entity_displacement": "names in the place of another one",
}

#: Pages whose sentences are counted, and all pages whose links are followed. The runs write docs/benchmarks/.
PAGES = [REPOSITORY / f"{name}.md" for name in ("README", "CONTRIBUTING", "SECURITY")] + sorted(DOCS.glob("*.md"))
LINKED_PAGES = [*PAGES[:3], *sorted(page for page in DOCS.rglob("*.md") if page.parent != DOCS / "benchmarks")]


def name_of(path: Path) -> str:
    return path.relative_to(REPOSITORY).as_posix()


def without_code(text: str) -> str:
    return re.sub(r"(?ms)^ *```.*?^ *```|<!--.*?-->", "", text)


def sentences(text: str) -> Iterator[list[str]]:
    """Yield the words of each sentence of a page: up to . ! ? or : and a blank, or to the end of its paragraph.

    A list item is a paragraph; headings, tables and pictures are left out.
    """
    prose = re.sub(r"(?m)^\s*(?:#|\||!\[).*$", "\n", without_code(text))
    prose = re.sub(r"(?m)^\s*(?:[-*+]|\d+\.) ", "\n\n", prose)
    shown = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", prose)
    for sentence in re.split(r"(?<=[.!?:])[)\"'*_]*\s+|\n\s*\n", shown):
        if words := [word for word in sentence.split() if re.search(r"\w", word)]:
            yield words


def links(text: str) -> list[str]:
    """Return the relative targets of a page's links, without their anchors."""
    targets = re.findall(r"\]\(([^)\s]+)\)", re.sub(r"`[^`\n]*`", "", without_code(text)))
    paths = [target.split("#")[0] for target in targets if not re.match(r"[a-z]+:", target)]
    return [path for path in paths if path]


def marts() -> set[str]:
    """Return the names of all marts; gate_verdicts is a view for its tests."""
    return {path.stem for path in MODELS.rglob("*") if re.fullmatch(r"(?:dim|fct)_\w+\.(?:sql|py)", path.name)}


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_sentences_are_short_on_average(page: Path) -> None:
    counts = [len(words) for words in sentences(page.read_text(encoding="utf-8"))]
    average = sum(counts) / len(counts)
    assert average < MAXIMUM_WORDS_OF_A_SENTENCE, f"{name_of(page)}: {average:.1f} words a sentence"


@pytest.mark.parametrize("page", LINKED_PAGES, ids=name_of)
def test_links_lead_to_files(page: Path) -> None:
    missing = [link for link in links(page.read_text(encoding="utf-8")) if not (page.parent / link).exists()]
    assert missing == []


def test_contributing_names_files_that_exist() -> None:
    text = without_code((REPOSITORY / "CONTRIBUTING.md").read_text(encoding="utf-8"))
    # a test is named file::test
    named = {name.split("::")[0] for name in re.findall(r"`([^`\s]*/[^`\s]*)`", text) if not re.search(r"[<*]", name)}
    assert len(named) > 20
    assert sorted(name for name in named if not (REPOSITORY / name).exists()) == []


@pytest.mark.parametrize("page", ["CONTRIBUTING.md", "docs/threat-model.md"])
def test_pages_name_tests_that_exist(page: str) -> None:
    text = without_code((REPOSITORY / page).read_text(encoding="utf-8"))
    named = re.findall(r"`([\w/]+\.py)::(\w+)`", text)
    assert len(named) > 10
    missing = [
        f"{file}::{test}"
        for file, test in named
        if f"def {test}(" not in (REPOSITORY / file).read_text(encoding="utf-8")
    ]
    assert missing == []


def test_the_page_of_metrics_lists_the_signals_that_decide_groundedness() -> None:
    with (REPOSITORY / "seeds" / "groundedness_prior.csv").open(encoding="utf-8", newline="") as lines:
        deciding = {row["feature"] for row in csv.DictReader(lines) if float(row["coefficient"])} - {"intercept"}
    page = (DOCS / "metrics.md").read_text(encoding="utf-8")
    section = page.split("\n## Groundedness\n")[1].split("\n## ")[0]
    items = {item for line in re.findall(r"^- ([^.;]+)[.;]$", section, re.MULTILINE) for item in line.split(", and ")}
    assert items == {WORDS_OF_SIGNALS[feature] for feature in deciding}


def test_the_page_of_operations_names_every_measurement() -> None:
    page = (DOCS / "operations.md").read_text(encoding="utf-8")
    table = page.split("| measurement | what it measures |")[1].split("\n\n")[0]
    named = {name for row in table.splitlines()[2:] for name in re.findall(r"`(\w+)`", row.split("|")[1])}
    assert named == set(MEASURED), "gates and alerts have words for other measurements"
    measured = "\n".join(path.read_text(encoding="utf-8") for path in (MODELS / "gates").glob("*measurements.sql"))
    assert {name for name in named if f"'{name}'" not in measured} == set()
    for folder in ("decisions", "demo/seeds"):
        with (REPOSITORY / folder / "threshold_gates.csv").open(encoding="utf-8", newline="") as lines:
            assert {row["measurement"] for row in csv.DictReader(lines)} <= named


def test_the_page_of_marts_names_every_mart_and_no_other() -> None:
    page = (DOCS / "marts.md").read_text(encoding="utf-8")
    assert set(re.findall(r"`((?:dim|fct)_\w+)`", page)) == marts()


def test_every_mart_is_published() -> None:
    # those of the nightly build, and those of jobs on request
    lists = [*(REPOSITORY / "macros").glob("*.sql"), *MODELS.rglob("published_*.py")]
    published = "\n".join(path.read_text(encoding="utf-8") for path in lists)
    assert sorted(mart for mart in marts() if not re.search(rf"""['"]{mart}['"]""", published)) == []


@pytest.mark.parametrize("entity", ENTITIES.values(), ids=lambda entity: entity.name)
def test_every_raw_column_is_typed_and_on_the_page_of_the_contract(entity: Entity) -> None:
    page = (DOCS / "raw-contract.md").read_text(encoding="utf-8")
    row = next(line for line in page.splitlines() if line.startswith(f"| {entity.name} |"))
    base = next(MODELS.glob(f"staging/*/base_{entity.name}.sql")).read_text(encoding="utf-8")
    for place, text in (("docs/raw-contract.md", row), (f"base_{entity.name}.sql", base)):
        missing = [column for column in entity.columns if not re.search(rf"\b{column}\b", text)]
        assert missing == [], f"{place} lacks {missing}"


def test_the_readme_is_short() -> None:
    lines = (REPOSITORY / "README.md").read_text(encoding="utf-8").splitlines()
    assert len(lines) <= MAXIMUM_LINES_OF_THE_README

"""One project for both engines: what exists for Spark alone stays small, so that it can be read and judged whole."""

import ast
import re

from builds import REPOSITORY

PACKAGE = REPOSITORY / "python_udfs"
#: Lines of code, without blank lines, comments and docstrings.
LIMIT = 400


def count_code(*texts: str | None) -> int:
    """Return the lines of code of texts of Python, SQL or YAML."""
    code = re.sub(r'(?ms)\{#.*?#\}|^ *""".*?"""$', "", "\n".join(text or "" for text in texts))
    return sum(1 for line in code.splitlines() if line.strip() and not line.strip().startswith("#"))


def lines_for_spark_alone() -> dict[str, int]:
    """Return part of the project -> lines of code that no build on DuckDB runs."""
    macros = "\n".join(path.read_text(encoding="utf-8") for path in (REPOSITORY / "macros").rglob("*.sql"))
    counts = {
        # beside the adapter stands a plugin of dbt-duckdb
        "adapter": count_code(*(path.read_text() for path in PACKAGE.glob("dbt/**/sparksession/**/*.py"))),
        "adapter macros": count_code(*(path.read_text() for path in PACKAGE.glob("dbt/**/*.sql"))),
        "spark__ macros": count_code(*re.findall(r"\{% macro spark__.*?endmacro %\}", macros, flags=re.DOTALL)),
        "profile": 1 + count_code((REPOSITORY / "profiles.yml").read_text().split("    spark:\n")[1]),
        "relations": count_code((PACKAGE / "hcat/engine/relations.py").read_text().split("# -- Apache Spark")[1]),
    }
    for path in PACKAGE.glob("hcat/**/*.py"):
        source = path.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.If) and "is_distributed(" in ast.unparse(node.test):
                counts["relations"] += 1 + count_code(*(ast.get_source_segment(source, each) for each in node.body))
    return counts


def test_lines_for_spark_alone_stay_few() -> None:
    counts = lines_for_spark_alone()
    assert all(counts.values()), counts
    assert sum(counts.values()) < LIMIT, counts

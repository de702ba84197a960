"""One project for both engines: what exists for Spark alone stays small, so that it can be read and judged whole."""

import ast
import re
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
#: Lines of code, without blank lines, comments and docstrings.
LIMIT = 400


def count_python(nodes: list[ast.stmt], source: str) -> int:
    """Return the lines of code of some statements, docstrings left out."""
    lines: set[int] = set()
    texts: set[int] = set()
    for node in nodes:
        lines |= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
        for inner in ast.walk(node):
            if (
                isinstance(inner, ast.Expr)
                and isinstance(inner.value, ast.Constant)
                and isinstance(inner.value.value, str)
            ):
                texts |= set(range(inner.lineno, (inner.end_lineno or inner.lineno) + 1))
    rows = source.splitlines()
    return sum(1 for line in lines - texts if rows[line - 1].strip() and not rows[line - 1].strip().startswith("#"))


def count_sql(text: str) -> int:
    """Return the lines of Jinja and SQL, comments left out."""
    return sum(1 for line in re.sub(r"\{#.*?#\}", "", text, flags=re.DOTALL).splitlines() if line.strip())


def lines_for_spark_alone() -> dict[str, int]:
    """Return part of the project -> lines of code that no build on DuckDB runs."""
    counts = {"adapter": 0, "adapter macros": 0, "spark__ macros": 0, "relations": 0, "profile": 0}
    # beside the adapter stands a plugin of dbt-duckdb
    for path in (REPOSITORY / "python_udfs" / "dbt").rglob("sparksession/**/*.py"):
        source = path.read_text(encoding="utf-8")
        counts["adapter"] += count_python(ast.parse(source).body, source)
    for path in (REPOSITORY / "python_udfs" / "dbt").rglob("*.sql"):
        counts["adapter macros"] += count_sql(path.read_text(encoding="utf-8"))
    for path in (REPOSITORY / "macros").rglob("*.sql"):
        text = path.read_text(encoding="utf-8")
        for macro in re.findall(r"\{% macro spark__.*?endmacro %\}", text, flags=re.DOTALL):
            counts["spark__ macros"] += count_sql(macro)
    for path in (REPOSITORY / "python_udfs" / "hcat").rglob("*.py"):
        source = path.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.If) and "is_distributed(" in ast.unparse(node.test):
                counts["relations"] += 1 + count_python(node.body, source)
    relations = REPOSITORY / "python_udfs" / "hcat" / "engine" / "relations.py"
    source = relations.read_text(encoding="utf-8")
    start = source[: source.index("# -- Apache Spark")].count("\n")
    spark_only = [node for node in ast.parse(source).body if node.lineno > start]
    counts["relations"] += count_python(spark_only, source)
    profile = (REPOSITORY / "profiles.yml").read_text(encoding="utf-8").split("    spark:\n")[1]
    counts["profile"] = 1 + sum(1 for line in profile.splitlines() if line.strip() and not line.strip().startswith("#"))
    return counts


def test_lines_for_spark_alone_stay_few() -> None:
    counts = lines_for_spark_alone()
    assert all(counts.values()), counts
    assert sum(counts.values()) < LIMIT, counts

"""What reaches a terminal or a log file passes one function in Python and one macro in dbt, and is one clean line."""

import ast
import re
from pathlib import Path

import jinja2
import pytest

from hcat.engine.saying import clean_line

REPOSITORY = Path(__file__).resolve().parents[2]
PACKAGE = REPOSITORY / "python_udfs"
#: The only module that prints.
SAYING = "hcat/engine/saying.py"
#: What writes to a terminal or a log, by the name that is called, read or imported.
WRITERS = {"print", "echo", "secho", "stdout", "stderr", "warn", "pprint", "Console"}
LOGGERS = {"logging", "warnings", "logger"}
#: Modules with one of these words, and why.
OTHERS = {
    # they silence the loggers of other packages
    "hcat/engine/http.py": {"logging"},
    "hcat/engine/devices.py": {"logging"},
    "hcat/gates/validation.py": {"warnings"},
    # what another program prints becomes a part of an error
    "hcat/engine/building.py": {"stdout", "stderr"},
    "hcat/report/pdf.py": {"stderr"},
}
#: Macros that ask the database and stop with names of tables and counts, which no log gives.
NAMES_ALONE = {"move_table", "materializations"}
#: A terminal escape, a colour, a bell, line breaks of all kinds, marks of direction, a character of no width.
HOSTILE = "calls\x1b[31m\x07\x9b\r\nGATE PASSED\u2028forged\x85\u202egnp\u2066\u200b\ud800\U000e0041.jsonl"


def find_writers(path: Path) -> set[str]:
    """Return the words in the code of a module by which something is printed or logged."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Name):
            found.add(node.id)
        elif isinstance(node, ast.Attribute):
            found.add(node.attr)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            found |= {part for alias in node.names for part in alias.name.split(".")}
            found |= set((getattr(node, "module", "") or "").split("."))
    return found & (WRITERS | LOGGERS)


def test_one_module_prints() -> None:
    found = {path.relative_to(PACKAGE).as_posix(): find_writers(path) for path in sorted(PACKAGE.rglob("*.py"))}
    assert found.pop(SAYING) == {"print", "Console", "stdout", "stderr"}
    assert {name: words for name, words in found.items() if words} == OTHERS


def test_models_and_macros_print_by_one_macro() -> None:
    for path in [*REPOSITORY.glob("m*/**/*.sql"), *REPOSITORY.glob("m*/**/*.py"), *PACKAGE.rglob("*.sql")]:
        text = path.read_text(encoding="utf-8")
        is_own = path.name == "messages.sql"
        assert (" print(" in text, " log(" in text) == (is_own, False), path
        for macro in re.split(r"(?={%-? macro )", text):
            found = re.match(r"{%-? macro (\w+)", macro)
            names = {path.stem, found[1] if found else ""}
            # what a query returned may be a text of the logs
            is_asking = "raise_compiler_error(" in macro and "run_query(" in macro
            if is_asking and not names & NAMES_ALONE:
                assert macro.count("raise_compiler_error(") == macro.count("raise_compiler_error(clean_line("), path


def test_a_line_is_one_line_of_visible_characters() -> None:
    shown = clean_line(HOSTILE)
    assert shown.isprintable()
    assert shown == (
        "calls⟨U+001B⟩[31m⟨U+0007⟩⟨U+009B⟩  GATE PASSED forged ⟨U+202E⟩gnp⟨U+2066⟩⟨U+200B⟩⟨U+D800⟩⟨U+E0041⟩.jsonl"
    )
    for text in ("Füße 你好 مرحبا 🙂", "  two columns  ", "a [bold]b[/bold] <b>"):
        assert clean_line(text) == text


@pytest.mark.parametrize("text", [HOSTILE, "a fee of 5 €", "", "\u00a0\t", "".join(map(chr, range(0x3000)))])
def test_the_macro_cleans_as_the_function_does(text: str) -> None:
    source = (REPOSITORY / "macros" / "messages.sql").read_text(encoding="utf-8")
    macros = jinja2.Environment(extensions=["jinja2.ext.do"]).from_string(source).module
    assert str(macros.clean_line(text)) == clean_line(text)

"""Write docs/settings.md from the comments of dbt_project.yml: ``python tests/project/settings_page.py``."""

import re
from collections.abc import Iterator
from pathlib import Path

import yaml

from hcat.engine.settings import ENVIRONMENT

REPOSITORY = Path(__file__).resolve().parents[2]
PAGE = REPOSITORY / "docs" / "settings.md"

INTRODUCTION = """# Settings

This page is made from the comments of `dbt_project.yml`: `python tests/project/settings_page.py` writes it, and a test
holds it to them.

Set a var in the `vars` of your own project, or for one build on the command line:

```yaml
vars:
  hcat:
    hcat_profile: standard
    hcat_modules: {drift: false}
```

```
dbt build --vars '{hcat_review_budget: 50}'
```

A var or environment variable that does not exist, or a value of another type, stops the build in one line.
Business decisions are no settings: they are [seeds](thresholds.md).

Two names stand outside of these lists. `hcat_schema` is the schema of hcat's tables where hcat is a package. The
default is `hcat`, which gives `<schema of the target>_hcat`; an empty one is the schema of the target, where hcat 0.1
had its tables. Set it at the top of `vars`. `hcat_unit_tests` runs the unit tests and the tests of the shipped seeds.
"""


def read_settings() -> Iterator[tuple[str, str, str, str]]:
    """Yield heading, name, default and meaning of each var, in the order of the project file."""
    text = (REPOSITORY / "dbt_project.yml").read_text(encoding="utf-8")
    defaults = yaml.safe_load(text)["vars"]["hcat"]
    block = text[text.index("vars:\n  hcat:\n") : text.index("\n# Each folder is a room")]
    heading, meaning, is_new = "", "", True
    for line in block.splitlines():
        if found := re.fullmatch(r"    # -- (.+) --", line):
            heading, is_new = found[1], True
        elif line.startswith("    # "):
            meaning, is_new = (line[6:] if is_new else f"{meaning} {line[6:]}"), False
        elif found := re.match(r"    (hcat_\w+):", line):
            yield heading, found[1], show(defaults[found[1]]), meaning
            is_new = True


def show(value: object) -> str:
    text = yaml.safe_dump(value, default_flow_style=True, width=10_000, sort_keys=False).strip()
    return text.removesuffix("\n...").strip()


def render_page() -> str:
    lines, last_heading, last_meaning = [INTRODUCTION], None, None
    for heading, name, default, meaning in read_settings():
        if heading != last_heading:
            lines += [f"## {heading}", "", "| var | default | meaning |", "|---|---|---|"]
        elif lines[-1] == "":
            lines.pop()
        shown = "as above" if (heading, meaning) == (last_heading, last_meaning) else meaning
        lines += [f"| `{name}` | `{default}` | {shown.replace('|', chr(92) + '|')} |", ""]
        last_heading, last_meaning = heading, meaning
    lines += ["## Environment variables", "", "| variable | meaning |", "|---|---|"]
    lines += [f"| `{name}` | {meaning} |" for name, meaning in ENVIRONMENT.items()]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    PAGE.write_text(render_page(), encoding="utf-8")

"""What tests of the rating desk share: a warehouse with masks, a browser, a rater at the keyboard."""

import importlib.util
import json
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
import pytest
from test_sheets import make_warehouse

AXE = Path(__file__).resolve().parents[3] / "web" / "node_modules" / "axe-core" / "axe.min.js"


def make_desk_warehouse(folder: Path, masks: dict[str, list[tuple[int, int, str]]] | None = None) -> Path:
    """Write a warehouse with a round; ``masks`` names the hidden places of a text as (start, end, mask)."""
    make_warehouse(folder)
    with duckdb.connect(str(folder / "hcat.duckdb")) as connection:
        for text, places in (masks or {}).items():
            shown, position = "", 0
            for start, end, mask in places:
                shown += text[position:start] + mask
                position = end
            connection.execute(
                "update fct_interactions set answer = $1, answer_masks = $2 where answer = $3",
                [shown + text[position:], ",".join(f"{start} {end} {len(mask)}" for start, end, mask in places), text],
            )
    return folder


def read_block(page: Path) -> dict[str, Any]:
    found = re.search(r'<script type="application/json" id="desk">(.*?)</script>', page.read_text(encoding="utf-8"))
    assert found
    data: dict[str, Any] = json.loads(found.group(1))
    return data


class Visit:
    """A page in a browser, with what the console said and what was asked of the network."""

    def __init__(self, page: Any, path: Path) -> None:
        self.page = page
        self.complaints: list[str] = []
        self.requests: list[str] = []
        page.on("console", lambda message: self.complaints.append(message.text))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("dialog", lambda dialog: self.complaints.append(f"dialog {dialog.message}"))
        page.on("request", lambda request: self._note(request.url))
        self.address = path.as_uri()
        page.goto(self.address)

    def _note(self, url: str) -> None:
        if url.partition("#")[0] != self.address:
            self.requests.append(url)

    def begin(self, rater: str = "anna") -> None:
        self.press(rater, "Enter")
        self.page.wait_for_selector("article")

    def press(self, *keys: str) -> None:
        """Press keys one after the other; what is no name of a key is written letter by letter."""
        for key in keys:
            if len(key) == 1 or re.fullmatch(r"(Shift\+)?(Arrow\w+|Enter|Escape|Tab|Space)", key):
                self.page.keyboard.press(key)
            else:
                self.page.keyboard.type(key)

    def read(self, selector: str) -> str:
        text: str = self.page.inner_text(selector)
        return text

    def save(self, folder: Path) -> Path:
        with self.page.expect_download() as download:
            self.press("d")
        path = folder / download.value.suggested_filename
        download.value.save_as(path)
        return path

    def find_violations(self) -> list[str]:
        """Return what axe-core finds on the page; skip where it is not installed."""
        if not AXE.is_file():
            pytest.skip("axe-core is not installed: run npm ci in web/")
        self.page.evaluate(AXE.read_text(encoding="utf-8"))
        found = self.page.evaluate("axe.run().then(({violations}) => violations)")
        return [f"{one['id']}: {node['html'][:200]}" for one in found for node in one["nodes"]]


def find_browser() -> str | None:
    """Return the path of Chromium; None where it, or the package that drives it, is not installed."""
    if importlib.util.find_spec("playwright") is None:
        return None
    return shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


@contextmanager
def open_browser() -> Iterator[Any]:
    """Yield a browser without a window; skip where there is none."""
    executable = find_browser()
    if executable is None:
        pytest.skip("chromium or playwright is not installed: no browser opens the pages")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=["--no-sandbox"])
        yield browser
        browser.close()

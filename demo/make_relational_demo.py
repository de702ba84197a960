"""Makes the relational demo: five related tables of the made-up Harbourlight Bank, and documents rendered from them.

All of it is invented; there is no such bank, branch, street or product, and there are no people in it. The documents
say what the tables hold, but for a seeded share of the facts: a question about those is one that no document answers (a
gap in the knowledge). Which facts were left out stands in ``facts.jsonl``, so that evaluations can be checked against
it.

Every draw is a hash of the seed and the row's own key: a second run writes the same bytes.

Usage: ``python demo/make_relational_demo.py [--output FOLDER]``
"""

import argparse
import csv
import hashlib
import io
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

SEED = "relational demo 1"
FOLDER = Path(__file__).resolve().parent / "relational"

#: Share of the facts that no document states.
SHARE_LEFT_OUT = 0.2

CITIES = ("Northport", "Eastfield", "Southbay", "Westbrook", "Highmoor", "Lakeside")
BRANCHES = (
    *("Old Mill", "Harbour Gate", "Market Row", "Lantern Hill", "Stone Bridge", "Ferry Landing", "Castle Walk"),
    *("Corn Exchange", "Rope Yard", "Tower Green", "Chapel Street", "Sluice Lane", "Garden Square", "Mint House"),
    *("Customs Quay", "Windmill Rise", "Saddlers Court", "Orchard Way", "Glassworks", "Quarry Top"),
)
STREETS = ("Anchor Road", "Baker Lane", "Copper Street", "Dock Parade", "Elm Terrace", "Foundry Way", "Gull Walk")
HOURS = ("9:00 to 16:00", "8:00 to 14:00", "10:00 to 18:00", "9:00 to 13:00")
PLANTS = (
    *("Aspen", "Birch", "Cedar", "Dogwood", "Elder", "Fir", "Gorse", "Hazel", "Ivy", "Juniper", "Kelp", "Larch"),
    *("Maple", "Nettle", "Oak", "Poplar", "Quince", "Rowan", "Spruce", "Thistle", "Umbel", "Vetch", "Willow", "Yarrow"),
    *("Alder", "Bramble", "Clover", "Damson", "Fennel", "Heather"),
)
GROUPS = {"savings account": "Saver", "current account": "Current", "credit card": "Card", "instalment loan": "Loan"}
FEES = (
    *("paper statement", "account closure", "replacement document", "foreign transfer", "early repayment"),
    "priority service",
)
INTERVALS = ("once", "per month", "per quarter", "per year", "per request")
CHANNELS = ("cash machine", "online banking", "telephone banking", "counter")
APPROVALS = ("at once", "2 hours", "1 day", "3 days")
SUBJECTS = ("mortgages", "pensions", "business start-ups", "student finance", "inheritance planning")
WAITS = ("2 days", "4 days", "1 week", "10 days", "3 weeks")
NOTICES = ("1 day", "14 days", "30 days", "60 days", "90 days")

#: What rows are called by: in every sentence, hence no facts of their own.
SPOKEN_KEYS = ("product_name", "fee_name", "channel_name", "subject")

#: Ways to state a fact; {what} of {which} is {value}.
SENTENCES = (
    "The {what} of the {which} {verb} {value}.",
    "For the {which}, the {what} {verb} {value}.",
    "As to the {which}: its {what} {verb} {value}.",
)

Row = dict[str, Any]


def draw(*key: object) -> float:
    """Return a number in [0, 1) that depends on the key alone."""
    text = "\x1f".join([SEED, *map(str, key)])
    return int(hashlib.sha256(text.encode()).hexdigest()[:13], 16) / 16**13


def pick(choices: Sequence[Any], *key: object) -> Any:
    """Return one of the choices, by hash of the key."""
    return choices[int(draw(*key) * len(choices))]


def choose(choices: Sequence[str], count: int, *key: object) -> list[str]:
    """Return ``count`` different choices in their order, by hash of the key."""
    ranked = sorted(choices, key=lambda choice: draw(*key, choice))[:count]
    return [choice for choice in choices if choice in ranked]


def make_tables() -> dict[str, list[Row]]:
    """Return the rows of every table."""
    branches = [
        {
            "branch_id": number,
            "branch_name": name,
            "city": pick(CITIES, "city", name),
            "street_address": f"{10 + number * 3} {pick(STREETS, 'street', name)}",
            "opening_hours": pick(HOURS, "hours", name),
            "opening_date": _date(1960, 2015, "opening", name),
            "parking_spaces": 4 + int(draw("parking", name) * 60),
        }
        for number, name in enumerate(BRANCHES, start=1)
    ]
    products = []
    for number, plant in enumerate(PLANTS, start=1):
        group = pick(tuple(GROUPS), "group", plant)
        products.append(
            {
                "product_id": number,
                "product_name": f"{plant} {GROUPS[group]}",
                "product_group": group,
                "interest_rate": f"{0.25 + int(draw('rate', plant) * 120) / 20:.2f}",
                "minimum_deposit": 50 * (1 + int(draw("minimum", plant) * 80)),
                "notice_period": pick(NOTICES[1:] if group == "savings account" else NOTICES, "notice", plant),
                "launch_date": _date(2001, 2024, "launch", plant),
                "branch_id": 1 + int(draw("branch", plant) * len(branches)),
            }
        )
    pairs = [(product, name) for product in products for name in choose(FEES, 4, "fees", product["product_id"])]
    fees = [
        {
            "fee_id": number,
            "product_id": product["product_id"],
            "fee_name": name,
            "amount": f"{1 + int(draw('amount', product['product_id'], name) * 400) / 10:.2f}",
            "charging_interval": pick(INTERVALS, "interval", product["product_id"], name),
        }
        for number, (product, name) in enumerate(pairs, start=1)
    ]
    pairs = [(product, name) for product in products for name in choose(CHANNELS, 3, "channels", product["product_id"])]
    channels = [
        {
            "channel_id": number,
            "product_id": product["product_id"],
            "channel_name": name,
            "daily_limit": 100 * (1 + int(draw("limit", product["product_id"], name) * 90)),
            "approval_time": pick(APPROVALS, "approval", product["product_id"], name),
        }
        for number, (product, name) in enumerate(pairs, start=1)
    ]
    places = [(branch, name) for branch in branches for name in choose(SUBJECTS, 3, "desks", branch["branch_id"])]
    desks = [
        {
            "desk_id": number,
            "branch_id": branch["branch_id"],
            "subject": name,
            "lead_time": pick(WAITS, "waiting", branch["branch_id"], name),
            "telephone_extension": 2000 + number * 37,
        }
        for number, (branch, name) in enumerate(places, start=1)
    ]
    return {"branches": branches, "products": products, "fees": fees, "channels": channels, "advice_desks": desks}


def _date(first: int, last: int, *key: object) -> str:
    year = first + int(draw(*key, "year") * (last - first + 1))
    return f"{year}-{1 + int(draw(*key, 'month') * 12):02d}-{1 + int(draw(*key, 'day') * 28):02d}"


@dataclass
class Fact:
    """What one column of one row says; ``table`` and ``row_id`` name the row."""

    table: str
    row_id: int
    column: str
    value: str
    chunk_ids: list[str] = field(default_factory=list)

    @property
    def is_left_out(self) -> bool:
        """Whether no document states it."""
        return draw("left out", self.table, self.row_id, self.column) < SHARE_LEFT_OUT


class Renderer:
    """Writes documents from rows; every sentence states one fact, and left-out facts are stated nowhere."""

    def __init__(self, tables: dict[str, list[Row]]) -> None:
        self.facts: dict[tuple[str, int, str], Fact] = {}
        self.documents: list[Row] = []
        self.chunks: list[Row] = []
        self._tables = tables
        for table, rows in tables.items():
            key = next(iter(rows[0]))
            for row in rows:
                for column, value in row.items():
                    if column not in SPOKEN_KEYS and not column.endswith("_id"):
                        self.facts[table, row[key], column] = Fact(table, row[key], column, _say(value))
        # which branch has a product is a fact too: without it nothing of the branch can be asked by the product
        for product in tables["products"]:
            name = tables["branches"][product["branch_id"] - 1]["branch_name"]
            self.facts["products", product["product_id"], "branch_id"] = Fact(
                "products", product["product_id"], "branch_id", name
            )

    def render(self) -> None:
        """Write one document per branch and one per product."""
        for branch in self._tables["branches"]:
            number, which = branch["branch_id"], f"branch named {branch['branch_name']}"
            sections = [("visit", self._say_branch(number, which)), ("advice", self._say_desks(number, which))]
            self._add(f"branch-{number:02d}", f"Branch {branch['branch_name']}", "branches", sections)
        for product in self._tables["products"]:
            number, name = product["product_id"], f"product named {product['product_name']}"
            columns = ("product_group", "interest_rate", "minimum_deposit", "notice_period", "launch_date")
            terms = [self._state("products", number, column, name) for column in columns]
            fees = [
                self._state("fees", fee["fee_id"], column, f"fee named {fee['fee_name']} of the {name}")
                for fee in self._tables["fees"]
                if fee["product_id"] == number
                for column in ("amount", "charging_interval")
            ]
            channels = [
                self._state("channels", row["channel_id"], column, f"channel named {row['channel_name']} of the {name}")
                for row in self._tables["channels"]
                if row["product_id"] == number
                for column in ("daily_limit", "approval_time")
            ]
            sections = [("terms", terms), ("fees", fees), ("channels", channels)]
            if not self.facts["products", number, "branch_id"].is_left_out:
                which = f"branch with the {name}"
                of_branch = self._say_branch(product["branch_id"], which)
                of_branch.insert(0, self._state("branches", product["branch_id"], "branch_name", which))
                sections.append(("branch", of_branch))
                sections.append(("desks", self._say_desks(product["branch_id"], which)))
            self._add(f"product-{number:02d}", product["product_name"], "products", sections)

    def _say_branch(self, number: int, which: str) -> list[tuple[str, Fact] | None]:
        columns = ("city", "street_address", "opening_hours", "opening_date", "parking_spaces")
        return [self._state("branches", number, column, which) for column in columns]

    def _say_desks(self, number: int, which: str) -> list[tuple[str, Fact] | None]:
        return [
            self._state(
                "advice_desks", desk["desk_id"], column, f"advice desk with subject {desk['subject']} of the {which}"
            )
            for desk in self._tables["advice_desks"]
            if desk["branch_id"] == number
            for column in ("lead_time", "telephone_extension")
        ]

    def _state(self, table: str, row_id: int, column: str, which: str) -> tuple[str, Fact] | None:
        fact = self.facts[table, row_id, column]
        if fact.is_left_out:
            return None
        words = column.replace("_", " ")
        for noun in ("branch ", "product "):
            words = words.removeprefix(noun)
        sentence = pick(SENTENCES, "sentence", table, row_id, column, which)
        verb = "are" if words.endswith("s") and not words.endswith("ss") else "is"
        return sentence.format(what=words, which=which, verb=verb, value=fact.value), fact

    def _add(
        self, name: str, title: str, topic: str, sections: Sequence[tuple[str, Sequence[tuple[str, Fact] | None]]]
    ) -> None:
        document_id = f"relational-{name}"
        texts = []
        for section, sentences in sections:
            said = [sentence for sentence in sentences if sentence is not None]
            if not said:
                continue
            chunk_id = f"{document_id}-{section}"
            text = " ".join(sentence for sentence, _ in said)
            for _, fact in said:
                fact.chunk_ids.append(chunk_id)
            index = len(texts)
            self.chunks.append(
                {"chunk_id": chunk_id, "document_id": document_id, "topic": topic, "text": text, "chunk_index": index}
            )
            texts.append(text)
        self.documents.append({"document_id": document_id, "title": title, "topic": topic, "text": "\n\n".join(texts)})


def _say(value: object) -> str:
    text = str(value)
    is_number = text.replace(".", "", 1).isdigit()
    return text.rstrip("0").rstrip(".") if is_number and "." in text else text


def facts_of(renderer: Renderer) -> Iterator[Row]:
    """Yield one record per fact: where it stands, and whether it was left out."""
    for fact in renderer.facts.values():
        yield {
            "table": fact.table,
            "row_id": fact.row_id,
            "column": fact.column,
            "value": fact.value,
            "is_left_out": fact.is_left_out,
            "chunk_ids": fact.chunk_ids,
        }


def write_csv(path: Path, rows: Sequence[Row]) -> None:
    """Write a table as CSV."""
    written = io.StringIO(newline="")
    writer = csv.DictWriter(written, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    path.write_bytes(written.getvalue().encode())


def write_lines(path: Path, records: Sequence[Row]) -> None:
    """Write records as JSON Lines."""
    path.write_bytes(b"".join(json.dumps(record, ensure_ascii=False).encode() + b"\n" for record in records))


def make(folder: Path) -> None:
    """Write tables, documents, chunks and the record of facts into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    tables = make_tables()
    for name, rows in tables.items():
        write_csv(folder / f"{name}.csv", rows)
    renderer = Renderer(tables)
    renderer.render()
    write_lines(folder / "documents.jsonl", renderer.documents)
    write_lines(folder / "chunks.jsonl", renderer.chunks)
    write_lines(folder / "facts.jsonl", list(facts_of(renderer)))


def main() -> None:
    """Write the demo."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=Path, default=FOLDER)
    make(parser.parse_args().output)


if __name__ == "__main__":
    main()

"""The shipped materials and settings of variants, read from the seeds as the models of the warehouse read them."""

import csv
from pathlib import Path

import pyarrow as pa

from hcat.test_set.variants.tables import Materials, read_materials

SEEDS = Path(__file__).resolve().parents[3] / "seeds"


def read_seed(name: str) -> list[dict[str, str]]:
    with (SEEDS / f"{name}.csv").open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


def material_rows() -> list[dict[str, str | None]]:
    rows = [
        (row["variant_type"], row["material"], row["item_id"], row["text_before"], row["text_after"])
        for row in read_seed("test_variant_words")
    ]
    rows += [
        ("prompt_injection", "prompt", row["prompt_id"], row["attack"], row["prompt_text"])
        for row in read_seed("adversarial_prompts")
        if row["is_enabled"] == "true"
    ]
    rows += [
        ("counterfactual", f"{row['usage']}_term", row["pair_id"], row["first_term"], row["second_term"])
        for row in read_seed("demographic_terms")
        if row["is_enabled"] == "true"
    ]
    names = ("variant_type", "material", "item_id", "text_before", "text_after")
    return [dict(zip(names, [cell or None for cell in row], strict=True)) for row in rows]


def shipped_materials() -> Materials:
    return read_materials(pa.Table.from_pylist(material_rows()))


def shipped_rates() -> dict[str, float]:
    return {row["variant_type"]: float(row["rate"]) for row in read_seed("test_variant_types")}

"""From trained folders to what ships: the fused prior as a seed, the delta and its card as package data."""

import csv
import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from safetensors.torch import load_file, save_file

from hcat.encoders.identities import SHIPPED
from hcat.engine.keys import hash_file
from training.bases import BASES, CLASSES
from training.fit import Settings, make_adapted
from training.fusion import FEATURES, Fusion
from training.lora import average_deltas, write_back

ROOT = Path(__file__).resolve().parents[1]
PRIOR = ROOT / "seeds" / "groundedness_prior.csv"


def _digest(source: str) -> str:
    return hashlib.md5(source.encode(), usedforsecurity=False).hexdigest()[:12]


def write_prior(fusion: Fusion, classifier_name: str, path: Path = PRIOR) -> None:
    """Write the rows of a classifier into the seed, its intercept first; those of other classifiers stay."""
    columns = ("classifier_name", "feature", "coefficient", "center", "scale")
    others: list[list[str]] = []
    if path.exists():
        with path.open(encoding="utf-8", newline="") as handle:
            others = [[row[column] for column in columns] for row in csv.DictReader(handle)]
    own = [[classifier_name, "intercept", f"{fusion.intercept:.6f}", "", ""]]
    for name, values in zip(
        FEATURES, zip(fusion.coefficients, fusion.centers, fusion.scales, strict=True), strict=True
    ):
        own.append([classifier_name, name, *(f"{value:.6f}" for value in values)])
    rows = [row for row in others if row[0] != classifier_name] + own
    with path.open("w", encoding="utf-8", newline="") as handle:
        writer = csv.writer(handle, lineterminator="\n")
        writer.writerow(columns)
        # the order of the file is that of the names, whichever was fitted last; the rows of one keep theirs
        writer.writerows(sorted(rows, key=lambda row: row[0]))


def interpolate(start: Path, trained: Path, share_of_start: float) -> Any:
    """Return the classifier on the line between two folders: that share of the first, the rest of the second.

    Both must have one rank; the mean of the updates is cut to it (:func:`training.lora.average_deltas`).
    """
    facts = read_facts(trained)
    rank = int(facts["rank"])
    deltas = [load_file(folder / "delta.safetensors") for folder in (start, trained)]
    model = make_adapted(BASES[facts["base"]], rank)
    write_back(model, average_deltas(deltas, rank, (share_of_start, 1 - share_of_start)))
    return model.eval()


def average(folders: Sequence[Path], output: Path) -> None:
    """Write the average of fold models to ``output``: one model that every source has taught, without another training.

    ``training.json`` holds the recipe of the folds and all their sources.
    """
    facts = [read_facts(folder) for folder in folders]
    deltas = [load_file(folder / "delta.safetensors") for folder in folders]
    output.mkdir(parents=True, exist_ok=True)
    save_file(average_deltas(deltas, int(facts[0]["rank"])), output / "delta.safetensors")
    own = {key: facts[0][key] for key in (*asdict(Settings()), "share_of_start")} | {
        "averaged": [
            {key: each[key] for key in ("held_out", "count_folds", "count_pairs", "loss", "mnli_dev_matched")}
            for each in facts
        ],
        "sources": sorted({source for each in facts for source in each["sources"]}),
    }
    (output / "training.json").write_text(json.dumps(own, indent=2, sort_keys=True) + "\n", encoding="utf-8")


def read_facts(folder: Path) -> dict[str, Any]:
    """Return what a stage of training wrote of itself; a folder of shipped weights says it in its card."""
    if not (folder / "training.json").exists():
        facts: dict[str, Any] = json.loads((folder / "card.json").read_text(encoding="utf-8"))["training"]
        # the cards of the compact classifier name no base
        return {"base": Settings().base} | facts | {"rank": facts.get("shipped_rank", facts["rank"])}
    facts = json.loads((folder / "training.json").read_text(encoding="utf-8"))
    return facts


def export(trained: Path, revision: str, folder: Path | None = None) -> None:
    """Write the delta in half precision and its card: labels, digests, recipe, and digests of the sources it has seen.

    The digests let a benchmark say that it scores answers to sources from training; they tell nothing else. A base with
    a rank of its own for what ships is cut to it (:func:`training.lora.average_deltas`).
    """
    facts = read_facts(trained)
    shipped, base = SHIPPED[facts["base"]], BASES[facts["base"]]
    folder = shipped.folder if folder is None else folder
    folder.mkdir(parents=True, exist_ok=True)
    delta = load_file(trained / "delta.safetensors")
    if base.shipped_rank is not None:
        delta, facts["shipped_rank"] = average_deltas([delta], base.shipped_rank), base.shipped_rank
    delta = {name: value.half().contiguous() for name, value in delta.items()}
    save_file(delta, folder / "delta.safetensors")
    # the library writes files for their owner alone
    (folder / "delta.safetensors").chmod(0o644)
    sources = facts.pop("sources", [])
    card = {
        "name": shipped.name,
        "revision": revision,
        "labels": list(CLASSES),
        "base_sha256": shipped.check_base(),
        "delta_sha256": hash_file(folder / "delta.safetensors"),
        "training": facts,
        "trained_sources": sorted(map(_digest, sources)),
    }
    (folder / "card.json").write_text(json.dumps(card, indent=1, sort_keys=True) + "\n", encoding="utf-8")

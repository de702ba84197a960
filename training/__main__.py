"""Makes the entailment models, the compact one and (`--base accurate`) the larger one, stage by stage.

Data are read from the folder named by HCAT_BENCHMARK_DATA; docs/model-card.md lists them with licences and figures. Two
CPU cores are enough; a GPU is used when there is one.
"""

import argparse
import json
import os
import random
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import save_file

from training import fit, grounded, human_sets, prior, release, signals
from training.bases import BASES
from training.fusion import FEATURES
from training.lora import read_delta
from training.pairs import Pair, count_by_cluster, read_nli, read_nli_test

SEED = 20260101

_NLI = fit.Settings(rank=32, epochs=2, batch_tokens=3072, batch_pairs=48, maximum_tokens=128, learning_rate=7e-4)
_GROUNDED = fit.Settings(
    rank=32, epochs=2, batch_tokens=4096, batch_pairs=32, maximum_tokens=288, learning_rate=5e-4, token_weight=1.0
)

#: Base -> recipe of each stage. The larger base needs fewer looks at each pair, and smaller steps.
NLI = {"compact": _NLI, "accurate": replace(_NLI, base="accurate", epochs=1, batch_pairs=64, learning_rate=4e-4)}
GROUNDED = {"compact": _GROUNDED, "accurate": replace(_GROUNDED, base="accurate", epochs=1, learning_rate=3e-4)}

#: The stage on many sets goes on from shipped weights, gently.
SETS = {
    "compact": replace(_GROUNDED, epochs=2, batch_pairs=48, learning_rate=3e-4, token_weight=0.5),
    "accurate": replace(_GROUNDED, base="accurate", epochs=1, batch_pairs=48, learning_rate=2e-4, token_weight=0.5),
}

#: Faults made per faithful sentence, and pairs of inference that keep the first stage alive.
SHARE_MADE = 0.7
COUNT_REPLAYED = 4_000

#: Share of the first stage in the weights after the second.
SHARE_OF_START = 0.3


def run_nli(data: Path, start: Path | None, output: Path, settings: fit.Settings, limit: int | None) -> None:
    """Train on inference pairs and print the accuracy on MultiNLI dev matched, which is never trained on."""
    pairs = read_nli(data)
    random.Random(SEED).shuffle(pairs)
    pairs = pairs[:limit]
    _say(f"pairs: {count_by_cluster(pairs)}")
    model = fit.train(pairs, settings, output, start)
    test = read_nli_test(data)
    share = fit.accuracy(fit.predict(model, test, settings.maximum_tokens), test)
    _say(f"MultiNLI dev matched: accuracy {share:.4f}, n = {len(test):,}")


def run_grounded(
    data: Path, start: Path, output: Path, settings: fit.Settings, held_out: int | None, count_folds: int
) -> None:
    """Train on labelled answer sentences and made faults; with ``held_out`` the sources of that fold stay unseen."""
    reader = grounded.EvidenceReader()
    everything = grounded.read_sentences(grounded.read_ragtruth(data / "ragtruth"), reader)
    sentences = [each for each in everything if grounded.fold_of(each.answer.source_id, count_folds) != held_out]
    _say(f"sentences (all, not supported): {dict(grounded.describe(sentences))}")
    pairs = [grounded.to_pair(sentence) for sentence in sentences]
    pairs += grounded.make_negatives(sentences, reader, SHARE_MADE, SEED)
    pairs += grounded.read_expert_pairs(data, reader)
    replayed: list[Pair] = read_nli(data)
    random.Random(SEED + 1).shuffle(replayed)
    pairs += replayed[:COUNT_REPLAYED]
    _say(f"pairs: {count_by_cluster(pairs)}")
    fit.train(pairs, settings, output, start)
    path = output / "training.json"
    facts = release.read_facts(output) | {"held_out": held_out, "count_folds": count_folds}
    facts["pairs"] = count_by_cluster(pairs)
    facts["sources"] = sorted({each.answer.source_id for each in sentences})
    path.write_text(json.dumps(facts, indent=2, sort_keys=True) + "\n", encoding="utf-8")


def run_sets(
    data: Path, start: Path, output: Path, settings: fit.Settings, held_out: int | None, count_replayed: int
) -> None:
    """Train on sets that people labelled, with made faults and true negations; the families of one fold stay unseen.

    RAGTruth and pairs of inference are replayed, so that what was learnt before is not forgotten.
    """
    reader = grounded.EvidenceReader()
    everything = human_sets.read_human_pairs(data, reader, SEED, output.parent / "human_pairs.parquet")
    pairs = human_sets.leave_out(everything, held_out)
    sentences = grounded.read_sentences(grounded.read_ragtruth(data / "ragtruth"), reader)
    of_ragtruth = [grounded.to_pair(sentence) for sentence in sentences]
    of_ragtruth += grounded.make_negatives(sentences, reader, SHARE_MADE, SEED)
    of_inference = read_nli(data)
    for number, replayed in enumerate((of_ragtruth, of_inference)):
        random.Random(SEED + number).shuffle(replayed)
        pairs += replayed[:count_replayed]
    _say(f"pairs: {count_by_cluster(pairs)}")
    fit.train(pairs, settings, output, start)
    path = output / "training.json"
    facts = release.read_facts(output) | {"held_out_families": held_out, "pairs": count_by_cluster(pairs)}
    facts["sources"] = sorted({each.answer.source_id for each in sentences})
    path.write_text(json.dumps(facts, indent=2, sort_keys=True) + "\n", encoding="utf-8")


def run_interpolate(data: Path, start: Path, trained: Path, output: Path) -> None:
    """Move the weights back towards those of the stage before, and print MultiNLI.

    A fine-tuned model forgets; the straight line between it and its start keeps most of both (Wortsman et al. 2022,
    Robust fine-tuning of zero-shot models, WiSE-FT).
    """
    facts = release.read_facts(trained)
    model = release.interpolate(start, trained, SHARE_OF_START)
    test = read_nli_test(data)
    share = fit.accuracy(fit.predict(model, test, NLI[facts["base"]].maximum_tokens), test)
    _say(f"MultiNLI dev matched: accuracy {share:.4f}, n = {len(test):,}")
    output.mkdir(parents=True, exist_ok=True)
    save_file(read_delta(model), output / "delta.safetensors")
    facts |= {"mnli_dev_matched": round(share, 4), "share_of_start": SHARE_OF_START}
    (output / "training.json").write_text(json.dumps(facts, indent=2, sort_keys=True) + "\n", encoding="utf-8")


def run_prior() -> None:
    """Fit the shipped prior of each classifier on the stored signals of all sets, and print its cut-offs.

    The cut-offs are those of highest balanced accuracy among scores of fusions that have not seen the family of an
    answer (`python -m benchmarks.generalisation`).
    """
    for setting, name in signals.CLASSIFIERS.items():
        stored = signals.read_stored(setting)
        fusion = prior.fit(stored, np.ones(len(stored.answers), dtype=bool))
        release.write_prior(fusion, name)
        _say(f"{name}: {dict(zip(FEATURES, fusion.coefficients.round(3).tolist(), strict=True))}")
        for decision, threshold in prior.propose_cut_offs(stored).items():
            _say(f"{name}: cut-off {decision} {threshold:.3f}")


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def main(arguments: list[str] | None = None) -> int:
    """Run one stage from the command line."""
    parser = argparse.ArgumentParser(prog="python -m training", description=__doc__)
    parser.add_argument("stage", choices=("nli", "grounded", "sets", "interpolate", "prior", "average", "export"))
    parser.add_argument("--output", type=Path, help="folder for delta.safetensors and training.json (nli, grounded)")
    parser.add_argument("--predictions", type=Path, nargs="+", help="folders of the fold models (interpolate, average)")
    parser.add_argument("--revision", help="revision of the shipped model (export)")
    parser.add_argument("--start", type=Path, help="folder of the stage before (grounded)")
    parser.add_argument("--base", choices=tuple(BASES), help="what to start from (nli; later stages go on with it)")
    parser.add_argument("--held-out", type=int, help="fold of sources that stays unseen (for out-of-fold scores)")
    parser.add_argument("--folds", type=int, default=3)
    parser.add_argument("--limit", type=int, help="first pairs only: a try")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--epochs", type=int)
    parser.add_argument("--learning-rate", type=float)
    parser.add_argument("--rank", type=int)
    parser.add_argument("--token-weight", type=float)
    parser.add_argument("--batch-tokens", type=int, help="padded tokens of a batch: 4,096, on a large GPU 65,536")
    parser.add_argument("--batch-pairs", type=int, help="pairs of a batch, on a large GPU 512")
    parser.add_argument("--replayed", type=int, default=COUNT_REPLAYED, help="pairs of earlier stages (sets)")
    options = parser.parse_args(arguments)
    if options.stage == "prior":
        run_prior()
        return 0
    if options.stage == "export":
        if options.start is None or not options.revision:
            parser.exit(2, "training: export needs --start FOLDER and --revision\n")
        release.export(options.start, options.revision)
        return 0
    if options.stage == "average":
        if not options.predictions or options.output is None:
            parser.exit(2, "training: average needs --predictions FOLDERS and --output FOLDER\n")
        release.average(options.predictions, options.output)
        return 0
    root = os.environ.get("HCAT_BENCHMARK_DATA")
    if not root:
        parser.exit(2, "training: HCAT_BENCHMARK_DATA must name the folder of labelled data\n")
    torch.set_num_threads(options.threads)
    if options.stage == "interpolate":
        if options.start is None or options.output is None or not options.predictions:
            parser.exit(2, "training: interpolate needs --start FOLDER, --predictions FOLDER and --output FOLDER\n")
        run_interpolate(Path(root), options.start, options.predictions[0], options.output)
        return 0
    if options.output is None:
        parser.exit(2, "training: --output must name a folder\n")
    chosen = {
        name: getattr(options, name)
        for name in ("epochs", "learning_rate", "rank", "token_weight", "batch_tokens", "batch_pairs")
        if getattr(options, name) is not None
    }
    if options.stage == "nli":
        base = options.base or ("compact" if options.start is None else release.read_facts(options.start)["base"])
        run_nli(Path(root), options.start, options.output, replace(NLI[base], **chosen), options.limit)
    elif options.stage == "sets":
        if options.start is None:
            parser.exit(2, "training: --start must name the folder of the stage before\n")
        facts = release.read_facts(options.start)
        settings = replace(SETS[facts["base"]], rank=facts["rank"], **chosen)
        run_sets(Path(root), options.start, options.output, settings, options.held_out, options.replayed)
    else:
        if options.start is None:
            parser.exit(2, "training: --start must name the folder of the stage nli\n")
        settings = replace(GROUNDED[release.read_facts(options.start)["base"]], **chosen)
        run_grounded(Path(root), options.start, options.output, settings, options.held_out, options.folds)
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Embedding and entailment on a GPU beside the ceiling of the same model: passes over batches that lie ready there.

The texts are sentences of the demo, made distinct by numbers. Needs no warehouse. Without a GPU a small input runs on
the CPU.
"""

import json
import re
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import torch

from benchmarks.harness import ROOT, Outcome, Table, argument_parser, finish, verdict
from hcat.encoders import embedding, entailment, mpnet
from hcat.encoders.distances import measure_distances
from hcat.encoders.embedding import load_encoder
from hcat.encoders.entailment import load_classifier
from hcat.encoders.identities import PACKAGED_NAME, resolve_classifier, resolve_encoder
from hcat.encoders.tokens import Prepared, start_model, start_prepared
from hcat.engine.batching import SLICES_AHEAD, fetch_late, plan_batches
from hcat.engine.devices import packaged_folder, silence_transformers
from hcat.engine.sizes import SLICE_ROWS, embedding_tokens, pair_tokens

COUNT_REPEATS = 3

#: Names of the models on the command line.
ENCODER = "encoder"
CLASSIFIERS = ("compact", "accurate")
MODELS = (ENCODER, *CLASSIFIERS)

#: Batches of sentence-transformers; 32 is its default.
PEER_BATCHES = (32, 256, 1024)
PLAIN_BATCH = 32

#: Budgets tried, in padded tokens.
BUDGETS = {"cuda": [1 << power for power in range(14, 20)], "cpu": [1024, 2048, 4096, 8192]}

#: A build takes at most this many times as long as the ceiling, and a default budget as the best budget.
LIMIT_CEILING = 1.25
LIMIT_BUDGET = 1.05

_END_OF_SENTENCE = re.compile(r"(?<=[.!?])\s+")


class Sizes(NamedTuple):
    """How much is measured: texts, pairs, rows of a sample, texts one a batch, rows compared with the CPU."""

    texts: int
    pairs: int
    sample: int
    alone: int
    compared: int


FULL = Sizes(200_000, 60_000, 20_000, 500, 2_000)
#: What a CPU reads in minutes.
SMALL = Sizes(4_000, 1_000, 1_000, 100, 100)
QUICK = Sizes(300, 60, 60, 10, 10)


def read_logs() -> tuple[list[str], list[tuple[str, str]]]:
    """Return distinct texts of the demo and its pairs of first chunk and answer sentence, in the order of the logs."""

    def read(name: str) -> list[dict[str, Any]]:
        with (ROOT / "demo" / "logs" / name).open(encoding="utf-8") as lines:
            return [json.loads(line) for line in lines]

    chunks = {row["interaction_id"]: row["text"] for row in reversed(read("retrievals.jsonl"))}
    pairs = [
        (chunks[row["interaction_id"]], sentence)
        for row in read("interactions.jsonl")
        if row["interaction_id"] in chunks
        for sentence in _END_OF_SENTENCE.split(row["answer"] or "")
        if sentence
    ]
    sentences = [part for row in read("chunks.jsonl") for part in _END_OF_SENTENCE.split(row["text"])]
    questions = [row["text"] for row in read("queries.jsonl")]
    return list(dict.fromkeys([sentence for _, sentence in pairs] + sentences + questions)), pairs


def number(rows: Sequence[str], count: int) -> list[str]:
    """Return ``count`` distinct texts: the rows again and again, each with a number of its own.

    Examples
    --------
    >>> number(["The fee is 5 euros.", "No."], 3)
    ['The fee is 5 euros. 0', 'No. 1', 'The fee is 5 euros. 2']
    """
    return [f"{rows[index % len(rows)]} {index}" for index in range(count)]


class Seconds:
    """Times work until the device has done it: the median of some repeats."""

    def __init__(self, device: str, repeats: int) -> None:
        self._device, self._repeats = device, repeats

    def wait(self) -> None:
        """Wait for the device."""
        if self._device == "cuda":
            torch.cuda.synchronize()

    def of(self, work: Callable[[], object]) -> float:
        """Return the median seconds of ``work``."""
        found = []
        for _ in range(self._repeats):
            self.wait()
            started = time.perf_counter()
            work()
            self.wait()
            found.append(time.perf_counter() - started)
        return statistics.median(found)


@dataclass(frozen=True, slots=True)
class Task:
    """A model with the rows that it reads, sorted by length as a build sorts them."""

    #: Model and rows in words.
    name: str
    #: Texts, or pairs.
    rows: Sequence[tuple[str, ...]]
    #: Rows -> rows tokenized.
    prepare: Callable[[Sequence[tuple[str, ...]]], Prepared]
    #: Rows and budget -> a function that waits for the outputs: what a build calls for a slice.
    start: Callable[[Sequence[tuple[str, ...]], int], Callable[[], npt.NDArray[Any]]]
    #: Longest input of the model.
    maximum_tokens: int
    #: Default budget of the device.
    budget: int
    #: Rows of one slice on the device.
    slice_rows: int

    def score(self, rows: Sequence[tuple[str, ...]], budget: int) -> npt.NDArray[Any]:
        """Return the outputs of some rows."""
        return self.start(rows, budget)()


def _sort(rows: Sequence[tuple[str, ...]]) -> list[tuple[str, ...]]:
    return sorted(rows, key=lambda row: (sum(map(len, row)), row))


def task_of_encoder(texts: Sequence[str], device: str, dtype: str) -> Task:
    """Return the packaged encoder with some texts."""
    encoder = load_encoder(resolve_encoder("packaged", device, dtype))

    def start(rows: Sequence[tuple[str, ...]], budget: int) -> Callable[[], npt.NDArray[Any]]:
        wait = start_model(encoder, budget, [text for (text,) in rows])
        return lambda: wait()[0]

    return Task(
        f"{PACKAGED_NAME}, {len(texts):,} texts",
        _sort([(text,) for text in texts]),
        lambda rows: encoder.prepare([text for (text,) in rows]),
        start,
        encoder.maximum_tokens,
        embedding_tokens(device),
        SLICE_ROWS * embedding.SLICES_JOINED[device],
    )


def task_of_classifier(name: str, pairs: Sequence[tuple[str, ...]], device: str, dtype: str) -> Task:
    """Return a shipped classifier with some pairs; it scores P(entailment)."""
    identity = resolve_classifier(name, device, dtype)
    classifier = load_classifier(identity)

    def start(rows: Sequence[tuple[str, ...]], budget: int) -> Callable[[], npt.NDArray[Any]]:
        wait = start_model(classifier, budget, [row[0] for row in rows], [row[1] for row in rows])
        return lambda: measure_distances(wait()[0], classifier.head).probability_entailment

    return Task(
        f"{identity.name}, {len(pairs):,} pairs",
        _sort(pairs),
        lambda rows: classifier.prepare([row[0] for row in rows], [row[1] for row in rows]),
        start,
        classifier.maximum_tokens,
        pair_tokens(device),
        SLICE_ROWS * entailment.SLICES_JOINED[device],
    )


class Ceiling(NamedTuple):
    """Seconds of tokenizing alone and of the model alone, and padded tokens and tokens that it read."""

    tokenizing: float
    passes: float
    count_tokens: int
    count_padded: int


def measure_ceiling(task: Task, seconds: Seconds) -> Ceiling:
    """Return the seconds of tokenizing alone, and of the model alone over batches that lie on the device."""
    prepared = task.prepare(task.rows)
    counts = np.minimum(prepared.counts, task.maximum_tokens)
    planned = list(plan_batches(counts, task.budget))
    batches = [prepared.load(rows) for rows in planned]

    def run() -> None:
        for batch in batches:
            prepared.run(batch)

    passes = seconds.of(run)
    count_padded = sum(int(counts[rows].max()) * len(rows) for rows in planned)
    return Ceiling(seconds.of(lambda: task.prepare(task.rows)), passes, int(counts.sum()), count_padded)


def score_slices(task: Task, ahead: int, slice_rows: int) -> int:
    """Score all rows slice by slice as a build does, and return how many slices there were."""
    slices = [task.rows[start : start + slice_rows] for start in range(0, len(task.rows), slice_rows)]
    return sum(1 for _ in fetch_late(slices, lambda rows: task.start(rows, task.budget), ahead))


def measure_task(task: Task, device: str, seconds: Seconds) -> tuple[Table, float]:
    """Return hcat's times beside the ceiling, and how many times as long as the ceiling a build takes."""
    task.score(task.rows[-SLICE_ROWS:], task.budget)  # kernels are chosen, memory is taken
    ceiling = measure_ceiling(task, seconds)
    bound = max(ceiling.tokenizing, ceiling.passes)
    if device == "cuda":
        torch.cuda.reset_peak_memory_stats()
    ahead = SLICES_AHEAD[device]
    sides = {
        f"slices of {count:,}, {late} ahead{note}": seconds.of(partial(score_slices, task, late, count))
        # on a CPU the last one is the second
        for count, late, note in dict.fromkeys(
            (
                (task.slice_rows, ahead, ", as a build"),
                (task.slice_rows, 0, ""),
                (2 * task.slice_rows, ahead, ""),
                (SLICE_ROWS, ahead, ""),
            )
        )
    } | {
        "all rows in one call": seconds.of(lambda: task.score(task.rows, task.budget)),
        "tokenizing alone": ceiling.tokenizing,
        "passes alone, batches on the device": ceiling.passes,
    }
    rows = [
        (
            what,
            f"{taken:.3f}",
            f"{len(task.rows) / taken:,.0f}",
            f"{ceiling.count_tokens / taken:,.0f}",
            f"{taken / bound:.2f}",
        )
        for what, taken in sides.items()
    ]
    padded = ceiling.count_padded / ceiling.count_tokens - 1
    title = f"{task.name}, {ceiling.count_tokens:,} tokens, {padded:.1%} more with padding"
    if device == "cuda":
        title += f"; peak memory of the device {torch.cuda.max_memory_allocated() / 2**20:,.0f} MiB"
    columns = ("what", "seconds", "rows a second", "tokens a second", "against the ceiling")
    return Table(title, columns, rows), next(iter(sides.values())) / bound


def measure_budgets(task: Task, device: str, seconds: Seconds) -> tuple[Table, float]:
    """Return the times of other budgets from padding to outputs on the host, and that of the default over the best."""
    prepared = task.prepare(task.rows)

    def run_batches(budget: int) -> object:
        return start_prepared(prepared, task.maximum_tokens, budget)()

    found = {budget: seconds.of(partial(run_batches, budget)) for budget in BUDGETS[device]}
    best = min(found.values())
    rows = [
        (f"{budget:,}{' (default)' if budget == task.budget else ''}", f"{taken:.3f}", f"{taken / best:.2f}")
        for budget, taken in found.items()
    ]
    return Table(
        f"{task.name}: padded tokens of a batch, without tokenizing", ("budget", "seconds", "against the best"), rows
    ), found[task.budget] / best


def measure_peers(task: Task, device: str, dtype: str, sizes: Sizes, seconds: Seconds) -> Table:
    """Return what sentence-transformers takes for the same texts, sorted."""
    from sentence_transformers import SentenceTransformer

    silence_transformers()

    peer = SentenceTransformer(str(packaged_folder()), device=device, model_kwargs={"dtype": getattr(torch, dtype)})
    texts = [text for (text,) in task.rows]
    sample = texts[:: max(len(texts) // sizes.sample, 1)]
    alone = texts[:: max(len(texts) // sizes.alone, 1)]

    def encode(some: Sequence[str], batch_size: int) -> Callable[[], object]:
        return lambda: peer.encode(
            list(some), batch_size=batch_size, show_progress_bar=False, normalize_embeddings=True
        )

    encode(sample[-PEER_BATCHES[-1] :], PEER_BATCHES[-1])()  # warm-up
    found = {"one text a batch": seconds.of(encode(alone, 1)) / len(alone)}
    found |= {f"batches of {size:,}": seconds.of(encode(sample, size)) / len(sample) for size in PEER_BATCHES}
    rows = [(what, f"{each * len(texts):.2f}", f"{1 / each:,.0f}") for what, each in found.items()]
    return Table(
        f"sentence-transformers, the same model and texts in {dtype}, sorted; {len(sample):,} texts (one a batch: "
        f"{len(alone):,}), seconds for all {len(texts):,}",
        ("`SentenceTransformer.encode`", "seconds", "texts a second"),
        rows,
    )


def measure_plain_loop(task: Task, pairs: Sequence[tuple[str, ...]], sizes: Sizes, seconds: Seconds) -> Table:
    """Return what batches of equal number take in the order of the logs."""
    sample = pairs[: sizes.sample]

    def loop() -> None:
        for start in range(0, len(sample), PLAIN_BATCH):
            task.score(sample[start : start + PLAIN_BATCH], 1 << 30)

    each = seconds.of(loop) / len(sample)
    return Table(
        f"{task.name}: a plain loop in the order of the logs; {len(sample):,} pairs, seconds for all",
        ("batches", "seconds", "pairs a second"),
        [(f"{PLAIN_BATCH} pairs", f"{each * len(pairs):.2f}", f"{1 / each:,.0f}")],
    )


def measure_agreement(tasks: Sequence[tuple[Task, Task]], sizes: Sizes) -> Table:
    """Return how far the outputs of the GPU are from float32 on the CPU."""
    rows = []
    for task, reference in tasks:
        some = task.rows[:: max(len(task.rows) // sizes.compared, 1)]
        own, expected = task.score(some, task.budget), reference.score(some, reference.budget)
        if own.ndim == 2:
            least = (own * expected).sum(axis=1).min()
            rows.append((task.name, f"{len(some):,}", f"{least:.5f}", ""))
        else:
            differs = ((own >= 0.5) != (expected >= 0.5)).mean()
            largest = np.abs(own - expected).max()
            rows.append((task.name, f"{len(some):,}", f"{largest:.4f} off at most", f"{differs:.2%}"))
    columns = ("model", "compared", "least cosine, or largest difference of P(entailment)", "other side of .5")
    return Table("bfloat16 on the GPU against float32 on the CPU", columns, rows)


def run(
    is_quick: bool = False, folder: Path | None = None, on_cpu: bool = False, models: Sequence[str] = MODELS
) -> Outcome | None:
    """Return the outcome; None where there is no GPU and neither a quick run nor the CPU was asked for.

    Some models alone have a section of their own on the page.
    """
    has_gpu = torch.cuda.is_available() and not on_cpu
    if not (has_gpu or is_quick or on_cpu):
        return None
    device, dtype = ("cuda", "bfloat16") if has_gpu else ("cpu", "float32")
    sizes = QUICK if is_quick else FULL if has_gpu else SMALL
    seconds = Seconds(device, 1 if is_quick else COUNT_REPEATS)
    texts, pairs = read_logs()
    numbered = number([sentence for _, sentence in pairs], sizes.pairs)
    in_order = [(pairs[index % len(pairs)][0], sentence) for index, sentence in enumerate(numbered)]
    texts = number(texts, sizes.texts)
    has_base = mpnet.is_installed()
    names = [name for name in CLASSIFIERS if name in models and (name == "compact" or has_base)]
    # a quick run tries one classifier, which shows what breaks
    names = names[:1] if is_quick else names

    def make_tasks(device: str, dtype: str) -> tuple[list[Task], list[Task]]:
        encoders = [task_of_encoder(texts, device, dtype)] if ENCODER in models else []
        return encoders, [task_of_classifier(name, in_order, device, dtype) for name in names]

    encoders, classifiers = make_tasks(device, dtype)
    tasks = encoders + classifiers
    tables, notes, met = [], [], True
    for task in tasks:
        table, ratio = measure_task(task, device, seconds)
        sweep, loss = measure_budgets(task, device, seconds)
        tables += [table, sweep]
        is_within = ratio <= LIMIT_CEILING and loss <= LIMIT_BUDGET
        met &= is_within
        if has_gpu and not is_quick:
            notes.append(
                f"{task.name}: a build's slices take {ratio:.2f} times the ceiling (limit {LIMIT_CEILING}), and the "
                f"default budget {loss:.2f} times the best (limit {LIMIT_BUDGET}): {verdict(is_within)}."
            )
    tables += [measure_peers(task, device, dtype, sizes, seconds) for task in encoders]
    tables += [measure_plain_loop(task, in_order, sizes, seconds) for task in classifiers]
    if has_gpu:
        references = [task for some in make_tasks("cpu", "float32") for task in some]
        tables.append(measure_agreement(list(zip(tasks, references, strict=True)), sizes))
    notes += [
        "The ceiling is the larger of two times: tokenizing alone, and passes alone over batches that were tokenized, "
        "sorted, padded and copied before. Tokenizing is one call, whose inner loop runs on all cores.",
        f"Medians of {COUNT_REPEATS}. Times count until the results are in the memory of the host; those of passes "
        "alone until the device is done.",
    ]
    if "accurate" in models and not has_base:
        notes.append("The base of the accurate classifier was not installed on this machine.")
    name = "gpu" if has_gpu or is_quick else "gpu_cpu"
    title = "Models on a GPU" if has_gpu else "Models on the CPU"
    if len(models) < len(MODELS):
        name, title = "_".join((name, *models)), f"{title}: {', '.join(models)} alone"
    return Outcome(name, title, tables, notes, is_quick, is_quick or not has_gpu or met, page="gpu")


def main(arguments: list[str] | None = None) -> int:
    """Run from the command line; exit code 1 when a limit is missed."""
    parser = argument_parser("gpu", __doc__.splitlines()[0])
    parser.add_argument(
        "--models", nargs="+", choices=MODELS, default=MODELS, help="some models alone, in a section of their own"
    )
    parser.add_argument("--cpu", action="store_true", help="measure the CPU and write that section of the page")
    options = parser.parse_args(arguments)
    is_quick = options.quick
    models = [name for name in MODELS if name in options.models]
    if models == ["accurate"] and not mpnet.is_installed():
        parser.error(f"the base of the accurate classifier is not installed: {mpnet.INSTALL}")
    if not (torch.cuda.is_available() or is_quick or options.cpu):
        print("gpu: torch finds no usable GPU; a small input runs on the CPU, and no page is written", file=sys.stderr)
        is_quick = True
    outcome = run(is_quick, options.folder, options.cpu, models)
    assert outcome is not None
    some = f" --models {' '.join(models)}" if len(models) < len(MODELS) else ""
    return finish(outcome, f"python -m benchmarks.gpu{' --cpu' if options.cpu else ''}{some}")


if __name__ == "__main__":
    sys.exit(main())

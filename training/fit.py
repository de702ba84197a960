"""The training loop: batches of like length within a token budget, a linear schedule, checkpoints to go on from.

A training that was stopped goes on by the same command: what it had learnt stands in ``checkpoint.pt`` of its folder,
with a digest of settings and pairs, and the batches are the same in every run.
"""

import hashlib
import json
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from safetensors.torch import load_file, save_file
from torch import nn

from hcat.engine.batching import plan_batches
from training.bases import BASES, CLASSES, Base, base_of
from training.lora import adapt, read_delta, write_back
from training.pairs import TARGETS, Pair

_NOT_ENTAILMENT = TARGETS.index("not_entailment")
_PROGRESS_SECONDS = 30.0
#: Time between two checkpoints: what a stopped training loses at most.
CHECKPOINT_SECONDS = 600.0
_CHECKPOINT = "checkpoint.pt"

#: One shuffled stretch of this many pairs is sorted by length and cut into batches.
_STRETCH = 4096


@dataclass(frozen=True, slots=True)
class Settings:
    """What a stage of training depends on beside its data."""

    base: str = "compact"
    rank: int = 32
    epochs: int = 2
    batch_tokens: int = 4096
    batch_pairs: int = 64
    maximum_tokens: int = 128
    learning_rate: float = 5e-4
    warmup: float = 0.05
    weight_decay: float = 0.01
    dropout: float = 0.0
    token_weight: float = 0.0
    random_seed: int = 20260101


def choose_device() -> str:
    """Return ``cuda`` where torch finds a GPU, else ``cpu``."""
    return "cuda" if torch.cuda.is_available() else "cpu"


def computes_bfloat16(device: str) -> bool:
    """Return whether the device multiplies bfloat16 matrices faster than float32 ones; weights stay float32."""
    return device == "cuda" or torch.cpu._is_avx512_bf16_supported()


def make_adapted(base: Base, rank: int, dropout: float = 0.0) -> Any:
    """Return a classifier on ``base`` with a low-rank update that is nothing yet."""
    return adapt(base.make_classifier(dropout), rank, base.first_block)


class Tokens(NamedTuple):
    """Token ids of each pair, where its claim starts, and for each token whether it is wrong (None = unknown)."""

    ids: list[list[int]]
    starts: list[int]
    wrong: list[list[int] | None]

    def lengths(self) -> npt.NDArray[np.int64]:
        """Return the number of tokens of each pair."""
        return np.array([len(each) for each in self.ids])


class PairTokens:
    """Token ids of pairs as the base writes them: start, premise, mark, claim, mark; the premise cut to fit."""

    def __init__(self, maximum_tokens: int, base: Base) -> None:
        self._tokenizer = base.load_tokenizer()
        self._tokenizer.enable_truncation(maximum_tokens, strategy="only_first")
        self._maximum = maximum_tokens

    def encode(self, pairs: Sequence[Pair]) -> Tokens:
        """Return the tokens of the pairs, in their order."""
        limit = self._maximum // 2
        # a claim longer than half the window would leave no room for evidence: its end is cut by characters
        inputs = [(pair.premise, pair.claim[: limit * 4]) for pair in pairs]
        encodings = self._tokenizer.encode_batch(inputs)
        return Tokens(
            [encoding.ids for encoding in encodings],
            [encoding.sequence_ids.index(1) for encoding in encodings],
            [_label_tokens(encoding.offsets, pair.wrong) for encoding, pair in zip(encodings, pairs, strict=True)],
        )


def _label_tokens(offsets: list[tuple[int, int]], wrong: Sequence[tuple[int, int]] | None) -> list[int] | None:
    """Return 1 for every token that touches a wrong span; only those of the claim are read later."""
    if wrong is None:
        return None
    return [int(any(start < last and end > first for first, last in wrong)) for start, end in offsets]


def to_batch(tokens: Tokens, chosen: npt.NDArray[np.int64], device: str, base: Base) -> dict[str, Any]:
    """Return the tensors of one batch, padded to its longest pair."""
    longest = max(len(tokens.ids[row]) for row in chosen)
    ids = np.full((len(chosen), longest), base.padding, np.int64)
    kinds, mask = np.zeros_like(ids), np.zeros_like(ids)
    for position, row in enumerate(chosen):
        length = len(tokens.ids[row])
        ids[position, :length] = tokens.ids[row]
        mask[position, :length] = 1
        kinds[position, tokens.starts[row] : length] = 1
    arrays = {"input_ids": ids, "attention_mask": mask} | ({"token_type_ids": kinds} if base.has_segments else {})
    return {name: torch.from_numpy(array).to(device) for name, array in arrays.items()}


def to_token_targets(tokens: Tokens, chosen: npt.NDArray[np.int64], longest: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Return for each token whether it is wrong and whether that is known, both shape (n, longest).

    Known are the tokens of the claim but its closing mark, where somebody said which are wrong.
    """
    targets, known = np.zeros((len(chosen), longest), np.float32), np.zeros((len(chosen), longest), np.float32)
    for position, row in enumerate(chosen):
        wrong = tokens.wrong[row]
        if wrong is not None:
            start, end = tokens.starts[row], len(wrong) - 1
            targets[position, start:end] = wrong[start:end]
            known[position, start:end] = 1
    return torch.from_numpy(targets), torch.from_numpy(known)


def plan_epoch(
    lengths: npt.NDArray[np.int64], settings: Settings, random: np.random.Generator
) -> list[npt.NDArray[np.int64]]:
    """Return the batches of one epoch in random order; pairs of one batch are of like length."""
    order = random.permutation(len(lengths))
    batches: list[npt.NDArray[np.int64]] = []
    for start in range(0, len(order), _STRETCH):
        stretch = order[start : start + _STRETCH]
        stretch = stretch[np.argsort(lengths[stretch], kind="stable")]
        begin = 0
        while begin < len(stretch):
            end = begin + 1
            while (
                end < len(stretch)
                and end - begin < settings.batch_pairs
                and (end - begin + 1) * lengths[stretch[end]] <= settings.batch_tokens
            ):
                end += 1
            batches.append(stretch[begin:end])
            begin = end
    return [batches[index] for index in random.permutation(len(batches))]


def measure_loss(logits: torch.Tensor, targets: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
    """Return the weighted mean of -log p(target); p(not_entailment) = p(neutral) + p(contradiction)."""
    log_shares = nn.functional.log_softmax(logits.float(), dim=1)
    not_entailed = torch.logsumexp(log_shares[:, 1:], dim=1, keepdim=True)
    losses = -torch.cat([log_shares, not_entailed], dim=1).gather(1, targets[:, None])[:, 0]
    return (losses * weights).sum() / weights.sum()


def measure_token_loss(logits: torch.Tensor, targets: torch.Tensor, known: torch.Tensor) -> torch.Tensor:
    """Return the mean cross entropy of the tokens whose label is known; 0 without any."""
    losses = nn.functional.binary_cross_entropy_with_logits(logits.float(), targets, reduction="none")
    return (losses * known).sum() / known.sum().clamp(min=1)


def train(
    pairs: Sequence[Pair],
    settings: Settings,
    output: Path,
    start: Path | None = None,
    weights: npt.NDArray[np.float64] | None = None,
) -> Any:
    """Return the trained classifier; the delta and the settings are written to ``output`` after every epoch.

    A checkpoint is written every :data:`CHECKPOINT_SECONDS`, and a folder that holds one goes on from it.
    """
    torch.manual_seed(settings.random_seed)
    random = np.random.default_rng(settings.random_seed)
    device = choose_device()
    base = BASES[settings.base]
    model = make_adapted(base, settings.rank, settings.dropout)
    if start is not None:
        write_back(model, load_file(start / "delta.safetensors"))
    model = model.to(device).train()
    # helps the blocks below to learn where a sentence is wrong; it is kept beside the weights, and no build reads it
    token_head = nn.Linear(model.config.hidden_size, 1).to(device)
    tokens = PairTokens(settings.maximum_tokens, base).encode(pairs)
    lengths = tokens.lengths()
    targets = torch.tensor([pair.target for pair in pairs])
    row_weights = torch.from_numpy(np.ones(len(pairs)) if weights is None else weights).float()
    plans = [plan_epoch(lengths, settings, random) for _ in range(settings.epochs)]
    count_steps = sum(map(len, plans))
    parameters = [*(each for each in model.parameters() if each.requires_grad), *token_head.parameters()]
    optimizer = torch.optim.AdamW(parameters, lr=settings.learning_rate, weight_decay=settings.weight_decay)
    warmup = max(round(settings.warmup * count_steps), 1)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min((step + 1) / warmup, max(count_steps - step, 0) / max(count_steps - warmup, 1))
    )
    parts: dict[str, Any] = {"token_head": token_head, "optimizer": optimizer, "schedule": schedule}
    identity = _identify(pairs, settings, weights)
    done, seconds_before, recent = _resume(output, identity, model, parts)
    started = printed = kept = time.monotonic()
    step = 0
    use_bfloat16 = computes_bfloat16(device)
    for epoch, plan in enumerate(plans, start=1):
        for chosen in plan:
            if step < done:
                step += 1
                continue
            with torch.autocast(device, dtype=torch.bfloat16, enabled=use_bfloat16):
                found = model(**to_batch(tokens, chosen, device, base), output_hidden_states=True)
                token_logits = token_head(found.hidden_states[-1])
            rows = torch.from_numpy(chosen)
            loss = measure_loss(found.logits, targets[rows].to(device), row_weights[rows].to(device))
            if settings.token_weight:
                wrong, known = to_token_targets(tokens, chosen, token_logits.shape[1])
                token_loss = measure_token_loss(token_logits[:, :, 0], wrong.to(device), known.to(device))
                loss = loss + settings.token_weight * token_loss
            loss.backward()
            nn.utils.clip_grad_norm_(parameters, 1.0)
            optimizer.step()
            schedule.step()
            optimizer.zero_grad(set_to_none=True)
            step, value = step + 1, float(loss.detach())
            recent = value if np.isnan(recent) else 0.98 * recent + 0.02 * value
            if time.monotonic() - printed > _PROGRESS_SECONDS:
                printed = time.monotonic()
                left = (printed - started) / (step - done) * (count_steps - step)
                print(
                    f"epoch {epoch}, step {step:,} of {count_steps:,}, loss {recent:.4f}, {left / 60:.1f} minutes left",
                    file=sys.stderr,
                    flush=True,
                )
            if time.monotonic() - kept > CHECKPOINT_SECONDS:
                kept = time.monotonic()
                _keep(output, identity, step, seconds_before + kept - started, recent, model, parts)
        if step > done:
            seconds = seconds_before + time.monotonic() - started
            _write(model, output, settings, epoch, len(pairs), seconds, recent, device)
            head = {name: value.contiguous().cpu() for name, value in token_head.state_dict().items()}
            save_file(head, output / "token_head.safetensors")
            _keep(output, identity, step, seconds, recent, model, parts)
    (output / _CHECKPOINT).unlink(missing_ok=True)
    return model.eval()


def _identify(pairs: Sequence[Pair], settings: Settings, weights: npt.NDArray[np.float64] | None) -> str:
    """Return a digest of everything that a training depends on beside its start."""
    digest = hashlib.sha256(repr(settings).encode())
    for pair in pairs:
        digest.update(repr(pair).encode())
    digest.update(b"" if weights is None else weights.tobytes())
    return digest.hexdigest()


def _keep(
    output: Path, identity: str, step: int, seconds: float, loss: float, model: nn.Module, parts: dict[str, Any]
) -> None:
    output.mkdir(parents=True, exist_ok=True)
    state = {"identity": identity, "step": step, "seconds": seconds, "loss": loss, "delta": read_delta(model)}
    state |= {name: part.state_dict() for name, part in parts.items()}
    state["random"] = torch.get_rng_state()
    # a kill while it is written leaves the earlier one
    fresh = output / f"{_CHECKPOINT}.new"
    torch.save(state, fresh)
    fresh.replace(output / _CHECKPOINT)


def _resume(output: Path, identity: str, model: nn.Module, parts: dict[str, Any]) -> tuple[int, float, float]:
    """Return steps done, seconds spent and the recent loss of a checkpoint, whose state is taken over; else zeros."""
    path = output / _CHECKPOINT
    if not path.exists():
        return 0, 0.0, float("nan")
    state = torch.load(path, map_location="cpu", weights_only=True)
    if state["identity"] != identity:
        raise ValueError(f"{path} belongs to a training with other pairs or settings: remove it or name another folder")
    write_back(model, state["delta"])
    for name, part in parts.items():
        part.load_state_dict(state[name])
    torch.set_rng_state(state["random"])
    print(f"going on from step {state['step']:,}", file=sys.stderr, flush=True)
    return state["step"], state["seconds"], state["loss"]


def _write(
    model: nn.Module, output: Path, settings: Settings, epoch: int, count: int, seconds: float, loss: float, device: str
) -> None:
    output.mkdir(parents=True, exist_ok=True)
    save_file(read_delta(model), output / "delta.safetensors")
    facts = asdict(settings) | {
        "epochs_done": epoch,
        "count_pairs": count,
        "seconds": round(seconds),
        "loss": round(loss, 4),
        "device": device,
    }
    (output / "training.json").write_text(json.dumps(facts, indent=2, sort_keys=True) + "\n", encoding="utf-8")


def predict(
    model: Any, pairs: Sequence[Pair], maximum_tokens: int, batch_tokens: int = 8192
) -> npt.NDArray[np.float64]:
    """Return class probabilities, shape (n, 3), in the order of ``pairs``."""
    device, base = next(model.parameters()).device.type, base_of(model)
    tokens = PairTokens(maximum_tokens, base).encode(pairs)
    shares = np.empty((len(pairs), len(CLASSES)))
    with torch.inference_mode(), torch.autocast(device, dtype=torch.bfloat16, enabled=computes_bfloat16(device)):
        for chosen in plan_batches(tokens.lengths(), batch_tokens):
            logits = model(**to_batch(tokens, chosen, device, base)).logits
            shares[chosen] = torch.softmax(logits.double(), dim=1).cpu().numpy()
    return shares


def accuracy(shares: npt.NDArray[np.float64], pairs: Sequence[Pair]) -> float:
    """Return the share of pairs whose most probable class is the target."""
    return float(np.mean(shares.argmax(axis=1) == np.array([pair.target for pair in pairs])))


def not_entailment() -> int:
    """Return the index of the target `not_entailment`."""
    return _NOT_ENTAILMENT

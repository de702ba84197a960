"""Low-rank adaptation (Hu et al. 2021, section 4.1) of a BERT or MPNet sequence classifier: h = W x + B A x."""

import math
import re
from collections.abc import Iterable, Sequence

import torch
from torch import nn

#: Linear layers of a BERT or an MPNet block, by the last part of their name.
ADAPTED = ("query", "key", "value", "q", "k", "v", "o", "dense")

#: Trained whole beside the low-rank part: what turns the first token into classes.
TRAINED_WHOLE = ("bert.pooler.dense", "classifier", "classifier.dense", "classifier.out_proj")

_BLOCK = re.compile(r"\bencoder\.layer\.(\d+)\.")


class LowRankLinear(nn.Module):
    """A frozen linear layer plus a trained low-rank update; starts equal to the frozen layer."""

    def __init__(self, frozen: nn.Linear, rank: int) -> None:
        super().__init__()
        self.frozen = frozen.requires_grad_(False)
        self.first = nn.Parameter(torch.empty(rank, frozen.in_features))
        self.second = nn.Parameter(torch.zeros(frozen.out_features, rank))
        nn.init.kaiming_uniform_(self.first, a=math.sqrt(5))

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        """Return the adapted output, shape (..., out_features)."""
        return self.frozen(inputs) + nn.functional.linear(nn.functional.linear(inputs, self.first), self.second)


def adapt(model: nn.Module, rank: int, first_block: int = 0) -> nn.Module:
    """Freeze ``model`` and put a low-rank update beside every linear layer of its blocks; the heads stay trainable.

    Blocks below ``first_block`` stay frozen; above 0, so do the norms of the embeddings.
    """
    model.requires_grad_(False)
    for name, module in list(model.named_modules()):
        if not isinstance(module, nn.Linear):
            continue
        if name in TRAINED_WHOLE:
            module.requires_grad_(True)
        elif name.rsplit(".", 1)[-1] in ADAPTED and _is_open(name, first_block):
            parent, child = name.rsplit(".", 1)
            setattr(model.get_submodule(parent), child, LowRankLinear(module, rank))
    for name, parameter in model.named_parameters():
        # 10 kB of weights that move much
        if "LayerNorm" in name and _is_open(name, first_block):
            parameter.requires_grad_(True)
    return model


def _is_open(name: str, first_block: int) -> bool:
    block = _BLOCK.search(name)
    return first_block == 0 if block is None else int(block[1]) >= first_block


def read_delta(model: nn.Module) -> dict[str, torch.Tensor]:
    """Return what training changed, under the names of the base model.

    ``<layer>.weight.first`` (rank, in) and ``<layer>.weight.second`` (out, rank): the update is second @ first.
    Everything else replaces the weight of its name.
    """
    delta: dict[str, torch.Tensor] = {}
    for name, parameter in model.named_parameters():
        if not parameter.requires_grad:
            continue
        if name.endswith((".first", ".second")):
            layer, part = name.rsplit(".", 1)
            name = f"{layer}.weight.{part}"
        delta[name] = parameter.detach().cpu().clone()
    return delta


def average_deltas(
    deltas: Sequence[dict[str, torch.Tensor]], rank: int, shares: Sequence[float] | None = None
) -> dict[str, torch.Tensor]:
    """Return the mean of what several trainings changed, weighted by ``shares`` (Wortsman et al. 2022, model soups).

    The mean of low-rank updates has up to the sum of their ranks; it is cut to ``rank`` by singular values, to the
    nearest matrix of that rank (Eckart and Young 1936). Everything else is averaged weight by weight.
    """
    shares = [1 / len(deltas)] * len(deltas) if shares is None else shares

    def mean(parts: Iterable[torch.Tensor]) -> torch.Tensor:
        return sum((share * part for share, part in zip(shares, parts, strict=True)), torch.zeros(()))

    averaged: dict[str, torch.Tensor] = {}
    for name in deltas[0]:
        if name.endswith(".second"):
            continue
        if not name.endswith(".first"):
            averaged[name] = mean(delta[name] for delta in deltas)
            continue
        other = name.removesuffix(".first") + ".second"
        update = mean(delta[other].double() @ delta[name].double() for delta in deltas)
        left, values, right = torch.linalg.svd(update, full_matrices=False)
        roots = values[:rank].sqrt()
        averaged[other] = (left[:, :rank] * roots).float().contiguous()
        averaged[name] = (roots[:, None] * right[:rank]).float().contiguous()
    return averaged


def write_back(model: nn.Module, delta: dict[str, torch.Tensor]) -> None:
    """Set the trainable weights of an adapted model to ``delta`` (to go on from a finished stage)."""
    parameters = dict(model.named_parameters())
    with torch.no_grad():
        for name, value in delta.items():
            own = name.replace(".weight.first", ".first").replace(".weight.second", ".second")
            parameters[own].copy_(value.to(parameters[own].dtype))

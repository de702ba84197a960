"""The packaged MiniLM on the layers of torch: the import of transformers takes longer than the new texts of a night."""

import json
from collections.abc import Mapping
from typing import Any

import torch
from torch import nn

from hcat.encoders.tokens import keep_whole
from hcat.engine.devices import packaged_folder


class MiniLM(nn.Module):
    """Network from token ids to contextual states, with weights under the names of a BERT checkpoint."""

    def __init__(self, weights: Mapping[str, torch.Tensor]) -> None:
        super().__init__()
        config = json.loads((packaged_folder() / "config.json").read_text(encoding="utf-8"))
        width, epsilon = int(config["hidden_size"]), float(config["layer_norm_eps"])
        self.words = nn.Embedding(int(config["vocab_size"]), width)
        self.positions = nn.Embedding(int(config["max_position_embeddings"]), width)
        self.segments = nn.Embedding(int(config["type_vocab_size"]), width)
        self.norm = nn.LayerNorm(width, eps=epsilon)
        layer = nn.TransformerEncoderLayer(
            width,
            int(config["num_attention_heads"]),
            int(config["intermediate_size"]),
            dropout=0.0,
            activation="gelu",
            layer_norm_eps=epsilon,
            batch_first=True,
        )
        self.layers = nn.TransformerEncoder(layer, int(config["num_hidden_layers"]), enable_nested_tensor=False)
        self._read(weights, int(config["num_hidden_layers"]))
        self.eval()

    def _read(self, weights: Mapping[str, torch.Tensor], count_layers: int) -> None:
        state = {
            "words.weight": weights["embeddings.word_embeddings.weight"],
            "positions.weight": weights["embeddings.position_embeddings.weight"],
            "segments.weight": weights["embeddings.token_type_embeddings.weight"],
            "norm.weight": weights["embeddings.LayerNorm.weight"],
            "norm.bias": weights["embeddings.LayerNorm.bias"],
        }
        for index in range(count_layers):
            old, new = f"encoder.layer.{index}", f"layers.layers.{index}"
            for part in ("weight", "bias"):
                state[f"{new}.self_attn.in_proj_{part}"] = torch.cat(
                    [weights[f"{old}.attention.self.{name}.{part}"] for name in ("query", "key", "value")]
                )
                for theirs, ours in (
                    ("attention.output.dense", "self_attn.out_proj"),
                    ("attention.output.LayerNorm", "norm1"),
                    ("intermediate.dense", "linear1"),
                    ("output.dense", "linear2"),
                    ("output.LayerNorm", "norm2"),
                ):
                    state[f"{new}.{ours}.{part}"] = weights[f"{old}.{theirs}.{part}"]
        self.load_state_dict(state)

    def forward(
        self, tokens: torch.Tensor, segments: torch.Tensor, is_padding: torch.Tensor, has_padding: bool
    ) -> torch.Tensor:
        """Return the states of the last layer, shape (n, tokens, features)."""
        places = torch.arange(tokens.shape[1], device=tokens.device)
        states = self.words(tokens) + self.positions(places) + self.segments(segments)
        # No mask at all is faster than a mask without effect.
        result: torch.Tensor = self.layers(self.norm(states), src_key_padding_mask=is_padding if has_padding else None)
        return result


def read_weights() -> dict[str, torch.Tensor]:
    """Return the packaged weights under the names of a BERT checkpoint."""
    from safetensors.torch import load_file

    return dict(load_file(packaged_folder() / "model.safetensors"))


def load_tokenizer() -> Any:
    """Return the packaged tokenizer without padding and truncation."""
    from tokenizers import Tokenizer

    return keep_whole(Tokenizer.from_file(str(packaged_folder() / "tokenizer.json")))

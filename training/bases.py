"""The models that the recipe starts from: the packaged MiniLM, and the larger MPNet of the accurate option."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from hcat.encoders import minilm, mpnet
from hcat.engine.devices import packaged_folder, silence_transformers
from training.pairs import TARGETS

CLASSES = TARGETS[:3]


@dataclass(frozen=True, slots=True)
class Base:
    """A base model with a fresh classification head, and how its pairs are written."""

    #: Share of dropout -> sequence classifier of transformers with the classes :data:`CLASSES`.
    make_classifier: Callable[[float], Any]
    #: Returns its tokenizer (library tokenizers) without padding and truncation.
    load_tokenizer: Callable[[], Any]
    #: Token id that fills a batch.
    padding: int
    #: Whether the model takes a token type per token.
    has_segments: bool
    #: Blocks below it, and the embeddings, stay as they are: their gradients are never computed.
    first_block: int
    #: Rank that an update is cut to before it ships, so that it stays below 5 MB; None = that of the training.
    shipped_rank: int | None


def _make_minilm(dropout: float) -> Any:
    from transformers.models.bert.configuration_bert import BertConfig
    from transformers.models.bert.modeling_bert import BertForSequenceClassification

    silence_transformers()
    config = BertConfig.from_pretrained(
        packaged_folder(),
        num_labels=len(CLASSES),
        id2label=dict(enumerate(CLASSES)),
        label2id={name: index for index, name in enumerate(CLASSES)},
        hidden_dropout_prob=dropout,
        attention_probs_dropout_prob=dropout,
    )
    return BertForSequenceClassification.from_pretrained(packaged_folder(), config=config, local_files_only=True)


def _make_mpnet(dropout: float) -> Any:
    from transformers.models.mpnet.modeling_mpnet import MPNetForSequenceClassification

    silence_transformers()
    model = MPNetForSequenceClassification(mpnet.make_config(CLASSES, dropout))
    model.mpnet.load_state_dict(mpnet.read_weights(), strict=False)
    return model


#: Setting of the product -> base.
BASES = {
    "compact": Base(_make_minilm, minilm.load_tokenizer, 0, True, first_block=0, shipped_rank=None),
    "accurate": Base(_make_mpnet, mpnet.load_tokenizer, 1, False, first_block=2, shipped_rank=12),
}
_BY_MODEL_TYPE = {"bert": "compact", "mpnet": "accurate"}


def base_of(model: Any) -> Base:
    """Return the base that a classifier was made from."""
    return BASES[_BY_MODEL_TYPE[model.config.model_type]]

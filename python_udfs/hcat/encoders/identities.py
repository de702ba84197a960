"""The models of a build in one table: who embeds, who entails, who reads tone, and who finds personal data."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa

from hcat.encoders.classifier_identities import describe_classifier
from hcat.encoders.embedding import describe_encoder
from hcat.encoders.text_classifiers import describe_text_classifiers
from hcat.engine.stacking import stack_parts
from hcat.privacy.tables import describe_recognisers


def describe_models(settings: Mapping[str, str], entity_types: pa.Table) -> pa.Table:
    """Return one row per model of a build, under the part that names it; the column ``problem`` has an error, if any.

    Parameters
    ----------
    settings : mapping
        encoder, classifier, toxicity and sentiment, each with its ``_revision``; tagger, device, dtype.
    entity_types : Table
        As for :func:`hcat.privacy.tables.describe_recognisers`.
    """
    device, dtype = settings["device"], settings["dtype"]
    encoder = describe_encoder(settings["encoder"], settings["encoder_revision"], device, dtype)
    toxicity, sentiment = (
        (settings[purpose], settings[f"{purpose}_revision"]) for purpose in ("toxicity", "sentiment")
    )
    return stack_parts(
        {
            "encoder": encoder,
            "classifier": describe_classifier(settings["classifier"], settings["classifier_revision"], device, dtype),
            "text classifier": describe_text_classifiers(encoder.to_pylist()[0], toxicity, sentiment, device, dtype),
            "recognisers of personal data": describe_recognisers(settings["tagger"], entity_types),
        }
    )

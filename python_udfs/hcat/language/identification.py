"""The language of a text, by py3langid (Lui and Baldwin 2012): a naive Bayes model over byte n-grams of 97 languages.

Short texts, and texts of marks and numbers, have no language that anybody could be sure of: how many letters a text
has, and how sure the model is, stands beside the language, which counts from there on (decision 31 has the errors).
"""

from functools import cache
from typing import Any, Final

import pyarrow as pa

from hcat.engine.columns import schema
from hcat.engine.devices import LANGUAGES, check_package

LANGUAGE_SCHEMA: Final = schema("string: passage_id language", "float64: language_probability", "int32: count_letters")

#: A language counts from this probability and this many letters on; int_interaction_attributes has the same.
LEAST_PROBABILITY: Final = 0.8
LEAST_LETTERS: Final = 20

#: More of a long text makes nothing surer.
_CHARACTERS = 500


def identify_languages(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return the most probable language of each text."""
    identifier = _load()
    rows = []
    for passage_id, text in zip(batch["passage_id"].to_pylist(), batch["passage_text"].to_pylist(), strict=True):
        beginning = text[:_CHARACTERS]
        language, probability = identifier.classify(beginning)
        letters = sum(map(str.isalpha, beginning))
        row = (passage_id, language, float(probability), letters)
        rows.append(dict(zip(LANGUAGE_SCHEMA.names, row, strict=True)))
    return pa.RecordBatch.from_pylist(rows, schema=LANGUAGE_SCHEMA)


@cache
def _load() -> Any:
    check_package(LANGUAGES)  # before its code runs
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)

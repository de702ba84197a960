"""How work is cut into batches and slices; HCAT_CUT_SMALLER cuts it small for tests, and the rows stay the same."""

import os
from typing import Final

_IS_SMALL: Final = bool(os.environ.get("HCAT_CUT_SMALLER"))

#: Distinct texts or pairs per slice, more on a GPU. Finished slices stay on disk when a build is killed.
SLICE_ROWS: Final = 25 if _IS_SMALL else 4096

#: Interactions per batch where a batch needs embeddings or texts beside it.
BATCH_INTERACTIONS: Final = 37 if _IS_SMALL else 1024

#: Distinct texts per batch that rules read.
BATCH_TEXTS: Final = 61 if _IS_SMALL else 4096

#: MiB of texts or embeddings that are held in memory at once. Above this limit, each batch fetches its own.
LOOKUP_MEBIBYTES: Final = 1024

#: Device -> padded tokens (longest x count) of one batch. A small batch fits the cache of a CPU; a GPU needs more.
_EMBEDDING_TOKENS: Final = {"cpu": 1024 if _IS_SMALL else 2048, "cuda": 262144}
_PAIR_TOKENS: Final = {"cpu": 1024 if _IS_SMALL else 4096, "cuda": 32768}


def embedding_tokens(device: str) -> int:
    """Return the padded tokens of one batch of texts on a device."""
    return _EMBEDDING_TOKENS.get(device, _EMBEDDING_TOKENS["cpu"])


def pair_tokens(device: str) -> int:
    """Return the padded tokens of one batch of pairs on a device."""
    return _PAIR_TOKENS.get(device, _PAIR_TOKENS["cpu"])

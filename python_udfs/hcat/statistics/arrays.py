"""Names of the array types that all rooms share, and division where the denominator may be 0."""

from typing import Any

import numpy as np
import numpy.typing as npt

#: Numbers in double precision.
Floats = npt.NDArray[np.float64]
#: Whole numbers, and codes of groups or classes that count from 0.
Integers = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]
Texts = npt.NDArray[np.str_]
#: Embeddings and their products, in single precision.
Vectors = npt.NDArray[np.float32]
#: Identifiers of clusters or groups: texts or whole numbers.
Keys = npt.NDArray[Any]


def ratio(numerator: Floats, denominator: Floats) -> Floats:
    """Return numerator / denominator, NaN where the denominator is 0 or either is missing."""
    with np.errstate(divide="ignore", invalid="ignore"):
        quotient = np.asarray(numerator, dtype=np.float64) / denominator
    return np.where(np.asarray(denominator) == 0, np.nan, quotient)

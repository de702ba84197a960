"""Names of the array types that all rooms share.

Examples
--------
>>> import numpy as np
>>> shares: Floats = np.array([0.5, 1.0])
>>> shares.dtype == np.float64
True
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

#: Numbers in double precision.
Floats = npt.NDArray[np.float64]
#: Whole numbers, and codes of groups or classes that count from 0.
Integers = npt.NDArray[np.int64]
#: True or false.
Flags = npt.NDArray[np.bool_]
#: Texts.
Texts = npt.NDArray[np.str_]
#: Embeddings and their products, in single precision.
Vectors = npt.NDArray[np.float32]
#: Identifiers of clusters or groups: texts or whole numbers.
Keys = npt.NDArray[Any]

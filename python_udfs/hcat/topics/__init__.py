"""Topics of texts: clusters of embeddings whose names stay the same from fit to fit.

:mod:`~hcat.topics.models` clusters vectors and names the clusters. :mod:`~hcat.topics.tables` keeps topics of chunks
from build to build. :mod:`~hcat.topics.queries` gives topics to queries without one.
"""

"""Topics of texts: clusters of embeddings whose names stay the same from fit to fit."""

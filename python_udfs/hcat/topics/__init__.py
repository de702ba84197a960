"""Topics of texts: clusters of embeddings with names that stay the same between fits."""

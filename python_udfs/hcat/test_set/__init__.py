"""From documents to a test set: sampling, queries, variants and their export."""

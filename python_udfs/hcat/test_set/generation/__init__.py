"""From sampled chunks to test queries: a deterministic generator without a model, a language model, and selection."""

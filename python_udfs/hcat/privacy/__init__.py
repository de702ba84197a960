"""Find personal data in texts, mask it, and say whether the query or the context already held it."""

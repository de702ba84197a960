"""Faults of known kinds in sentences that a context supports: numbers, names, negations and antonyms."""

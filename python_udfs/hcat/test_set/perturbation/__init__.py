"""Faults of known kinds in sentences that a context supports: numbers, negations and antonyms."""

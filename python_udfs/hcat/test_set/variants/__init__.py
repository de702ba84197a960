"""Variants of queries: the same question misspelt, reworded or under attack, and other questions that look like it."""

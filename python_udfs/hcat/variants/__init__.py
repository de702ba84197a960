"""Variants of queries: the same question misspelt, reworded or under attack, and other questions that look like it.

Each variant says whether it keeps the meaning of its parent (:data:`~hcat.variants.kinds.MEANINGS`), so that a test can
say what a robust application answers. The rules are seeded and need no model: :mod:`~hcat.variants.facts` names what no
variant that keeps the meaning may touch, :mod:`~hcat.variants.misspellings`, :mod:`~hcat.variants.wording`,
:mod:`~hcat.variants.opposites` and :mod:`~hcat.variants.surroundings` make variants, :mod:`~hcat.variants.kinds` lists
them and :mod:`~hcat.variants.tables` applies them to Arrow batches.
"""

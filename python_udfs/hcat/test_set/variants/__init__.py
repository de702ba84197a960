"""Variants of queries: the same question misspelt, reworded or under attack, and other questions that look like it.

Each variant says whether it keeps the meaning of its parent (:data:`~hcat.test_set.variants.kinds.MEANINGS`), so that a
test can say what a robust application answers. The rules are seeded and need no model:
:mod:`~hcat.test_set.variants.facts` names what no variant that keeps the meaning may touch,
:mod:`~hcat.test_set.variants.misspellings`,
:mod:`~hcat.test_set.variants.wording`,
:mod:`~hcat.test_set.variants.opposites` and :mod:`~hcat.test_set.variants.surroundings` make variants,
:mod:`~hcat.test_set.variants.kinds` lists them and :mod:`~hcat.test_set.variants.tables` applies them to Arrow batches.
"""

"""hcat: data-warehouse-native evaluation of RAG systems with dbt.

The package holds what needs a model or a solver; dbt models under ``models/`` are thin shells over it.
No module imports dbt, and only :mod:`hcat.engine.relations` knows the engine
(:mod:`hcat.report` opens a finished warehouse to read it).
"""

__version__ = "0.2.0"

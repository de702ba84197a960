"""hcat: data-warehouse-native evaluation of RAG systems with dbt. No module imports dbt."""

__version__ = "0.2.0"

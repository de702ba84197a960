"""Queries with true answers from relational tables: schema, SQL and text templates, fillings (GRAMMAR, section 3)."""

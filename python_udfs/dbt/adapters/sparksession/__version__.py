"""Version that dbt shows."""

version = "0.2.0"

"""Whether what was measured meets what was decided."""

"""What changed since the reference period, and who is told."""

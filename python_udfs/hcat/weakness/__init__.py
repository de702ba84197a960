"""Where a system is weak, with what confidence, and whether a new version is better or worse."""

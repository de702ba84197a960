"""Which interactions people should rate next, and the sheets they fill in."""

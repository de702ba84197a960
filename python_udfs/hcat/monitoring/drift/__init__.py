"""Drift: whether scores and the mix of segments changed since the reference weeks."""

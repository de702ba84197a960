"""Alerts: what the last build found that somebody must know, once, to a webhook and to a file."""

"""The section on calibration: its parts, the pictures of one metric, thresholds, and verdicts on calibrators."""

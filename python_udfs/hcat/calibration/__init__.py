"""What a score is worth: calibrators, prediction sets, thresholds, and agreement between raters."""

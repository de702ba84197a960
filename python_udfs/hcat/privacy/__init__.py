"""Personal data in texts: found by rules and by a tagger, masked, and held against what came before."""

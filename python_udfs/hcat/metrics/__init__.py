"""What each metric says of an interaction: similarity, support, evidence, copies, refusals, correctness."""

"""Equal treatment of groups, attacks, and queries outside the scope."""

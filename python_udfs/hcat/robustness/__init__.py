"""Which module failed when a query is worded in another way, and which metric to believe."""

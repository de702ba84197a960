"""What came in: the raw contract, and files read record by record."""

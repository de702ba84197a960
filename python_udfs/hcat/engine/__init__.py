"""What differs between engines and machines: relations, processes, batches, devices, the ledger and publication."""

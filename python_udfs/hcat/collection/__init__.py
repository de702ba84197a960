"""Collection: send a test set to the REST endpoint of an application, and keep the interactions."""

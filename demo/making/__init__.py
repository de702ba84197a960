"""How the made-up demo is made: topics read, calls planned, answers given and spoilt."""
